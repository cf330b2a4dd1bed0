"""A fit of a table in partitions, of a Dask DataFrame on one or several machines, or of rows that stay at hospitals."""

from __future__ import annotations

import copy
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from threading import Event
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arguments import FRAME, SCHEMA, WHOLE, Rule, accepting
from clinclust.arrays import Array, Labels, Mask, Whole
from clinclust.engine.continuum.tested_node import SMALLEST_NODE
from clinclust.engine.joint_estimates.outlying import SearchResult, search_partitions, without_outlying
from clinclust.engine.joint_estimates.resolution import has_repeated
from clinclust.engine.kernels.compiled import announcing_compilation
from clinclust.engine.kernels.moves import CohortArrays, Model, clusters_without_subjects
from clinclust.engine.problem.encoding import EncodedCohort, Encoding, log_bases, model_values, rows_of
from clinclust.engine.problem.problem import Problem, log_joint, named_hyperparameters, pose
from clinclust.engine.search import partitioned as engine
from clinclust.engine.search.partitioned import Handle, Partitioned, Place, Shard, Store, Stored
from clinclust.engine.search.plan import Budget, RestartResult, SearchPlan, Threads, n_threads, on_one_thread
from clinclust.engine.search.settle import N_DIVIDED, added, compact, minimum_gain, resettle
from clinclust.errors import CohortError, InputError, refuse, warn
from clinclust.estimators import say
from clinclust.estimators.adjustment import refuse_adjustment
from clinclust.estimators.distinct_subtypes import floor_as_share, refuse_too_large_a_floor
from clinclust.estimators.fit import AllSubjects, Fit, PartitionedFit
from clinclust.estimators.fitting import Prepared, cut, fit_by, fit_of, list_notes, prepared, search, with_tree_tested
from clinclust.estimators.parameters import PublishedParameters, check_estimator, seed_of
from clinclust.estimators.settings import Settings, pose_for
from clinclust.files.row_choice import N_SAMPLED, drawn
from clinclust.files.writing import plain_error
from clinclust.progress import SILENT, Progress
from clinclust.schema import FeatureSchema
from clinclust.schema.validation import first_rows, parts_of_one_column, refuse_failures, results_of

# The fit of a table in partitions: a fit of a sample in memory, carried over to all subjects where they lie.
#
# The sample gives the model: hyperparameters, coarsening, weights of blocks, and the tests of the tree.

_BRANCH = 1717
"""Spawn key of the random draws of the search among all subjects."""


def partitioned_fit(settings: Settings, table: Any, cancelled: Event) -> tuple[PartitionedFit, list[str]]:
    """Return the fit of a Dask DataFrame, and what to warn of; CohortError has all failures of all partitions."""
    refuse_unusable(settings, say("not_in_partitions"))
    refuse_adjustment(settings.schema, "A fit of a table in partitions")
    if len(set(table.columns)) < len(table.columns):
        raise InputError("the table has columns of the same name; rename or drop all but one of each")
    chosen = False if settings.select_features == "auto" else settings.select_features
    settings = replace(settings, random_state=seed_of(settings.random_state), select_features=chosen)
    progress, budget = Progress(bool(settings.progress)), Budget(settings.max_seconds)
    with place_of_shards(n_threads(settings.n_jobs), cancelled) as (place, pool), announcing_compilation():
        cohort = _read(settings, table, place, progress)
        plan = settings.search_plan(cohort.sample.problem, cancelled, budget, progress)
        sample = SampleFit.search(settings, cohort.sample, plan)
        sums = sample.fit.clusters_.sizes, sample.fit.clusters_.statistics
        rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(_BRANCH,)))
        whole = _encoded(cohort, sample, place)
        with progress.stage("search among all subjects"):
            result = search_partitions(whole, sums, plan, rng, pool)
        of_all: Partitioned = result.partitions
        n_features = len(sample.problem.cohort.encoding.features)
        shards = zip(of_all.labels, of_all.aside, (summary.sampled for summary in cohort.summaries), strict=True)
        sampled = place.results([place.submit(_of_rows, *shard, n_features) for shard in shards])
        labels, outlying = map(np.concatenate, zip(*sampled, strict=True))
        in_sample = sample.with_clusters(labels, outlying, cohort.n_subjects)
        # The clusters of the sample's fit come first, then those without a subject in it, the largest first.
        present = labels[np.unique(in_sample.cluster_labels_, return_index=True)[1]]
        absent = np.setdiff1d(np.arange(of_all.n_clusters), present)
        of_all = of_all.in_order(np.concatenate([present, absent[np.argsort(-of_all.clusters.sizes[absent])]]))
        all_subjects = AllSubjects(*of_all.clusters.sums, np.array(result.trace), plan.budget.cut_short)
        series = dask_series(table, place.for_dask(of_all.labels))
        notes = list(list_notes(in_sample, settings, cohort.sample.frame))
        return PartitionedFit.of(in_sample, all_subjects, series, cohort.rows), notes


