"""What a registry of a billion rows would take: the parts of a fit in partitions, measured, and a model of their sum.

    python benchmarks/registry.py                                       # a first look: 200,000 and 400,000 rows
    python benchmarks/registry.py --subjects 500000 1000000 2000000 --write     # results/registry.md

Tables of `scale.py` are fitted in files of this machine. Seconds are those of the processor: of the functions that run
where partitions lie, by name, and of everything else (the sample, its tests, sums added up). A Dask worker then runs
many tasks that do nothing and return sums of a usual size.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scale import PER_FILE, schema, warmed_up, workers, write

import clinclust as cc
from clinclust.engine.search.partitioned import Place

RESULTS = Path(__file__).parent / "results" / "registry.md"
N_TASKS, N_SUMS = 3_000, 1_900
"""Tasks of the measurement of Dask, and numbers in the sums that each returns, 15 kB."""
REGISTRIES = [(10**7, 2), (10**8, 10), (10**9, 100)]
"""Rows and workers of one thread."""
ROWS_OF_A_PARTITION = (100_000, 1_000_000)


class Parts(NamedTuple):
    """What a fit took."""

    n_subjects: int
    at_partitions: Counter[str]
    """Seconds of each function that runs where partitions lie."""
    elsewhere: float
    tasks: float
    """Number of tasks for each partition."""


def measured(n_subjects: int) -> Parts:
    """Fit a table of this many rows."""
    import dask.dataframe as dd

    seconds, n_tasks = Counter[str](), [0]

    def timed(place: Place, function: Any, *arguments: Any) -> Any:
        def run(*values: Any) -> Any:
            began = time.thread_time()
            found = function(*values)
            inner = function.func if isinstance(function, partial) else function
            seconds[getattr(inner, "__name__", "results")] += time.thread_time() - began
            n_tasks[0] += 1
            return found

        return submit(place, run, *arguments)

    submit = Place.submit
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write(folder, n_subjects)
        warmed_up(folder, None)
        Place.submit = timed
        began = time.process_time()
        try:
            cc.MAPDP(schema(), random_state=0, progress=False, n_jobs=2).fit(dd.read_parquet(folder))
        finally:
            Place.submit = submit
        total = time.process_time() - began
    return Parts(n_subjects, seconds, total - sum(seconds.values()), n_tasks[0] / (n_subjects / PER_FILE))


def sums_of_a_task(number: int) -> np.ndarray:
    """Return sums of a usual size."""
    return np.full(N_SUMS, float(number))


def seconds_of_a_task() -> float:
    """Return how long client and scheduler are busy with one task and its result, when they have many."""
    with workers(1) as client:
        client.gather(client.map(sums_of_a_task, range(100), pure=False))
        began = time.perf_counter()
        client.gather(client.map(sums_of_a_task, range(N_TASKS), pure=False))
        return (time.perf_counter() - began) / N_TASKS


def report(parts: list[Parts], task: float) -> list[str]:
    """Return the page."""
    largest = parts[-1]
    by_rows = np.array([own.n_subjects for own in parts]) / 1e6
    fixed, slope = np.polynomial.Polynomial.fit(by_rows, [own.elsewhere for own in parts], 1).convert().coef
    work = sum(largest.at_partitions.values()) / by_rows[-1]
    lines = ["# A registry of a billion rows", "", *str(__doc__).split("\n\n", 2)[2].strip().splitlines(), ""]
    lines += ["| rows | where partitions lie, s | everything else, s | tasks for each partition |"]
    lines += ["| ---: | ---: | ---: | ---: |"]
    for own in parts:
        at = sum(own.at_partitions.values())
        lines.append(f"| {own.n_subjects:,} | {at:.1f} | {own.elsewhere:.1f} | {own.tasks:.0f} |")
    lines += ["", f"Where partitions lie, seconds for each million rows ({largest.n_subjects:,} rows):", ""]
    lines += ["| function | s |", "| --- | ---: |"]
    for name, seconds in largest.at_partitions.most_common():
        if seconds >= 0.005 * by_rows[-1]:
            lines.append(f"| `{name}` | {seconds / by_rows[-1]:.2f} |")
    lines += [
        "",
        f"One task of Dask, with its result: {1e3 * task:.2f} ms.",
        "",
        "The model, with N rows in partitions of R, on W workers of one thread:",
        "",
        f"    seconds = {fixed:.0f} + {max(slope, 0.0):.2f} N / 10^6 + {work:.1f} N / 10^6 / W "
        f"+ {largest.tasks:.0f} N / R x {task:.5f}",
        "",
        "The terms are the sample with its tests, sums and subjects that are gathered, the work where partitions lie, "
        "and the tasks, which one scheduler hands out one after the other.",
        "",
        "| rows | workers | rows of a partition | of these: tasks, s | all, s |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    for n, n_workers in REGISTRIES:
        for rows in ROWS_OF_A_PARTITION:
            of_tasks = largest.tasks * n / rows * task
            gathered = max(slope, 0.0) * n / 1e6 * (PER_FILE / rows)  # by partition, not by row
            seconds = fixed + gathered + work * n / 1e6 / n_workers + of_tasks
            lines.append(f"| {n:,} | {n_workers} | {rows:,} | {of_tasks:,.0f} | {seconds:,.0f} |")
    lines += [
        "",
        "Nothing above 20 million rows was run. The model leaves out the network, workers that wait for the slowest, "
        "and disks that several workers share. It takes the number of rounds as that of these tables, two scans in "
        "clear groups; where groups are less clear, more scans follow, each of the seconds of `scan_shard`.",
    ]
    return lines


def main() -> None:
    """Print the page, and write it if asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", type=int, nargs="+", default=[200_000, 400_000])
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = report([measured(n_subjects) for n_subjects in sorted(given.subjects)], seconds_of_a_task())
    print("\n".join(lines))
    if given.write:
        RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
