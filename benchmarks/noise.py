"""Find subtypes in pure noise of every likelihood, rightly and wrongly declared, and see whether that is announced.

    python benchmarks/noise.py                 # a first look: a second for each row
    python benchmarks/noise.py --seconds 6     # what results/noise.md holds: about a quarter of an hour on two cores

Every cohort is one population of ten independent columns. Each row of the table holds as many cohorts, at most 200, as
fit into its seconds (two and a half times as many where the declaration is right), and at least one.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import clinclust as cc
from clinclust.estimators.fit import n_standing
from clinclust.estimators.fitting import compared_likelihoods

RESULTS = Path(__file__).parent / "results" / "noise.md"
N_FEATURES, MOST_COHORTS, MOST_SECONDS = 10, 200, 20
COHORTS = ((200, 0.0), (500, 0.0), (500, 0.1), (2000, 0.0))
"""Numbers of subjects, and shares of values that are missing."""
MORE_IF_RIGHT = 2.5
ESTIMATORS = {"PublishedMAPDP": cc.methods.PublishedMAPDP, "MAPDP": cc.MAPDP}
LEVELS = tuple("abcd")
Draw = Callable[[np.random.Generator, int], np.ndarray]


class Kind(NamedTuple):
    """A kind of noise: how a column is drawn, and how it is declared."""

    draw: Draw
    fields: dict[str, object]
    is_right: bool = True


def _u_shaped(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.choice(5, n, p=[0.35, 0.1, 0.1, 0.1, 0.35])


def _overdispersed(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.negative_binomial(2, 2 / 6, n)


BINOMIAL = {"likelihood": "binomial", "trials": 4}
POISSON, GAUSSIAN = {"likelihood": "poisson"}, {"likelihood": "gaussian"}
KINDS = {
    "yes/no": Kind(lambda rng, n: rng.random(n) < 0.3, {"likelihood": "bernoulli"}),
    "binomial, 4 trials": Kind(lambda rng, n: rng.binomial(4, 0.3, n), BINOMIAL),
    "binomial, 30 trials": Kind(lambda rng, n: rng.binomial(30, 0.4, n), {"likelihood": "binomial", "trials": 30}),
    "U-shaped scale, ordinal": Kind(_u_shaped, {"likelihood": "ordinal", "trials": 4}),
    "four levels, categorical": Kind(
        lambda rng, n: rng.choice(LEVELS, n, p=[0.4, 0.3, 0.2, 0.1]), {"likelihood": "categorical", "levels": LEVELS}
    ),
    "Poisson": Kind(lambda rng, n: rng.poisson(3, n), POISSON),
    "geometric": Kind(lambda rng, n: rng.geometric(0.2, n) - 1, {"likelihood": "geometric"}),
    "negative binomial": Kind(_overdispersed, {"likelihood": "negative_binomial"}),
    "exponential": Kind(lambda rng, n: rng.exponential(2, n), {"likelihood": "exponential"}),
    "normal": Kind(lambda rng, n: rng.normal(50, 10, n), GAUSSIAN),
    "lognormal, log": Kind(lambda rng, n: rng.lognormal(0, 1, n), {**GAUSSIAN, "transform": "log"}),
    "uniform 5-point scale as binomial": Kind(lambda rng, n: rng.integers(0, 5, n), BINOMIAL, False),
    "U-shaped scale as binomial": Kind(_u_shaped, BINOMIAL, False),
    "negative binomial as Poisson": Kind(_overdispersed, POISSON, False),
    "geometric as Poisson": Kind(lambda rng, n: rng.geometric(0.2, n) - 1, POISSON, False),
    "zero-inflated as Poisson": Kind(lambda rng, n: rng.poisson(4, n) * (rng.random(n) < 0.6), POISSON, False),
    "lognormal as Gaussian": Kind(lambda rng, n: rng.lognormal(0, 1, n), GAUSSIAN, False),
    "exponential as Gaussian": Kind(lambda rng, n: rng.exponential(2, n), GAUSSIAN, False),
    "t, 3 degrees of freedom, as Gaussian": Kind(lambda rng, n: rng.standard_t(3, n), GAUSSIAN, False),
}


def one_cohort(kind: Kind, estimator: str, n_subjects: int, missing: float, seed: int) -> dict[str, float]:
    """Fit one cohort of noise."""
    rng = np.random.default_rng([seed, n_subjects])
    columns = {f"x{place}": pd.Series(kind.draw(rng, n_subjects)) for place in range(N_FEATURES)}
    frame = pd.DataFrame(columns).mask(rng.random((n_subjects, N_FEATURES)) < missing)
    schema = cc.FeatureSchema([cc.Feature(name=name, **kind.fields) for name in frame])
    frame = schema.validate(frame.astype("int64") if frame.dtypes.eq(bool).all() else frame)
    settings = {"random_state": seed, "n_jobs": 1, "progress": False, "max_seconds": MOST_SECONDS}
    model = ESTIMATORS[estimator](schema, **settings).fit(frame)
    compared = compared_likelihoods(model.fit_, frame)
    return {
        "n": model.n_clusters_,
        "one": model.n_clusters_ == 1,
        "standing": n_standing(model.subtypes_) == 1,
        "told": compared["is_misfit"].any(),
        "features": compared["is_misfit"].mean(),
        "late": model.stopped_early_,
    }


def one_row(task: tuple[str, str, int, float, float]) -> dict[str, object]:
    """Return a row of the table: as many cohorts as fit into the seconds."""
    name, estimator, n_subjects, missing, seconds = task
    warnings.simplefilter("ignore")
    found, begun = [], time.perf_counter()
    while not found or (len(found) < MOST_COHORTS and time.perf_counter() - begun < seconds):
        found.append(one_cohort(KINDS[name], estimator, n_subjects, missing, seed=len(found)))
    means = pd.DataFrame(found).astype(float).mean().to_dict()
    return {"kind": name, "estimator": estimator, "N": n_subjects, "missing": missing, "cohorts": len(found), **means}


def written(rows: pd.DataFrame) -> str:
    """Return the page of results."""
    lines = [
        "# Pure noise",
        "",
        f"One population, {N_FEATURES} independent columns of one kind; made by `benchmarks/noise.py`. One: share of "
        "the cohorts in which one subtype was found. Standing: share in which one is left without subtypes that are "
        "marked few (fewer than 5 subjects) or weak (less than 3 nats). Subtypes: their mean number. Announced: share "
        "of the cohorts in which another likelihood was announced as clearly better, and of the features. Shares ± "
        f"their binomial standard error. Cohorts: at most {MOST_COHORTS}, fewer where a fit takes long; a fit that "
        f"takes more than {MOST_SECONDS} seconds was stopped (*). No likelihood here has heavy tails, so that nothing "
        "can be announced for Student's t; `MAPDP(schema)` sets such values aside.",
    ]
    for is_right, estimator in product((True, False), ESTIMATORS):
        lines += ["", f"## {'Rightly' if is_right else 'Wrongly'} declared, `{estimator}`", ""]
        lines += ["| noise | N | missing | cohorts | one | standing | subtypes | announced | features |"]
        lines += ["|" + " --- |" * 9]
        of_kind = rows["kind"].map(lambda name: KINDS[name].is_right)
        chosen = rows[(of_kind == is_right) & (rows["estimator"] == estimator)]
        lines += [_line(row) for row in chosen.to_dict("records")]
        n = int(chosen["cohorts"].sum())
        of_all = chosen[["one", "standing", "told", "features"]].mul(chosen["cohorts"], axis=0).sum() / n
        lines += [
            "",
            f"All {n:,} cohorts: one in {of_all['one']:.3f}, standing in {of_all['standing']:.3f}, announced in "
            f"{of_all['told']:.3f}; {100 * of_all['features']:.2f}% of {n * N_FEATURES:,} features announced.",
        ]
    return "\n".join([*lines, ""])


def _line(row: dict[str, object]) -> str:
    n = int(row["cohorts"])
    shares = [
        f"{row[name]:.2f} ± {np.sqrt(row[name] * (1 - row[name]) / n):.2f}" for name in ("one", "standing", "told")
    ]
    late = "*" if row["late"] > 0 else ""
    cells = [row["kind"], row["N"], f"{row['missing']:.0%}", f"{n}{late}", *shares[:2], f"{row['n']:.1f}", shares[2]]
    return f"| {' | '.join(map(str, cells))} | {row['features']:.3f} |"


def main() -> None:
    """Run the benchmark; write the page if it is large enough."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    tasks = [
        (name, estimator, *cohort, options.seconds * (MORE_IF_RIGHT if kind.is_right else 1.0))
        for (name, kind), estimator, cohort in product(KINDS.items(), ESTIMATORS, COHORTS)
    ]
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        rows = pd.DataFrame(pool.map(one_row, tasks, chunksize=1))
    page = written(rows)
    print(page)
    if options.seconds >= 5:
        RESULTS.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
