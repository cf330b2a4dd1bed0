"""Measure how often intervals of differences between subtypes hold the truth.

    python benchmarks/outcomes.py                          # a first look: ten cohorts of each kind
    python benchmarks/outcomes.py --cohorts 200 --write    # what results/outcomes.md holds

Each cohort has two or three groups, eight features that are independent given the group, and an outcome that differs by
1 between the first and the last group: in the mean, the log odds, the log rate or the log hazard. The number of groups
is given. Cohorts in which the search finds fewer clusters are left out and counted. Two more measurements break what
simple methods assume: "of features" differs by 0 between groups, and depends on the features inside them; "with a
covariate" depends on a covariate as well, whose mean differs by 1 between the groups.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from commits import describe_commit
from scipy.optimize import linear_sum_assignment

import clinclust as cc

RESULTS = Path(__file__).parent / "results" / "outcomes.md"
N_FEATURES = 8
# subjects, groups, distance in SDs, kind of the features, share missing
COHORTS = [
    (300, 2, 0.9, "Gaussian", 0.0),
    (200, 2, 1.2, "mixed", 0.2),
    (300, 3, 1.2, "mixed", 0.0),
    (1000, 2, 0.9, "Gaussian", 0.0),
    (5000, 2, 0.9, "Gaussian", 0.0),
]
OUTCOMES = ("continuous", "binary", "count", "ordinal", "survival")
OF_FEATURES, WITH_COVARIATE = "continuous, of features", "continuous, with a covariate"
LARGE = 3000
"""Number of subjects from which on a tenth of the cohorts is drawn, and one outcome."""


def cohort(
    n: int, n_groups: int, apart: float, kind: str, missing: float, rng: np.random.Generator
) -> tuple[pd.DataFrame, cc.FeatureSchema, np.ndarray]:
    """Return the features, their schema, and the group of each subject."""
    groups, centres = rng.integers(n_groups, size=n), np.zeros((n_groups, N_FEATURES))
    if n_groups == 2:
        centres[1] = apart
    for group in range(1, n_groups if n_groups > 2 else 1):
        centres[group, (group - 1) * N_FEATURES // (n_groups - 1) : group * N_FEATURES // (n_groups - 1)] = 1.4 * apart
    latent = rng.normal(centres[groups])
    columns, features = {}, []
    for place in range(N_FEATURES):
        name, likelihood, values, more = f"x{place}", "gaussian", latent[:, place].round(3), {}
        if kind == "mixed" and place % 4 == 1:
            likelihood, values, more = "bernoulli", np.where(values > 0.6, "yes", "no"), {"levels": ["no", "yes"]}
        elif kind == "mixed" and place % 4 == 2:
            likelihood, values = "poisson", rng.poisson(np.exp(0.7 + 0.5 * centres[groups, place]))
        elif kind == "mixed" and place % 4 == 3:
            likelihood, more = "ordinal", {"levels": list("01234")}
            values = np.digitize(values, [-0.5, 0.2, 0.9, 1.6]).astype(str)
        columns[name] = values
        features.append(cc.Feature(name=name, likelihood=likelihood, **more))
    frame = pd.DataFrame(columns)
    return frame.mask(rng.random(frame.shape) < missing), cc.FeatureSchema(features, other_columns="ignore"), groups


def with_outcome(frame: pd.DataFrame, outcome: str, effect: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Return the table with a column ``y``, and ``time`` of a survival or the covariate ``z``."""
    n = len(effect)
    if outcome == OF_FEATURES:
        inside = (frame - frame.groupby(effect).transform("mean")).mean(axis=1)
        return frame.assign(y=0.4 * inside / inside.std() + rng.normal(size=n))
    if outcome == WITH_COVARIATE:
        z = effect + rng.normal(size=n)
        return frame.assign(y=effect + z + rng.normal(size=n), z=z)
    if outcome == "continuous":
        return frame.assign(y=effect + rng.normal(size=n))
    if outcome == "binary":
        return frame.assign(y=np.where(rng.random(n) < 1.0 / (1.0 + np.exp(0.5 - effect)), "yes", "no"))
    if outcome == "count":
        return frame.assign(y=rng.negative_binomial(2, 2.0 / (2.0 + np.exp(0.5 + effect))))
    if outcome == "ordinal":
        levels = np.array(["none", "mild", "moderate", "severe"])[
            np.digitize(effect + rng.logistic(size=n), [-0.5, 0.5, 1.5])
        ]
        return frame.assign(y=pd.Categorical(levels, ["none", "mild", "moderate", "severe"], ordered=True))
    time, seen_for = rng.weibull(1.3, n) * np.exp(-effect / 1.3) * 5.0, rng.uniform(1.0, 8.0, n)
    return frame.assign(y=np.where(time <= seen_for, "yes", "no"), time=np.minimum(time, seen_for))


