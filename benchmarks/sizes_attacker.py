"""An attacker of rounded reports: find the exact size of a group from its printed means, SDs and medians.

A mean of n whole numbers is one of few fractions, and n whole numbers have one of few sums of squares, so that each
printed number excludes some n; what is left is intersected over the features without missing values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from report_reader import Cell, rows_of_data

import clinclust as cc

__all__ = ["possible_sizes", "sizes_found", "whole_number_cohort"]


def possible_sizes(workbook: Path, whole: Collection[str], base: int) -> dict[int, set[int]]:
    """Return, by group, the sizes that agree with all printed of the features that the reader knows to be whole."""
    rows = [row for row in rows_of_data(workbook) if row["Kind"] == "Summary" and row["Column"] in whole]
    rows = [row for row in rows if row["Subtype"]]  # numbers of all subjects are made of those of the subtypes
    decimals: dict[object, int] = defaultdict(int)
    for row in rows:
        for number in (row["mean"], row["sd"]):
            decimals[row["Column"]] = max(decimals[row["Column"]], _decimals(number))
    found: dict[int, set[int]] = {}
    for row in rows:
        n = row["n"]
        if isinstance(n, int) and row["missing"] == 0:
            near = {size for size in range(n - base // 2, n + base - base // 2) if size > 1}
            group = int(str(row["Subtype"]))
            found[group] = found.get(group, near) & {
                size for size in near if _agrees(row, size, 0.5 * 10.0 ** -decimals[row["Column"]])
            }
    return found


def _decimals(number: Cell) -> int:
    return len(f"{number:.12g}".partition(".")[2]) if isinstance(number, (int, float)) else 0


def _agrees(row: Mapping[str, Cell], n: int, error: float) -> bool:
    """Return whether n whole numbers can have the printed mean, SD and median."""
    mean, sd, median = row["mean"], row["sd"], row["median"]
    if isinstance(median, float) and median % 1 == 0.5 and n % 2:
        return False
    if not isinstance(mean, (int, float)):
        return True
    slack = 1e-9
    sums = range(int(np.ceil((mean - error - slack) * n)), int(np.floor((mean + error + slack) * n)) + 1)
    if not isinstance(sd, (int, float)):
        return bool(sums)
    return any(_has_squares(total, n, max(sd - error, 0.0), sd + error) for total in sums)


def _has_squares(total: int, n: int, least: float, most: float) -> bool:
    """Return whether a sum of squares of n whole numbers with this sum gives an SD within the limits."""
    low, high = (spread**2 * (n - 1) + total**2 / n for spread in (least, most))
    first = int(np.ceil(low - 1e-6))
    first += (first - total) % 2  # a sum of squares is even if the sum is
    return first <= high + 1e-6


def whole_number_cohort(seed: int) -> tuple[pd.DataFrame, cc.FeatureSchema, np.ndarray, list[str]]:
    """Return a cohort of three groups of 20 to 150 with scores, ages and counts of tablets, and the names of these."""
    rng = np.random.default_rng([seed, 33])
    sizes = sorted(rng.integers(20, 151, 3).tolist(), reverse=True)
    groups = np.repeat(np.arange(3), sizes)
    n = groups.size
    columns, features = {}, []
    for place in range(4):
        columns[f"item{place}"] = rng.binomial(4, rng.uniform(0.25, 0.75, 3)[groups])
        features.append(cc.Feature(name=f"item{place}", likelihood="binomial", trials=4))
    for name, middle, spread in (("age", 62, 9), ("tablets", 7, 2.5), ("pressure", 130, 15), ("children", 4, 0.6)):
        columns[name] = np.rint(rng.normal(middle * rng.uniform(0.8, 1.2, 3)[groups], spread))
        features.append(cc.Feature(name=name, likelihood="gaussian"))
    columns["total"] = rng.binomial(60, rng.uniform(0.3, 0.7, 3)[groups])
    features.append(cc.Feature(name="total", likelihood="ordinal", trials=60))
    columns["sex"], features = rng.integers(0, 2, n), [*features, cc.Feature(name="sex", likelihood="bernoulli")]
    return pd.DataFrame(columns), cc.FeatureSchema(features), groups, [name for name in columns if name != "sex"]


def sizes_found(seed: int, folder: Path, base: int = 5) -> tuple[int, int, int]:
    """Return of how many groups the exact size is found, of how many some size is excluded, and how many there are."""
    frame, schema, groups, whole = whole_number_cohort(seed)
    path = folder / "rounded.xlsx"
    model = cc.Partition(groups, schema, made_by="a simulation")
    cc.write_report(model, frame, path, suppress=10, round_to=base, associations=None, progress=False, overwrite=True)
    possible = possible_sizes(path, whole, base)
    exact = sum(sizes == {int((groups == group - 1).sum())} for group, sizes in possible.items())
    return exact, sum(len(sizes) < base for sizes in possible.values()), len(possible)
