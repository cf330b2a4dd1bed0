"""Scores of a subject in every cluster, sweeps over all subjects, and scores with outlying values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from clinclust.arrays import Array, Labels, Mask, Whole
from clinclust.engine.kernels import predictives
from clinclust.engine.kernels.compiled import LANES, flat, inlined, kernel, subkernel
from clinclust.engine.kernels.lanes import add_log_products, add_log_terms, add_rows, highest, sum_log_terms, sum_rows
from clinclust.engine.kernels.moves import (
    CohortArrays,
    Model,
    Partition,
    State,
    accumulate,
    move,
    new_partition,
    refresh,
    relabel,
    state_of,
    value_left_out,
)
from clinclust.engine.kernels.predictives import CHAINED, place_in_block

# The scores of one subject under every cluster: log weight plus the log predictives of its observed values.
#
# Eight clusters are scored at a time (`clinclust.engine.kernels.lanes`), into `State.scores`.

_LEAST_LEFT = 1e-3  # smallest accepted share of a rate that remains without a value. Below it, digits are lost.


@subkernel
def begin_scoring(state: State, up_to_date: bool) -> int:
    """Bring the clusters up to date; return how many features, from the first on, have the same c1 in all clusters."""
    if not up_to_date:
        for k in range(state.n_clusters[0] + 1):
            refresh(state, k)
        for k in range(state.n_clusters[0] + 1, state.capacity):
            state.log_weights[k] = -math.inf
    # Gaussian features without missing values, before the first one with another power, have the same c1 if it does not
    # differ in any cluster. c1 depends on the power, the prior shape and the number of values in the cluster: it stays
    # the same when subjects move.
    n_alike, powers = 0, flat(state.powers, state.n_table)
    while n_alike < state.n_complete and powers[state.columns[n_alike]] == powers[state.columns[0]]:
        n_alike += 1
    for place in range(1, n_alike):
        here, first = (4 * state.columns[place] + 1) * state.capacity, (4 * state.columns[0] + 1) * state.capacity
        for k in range(state.n_clusters[0] + 1):
            if state.coefficients[here + k] != state.coefficients[first + k]:
                return 0
    return n_alike


@inlined
def score_all(state: State, i: int, n_columns: int, n_together: int) -> tuple[float, float]:
    """Write the scores of subject i under the first `n_columns` clusters, -inf for its own and for columns after these.

    Return its score under its own cluster without itself, but for its table rows, and the sum of these with itself;
    -inf and 0 if it is in none.
    """
    capacity, scores, cluster, n_clusters = state.capacity, state.scores, state.labels[i], state.n_clusters[0]
    values = flat(state.values, i * state.n_values)
    rows_of_own = 0.0
    for first in range(0, n_columns, LANES):
        add_rows(scores, state.log_weights, first, state.table, capacity, state.codes, i * state.n_table, state.n_table)
        if first <= cluster < first + LANES:
            rows_of_own = scores[cluster] - state.log_weights[cluster]
        if n_together > 0:
            add_log_products(scores, first, state.coefficients, state.columns, n_together, capacity, values)
        for place in range(n_together, state.n_apart):
            column = state.columns[place]
            if not math.isnan(values[column]):
                add_log_terms(scores, first, state.coefficients, column, capacity, values[column])
    for column in range(state.n_apart, state.n_values):
        if not math.isnan(values[column]):
            for k in range(n_columns):
                scores[k] += chained_score(state, k, column, values)
    score = -math.inf
    if cluster >= 0:  # the score without the subject itself
        scores[cluster] = -math.inf
        score = state.log_weights[capacity + cluster] if state.sizes[cluster] > 1.0 else math.log(state.concentration)
    if cluster >= 0 and state.n_values > 0:
        for column in range(state.n_apart):
            state.own_values[column] = values[column]
        coefficients = flat(state.left_out_coefficients, 4 * state.width * cluster)
        without = sum_log_terms(state.own_values, coefficients, 0, state.width, _LEAST_LEFT)
        if math.isnan(without):
            without = 0.0
            for column in range(state.n_apart):
                if not math.isnan(values[column]):
                    without += value_left_out(state, cluster, column, values[column])
        score += without
        for column in range(state.n_apart, state.n_values):
            if not math.isnan(values[column]):
                score += chained_left_out(state, cluster, column, values)
    if n_columns == n_clusters or (cluster >= 0 and state.sizes[cluster] == 1.0):  # a new cluster would equal this one
        scores[n_clusters] = -math.inf
    return score, rows_of_own


@subkernel
def chained_score(state: State, k: int, column: int, values: Array) -> float:
    """Return the log predictive of the continuous value at `column` under cluster k, to its power."""
    start = state.statistic_start[state.n_table + column]
    place = place_in_block(state.statistic_start[state.n_table + column + 1] - start)
    factor = flat(state.factors, k * state.n_factors + start - state.first_chained)
    before, with_own = predictives.squares_of(factor, flat(values, column - place), place, state.chained)
    c = flat(state.coefficients, 4 * state.capacity * column + k)
    score: float = c[0] - c[state.capacity] * math.log1p(with_own) + c[2 * state.capacity] * math.log1p(before)
    return score


@subkernel
def chained_left_out(state: State, k: int, column: int, values: Array) -> float:
    """Return the same for the subject's own cluster k, under the cluster without the subject."""
    start = state.statistic_start[state.n_table + column]
    n_sums = state.statistic_start[state.n_table + column + 1] - start
    place = place_in_block(n_sums)
    block, factor = flat(values, column - place), flat(state.factors, k * state.n_factors + start - state.first_chained)
    before, with_own = predictives.squares_of(factor, block, place, state.chained)
    c = flat(state.left_out_coefficients, 4 * state.width * k + column)
    if 1.0 - with_own >= _LEAST_LEFT:
        score: float = c[0] + c[state.width] * math.log1p(-with_own) - c[2 * state.width] * math.log1p(-before)
        return score
    # Too many digits are lost: the factor is computed from the statistics without the subject.
    sums, rest = flat(state.chained, 0), flat(state.chained, n_sums)
    all_sums = flat(state.statistics, k * state.n_statistics + start)
    for s in range(n_sums):
        sums[s] = all_sums[s]
    predictives.add_values(sums, block, place, -1.0)
    degrees = predictives.factorise(flat(state.prior, state.prior_start[state.n_table + column]), sums, place, rest)
    coefficients = flat(state.chained, 2 * n_sums)
    predictives.chained_coefficients(rest, degrees, place, coefficients, 1, flat(coefficients, 3), 1)
    before, with_own = predictives.squares_of(rest, block, place, sums)
    log_density = coefficients[0] - coefficients[1] * math.log1p(with_own) + coefficients[2] * math.log1p(before)
    value: float = state.coarsening * state.powers[state.n_table + column] * log_density
    return value


