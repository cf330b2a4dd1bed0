"""The columns of a table in partitions, counted where they lie: how often each value occurs in each group.

Everything that `compare_subtypes` says of a feature depends on these counts only. A partition sends one number for each
pair of a value and a group; values of a column with many are rounded first (`rounded`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.comparisons.summaries import Columns, Rows
from clinclust.engine.search.plan import n_threads
from clinclust.errors import CohortError, InputError
from clinclust.estimators.partitioned.places import TablePlace, place_of_shards
from clinclust.schema.partitions import refuse_failures

if TYPE_CHECKING:
    from clinclust.schema import Feature, FeatureSchema

MANY_VALUES = 4096
"""Number of different values in a partition above which they are rounded."""
_FINENESS = 1024.0
"""The interquartile range of a partition is at least so many steps of the rounded values."""
_TOGETHER = 8
"""Number of partitions whose counts are added together in one step."""


class Counted(NamedTuple):
    """The counts of some partitions."""

    columns: dict[str, pd.DataFrame]
    """For each feature, the validated `value`s, the `label`s, and the numbers of subjects, `times`."""
    failures: dict[int, pd.DataFrame | None]
    """What is wrong with each of them that has rows, by number (`refuse_failures`)."""


def counted_columns(table: Any, labels: Any, schema: FeatureSchema) -> tuple[NDArray[np.int64], Columns]:
    """Return the labels that occur, and the counted column of each feature to compare.

    `labels` is a Dask series in the partitions of `table`. Raises CohortError with all failures of all partitions, and
    InputError for labels that are not those of the table.
    """
    import dask.dataframe
    from dask.delayed import delayed

    series: Any = dask.dataframe.Series
    if not isinstance(labels, series) or labels.npartitions != table.npartitions:
        raise InputError(
            f"labels of a table in partitions must be a Dask series in its {table.npartitions} partitions, such as "
            "`labels_` of the model fitted to it"
        )
    levels = labels.cat.categories if isinstance(labels.dtype, pd.CategoricalDtype) and labels.cat.known else None
    both = zip(table.to_delayed(optimize_graph=False), labels.to_delayed(optimize_graph=False), strict=True)
    pairs = [delayed(_pair, pure=False)(frame, own) for frame, own in both]
    with place_of_shards(n_threads(None), Event()) as (place, _):
        functions = [partial(counted, schema=schema, number=number, levels=levels) for number in range(len(pairs))]
        return _columns(_added(place.submit_each(functions, pairs), place), schema)


def _pair(frame: pd.DataFrame, labels: pd.Series[Any]) -> tuple[pd.DataFrame, pd.Series[Any]]:
    return frame, labels


def counted(
    both: tuple[pd.DataFrame, pd.Series[Any]], schema: FeatureSchema, number: int, levels: pd.Index[Any] | None = None
) -> Counted:
    """Validate and count the partition of this number. `levels` are the categories of the labels in all partitions."""
    frame, labels = both
    if len(labels) != len(frame):
        raise InputError(f"labels has {len(labels)} rows in a partition in which the table has {len(frame)}")
    if len(frame) == 0:
        return Counted({}, {})
    if not labels.index.equals(frame.index):
        raise InputError(
            "labels has another index than the table in a partition, so its order may differ too; give the labels of "
            "this table, in the order of its rows"
        )
    found = _numbered(labels, levels)
    if not np.issubdtype(found.dtype, np.integer) or found.min() < 0:
        raise InputError(
            "labels of a table in partitions must be whole numbers 0, 1, ... or known categories, the same in each "
            "partition, none missing"
        )
    try:
        frame = schema.validate(frame, warn=False)
    except CohortError as error:
        return Counted({}, {number: error.failures})
    columns = {}
    for feature in schema.reported:
        pairs = pd.DataFrame({"value": rounded(feature, frame[feature.name]).array, "label": found, "times": 1})
        columns[feature.name] = _grouped(pairs)
    return Counted(columns, {number: None})


def _numbered(labels: pd.Series[Any], levels: pd.Index[Any] | None) -> NDArray[Any]:
    """Return the places of categories that are `levels`, and other labels as they are."""
    if levels is not None and isinstance(labels.dtype, pd.CategoricalDtype) and labels.cat.categories.equals(levels):
        return labels.cat.codes.to_numpy()
    return labels.to_numpy()


def rounded(feature: Feature, column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a validated column of few values as it is, and one of many as multiples of a step.

    The step is the largest power of 2 of which 1,024 are no more than the interquartile range, so that the columns of
    partitions have most multiples in common. Whole numbers stay exact up to a range of 1,024; 0 and point masses do,
    and so does the first fraction, without which multiples of a long step would be a column of whole numbers.
    """
    if not pd.api.types.is_float_dtype(column.dtype) and not pd.api.types.is_integer_dtype(column.dtype):
        return column
    if column.nunique() <= MANY_VALUES:
        return column
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    finite = values[np.isfinite(values)]
    q1, q3 = np.quantile(finite, [0.25, 0.75])
    spread = q3 - q1 or finite.std()
    step = 2.0 ** np.floor(np.log2(spread / _FINENESS))
    multiples = np.round(values / step) * step
    kept = ~np.isfinite(values) | np.isin(multiples, (0.0, *feature.point_masses))
    is_fraction = np.isfinite(values) & (np.floor(values) != values)
    kept[np.argmax(is_fraction)] |= is_fraction.any()
    return pd.Series(np.where(kept, values, multiples), index=column.index).astype(column.dtype)


def _grouped(pairs: pd.DataFrame) -> pd.DataFrame:
    groups = pairs.groupby(["value", "label"], dropna=False, observed=True)
    return groups["times"].sum().reset_index()


def _added(counts: Sequence[Any], place: TablePlace) -> Counted:
    """Return the counts of all partitions, added where they lie, always in the same order."""
    while len(counts) > 1:
        starts = range(0, len(counts), _TOGETHER)
        counts = [place.submit(_sum, *counts[start : start + _TOGETHER]) for start in starts]
    found: Counted = place.results(counts)[0]
    refuse_failures(found.failures)
    return found


def _sum(*several: Counted) -> Counted:
    names = dict.fromkeys(name for own in several for name in own.columns)
    columns = {
        name: _grouped(pd.concat([own.columns[name] for own in several if name in own.columns])) for name in names
    }
    return Counted(columns, {number: own for one in several for number, own in one.failures.items()})


def _columns(found: Counted, schema: FeatureSchema) -> tuple[NDArray[np.int64], Columns]:
    if not found.columns:
        raise InputError("the table has no rows in any of its partitions, or its schema has no features to compare")
    labels = np.unique(next(iter(found.columns.values()))["label"].to_numpy(dtype=np.int64))
    columns: Columns = {}
    for feature in schema.reported:
        own = found.columns[feature.name]
        group_of = np.searchsorted(labels, own["label"].to_numpy(dtype=np.int64))
        columns[feature.name] = own["value"], Rows(group_of, labels.size, own["times"].to_numpy(dtype=np.int64))
    return labels, columns
