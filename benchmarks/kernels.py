"""Nanoseconds of each compiled kernel beside NumPy's, one thread, one process.

    python benchmarks/kernels.py        # results/kernels.md: about a minute

A time is the fastest of many repetitions; kernels and NumPy take turns, so that the ratio is fair on a machine whose
speed varies. `LIMITS.md` says what limits each.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust import Feature, FeatureSchema
from clinclust.engine.kernels.compiled import kernel
from clinclust.engine.kernels.moves import Partition, accumulate, clusters_without_subjects, log_in_place, new_partition
from clinclust.engine.kernels.sweep import bring_up_to_date, find_best
from clinclust.engine.problem.problem import Problem, pose

RESULT = Path(__file__).parent / "results" / "kernels.md"
K, REPEATS = 8, 25
KINDS: dict[str, dict[str, Any]] = {
    "yes or no": {"likelihood": "bernoulli"},
    "five-level scale": {"likelihood": "binomial", "trials": 4},
    "four unordered levels": {"likelihood": "categorical", "levels": ("a", "b", "c", "d")},
    "count": {"likelihood": "poisson"},
    "measurement": {"likelihood": "gaussian"},
}


def cohort(n_subjects: int, kinds: list[str], missing: float = 0.0) -> tuple[Problem, Partition]:
    """Return a cohort of eight clearly different clusters and the partition into them, which is a fixed point."""
    rng = np.random.default_rng(0)
    groups = rng.integers(K, size=n_subjects)
    columns, features = {}, []
    for place, kind in enumerate(kinds):
        level = rng.permutation(K)[groups]
        if kind == "yes or no":
            values: Any = (rng.random(n_subjects) < 0.1 + 0.1 * level).astype(float)
        elif kind == "five-level scale":
            values = rng.binomial(4, 0.1 + 0.1 * level).astype(float)
        elif kind == "four unordered levels":
            values = (rng.integers(4, size=n_subjects) * (rng.random(n_subjects) < 0.5) + level).astype(int) % 4
        elif kind == "count":
            values = rng.poisson(1.0 + level).astype(float)
        else:
            values = rng.normal(level.astype(float))
        column = pd.Series(values)
        if kind == "four unordered levels":
            column = column.map(dict(enumerate("abcd")))
        columns[f"x{place}"] = column.mask(rng.random(n_subjects) < missing) if missing else column
        features.append(Feature(name=f"x{place}", **KINDS[kind]))
    schema = FeatureSchema(features)
    problem = pose(schema.validate(pd.DataFrame(columns), warn=False), schema, None, 3.0)
    partition = new_partition(problem.cohort.arrays, groups[problem.cohort.order], K + 2)
    bring_up_to_date(problem.cohort.arrays, problem.model, partition)
    return problem, partition


def fastest(*contestants: Callable[[], object], repeats: int = REPEATS) -> list[float]:
    """Return the seconds of each contestant's fastest run; they take turns."""
    times = np.full(len(contestants), np.inf)
    for turn in range(repeats + 1):
        for place, run in enumerate(contestants):
            began = time.perf_counter()
            run()
            if turn:  # the first turn compiles
                times[place] = min(times[place], time.perf_counter() - began)
    return times.tolist()


def scanners(
    kinds: list[str], *, missing: float = 0.0, new: bool = False
) -> tuple[Callable[[], None], Callable[[], None]]:
    """Return a converged scan of 20,000 subjects, and NumPy's sum of the same rows of the table."""
    problem, partition = cohort(20_000, kinds, missing)
    arrays = problem.cohort.arrays
    most = K + 1 if new else K

    def ours() -> None:
        find_best(arrays, problem.model, partition, 1e-9, most, up_to_date=True)

    def numpy() -> None:
        for first in range(0, 20_000, 1_000):
            partition.table[arrays.codes[first : first + 1_000], :K].sum(axis=1)

    best = find_best(arrays, problem.model, partition, 1e-9, most, up_to_date=True)
    assert (best == partition.labels).mean() > 0.5
    return ours, numpy


