"""The fit of a table in partitions: places of the work, reading of a partition, and the result."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Array, Whole
from clinclust.engine.kernels.moves import CohortArrays
from clinclust.engine.problem.encoding import EncodedCohort, Encoding, log_bases, model_values, rows_of
from clinclust.engine.search.partitioned import Handle, OnThreads, Place, Shard, Store, Stored
from clinclust.engine.search.plan import Threads, is_of_a_worker, on_one_thread
from clinclust.engine.search.settle import Sums
from clinclust.errors import CohortError, InputError
from clinclust.estimators.fit import Fit
from clinclust.files.row_choice import drawn
from clinclust.files.writing import plain_error

if TYPE_CHECKING:
    from clinclust.schema import FeatureSchema


# Where the shards of a table in partitions lie: on the workers of Dask, or in files of this machine.
#
# Dask is imported by the user: nothing here imports it before a Dask DataFrame is given.


class TablePlace(Place, Protocol):
    """A place that can also read the partitions of a table."""

    @property
    def store(self) -> Store | None:
        """Where shards are written to; None if they stay in the memory of the workers."""

    def submit_each(self, functions: Sequence[Callable[[Any], Any]], partitions: Sequence[Any]) -> list[Handle]:
        """Run one function of each partition of a table (`to_delayed`); the results stay."""

    def for_dask(self, handles: Sequence[Handle]) -> list[Any]:
        """Return results in the form in which Dask takes them; they stay where they lie."""


class Here(OnThreads):
    """The threads of this process; shards lie in a file."""

    def __init__(self, pool: Threads, store: Store) -> None:
        super().__init__(pool)
        self.store = store

    def submit_each(self, functions: Sequence[Callable[[Any], Any]], partitions: Sequence[Any]) -> list[Future[Any]]:
        """Read each partition on a thread, and run a function of it."""
        return [self.submit(_of_delayed, *both) for both in zip(functions, partitions, strict=True)]

    def for_dask(self, handles: Sequence[Handle]) -> list[Any]:
        """Return results as delayed objects."""
        from dask.delayed import delayed

        return [delayed(result, traverse=False) for result in self.results(handles)]


def _of_delayed(function: Callable[[Any], Any], partition: Any) -> Any:
    return function(partition.compute(scheduler="synchronous"))


class OnWorkers:
    """The workers of the current `distributed.Client`; shards lie in their memory, and Dask spills them to disk."""

    store: Store | None = None

    def __init__(self, client: Any) -> None:
        self._client = client

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Handle:
        """Run a function on a worker."""
        return self._client.submit(on_one_thread, function, *arguments, pure=False)

    def submit_each(self, functions: Sequence[Callable[[Any], Any]], partitions: Sequence[Any]) -> list[Handle]:
        """Run a function of each partition on a worker, which forgets the partition."""
        from dask.delayed import delayed

        of_each = [
            delayed(partial(on_one_thread, function), pure=False)(partition)
            for function, partition in zip(functions, partitions, strict=True)
        ]
        return list(self._client.compute(of_each))

    def results(self, handles: Sequence[Handle]) -> list[Any]:
        """Gather results."""
        return list(self._client.gather(list(handles)))

    def for_dask(self, handles: Sequence[Handle]) -> list[Any]:
        """Return the futures themselves."""
        return list(handles)


@contextmanager
def place_of_shards(n_threads: int, cancelled: Event) -> Iterator[tuple[TablePlace, Threads]]:
    """Yield the place of the shards, and threads of this process.

    Raises InputError if the workers are lost.
    """
    client = _current_client()
    if client is None:
        # The threads end before their file is closed.
        with TemporaryFile(prefix="clinclust-") as file, Threads(n_threads, cancelled) as pool:
            yield Here(pool, Store(file)), pool
        return
    try:
        with Threads(n_threads, cancelled) as pool:
            yield OnWorkers(client), pool
    except Exception as error:
        if is_of_workers(error) or client.status != "running":
            raise InputError(
                f"the Dask client or its workers were lost ({type(error).__name__}); keep the client open, give "
                "the workers more memory or the table smaller partitions (repartition), and fit again"
            ) from error
        raise


def is_of_workers(error: Exception) -> bool:
    """Return whether an error is of Dask's workers and not of what ran there."""
    return type(error).__module__.partition(".")[0] == "distributed"


def _current_client() -> Any:
    distributed = sys.modules.get("distributed")
    if distributed is None or is_of_a_worker():  # a task that waits for others may hold the thread that they need
        return None
    try:
        client = distributed.get_client()
    except ValueError:
        return None
    return client if client.status == "running" else None  # one that could not be started stays the current one


# Read each partition of a table once, where it lies: validate it, draw a sample of rows, and encode the features.

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
        codes[rows], values[rows] = block.codes, block.values
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


# PartitionedFit: the fit of a table in partitions, with the fit of its sample.

Labels = NDArray[np.int64]


_ARRAYS_OF_ALL = ("all_subjects.sizes", "all_subjects.statistics", "all_subjects.log_joint_trace")
"""Names of the arrays that are saved in addition to those of the sample's fit."""