# One sweep: each subject in turn moves to the cluster with the highest score, or to one that is drawn by its score.
#
# The former is the inner loop of MAP-DP, algorithm 3 of Raykov et al. (2016), the latter collapsed Gibbs sampling (Neal
# 2000, J Comput Graph Stat 9, 249-265, algorithm 3), and the sequential allocation of proposed divisions (Dahl 2005).

UNLIMITED = np.iinfo(np.int64).max  # value of `most_clusters` for an unlimited number of clusters
_CERTAIN = 45.0  # nats of a lead from which the others together have less than 2^-53, the step of a uniform draw


@subkernel
def _draw(scores: Array, n_columns: int, most: float, cluster: int, target: int, uniform: float) -> tuple[int, float]:
    """Return a cluster drawn by exp(score), or a target above -1, and its log probability; scores are overwritten."""
    total = 0.0
    for k in range(n_columns):
        scores[k] = math.exp(scores[k] - most)
        total += scores[k]
    drawn, rest = cluster, uniform * total
    for k in range(n_columns):
        if scores[k] > 0.0 and rest >= 0.0:  # rounding may leave a rest after the last cluster
            drawn = k
            rest -= scores[k]
    drawn = target if target >= 0 else drawn
    return drawn, math.log(scores[drawn] / total)


