"""Values that change in turns with the partition: outlying ones are set aside, missing ones filled with modes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from clinclust.arrays import Array, Labels, Mask, Whole
from clinclust.engine.kernels.moves import (
    CohortArrays,
    Model,
    Partition,
    Sums,
    clusters_without_subjects,
    new_partition,
    without_values,
)
from clinclust.engine.kernels.predictives import CHAINED
from clinclust.engine.kernels.sweep import gains_of_indicators, log_predictives_by_feature
from clinclust.engine.problem.encoding import Encoding, log_base_measures, log_bases
from clinclust.engine.problem.problem import Problem, joint_of, log_joint
from clinclust.engine.search import settle
from clinclust.engine.search.partitioned import (
    Handle,
    Numbers,
    Partitioned,
    Shard,
    places_among,
    settled_by_scans,
    worth_a_round,
)
from clinclust.engine.search.plan import Either, RestartResult, SearchPlan
from clinclust.engine.search.settle import Start, SweepResult
from clinclust.likelihoods import Likelihood

# Outlying values given the partition: single values that do not come from their subject's cluster.
#
# Every observed value x_id has an indicator o_id. With probability 1 - share it is drawn from its subject's cluster
# (o_id = 0), and with probability `share` from the prior predictive of its feature (o_id = 1):
#
#     ln p(X_obs, z, o) = ln p(z) + coarsening * sum_d power_d [ sum_k ln m_d(values in cluster k with o_id = 0)
#                         + sum over o_id = 0 of ln(1 - share) + sum over o_id = 1 of ln share + ln m_d(x_id) ]
#
# An outlying value adds nothing to the statistics of its cluster, like a missing value: given the mask, the joint is
# that of another cohort (`without_outlying`). The term of one value in a subject's score is at least coarsening *
# power_d * [ln m_d(x) + ln share - ln(1 - share)], so that no single value opens a cluster.

OutlyingMask = Mask
"""bool (N, D): True where a value is outlying, False where it is kept or missing; subjects and features as encoded."""


def without_outlying(problem: Problem, outlying: OutlyingMask, share: float) -> Problem:
    """Return the problem of the values that are kept, with the joint of the module docstring: all if the share is 0."""
    if share == 0.0:
        return problem
    cohort, powers, values = problem.cohort, problem.model.powers, np.flatnonzero(outlying)
    n_outlying = float((powers * np.bincount(values % powers.size, minlength=powers.size)).sum())
    n_observed = float((powers * cohort.n_observed).sum())
    log_base = cohort.log_base
    log_base += n_outlying * math.log(share) + (n_observed - n_outlying) * math.log1p(-share)
    log_base += of_outlying_values(problem, values)
    return replace(problem, cohort=replace(cohort, arrays=without_values(cohort.arrays, values), log_base=log_base))


def of_outlying_values(problem: Problem, values: Whole) -> float:
    """Return the sum of power_d [ln m_d(x_id) - ln h(x_id)] over the outlying values, i D + d in ascending order."""
    if values.size == 0:
        return 0.0
    powers = problem.model.powers
    subjects, features = np.divmod(values, powers.size)
    rows, places = np.unique(subjects, return_inverse=True)  # few
    some = problem.restricted_to(rows)
    arguments = some.cohort.arrays, problem.model.in_full(), some.partition(some.cohort.together), np.arange(rows.size)
    first_values = powers * np.column_stack([logs[:, -1].copy() for logs in log_predictives_by_feature(*arguments)])
    log_base = log_base_measures(some.cohort, problem.model.prior, places, features)
    return float(first_values[places, features].sum()) - float((powers[features] * log_base).sum())


def best_outlying(problem: Problem, labels: Labels, outlying: OutlyingMask, share: float) -> tuple[OutlyingMask, float]:
    """Change which values are outlying until no change of a single value raises the joint; return mask and log joint.

    Each round changes all values whose change alone would raise the joint; if it does not rise, the best such value of
    each cluster and feature. At share 0 the mask stays.
    """
    least = settle.minimum_gain(problem)
    partition, joint = _kept(problem, labels, outlying, share)
    while share > 0.0:
        changes = changes_that_raise(problem.cohort.arrays, problem.model, partition, outlying, share, least)
        if changes.values.size == 0:
            break
        for chosen, needed in ((changes, least), (changes.best(), 0.0)):
            changed = outlying.copy()
            changed.flat[chosen.values] ^= True
            partition, raised = _kept(problem, labels, changed, share)
            if raised > joint + needed:
                break
        if raised <= joint:  # the gains were rounding errors
            break
        outlying, joint = changed, raised
    return outlying, joint


def best_others(arrays: CohortArrays, model: Model, partition: Partition, subjects: Labels, share: float) -> Labels:
    """Return the best cluster but their own of some subjects, int64 (M,), with their best outlying values.

    A score is the log weight of the cluster plus the sum over observed values of the higher of the log predictive under
    the cluster, and the log prior predictive plus the log odds, both times the exponent of the feature.
    """
    n_clusters, log_odds = int(partition.n_clusters[0]), _log_odds(model, share)
    scores = np.zeros((subjects.size, n_clusters))
    for feature, logs in enumerate(log_predictives_by_feature(arrays, model, partition, subjects)):
        least = -np.inf if arrays.kinds[feature] == CHAINED else logs[:, -1:] + log_odds * model.powers[feature]
        higher = np.maximum(logs[:, :-1], least)
        scores += np.where(np.isnan(higher), 0.0, higher)
    scores += partition.log_weights[0, :n_clusters]
    scores[np.arange(subjects.size), partition.labels[subjects]] = -np.inf
    return np.asarray(scores.argmax(axis=1), dtype=np.int64)


def _kept(problem: Problem, labels: Labels, outlying: OutlyingMask, share: float) -> tuple[Partition, float]:
    better = without_outlying(problem, outlying, share)
    partition = better.partition(labels)
    return partition, log_joint(better, partition)


class Changes(NamedTuple):
    """Values whose indicators, if changed alone, raise the joint."""

    values: Whole  # subject D + feature, in ascending order
    gains: Array  # by how many nats
    places: Whole  # cluster D + feature

    def are_best(self) -> Mask:
        """Return which have the largest gain in their cluster and feature, the first of equal ones, bool (M,)."""
        order = np.argsort(-self.gains, kind="stable")
        best = np.zeros(order.size, dtype=np.bool_)
        best[order[np.unique(self.places[order], return_index=True)[1]]] = True
        return best

    def only(self, chosen: Mask) -> Changes:
        """Return some of the changes."""
        return Changes(self.values[chosen], self.gains[chosen], self.places[chosen])

    def best(self) -> Changes:
        """Return the changes that `are_best`."""
        return self.only(self.are_best())


def changes_that_raise(
    arrays: CohortArrays, model: Model, partition: Partition, outlying: OutlyingMask, share: float, least: float
) -> Changes:
    """Return the changes of single values that each raise the joint by more than the least gain."""
    values, gains = gains_of_indicators(arrays, model, partition, outlying, _log_odds(model, share), least)
    subjects, features = np.divmod(values, arrays.kinds.size)
    return Changes(values, gains, partition.labels[subjects] * arrays.kinds.size + features)


def _log_odds(model: Model, share: float) -> float:
    return model.coarsening * (math.log(share) - math.log1p(-share))


# Search for the partition and for the outlying values. Both raise the same joint (`outlying`), in turns.
#
# Clusters of subjects with outlying values, which are not extreme under their wide distribution, are dissolved in turn.

ROUNDS = 4  # largest number of turns of outlying values and sweeps after the members of a cluster have moved
SEEN_IN_SAMPLE = 30  # number of members in the sample of a large cohort from which on a cluster counts as shown by it


def dissolve(
    problem: Problem, restart: RestartResult, outlying: OutlyingMask, order: Labels, plan: SearchPlan
) -> tuple[RestartResult, OutlyingMask]:
    """Dissolve clusters, the smallest first, while this raises the joint; return the restart and its mask.

    The members of a cluster move elsewhere; then outlying values and sweeps, in `order`, take turns. A turn is the last
    if its sweep gains less than is missing to the joint of the restart.
    """
    arrays, share, least = problem.cohort.arrays, plan.outlying_share, settle.minimum_gain(problem)
    place, by_size = 0, np.argsort(np.bincount(restart.labels), kind="stable")
    while place < by_size.size > 1 and not plan.budget.used_up():
        members = np.flatnonzero(restart.labels == by_size[place])
        partition = new_partition(without_values(arrays, np.flatnonzero(outlying)), restart.labels)
        labels = restart.labels.copy()
        labels[members] = best_others(arrays, problem.model, partition, members, share)
        labels, mask, joint = settle.compact(labels), outlying, -np.inf
        for _ in range(ROUNDS):
            mask, before = best_outlying(problem, labels, mask, share)
            usual = without_outlying(problem, mask, share)
            settled = settle.settle(usual, labels, order, settle.SHORT, plan.cancelled, traced=False)
            labels = settle.compact(settled.partition.labels)
            joint = settled.trace[-1] if settled.trace else -np.inf
            if joint - before <= max(least, restart.log_joint - joint):
                break
        place += 1
        if joint > restart.log_joint + least:
            restart, outlying = restart.raised_to(joint, labels), mask
            place, by_size = 0, np.argsort(np.bincount(labels), kind="stable")
    return restart, outlying


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The results of a search."""

    problem: Problem  # of the values that are not outlying in the best restart, with the final model
    # Each has the best outlying values of its partition in its log joint, which is that of the completed table where
    # modes were filled in.
    restarts: list[RestartResult]
    best: int  # index of the restart with the highest log joint, the only one continued (`raise_in_turns`)
    outlying: OutlyingMask  # (N, D) outlying values of the best restart; subjects and features in encoded order
    tried: Sequence[dict[str, float]] = ()  # the rows of `MAPDP.tuning_`, if several concentrations were tried
    steps: Sequence[Any] = ()  # the resolution path with decreasing coarsening, if the plan has one
    prior_strength: float = 0.0  # subjects that were added to the priors (`strengthened`)

    @property
    def winner(self) -> RestartResult:
        """The restart with the highest log joint."""
        return self.restarts[self.best]

    @property
    def labels(self) -> Labels:
        """Clusters 0 .. K - 1 of the best restart, int64 (N,)."""
        return self.winner.labels


