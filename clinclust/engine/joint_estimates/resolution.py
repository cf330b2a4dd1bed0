"""How strongly features count: block weights, selection, strength of priors, coarsening; and the concentration."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import cycle
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaln, gammaln, logsumexp, psi

from clinclust.arrays import Array, Labels, Mask, Whole, graded, paired_moments, whole_ranks
from clinclust.engine.joint_estimates import outlying as turns
from clinclust.engine.kernels.moves import CohortArrays, clusters_without_subjects
from clinclust.engine.kernels.sweep import write_scores
from clinclust.engine.problem.encoding import (
    encoded_table,
    members_of_blocks,
    members_of_chains,
    nominal_features,
    numeric_columns,
)
from clinclust.engine.problem.problem import Problem, feature_relevance, joint_of
from clinclust.engine.search import settle
from clinclust.engine.search.partitioned import chunks, in_memory
from clinclust.engine.search.plan import Budget, Either, RestartResult, SearchPlan, Threads, n_threads
from clinclust.progress import SILENT

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

_MOST_ROUNDS_OF_WEIGHTS = 12
_SAME_WEIGHT = 0.02  # change of a weight below which it counts as the same


class WithinClusters(NamedTuple):
    """The squared correlations of the residuals of every two features within clusters."""

    excess: Array
    """(D, D) squared correlation less 1 / (n - K), its expectation under independence; 0 on the diagonal."""
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

    def parts() -> Iterator[tuple[Labels, Array, Array, Mask]]:
        """Yield clusters (n,), whether a subject is in each (n, K), values with 0 for missing, and which are seen."""
        for rows, chunk in chunks(arrays):
            values = numeric_columns(chunk)[0]
            seen = ~np.isnan(values)
            np.copyto(values, 0.0, where=~seen)
            yield labels[rows], (labels[rows, None] == np.arange(n_clusters)).astype(np.float64), values, seen

    for _, is_in, values, seen in parts():
        sums += is_in.T @ values
        counts += is_in.T @ seen  # whole numbers, the same in any order
    means = sums / np.maximum(counts, 1.0)
    for cluster, is_in, values, seen in parts():
        values -= means[cluster]
        values *= seen
        deviations += is_in.T @ np.square(values, out=values)
    freedom = np.maximum(counts - 1.0, 0.0)
    scales = np.sqrt(np.divide(freedom, deviations, out=np.zeros_like(means), where=deviations > 0.0))
    for cluster, _, values, seen in parts():
        values -= means[cluster]
        values *= scales[cluster]
        values *= seen
        together += values.T @ values
        squares += np.square(values, out=values).T @ seen
        np.copyto(values, seen)
        n_both += values.T @ values
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


def reproduced_weights(
    problem: Problem, find: Callable[[Problem], tuple[Problem, Labels]], enough: Callable[[], bool]
) -> Array:
    """Return weights of the features, (D,), that clusters imply again which `find` returns with the values kept."""
    powers = implied_weights(problem, problem.cohort.together)
    for _ in range(_MOST_ROUNDS_OF_WEIGHTS):
        inliers, labels = find(problem.with_powers(powers))
        if enough():
            break
        implied = implied_weights(inliers, labels)
        if np.abs(implied - powers).max() <= _SAME_WEIGHT:
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
    within = within_clusters(problem.cohort.with_features(included, 0.0).arrays, labels)
    # Absolute correlations a are corrected for chance as Cohen's kappa: (a - e) / (1 - e). e is the mean of a under
    # independence, where the squared correlation is about chi-squared. That of nominal features is divided by the root
    # of the product of those with themselves, as in Tschuprow's T squared.
    itself = np.diagonal(within.squared)
    itself = np.where(itself > 0.0, itself, 1.0)
    scale = np.sqrt(itself * itself[:, None])
    freedom = np.maximum(within.n_columns - 1.0, 1.0)
    freedom = freedom * freedom[:, None]
    mean_of_root = np.sqrt(2.0 / freedom) * np.exp(gammaln(0.5 * (freedom + 1.0)) - gammaln(0.5 * freedom))
    by_chance = np.sqrt((within.squared - within.excess) / scale) * mean_of_root
    by_chance = np.minimum(by_chance, 0.99)  # where hardly two subjects have both features
    beyond = (np.sqrt(within.squared / scale) - by_chance) / (1.0 - by_chance)
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
    problem: Problem, starts: list[settle.Start], plan: SearchPlan, dependence: Array | None = None
) -> list[RestartResult]:
    """Search from every start and select features; otherwise like `run_restarts`.

    So that irrelevant features do not dominate, random partitions begin with the features that depend most on others.
    `dependence` is the `mutual_dependence`, if it is known.
    """
    dependence = mutual_dependence(problem.cohort.arrays) if dependence is None else dependence
    ranked, sizes, prepared = np.argsort(-dependence, kind="stable"), cycle(_N_DEPENDENT), list[settle.Start]()
    for start in starts:
        if start.begin == "random":
            included = np.zeros(ranked.size, dtype=np.bool_)
            included[ranked[: next(sizes)]] = True
            start = start._replace(name=f"{start.name}, {included.sum()} features", included=included)
        elif start.labels.max() > 0:
            start = start._replace(included=best_inclusion(problem, start.labels)[1])
        prepared.append(start)

    def search_selecting(problem: Problem, start: settle.Start, plan: SearchPlan) -> RestartResult:
        n_features = len(problem.cohort.encoding.features)
        included = np.ones(n_features, dtype=np.bool_) if start.included is None else start.included
        traces: list[Array] = []
        enough = Either(plan.cancelled, plan.budget)
        while True:
            result = settle.search_from(problem.with_features(included), start, plan)
            log_prior = log_inclusion(int(included.sum()), included.size)
            traces.append(result.trace + log_prior)
            gains, better = best_inclusion(problem, result.labels)
            gain = float(gains[better].sum() - gains[included].sum()) - log_prior
            gain += log_inclusion(int(better.sum()), included.size)
            if gain <= settle.minimum_gain(problem) or not result.converged or enough.is_set():
                break
            included = better
            start = start._replace(labels=result.labels, begin="given")
        trace = np.concatenate(traces)
        # With one cluster, no feature differs between clusters.
        included = included if result.labels.max() > 0 else np.zeros_like(included)
        return replace(result, log_joint=float(trace[-1]), trace=trace, n_sweeps=trace.size, included=included)

    return settle.run_restarts(problem, prepared, plan, search=search_selecting)


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
    table, weights, owners = graded(zip(encoded_table(cohort).T, nominal_features(cohort), strict=True), whole_ranks)
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    for first in range(0, n_features, _FEATURES_AT_ONCE):
        last = min(first + _FEATURES_AT_ONCE, n_features)
        mine = slice(*np.searchsorted(owners, [first, last]))
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
    """Return the problem with priors of so many more average subjects, but `stated` ones and of Gaussian blocks."""
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
    share, plan = plan.outlying_share, replace(plan, outlying_share=0.0)
    problem = turns.without_outlying(problem, turns.outlying_together(problem, share), share)
    best: tuple[float, float, Mask] | None = None
    starts = settle.search_starts(problem.cohort.n_subjects, plan.seeds)
    dependence = mutual_dependence(problem.cohort.arrays)
    others = [*starts[2:3], *(start for start in starts[3:] if start.begin == "bisected")]
    for strength in _STRENGTHS if plan.prior_strength is None else (plan.prior_strength,):
        stronger = strengthened(problem, strength, stated)
        restarts = run_selecting_restarts(stronger, starts, plan, dependence)
        result = restarts[settle.index_of_best(restarts)]
        gain = result.log_joint - joint_of(stronger, problem.cohort.together)
        if result.included is not None and result.included.any() and (best is None or gain > best[0]):
            best = gain, strength, result.included
            # Stronger priors change this partition a little, or find others along principal axes: with these starts
            # 48 wide cohorts have the partitions of six new ones each time, in 60% of the time.
            starts = [starts[0]._replace(labels=result.labels, begin="given"), *others]
        if plan.budget.used_up():
            break
    return None if best is None else best[1:]


def with_all_features(found: turns.SearchResult, whole: Problem, included: Mask, share: float) -> turns.SearchResult:
    """Return the result of a search on the included features, bool (D,), as one on all: the joint is that of all."""
    model = found.problem.model
    whole = whole.under(coarsening=model.coarsening, concentration=model.concentration)
    outlying = turns.outlying_together(whole, share)
    if outlying.any() or found.outlying.any():  # zeros take no memory until they are written
        outlying[:, included] = found.outlying
    whole = turns.without_outlying(whole, outlying, share)
    # The terms of the features that do not differ, and the prior of the selection, are the same in every restart.
    constant = joint_of(whole.with_features(included), found.labels) - found.winner.log_joint
    constant += log_inclusion(int(included.sum()), included.size)
    restarts = [
        replace(restart, log_joint=restart.log_joint + constant, trace=restart.trace + constant, included=included)
        for restart in found.restarts
    ]
    return replace(found, problem=whole, restarts=restarts, outlying=outlying)


# The best partition found at each of a decreasing sequence of coarsenings, each with fewer clusters.
#
# In a large cohort, the path is followed in a sample to the first coarsening that is borne out, then among all
# subjects.

COARSENINGS = (1.0, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05)
"""The path, each coarsening 14 to 33 percent below the one before."""
_N_FRESH = 2  # number of fresh starts at every step after the first
_TOLERANCE = 0.01  # difference to the estimated share of independent features that does not change the partition
_SHARE_OF_FIRST = 0.5  # share of a time budget that the first step may take: the others have fewer clusters and starts
_SHARE_OF_SAMPLE = 0.5  # share of a time budget that the search in the sample may take


@dataclass(frozen=True, eq=False)
class ResolutionStep(turns.SearchResult):
    """The best partition found at one coarsening; after the first step, restart 0 continues from the step before."""

    @cached_property
    def independent_share(self) -> float:
        """The coarsening that the dependence within these clusters implies (`independent_share`)."""
        return independent_share(self.problem, self.labels)

    @property
    def coarsening(self) -> float:
        """The coarsening of the step."""
        return self.problem.model.coarsening

    @property
    def borne_out(self) -> bool:
        """Whether the coarsening is strong enough for the dependence within the clusters of this partition."""
        return self.coarsening <= self.independent_share + _TOLERANCE

    @property
    def onward(self) -> RestartResult:
        """The best restart as the beginning of a restart of the next step."""
        return replace(self.winner, start="step before", trace=np.array([]), n_sweeps=0)


def resolution_steps(
    problem: Problem, starts: list[settle.Start], plan: SearchPlan, seed: np.random.SeedSequence
) -> list[ResolutionStep]:
    """Search from the starts, then, if the plan has a path, at each coarsening from the step before and afresh."""
    seed.spawn(1)  # the children from the second on are those of the steps after it
    # A time budget leaves time for the coarser steps.
    first = turns.search_with_outlying(problem, starts, replace(plan, budget=plan.budget.part(_SHARE_OF_FIRST)))

    def search_at(coarsening: float, before: ResolutionStep) -> ResolutionStep:
        coarsened, share = problem.under(coarsening=coarsening), plan.outlying_share
        (drawn,) = seed.spawn(1)
        starts = settle.search_starts(problem.cohort.n_subjects, drawn.spawn(_N_FRESH))
        (start,) = settle.starts_from(before.labels, [drawn])
        outlying, joint = turns.best_outlying(coarsened, before.labels, before.outlying, share)
        begin = before.onward.raised_to(joint)
        onward, outlying = turns.raise_in_turns(coarsened, begin, outlying, start, plan, look_back=False)
        fresh_plan = replace(plan, refine=False, progress=SILENT)  # one step of the stage "coarsening"
        fresh, masks = turns.run_outlying_restarts(coarsened, starts, outlying, fresh_plan)
        restarts = [onward, *fresh]
        best = settle.index_of_best(restarts)
        if best > 0:
            arguments = coarsened, restarts[best], masks[best - 1], start, plan
            restarts[best], outlying = turns.raise_in_turns(*arguments, look_back=False)
        return ResolutionStep(turns.without_outlying(coarsened, outlying, share), restarts, best, outlying)

    return followed(ResolutionStep(first.problem, first.restarts, first.best, first.outlying), plan, search_at)


def followed(
    begin: ResolutionStep, plan: SearchPlan, search_at: Callable[[float, ResolutionStep], ResolutionStep]
) -> list[ResolutionStep]:
    """Follow a path from one of its steps to its end, with `search_at`; return this step and those after it."""
    steps, ahead = [begin], [value for value in COARSENINGS if value < begin.coarsening]
    if not plan.choose_coarsening:
        return steps
    with plan.progress.stage("coarsening") as advance:
        while ahead and steps[-1].labels.max() > 0 and not (steps[-1].borne_out or plan.budget.used_up()):
            # The last partition may ask for a coarsening before the next one of the path.
            if ahead[0] < steps[-1].independent_share:
                ahead.insert(0, steps[-1].independent_share)
            steps.append(search_at(ahead.pop(0), steps[-1]))
            advance()
    return steps


def chosen_step(steps: Sequence[ResolutionStep]) -> int:
    """Return the index of the first step that is `borne_out`, or else of the last step.

    At coarsening 1, extra clusters may explain dependence, so that it is underestimated; hence the dependence within
    each step's own clusters.
    """
    return next((index for index, step in enumerate(steps) if step.borne_out), len(steps) - 1)


def sampled_steps(problem: Problem, plan: SearchPlan, seed: np.random.SeedSequence) -> list[ResolutionStep]:
    """Search in a sample as the plan says, then among all subjects from its coarsening; return the latter steps."""
    of_rows, of_path, of_all = seed.spawn(3)
    rows = settle.sample_rows(problem.cohort.n_subjects, np.random.default_rng(of_rows))
    budget, progress = plan.budget.part(_SHARE_OF_SAMPLE), plan.progress.within("a sample")
    in_sample = replace(plan, patience=1, budget=budget, progress=progress)
    starts = settle.search_starts(rows.size, in_sample.seeds)
    steps = resolution_steps(problem.restricted_to(rows), starts, in_sample, of_path)
    step = steps[chosen_step(steps)]
    rng, share = np.random.default_rng(of_all), plan.outlying_share
    at, chosen = problem.under(coarsening=step.coarsening), settle.unlike(step.restarts)
    of_sample = [step.problem.partition(restart.labels).sums for restart in chosen]
    del steps, step  # they hold the sample
    with Threads(n_threads(plan.n_jobs), plan.cancelled) as pool:
        cohort = in_memory(at, pool, may_lack_any=share > 0.0)

        def step_at(start: str, found: settle.SweepResult) -> ResolutionStep:
            nonlocal cohort
            cohort = found.partitions
            labels, outlying = cohort.gathered()
            inliers = turns.without_outlying(problem.under(coarsening=cohort.problem.model.coarsening), outlying, share)
            restart = RestartResult.of(start, labels, found.trace, converged=found.converged)
            return ResolutionStep(inliers, [restart], 0, outlying)

        def search_at(coarsening: float, before: ResolutionStep) -> ResolutionStep:
            onward = replace(cohort, problem=cohort.problem.under(coarsening=coarsening))
            onward = turns.with_best_outlying(onward, share) if share > 0.0 else onward
            return step_at(before.onward.start, turns.raise_partitions(onward, plan, rng, pool))

        carried: list[settle.SweepResult] = []
        with plan.progress.stage("search among all subjects", len(chosen)) as advance:
            for sampled in of_sample:
                if not carried or not plan.budget.used_up():
                    carried.append(turns.search_partitions(cohort, sampled, plan, rng, pool))
                    advance()
        best = max(range(len(carried)), key=lambda place: carried[place].trace[-1])
        return followed(step_at(f"sample: {chosen[best].start}", carried[best]), plan, search_at)


# Alternation of search and estimation: the partition given the concentration, then the concentration given it.
#
# The objective is the extended joint, with the log hyperprior of the concentration:
#
#     ln p(X_obs, z | theta, N0) + ln h(N0)
#
# The search raises the first term, and a new concentration is accepted only if it raises the sum, so that the
# alternation ends. `choose_greedily` tries hyperparameters theta without a hyperprior, as in the paper.

Search = Callable[[Problem, list[settle.Start]], list[RestartResult]]
"""`run_restarts` or `run_selecting_restarts` with a fixed plan: it takes a problem and starts, and returns restarts."""

_MOST_ROUNDS = 20
_LEAST_GAIN = 1e-6  # nats by which a new concentration must raise the extended joint: the error of the maximum
_FACTORS = (1 / 8, 1 / 4, 1 / 2, 2.0, 4.0, 8.0)  # of a positive hyperparameter; the paper does not give values
_STEPS = (-1.0, -0.5, 0.5, 1.0)  # steps of the prior mean of a Gaussian feature, in its standard deviations


def alternate(
    problem: Problem, restarts: list[RestartResult], starts: list[settle.Start], search: Search, budget: Budget
) -> tuple[Problem, list[RestartResult]]:
    """Set the concentration to its mode given the best partition, and continue the search, until neither changes.

    Return the problem with the last concentration, and as many restarts, with log joints under it; the best one is
    continued. Traces show the extended joint less the log hyperprior of the last concentration.
    """
    for turn in range(_MOST_ROUNDS):
        if turn and budget.used_up():
            break
        best = restarts[settle.index_of_best(restarts)]
        before, mode = problem.model.concentration, concentration_mode(best.labels.size, int(best.labels.max()) + 1)
        candidate = problem.under(concentration=mode)
        fall = log_concentration_hyperprior(before) - log_concentration_hyperprior(mode)
        if joint_of(candidate, best.labels) - fall - best.log_joint <= _LEAST_GAIN:
            break
        problem = candidate
        restarts = carry_on(problem, restarts, starts, search, fall)
    return problem, restarts


def carry_on(
    problem: Problem, restarts: list[RestartResult], starts: list[settle.Start], search: Search, fall: float = 0.0
) -> list[RestartResult]:
    """Continue from the best restart under a new model; traces rise by `fall`, the decrease of the log hyperprior."""
    restarts = [
        replace(restart, log_joint=joint_of(problem, restart.labels), trace=restart.trace + fall)
        for restart in restarts
    ]
    lead = settle.index_of_best(restarts)
    best = restarts[lead]
    restarts[lead] = best.followed_by(search(problem, settle.starts_from(best.labels, [starts[0].seed]))[0])
    return restarts


def choose_greedily(
    problem: Problem, restarts: list[RestartResult], starts: list[settle.Start], search: Search, plan: SearchPlan
) -> tuple[Problem, list[RestartResult]]:
    """Set one hyperparameter after the other to the value with the highest log joint (Raykov et al. 2016, app. G.2).

    Differences to the paper: results are compared by the log joint, not by eq. 12, which sweeps do not minimise; sweeps
    continue from the best partition so far, and clusters are merged and divided once, at the end; the first values are
    the defaults; each hyperparameter that the schema does not state is changed once, by `_FACTORS` or `_STEPS`.
    """
    encoding = problem.cohort.encoding
    named = [
        (feature, likelihood, name)
        for feature, likelihood in zip(encoding.features, encoding.likelihoods, strict=True)
        for name in likelihood.hyperparameter_names
    ]
    lead = settle.index_of_best(restarts)
    best = restarts[lead]
    for index, (feature, likelihood, name) in enumerate(named):
        if likelihood.is_chained or name in feature.stated:
            continue  # the prior of a multivariate Gaussian block is not free
        if plan.budget.used_up():
            break
        here = problem
        default = problem.model.prior[index]
        for value in default + np.array(_STEPS) if name == "mean" else default * np.array(_FACTORS):
            prior = here.model.prior.copy()
            prior[index] = value
            candidate = here.with_prior(prior)
            arguments = candidate, best.labels, starts[0].order, plan.max_sweeps, plan.cancelled
            settled = settle.settle(*arguments, traced=False)
            if settled.converged and settled.trace[-1] > best.log_joint + settle.minimum_gain(problem):
                problem = candidate
                best = best.raised_to(settled.trace[-1], settled.partition.labels)
    restarts = [best if index == lead else restart for index, restart in enumerate(restarts)]
    return problem, carry_on(problem, restarts, starts, search)


# The concentration N0: its most probable value given a partition, and cross-validation of values that are tried.
#
# Raykov et al. (2016, appendix G, eq. 35): with N0 ~ Gamma(a, b), given K clusters of N subjects,
#
#     p(N0 | N, K) is proportional to Gamma(N0) / Gamma(N0 + N) N0^(K + a - 1) exp(-b N0).
#
# The density maximised here is that of u = ln N0, with one more factor N0, as in Rasmussen (2000): it is log-concave,
# with a mode above 0 for every K.
#
# In cross-validation, each fold is scored with the clusters of the other folds (point 4, and eq. 33); the encoding and
# the default priors come from the whole cohort.

DEFAULT = 3.0  # the default concentration, which is the mean of the hyperprior
SHAPE, RATE = 1.0, 1.0 / DEFAULT
"""Shape a and rate b of the gamma hyperprior, an exponential distribution with mean 3. It weighs as one cluster."""


def log_concentration_hyperprior(concentration: float) -> float:
    """Return the log density of ln N0 under the hyperprior, a ln b - ln Gamma(a) + a ln N0 - b N0."""
    return SHAPE * math.log(RATE) - math.lgamma(SHAPE) + SHAPE * math.log(concentration) - RATE * concentration


def concentration_mode(n_subjects: int, n_clusters: int) -> float:
    """Return the N0 at the mode of p(ln N0 | N, K), where a + K + N0 [psi(N0) - psi(N0 + N) - b] is 0."""

    def slope(u: float) -> float:
        concentration = math.exp(u)
        return SHAPE + n_clusters + concentration * float(psi(concentration) - psi(concentration + n_subjects) - RATE)

    return math.exp(brentq(slope, math.log(1e-12), math.log(1e12), xtol=1e-12))


def deal_folds(n_subjects: int, n_folds: int, rng: np.random.Generator) -> Iterator[tuple[Labels, Labels]]:
    """Yield (training, held-out) subjects of each fold, ascending; every subject is held out once."""
    fold = rng.permutation(np.arange(n_subjects) % min(n_folds, n_subjects))
    for index in range(int(fold.max()) + 1):
        yield np.flatnonzero(fold != index), np.flatnonzero(fold == index)


def starts_among(starts: list[settle.Start], subjects: Labels) -> list[settle.Start]:
    """Return the starts restricted to some of the subjects, in ascending order."""
    restricted = []
    for start in starts:
        order = np.searchsorted(subjects, start.order[np.isin(start.order, subjects)])
        restricted.append(start._replace(labels=settle.compact(start.labels[subjects]), order=order))
    return restricted


def held_out_log_density(training: Problem, labels: Labels, held_out: Problem) -> Array:
    """Return ln p(x | training clusters) of held-out subjects, in nats, float64 (n,): the mixture of eq. 33."""
    sizes, statistics = training.partition(labels).sums
    arrays = held_out.cohort.with_prior(training.model.prior, training.model.powers).arrays
    new = clusters_without_subjects(arrays, sizes, statistics)
    scores = np.zeros((held_out.cohort.n_subjects, sizes.size + 1))
    # The clusters may come from powers of likelihoods, but only densities that count in full integrate to 1.
    write_scores(arrays, training.model.in_full(), new, scores)
    scores -= np.log(labels.size + training.model.concentration)
    return np.asarray(logsumexp(scores, axis=1) + held_out.cohort.encoding.log_jacobian(arrays), dtype=np.float64)
