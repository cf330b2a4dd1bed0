"""Whether following the advice of `check_model` brings the groups back, and a right schema gets none.

    python benchmarks/model_check.py                             # a first look: prints the tables
    python benchmarks/model_check.py --cohorts 20 --right 100 --write      # what results/model_check.md holds

Wrong schemas: three groups in eight features, of which three are declared wrongly (a skewed measurement, counts that
vary more than Poisson counts, a scale whose answers gather at both ends) and two measure the same thing. The advice is
followed, the cohort fitted again and checked again, at most three times. Right schemas: cohorts drawn from the model.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

import clinclust as cc

RESULTS = Path(__file__).parent / "results" / "model_check.md"
SIZES = (80, 60, 40)
LEVELS = ("a", "b", "c")
ROUNDS = 3
ESTIMATORS = {"`PublishedMAPDP(schema)`": cc.methods.PublishedMAPDP, "`MAPDP(schema)`": cc.MAPDP}


def misdeclared(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray, cc.FeatureSchema]:
    """Return a cohort, its groups, and a schema of which five of eight lines are wrong."""
    group = np.repeat(np.arange(3), SIZES)
    common, n = rng.normal(size=group.size), group.size
    frame = pd.DataFrame(
        {
            "one": rng.normal(3.0 * group, 1.0),
            "two": rng.normal(-3.0 * group, 1.0),
            "crp": rng.lognormal(0.9 * group, 0.7),
            "counts": rng.negative_binomial(1.5, 1.0 / (1.0 + np.array([1.0, 4.0, 10.0])[group])).astype(float),
            "scale": rng.choice(5, n, p=[0.4, 0.1, 0.05, 0.1, 0.35]).astype(float),
            "systolic": 2.0 * group + common + 0.5 * rng.normal(size=n),
            "diastolic": 2.0 * group + common + 0.5 * rng.normal(size=n),
            "kind": rng.choice(LEVELS, n),
        }
    )
    declared: dict[str, dict[str, object]] = {"counts": {"likelihood": "poisson"}}
    declared["scale"] = {"likelihood": "binomial", "trials": 4}
    declared["kind"] = {"likelihood": "categorical", "levels": LEVELS}
    return frame, group, schema_of(frame, declared)


def right(n: int, n_groups: int, rng: np.random.Generator) -> tuple[pd.DataFrame, cc.FeatureSchema]:
    """Return a cohort from the model, with a twentieth of the values missing, and its schema."""
    group = rng.integers(n_groups, size=n)
    shift = rng.normal(0.0, 1.5, (n_groups, 8))[group]
    frame = pd.DataFrame(
        {
            "a": rng.normal(shift[:, 0], 1.0),
            "b": rng.normal(shift[:, 1], 1.0),
            "c": rng.lognormal(shift[:, 2], 0.6),
            "waiting": rng.exponential(np.exp(shift[:, 3])),
            "falls": rng.poisson(np.exp(0.7 + 0.5 * shift[:, 4])).astype(float),
            "visits": rng.negative_binomial(2.0, 1.0 / (1.0 + np.exp(shift[:, 5]))).astype(float),
            "stage": rng.binomial(4, 1.0 / (1.0 + np.exp(-shift[:, 6]))).astype(float),
            "sign": (rng.random(n) < 1.0 / (1.0 + np.exp(-shift[:, 7]))).astype(float),
        }
    ).mask(rng.random((n, 8)) < 0.05)
    declared: dict[str, dict[str, object]] = {
        "c": {"likelihood": "gaussian", "transform": "log"},
        "waiting": {"likelihood": "exponential"},
        "falls": {"likelihood": "poisson"},
        "visits": {"likelihood": "negative_binomial"},
        "stage": {"likelihood": "binomial", "trials": 4},
        "sign": {"likelihood": "bernoulli"},
    }
    return frame, schema_of(frame, declared)


def schema_of(frame: pd.DataFrame, declared: dict[str, dict[str, object]]) -> cc.FeatureSchema:
    """Return the schema of a frame; what is not declared is Gaussian."""
    return cc.FeatureSchema(
        [cc.Feature(**{"name": name, "likelihood": "gaussian", **declared.get(name, {})}) for name in frame]
    )


def followed(estimator: Callable[..., cc.MAPDP], seed: int) -> list[tuple[int, int, float, int]]:
    """Return round, number of subtypes, adjusted Rand index and pieces of advice, until there is none to follow."""
    frame, group, schema = misdeclared(np.random.default_rng([seed, 7]))
    rows = []
    for n_followed in range(ROUNDS + 1):
        model = estimator(schema, random_state=seed, progress=False).fit(frame)
        found = cc.check.check_model(model, frame)
        agreement = adjusted_rand_score(group, model.labels_)
        rows.append((n_followed, model.n_clusters_, agreement, len(found.mended)))
        if not found.mended:
            break
        schema = found.applied_to(schema)
    last = rows[-1]
    return rows + [(n_followed, *last[1:]) for n_followed in range(last[0] + 1, ROUNDS + 1)]


def wrong_table(n_cohorts: int) -> str:
    """Return the table of the wrong schemas."""
    lines = ["| method | rounds of advice | subtypes (mean) | three | ARI (mean) | lines advised (mean) |"]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    for name, estimator in ESTIMATORS.items():
        rows = [row for seed in range(n_cohorts) for row in followed(estimator, seed)]
        table = pd.DataFrame(rows, columns=["round", "subtypes", "ari", "advice"])
        for n_followed, part in table.groupby("round"):
            share = f"{(part['subtypes'] == 3).mean():.2f}"
            means = f"{part['ari'].mean():.2f} | {part['advice'].mean():.1f}"
            lines.append(f"| {name} | {n_followed} | {part['subtypes'].mean():.1f} | {share} | {means} |")
    return "\n".join(lines)


def right_table(n_cohorts: int) -> str:
    """Return the table of the right schemas: the share of cohorts with advice of each kind."""
    kinds = ["likelihood", "dependence", "values"]
    lines = [f"| subjects | groups | any advice | {' | '.join(kinds)} |", "| --- | --- | --- | --- | --- | --- |"]
    for n in (100, 400):
        for n_groups in (1, 3):
            told = []
            for seed in range(n_cohorts):
                frame, schema = right(n, n_groups, np.random.default_rng([seed, n, n_groups]))
                model = cc.methods.PublishedMAPDP(schema, random_state=seed, progress=False).fit(frame)
                told.append(set(cc.check.check_model(model, frame).advice["kind"]))
            shares = [np.mean([kind in each for each in told]) for kind in kinds]
            any_share = np.mean([bool(each) for each in told])
            lines.append(f"| {n} | {n_groups} | {any_share:.2f} | {' | '.join(f'{x:.2f}' for x in shares)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print the page, and write it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=2, help="cohorts with wrong schemas")
    parser.add_argument("--right", type=int, default=5, help="cohorts of each kind with right schemas")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", cc.CohortWarning)
    page = f"""# Does the model fit? Advice and what it brings

`python benchmarks/model_check.py --cohorts {options.cohorts} --right {options.right} --write`

## Wrong schemas

{options.cohorts} cohorts of 180 subjects in three groups, eight features: three are declared wrongly, and two measure
the same thing. The advice is followed and the cohort fitted again, until there is no more.

{wrong_table(options.cohorts)}

## Right schemas

{options.right} cohorts of each kind, drawn from the model: eight features of six likelihoods, a twentieth of the values
missing. The share of cohorts with any advice, and of each kind.

{right_table(options.right)}
"""
    print(page)
    if options.write:
        RESULTS.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