def none_outlying(problem: Problem) -> OutlyingMask:
    """Return the mask that keeps every value, bool (N, D)."""
    return np.zeros((problem.cohort.n_subjects, len(problem.cohort.encoding.features)), dtype=np.bool_)


def outlying_together(problem: Problem, share: float) -> OutlyingMask:
    """Return the values that are outlying in the whole cohort as one cluster: they would mislead a first search."""
    return best_outlying(problem, problem.cohort.together, none_outlying(problem), share)[0]


def search_with_outlying(problem: Problem, starts: list[Start], plan: SearchPlan) -> SearchResult:
    """Search from every start for the best partition and, if the plan's share is above 0, for outlying values."""
    share = plan.outlying_share
    restarts, masks = run_outlying_restarts(problem, starts, outlying_together(problem, share), plan)
    best = settle.index_of_best(restarts)
    outlying = masks[best]
    if share > 0.0:
        arguments = problem, restarts[best], outlying, starts[0], plan
        restarts[best], outlying = raise_in_turns(*arguments, look_back=plan.divide)
    return SearchResult(without_outlying(problem, outlying, share), restarts, best, outlying)


def run_outlying_restarts(
    problem: Problem, starts: list[Start], outlying: OutlyingMask, plan: SearchPlan
) -> tuple[list[RestartResult], list[OutlyingMask]]:
    """Search from every start on the values that are kept; return restarts with outlying values, and their masks."""
    share = plan.outlying_share
    restarts = settle.run_restarts(without_outlying(problem, outlying, share), starts, plan)
    if share == 0.0:
        return restarts, [outlying] * len(restarts)
    pairs = [best_outlying(problem, restart.labels, outlying, share) for restart in restarts]
    restarts = [restart.raised_to(joint) for restart, (_, joint) in zip(restarts, pairs, strict=True)]
    return restarts, [mask for mask, _ in pairs]


