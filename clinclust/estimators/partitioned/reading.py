"""Read each partition of a table once, where it lies: validate it, draw a sample of rows, and encode the features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Array, Whole
from clinclust.engine.kernels.partition import CohortArrays
from clinclust.engine.problem.encoding import EncodedCohort, Encoding, log_bases, model_values, rows_of
from clinclust.engine.search.shard import Shard
from clinclust.engine.search.stored import Store, Stored
from clinclust.errors import CohortError
from clinclust.files.selection.sampled_rows import drawn
from clinclust.files.writing import plain_error

if TYPE_CHECKING:
    from clinclust.schema import FeatureSchema

_AT_ONCE = 65_536
"""Number of subjects that are encoded together."""

Columns = dict[str, NDArray[Any]]


class Read(NamedTuple):
    """A partition as read: of discrete features the numbers of their levels, 0 = missing; of others the values."""

    columns: Columns | dict[str, Stored]
    summary: Summary


class Summary(NamedTuple):
    """What the search needs to know of a partition that was read."""

    n_subjects: int
    n_observed: dict[str, int]
    levels: dict[str, Array]
    """Levels of each discrete feature in the partition."""
    sampled: Whole
    """Positions of the rows in the sample."""
    sample: pd.DataFrame | None
    """These rows as given."""
    failures: pd.DataFrame | None
    """What is wrong with the partition (`CohortError`)."""


def read(frame: pd.DataFrame, schema: FeatureSchema, first: int, share: float, seed: int, store: Store | None) -> Read:
    """Validate a partition, whose first row is number `first` of the table, and draw about this share of its rows."""
    none: Columns = {}
    if len(frame) == 0:
        return Read(none, Summary(0, {}, {}, np.empty(0, dtype=np.int64), None, None))
    try:
        validated = schema.validate(frame, warn=False)
    except CohortError as error:
        return Read(none, Summary(len(frame), {}, {}, np.empty(0, dtype=np.int64), None, error.failures))
    columns, levels, n_observed = none, dict[str, Array](), dict[str, int]()
    for feature in schema.clustered_parts:
        (values,) = model_values(validated, (feature,)).values()
        n_observed[feature.name] = int((~np.isnan(values)).sum())
        own = feature.traits.of(feature).levels(values)
        if own is not None:
            levels[feature.name] = own
            values = rows_of(values, own, 1).astype(np.min_scalar_type(own.size))
        columns[feature.name] = values
    sampled = np.flatnonzero(drawn(validated, [one.name for one in schema.ids], first, share, seed))
    summary = Summary(len(frame), n_observed, levels, sampled, frame.iloc[sampled], None)
    if store is None:
        return Read(columns, summary)
    return Read(dict(zip(columns, _add(store, columns.values()), strict=True)), summary)


def _add(store: Store, arrays: Iterable[NDArray[Any]], replaced: Sequence[Stored] = ()) -> list[Stored]:
    """Write arrays to the store; OSError says which folder is full, and how to choose another one."""
    try:
        return store.add(arrays, replaced)
    except OSError as error:
        said = plain_error(error, Path(gettempdir()), "written")
        raise OSError(f"temporary files: {said}; TMPDIR=FOLDER in the environment chooses it") from error


class Encoded(NamedTuple):
    """An encoded partition."""

    shard: Shard
    log_bases: Array
    """(D,) what each feature adds to `EncodedCohort.log_base` at power 1."""
    n_observed: Whole
    """(D,) number of observed values of each feature."""


def encode(
    found: Read,
    encoding: Encoding,
    prior: Array,
    levels: Mapping[str, Array],
    may_be_missing: Mapping[str, bool],
    store: Store | None,
) -> Encoded:
    """Encode a partition with the levels of the whole table, in the place of what was read of it."""
    columns = {name: np.array(it.mapped()) if isinstance(it, Stored) else it for name, it in found.columns.items()}
    n_subjects, n_features = found.summary.n_subjects, len(encoding.features)
    bases, n_observed = np.zeros(n_features), np.zeros(n_features, dtype=np.int64)
    own = {feature.name: columns[feature.name] for feature in encoding.features} if n_subjects else {}
    arrays = _arrays(own, found, slice(0, 0), encoding, prior, levels)
    n_table = arrays.codes.shape[1]
    codes = np.empty((n_subjects, n_table), dtype=np.min_scalar_type(int(arrays.level_start[-1])))
    values = np.empty((n_subjects, n_features - n_table))
    for start in range(0, n_subjects, _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        block = _arrays(own, found, rows, encoding, prior, levels)
        codes[rows], values[rows] = block.codes, block.values  # noqa: PD011
        cohort = EncodedCohort(encoding, block, 0.0, np.arange(block.codes.shape[0]))
        bases += log_bases(cohort, prior)
        n_observed += cohort.n_observed
    continuous = encoding.features[n_table:]
    empty = [[np.nan if may_be_missing[feature.name] else 0.0 for feature in continuous]]
    tables = arrays._replace(codes=np.zeros((1, n_table), dtype=np.int32), values=np.array(empty).reshape(1, -1))
    if store is not None and n_subjects:
        read = [it for it in found.columns.values() if isinstance(it, Stored)]
        of_codes, of_values = _add(store, (codes, values), read)
        return Encoded(Shard(tables, of_codes, of_values, n_subjects), bases, n_observed)
    return Encoded(Shard(tables, codes, values, n_subjects), bases, n_observed)


def _arrays(
    columns: Columns, found: Read, rows: slice, encoding: Encoding, prior: Array, levels: Mapping[str, Array]
) -> CohortArrays:
    values = {feature.name: np.empty(0) for feature in encoding.features}
    for name, column in columns.items():
        own = found.summary.levels.get(name)
        some = column[rows]
        values[name] = some.astype(np.float64) if own is None else np.append(np.nan, own)[some]
    return encoding.encode(values, prior, levels_of_all=levels)[0]


def together(summaries: Sequence[Summary]) -> dict[str, Array]:
    """Return the levels of each discrete feature in all partitions."""
    named: dict[str, list[Array]] = {}
    for summary in summaries:
        for name, levels in summary.levels.items():
            named.setdefault(name, []).append(levels)
    return {name: np.unique(np.concatenate(levels)) for name, levels in named.items()}
