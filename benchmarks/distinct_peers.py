"""Compare subtypes and kinds with established rules for the number of clusters, on the cohorts of `distinct.py`.

    python -m venv --system-site-packages peers && peers/bin/pip install stepmix
    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
    peers/bin/python benchmarks/distinct_peers.py                     # a first look: one cohort of each kind
    peers/bin/python benchmarks/distinct_peers.py --jobs 2 --write    # what results/distinct_peers.md holds

A rule whose package is not installed is left out, and the page says so. Times are those of the processors,
as multiples of that of a fit with its test, on the same cohort in the same process.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pandas as pd
from commits import describe_commit

from clinclust import MAPDP
from clinclust.engine.search.settle import adjusted_rand_index

sys.path.insert(0, str(Path(__file__).parent))
from continuum_cohorts import SETTINGS, continuum_cohort
from distinct import table
from rules_for_the_number import PEERS

RESULTS = Path(__file__).parent / "results" / "distinct_peers.md"
INSTALLED = [rule for rule, (_, module, _) in PEERS.items() if importlib.util.find_spec(module)]
OURS = {"subtypes": "those of `MAPDP()`", "kinds": "its kinds, the distinct ones"}


def found(task: tuple[str, int]) -> list[dict[str, object]]:
    """Return one row for each rule."""
    warnings.simplefilter("ignore")
    setting, seed = task
    frame, schema, truth = continuum_cohort(seed, SETTINGS[setting])
    began = time.process_time()
    model = MAPDP(schema, n_jobs=1, random_state=seed, progress=False).fit(frame)
    seconds = time.process_time() - began
    partitions = {"subtypes": (model.labels_, seconds), "kinds": (model.kinds_, seconds)}
    for rule in INSTALLED:
        began = time.process_time()
        labels = PEERS[rule][2](frame, schema, seed)
        partitions[rule] = labels, time.process_time() - began
    return [
        {
            "setting": setting,
            "seed": seed,
            "rule": rule,
            "n_true": int(truth.max()) + 1,
            "n_found": int(labels.max()) + 1,
            "ari": adjusted_rand_index(labels, truth),
            "seconds": seconds,
        }
        for rule, (labels, seconds) in partitions.items()
    ]


def totals(rows: pd.DataFrame) -> str:
    """Return the Markdown table of all kinds together, with the time of each rule."""
    plain = rows[~rows["setting"].str.contains("skewed")]
    seconds = rows.pivot_table("seconds", ["setting", "seed"], "rule")
    lines = [
        "| rule | one population divided | groups right | ARI of groups, mean | multiple of our time, median (range) |",
        "| --- | --- | --- | --- | --- |",
    ]
    for rule in (*OURS, *INSTALLED):
        part = plain[plain["rule"] == rule]
        one, groups = part[part["n_true"] == 1], part[part["n_true"] > 1]
        right = int((groups["n_found"] == groups["n_true"]).sum())
        ratio = seconds[rule] / seconds["kinds"]
        lines.append(
            f"| {rule} | {int((one['n_found'] > 1).sum())} of {len(one)} | {right} of {len(groups)} | "
            f"{groups['ari'].mean():.2f} | {ratio.median():.1f} ({ratio.min():.1f}, {ratio.max():.1f}) |"
        )
    return "\n".join(lines)


def page(rows: pd.DataFrame) -> str:
    """Return the page of results."""
    absent = [rule for rule in PEERS if rule not in INSTALLED]
    return "\n".join(
        [
            "# Subtypes and kinds beside established rules for the number of clusters",
            "",
            f"Cohorts of each kind of `distinct.py`: {rows['seed'].nunique()}; made by `benchmarks/distinct_peers.py`.",
            "",
            *[f"- {rule}: {what}" for rule, what in OURS.items()],
            *[f"- {rule}: {PEERS[rule][0]}" for rule in INSTALLED],
            *[f"- {rule}: left out, because the package {PEERS[rule][1]} is not installed" for rule in absent],
            "",
            table(rows, [*OURS, *INSTALLED]),
            "",
            "All kinds together, the skewed severity left out; times on one thread:",
            "",
            totals(rows),
            "",
            describe_commit(),
            "",
        ]
    )


def main() -> None:
    """Run all rules, print the tables and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the page, instead of printing it only")
    options = parser.parse_args()
    tasks = [(setting, 6000 + number) for number in range(options.cohorts) for setting in SETTINGS]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        rows = pd.DataFrame([row for rows in pool.map(found, tasks) for row in rows])
    text = page(rows)
    print(text)
    if options.write:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