def raise_in_turns(
    problem: Problem, restart: RestartResult, outlying: OutlyingMask, start: Start, plan: SearchPlan, *, look_back: bool
) -> tuple[RestartResult, OutlyingMask]:
    """Raise the joint by outlying values, by the search and by dissolving clusters, in turns, until none can raise it.

    The seed and the order of visits are those of `start`. `look_back` searches once more with all values kept: those of
    a rare and distant subtype may have been classified as outlying one by one.
    """

    def search_on(kept: Problem) -> RestartResult:
        return settle.search_from(kept, Start("given", restart.labels, start.seed, start.order), plan)

    share = plan.outlying_share
    if share == 0.0:
        return restart.followed_by(search_on(problem)), outlying
    least, ended = settle.minimum_gain(problem), list[tuple[Labels, OutlyingMask]]()

    def dissolved(restart: RestartResult, outlying: OutlyingMask) -> tuple[RestartResult, OutlyingMask]:
        # Unless the search has been here before.
        if not any(np.array_equal(restart.labels, at) and np.array_equal(outlying, mask) for at, mask in ended):
            restart, outlying = dissolve(problem, restart, outlying, start.order, plan)
            ended.append((restart.labels, outlying))
        return restart, outlying

    while True:
        before = restart.log_joint
        outlying, _ = best_outlying(problem, restart.labels, outlying, share)
        restart = restart.followed_by(search_on(without_outlying(problem, outlying, share)))
        if plan.budget.used_up():
            return restart, outlying
        restart, outlying = dissolved(restart, outlying)
        if restart.log_joint > before + least:
            continue
        if not look_back:
            return restart, outlying
        look_back = False
        whole = search_on(problem)
        again, joint = best_outlying(problem, whole.labels, none_outlying(problem), share)
        result = replace(restart, labels=whole.labels, log_joint=joint)
        other, its_outlying = dissolved(result, again)
        if other.log_joint > restart.log_joint + least:
            trace = np.append(restart.trace, other.log_joint)
            restart, outlying = replace(other, trace=trace), its_outlying


