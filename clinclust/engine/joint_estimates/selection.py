"""Which features inform the partition, and how far features depend on each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import cycle
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, gammaln

from clinclust.arrays import Array, Labels, Mask, Whole, graded, paired_moments, whole_ranks
from clinclust.engine.joint_estimates.outlying import SearchResult, outlying_together, without_outlying
from clinclust.engine.kernels.moves import CohortArrays
from clinclust.engine.problem.encoding import encoded_columns, members_of_blocks, members_of_chains, numeric_columns
from clinclust.engine.problem.problem import Problem, feature_relevance, joint_of
from clinclust.engine.search.partitioned import chunks
from clinclust.engine.search.plan import Either, RestartResult, SearchPlan
from clinclust.engine.search.restarts import Attempts, Start, index_of_best, run_restarts, search_from, search_starts
from clinclust.engine.search.settle import minimum_gain

# Dependence between features within clusters, and the coarsening and the weights of blocks that it implies.
#
# Dependent features repeat information. The likelihood of each of the p features of a block is raised to its weight
#
#     w = 1 / (1 + c),    c = mean over the features of the block of the sum, over its other features, of the absolute
#                             correlations of the residuals within clusters, each corrected for chance.
#
# 1 + c is the design effect of p measurements with these correlations (Kish 1965, *Survey Sampling*): the block counts
# for one feature if all are the same, and for p if they are independent. Weights and clusters are found in turns,
# beginning with one cluster, because superfluous clusters of weight 1 would explain away the dependence.

Find = Callable[[Problem], tuple[Problem, Labels]]
"""A search with fixed weights: it returns the problem with its kept values, and the clusters, int64 (N,)."""

_MOST_ROUNDS = 12
_TOLERANCE = 0.02
"""Change of a weight below which it counts as the same."""


class WithinClusters(NamedTuple):
    """The squared correlations of the residuals of every two features within clusters."""

    excess: Array
    """(D, D) squared correlation less 1 / (n - K), its expectation under independence in n subjects; 0 on the diagonal.
    """
    squared: Array
    """(D, D) squared correlation; its diagonal is 1, less for nominal features, 0 for those that do not vary within
    clusters."""
    n_columns: Whole
    """(D,) number of indicators of each nominal feature; 1 for others."""


def within_clusters(arrays: CohortArrays, labels: Labels) -> WithinClusters:
    """Return how features depend on each other within the clusters 0 .. K - 1 of `labels`, int64 (N,).

    Residuals are divided by the standard deviation of the feature within the cluster, as in the likelihood: nine rows
    in other units, which are a cluster of their own, would otherwise be most of the variance, and the dependence
    between the features in these nine would be that of the cohort.
    """
    n_clusters = int(labels.max()) + 1
    feature = numeric_columns(arrays._replace(codes=arrays.codes[:0], values=arrays.values[:0]))[1]
    sums, counts, deviations = np.zeros((3, n_clusters, feature.size))
    together, squares, n_both = np.zeros((3, feature.size, feature.size))

    def parts() -> Iterator[tuple[Labels, Array, Array, Array]]:
        """Yield clusters (n,), whether a subject is in each (n, K), values with 0 for missing, and which are seen."""
        for rows, chunk in chunks(arrays):
            table, cluster = numeric_columns(chunk)[0], labels[rows]
            seen = ~np.isnan(table)
            is_in = (cluster[:, None] == np.arange(n_clusters)).astype(np.float64)
            yield cluster, is_in, np.where(seen, table, 0.0), seen.astype(np.float64)

    for _, is_in, values, seen in parts():
        sums += is_in.T @ values
        counts += is_in.T @ seen  # whole numbers, the same in any order
    means = sums / np.maximum(counts, 1.0)
    for cluster, is_in, values, seen in parts():
        deviations += is_in.T @ ((values - means[cluster]) * seen) ** 2
    freedom = np.maximum(counts - 1.0, 0.0)
    scales = np.sqrt(np.divide(freedom, deviations, out=np.zeros_like(means), where=deviations > 0.0))
    for cluster, _, values, seen in parts():
        residual = (values - means[cluster]) * scales[cluster] * seen
        together += residual.T @ residual
        squares += (residual**2).T @ seen
        n_both += seen.T @ seen
    squared = (together / np.sqrt(np.maximum(squares * squares.T, 1e-300))) ** 2
    excess = squared - 1.0 / np.maximum(n_both - n_clusters, 1.0)
    by_feature = _by_feature(excess, feature)
    np.fill_diagonal(by_feature, 0.0)
    return WithinClusters(by_feature, _by_feature(squared, feature), np.bincount(feature))


def _by_feature(between: Array, feature: Whole) -> Array:
    """Return the means over the columns of each two features, float64 (D, D), of a matrix (C, C)."""
    of = (feature[:, None] == np.arange(int(feature.max()) + 1)).astype(np.float64)
    of /= of.sum(axis=0)
    return np.asarray(of.T @ between @ of)


def independent_share(problem: Problem, labels: Labels) -> float:
    """Return the share of the log likelihood that independent features would have, in (0, 1], as the coarsening.

    With the excess of `WithinClusters` and weights w_d of the features, it is at most 1 and

        sum_d w_d / (sum_d w_d^2 + sum over d, e of w_d w_e excess_de).

    Dependence within a multivariate Gaussian block, which the model describes, does not count.
    """
    powers = problem.model.powers
    excess = within_clusters(problem.cohort.arrays, labels).excess
    for members in members_of_chains(problem.cohort.encoding.features):
        excess[np.ix_(members, members)] = 0.0
    repeated = ((excess * powers).sum(axis=1) * powers).sum() / powers.sum()
    alone = (powers**2).sum() / powers.sum()
    return min(1.0, float(1.0 / (alone + max(repeated, 0.0))))


def reproduced_weights(problem: Problem, find: Find, enough: Callable[[], bool]) -> Array:
    """Return weights of the features, float64 (D,), that the clusters found with them imply again."""
    powers = implied_weights(problem, problem.cohort.together)
    for _ in range(_MOST_ROUNDS):
        kept, labels = find(problem.with_powers(powers))
        if enough():
            break
        implied = implied_weights(kept, labels)
        if np.abs(implied - powers).max() <= _TOLERANCE:
            break
        powers = implied
    return powers


def implied_weights(problem: Problem, labels: Labels) -> Array:
    """Return the weight of each feature that the dependence within these clusters implies, float64 (D,)."""
    powers = np.ones(len(problem.cohort.encoding.features))
    for members in members_of_blocks(problem.cohort.encoding.features).values():
        if members.size > 1:
            powers[members] = block_weight(problem, members, labels)
    return powers


def block_weight(problem: Problem, members: Labels, labels: Labels) -> float:
    """Return the weight, in (0, 1], of the block of these features, int64 (p,), given clusters, int64 (N,)."""
    included = np.zeros(len(problem.cohort.encoding.features), dtype=np.bool_)
    included[members] = True
    found = within_clusters(problem.cohort.with_features(included, 0.0).arrays, labels)
    # Absolute correlations a are corrected for chance as Cohen's kappa: (a - e) / (1 - e). e is the mean of a under
    # independence, where the squared correlation is about chi-squared. That of nominal features is divided by the root
    # of the product of those with themselves, as in Tschuprow's T squared.
    itself = np.diagonal(found.squared)
    itself = np.where(itself > 0.0, itself, 1.0)
    scale = np.sqrt(itself * itself[:, None])
    freedom = np.maximum(found.n_columns - 1.0, 1.0)
    freedom = freedom * freedom[:, None]
    mean_of_root = np.sqrt(2.0 / freedom) * np.exp(gammaln(0.5 * (freedom + 1.0)) - gammaln(0.5 * freedom))
    by_chance = np.sqrt((found.squared - found.excess) / scale) * mean_of_root
    by_chance = np.minimum(by_chance, 0.99)  # where hardly two subjects have both features
    beyond = (np.sqrt(found.squared / scale) - by_chance) / (1.0 - by_chance)
    np.fill_diagonal(beyond, 0.0)
    return float(1.0 / (1.0 + max(beyond.sum(axis=1).mean(), 0.0)))


def has_repeated(problem: Problem) -> bool:
    """Return whether any block has several features: a block of one always has weight 1."""
    return any(members.size > 1 for members in members_of_blocks(problem.cohort.encoding.features).values())


# Feature selection: the features that differ between the clusters are found together with the clusters.
#
# An included feature (gamma_d = 1) has one distribution for each cluster; an excluded one has the same for all
# subjects.
#
#     ln p(X_obs, z, gamma) = ln p(z) + ln p(gamma)
#         + coarsening * sum_d power_d [gamma_d sum_k ln m_d(x_kd) + (1 - gamma_d) ln m_d(x_d, all subjects together)]
#     ln p(gamma)           = ln B(1 + n, 1 + D - n),   n = sum_d gamma_d
#
# (Scott and Berger 2010, *Bayes and empirical-Bayes multiplicity adjustment in the variable-selection problem*). Steps
# in z and in gamma raise the same joint.

# Numbers of features with which random partitions begin, taken in turn: the features that depend most on others. A
# small number excludes irrelevant features; a large number also keeps subtypes that only a few features show.
_N_DEPENDENT = (10, 20, 5, 40)
_FEATURES_AT_ONCE = 512


def search_selecting(
    problem: Problem, start: Start, plan: SearchPlan, attempts: Attempts, by_features: dict[bytes, Attempts]
) -> RestartResult:
    """Search for the partition and select features, in turns, until neither raises the joint.

    Attempts are kept by the included features: a division that fails on some features may succeed on others.
    """
    n_features = len(problem.cohort.encoding.features)
    included = np.ones(n_features, dtype=np.bool_) if start.included is None else start.included
    traces: list[Array] = []
    enough = Either(plan.cancelled, plan.budget)
    while True:
        shared = by_features.setdefault(included.tobytes(), Attempts())
        found = search_from(problem.with_features(included), start, plan, shared)
        log_prior = log_inclusion(int(included.sum()), included.size)
        traces.append(found.trace + log_prior)
        gains, better = best_inclusion(problem, found.labels)
        gain = float(gains[better].sum() - gains[included].sum()) - log_prior
        gain += log_inclusion(int(better.sum()), included.size)
        if gain <= minimum_gain(problem) or not found.converged or enough.is_set():
            break
        included = better
        start = start._replace(labels=found.labels, begin="given")
    trace = np.concatenate(traces)
    # With one cluster, no feature differs between clusters.
    included = included if found.labels.max() > 0 else np.zeros_like(included)
    return replace(found, log_joint=float(trace[-1]), trace=trace, n_sweeps=trace.size, included=included)


def log_inclusion(n_included: int, n_features: int) -> float:
    """Return ln p(gamma) = ln B(1 + n, 1 + D - n) of a gamma that includes n of D features."""
    return float(betaln(1.0 + n_included, 1.0 + n_features - n_included))


def best_inclusion(problem: Problem, labels: Labels) -> tuple[Array, Mask]:
    """Return the relevances at the powers of features, (D,), and the gamma with the highest joint given a partition.

    For each number of features, those with the largest relevance are best; of equal joints, the smallest number.
    `labels` are 0 .. K - 1; gamma is bool (D,).
    """
    _, statistics = problem.partition(labels).sums
    relevance = feature_relevance(problem.cohort.arrays, problem.model.prior, statistics)
    gains: Array = problem.model.exponents * relevance
    order = np.argsort(-gains, kind="stable")
    numbers = np.arange(gains.size + 1)
    joint = np.concatenate([[0.0], np.cumsum(gains[order])])
    joint += betaln(1.0 + numbers, 1.0 + gains.size - numbers)
    included = np.zeros(gains.size, dtype=np.bool_)
    # Rounding must not decide between equal joints: with one cluster, all features and no feature have the same joint.
    included[order[: int(np.flatnonzero(joint >= joint.max() - 1e-9)[0])]] = True
    return gains, included


def run_selecting_restarts(
    problem: Problem, starts: list[Start], plan: SearchPlan, dependence: Array | None = None
) -> list[RestartResult]:
    """Search from every start and select features; otherwise like `run_restarts`.

    So that irrelevant features do not dominate, random partitions begin with the features that depend most on others.
    `dependence` is the `mutual_dependence`, if it is known.
    """
    dependence = mutual_dependence(problem.cohort.arrays) if dependence is None else dependence
    ranked, sizes, prepared = np.argsort(-dependence, kind="stable"), cycle(_N_DEPENDENT), list[Start]()
    for start in starts:
        if start.begin == "random":
            included = np.zeros(ranked.size, dtype=np.bool_)
            included[ranked[: next(sizes)]] = True
            start = start._replace(name=f"{start.name}, {included.sum()} features", included=included)
        elif start.labels.max() > 0:
            start = start._replace(included=best_inclusion(problem, start.labels)[1])
        prepared.append(start)
    return run_restarts(problem, prepared, plan, search=partial(search_selecting, by_features={}))


def mutual_dependence(cohort: CohortArrays) -> Array:
    """Return the evidence that each feature depends on others in the whole cohort, float64 (D,), at least 0.

    With r the correlation of ranks over n subjects, n r^2 is about chi-squared with one degree of freedom under
    independence. The evidence is the sum over the other features of max(n r^2 - 2 ln D, 0). The n r^2 of the indicators
    of a nominal feature are summed with weights (1 - p) / (L - 1), with p the frequency of the level: Pearson's chi-
    squared divided by its degrees of freedom.
    """
    n_features = cohort.kinds.size
    bound = 2.0 * np.log(max(n_features, 2))
    scores = np.zeros(n_features)
    table, weights, owners = graded(encoded_columns(cohort), whole_ranks)
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    for first in range(0, n_features, _FEATURES_AT_ONCE):
        last = min(first + _FEATURES_AT_ONCE, n_features)
        mine = (owners >= first) & (owners < last)
        n, covariance, own_variance, other_variance = paired_moments(table[:, mine], table)
        varying = np.minimum(own_variance, other_variance) > 1e-9
        squared = np.where(varying, n * covariance**2 / np.where(varying, own_variance * other_variance, 1.0), 0.0)
        squared *= weights[mine, None] * weights
        between = np.add.reduceat(squared, starts, axis=1)
        between = np.add.reduceat(between, np.flatnonzero(np.diff(owners[mine], prepend=-1)), axis=0)
        between[np.arange(last - first), np.arange(first, last)] = 0.0
        scores[first:last] = np.maximum(between - bound, 0.0).sum(axis=1)
    return scores


# Wide tables: how strong the priors are, and which features tell, before the search that chooses the coarsening.
#
# Of 300 people with 40 measurements, 8 tell three groups apart that lie 4 SD from each other. Under the default prior a
# further cluster costs each of the other 32 about 5 nats, the logarithm of what its mean and its spread could have
# been, and one cluster is best. Of 300 people with 500 measurements that each differ by a quarter of an SD, no single
# one tells the groups apart unless the prior expects small differences. Both are seen once the features that differ are
# selected, under priors to which `strength` subjects with the averages of the cohort were added:
#
#     theta_s = theta + s * (mean of T over the observed values),
#
# in natural parameters, for every conjugate prior. With one cluster the joint rises with s whatever the data, so that
# strengths are compared by what the best partition gains over one cluster under the same prior.

_STRENGTHS = (0.0, 1.0, 4.0)
"""Subjects added to the prior. From 8 on, noise of 150 x 300 falls into eight clusters; groups a quarter of an SD apart
in each of 500 features need 4 (benchmarks/wide.py)."""
MANY_FEATURES = 20
"""Number of features up to which nothing is selected unasked: groups that K-means finds are missed from 25 on, and in
12 they are not (benchmarks/wide.py)."""


def strengthened(problem: Problem, strength: float, stated: frozenset[str]) -> Problem:
    """Return the problem whose priors hold so many more subjects with the averages of the cohort.

    A prior that the schema states is not changed, nor that of a multivariate Gaussian block or of `stated` features.
    """
    cohort, encoding, prior = problem.cohort, problem.cohort.encoding, problem.model.prior.copy()
    sums = problem.partition(cohort.together).statistics[0]
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.likelihoods, strict=True)):
        if not likelihood.is_chained and not feature.stated and feature.name not in stated:
            theta, total = encoding.part(index, prior, sums)
            theta[:] = likelihood.prior.posterior(theta, strength * total / max(cohort.n_observed[index], 1))
    return problem.with_prior(prior)


def strength_and_features(problem: Problem, plan: SearchPlan, stated: frozenset[str]) -> tuple[float, Mask] | None:
    """Return the strength of the priors and the features that differ, bool (D,), of the best partition, or None.

    None: the table is not wide, has a multivariate Gaussian block, or no partition gains over one cluster.
    """
    likelihoods = problem.cohort.encoding.likelihoods
    if len(likelihoods) <= MANY_FEATURES or any(likelihood.n_before for likelihood in likelihoods):
        return None
    problem = without_outlying(problem, outlying_together(problem, plan.outlying_share), plan.outlying_share)
    plan = replace(plan, outlying_share=0.0)
    best: tuple[float, float, Mask] | None = None
    starts, dependence = search_starts(problem.cohort.n_subjects, plan.seeds), mutual_dependence(problem.cohort.arrays)
    others = [*starts[2:3], *(start for start in starts[3:] if start.begin == "bisected")]
    for strength in _STRENGTHS if plan.prior_strength is None else (plan.prior_strength,):
        stronger = strengthened(problem, strength, stated)
        restarts = run_selecting_restarts(stronger, starts, plan, dependence)
        result = restarts[index_of_best(restarts)]
        gain = result.log_joint - joint_of(stronger, problem.cohort.together)
        if result.included is not None and result.included.any() and (best is None or gain > best[0]):
            best = gain, strength, result.included
            # Stronger priors change this partition a little, or find others along principal axes: with these starts
            # 48 wide cohorts have the partitions of six new ones each time, in 60% of the time.
            starts = [starts[0]._replace(labels=result.labels, begin="given"), *others]
        if plan.budget.used_up():
            break
    return None if best is None else best[1:]


def with_all_features(found: SearchResult, whole: Problem, included: Mask, share: float) -> SearchResult:
    """Return the result of a search on the included features, bool (D,), as one on all: the joint is that of all."""
    model = found.problem.model
    whole = replace(whole, model=whole.model._replace(coarsening=model.coarsening, concentration=model.concentration))
    outlying = outlying_together(whole, share)
    outlying[:, included] = found.outlying
    whole = without_outlying(whole, outlying, share)
    # The terms of the features that do not differ, and the prior of the selection, are the same in every restart.
    constant = joint_of(whole.with_features(included), found.labels) - found.winner.log_joint
    constant += log_inclusion(int(included.sum()), included.size)
    restarts = [
        replace(restart, log_joint=restart.log_joint + constant, trace=restart.trace + constant, included=included)
        for restart in found.restarts
    ]
    return replace(found, problem=whole, restarts=restarts, outlying=outlying)
