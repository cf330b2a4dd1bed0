"""The search in shards from the clusters of a sample, in turns with the outlying values (`outlying`).

The model is that of the sample: hyperparameters, coarsening, weights of blocks and concentration are not changed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from clinclust.arrays import Whole
from clinclust.engine.joint_estimates.outlying import Changes, best_others, changes_that_raise, of_outlying_values
from clinclust.engine.joint_estimates.outlying_search import ROUNDS, SEEN_IN_SAMPLE
from clinclust.engine.kernels.partition import Model, clusters_without_subjects
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.partitioned import Handle, Partitioned, problem_of, searched_on
from clinclust.engine.search.plan import SearchPlan
from clinclust.engine.search.restarts import N_SAMPLED
from clinclust.engine.search.settle import Settled, minimum_gain, settled_by_scans, worth_a_round
from clinclust.engine.search.shard import Numbers, Shard, Sums, places_among, sums_of

_AT_ONCE = 8_192
NOTHING = np.empty(0, dtype=np.int64)
"""No outlying values."""


def _changes(
    shard: Shard, labels: Numbers, aside: Whole, model: Model, sums: Sums, share: float, least: float
) -> Changes:
    clusters, n_features = clusters_without_subjects(shard.tables, *sums), shard.tables.kinds.size
    found = [Changes(NOTHING, np.empty(0), NOTHING)]
    for rows, block in shard.blocks(NOTHING):
        partition = clusters._replace(labels=labels[rows].astype(np.int64))
        first, last = np.searchsorted(aside, np.array([rows.start, rows.stop]) * n_features)
        own = aside[first:last] - rows.start * n_features
        changes = changes_that_raise(block, model, partition, own, share, least)
        found.append(changes._replace(values=changes.values + rows.start * n_features))
    return Changes(*map(np.concatenate, zip(*found, strict=True)))


def _changes_of_members(
    shard: Shard, labels: Numbers, aside: Whole, before: Numbers, cluster: int, *given: Any
) -> Changes:
    """Return the changes among the subjects that were members of a cluster before."""
    members, n_features = np.flatnonzero(before == cluster), shard.tables.kinds.size
    some = shard.some(members)
    found = _changes(some, labels[members], places_among(aside, members, n_features), *given)
    subjects, features = np.divmod(found.values, n_features)
    return found._replace(values=members[subjects] * n_features + features)


def _elsewhere(shard: Shard, labels: Numbers, model: Model, sums: Sums, cluster: int, share: float) -> Numbers:
    """Return labels with the members of a cluster in their best other clusters."""
    members = np.flatnonzero(labels == cluster)
    clusters = clusters_without_subjects(shard.tables, *sums)._replace(labels=np.full(members.size, cluster))
    moved = labels.copy()
    arrays = shard.taken(members, NOTHING)
    moved[members] = best_others(arrays, model, clusters, np.arange(members.size), share)
    return moved


def _changed(aside: Whole, found: Changes) -> Whole:
    return np.setxor1d(aside, found.values)


def _best_changes(found: Changes, n_features: int) -> Changes:
    return found.only(found.are_best(n_features))


def _rise_of_base(shard: Shard, aside: Whole, found: Changes, problem: Problem, share: float) -> float:
    """Return how changes raise the log base measure of the kept values at coarsening 1 (`outlying`), in nats."""
    n_features, log_odds = shard.tables.kinds.size, math.log(share) - math.log1p(-share)
    rise = 0.0
    for values, sign in ((np.setdiff1d(found.values, aside), 1.0), (np.intersect1d(found.values, aside), -1.0)):
        n_values = np.bincount(values % n_features, minlength=n_features)
        rise += sign * float((problem.model.powers * n_values).sum()) * log_odds
        subjects = np.unique(values // n_features)
        for start in range(0, subjects.size, _AT_ONCE):
            rows = subjects[start : start + _AT_ONCE]
            some = problem_of(problem, shard.taken(rows, NOTHING), 0)
            rise += sign * of_outlying_values(some, places_among(values, rows, n_features))
    return rise


def _with_changes(cohort: Partitioned, changes: Sequence[Handle], share: float) -> Partitioned:
    """Return the partitions with other outlying values."""
    problem = cohort.problem
    rises = cohort.each(_rise_of_base, problem, share, lists=(cohort.shards, cohort.aside, changes))
    log_base = problem.cohort.log_base + math.fsum(cohort.place.results(rises))
    problem = replace(problem, cohort=replace(problem.cohort, log_base=log_base))
    aside = tuple(cohort.each(_changed, lists=(cohort.aside, changes)))
    return replace(cohort, problem=problem, aside=aside).with_labels(cohort.labels, cohort.n_clusters)


def _joint(cohort: Partitioned) -> float:
    return log_joint(cohort.problem, cohort.clusters)


def with_best_outlying(cohort: Partitioned, share: float) -> Partitioned:
    """Change which values are outlying until no change of a single value raises the joint (`best_outlying`)."""
    least = minimum_gain(cohort.problem)
    while True:
        given = cohort.problem.model, sums_of(cohort.clusters), share, least
        changes = cohort.each(_changes, *given, lists=cohort.lists)
        if not any(cohort.place.results(cohort.each(attrgetter("values.size"), lists=[changes]))):
            return cohort
        changed = _with_changes(cohort, changes, share)
        if _joint(changed) <= _joint(cohort) + least:
            changed = _with_changes(cohort, _best_of_all(cohort, changes), share)
            if _joint(changed) <= _joint(cohort):  # the gains were rounding errors
                return cohort
        cohort = changed


def _best_of_all(cohort: Partitioned, changes: Sequence[Handle]) -> list[Handle]:
    """Return the change with the largest gain in each cluster and feature, the first of equal ones, by partition."""
    n_features = len(cohort.problem.cohort.encoding.features)
    best = cohort.each(_best_changes, n_features, lists=[changes])
    found: list[Changes] = cohort.place.results(best)
    kept = Changes(*map(np.concatenate, zip(*found, strict=True))).are_best(n_features)
    of_parts = np.split(kept, np.cumsum([own.values.size for own in found])[:-1])
    return [cohort.place.submit(Changes.only, own, mine) for own, mine in zip(best, of_parts, strict=True)]


def search_partitions(
    cohort: Partitioned, sampled: Sums, share: float, plan: SearchPlan, rng: np.random.Generator, pool: Executor
) -> Settled[Partitioned]:
    """Assign all subjects to the clusters of a sample, and raise the joint by the search and by outlying values.

    `cohort` has one cluster and no outlying values.
    """
    if share > 0.0:
        problem = cohort.problem
        n_observed = float((problem.model.powers * problem.cohort.n_observed).sum())
        log_base = problem.cohort.log_base + n_observed * math.log1p(-share)
        cohort = replace(cohort, problem=replace(problem, cohort=replace(problem.cohort, log_base=log_base)))
        # Values that are outlying in the cohort as one cluster would mislead the assignment.
        cohort = with_best_outlying(cohort, share)
    found = searched_on(cohort.assigned(sampled), plan, rng, pool)
    trace, least = list(found.trace), worth_a_round(cohort.problem)
    while share > 0.0 and not plan.budget.used_up():
        plan.refuse_cancelled()
        raised = _without_small(with_best_outlying(found.partitions, share), share, plan)
        joint = _joint(raised)
        if joint <= trace[-1] + least:
            break
        found = searched_on(raised, plan, rng, pool)
        trace += [joint, *found.trace]
    return found._replace(trace=trace)


def _without_small(cohort: Partitioned, share: float, plan: SearchPlan) -> Partitioned:
    """Dissolve small clusters, the smallest first, while this raises the joint (`Dissolution`)."""
    largest = SEEN_IN_SAMPLE * cohort.problem.cohort.n_subjects / N_SAMPLED
    place = 0
    while place < cohort.n_clusters > 1 and not plan.budget.used_up():
        sizes = cohort.clusters.sizes[: cohort.n_clusters]
        cluster = int(np.argsort(sizes, kind="stable")[place])
        if sizes[cluster] > largest:
            break
        dissolved = _dissolved(cohort, cluster, share, plan)
        cohort, place = (cohort, place + 1) if dissolved is None else (dissolved, 0)
    return cohort


def _dissolved(cohort: Partitioned, cluster: int, share: float, plan: SearchPlan) -> Partitioned | None:
    """Move the members of a cluster elsewhere, then sweep and find outlying values in turns; None if the joint falls.

    Without a sweep, only the moved subjects can have other outlying values.
    """
    model, least, before = cohort.problem.model, worth_a_round(cohort.problem), cohort
    given = model, sums_of(cohort.clusters), cluster, share
    labels = cohort.each(_elsewhere, *given, lists=(cohort.shards, cohort.labels))
    cohort = cohort.with_labels(labels, cohort.n_clusters)
    of_members = cluster, model, sums_of(cohort.clusters), share, minimum_gain(cohort.problem)
    changes = cohort.each(_changes_of_members, *of_members, lists=(*cohort.lists, before.labels))
    cohort = _with_changes(cohort, changes, share)
    for _ in range(ROUNDS):
        started = _joint(cohort)
        cohort = settled_by_scans(cohort, plan).partitions
        joint = _joint(cohort)
        if joint > _joint(before) + least:
            return cohort
        if joint - started <= max(least, _joint(before) - joint):
            break
        cohort = with_best_outlying(cohort, share)
    return None
