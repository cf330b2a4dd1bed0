"""Subtypes adjusted for what is not of interest, beside no adjustment and the residuals of a regression.

Cohorts of 400 people with ten measurements of variance 1 inside a group. Two diseases differ by 1.6 SD in four of them.
Sex and age, or the site, shift six others and two of the four: men by 1.5 SD, each site by a normal number of .8 SD,
and age by .04 SD a year, in a curve. *Shares equal*: the diseases are as frequent in both sexes and at every age.
*Shares differ*: 70% of men and 30% of women have the second, and more with age. *Sites*: four sites. *Assays*: their
assays also differ in scale, by a log normal factor of .3. *Only sex*: there is one group, and one subtype is right. *Of
the disease*: nothing is shifted, and people with the second disease are fifteen years older, so that adjusting for age
may cost.

    python benchmarks/adjusted.py --cohorts 20 --jobs 2     # half an hour; writes results/adjusted.md
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.api as sm
from sklearn.metrics import adjusted_rand_score

from clinclust import MAPDP, Feature, FeatureSchema

RESULTS = Path(__file__).parent / "results" / "adjusted.md"
N, SITES = 400, list("ABCD")
MEASUREMENTS = [f"m{place}" for place in range(10)]
KINDS = ("shares equal", "shares differ", "sites", "only sex", "of the disease", "assays")


def cohort(kind: str, seed: int) -> tuple[pd.DataFrame, np.ndarray, list[str]]:
    """Return a table, the disease of each person, int64 (N,), and the columns that are adjusted for."""
    rng = np.random.default_rng([KINDS.index(kind), seed])
    male, age, site = rng.random(N) < 0.5, rng.uniform(30.0, 80.0, N), rng.integers(4, size=N)
    odds = (male - 0.5) * 1.7 + (age - 55.0) * 0.03 if kind == "shares differ" else np.zeros(N)
    ill = (rng.random(N) < 1.0 / (1.0 + np.exp(-odds))) & (kind != "only sex")
    values = rng.normal(size=(N, 10))
    values[:, :4] += 1.6 * ill[:, None]
    if kind in ("sites", "assays"):
        values *= np.exp(rng.normal(0.0, 0.3, (4, 10)))[site] if kind == "assays" else 1.0
        values[:, 2:] += rng.normal(0.0, 0.8, (4, 8))[site]
    elif kind == "of the disease":
        age += 15.0 * ill
    else:
        values[:, 2:] += 1.5 * male[:, None] * rng.choice([-1.0, 1.0], 8) + (0.0008 * (age - 30.0) ** 2)[:, None]
    table = pd.DataFrame(values, columns=MEASUREMENTS)
    table = table.assign(sex=np.where(male, "male", "female"), age=age, site=[SITES[place] for place in site])
    return table, ill.astype(np.int64), ["site"] if kind in ("sites", "assays") else ["sex", "age"]


def schema_of(columns: list[str], role: str) -> FeatureSchema:
    """Return the schema of the cohorts with one role of these columns; the others are described."""
    described = [
        Feature(name="sex", likelihood="bernoulli", levels=("female", "male")),
        Feature(name="age", likelihood="gaussian"),
        Feature(name="site", likelihood="categorical", levels=tuple(SITES)),
    ]
    measured = [Feature(name=name, likelihood="gaussian") for name in MEASUREMENTS]
    roles = {feature.name: role if feature.name in columns else "describe" for feature in described}
    return FeatureSchema([*measured, *described]).with_roles(**roles)


def residuals(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return the table with the residuals of a linear regression of each measurement on these columns."""
    design = sm.add_constant(pd.get_dummies(table[columns], drop_first=True, dtype=float))
    return table.assign(**{name: sm.OLS(table[name], design).fit().resid for name in MEASUREMENTS})


WAYS: dict[str, Callable[[pd.DataFrame, list[str]], tuple[pd.DataFrame, str]]] = {
    "not adjusted": lambda table, _: (table, "describe"),
    "residuals first": lambda table, columns: (residuals(table, columns), "describe"),
    "`role: adjust`": lambda table, _: (table, "adjust"),
}


def measure(task: tuple[str, int]) -> list[dict[str, object]]:
    """Return the number of subtypes and their agreement with the diseases, for each way."""
    warnings.simplefilter("ignore")
    kind, seed = task
    table, ill, columns = cohort(kind, seed)
    rows: list[dict[str, object]] = []
    for way, prepare in WAYS.items():
        frame, role = prepare(table, columns)
        model = MAPDP(schema_of(columns, role), random_state=seed, n_jobs=1, progress=False).fit(frame)
        found = {"subtypes": model.n_clusters_, "ari": adjusted_rand_score(ill, model.labels_)}
        rows.append({"kind": kind, "way": way, "right": model.n_clusters_ == (1 if kind == "only sex" else 2), **found})
    return rows


def main() -> None:
    """Measure, print the page and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs) as pool:
        tasks = [(kind, seed) for kind in KINDS for seed in range(options.cohorts)]
        rows = pd.DataFrame([row for rows in pool.map(measure, tasks) for row in rows])
    title, text, _ = __doc__.split("\n\n")
    lines = [f"# {title}", "", text, ""]
    lines += [
        f"{options.cohorts} cohorts of each kind. Cells: cohorts with the right number of subtypes, mean adjusted",
        "Rand index with the diseases ± its standard error (mean number of subtypes).",
        "",
    ]
    lines += [f"| cohorts | {' | '.join(WAYS)} |", "| --- " * (len(WAYS) + 1) + "|"]
    for kind in KINDS:
        cells = []
        for way in WAYS:
            some = rows[(rows["kind"] == kind) & (rows["way"] == way)]
            index = "" if kind == "only sex" else f", {some['ari'].mean():.2f} ± {some['ari'].sem():.2f}"
            cells.append(f"{some['right'].mean():.0%}{index} ({some['subtypes'].mean():.1f})")
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