# The search in shards from the clusters of a sample, in turns with the outlying values (`outlying`).
#
# The model is that of the sample: hyperparameters, coarsening, weights of blocks and concentration are not changed.

_AT_ONCE = 8_192
NOTHING = np.empty(0, dtype=np.int64)  # no outlying values


def _changes(
    shard: Shard, labels: Numbers, aside: Whole, model: Model, sums: Sums, share: float, least: float
) -> Changes:
    clusters, n_features = clusters_without_subjects(shard.tables, *sums), shard.tables.kinds.size
    of_blocks = [Changes(NOTHING, np.empty(0), NOTHING)]
    for rows, block in shard.blocks(NOTHING):
        partition = clusters._replace(labels=labels[rows].astype(np.int64))
        first, last = np.searchsorted(aside, np.array([rows.start, rows.stop]) * n_features)
        outlying = np.zeros((block.codes.shape[0], n_features), dtype=np.bool_)
        outlying.flat[aside[first:last] - rows.start * n_features] = True
        changes = changes_that_raise(block, model, partition, outlying, share, least)
        of_blocks.append(changes._replace(values=changes.values + rows.start * n_features))
    return Changes(*map(np.concatenate, zip(*of_blocks, strict=True)))


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
            some = problem.of_subjects(shard.taken(rows, NOTHING))
            rise += sign * of_outlying_values(some, places_among(values, rows, n_features))
    return rise


def _with_changes(cohort: Partitioned, changes: Sequence[Handle], share: float) -> Partitioned:
    problem = cohort.problem
    rises = cohort.each(_rise_of_base, problem, share, lists=(cohort.shards, cohort.aside, changes))
    log_base = problem.cohort.log_base + math.fsum(cohort.place.results(rises))
    problem = replace(problem, cohort=replace(problem.cohort, log_base=log_base))
    values = cohort.each(attrgetter("values"), lists=[changes])
    aside = tuple(cohort.each(np.setxor1d, lists=(cohort.aside, values)))
    return replace(cohort, problem=problem, aside=aside).with_labels(cohort.labels, cohort.n_clusters)


def with_best_outlying(cohort: Partitioned, share: float) -> Partitioned:
    """Change which values are outlying until no change of a single value raises the joint (`best_outlying`)."""
    least = settle.minimum_gain(cohort.problem)
    while True:
        arguments = cohort.problem.model, cohort.clusters.sums, share, least
        changes = cohort.each(_changes, *arguments, lists=cohort.lists)
        if not any(cohort.place.results(cohort.each(attrgetter("values.size"), lists=[changes]))):
            return cohort
        changed = _with_changes(cohort, changes, share)
        if changed.log_joint <= cohort.log_joint + least:
            # The change with the largest gain in each cluster and feature: first of each partition, then of all.
            best = cohort.each(Changes.best, lists=[changes])
            largest: list[Changes] = cohort.place.results(best)
            are_best = Changes(*map(np.concatenate, zip(*largest, strict=True))).are_best()
            of_parts = np.split(are_best, np.cumsum([part.values.size for part in largest])[:-1])
            best = cohort.each(Changes.only, lists=[best, of_parts])
            changed = _with_changes(cohort, best, share)
            if changed.log_joint <= cohort.log_joint:  # the gains were rounding errors
                return cohort
        cohort = changed


