"""The test of one node of a merge tree: whether its split gains more than it would in one continuous population.

T, M, z and p are those of `clinclust.distinct_subtypes`: gains of the best divisions into k = 2 .. k_max clusters
(`profile`), and statistics of shape (`shape_of`), compared with those in draws of the one population. In M_b, means and
standard deviations are those of the other draws, so that M_b varies as T does in one population. That p is at least the
share of the draws with M_b >= T matters where few draws gain anything, so that M is far from normal.

The standard error of z is about ((1 + z^2 / 2) / B)^(1/2) after B draws, so that all B_max draws would change it by

    e = [(1 + z^2 / 2) (1 / B - 1 / B_max)]^(1/2).

The draws end early if one z is above its value at the level, or all are below, by 2.75 e. A node of 2,000 subjects or
more is tested in 500 of them first, with 20 draws, and in more of them only if no z is so far above.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import count, islice, pairwise, starmap
from threading import Event
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, stdtr

from clinclust.arrays import Array, Labels, Mask, Whole
from clinclust.engine.continuum import null_cohorts as nulls
from clinclust.engine.kernels.modes import count_peaks, dip
from clinclust.engine.kernels.moves import clusters_without_subjects
from clinclust.engine.kernels.sweep import Visit, find_best, settle_from
from clinclust.engine.problem.encoding import EncodedCohort, principal_axis
from clinclust.engine.problem.problem import Problem, joint_of, log_joint
from clinclust.engine.search.plan import SearchCancelled
from clinclust.engine.search.settle import minimum_gain

_CUTS = (0.5, 0.1, 0.9)
"""Quantiles of the principal axis at which a division begins: the middle, and small subtypes at either end."""
_PURSUED, _SWEEPS = 2, 7
"""How many divisions go on after their first sweep, and for how many sweeps at most."""
_NO_NEW_CLUSTER = 1  # value of `most_clusters` at which no subject opens a cluster
_POLISHING_SWEEPS = 4
SMALLEST_NODE, LARGEST_NODE = 10, 5000
"""Subjects below which a node is not tested, and above which it is tested in a sample of this size."""
MANY, FIRST_SAMPLE, _FIRST_DRAWS = 2000, 500, 20
"""Number of subjects from which on a node is tested in a sample of the second size first: most are clear there; and the
number of draws of such a test."""
_MOST_CLUSTERS = 8
"""Largest k_max. Of a node of two clusters it is two: in 600 cohorts, no verdict differs from that with three."""
_CHECKPOINTS = (5, 7, 10, 20, 30, 40, 50, 70, 100, 140)
"""Numbers of draws after which a test may end: fixed, so that the threads do not change the result."""
_FEWEST_DRAWS = 10
"""Number of draws before which a test only ends where z is far above that at the level: 10 after five, 6 after 7."""
_STANDARD_ERRORS = 2.75
"""How far z is from its value at the level where a test ends early, in standard deviations of what would change it."""
_LEAST_SPREAD = 0.1
"""Standard deviation of gains, in nats, below which no test ends early: a rare gain may come."""
_SHAPE_COUNTS = 2.0
"""Multiple of the p of the shape in that of a node: it divides at half of the level, so that with the gain, which is
far below the level in one population, the level holds."""
_LEAST_OF_SHAPE = 1e-3  # least standard deviation of a statistic of shape
_NODE, _DRAW, _FEW = 0, 1, 1 << 20
"""Spawn keys of the random numbers of the node itself, of its first draw, and of the first sample."""
_POPULATION = 1933  # seed of the normal draws with which the population is found


@dataclass(frozen=True)
class NodeTest:
    """The result of the test of one node."""

    n_parts: int
    """The k at which (G_k - m_k) / s_k is largest."""
    gain: float
    """G_k, or g_2, at this k, in nats."""
    expected: float
    expected_sd: float
    """m_k and s_k at this k, in nats."""
    z: float
    p: float
    n_subjects: int
    """Number of subjects in the test."""

    def or_by_shape(self, shape: NodeTest) -> NodeTest:
        """Return the test of a node by its gains or, where p is smaller, by its shape."""
        by_shape = _SHAPE_COUNTS * shape.p
        return replace(self, z=self.z if self.p <= by_shape else shape.z, p=min(self.p, by_shape, 1.0))

    @property
    def excess(self) -> float:
        """The gain less its expectation in one population, in nats."""
        return self.gain - self.expected


@dataclass(frozen=True)
class Node:
    """A node of a merge tree."""

    members: Labels
    """(M,) the subjects below the node, in encoded order."""
    halves: Labels
    """(M,) 0 or 1: the two halves that are joined."""
    n_clusters: int
    """Number of clusters of the fit below the node."""

    def sample(self, most: int, rng: np.random.Generator) -> Node:
        """Return the node, or a sample of this number of its subjects."""
        if self.members.size <= most:
            return self
        chosen = np.sort(rng.choice(self.members.size, most, replace=False))
        return Node(self.members[chosen], self.halves[chosen], self.n_clusters)


@dataclass(frozen=True)
class DrawPlan:
    """How nodes are tested."""

    n_draws: int
    """Largest number of cohorts drawn from the one population of a node."""
    significance_level: float
    """The level of each test: the draws end early where p is far from it."""
    pool: Executor
    cancelled: Event
    """When it is set, no further draw is made."""
    advance: Callable[[], object]
    """Called after each draw."""
    any_shape: bool = False
    """Whether the one population may have any shape (`smoothed_population`)."""

    def batches(self) -> Iterator[range]:
        """Return the numbers of the draws up to each checkpoint."""
        ends = [0, *(number for number in _CHECKPOINTS if number < self.n_draws), self.n_draws]
        return starmap(range, pairwise(ends))

    def decision(self, of_gain: NodeTest, of_shape: NodeTest, n_draws: int) -> bool | None:
        """Return whether p is below the level if more draws would not change this, else None."""
        if of_gain.expected_sd <= _LEAST_SPREAD:
            return None
        both = ((of_gain.z, self.significance_level), (of_shape.z, self.significance_level / _SHAPE_COUNTS))
        variance = 1.0 / n_draws - 1.0 / self.n_draws
        margins = [(z + ndtri(level), _STANDARD_ERRORS * np.sqrt((1.0 + 0.5 * z**2) * variance)) for z, level in both]
        if any(above > error for above, error in margins):
            return True
        return False if all(above < -error for above, error in margins) else None


class RunningTest:
    """The test whether the subjects of a node of a problem at coarsening 1 are more than one continuous population.

    It makes the draws up to the first checkpoint, and more when asked to go on.
    """

    def __init__(self, problem: Problem, node: Node, plan: DrawPlan, seed: np.random.SeedSequence) -> None:
        self._steps = _against_one_population(problem, node, plan, seed)
        self.go_on()

    def go_on(self) -> None:
        """Draw up to the next checkpoint; the test must not have ended."""
        self.found, self.has_ended = next(self._steps)
        if self.has_ended:
            self._steps.close()  # it holds the population and the draws

    def ended(self) -> NodeTest:
        """Return the test after its last draw."""
        while not self.has_ended:
            self.go_on()
        return self.found


def _against_one_population(
    problem: Problem, node: Node, plan: DrawPlan, seed: np.random.SeedSequence
) -> Generator[tuple[NodeTest, bool], None, None]:
    """Yield the test after each batch of draws, and whether it ends there."""
    most = min(node.n_clusters, _MOST_CLUSTERS)
    if node.members.size >= MANY and plan.n_draws > _FIRST_DRAWS:
        few = node.sample(FIRST_SAMPLE, np.random.default_rng(_stream(seed, _FEW)))
        for test, n_drawn, decision in _tested(problem, few, most, plan, seed):
            if decision:
                yield test, True
                return
            if n_drawn >= _FIRST_DRAWS:
                break
    node = node.sample(LARGEST_NODE, np.random.default_rng(_stream(seed, _NODE)))
    for test, n_drawn, decision in _tested(problem, node, most, plan, seed):
        yield test, decision is not None or n_drawn == plan.n_draws


def _tested(
    problem: Problem, node: Node, most: int, plan: DrawPlan, seed: np.random.SeedSequence
) -> Iterator[tuple[NodeTest, int, bool | None]]:
    """Yield the test of a node among all its subjects after each batch, the number of draws, and the decision."""
    part = problem.restricted_to(node.members)
    # The population is one whatever the seed: verdicts would change more with its seed than with those of the draws.
    rng = np.random.default_rng(_POPULATION)
    population = nulls.one_population(part, rng)
    if plan.any_shape:
        population = nulls.smoothed_population(population, rng)
    from_tree = best_division(part, node.halves) if 0 < node.halves.sum() < node.halves.size else None
    *observed, is_of_tree = _statistics(part, population.scores, most, from_tree)
    clusters = part.partition(from_tree.labels).sums if from_tree is not None and is_of_tree else None

    def draw(number: int) -> tuple[Array, Array]:
        if plan.cancelled.is_set():
            raise SearchCancelled("the test was cancelled")
        drawn, scores = population.draw(np.random.default_rng(_stream(seed, _DRAW + number)))
        begun = None if clusters is None else _divide_like(drawn, clusters)
        return _statistics(drawn, scores, most, begun)[:2]

    expected = list[tuple[Array, Array]]()
    for batch in plan.batches():
        drawn = [plan.pool.submit(draw, number) for number in batch]
        for future in drawn:
            expected.append(future.result())
            plan.advance()
        drawn_gains, drawn_shapes = map(np.array, zip(*expected, strict=True))
        of_gain = farthest(observed[0], drawn_gains, minimum_gain(part), node.members.size)
        of_shape = farthest(observed[1], drawn_shapes, _LEAST_OF_SHAPE, node.members.size)
        decision = plan.decision(of_gain, of_shape, len(expected))
        if decision or len(expected) >= min(_FEWEST_DRAWS, plan.n_draws):
            yield of_gain.or_by_shape(of_shape), len(expected), decision
            if decision is not None:
                return


def _stream(seed: np.random.SeedSequence, number: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, number))


def _statistics(part: Problem, scores: Array, most: int, begun: Division | None) -> tuple[Array, Array, bool]:
    """Return gains and shape of subjects, and whether their best division into two is the one begun elsewhere."""
    gains, division = profile(part, most)
    is_begun = begun is not None and begun.gain > division.gain
    if begun is not None and is_begun:
        gains[0], division = max(gains[0], begun.gain), begun
    return gains, nulls.shape_of(part, scores, division.labels), is_begun


def farthest(observed: Array, drawn: Array, least: float, n_subjects: int) -> NodeTest:
    """Return the test of statistics (S,) against those of draws (B, S); `least` is the least standard deviation."""
    means, spreads = drawn.mean(axis=0), np.maximum(drawn.std(axis=0, ddof=1), least)
    standard = (observed - means) / spreads
    at = int(standard.argmax())
    # The mean and the standard deviation of the other draws, for each draw.
    n_draws, off = len(drawn), drawn - means
    squares = (n_draws - 1) * drawn.var(axis=0, ddof=1) - off**2 * n_draws / (n_draws - 1)
    of_others = np.maximum(np.sqrt(np.maximum(squares, 0.0) / (n_draws - 2)), least)
    highest = (off * n_draws / (n_draws - 1) / of_others).max(axis=1)
    z = float((standard[at] - highest.mean()) / max(float(highest.std(ddof=1)), least))
    p = max(float(ndtr(-z)), float((highest >= standard[at]).mean()))
    return NodeTest(at + 2, float(observed[at]), float(means[at]), float(spreads[at]), z, p, n_subjects)


def profile(part: Problem, most_clusters: int) -> tuple[Array, Division]:
    """Return the gains G_2, G_3, ... in log joint over one cluster, in nats, float64 (most_clusters - 1,).

    Also the best division into two.
    """
    first = best_division(part)
    if most_clusters == 2 and (first.is_settled or first.gain == -np.inf):
        return np.array([0.0 if first.gain == -np.inf else first.gain]), first
    labels, joint = part.cohort.together, part.joint_of_one
    gains, divisions = list[float](), [first]
    while len(gains) < most_clusters - 1:
        cluster = max(range(len(divisions)), key=lambda k: divisions[k].gain)
        if divisions[cluster].gain == -np.inf:
            break
        divided = labels.copy()  # the second half of the cluster is a new one, the last
        divided[np.flatnonzero(labels == cluster)[divisions[cluster].labels == 1]] = labels.max() + 1
        gain = joint_of(part, divided) - joint
        if gains and gain <= gains[-1]:
            break
        labels = divided
        gains.append(gain)
        if len(gains) < most_clusters - 1:
            halves = [part.restricted_to(np.flatnonzero(labels == half)) for half in (cluster, len(gains))]
            divisions[cluster], after = (best_division(half) for half in halves)
            divisions.append(after)
    gain_of = np.pad(gains or [0.0], (0, most_clusters - 1 - max(len(gains), 1)), mode="edge")
    if gains:
        partition = part.partition(labels)
        visit = Visit(minimum_gain=minimum_gain(part), most_clusters=_NO_NEW_CLUSTER)
        settle_from(part.cohort.arrays, part.model, partition, labels, visit, _POLISHING_SWEEPS)
        gain_of[-1] = max(gain_of[-1], log_joint(part, partition) - joint)
    return gain_of, first


def best_division(part: Problem, given: Labels | None = None) -> Division:
    """Divide subjects into two clusters by sweeps from cuts of their main axis, or from a `given` division (M,).

    After one sweep from each cut, the two with the best log joints go on.
    """
    arrays, together = part.cohort.arrays, part.cohort.together
    if together.size < 2:
        return Division(-np.inf, together)
    if given is None:
        ascending, starts = np.argsort(principal_axis(arrays), kind="stable"), [together.copy() for _ in _CUTS]
        for start, share in zip(starts, _CUTS, strict=True):  # one in each half
            start[ascending[min(max(round(share * start.size), 1), start.size - 1) :]] = 1
    else:
        starts = [given]
    partition, visit = part.work_space, Visit(minimum_gain=minimum_gain(part), most_clusters=_NO_NEW_CLUSTER)

    def after(start: Labels, n_sweeps: int) -> Division:
        is_settled = settle_from(arrays, part.model, partition, start, visit, n_sweeps)
        if partition.n_clusters[0] < 2:
            return Division(-np.inf, together)
        return Division(log_joint(part, partition) - part.joint_of_one, partition.labels.copy(), is_settled)

    begun = sorted((after(start, 1) for start in starts), key=lambda division: division.gain, reverse=True)[:_PURSUED]
    pursued = [after(division.labels, _SWEEPS) for division in begun if division.gain > -np.inf]
    return max(pursued, key=lambda division: division.gain, default=Division(-np.inf, together))


def _divide_like(drawn: Problem, clusters: tuple[Array, Array]) -> Division:
    """Divide drawn subjects beginning from two clusters of the observed ones, of which these are sizes and sums.

    A division that the main axis hides, such as by a value that half of the subjects have, is one of draws too.
    """
    arrays = drawn.cohort.arrays
    there = clusters_without_subjects(arrays, *clusters)
    like_observed = find_best(arrays, drawn.model, there, 0.0, _NO_NEW_CLUSTER, False)
    is_one = like_observed.min() == like_observed.max()
    return Division(-np.inf, like_observed) if is_one else best_division(drawn, like_observed)


def distance_in(problem: Problem, node: Node) -> float:
    """Return how far apart the log odds of the halves of a node are, in standard deviations within them."""
    odds = nulls.log_odds(problem.restricted_to(node.members), node.halves)
    first, second = (odds[node.halves == half] for half in (0, 1))
    return float(abs(second.mean() - first.mean()) / max(np.sqrt((first.var() + second.var()) / 2.0), 1e-12))


class Division(NamedTuple):
    """A division of subjects into two clusters."""

    gain: float
    """Log joint less that of one cluster, in nats; -inf if no two clusters were found."""
    labels: Labels
    """(M,) 0 or 1; all 0 if no two clusters were found."""
    is_settled: bool = False
    """Whether no subject moved in the last sweep."""


# Whether there is a gap between two groups: few subjects between them, along the axis that tells them apart.
#
# The axis is Fisher's linear discriminant of normal scores. Each subject's place on it comes from a discriminant that
# was found without the subject (cross-fitting, ten folds, the mean of three foldings): a division of one population
# looks like a gap to the subjects it was made from, and to no others. Silverman's test (1981, *Using kernel density
# estimates to investigate multimodality*, Journal of the Royal Statistical Society B 43, 97-99) asks whether the
# density of these places has more than one peak: h is the smallest bandwidth at which the estimate has one, and p the
# share of samples from this estimate, rescaled to the variance of the places, that have more at h. A peak counts if 3%
# of the subjects lie between its valleys: outliers are no group.
#
# This p is too large where one tail is long: of the axes of ten skewed severities (60 cohorts each), 1% have a p below
# .05. It is too small where the top is flat, as that of a uniform severity: of 240 cohorts, 9% are below .017. Without
# a long tail, the dip must therefore also be larger than that of most uniform samples (`TAIL_COUNTS`).
#
# The groups are those that are asked about. Divided anew in each fold, two diseases whose severity varies more than
# they differ fall into mild and severe, between which there is no gap.
#
# In normal scores, a small group of high and scattered values has a peak, as liver enzymes in cirrhosis; but ranks
# close a gap that one or two measurements have. Where a third of the features are measurements, it is therefore also
# looked for among these alone, on their own scale: of 30 cohorts of 200 with eight measurements, of which two tell
# groups 4 SD apart, 87% have a gap at .017 so, and 33% in normal scores.
#
# Ranks that pile up, as those of a scale at its floor and its ceiling, have peaks of their own. If more than a third of
# the features are discrete, h or the dip must therefore also exceed those of cohorts drawn from the subjects' own
# distribution, smoothed to one peak (`SmoothedPopulation`), in which the same axis is sought. The dip sees large groups
# (40 cohorts of 400, mixed columns, two groups 4 SD apart: .88, by h .48), h small ones (a tenth 5 SD away: .58, by the
# dip .08). Silverman's p and the dip are each compared with a milder level than alone (`MIXED`).
#
# Missing values blur a place: of groups d apart, the subject whose features hold a share s of d^2 has a log odds whose
# mean is s times that of the others. Its log odds are divided by s, so that each group has one place, and subjects who
# lack much of d^2 are left out.
#
# All p are sequential (Besag and Clifford 1991, *Sequential Monte Carlo p-values*, Biometrika 78, 301-304): draws go on
# while the share that is as extreme is near the level.

_FOLDS = 10
_FOLDINGS = 3
"""How often the subjects are dealt into folds. In 120 cohorts of six kinds, two seeds disagree in 4.4% of verdicts with
one folding, and in 2.2% with three or five; the rates are the same."""
_LEAST_MASS = 0.03
_NARROWEST, _WIDEST, _HALVINGS = 0.02, 2.5, 11
"""Bounds of h in standard deviations, and how often they are halved."""
_MOST_SAMPLES, _NUMBERS_OF_COHORTS = 4999, (10, 20, 30, 40)
"""Numbers of draws: of samples, until the share of extreme ones is 3 standard errors from the level (without any, at
.05, after 181), and of cohorts, until h is 1.5 standard errors from where p would be the level."""
LONG_TAIL = 0.5
"""Absolute skewness of places above which one tail is long."""
TAIL_COUNTS, EITHER_COUNTS = 0.6, 0.83
"""At a level of .03, Silverman's p with a long tail is compared with .05, the smaller p of h and the dip with .036."""
FLAT_TOP = 1.75, 0.1
"""Multiples of Silverman's p without a long tail, and of the p of the dip: at a level of .03, they are compared with
.017 and .3. A dip at .2 or .1 loses groups (3.3 SD, N 400: .90 and .78)."""
MIXED = 1.0, 0.3
"""The same where h is compared with cohorts too: .03 and .1. Of groups as above, a dip at .1 loses none."""
_FEW_DISCRETE = 1.0 / 3.0
"""Share of discrete features up to which they are left out of scores, so that no cohorts need be drawn."""
HEAP, LIMIT = 0.2, 0.05
"""Shares of equal values, and of the lowest or highest one, above which a measurement is a column of levels too: 12
years at school, which half of the people have, or the largest income that was written down, which 14% have."""
_TELLS = 0.2
"""Share of variance within two halves below which a column of levels tells them, and makes a gap by itself, as sex."""
_SAYS_THE_SAME = 0.5  # share of the entropy of a nominal feature that another tells
_LEAST_INFORMATION = 0.8  # least share of d^2 that the features of a subject hold, as a multiple of the median share
_LEAST_MEASURED = 1.0 / 3.0  # least share of measurements among the features
_SHRINKAGE = 0.1
"""Share of the diagonal in the covariance matrix within the two groups (Friedman 1989)."""
_AT_ONCE = 32  # samples that are drawn together
_ENDS = 4.0
"""Robust standard deviations (half the distance of the quantiles .16 and .84) from the median beyond which measurements
are drawn in by logarithms: gross errors would be the axis. Cut there, the highest 7% of incomes would be a peak."""