@dataclass(frozen=True, eq=False, repr=False)
class PartitionedFit(Fit):
    """The fit of a table in partitions: clusters of all subjects, and the tree of those in the sample.

    `cluster_labels_` is a Dask series. Nothing else holds single subjects: membership and outliers are None.
    """

    in_sample_: Fit = field(kw_only=True)
    """The same clusters as those of the sample."""
    sample_: pd.DataFrame | None = field(kw_only=True)
    """The rows of the sample as given; None of a model that was loaded."""

    @classmethod
    def of(
        cls, in_sample: Fit, sums: Sums, labels: Any = None, sample: pd.DataFrame | None = None, **fields: Any
    ) -> Self:
        """Return the fit of all subjects; its first clusters are those of the sample, the others have no subject in it.

        `sums` are those of the clusters of all subjects, `labels` the Dask series of clusters.
        """
        sizes, statistics = sums
        clusters = replace(in_sample.clusters_, sizes=sizes, statistics=statistics)
        of_sample = {name: getattr(in_sample, name) for name in Fit.__dataclass_fields__}
        none = {"cluster_membership_": None, "outliers_": None, "leave_one_out_nll_": np.nan}
        of_all = {"cluster_labels_": labels, "clusters_": clusters, "in_sample_": in_sample, "sample_": sample}
        return cls(**(of_sample | none | of_all | fields)).with_subtypes_of(in_sample)

    def written(self, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
        """Return what is saved in addition to the fit of the sample, for JSON, and add arrays (`read`)."""
        found = (self.clusters_.sizes, self.clusters_.statistics, self.log_joint_trace_)
        arrays |= dict(zip(_ARRAYS_OF_ALL, found, strict=True))
        return {"log_joint": self.log_joint_, "stopped_early": self.stopped_early_}

    @classmethod
    def read(cls, in_sample: Fit, text: Any, arrays: dict[str, NDArray[Any]]) -> Self:
        """Return the fit that was saved, without subjects; InputError for arrays of another sample."""
        sizes, statistics, trace = (arrays[name] for name in _ARRAYS_OF_ALL)
        joint, stopped = float(text["log_joint"]), bool(text["stopped_early"])
        in_sample_sizes = in_sample.clusters_.sizes
        if sizes.size < in_sample_sizes.size or (sizes[: in_sample_sizes.size] < in_sample_sizes).any():
            raise InputError("the clusters of all subjects are fewer or smaller than those of the sample")
        sums = sizes, statistics
        return cls.of(in_sample, sums, log_joint_=joint, log_joint_trace_=trace, stopped_early_=stopped)

    def with_subtypes_of(self, in_sample: Fit) -> Self:
        """Return the fit with the subtypes of the sample; a cluster without a subject in it is a subtype of its own.

        Subtypes have the numbers that they have in the sample, those without a subject in it the next ones.
        """
        n_more = self.clusters_.sizes.size - in_sample.subtype_of_.size
        return replace(
            self,
            in_sample_=in_sample,
            subtype_of_=np.append(in_sample.subtype_of_, in_sample.n_clusters_ + np.arange(n_more)),
            tree_=in_sample.tree_,
            tree_test_=in_sample.tree_test_,
            min_size_=in_sample.min_size_,
        )

    @property
    def labels_(self) -> Any:
        """Subtype of each subject, a Dask series of int64 with the index of the table; None after loading."""
        labels: Any = self.cluster_labels_
        if labels is None:
            return None
        return labels.map_partitions(partial(_subtypes, subtype_of=self.subtype_of_), meta=labels._meta)

    @property
    def membership_(self) -> Any:
        """None: `predict_proba` gives the probabilities of a table in partitions."""
        return None

    @property
    def cluster_sizes_(self) -> Labels:
        """Number of subjects in each subtype, int64 (K,)."""
        return self.subtypes_.sizes.astype(np.int64)


def floor_as_share(min_size: float | None, n_subjects: int) -> float | None:
    """Return a `MAPDP.min_size` of all subjects as a share of them."""
    return min_size if min_size is None or isinstance(min_size, float) else min_size / n_subjects


def _subtypes(clusters: pd.Series[Any], subtype_of: Labels) -> pd.Series[Any]:
    return pd.Series(subtype_of[clusters.to_numpy()], index=clusters.index, name=clusters.name)


def series_of(frame: pd.DataFrame, labels: NDArray[np.int32]) -> pd.Series[Any]:
    """Return the clusters of a partition with its index."""
    return pd.Series(labels.astype(np.int64), index=frame.index, name="subtype")


def dask_series(table: Any, labels: Sequence[Any]) -> Any:
    """Return the Dask series of labels that lie where the partitions do, or here."""
    import dask.dataframe
    from dask.delayed import delayed

    parts = [
        delayed(series_of, pure=False)(frame, own)
        for frame, own in zip(table.to_delayed(optimize_graph=False), labels, strict=True)
    ]
    meta = series_of(table._meta, np.empty(0, dtype=np.int32))
    return dask.dataframe.from_delayed(parts, meta=meta, divisions=table.divisions, verify_meta=False)
