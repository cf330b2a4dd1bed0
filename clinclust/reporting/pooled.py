"""Means and SDs of all subjects, pooled from those of the subtypes where counts are rounded.

The exact mean of all subjects would tell how many values each subtype has. The pooled one is a function of numbers that
are shown, so that it tells nothing more, and a report can say in which measurements a subtype lies high or low.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from clinclust.comparisons.frame import ALL_SUBJECTS, ComparisonsFrame, Record

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["with_pooled_means"]


def with_pooled_means(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return a rounded frame with the mean and SD of all subjects of each feature without levels.

    They stay withheld where n, mean or SD of any subtype is.

    Parameters
    ----------
    comparisons : pandas.DataFrame
        From `suppress_small_cells` with `rounding`.
    """
    result = comparisons.copy()
    for levels in ComparisonsFrame(comparisons).summaries.values():
        rows = levels.get(None)
        pooled = None if rows is None else _pooled(rows)
        if rows is not None and pooled is not None:
            result.loc[rows[ALL_SUBJECTS]["place"], ["mean", "sd"]] = pooled
    return result


def _pooled(rows: Mapping[int, Record]) -> tuple[float, float] | None:
    """Return the mean and the SD of all values from n, mean and SD of each subtype; None if a number is withheld."""
    import pandas as pd

    numbers = [[row["n"], row["mean"], row["sd"]] for group, row in rows.items() if group != ALL_SUBJECTS]
    if any(pd.isna(number) for of_one in numbers for number in of_one):
        return None
    n, mean, sd = np.array(numbers, dtype=np.float64).T
    of_all = float(np.average(mean, weights=n))
    squares = (n - 1.0) * sd**2 + n * (mean - of_all) ** 2
    return of_all, float(np.sqrt(squares.sum() / (n.sum() - 1.0)))
