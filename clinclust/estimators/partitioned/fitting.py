"""A fit of a table in partitions, and predictions for one."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from threading import Event
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clinclust.arrays import Labels, Mask, Whole
from clinclust.engine.joint_estimates.outlying import SearchResult, search_partitions, without_outlying
from clinclust.engine.joint_estimates.selection import has_repeated
from clinclust.engine.kernels.compiled import announcing_compilation
from clinclust.engine.kernels.moves import clusters_without_subjects
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.problem import Problem, log_joint, pose
from clinclust.engine.search.partitioned import Handle, Numbers, Partitioned, WholeCohort, count, places_among, sums_of
from clinclust.engine.search.plan import Budget, RestartResult, SearchPlan, n_threads
from clinclust.engine.search.settle import SweepResult, added, compact
from clinclust.errors import CohortWarning, InputError
from clinclust.estimators.adjustment import refuse_adjustment
from clinclust.estimators.distinct_subtypes import as_asked, refuse_too_large_a_floor
from clinclust.estimators.fit import Fit
from clinclust.estimators.fitting import Prepared, fit_by, fit_of, prepared, with_tree_tested
from clinclust.estimators.parameters import seed_of
from clinclust.estimators.partitioned.fit import (
    PartitionedFit,
    Summary,
    TablePlace,
    dask_series,
    encode,
    floor_as_share,
    is_of_workers,
    place_of_shards,
    read,
    together,
)
from clinclust.estimators.settings import Settings, pose_for
from clinclust.files.row_choice import N_SAMPLED
from clinclust.progress import Progress
from clinclust.schema.validation import first_rows, parts_of_one_column, refuse_failures, results_of

# Predictions for a table in partitions, each where it lies.

NAMES = {"predict": "subtype", "score_samples": "log_density"}
"""Name of the series that a method returns; others return a DataFrame."""


def in_partitions(model: Any, method: str, table: Any, **arguments: Any) -> Any:
    """Return the Dask series or DataFrame of what a method of a fitted model returns for each partition of a table."""
    model._require_fit()
    if arguments.get("how") == "draw":
        raise InputError("how='draw': every partition would get the same draws; impute the partitions one by one")
    light = copy.copy(model)
    light.fit_ = _without_subjects(model.fit_)
    light._rows = None
    first = table.head(1, npartitions=-1)
    if not len(first):
        raise InputError("the table has no rows in any of its partitions; check how the files were read or filtered")
    call = partial(_of_partition, method=method, model=light, arguments=arguments)
    meta = call(first).iloc[:0]
    return table.map_partitions(partial(call, empty=meta), meta=meta, enforce_metadata=False)


def _without_subjects(fit: Any) -> PartitionedFit:
    """Return what predictions need of a fit, which is sent to the workers."""
    nothing = dict.fromkeys(("cluster_labels_", "cluster_membership_", "outliers_", "resolution_path_"))
    fields = {name: getattr(fit, name) for name in fit.__dataclass_fields__ if name not in ("in_sample_", "sample_")}
    return PartitionedFit(**(fields | nothing), in_sample_=None, sample_=None)  # type: ignore[arg-type]


def _of_partition(frame: pd.DataFrame, method: str, model: Any, arguments: dict[str, Any], empty: Any = None) -> Any:
    if empty is not None and not len(frame):
        return empty
    found = getattr(model, method)(frame, **arguments)
    if isinstance(found, pd.DataFrame):
        return found
    if found.ndim == 1:
        return pd.Series(found, index=frame.index, name=NAMES[method])
    return pd.DataFrame(np.asarray(found), index=frame.index, columns=model.get_feature_names_out())


# The fit of a table in partitions: a fit of a sample in memory, carried over to all subjects where they lie.
#
# The sample gives the model: hyperparameters, coarsening, weights of blocks, and the tests of the tree.

_BRANCH = 1717
"""Spawn key of the random draws of the search among all subjects."""


def partitioned_fit(settings: Settings, table: Any, cancelled: Event) -> tuple[PartitionedFit, Prepared]:
    """Return the fit of a Dask DataFrame, and the sample as it was prepared.

    Raises CohortError with all failures of all partitions, and InputError for parameters that need the whole table.
    """
    refuse_unusable(
        settings, "and this one is in partitions; leave it out, or fit table.compute() if that is small enough"
    )
    refuse_adjustment(settings.schema, "A fit of a table in partitions")
    if len(set(table.columns)) < len(table.columns):
        raise InputError("the table has columns of the same name; rename or drop all but one of each")
    chosen = False if settings.select_features == "auto" else settings.select_features
    settings = replace(settings, random_state=seed_of(settings.random_state), select_features=chosen)
    progress, budget = Progress(bool(settings.progress)), Budget(settings.max_seconds)
    with place_of_shards(n_threads(settings.n_jobs), cancelled) as (place, pool), announcing_compilation():
        cohort = _read(settings, table, place, progress)
        plan = settings.search_plan(cohort.sample.problem, cancelled, budget, progress)
        first = fit_of_sample(settings, cohort.sample, plan)
        whole, problem = _encoded(cohort, first, plan, place)
        rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(_BRANCH,)))
        sampled = first.clusters_.sizes, first.clusters_.statistics
        with progress.stage("search among all subjects"):
            found = search_partitions(whole, sampled, plan.outlying_share, plan, rng, pool)
        return _fit_of_all(settings, cohort, first, found, problem, plan, table, place), cohort.sample


class _Cohort(NamedTuple):
    reads: list[Any]
    summaries: list[Summary]
    sample: Prepared
    rows: pd.DataFrame
    """The rows of the sample as given."""

    @property
    def n_subjects(self) -> int:
        return sum(summary.n_subjects for summary in self.summaries)


def refuse_unusable(settings: Settings, repair: str) -> None:
    """Raise InputError for parameters that need the whole table in memory."""
    is_unusable = {
        "init as labels": not isinstance(settings.init, str),
        "missing='mode'": settings.fills_modes,
        "select_features": settings.selects_features,
    }
    problems = [name for name in is_unusable if is_unusable[name]]
    if problems:
        raise InputError(f"{', '.join(problems)}: needs the table in memory, {repair}")


def _read(settings: Settings, table: Any, place: TablePlace, progress: Progress) -> _Cohort:
    # Not optimised: else Dask may read several files as one partition, and labels would not be aligned with the table.
    partitions = table.to_delayed(optimize_graph=False)
    lengths = place.submit_each([len] * len(partitions), parts_of_one_column(table))
    first = first_rows(results_of((partial(_result, place, own) for own in lengths), is_of_workers))
    n_subjects = int(first[-1])
    refuse_too_large_a_floor(settings.min_size, n_subjects)
    settings = replace(settings, min_size=floor_as_share(settings.min_size, n_subjects))
    share, seed = N_SAMPLED / n_subjects, int(seed_of(settings.random_state))
    schema = settings.schema
    if schema is None:
        from clinclust.drafting import draft_schema

        warnings.warn(
            "No schema was given, so one was drafted from a sample of the table (see `schema_`); look it over, because "
            "the likelihoods decide what is found",
            CohortWarning,
            stacklevel=4,
        )
        schema = draft_schema(table, progress=False)
    functions = [
        partial(read, schema=schema, first=int(start), share=share, seed=seed, store=place.store)
        for start in first[:-1]
    ]
    with progress.stage("reading partitions", len(partitions)) as advance:
        reads = place.submit_each(functions, partitions)
        summaries: list[Summary] = []
        for number in range(len(reads)):
            summaries += place.results([place.submit(attrgetter("summary"), reads[number])])
            advance()
    refuse_failures({number: own.failures for number, own in enumerate(summaries) if own.n_subjects})
    rows = pd.concat([summary.sample for summary in summaries if summary.sample is not None])
    sample = prepared(replace(settings, schema=schema), rows, stacklevel=4)
    return _Cohort(reads, summaries, with_prior_of_all(settings, sample, summaries), rows)


def with_prior_of_all(settings: Settings, sample: Prepared, summaries: Sequence[Summary]) -> Prepared:
    """Return the sample with default hyperparameters as of the whole table, where they depend on its size."""
    given = settings.hyperparameters
    if isinstance(given, str):
        return sample  # estimated from the sample
    encoding, defaults = sample.problem.cohort.encoding, sample.problem.hyperparameters
    stated = {name: dict(named) for name, named in (given or {}).items()}
    values = model_values(sample.frame, encoding.features)
    largest: dict[str, float] = {}
    for feature, likelihood in zip(encoding.features, encoding.likelihoods, strict=True):
        in_sample = int((~np.isnan(values[feature.name])).sum())
        share = in_sample / sum(summary.n_observed.get(feature.name, 0) for summary in summaries)
        for name in likelihood.per_value - stated.get(feature.name, {}).keys() - (feature.prior or {}).keys():
            value = max(defaults[feature.name][name] * share, likelihood.usual_bounds[0])
            # The features of a multivariate Gaussian block share the value of the first, the most complete one.
            value = largest.setdefault(f"{feature.block}: {name}", value) if likelihood.is_chained else value
            stated.setdefault(feature.name, {})[name] = value
    posed = pose_for(replace(settings, hyperparameters=stated), sample.frame, sample.schema)
    return sample._replace(problem=posed)


def _result(place: TablePlace, handle: Handle) -> Any:
    return place.results([handle])[0]


def fit_of_sample(settings: Settings, sample: Prepared, plan: SearchPlan) -> Fit:
    """Return the fit of the sample; its tree is tested only where that decides the weights of blocks."""
    within = replace(plan, progress=plan.progress.within("a sample of the table"), calibrate=False)
    is_tested = settings.is_tested and plan.estimate_powers and has_repeated(sample.problem)
    return fit_by(within, sample, is_tested=is_tested)


def posed_by(first: Fit, sample: Prepared) -> Problem:
    """Return the problem of the sample under the model of its fit."""
    return pose(
        sample.frame,
        first.schema_,
        first.hyperparameters_,
        first.concentration_,
        first.discount_,
        first.coarsening_,
        first.block_weights_,
    )


def _encoded(cohort: _Cohort, first: Fit, plan: SearchPlan, place: TablePlace) -> tuple[Partitioned, Problem]:
    """Return all subjects in one cluster under the model of the sample's fit, and the problem of the sample."""
    problem = posed_by(first, cohort.sample)
    encoding, model, n_subjects = problem.cohort.encoding, problem.model, cohort.n_subjects
    levels = together(cohort.summaries)
    n_observed = {
        feature.name: sum(summary.n_observed.get(feature.name, 0) for summary in cohort.summaries)
        for feature in encoding.features
    }
    may_be_missing = {
        # A value of a multivariate Gaussian block is left out where one before it is missing.
        feature.name: plan.outlying_share > 0.0 or n_observed[feature.name] < n_subjects or feature.traits.is_chained
        for feature in encoding.features
    }
    about = encoding, model.prior, levels, may_be_missing, place.store
    encoded = [place.submit(encode, own, *about) for own in cohort.reads]
    of_each = attrgetter("log_bases", "n_observed", "shard.tables")
    numbers = place.results([place.submit(of_each, own) for own in encoded])
    bases = sum((bases for bases, _, _ in numbers), np.zeros(len(encoding.features)))
    n_used = sum((n for _, n, _ in numbers), np.zeros(len(encoding.features), dtype=np.int64))
    whole = WholeCohort(
        encoding, numbers[0][2], float((model.powers * bases).sum()), np.arange(1), n_subjects, tuple(n_used.tolist())
    )
    shards = tuple(place.submit(attrgetter("shard"), own) for own in encoded)
    labels = tuple(place.submit(np.zeros, summary.n_subjects, np.int32) for summary in cohort.summaries)
    aside = tuple(place.submit(np.zeros, 0, np.int64) for _ in shards)
    lists = zip(shards, labels, aside, strict=True)
    sums = added(place.results([place.submit(count, *own, 1) for own in lists]))
    clusters = clusters_without_subjects(whole.arrays, *sums)
    posed = replace(problem, cohort=whole)
    return Partitioned(posed, clusters, place, shards, labels, aside), problem


