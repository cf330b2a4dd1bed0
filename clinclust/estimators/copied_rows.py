"""Rows that are exact copies of an earlier row, in a cohort that has more of them than chance explains.

With few or dependent discrete features many rows are equal by chance. A chance copy has rows next to it, which differ
in one feature only, and values that many subjects have. (A total of yes-no items hides these neighbours; a drafted
schema sets it aside.)
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Whole
from clinclust.errors import CohortWarning
from clinclust.files.listed import limited
from clinclust.files.selection.repeated_subjects import noted_several_rows

_FEW = 0.01  # share of the rows, up to which copies are too few to form a subtype
_PART = 0.2  # share of the copies, up to which those that chance does not explain are taken for chance as well
_BY_CHANCE = 0.001  # expected number of rows with the values of a row, if features were independent
_SHOWN = 3


def copied_rows(frame: pd.DataFrame, names: Sequence[str]) -> Whole | None:
    """Return the first row equal to each row in these columns, int64 (N,); None if chance explains the copies.

    Chance does not explain the copies of a row if fewer than 0.001 such rows are expected from the frequencies of its
    values, and no row differs from it in one column only. Missing values are equal to each other.
    """
    # Products with random numbers, so that sums of the hashes of the same few values differ between columns.
    factors = np.random.default_rng(0).integers(2**64, size=len(names), dtype=np.uint64)
    total = np.zeros(len(frame), dtype=np.uint64)
    for name, factor in zip(names, factors, strict=True):
        total += _hashes(frame[name]) * factor
    codes, found = pd.factorize(total)
    if len(frame) - found.size <= _FEW * len(frame):
        return None
    is_first = ~pd.Series(total).duplicated().to_numpy()
    firsts = np.flatnonzero(is_first)
    log_expected, has_neighbour = np.full(firsts.size, np.log(firsts.size)), np.zeros(firsts.size, dtype=np.bool_)
    for name, factor in zip(names, factors, strict=True):
        hashes = _hashes(frame[name])[firsts]
        values, _ = pd.factorize(hashes)
        log_expected += np.log(np.bincount(values) / firsts.size)[values]
        has_neighbour |= pd.Series(total[firsts] - hashes * factor).duplicated(keep=False).to_numpy()
    has_values = frame[list(names)].notna().any(axis="columns").to_numpy()[firsts]
    n_copies = np.bincount(codes) - 1
    beyond_chance = n_copies[(log_expected < np.log(_BY_CHANCE)) & ~has_neighbour & has_values].sum()
    return firsts[codes] if beyond_chance > max(_FEW * len(frame), _PART * n_copies.sum()) else None


def warn_of_copied_rows(frame: pd.DataFrame, names: Sequence[str], *, stacklevel: int) -> None:
    """Warn of more copies of rows than chance explains, unless it is known that subjects have several rows."""
    first = copied_rows(frame, names) if noted_several_rows(frame) is None else None
    if first is None:
        return
    copies = np.flatnonzero(first != np.arange(first.size))
    shown = ", ".join(f"{frame.index[row]} is {frame.index[first[row]]}" for row in copies[:_SHOWN])
    warnings.warn(
        limited(
            f"{copies.size:,} of {first.size:,} rows are exact copies of an earlier row in all features to cluster on, "
            f"more than chance explains ({first.size - copies.size:,} rows are distinct; first copies: row {shown}). "
            "Each counts as a subject, so copies form subtypes of their own. If rows were entered twice, take them out "
            "of the table (in pandas: frame.drop_duplicates([names of these features])); if patients have several "
            "rows, keep one row of each with `one_row_per`"
        ),
        CohortWarning,
        stacklevel=stacklevel + 1,
    )


def _hashes(column: pd.Series) -> NDArray[np.uint64]:
    return np.asarray(pd.util.hash_pandas_object(column, index=False), dtype=np.uint64)