def places_on_axis(scores: Array, halves: Labels, rng: np.random.Generator) -> tuple[Array, Whole]:
    """Return the place of each subject along the axis between two groups, found without the subject, float64 (M,).

    `scores` are those of the features (M, D), NaN = missing. Also the subjects whose features tell their place.
    """
    filled, information = scores, np.ones(len(scores))
    if np.isnan(scores).any():
        filled, information = with_information(scores, halves)
    filled = np.ascontiguousarray(filled)  # sums along rows depend on the order of memory in the last digits
    least, places = _LEAST_INFORMATION * float(np.median(information)), np.zeros(len(filled))
    for fold in [rng.permutation(len(filled)) % _FOLDS for _ in range(_FOLDINGS)]:
        discriminants = _find_discriminants(filled, halves, fold)
        if discriminants is None:
            return np.zeros(len(filled)), np.arange(len(filled))
        axes, middles, spreads = discriminants
        places += (np.einsum("ij,ij->i", filled, axes[fold]) - middles[fold]) / spreads[fold] / _FOLDINGS
    return places / np.maximum(information, least or 1.0), np.flatnonzero(information >= least)


def with_information(scores: Array, halves: Labels) -> tuple[Array, Array]:
    """Return scores (M, D) less their middle between two halves, missing ones at their expectation within the halves.

    Also the share of the squared distance of the halves that the observed features of each subject have, (M,).
    """
    in_half, observed = np.eye(2)[:, halves], ~np.isnan(scores)
    means = in_half @ np.where(observed, scores, 0.0) / np.maximum(in_half @ observed, 1.0)
    off, apart = np.rint(scores - means[halves]), means[1] - means[0]
    spread = np.maximum(np.sqrt(_variances(off)), 1.0)  # at least one step
    correlation = nulls.nearest_correlation(nulls.reliable_correlations(off))
    within = correlation * spread * spread[:, None]
    expected = nulls.with_expectations(np.where(observed, apart, np.nan), within)
    weights = np.linalg.solve(within, apart)
    information = np.einsum("ij,j->i", expected, weights) / max(float((apart * weights).sum()), 1e-12)
    return np.rint(nulls.with_expectations(scores - means.mean(axis=0), within)), information