class Visit(NamedTuple):
    """How a sweep visits subjects, what they do, and what is written of them, where an array is not empty.

    `best` (n,) receives the best clusters, K for a new one, and `all_scores` (n, K + 1) log weight + coarsening * sum_d
    power_d ln p(x_id | cluster k without subject i), the empty cluster last; no subject moves then. With `uniforms`
    (n,), draws from [0, 1), each subject moves to a cluster drawn with probability proportional to exp(score), or to
    its target in `targets` (n,).
    """

    start: int = 0  # position in the order of the first subject that is visited
    minimum_gain: float = 0.0  # a subject moves only if this raises the log joint by more than this number of nats
    most_clusters: int = UNLIMITED  # number of clusters from which on no subject opens a new cluster
    ignore_size: bool = False  # score cluster 0 as if it held one subject (first sweep of the paper's start, app. B)
    up_to_date: bool = False  # whether the log predictives already correspond to the statistics
    best: Labels = np.empty(0, dtype=np.int64)
    all_scores: Array = np.empty((0, 0))
    uniforms: Array = np.empty(0)
    targets: Labels = np.empty(0, dtype=np.int64)


@kernel
def sweep(
    cohort: CohortArrays, model: Model, partition: Partition, order: Labels, visit: Visit
) -> tuple[int, int, float]:
    """Visit subjects in an order and move each to its best cluster; a subject in no cluster (-1) is assigned to one.

    A subject is scored under its own cluster without itself. Log normalisers are convex, so its log predictive is
    higher with itself, by at most `Partition.spread` over its table rows. Most subjects stay for every difference
    within this bound; the rows without the subject are then not summed.

    The partition is modified in place; its sizes and statistics must correspond to the labels. Return the position in
    `order` at which the sweep stopped, below n if the capacity does not allow a new cluster, the number of moves, and
    the log of the product of the probabilities with which clusters were drawn.
    """
    state = state_of(cohort, model, partition)
    n_clusters, capacity, scores = state.n_clusters[0], state.capacity, state.scores
    n_together = begin_scoring(state, visit.up_to_date)
    best_of_all, all_scores, uniforms, targets = visit.best, visit.all_scores, visit.uniforms, visit.targets
    n_best, n_scored, n_drawn, n_targets = best_of_all.size, all_scores.shape[0], uniforms.size, targets.size
    moves, log_probability = 0, 0.0
    for position in range(visit.start, order.shape[0]):
        i = order[position]
        cluster = state.labels[i]
        n_columns = n_clusters + 1 if n_scored > 0 or n_clusters < visit.most_clusters else n_clusters
        # The table rows under its own cluster are added only if they can change the decision.
        score, rows_of_own = score_all(state, i, n_columns, n_together)
        held = state.sizes[0] - (1.0 if cluster == 0 else 0.0)
        if visit.ignore_size and cluster >= 0 and held > 0.0:
            shift = -math.log(held)
            score += shift if cluster == 0 else 0.0
            scores[0] += shift
        others = highest(scores, n_columns)
        stays = False
        if cluster >= 0:
            bound = score + rows_of_own - state.spread[cluster]
            stays = others < bound if n_drawn == 0 else bound - others > _CERTAIN and n_targets == 0
            if n_scored > 0 or not stays:
                left_out = flat(state.left_out, cluster * state.n_rows)
                score += sum_rows(left_out, state.codes, i * state.n_table, state.n_table)
                stays = n_drawn == 0 and (stays or not others - score > visit.minimum_gain)
        best, of_draw = cluster, 0.0
        if n_drawn > 0 and not stays:
            if cluster >= 0:
                scores[cluster] = score
            target = targets[position] if n_targets > 0 else -1
            best, of_draw = _draw(scores, n_columns, max(score, others), cluster, target, uniforms[position])
        elif not stays:
            best = 0
            while scores[best] < others:
                best += 1
        if n_best > 0:
            best_of_all[position] = best
        if n_scored > 0:
            row = flat(all_scores, position * all_scores.shape[1])
            for k in range(n_clusters + 1):
                row[k] = scores[k]
            if cluster >= 0:
                row[cluster] = score
                if state.sizes[cluster] == 1.0:
                    row[n_clusters] = score
        if best != cluster and n_best == 0 and n_scored == 0:
            if best == n_clusters and n_clusters + 2 > capacity:
                return position, moves, log_probability
            move(state, i, best)
            n_clusters = state.n_clusters[0]
            moves += 1
        log_probability += of_draw
    return order.shape[0], moves, log_probability


