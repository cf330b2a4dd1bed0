"""Values of the model as cells of a validated column: transforms undone, in the range and of the kind of the schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clinclust.schema.expectations import largest, limits, transform_limit

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.engine.problem.encoding import Encoding
    from clinclust.schema import Feature

__all__ = ["cells_of", "with_cells"]

Array = NDArray[np.float64]

_INVERSE: dict[str | None, Callable[[Array], Array]] = {
    None: lambda values: values,
    "log": np.exp,
    "log1p": np.expm1,
    "sqrt": lambda values: np.square(np.maximum(values, 0.0)),  # a Gaussian draw may be negative, a root is not
}


def cells_of(values: Array, encoding: Encoding, index: int) -> NDArray[Any]:
    """Return what a validated column holds for values of the model, clipped to the range that the schema allows.

    Each transform is increasing, so that quantiles stay quantiles.

    Parameters
    ----------
    values : float64 (n,)
        Encoded values of a feature; of one with levels, the index of the level.
    encoding : Encoding
    index : int
        The place of the feature in the encoding.

    Returns
    -------
    object, int64 or float64 (n,)
        Levels as texts, whole numbers, or numbers.
    """
    feature = encoding.features[index]
    if feature.levels is not None:
        return np.array(feature.levels, dtype=object)[values.astype(np.int64)]
    with np.errstate(over="ignore"):  # a draw from a heavy tail may overflow; it is clipped to the range
        values = _INVERSE[feature.transform](values * encoding.scales[index] + encoding.centres[index])
    return _in_range(values + feature.lowest, feature)


def _in_range(values: Array, feature: Feature) -> NDArray[Any]:
    most = largest(feature)
    lowest, highest = max(limits(feature)[0], -most), min(limits(feature)[1], most)
    if feature.traits.is_whole:
        return np.clip(values, np.ceil(lowest), np.floor(highest)).astype(np.int64)
    if feature.transform is not None:
        limit, usable = transform_limit(feature)
        lowest = max(lowest, limit if usable else np.nextafter(limit, np.inf))
    return np.clip(values, lowest, highest)


def with_cells(column: pd.Series[Any], rows: NDArray[np.int64], cells: NDArray[Any]) -> pd.Series[Any]:
    """Return a copy of a validated column with these cells, (n,), in these rows, (n,)."""
    column = column.copy()
    column.iloc[rows] = cells
    return column