class _Cohort(NamedTuple):
    reads: list[Any]
    summaries: list[Summary]
    sample: Prepared
    rows: pd.DataFrame
    """The rows of the sample as given."""
    n_observed: Counter[str]
    """Number of observed values of each feature in the table."""
    n_subjects: int


def refuse_unusable(settings: Settings, repair: str) -> None:
    """Raise InputError for parameters that need the whole table in memory."""
    problems = ["init as labels"] if not isinstance(settings.init, str) else []
    problems += ["missing='mode'"] * settings.fills_modes + ["select_features"] * settings.selects_features
    if problems:
        raise InputError(f"{', '.join(problems)}: needs the table in memory, {repair}")


def _read(settings: Settings, table: Any, place: TablePlace, progress: Progress) -> _Cohort:
    # Not optimised: else Dask may read several files as one partition, and labels would not be aligned with the table.
    partitions = table.to_delayed(optimize_graph=False)
    lengths = place.submit_each([len] * len(partitions), parts_of_one_column(table))
    numbers = results_of((partial(place.results, [length]) for length in lengths), is_of_workers)
    first = first_rows([number for (number,) in numbers])
    n_subjects = int(first[-1])
    refuse_too_large_a_floor(settings.min_size, n_subjects)
    settings = replace(settings, min_size=floor_as_share(settings.min_size, n_subjects))
    share, seed = N_SAMPLED / n_subjects, int(seed_of(settings.random_state))
    schema = settings.schema
    if schema is None:
        from clinclust.drafting import draft_schema

        warn(say("schema_of_partitions_was_drafted"))
        schema = draft_schema(table, progress=False)
    read_from = partial(read, schema=schema, share=share, seed=seed, store=place.store)
    functions = [partial(read_from, first=int(start)) for start in first[:-1]]
    with progress.stage("reading partitions", len(partitions)) as advance:
        reads, summaries = place.submit_each(functions, partitions), list[Summary]()
        for partition in reads:
            summaries += place.results([place.submit(attrgetter("summary"), partition)])
            advance()
    refuse_failures({number: summary.failures for number, summary in enumerate(summaries) if summary.n_subjects})
    rows = pd.concat([summary.sample for summary in summaries if summary.sample is not None])
    sample, n_observed = prepared(replace(settings, schema=schema), rows), Counter[str]()
    for summary in summaries:
        n_observed.update(summary.n_observed)
    return _Cohort(reads, summaries, with_prior_of_all(settings, sample, n_observed), rows, n_observed, n_subjects)


def with_prior_of_all(settings: Settings, sample: Prepared, n_observed: Mapping[str, int]) -> Prepared:
    """Return the sample with default hyperparameters as of the whole table, where they depend on its size."""
    hyperparameters = settings.hyperparameters
    if isinstance(hyperparameters, str):
        return sample  # estimated from the sample
    encoding, defaults = sample.problem.cohort.encoding, sample.problem.hyperparameters
    stated = {name: dict(named) for name, named in (hyperparameters or {}).items()}
    values = model_values(sample.frame, encoding.features)
    largest: dict[str, float] = {}
    for feature, likelihood in zip(encoding.features, encoding.likelihoods, strict=True):
        share = int((~np.isnan(values[feature.name])).sum()) / n_observed[feature.name]
        for name in likelihood.per_value - stated.get(feature.name, {}).keys() - (feature.prior or {}).keys():
            value = max(defaults[feature.name][name] * share, likelihood.usual_bounds[0])
            # The features of a multivariate Gaussian block share the value of the first, the most complete one.
            value = largest.setdefault(f"{feature.block}: {name}", value) if likelihood.is_chained else value
            stated.setdefault(feature.name, {})[name] = value
    problem = pose_for(replace(settings, hyperparameters=stated), sample.frame, sample.schema)
    return sample._replace(problem=problem)