@kernel
def settle_from(
    cohort: CohortArrays, model: Model, partition: Partition, labels: Labels, visit: Visit, most_sweeps: int
) -> bool:
    """Give a partition labels, 0 .. K - 1, and sweep as in a `Visit`, at most so often, until no subject moves.

    Return whether none moved in the last sweep. No cluster may open.
    """
    relabel(cohort, partition, labels)
    order, n_moves = np.arange(labels.size), 1
    for number in range(most_sweeps):
        if n_moves > 0:
            choices = visit.start, visit.minimum_gain, visit.most_clusters, visit.ignore_size
            onward = Visit(*choices, number > 0, visit.best, visit.all_scores, visit.uniforms, visit.targets)
            n_moves = sweep(cohort, model, partition, order, onward)[1]
    # Moves add and subtract, which changes the last digits of sums.
    accumulate(cohort, partition.labels, partition.sizes, partition.statistics)
    return n_moves == 0


def full_sweep(
    cohort: CohortArrays, model: Model, partition: Partition, order: Labels, **choices: Any
) -> tuple[Partition, int]:
    """Visit all subjects in an order, as in a `Visit`; return the partition, wider if need be, and number of moves."""
    position = moves = 0
    while position < order.size:
        position, made, _ = sweep(cohort, model, partition, order, Visit(position, **choices))
        moves += made
        if position < order.size:
            partition = new_partition(cohort, partition.labels, 2 * partition.sizes.size)
    # Moves change the last digits of the sums, which are therefore computed anew.
    accumulate(cohort, partition.labels, partition.sizes, partition.statistics)
    return partition, moves


def find_best(
    cohort: CohortArrays, model: Model, partition: Partition, minimum_gain: float, most_clusters: int, up_to_date: bool
) -> Labels:
    """Return the best cluster of each subject, int64 (N,), by `minimum_gain` and `most_clusters` of a `Visit`."""
    best = np.empty_like(partition.labels)
    visit = Visit(0, minimum_gain, most_clusters, up_to_date=up_to_date, best=best)
    sweep(cohort, model, partition, np.arange(best.size), visit)
    return best


def write_scores(cohort: CohortArrays, model: Model, partition: Partition, scores: Array) -> None:
    """Write the scores of all subjects to `scores`, float64 (N, K + 1); no subject moves (`sweep`)."""
    sweep(cohort, model, partition, np.arange(scores.shape[0]), Visit(all_scores=scores))


def bring_up_to_date(cohort: CohortArrays, model: Model, partition: Partition) -> None:
    """Compute the log predictives of all clusters, and of the empty cluster, from their statistics."""
    sweep(cohort, model, partition, np.empty(0, dtype=np.int64), Visit())


# Scores of subjects whose values may be outlying, that is, drawn from the prior predictive of their feature.
#
# Values of multivariate Gaussian blocks are never outlying.

_MARGIN = 0.1  # nats by which a value must be worth keeping to count as usual
_LEAST_RATE = 0.05  # share of a rate that must remain without a usual value
_ACCURATE = 1e10  # bound of count * squares / rate below which the remaining rate is known to one part in a thousand


@subkernel
def _predictive(state: State, i: int, feature: int, k: int) -> float:
    """Return the log predictive of a value of subject i under cluster k, to its power; NaN if it is missing."""
    column = feature - state.n_table
    if column < 0:
        code = state.codes[i * state.n_table + feature]
        in_table: float = state.table[code * state.capacity + k]
        return in_table if code != 0 else math.nan
    values = flat(state.values, i * state.n_values)
    if math.isnan(values[column]):
        return math.nan
    if state.kinds[feature] == CHAINED:
        return chained_score(state, k, column, values)
    stride, c = state.capacity, flat(state.coefficients, 4 * state.capacity * column + k)
    log_tail: float = c[0] - c[stride] * math.log1p(c[2 * stride] * (values[column] - c[3 * stride]) ** 2)
    return log_tail


def log_predictives_by_feature(
    cohort: CohortArrays, model: Model, partition: Partition, subjects: Whole
) -> Iterator[Array]:
    """Yield log predictives of each feature of subjects (M,), float64 (M, K + 1), NaN = missing, in one array."""
    bring_up_to_date(cohort, model, partition)
    logs = np.empty((subjects.size, int(partition.n_clusters[0]) + 1))
    for feature in range(cohort.kinds.size):
        _write_log_predictives(cohort, model, partition, feature, subjects, logs)
        yield logs