def search_partitions(
    cohort: Partitioned, sampled: Sums, plan: SearchPlan, rng: np.random.Generator, pool: Executor
) -> SweepResult:
    """Assign all subjects, in one cluster, to clusters of a sample, and raise the joint (`raise_partitions`)."""
    share = plan.outlying_share
    if share > 0.0:
        problem = cohort.problem
        n_observed = float((problem.model.powers * problem.cohort.n_observed).sum())
        log_base = problem.cohort.log_base + n_observed * math.log1p(-share)
        cohort = replace(cohort, problem=replace(problem, cohort=replace(problem.cohort, log_base=log_base)))
        # Values that are outlying in the cohort as one cluster would mislead the assignment.
        cohort = with_best_outlying(cohort, share)
    return raise_partitions(cohort.assigned(sampled), plan, rng, pool)


def raise_partitions(cohort: Partitioned, plan: SearchPlan, rng: np.random.Generator, pool: Executor) -> SweepResult:
    """Raise the joint by the search, by outlying values and by dissolving small clusters, in turns."""
    share, least, trace = plan.outlying_share, worth_a_round(cohort.problem), list[float]()
    enough, settled = Either(plan.cancelled, plan.budget), partial(settled_by_scans, plan=plan)

    def changed(result: SweepResult, merges: bool) -> Any:
        if merges:
            return result.partitions.merged()
        return result.partitions.divided(rng, enough, pool) if plan.divide else None

    while True:
        result = settle.merge_and_divide(cohort.problem, settled(cohort), settled, changed, enough)
        trace += result.trace
        if share == 0.0 or plan.budget.used_up():
            break
        plan.refuse_cancelled()
        cohort = _without_small(with_best_outlying(result.partitions, share), share, plan)
        if cohort.log_joint <= trace[-1] + least:
            break
        trace.append(cohort.log_joint)
    return result._replace(trace=trace)


def _without_small(cohort: Partitioned, share: float, plan: SearchPlan) -> Partitioned:
    """Dissolve small clusters, the smallest first, while this raises the joint (`dissolve`)."""
    largest = SEEN_IN_SAMPLE * cohort.problem.cohort.n_subjects / settle.N_SAMPLED
    least, place = worth_a_round(cohort.problem), 0

    def members_moved(shard: Shard, labels: Numbers, model: Model, sums: Sums, cluster: int) -> Numbers:
        members = np.flatnonzero(labels == cluster)
        clusters = clusters_without_subjects(shard.tables, *sums)._replace(labels=np.full(members.size, cluster))
        moved = labels.copy()
        arrays = shard.taken(members, NOTHING)
        moved[members] = best_others(arrays, model, clusters, np.arange(members.size), share)
        return moved

    while place < cohort.n_clusters > 1 and not plan.budget.used_up():
        sizes, _ = cohort.clusters.sums
        cluster = int(np.argsort(sizes, kind="stable")[place])
        if sizes[cluster] > largest:
            break
        place += 1
        arguments = cohort.problem.model, cohort.clusters.sums, cluster
        labels = cohort.each(members_moved, *arguments, lists=(cohort.shards, cohort.labels))
        other = cohort.with_labels(labels, cohort.n_clusters)
        for _ in range(ROUNDS):
            other = with_best_outlying(other, share)
            before = other.log_joint
            other = settled_by_scans(other, plan).partitions
            joint = other.log_joint
            if joint > cohort.log_joint + least:
                cohort, place = other, 0
                break
            if joint - before <= max(least, cohort.log_joint - joint):
                break
    return cohort


# Missing values filled with modes, which then count as observed (Raykov et al. 2016, appendix F); for reproduction.
#
# Sweeps and updates of all filled values raise ln p(X_obs, X_filled, z) in turn, from the modes in the whole cohort on.

