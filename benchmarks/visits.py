"""Find classes of decline by the level and trend of people with irregular visits, and by first value and change.

    python benchmarks/visits.py              # a first look: 3 cohorts of each kind
    python benchmarks/visits.py --write      # results/visits.md: 20 cohorts of each, some minutes

A cohort has 300 people, whose eGFR is stable (half of them), declines slowly (30%) or fast (20%), and who come 4 to 9
times within five years. In one kind of cohort the classes also differ in their first values, in the other only in
decline, so that stable, slow and fast are degrees of one thing.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

import clinclust as cc

RESULTS = Path(__file__).parent / "results" / "visits.md"
KINDS = {"first value and decline": (75.0, 60.0, 90.0), "decline alone": (75.0, 75.0, 75.0)}
"""What differs between stable, slow and fast: their mean first values, in mL/min; they lose 0, 5 and 12 a year."""


def draw_visits(seed: int, first: tuple[float, ...], n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a row for each visit, and the class of each person (n,)."""
    rng = np.random.default_rng(seed)
    classes = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    level = np.array(first)[classes] + rng.normal(0, 10, n)
    slope = np.array([0.0, -5.0, -12.0])[classes] + rng.normal(0, np.array([0.5, 0.8, 1.2])[classes])
    person = np.repeat(np.arange(n), rng.integers(4, 10, n))
    month = rng.uniform(0, 60, person.size).round(1)
    egfr = level[person] + slope[person] * month / 12 + rng.normal(0, 3, person.size)
    return pd.DataFrame({"id": [f"p{k:03d}" for k in person], "month": month, "egfr": egfr.round(1)}), classes


def summarise(visits: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the tables of a row for each person, in the order of their names, by what they hold."""
    with tempfile.TemporaryDirectory() as folder:
        visits.to_csv(path := Path(folder) / "visits.csv", index=False)
        course = cc.read_cohort(path, one_row_per="id", time="month", summarise={"egfr": ["mean", "slope"]})
    values = visits.sort_values("month").groupby("id")["egfr"]
    change = pd.DataFrame({"first": values.first(), "change": values.last() - values.first()})
    return {"level and slope": course.sort_values("id"), "first value and change": change.sort_index()}


def measure(n_cohorts: int) -> list[str]:
    """Return the rows of the table."""
    rows = [
        "| classes differ in | columns | adjusted Rand index | subtypes: 1, 2, 3, more |",
        "| --- | --- | --- | --- |",
    ]
    for kind, first in KINDS.items():
        agreements: dict[str, list[tuple[float, int]]] = {}
        for seed in range(n_cohorts):
            visits, classes = draw_visits(seed, first)
            for columns, table in summarise(visits).items():
                model = cc.MAPDP(cc.draft_schema(table), random_state=0, progress=False).fit(table)
                agreement = adjusted_rand_score(classes, model.labels_), model.n_clusters_
                agreements.setdefault(columns, []).append(agreement)
        for columns, measured in agreements.items():
            ari, n_subtypes = np.array(measured).T
            counts = ", ".join(map(str, np.bincount(np.minimum(n_subtypes, 4).astype(int), minlength=5)[1:]))
            error = ari.std(ddof=1) / np.sqrt(n_cohorts)
            rows.append(f"| {kind} | {columns} | {ari.mean():.2f} ± {error:.2f} | {counts} |")
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    warnings.simplefilter("ignore")
    n = 20 if write else 3
    made = f"Made by `benchmarks/visits.py`: {n} cohorts of 300 people in three classes, with 4 to 9 visits each."
    text = "\n".join(["# Classes of decline", "", f"{made} Means ± standard error.", "", *measure(n), ""])
    print(text)
    if write:
        RESULTS.write_text(text, encoding="utf-8")
