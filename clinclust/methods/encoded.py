"""A cohort as a matrix of standardised numbers, for methods that know distances only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clinclust.arrays import Array
from clinclust.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema import Feature


@dataclass(frozen=True, eq=False)
class Encoded:
    """A cohort as columns, (N, C), without missing values and standardised; the last `n_levels` are codes of levels.

    `prepared` says how they were made, in one sentence without its full stop or numbers of subjects.
    """

    values: Array
    prepared: str
    n_levels: int = 0


def encoded(frame: pd.DataFrame, features: Sequence[Feature]) -> Encoded:
    """Return the columns of features, each with two different observed values, as standardised numbers.

    Yes/no features become 0 and 1, ordered levels their scores, unordered levels one indicator for each observed level.
    Counts and measurements stay as they are, after the transform of the schema; both parts of a feature with point
    masses are features here. A missing value becomes the median of its feature; of yes/no features and unordered
    levels, the most frequent level.
    """
    columns: list[Array] = []
    has_missing = False
    for feature in features:
        values = numbers_of(frame, feature)
        observed = values[~np.isnan(values)]
        if np.unique(observed).size < 2:
            raise InputError(f"{feature.name} has no two different observed values")
        has_missing |= observed.size < values.size
        whole = filled(values, by_frequency=feature.traits.is_nominal or feature.traits.is_yes_no)
        made = [whole] if not feature.traits.is_nominal else [whole == level for level in np.unique(observed)]
        columns += [standardised(column.astype(np.float64)) for column in made]
    if not columns:
        raise InputError("there is no feature to encode")
    return Encoded(np.column_stack(columns), _said(features, has_missing))


def numbers_of(frame: pd.DataFrame, feature: Feature) -> Array:
    """Return a validated column as numbers after the transform of the schema, float64 (N,); NaN = missing."""
    return feature.transformed(frame[feature.column])


def filled(values: Array, *, by_frequency: bool) -> Array:
    """Return values (N,) with each missing one replaced by the median, or by the (smallest) most frequent of them."""
    is_missing = np.isnan(values)
    if not is_missing.any():
        return values
    different, counts = np.unique(values[~is_missing], return_counts=True)
    fill = different[counts.argmax()] if by_frequency else _median(values[~is_missing])
    return np.where(is_missing, fill, values)


def standardised(column: Array) -> Array:
    """Return a column (N,), not constant and without missing values, with mean 0 and standard deviation 1 (over N)."""
    centred = column - _median(column)
    centred = centred / np.abs(centred).max()  # squares of very large or very small numbers would leave the range
    centred = centred - centred.mean()
    return np.asarray(centred / centred.std(), dtype=np.float64)


def levels_in_use(values: Array) -> Array:
    """Return values (N,) as codes 0, 1, ... of the different observed values, in their order; NaN = missing."""
    is_missing = np.isnan(values)
    codes = np.searchsorted(np.unique(values[~is_missing]), values).astype(np.float64)
    return np.where(is_missing, np.nan, codes)


def different_rows(values: Array) -> int:
    """Return the number of different rows of a matrix (N, C)."""
    return int(np.unique(values, axis=0).shape[0])


def _median(values: Array) -> float:
    """Return the median, computed so that the sum of the two middle values cannot leave the range of numbers."""
    ordered = np.sort(values)
    low, high = ordered[(ordered.size - 1) // 2], ordered[ordered.size // 2]
    return float(low if low == high else low / 2.0 + high / 2.0)


def _said(features: Iterable[Feature], has_missing: bool) -> str:
    traits = [feature.traits for feature in features]
    others = [one for one in traits if not (one.is_yes_no or one.is_scale or one.is_nominal)]
    kinds = {
        "yes/no features as 0 and 1": any(one.is_yes_no for one in traits),
        "ordered levels as their scores": any(one.is_scale for one in traits),
        "unordered levels as one indicator each": any(one.is_nominal for one in traits),
        "counts and measurements after the transform of the schema": bool(others),
    }
    coded = ", ".join(text for text, is_there in kinds.items() if is_there)
    gaps = "; missing values were filled with the median or the most frequent level of the feature"
    return f"{coded}, every column standardised{gaps if has_missing else ''}"