def _variances(scores: Array) -> Array:
    """Return the variance of the observed scores (M, D) of each column, float64 (D,); 0 without any."""
    observed = ~np.isnan(scores)
    counts = np.maximum(observed.sum(axis=0), 1.0)
    means = np.where(observed, scores, 0.0).sum(axis=0) / counts
    return np.asarray((np.where(observed, scores - means, 0.0) ** 2).sum(axis=0) / counts)


def _find_discriminants(scores: Array, halves: Labels, fold: Labels) -> tuple[Array, Array, Array] | None:
    """Return the discriminant axis of two halves without each fold (F, D), their middle on it and the spread within.

    Sums of whole steps are exact, so that those of a fold can be subtracted. None if a half lies in one fold.
    """
    groups = 2 * fold + halves
    order, sizes = np.argsort(groups, kind="stable"), np.bincount(groups, minlength=2 * _FOLDS)
    padded = np.zeros((_FOLDS, 2, sizes.max(), scores.shape[1]))
    places = np.arange(order.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    padded[fold[order], halves[order], places] = scores[order]
    of_folds = sizes.reshape(_FOLDS, 2), padded.sum(axis=2), padded.transpose(0, 1, 3, 2) @ padded
    counts, sums, products = (moments.sum(axis=0) - moments for moments in of_folds)
    if counts.min() == 0:
        return None
    means = sums / counts[:, :, None]
    within = (products - means[..., None] * sums[:, :, None]).sum(axis=1)
    within /= np.maximum(counts.sum(axis=1) - 2.0, 1.0)[:, None, None]
    diagonals = _SHRINKAGE * np.diagonal(within, axis1=1, axis2=2) + 1e-9
    within = (1.0 - _SHRINKAGE) * within + diagonals[:, None] * np.eye(within.shape[1])
    apart = means[:, 1] - means[:, 0]
    axes = np.linalg.solve(within, apart[:, :, None])[:, :, 0]
    spreads = np.maximum(np.sqrt((axes * apart).sum(axis=1)), 1e-12)
    return axes, (axes * means.sum(axis=1)).sum(axis=1) / 2.0, spreads


def distance_between(columns: Array, halves: Labels, rng: np.random.Generator) -> float:
    """Return how far apart two halves, int64 (M,), are on the axis between them, in standard deviations within them."""
    places, _ = places_on_axis(columns, halves, rng)
    first, second = (places[halves == half] for half in (0, 1))
    return float((second.mean() - first.mean()) / max(np.sqrt((first.var() + second.var()) / 2.0), 1e-12))


def p_of_one_peak(places: Array, rng: np.random.Generator, level: float = 0.05) -> float:
    """Return Silverman's p of one peak of places (M,)."""
    spread = float(places.std())
    if spread <= 0.0:
        return 1.0
    x = (places - places.mean()) / spread
    h = critical_bandwidth(x)

    def numbers_of_peaks() -> Iterator[int]:
        while True:
            samples = x[rng.integers(x.size, size=(_AT_ONCE, x.size))]
            means = samples.mean(axis=1, keepdims=True)
            samples = means + (samples - means + h * rng.standard_normal(samples.shape)) / np.sqrt(1.0 + h**2)
            yield from (count_peaks(sample, h, _LEAST_MASS) for sample in samples)

    return share_as_extreme(numbers_of_peaks(), 2, level)


def share_as_extreme(draws: Iterable[float], observed: float, level: float) -> float:
    """Return the share of draws not below what was observed, of as many as tell it from the level."""
    n_extreme = 0
    for n_drawn, drawn in enumerate(islice(draws, _MOST_SAMPLES), start=1):
        n_extreme += drawn >= observed
        expected = level * n_drawn
        if abs(n_extreme - expected) > 3.0 * np.sqrt(max(n_extreme, expected)):
            break
    return (n_extreme + 1) / (n_drawn + 1)


def p_of_flat_top(places: Array, rng: np.random.Generator, level: float) -> float:
    """Return the share of uniform samples with as large a dip as places (M,)."""
    observed = dip(np.sort(places))
    return share_as_extreme((dip(np.sort(rng.random(places.size)), observed) for _ in count()), observed, level)


def p_of_no_gap(places: Array, rng: np.random.Generator, level: float, counts: tuple[float, float] = FLAT_TOP) -> float:
    """Return p of no gap among places (M,), at this level (`TAIL_COUNTS`, `FLAT_TOP`)."""
    from_mean = places - places.mean()
    has_tail = abs(float((from_mean**3).mean())) > LONG_TAIL * float(from_mean.std()) ** 3
    of_peaks = TAIL_COUNTS if has_tail else counts[0]
    p = min(of_peaks * p_of_one_peak(places, rng, level / of_peaks), 1.0)
    return p if has_tail or p >= level else max(p, counts[1] * p_of_flat_top(places, rng, level / counts[1]))


def critical_bandwidth(x: Array) -> float:
    """Return the smallest bandwidth at which the density estimate of standardised places (M,) has one peak."""
    low, high = _NARROWEST, _WIDEST
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if count_peaks(x, middle, _LEAST_MASS) <= 1 else (middle, high)
    return high


def p_of_gap(part: Problem, halves: Labels, rng: np.random.Generator, level: float) -> float:
    """Return p of no gap along the axis between two halves, (M,), in normal scores; above the level, of places only."""
    discrete, scores, nominal = is_discrete(part.cohort), nulls.scores_of(part.cohort), nulls.are_nominal(part.cohort)
    places, clear = places_on_axis(find_telling_scores(scores, discrete, nominal, halves), halves, rng)
    p = p_of_no_gap(places[clear], rng, level, FLAT_TOP if are_few(discrete) else MIXED)
    if are_few(discrete) or p >= level:
        return p
    straight = nulls.one_population(part, rng)
    # Levels drawn given those of another nominal feature bring back peaks that were smoothed away, unless both say
    # nearly the same: a race that is Hispanic, and a column of Hispanic origins.
    links = tuple(column for column in straight.nominal if not nominal[column.parent] or column.share > _SAYS_THE_SAME)
    of_one_peak = nulls.smoothed_population(replace(straight, nominal=links), rng)
    clusters = part.partition(halves).sums

    def draw_without_gap() -> Iterator[tuple[float, float]]:
        while True:
            drawn, scores = of_one_peak.draw(rng)
            alike = _divide_like(drawn, clusters)
            parts = (alike if alike.gain > -np.inf else best_division(drawn)).labels
            telling = find_telling_scores(scores, discrete, nominal, parts)
            yield _bandwidth_and_dip(*places_on_axis(telling, parts, rng))

    observed = np.array(_bandwidth_and_dip(places, clear))
    return max(p, EITHER_COUNTS * p_of_either(observed, draw_without_gap(), level / EITHER_COUNTS))


def _bandwidth_and_dip(places: Array, clear: Whole) -> tuple[float, float]:
    """Return the square of h, in standard deviations, and the dip of clear places."""
    x = np.sort(places[clear] - places[clear].mean())
    return critical_bandwidth(x / max(float(x.std()), 1e-9)) ** 2, dip(x)


def p_of_either(observed: Array, drawn: Iterator[tuple[float, float]], level: float) -> float:
    """Return the smaller p of h^2 and the dip, (2,), among those of cohorts without a gap, which are about normal.

    In 17 divisions, 300 cohorts each, the quantile .95 of h^2 is 1.3 to 1.8 standard deviations above the mean.
    """
    of_cohorts, at_level = list[tuple[float, float]](), -float(ndtri(level))
    for n in _NUMBERS_OF_COHORTS:
        of_cohorts += islice(drawn, n - len(of_cohorts))
        spreads = np.maximum(np.std(of_cohorts, axis=0, ddof=1), 1e-9)
        t = float(((observed - np.mean(of_cohorts, axis=0)) / spreads).max()) / np.sqrt(1.0 + 1.0 / n)
        if abs(t - at_level) > 1.5 * np.sqrt((1.0 + at_level**2 / 2.0) / n):
            break
    return float(stdtr(n - 1, -t))


def is_discrete(cohort: EncodedCohort) -> Mask:
    """Return whether each feature is discrete, has a discrete part, or piles up at a value (`HEAP`, `LIMIT`), (D,)."""
    n_discrete = cohort.arrays.codes.shape[1]
    discrete = [min(parts) < n_discrete for parts in nulls.parts_of_columns(cohort)]
    for place, column in enumerate(nulls.whole_columns(cohort).T):
        times = np.unique(column[~np.isnan(column)], return_counts=True)[1]
        at_limit, n = max(times[:1].sum(), times[-1:].sum()), times.sum()
        discrete[place] |= bool(times.max(initial=0) > HEAP * n or at_limit > LIMIT * n)
    return np.array(discrete)


def are_few(discrete: Mask) -> bool:
    """Return whether few features are discrete, (D,): these are left out, and a gap is judged without cohorts."""
    return bool(discrete.mean() <= _FEW_DISCRETE)


def are_measurements(discrete: Mask) -> bool:
    """Return whether enough features are no discrete ones, (D,), for a gap to be looked for among these alone."""
    return bool(np.mean(~discrete) >= _LEAST_MEASURED)


def find_telling_scores(scores: Array, discrete: Mask, nominal: Mask, halves: Labels) -> Array:
    """Return the scores (M, D) in which a gap between two halves, int64 (M,), is looked for.

    Without discrete features, (D,), if they are few. Else each level of a nominal feature but the last has a column,
    and the column of levels that tells the halves nearly is left out (`_TELLS`).
    """
    if are_few(discrete):
        return scores[:, ~discrete]
    columns, are_discrete = list[Array](), list[bool]()
    for column, is_of_levels, has_no_order in zip(scores.T, discrete.tolist(), nominal.tolist(), strict=True):
        levels = np.unique(column[~np.isnan(column)])[:-1] if has_no_order else column[:0]
        apart = [np.where(np.isnan(column), np.nan, nulls.SCORE_STEPS * (column == level)) for level in levels]
        columns += apart or [column]
        are_discrete += [is_of_levels] * (len(columns) - len(are_discrete))
    scores = np.column_stack(columns)
    scattered, *within = (_variances(part) * len(part) for part in (scores, scores[halves == 0], scores[halves == 1]))
    share = np.where(np.array(are_discrete) & (scattered > 0.0), sum(within) / np.maximum(scattered, 1e-12), 1.0)
    return np.delete(scores, share.argmin(), axis=1) if share.min() < _TELLS and share.size > 1 else scores


def scores_on_own_scales(cohort: EncodedCohort, discrete: Mask) -> Array:
    """Return the features of a cohort, float64 (N, D), NaN = missing: measurements on their own scale, else ranks.

    Measurements far from the median are drawn in, and all are standardised; of other features these are normal scores.
    """
    scores = nulls.whole_columns(cohort)
    for place, column in enumerate(map(np.ascontiguousarray, scores.T)):
        if discrete[place] or np.isnan(column).all():
            scores[:, place] = nulls.normal_scores(column)
            continue
        low, middle, high = np.nanquantile(column, [0.16, 0.5, 0.84])
        off = (column - middle) / ((high - low) / 2.0 or np.nanstd(column) or 1.0)
        beyond = np.maximum(np.abs(off) - _ENDS, 0.0)
        drawn_in = off - np.sign(off) * (beyond - np.log1p(beyond))
        scores[:, place] = nulls.in_score_steps((drawn_in - np.nanmean(drawn_in)) / (np.nanstd(drawn_in) or 1.0))
    return scores


def find_scales(part: Problem, halves: Labels) -> list[Array]:
    """Return the scores (M, D) in which there may be a gap between two halves: on own scales, and normal ones."""
    discrete, nominal = is_discrete(part.cohort), nulls.are_nominal(part.cohort)
    both = scores_on_own_scales(part.cohort, discrete), nulls.scores_of(part.cohort)
    return [find_telling_scores(scores, discrete, nominal, halves) for scores in both]


def p_of_gap_in_measurements(part: Problem, halves: Labels, rng: np.random.Generator, level: float) -> float:
    """Return p of no gap along the axis between two halves, on the own scale of measurements; 1 with too few."""
    discrete = is_discrete(part.cohort)
    if not are_measurements(discrete):
        return 1.0
    scores = scores_on_own_scales(part.cohort, discrete)[:, ~discrete]
    places, clear = places_on_axis(scores, halves, rng)
    return p_of_no_gap(places[clear], rng, level)


def p_of_gap_between(problem: Problem, node: Node, seed: np.random.SeedSequence, level: float) -> float:
    """Return p of no gap between the halves of a node, in measurements or else in scores; coarsening is 1."""
    rng = np.random.default_rng(seed)
    node = node.sample(LARGEST_NODE, rng)
    part = problem.restricted_to(node.members)
    p = p_of_gap_in_measurements(part, node.halves, rng, level)
    return p if p < level else min(p, p_of_gap(part, node.halves, rng, level))