_LEAST_RISE = 1e-6  # rise of the joint in nats, by an update of all filled values, below which they count as unchanged


def search_filling(problem: Problem, start: Start, plan: SearchPlan) -> RestartResult:
    """Sweep and fill in turn until nothing changes; log joints are those of the completed table."""
    arrays, encoding = problem.cohort.arrays, problem.cohort.encoding
    missing = np.hstack([arrays.codes == 0, np.isnan(arrays.values)])
    sums = problem.partition(problem.cohort.together).statistics[0]
    labels, filled = start.labels, np.full(missing.shape, np.nan)
    for feature, likelihood in enumerate(encoding.likelihoods):
        theta, observed = encoding.part(feature, problem.model.prior, sums)
        filled[missing[:, feature], feature] = likelihood.mode(likelihood.prior.posterior(theta, observed))
    table = completed(problem, filled)
    trace: list[float] = []
    converged, ignore_size = False, start.begin == "single"
    while not converged and len(trace) < plan.max_sweeps and not plan.cancelled.is_set():
        swept = settle.settle(table, labels, start.order, 1, plan.cancelled, ignore_size=ignore_size)
        if not swept.trace:
            break  # cancelled before the sweep
        labels, ignore_size = swept.partition.labels, False
        # Each filled value is set once to its mode in its subject's cluster.
        statistics, before = problem.partition(labels).statistics, filled
        filled = before.copy()
        for feature, likelihood in enumerate(encoding.likelihoods):
            rows = np.flatnonzero(~np.isnan(before[:, feature]))
            for cluster in np.unique(labels[rows]):
                members = rows[labels[rows] == cluster]
                theta, observed = encoding.part(feature, problem.model.prior, statistics[cluster])
                filled[members, feature] = _one_at_a_time(likelihood, theta, observed, before[members, feature])
        table = completed(problem, filled)
        trace.append(joint_of(table, labels))
        converged = swept.converged and trace[-1] - swept.trace[-1] <= _LEAST_RISE
    trace = trace or [joint_of(table, labels)]
    return RestartResult.of(start.name, labels, trace, converged=converged)


def _one_at_a_time(likelihood: Likelihood, theta: Array, observed: Array, values: Array) -> Array:
    """Return filled values (m,) of a feature in a cluster, each set to its mode given the others and observed sums."""
    changed = values.copy()
    of_each = likelihood.statistics(values)
    sums = observed + of_each.sum(axis=0)
    modes: dict[float, float] = {}  # by the value that is left out: equal values have equal modes until one changes
    for place, value in enumerate(values.tolist()):
        if value not in modes:
            modes[value] = likelihood.mode(likelihood.prior.posterior(theta, sums - of_each[place]))
        if modes[value] != value:
            changed[place] = modes[value]
            sums = sums - of_each[place] + likelihood.statistics(changed[place : place + 1])[0]
            modes.clear()
    return changed


def completed(problem: Problem, filled: Array) -> Problem:
    """Return the problem with filled standardised values, float64 (N, D), NaN where nothing is; new ones are levels."""
    cohort, prior = problem.cohort, problem.model.prior
    arrays, encoding = cohort.arrays, cohort.encoding
    n_table, values = arrays.codes.shape[1], arrays.values.copy()
    decoded = np.where(arrays.codes > 0, arrays.level_values[arrays.codes], np.nan)
    columns = {
        feature.name: np.where(np.isnan(column), before, column)
        for feature, before, column in zip(encoding.features, decoded.T, filled.T, strict=False)
    }
    for column, likelihood, new in zip(values.T, encoding.likelihoods[n_table:], filled.T[n_table:], strict=True):
        column[~np.isnan(new)] = likelihood.encoded(new[~np.isnan(new)])
    if columns:
        discrete = Encoding(encoding.features[:n_table], encoding.centres[:n_table], encoding.scales[:n_table])
        tables, _ = discrete.encode(columns, prior[: encoding.prior_start[n_table]])
        levels = {name: getattr(tables, name) for name in tables._fields if name == "codes" or name.startswith("level")}
        arrays = arrays._replace(**levels)
    table = replace(cohort, arrays=arrays._replace(values=values))
    more = float((problem.model.powers * (log_bases(table, prior) - log_bases(cohort, prior))).sum())
    return replace(problem, cohort=replace(table, log_base=cohort.log_base + more))