def scan(kinds: list[str], *, missing: float = 0.0, new: bool = False) -> tuple[float, float]:
    """Return nanoseconds per subject, feature and cluster of a converged scan, and of NumPy's sum of table rows."""
    seconds, by_numpy = fastest(*scanners(kinds, missing=missing, new=new), repeats=9)
    cells = 20_000 * len(kinds) * K
    return 1e9 * seconds / cells, 1e9 * by_numpy / cells


def refreshing(kind: str) -> tuple[float, float]:
    """Return nanoseconds per feature, and per row of the table, to bring a cluster's log predictives up to date."""
    problem, partition = cohort(500, [kind] * 200)
    arrays = problem.cohort.arrays
    nobody = clusters_without_subjects(arrays, partition.sizes[:0], partition.statistics[:0])
    clusters, empty = fastest(
        lambda: bring_up_to_date(arrays, problem.model, partition),
        lambda: bring_up_to_date(arrays, problem.model, nobody),
        repeats=400,
    )
    seconds = (clusters - empty) / K
    return 1e9 * seconds / 200, 1e9 * seconds / max(arrays.level_log_base.size - 1, 1)


def adding_up() -> tuple[float, float]:
    """Return nanoseconds per value to add up all statistics, and of NumPy's counting."""
    problem, partition = cohort(20_000, ["yes or no"] * 30 + ["four unordered levels"] * 20)
    arrays = problem.cohort.arrays
    n_rows = arrays.level_log_base.size

    def numpy() -> None:
        np.bincount((partition.labels[:, None] * n_rows + arrays.codes).ravel(), minlength=K * n_rows)

    seconds, by_numpy = fastest(lambda: accumulate(arrays, partition), numpy)
    return 1e9 * seconds / arrays.codes.size, 1e9 * by_numpy / arrays.codes.size


@kernel
def _logs(numbers: NDArray[np.float64]) -> None:
    log_in_place(numbers, numbers.size)


def logarithms() -> tuple[float, float]:
    """Return nanoseconds per logarithm, and of NumPy's."""
    numbers = np.random.default_rng(0).gamma(2.0, size=4096)
    room = numbers.copy()

    def ours() -> None:
        room[:] = numbers
        _logs(room)

    seconds, by_numpy = fastest(ours, lambda: np.log(numbers, out=room), repeats=2_000)
    return 1e9 * seconds / numbers.size, 1e9 * by_numpy / numbers.size


def main() -> None:
    """Measure, print and write."""
    mixed = ["yes or no"] * 20 + ["five-level scale"] * 15 + ["four unordered levels"] * 5 + ["count"] * 5
    rows = []

    def row(what: str, unit: str, ours: float, numpy: float | None = None) -> None:
        ratio = f"{numpy / ours:.1f}" if numpy else ""
        rows.append(f"| {what} | {unit} | {ours:.3g} | {'' if numpy is None else f'{numpy:.3g}'} | {ratio} |")

    cell = "subject, feature and cluster"
    row("converged scan, 45 discrete features, 8 clusters", cell, *scan(mixed))
    row("the same, a ninth cluster open to all", cell, *scan(mixed, new=True))
    row("converged scan, 225 discrete features, 8 clusters", cell, *scan(mixed * 5))
    row("converged scan, 20 Gaussian features, complete", cell, scan(["measurement"] * 20)[0])
    row("converged scan, 20 Gaussian features, 5% missing", cell, scan(["measurement"] * 20, missing=0.05)[0])
    row("adding up statistics, 50 discrete features", "subject and feature", *adding_up())
    row("logarithms", "logarithm", *logarithms())
    for kind in KINDS:
        feature, level = refreshing(kind)
        row(f"log predictives of a cluster, {kind}", "feature", feature)
        if kind != "measurement":
            row(f"log predictives of a cluster, {kind}", "level", level)
    text = "\n".join(
        [
            "# Kernels",
            "",
            "Nanoseconds, one thread; fastest of many runs.",
            "",
            "| kernel | per | ns | NumPy, ns | times as fast |",
            "| --- | --- | --- | --- | --- |",
            *rows,
            "",
            f"numpy {version('numpy')}, numba {version('numba')}.",
            "",
        ]
    )
    RESULT.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