def differences(
    about: tuple[int, int, float, str, float], outcomes: Sequence[str], seed: int
) -> dict[str, list[tuple[str, float, float]]] | None:
    """Return method, difference and standard error of each outcome; None if the search finds fewer clusters."""
    n_groups = about[1]
    frame, schema, groups = cohort(*about, np.random.default_rng(seed))
    try:
        model = cc.MAPDP(schema, n_clusters=n_groups, random_state=seed, progress=False).fit(frame)
    except ValueError:
        return None
    shared = np.zeros((n_groups, n_groups))
    np.add.at(shared, (model.labels_, groups), 1.0)
    subtype_of = np.argsort(linear_sum_assignment(-shared)[1])
    first, last = int(subtype_of[0]) + 1, int(subtype_of[-1]) + 1
    measures, found = ["mean difference", "odds ratio", "rate ratio", "hazard ratio"], {}
    for outcome in outcomes:
        rng = np.random.default_rng(seed)
        cohort(*about, rng)  # so that the outcome is drawn after the features, as if it were the only one
        later = with_outcome(frame, outcome, groups / (n_groups - 1.0), rng)
        columns = {"survival": {"time": "time", "event": "yes"}, WITH_COVARIATE: {"covariates": ["z"]}}
        table = cc.compare_outcomes(model, later, "y", versus=first, **columns.get(outcome, {}))
        table = table[table["measure"].isin(measures) & table["versus"].notna() & (table["subtype"] == last)]
        table["estimate"] = table["estimate"].where(table["measure"] == "mean difference", np.log(table["estimate"]))
        found[outcome] = list(table[["method", "estimate", "se"]].itertuples(index=False, name=None))
    return found


def rows(n_cohorts: int) -> Iterator[list[str]]:
    """Yield a row for each kind of cohort, outcome and method."""
    for about in COHORTS:
        of_kind = n_cohorts if about[0] < LARGE else max(n_cohorts // 10, 2)
        outcomes = OUTCOMES if about[0] < LARGE else OUTCOMES[:1]
        if about[3] == "Gaussian" and about[0] < LARGE:
            outcomes = (*outcomes, OF_FEATURES, WITH_COVARIATE)
        cohorts = [found for seed in range(of_kind) if (found := differences(about, outcomes, seed)) is not None]
        for outcome, method in product(outcomes, ("bch", "ml", "features", "naive")):
            mine = np.array([(value, se) for found in cohorts for name, value, se in found[outcome] if name == method])
            mine = mine[~np.isnan(mine).any(axis=1)] if mine.size else mine
            if len(mine) < 2:
                continue
            truth = 0.0 if outcome == OF_FEATURES else 1.0
            held = np.abs(mine[:, 0] - truth) < 1.96 * mine[:, 1]
            error, share = mine[:, 0].std(ddof=1) / np.sqrt(len(mine)), held.mean()
            n, n_groups, apart, kind, missing = about
            yield [
                f"{n:,}", str(n_groups), f"{apart:g}", kind, f"{missing:.0%}", outcome, method, str(len(mine)),
                str(of_kind - len(cohorts)), f"{mine[:, 0].mean():.3f} ({error:.3f})", f"{mine[:, 0].std(ddof=1):.3f}",
                f"{np.median(mine[:, 1]):.3f}", f"{share:.3f} ({np.sqrt(share * (1 - share) / len(mine)):.3f})",
            ]  # fmt: skip


def main() -> None:
    """Draw, compare, print and perhaps write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=10, help="cohorts of each kind")
    parser.add_argument("--write", action="store_true", help="write the page, instead of printing it only")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    heading = [
        "subjects", "groups", "SDs apart", "features", "missing", "outcome", "method", "cohorts", "not found",
        "mean (error)", "SD", "median SE", "95% intervals that hold the truth (error)",
    ]  # fmt: skip
    lines = [
        "# Do intervals of differences between subtypes hold the truth?",
        "",
        "Two or three groups, eight features, independent given the group; the outcome differs by 1 between the first",
        "and the last group (mean, log odds, log rate, log hazard). Memberships are found from the same subjects; the",
        "number of groups is given, and cohorts in which the search finds fewer clusters are left out (not found).",
        "Estimates need at least 70% of the members of each subtype assigned to it. Made by `benchmarks/outcomes.py`.",
        "",
        "*features*: the mixture of regressions on the features, reported where the outcome depends on features inside",
        "subtypes. It does in *of features*, where the difference between groups is 0, and in no other outcome here.",
        "*With a covariate*: the outcome depends on it as well, and its mean differs by 1 between the groups.",
        "",
        describe_commit(),
        "",
        "| " + " | ".join(heading) + " |",
        "| " + " | ".join("---" for _ in heading) + " |",
    ]
    for row in rows(options.cohorts):
        lines.append("| " + " | ".join(row) + " |")
        print(lines[-1], flush=True)
    if options.write:
        RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
