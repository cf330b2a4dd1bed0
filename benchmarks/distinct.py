"""Ask how often `distinct_subtypes` divides a continuum, and how often it finds groups that are separate.

    python benchmarks/distinct.py                               # a first look: two cohorts of each kind
    python benchmarks/distinct.py --cohorts 6 --jobs 2 --write  # what results/distinct.md holds

Each cohort is fitted by default and with ``coarsening="auto"``; the tree of each fit is tested. The time of a test is
given as a multiple of that of its fit, in the same process.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Collection
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pandas as pd

from clinclust import distinct_subtypes
from clinclust.engine.search.settle import adjusted_rand_index
from clinclust.methods import PublishedMAPDP

sys.path.insert(0, str(Path(__file__).parent))
from continuum_cohorts import SETTINGS, continuum_cohort

RESULTS = Path(__file__).parent / "results" / "distinct.md"
RULES = {
    "default": "`PublishedMAPDP()`",
    "auto": '`PublishedMAPDP(coarsening="auto")`',
    "tested default": "`distinct_subtypes` of the default fit",
    "tested auto": '`distinct_subtypes` of the fit with `coarsening="auto"`',
    "distinct auto": "the distinct ones of these",
}


def fitted(task: tuple[int, str, int]) -> list[dict[str, object]]:
    """Return one row for each rule."""
    warnings.simplefilter("ignore")
    seed, setting, n_draws = task
    frame, schema, truth = continuum_cohort(seed, SETTINGS[setting])
    found, seconds = {}, {}
    for fit, coarsening in (("default", 1.0), ("auto", "auto")):
        began = time.perf_counter()
        model = PublishedMAPDP(schema, coarsening=coarsening, n_jobs=1, random_state=seed, progress=False).fit(frame)
        found[fit], seconds[fit] = model.labels_, time.perf_counter() - began
        began = time.perf_counter()
        tested = distinct_subtypes(model, frame, n_draws, n_jobs=1)
        found[f"tested {fit}"], seconds[f"tested {fit}"] = tested.labels, time.perf_counter() - began
    found["distinct auto"], seconds["distinct auto"] = tested.distinct, 0.0
    return [
        {
            "seed": seed,
            "setting": setting,
            "rule": rule,
            "n_true": int(truth.max()) + 1,
            "n_found": int(labels.max()) + 1,
            "ari": adjusted_rand_index(labels, truth),
            "seconds": seconds[rule],
        }
        for rule, labels in found.items()
    ]


def table(rows: pd.DataFrame, rules: Collection[str]) -> str:
    """Return the Markdown table: for one population the share divided, for groups the share right and the mean ARI."""
    lines = ["| cohorts | " + " | ".join(rules) + " |", "| --- |" + " --- |" * len(rules)]
    for setting, parameters in SETTINGS.items():
        cells = []
        for rule in rules:
            part = rows[(rows["rule"] == rule) & (rows["setting"] == setting)]
            mean_k = f"K {part['n_found'].mean():.1f}"
            if parameters.n_groups == 1:
                cells.append(f"{(part['n_found'] > 1).mean():.0%} divided, {mean_k}")
            else:
                right = (part["n_found"] == part["n_true"]).mean()
                cells.append(f"{right:.0%} right, {mean_k}, ARI {part['ari'].mean():.2f}")
        lines.append(f"| {setting} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def times(rows: pd.DataFrame) -> str:
    """Return the Markdown table of the time of the tests, as multiples of that of their fits."""
    wide = rows.pivot_table("seconds", ["setting", "seed"], "rule")
    wide["ratio"] = wide["tested auto"] / wide["auto"]
    lines = ["| cohorts | fit, s | test, s | test / fit, median (largest) |", "| --- | --- | --- | --- |"]
    for setting in SETTINGS:
        part = wide.loc[setting]
        ratio = f"{part['ratio'].median():.1f} ({part['ratio'].max():.1f})"
        lines.append(f"| {setting} | {part['auto'].median():.2f} | {part['tested auto'].median():.2f} | {ratio} |")
    return "\n".join(lines)


def report(rows: pd.DataFrame, n_draws: int) -> str:
    """Return the page of results."""
    alone = rows[rows["n_true"] == 1]
    plain = alone[~alone["setting"].str.contains("skewed")]
    counts = [
        f"{rule} {(plain.loc[plain['rule'] == rule, 'n_found'] > 1).sum()} of {(plain['rule'] == rule).sum()}"
        for rule in RULES
    ]
    return "\n".join(
        [
            "# Slices of a continuum and separate groups",
            "",
            f"{rows['seed'].nunique()} cohorts of each kind, 16 features, up to {n_draws} draws, level .05; made by "
            "`benchmarks/distinct.py`. The last number of a kind is that of its subjects.",
            "",
            *[f"- {name}: {meaning}" for name, meaning in RULES.items()],
            "",
            "A severity alone, or noise, is one population, and should not be divided. Groups differ in ten features "
            "(in two, where it says so), with a severity inside each.",
            "",
            table(rows, RULES),
            "",
            f"One population with a normal severity or none, divided: {'; '.join(counts)}.",
            "",
            'Seconds on one thread, medians; the fit is that with `coarsening="auto"`, and so is the test.',
            "",
            times(rows),
            "",
        ]
    )


def main() -> None:
    """Fit and test the cohorts, print the tables and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=2)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the page, instead of printing it only")
    options = parser.parse_args()
    tasks = [(6000 + number, setting, options.draws) for setting in SETTINGS for number in range(options.cohorts)]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        rows = pd.DataFrame([row for group in pool.map(fitted, tasks) for row in group])
    page = report(rows, options.draws)
    print(page)
    if options.write:
        RESULTS.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