@dataclass(frozen=True, eq=False)
class SampleFit:
    """The fit of a sample of a table, whose model is that of all subjects."""

    settings: Settings
    sample: Prepared
    plan: SearchPlan
    fit: Fit

    @classmethod
    def search(cls, settings: Settings, sample: Prepared, plan: SearchPlan) -> Self:
        """Fit the sample; its tree is tested only where that decides the weights of blocks."""
        within = replace(plan, progress=plan.progress.within("a sample of the table"))
        is_tested = settings.is_tested and plan.estimate_powers and has_repeated(sample.problem)
        return cls(settings, sample, plan, fit_by(within, sample, is_tested=is_tested))

    @cached_property
    def problem(self) -> Problem:
        """The problem of the sample under the model of its fit."""
        fit, numbers = self.fit, (self.fit.concentration_, self.fit.coarsening_, self.fit.block_weights_)
        return pose(self.sample.frame, fit.schema_, fit.hyperparameters_, *numbers)

    def with_clusters(self, labels: Labels, outlying: Mask, n_subjects: int) -> Fit:
        """Return the fit of the sample of so many subjects, with clusters and outlying values by row."""
        order, plan = self.problem.cohort.order, self.plan
        usual, clusters = without_outlying(self.problem, outlying[order], plan.outlying_share), compact(labels[order])
        joint = log_joint(usual, usual.partition(clusters))
        restarts = [RestartResult.of("all subjects", clusters, [joint], converged=True)]
        fit = fit_of(SearchResult(usual, restarts, 0, outlying[order]), self.sample, plan)
        fit = replace(fit, restarts_=self.fit.restarts_)
        if self.settings.is_tested:
            fit = with_tree_tested(fit, self.sample, plan)
        return cut(fit, self.sample, plan, self.settings, floor_as_share(self.settings.min_size, n_subjects))


def _encoded(cohort: _Cohort, sample: SampleFit, place: TablePlace) -> Partitioned:
    """Return all subjects in one cluster under the model of the sample's fit."""
    problem, n_subjects = sample.problem, cohort.n_subjects
    encoding, model, levels = problem.cohort.encoding, problem.model, dict[str, Array]()
    for summary in cohort.summaries:
        for name, of_partition in summary.levels.items():
            levels[name] = np.union1d(levels.get(name, of_partition), of_partition)
    may_be_missing = {
        # A value of a multivariate Gaussian block is left out where one before it is missing.
        feature.name: sample.plan.outlying_share > 0.0
        or cohort.n_observed[feature.name] < n_subjects
        or feature.traits.is_chained
        for feature in encoding.features
    }
    about = encoding, model.prior, levels, may_be_missing, place.store
    encoded = [place.submit(encode, partition, *about) for partition in cohort.reads]
    of_each = attrgetter("log_bases", "n_observed", "shard.tables")
    numbers = place.results([place.submit(of_each, partition) for partition in encoded])
    bases = sum((bases for bases, _, _ in numbers), np.zeros(len(encoding.features)))
    n_used = sum((n for _, n, _ in numbers), np.zeros(len(encoding.features), dtype=np.int64))
    log_base, tables = float((model.powers * bases).sum()), numbers[0][2]
    whole = engine.WholeCohort(encoding, tables, log_base, np.arange(1), n_subjects, n_used)
    shards = tuple(place.submit(attrgetter("shard"), partition) for partition in encoded)
    labels = tuple(place.submit(np.zeros, summary.n_subjects, np.int32) for summary in cohort.summaries)
    aside = tuple(place.submit(np.zeros, 0, np.int64) for _ in shards)
    lists = zip(shards, labels, aside, strict=True)
    sums = added(place.results([place.submit(engine.count, *shard, 1) for shard in lists]))
    clusters = clusters_without_subjects(whole.arrays, *sums)
    return Partitioned(replace(problem, cohort=whole), clusters, place, shards, labels, aside)


def _of_rows(labels: engine.Numbers, aside: Whole, rows: Whole, n_features: int) -> tuple[Labels, Mask]:
    """Return the clusters and the outlying values of some subjects of a shard."""
    outlying = np.zeros((rows.size, n_features), dtype=np.bool_)
    outlying.flat[engine.places_among(aside, rows, n_features)] = True
    return labels[rows].astype(np.int64), outlying


# Where the shards of a table in partitions lie: on the workers of Dask, or in files of this machine.
#
# Dask is imported by the user: nothing here imports it before a Dask DataFrame is given.