def _of_rows(labels: Numbers, aside: Whole, rows: Whole, n_features: int) -> tuple[Labels, Mask]:
    """Return the clusters and the outlying values of some subjects of a shard."""
    outlying = np.zeros((rows.size, n_features), dtype=np.bool_)
    outlying.flat[places_among(aside, rows, n_features)] = True
    return labels[rows].astype(np.int64), outlying


def _fit_of_all(
    settings: Settings,
    cohort: _Cohort,
    first: Fit,
    found: SweepResult,
    problem: Problem,
    plan: SearchPlan,
    table: Any,
    place: TablePlace,
) -> PartitionedFit:
    of_all: Partitioned = found.partitions
    n_features = len(problem.cohort.encoding.features)
    sampled = place.results(
        [
            place.submit(_of_rows, labels, aside, summary.sampled, n_features)
            for labels, aside, summary in zip(of_all.labels, of_all.aside, cohort.summaries, strict=True)
        ]
    )
    labels, outlying = map(np.concatenate, zip(*sampled, strict=True))
    in_sample = fit_in_sample(settings, cohort.sample, first, labels, outlying, problem, plan, cohort.n_subjects)
    present = first_of_each(in_sample.cluster_labels_, labels)
    absent = np.setdiff1d(np.arange(of_all.n_clusters), present)
    of_all = of_all.in_order(np.concatenate([present, absent[np.argsort(-of_all.clusters.sizes[absent])]]))
    return PartitionedFit.of(
        in_sample,
        sums_of(of_all.clusters),
        dask_series(table, place.for_dask(of_all.labels)),
        cohort.rows,
        log_joint_=found.trace[-1],
        log_joint_trace_=np.array(found.trace),
        stopped_early_=plan.budget.cut_short,
    )


def fit_in_sample(
    settings: Settings,
    sample: Prepared,
    first: Fit,
    labels: Labels,
    outlying: Mask,
    problem: Problem,
    plan: SearchPlan,
    n_subjects: int,
) -> Fit:
    """Return the fit of a sample of so many subjects, whose clusters and outlying values, by row, a search found."""
    order = problem.cohort.order
    kept = without_outlying(problem, outlying[order], plan.outlying_share)
    own = compact(labels[order])
    joint = log_joint(kept, kept.partition(own))
    restarts = [RestartResult.of("all subjects", own, [joint], converged=True)]
    result = SearchResult(kept, restarts, 0, outlying[order])
    found = fit_of(result, sample, plan)
    found = replace(found, restarts_=first.restarts_, resolution_path_=first.resolution_path_)
    if settings.is_tested:
        found = with_tree_tested(found, sample, plan)
    return as_asked(found, settings.n_clusters, floor_as_share(settings.min_size, n_subjects))


def first_of_each(of_fit: Labels, of_all: Labels) -> Labels:
    """Return the cluster of all subjects that each cluster of the sample's fit is, int64 (K,)."""
    return of_all[np.unique(of_fit, return_index=True)[1]]