@kernel
def _write_log_predictives(
    cohort: CohortArrays, model: Model, partition: Partition, feature: int, subjects: Whole, logs: Array
) -> None:
    state = state_of(cohort, model, partition)
    for row in range(subjects.size):
        for k in range(logs.shape[1]):
            logs[row, k] = _predictive(state, subjects[row], feature, k)


@subkernel
def _usual_square(state: State, k: int, column: int, log_odds: float) -> float:
    """Return a (z - c3)^2 up to which no kept value z of cluster k is worth setting aside; -1 if it is unknown.

    With c0 .. c3 of the cluster without z, the gain is at most first + log odds - c0 - c1 ln(1 - c2 (z - c3)^2), as the
    log prior predictive is nowhere above its c0, `first`. This bound must be below 0 by `_MARGIN`, so that rounding
    errors decide nothing.
    """
    feature = state.n_table + column
    if state.kinds[feature] == CHAINED:
        return math.inf
    sums = flat(state.statistics, k * state.n_statistics)
    count = sums[state.statistic_start[feature]]
    squares = sums[state.statistic_start[feature + 1] - 1]
    c = flat(state.left_out_coefficients, 4 * state.width * k + column)
    c0, c1, c2 = c[0], c[state.width], c[2 * state.width]
    first = state.coefficients[4 * state.capacity * column + state.n_clusters[0]]
    most = first - c0 + (log_odds + _MARGIN * state.coarsening) * state.powers[feature]
    # The sums have a relative error of up to `count` units in the last place.
    if most < 0.0 < c1 and count * squares * c2 < _ACCURATE:
        square: float = min(-math.expm1(most / c1), 1.0 - _LEAST_RATE) / c2
        return square
    return -1.0


@kernel
def gains_of_indicators(
    cohort: CohortArrays, model: Model, partition: Partition, outlying: Mask, log_odds: float, least: float
) -> tuple[Whole, Array]:
    """Return the single values whose indicators, if changed alone, raise the log joint by more than `least` >= 0.

    Value i D + d is that of feature d in subject i. The cohort holds all values, the statistics of the partition those
    that are not `outlying`, bool (N, D). The log odds, coarsening * [ln share - ln(1 - share)], are multiplied by the
    power of each feature. Return values, in ascending order, and gains.
    """
    state = state_of(cohort, model, partition)
    for k in range(partition.n_clusters[0] + 1):
        refresh(state, k)
    n_table, n_values, n_features = state.n_table, state.n_values, state.n_table + state.n_values
    empty = partition.n_clusters[0]
    # A level is worth setting aside for all members of a cluster or for none.
    of_levels, squares = np.full((empty, state.n_rows), -math.inf), np.empty((empty, n_values))
    for k in range(empty):
        for feature in range(n_table):
            for row in range(cohort.level_start[feature], cohort.level_start[feature + 1]):
                prior = partition.table[row, empty] + log_odds * state.powers[feature]
                of_levels[k, row] = prior - partition.left_out[k, row]
        for column in range(n_values):
            squares[k, column] = _usual_square(state, k, column, log_odds)
    changes, gains, n_changes = np.empty(n_features, dtype=np.int64), np.empty(n_features), 0
    for i in range(partition.labels.shape[0]):
        if n_changes + n_features > changes.size:
            changes, gains = np.concatenate((changes, changes)), np.concatenate((gains, gains))
        k = partition.labels[i]
        codes, values = flat(cohort.codes, i * n_table), flat(cohort.values, i * n_values)
        levels, usual = flat(of_levels, k * state.n_rows), flat(squares, k * n_values)
        centres = flat(state.left_out_coefficients, (4 * k + 3) * state.width)
        for feature in range(n_features):
            column = feature - n_table
            odds, gain = log_odds * state.powers[feature], -math.inf
            if outlying[i, feature]:
                gain = _predictive(state, i, feature, k) - (_predictive(state, i, feature, empty) + odds)
            elif column < 0:
                gain = levels[codes[feature]]
            # False for a missing value, which is NaN.
            elif (values[column] - centres[column]) ** 2 > usual[column]:
                gain = _predictive(state, i, feature, empty) + odds - value_left_out(state, k, column, values[column])
            if gain > least:
                changes[n_changes], gains[n_changes] = i * n_features + feature, gain
                n_changes += 1
    return changes[:n_changes], gains[:n_changes]