class Here(Place):
    """The threads of this process; shards lie in a file."""

    def __init__(self, pool: Threads, store: Store) -> None:
        super().__init__(pool)
        self.store = store

    def submit_each(self, functions: Sequence[Callable[[Any], Any]], partitions: Sequence[Any]) -> list[Future[Any]]:
        """Read each partition on a thread, and run a function of it."""
        pairs = zip(functions, partitions, strict=True)
        return [self.submit(lambda do, part: do(part.compute(scheduler="synchronous")), *pair) for pair in pairs]

    def for_dask(self, handles: Sequence[Handle]) -> list[Any]:
        """Return results as delayed objects."""
        from dask.delayed import delayed

        return [delayed(result, traverse=False) for result in self.results(handles)]


class OnWorkers(Place):
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

        work = [delayed(partial(on_one_thread, function), pure=False) for function in functions]
        calls = [function(partition) for function, partition in zip(work, partitions, strict=True)]
        return list(self._client.compute(calls))

    def results(self, handles: Sequence[Handle]) -> list[Any]:
        """Gather results."""
        return list(self._client.gather(list(handles)))

    def for_dask(self, handles: Sequence[Handle]) -> list[Any]:
        """Return the futures themselves."""
        return list(handles)


TablePlace = Here | OnWorkers
"""A place that can also read the partitions of a table."""


@contextmanager
def place_of_shards(n_threads: int, cancelled: Event) -> Iterator[tuple[TablePlace, Threads]]:
    """Yield the place of the shards, and threads of this process; InputError if the workers are lost."""
    distributed, client = sys.modules.get("distributed"), None
    if distributed is not None:
        try:
            distributed.get_worker()  # a task of a worker may hold the thread that other tasks need
        except ValueError:
            with suppress(ValueError):
                client = distributed.get_client()
    if client is None or client.status != "running":  # one that could not be started stays the current one
        # The threads end before their file is closed.
        with TemporaryFile(prefix="clinclust-") as file, Threads(n_threads, cancelled) as pool:
            yield Here(pool, Store(file)), pool
        return
    try:
        with Threads(n_threads, cancelled) as pool:
            yield OnWorkers(client), pool
    except Exception as error:
        if is_of_workers(error) or client.status != "running":
            raise InputError(say("workers_lost", error=type(error).__name__)) from error
        raise


def is_of_workers(error: Exception) -> bool:
    """Return whether an error is of Dask's workers and not of what ran there."""
    return type(error).__module__.partition(".")[0] == "distributed"


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
    sampled: Whole = np.empty(0, dtype=np.int64)
    sample: pd.DataFrame | None = None
    """The rows in the sample as given; `sampled` are their positions."""
    failures: pd.DataFrame | None = None


def read(frame: pd.DataFrame, schema: FeatureSchema, first: int, share: float, seed: int, store: Store | None) -> Read:
    """Validate a partition, whose first row is number `first` of the table, and draw about this share of its rows."""
    if len(frame) == 0:
        return Read({}, Summary(0, {}, {}))
    try:
        validated = schema.validate(frame, warn=False)
    except CohortError as error:
        return Read({}, Summary(len(frame), {}, {}, failures=error.failures))
    columns, levels, n_observed = Columns(), dict[str, Array](), dict[str, int]()
    for feature in schema.clustered_parts:
        (values,) = model_values(validated, (feature,)).values()
        n_observed[feature.name] = int((~np.isnan(values)).sum())
        if (own_levels := feature.traits.of(feature).levels(values)) is not None:
            levels[feature.name] = own_levels
            values = rows_of(values, own_levels, 1).astype(np.min_scalar_type(own_levels.size))
        columns[feature.name] = values
    sampled = np.flatnonzero(drawn(validated, [feature.name for feature in schema.ids], first, share, seed))
    summary = Summary(len(frame), n_observed, levels, sampled, frame.iloc[sampled])
    return Read(columns if store is None else dict(zip(columns, _add(store, columns.values()), strict=True)), summary)


def _add(store: Store, arrays: Iterable[NDArray[Any]], replaced: Sequence[Stored] = ()) -> list[Stored]:
    """Write arrays to the store; OSError says which folder is full, and how to choose another one."""
    try:
        return store.add(arrays, replaced)
    except OSError as error:
        problem = plain_error(error, Path(gettempdir()), "written")
        raise OSError(f"temporary files: {problem}; TMPDIR=FOLDER in the environment chooses it") from error


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
    n_subjects, n_features = found.summary.n_subjects, len(encoding.features)
    bases, n_observed = np.zeros(n_features), np.zeros(n_features, dtype=np.int64)
    columns = {feature.name: found.columns[feature.name] for feature in encoding.features if n_subjects}
    clustered = {name: np.array(it.mapped()) if isinstance(it, Stored) else it for name, it in columns.items()}
    arrays = _arrays(clustered, found, slice(0, 0), encoding, prior, levels)
    n_table = arrays.codes.shape[1]
    codes = np.empty((n_subjects, n_table), dtype=np.min_scalar_type(int(arrays.level_start[-1])))
    values = np.empty((n_subjects, n_features - n_table))
    for start in range(0, n_subjects, _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        block = _arrays(clustered, found, rows, encoding, prior, levels)
        codes[rows], values[rows] = block.codes, block.values
        cohort = EncodedCohort(encoding, block, 0.0, np.arange(block.codes.shape[0]))
        bases += log_bases(cohort, prior)
        n_observed += cohort.n_observed
    continuous = encoding.features[n_table:]
    empty = [[np.nan if may_be_missing[feature.name] else 0.0 for feature in continuous]]
    tables = arrays._replace(codes=np.zeros((1, n_table), dtype=np.int32), values=np.array(empty).reshape(1, -1))
    shard = Shard(tables, codes, values, n_subjects)
    if store is not None and n_subjects:
        before = [column for column in found.columns.values() if isinstance(column, Stored)]
        stored_codes, stored_values = _add(store, (codes, values), before)
        shard = shard._replace(codes=stored_codes, values=stored_values)
    return Encoded(shard, bases, n_observed)


def _arrays(
    columns: Columns, found: Read, rows: slice, encoding: Encoding, prior: Array, levels: Mapping[str, Array]
) -> CohortArrays:
    values = {feature.name: np.empty(0) for feature in encoding.features}
    for name, column in columns.items():
        own_levels = found.summary.levels.get(name)
        some = column[rows]
        values[name] = some.astype(np.float64) if own_levels is None else np.append(np.nan, own_levels)[some]
    return encoding.encode(values, prior, levels_of_all=levels)[0]


def series_of(frame: pd.DataFrame, labels: NDArray[np.int32]) -> pd.Series[Any]:
    """Return the labels of a partition as a series with its index."""
    return pd.Series(labels.astype(np.int64), index=frame.index, name="subtype")


def dask_series(table: Any, labels: Sequence[Any]) -> Any:
    """Return the Dask series of labels that lie where the partitions do, or here."""
    import dask.dataframe
    from dask.delayed import delayed

    partitions = zip(table.to_delayed(optimize_graph=False), labels, strict=True)
    parts = [delayed(series_of, pure=False)(frame, of_partition) for frame, of_partition in partitions]
    meta = series_of(table._meta, np.empty(0, dtype=np.int32))
    return dask.dataframe.from_delayed(parts, meta=meta, divisions=table.divisions, verify_meta=False)


# Predictions for a table in partitions, each where it lies.

_NAMES = {"predict": "subtype", "score_samples": "log_density"}
"""Name of the series that a method returns; others return a DataFrame."""


def in_partitions(model: Any, method: str, table: Any, **arguments: Any) -> Any:
    """Return the Dask series or DataFrame of what a method of a fitted model returns for each partition of a table."""
    light = copy.copy(model)  # what predictions need is sent to the workers
    nothing = dict.fromkeys(("cluster_labels_", "cluster_membership_", "outliers_"))
    nothing |= dict.fromkeys(("in_sample_", "sample_")) if isinstance(model.fit_, PartitionedFit) else {}
    light.fit_, light._rows = replace(model.fit_, **nothing), None
    first = table.head(1, npartitions=-1)
    if not len(first):
        raise InputError("the table has no rows in any of its partitions; check how the files were read or filtered")
    call = partial(_of_partition, method=method, model=light, arguments=arguments)
    meta = call(first).iloc[:0]
    return table.map_partitions(partial(call, empty=meta), meta=meta, enforce_metadata=False)


def _of_partition(frame: pd.DataFrame, method: str, model: Any, arguments: dict[str, Any], empty: Any = None) -> Any:
    if empty is not None and not len(frame):
        return empty
    result = getattr(model, method)(frame, **arguments)
    if method in _NAMES:
        return pd.Series(result, index=frame.index, name=_NAMES[method])
    is_frame = isinstance(result, pd.DataFrame)
    return result if is_frame else pd.DataFrame(result, index=frame.index, columns=model.get_feature_names_out())


# Rows that stay at their hospital: a `Site` answers the questions of a search in sums of clusters.

Answer = dict[str, Any]
_BITS = 17
"""Most bits of a count that a schema allows."""
_NOTHING = np.empty(0, dtype=np.int64)
_QUESTIONS = ("describe", "first", "encode", "begin", "move", "propose", "divide", "rename", "end", "keep")
_ONCE = {"first", "encode", "begin", "end"}
_AFTER = {**dict.fromkeys(_QUESTIONS[3:], ("encode",)), "end": ("first", "encode")}
"""The questions that must have been answered before a question."""
_MODEL = ("features", "centres", "scales", *Model._fields)
"""What is sent of a model, as `first` answers it."""
_FEWEST = Rule("a whole number from 1", lambda value: WHOLE.accepts(value) and value >= 1)


class Site:
    """The rows of one hospital, which answers questions about them with statistics; no row is sent.

    A coordinator asks (`examples/sites/`), here or elsewhere: questions and answers are names, numbers and arrays.
    docs/sites.md says what each answer holds and reveals. After a fit, `labels`, a Series with the index of the table,
    has the subtype of each subject, 1 .. K; it stays here.

    Parameters
    ----------
    table, schema : DataFrame, shape (n, D), FeatureSchema
        The rows, validated here (CohortError shows values at fault here only), and the schema of all sites.
    fewest : int
        Fewest subjects, and fewest observed values of each feature, of a group whose sums can be computed from all
        sums that the site sends. A subject that would be in a smaller one is counted with others. 1: no threshold.
        InputError is raised if there are fewer subjects, or values of a feature.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> schema = cc.FeatureSchema([cc.Feature(name="crp", likelihood="gaussian")])
    >>> site = cc.Site(pd.DataFrame({"crp": np.arange(40.0)}), schema)
    >>> site.ask("describe")["n_observed"]
    [40]
    """

    labels: pd.Series[int]

    @accepting(table=FRAME, schema=SCHEMA, fewest=_FEWEST)
    def __init__(self, table: pd.DataFrame, schema: FeatureSchema, *, fewest: int = 10) -> None:
        refuse_adjustment(schema, "A fit over sites")
        self._schema, self._fewest = schema, fewest
        self._frame = schema.validate(table, warn=False)
        self._values, numbers = model_values(self._frame, schema.clustered_parts), {"subjects": len(table)}
        for name, values in self._values.items():
            numbers[f"values of {name}"] = int((~np.isnan(values)).sum())
        if few := ", ".join(f"{number} {name}" for name, number in numbers.items() if 0 < number < fewest):
            raise InputError(say("small_site", few=few, fewest=fewest))
        self._made: list[Labels] = []
        self._asked: set[str] = set()

    def ask(self, question: str, **sent: Any) -> Answer:
        """Return the answer to a question of a search: names, numbers and arrays, none of them one for each subject.

        InputError is raised for a question that is unknown, was answered before, comes too early, or lacks something.
        """
        if question not in _QUESTIONS:
            shown = repr(question[:40]) if isinstance(question, str) else type(question).__name__
            raise InputError(f"a site is asked {', '.join(_QUESTIONS)}, not {shown}")
        refuse(self._problems(question, sent))
        self._asked |= {question} & _ONCE
        answer: Answer = getattr(self, f"_{question}")(**sent)
        return answer

    def _problems(self, question: str, sent: dict[str, Any]) -> list[str]:
        """Return why a question cannot be answered now, or not with what was sent."""
        earlier = _AFTER.get(question, ())
        problems = [f"{question!r} is asked after {name!r}" for name in earlier if name not in self._asked]
        if question in self._asked or (question in _AFTER and not problems and not self._made):
            problems.append(say("asked_before", question=question))
        names = inspect.signature(getattr(self, f"_{question}")).parameters
        wanted = [*(name for name in names if name != "model"), *(_MODEL if "model" in names else ())]
        for what, which in (("lacks", set(wanted) - {*sent}), ("knows no", {*sent} - set(wanted))):
            problems += [f"{question!r} {what} {', '.join(sorted(which))}"] if which else []
        labels, n_made = sent.get("labels", 0), len(self._made)
        if n_made and not (WHOLE.accepts(labels) and 0 <= labels < n_made):
            problems.append(f"labels must be a number of labels that the site has answered, 0 to {n_made - 1}")
        return problems

    def _describe(self) -> Answer:
        """Return numbers of subjects and observed values, and of counts the bits of the largest, instead of itself."""
        bits, n_observed = [], [int((~np.isnan(column)).sum()) for column in self._values.values()]
        for part in self._schema.clustered_parts:
            levels = part.traits.of(part).levels(np.empty(0))
            is_open = levels is not None and not levels.size
            bits.append(int(np.nanmax(self._values[part.name], initial=1.0)).bit_length() if is_open else 0)
        numbers = {"n_subjects": len(self._frame), "n_observed": n_observed, "bits": bits}
        return {"schema": self._schema.fingerprint, **numbers}

    def _first(self, settings: dict[str, Any], n_observed: list[int]) -> Answer:
        """Return the model of a fit of the subjects here: scales, priors, weights and coarsening."""
        checked = Settings(self._schema, **settings)
        check_estimator(PublishedParameters, vars(checked))
        names = [part.name for part in self._schema.clustered_parts]
        sample = with_prior_of_all(checked, prepared(checked, self._frame), dict(zip(names, n_observed, strict=True)))
        plan = checked.search_plan(sample.problem, Event(), Budget(checked.max_seconds), SILENT)
        self._sample = SampleFit.search(checked, sample, plan)
        clusters, encoding = self._sample.fit.clusters_, self._sample.fit.clusters_.encoding
        answer = {"features": [feature.name for feature in encoding.features], **clusters.model._asdict()}
        return answer | {"centres": encoding.centres, "scales": encoding.scales}

    def _encode(self, bits: list[int], **model: Any) -> Answer:
        """Return what the subjects add to the log base measure, and the numbers of values that take part."""
        self._problem = problem_of_model(self._schema, bits, model, self._values)
        arrays = self._problem.cohort.arrays
        # One subject for tables of clusters, whose values are missing where any are (`Shard.tables`).
        empty = np.where(np.isnan(arrays.values).any(axis=0), np.nan, 0.0)[None]
        tables = arrays._replace(codes=np.zeros_like(arrays.codes[:1]), values=empty)
        self._shard = Shard(tables, arrays.codes, arrays.values, len(self._frame))
        observed = np.concatenate([arrays.codes > 0, ~np.isnan(arrays.values)], axis=1)
        self._cells = engine.Cells(observed, self._fewest)
        self._made = [np.zeros(len(self._frame), dtype=np.int64)]
        return {"log_base": self._problem.cohort.log_base, "n_observed": self._problem.cohort.n_observed}

    def _begin(self, n_restarts: int, seed: int) -> Answer:
        """Return sums of the clusters that a search among the subjects here finds, each with enough of them."""
        labels = search(self._problem, SearchPlan(seed=seed, n_restarts=n_restarts)).winner.labels
        while (small := self._cells.small_clusters(labels)).size and labels.any():
            labels = self._without(labels, labels == small[np.argmin(np.bincount(labels)[small])])
        return self._sent(self._cells.permitted(labels))

    def _move(self, labels: int, sizes: Array, statistics: Array, least: float) -> Answer:
        """Return sums after the subjects have moved one by one; new clusters come after the present ones."""
        before, arrays, n_clusters = self._made[labels], self._problem.cohort.arrays, sizes.size
        tables = replace(self._problem, cohort=replace(self._problem.cohort, arrays=self._shard.tables))
        subjects = engine.together([arrays, self._shard.tables])
        clusters = np.concatenate([before, np.arange(n_clusters)])
        moved = engine.moved_one_by_one(tables, (sizes, statistics), subjects, clusters, least)
        after, numbers = np.split(moved.labels, [before.size])
        # Clusters keep their names, so that no answer tells which were emptied before some subjects were put back.
        # Of two with one number, the moves have emptied the one without subjects elsewhere.
        names = np.full(max(int(moved.n_clusters[0]), int(numbers.max()) + 1), -1)
        elsewhere = sizes - np.bincount(before, minlength=n_clusters) > 0.5
        for cluster in np.argsort(elsewhere, kind="stable").tolist():  # those with subjects elsewhere last
            names[numbers[cluster]] = cluster
        names[names < 0] = n_clusters + np.arange((names < 0).sum())
        return self._sent(self._cells.permitted(names[after]), n_clusters)

    def _propose(self, labels: int, n_clusters: int, seed: int) -> Answer:
        """Return sums of divisions of clusters that raise the joint of the subjects here."""
        now, rng, cluster = self._made[labels], np.random.default_rng(seed), list[int]()
        proposed = np.empty_like(now)
        for number in range(n_clusters):
            members, first = np.flatnonzero(now == number), len(cluster)
            some = np.sort(rng.choice(members, min(members.size, N_DIVIDED), replace=False))
            cluster.append(number)
            proposed[members] = first
            if some.size < 2:
                continue
            among = self._problem.restricted_to(some)
            gain, division = resettle(among, rng, Event())
            if gain > minimum_gain(among):
                parts = among.partition(division)
                n_parts = int(parts.n_clusters[0])
                proposed[members] = first + self._best(members, parts.sizes[:n_parts], parts.statistics[:n_parts])
                cluster += [number] * (n_parts - 1)
        answer, of_parts = self._sent(self._cells.permitted(proposed), len(cluster)), np.array(cluster)
        held = answer["sizes"] > 0.0
        return {"cluster": of_parts[held], "sizes": answer["sizes"][held], "statistics": answer["statistics"][held]}

    def _divide(self, labels: int, cluster: Whole, sizes: Array, statistics: Array) -> Answer:
        """Return sums of the parts of divided clusters."""
        now = self._made[labels]
        divided = np.empty_like(now)
        for number in np.unique(now).tolist():
            members, parts = np.flatnonzero(now == number), np.flatnonzero(cluster == number)
            divided[members] = parts[self._best(members, sizes[parts], statistics[parts])]
        return self._sent(self._cells.permitted(divided), cluster.size)

    def _rename(self, labels: int, numbers: Whole) -> Answer:
        """Return the number of the new labels; clusters may only be merged."""
        self._made.append(np.asarray(numbers, dtype=np.int64)[self._made[labels]])
        return {"labels": len(self._made) - 1}

    def _end(self, labels: int, n_subjects: int) -> Answer:
        """Return the subtypes of the clusters with subjects here, whose tree is tested among them."""
        outlying = np.zeros((len(self._frame), len(self._problem.model.powers)), dtype=np.bool_)
        now = self._made[labels]
        few = np.bincount(now)[now] < SMALLEST_NODE
        if few.any() and not few.all():  # clusters of which there are too few here for a test are not in it
            now = np.unique(now[~few])[self._without(now, few)]
        fit = self._sample.with_clusters(now, outlying, n_subjects)
        of_clusters: Answer = {"clusters": now[np.unique(fit.cluster_labels_, return_index=True)[1]]}
        of_clusters |= {"subtype_of": fit.subtype_of_, "joins": fit.tree_.joins, "evidence": fit.tree_.evidence}
        return of_clusters | {"temperature": fit.clusters_.temperature, "min_size": fit.min_size_}

    def _keep(self, labels: int, subtype_of: Whole) -> Answer:
        self.labels = pd.Series(np.asarray(subtype_of)[self._made[labels]] + 1, self._frame.index, name="subtype")
        self._made = []
        return {}

    def _sent(self, labels: Labels, n_clusters: int = 0) -> Answer:
        """Return the sums of clusters, by which the cells are divided; labels stay here."""
        self._cells.divide(labels)
        self._made.append(labels)
        sizes, statistics = engine.count(self._shard, labels, _NOTHING, max(n_clusters, int(labels.max()) + 1))
        return {"labels": len(self._made) - 1, "sizes": sizes, "statistics": statistics}

    def _without(self, labels: Labels, is_lost: Mask) -> Labels:
        """Return labels 0, 1, ... with subjects in the best of the clusters of the others."""
        others = np.flatnonzero(~is_lost)
        after = np.empty_like(labels)
        after[others] = compact(labels[others])
        sums = self._problem.restricted_to(others).partition(after[others]).sums
        after[is_lost] = self._best(np.flatnonzero(is_lost), *sums)
        return after

    def _best(self, rows: Whole, sizes: Array, statistics: Array) -> Labels:
        shard, sums = self._shard.some(rows), (sizes, statistics)
        return engine.assign(shard, _NOTHING, self._problem.model, sums).astype(np.int64)


def problem_of_model(
    schema: FeatureSchema, bits: Sequence[int], model: Mapping[str, Any], values: dict[str, Array]
) -> Problem:
    """Return the problem of columns of `model_values` under a model that was sent."""
    parts = {part.name: part for part in schema.clustered_parts}
    # Counts are encoded as 0 .. 2**bits - 1, so that the levels do not tell which of them occur.
    levels = {name: np.arange(2.0 ** min(n, _BITS)) for name, n in zip(parts, bits, strict=True) if n}
    features = tuple(parts[name] for name in model["features"])
    encoding = Encoding(features, np.asarray(model["centres"]), np.asarray(model["scales"]))
    prior, powers = np.asarray(model["prior"]), np.asarray(model["powers"])
    numbers = {name: float(model[name]) for name in ("concentration", "coarsening")}
    arrays, log_base = encoding.encode({name: values[name] for name in model["features"]}, prior, levels_of_all=levels)
    cohort = EncodedCohort(encoding, arrays, log_base, np.arange(arrays.codes.shape[0]))
    in_full = Problem(cohort, named_hyperparameters(encoding, prior), Model(prior, np.ones_like(powers), **numbers), {})
    return in_full.with_powers(powers)
