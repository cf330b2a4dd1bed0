"""The test of one node of a merge tree: whether its split gains more than it would in one continuous population.

SigClust (Liu, Hayes, Nobel and Marron 2008) asked along a tree (Kimes, Liu, Hayes and Marron 2017, *Statistical
significance for hierarchical clustering*), with a Gaussian copula of the subjects' margins, correlations and missing
values as the one population.

G_k is the gain of the best division into k clusters, k = 2 .. k_max (`profile`), g_2 that of the best division into two
(also from the tree's own), and S_bk the gain in draw b of the one population, with mean m_k and standard deviation s_k:

    T = max(max_k (G_k - m_k) / s_k, (g_2 - m_2) / s_2),   M_b = max_k (S_bk - m_bk) / s_bk
    z = (T - mean of M) / (standard deviation of M),        p = 1 - Phi(z), but at least the share of M_b >= T

with m_bk and s_bk those of the other draws, so that M_b varies as T does in one population. The last bound matters
where few draws gain anything, so that M is far from normal. The statistics of shape (`shape_of`) are compared in the
same way. The p of the node is the smaller of that of the gains and twice that of the shape.

The standard error of z is about ((1 + z^2 / 2) / B)^(1/2) after B draws, so that all B_max draws would change it by

    e = [(1 + z^2 / 2) (1 / B - 1 / B_max)]^(1/2).

The draws end early if one z is above its value at the level, or all are below, by 2.75 e. A node of 2,000 subjects or
more is tested in 500 of them first, with 20 draws, and in more of them only if no z is so far above.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import attrgetter
from threading import Event
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from clinclust.arrays import Array, Labels
from clinclust.engine.continuum.gap import p_of_gap, p_of_gap_in_measurements
from clinclust.engine.continuum.null_cohorts import (
    OnePopulation,
    log_odds,
    one_population,
    shape_of,
    smoothed_population,
)
from clinclust.engine.kernels.moves import Partition, accumulate, relabel
from clinclust.engine.kernels.sweep import make_moves
from clinclust.engine.problem.encoding import principal_axis
from clinclust.engine.problem.problem import Problem, joint_of, log_joint
from clinclust.engine.search.plan import SearchCancelled
from clinclust.engine.search.settle import minimum_gain

_CUTS = (0.5, 0.1, 0.9)
"""Quantiles of the principal axis at which a division begins: the middle, and small subtypes at either end."""
_PURSUED, _SWEEPS = 2, 7
"""How many divisions go on after their first sweep, and for how many sweeps at most."""
_NO_NEW_CLUSTER = 1
"""Value of `most_clusters` at which no subject opens a cluster."""
_POLISHING_SWEEPS = 4
SMALLEST_NODE = 10
"""Number of subjects below which a node is not tested."""
LARGEST_NODE = 5000
"""Number of subjects above which a node is tested in a sample of this size."""
MANY, FIRST_SAMPLE, _FIRST_BATCHES = 2000, 500, 2
"""Number of subjects from which on a node is tested in a sample of the second size first: most are clear there; and the
number of batches of draws of such a test."""
_MOST_CLUSTERS = 8
"""Largest k_max. Of a node of two clusters it is two: in 600 cohorts of ten kinds no verdict differs from that with
three, which costs two thirds more."""
_CHECKPOINTS = (10, 20, 30, 40, 50, 70, 100, 140)
"""Numbers of draws after which a test may end: fixed, so that the threads do not change the result."""
_STANDARD_ERRORS = 2.75
"""How far z is from its value at the level where a test ends early, in standard deviations of what would change it."""
_LEAST_SPREAD = 0.1
"""Standard deviation of gains, in nats, below which no test ends early: a rare gain may come."""
_SHAPE_COUNTS = 2.0
"""Multiple of the p of the shape in that of a node: it divides at half of the level, so that with the gain, which is
far below the level in one population, the level holds."""
_LEAST_OF_SHAPE = 1e-3
"""Least standard deviation of a statistic of shape."""
_NODE, _DRAW, _FEW = 0, 1, 1 << 20
"""Spawn keys of the random numbers of the node itself, of its first draw, and of the first sample."""
_POPULATION = 1933
"""Seed of the normal draws with which the population is found."""


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

    @property
    def excess(self) -> float:
        """The gain less its expectation in one population, in nats."""
        return self.gain - self.expected


class Farthest(NamedTuple):
    """The statistic that lies farthest above its expectation in one population, and its test."""

    at: int
    observed: float
    z: float
    p: float
    mean: float
    spread: float


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
        """Yield the numbers of the draws up to each checkpoint."""
        first = 0
        for last in (*(number for number in _CHECKPOINTS if number < self.n_draws), self.n_draws):
            yield range(first, last)
            first = last

    def decision(self, of_gain: Farthest, of_shape: Farthest, n_draws: int) -> bool | None:
        """Return whether p is below the level if more draws would not change this, else None."""
        if of_gain.spread <= _LEAST_SPREAD:
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
    if node.members.size >= MANY and plan.n_draws > _CHECKPOINTS[_FIRST_BATCHES - 1]:
        few = node.sample(FIRST_SAMPLE, np.random.default_rng(_stream(seed, _FEW)))
        *_, (found, decision) = islice(_tested(problem, few, most, plan, seed), _FIRST_BATCHES)
        if decision:
            yield found, True
            return
    node = node.sample(LARGEST_NODE, np.random.default_rng(_stream(seed, _NODE)))
    for batch, (found, decision) in zip(plan.batches(), _tested(problem, node, most, plan, seed), strict=False):
        yield found, decision is not None or batch.stop == plan.n_draws


def _tested(
    problem: Problem, node: Node, most: int, plan: DrawPlan, seed: np.random.SeedSequence
) -> Iterator[tuple[NodeTest, bool | None]]:
    """Yield the test of a node among all its subjects after each batch, and the decision of its plan."""
    part = problem.restricted_to(node.members)
    # The population is one whatever the seed: verdicts would change more with its seed than with those of the draws.
    rng = np.random.default_rng(_POPULATION)
    population = one_population(part, rng)
    if plan.any_shape:
        population = smoothed_population(population, rng)
    gains = plan.pool.submit(_of_subjects, part, population.scores, node.halves, most)
    draw = partial(_of_draw, population, most, plan.cancelled)
    expected: list[tuple[Array, Array]] = []
    for batch in plan.batches():
        drawn = [plan.pool.submit(draw, _stream(seed, _DRAW + number)) for number in batch]
        for one in drawn:
            expected.append(one.result())
            plan.advance()
        of_gain, of_shape = compared(*gains.result(), expected, minimum_gain(part))
        decision = plan.decision(of_gain, of_shape, len(expected))
        yield node_test(of_gain, of_shape, node.members.size), decision
        if decision is not None:
            return


def node_test(of_gain: Farthest, of_shape: Farthest, n_subjects: int) -> NodeTest:
    """Return the test of a node by the tests of its gains and of its shape among this number of subjects."""
    by_shape = _SHAPE_COUNTS * of_shape.p
    return NodeTest(
        n_parts=of_gain.at + 2,
        gain=of_gain.observed,
        expected=of_gain.mean,
        expected_sd=of_gain.spread,
        z=of_gain.z if of_gain.p <= by_shape else of_shape.z,
        p=min(of_gain.p, by_shape, 1.0),
        n_subjects=n_subjects,
    )


def _stream(seed: np.random.SeedSequence, number: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, number))


def _of_subjects(part: Problem, scores: Array, halves: Labels, most: int) -> tuple[Array, Array]:
    gains, division = profile(part, most)
    given = best_division(part, halves) if 0 < halves.sum() < halves.size else division
    if given.gain > division.gain:
        gains[0], division = max(gains[0], given.gain), given
    return gains, shape_of(part, scores, division.labels)


def _of_draw(
    population: OnePopulation, most: int, cancelled: Event, seed: np.random.SeedSequence
) -> tuple[Array, Array]:
    if cancelled.is_set():
        raise SearchCancelled("the test was cancelled")
    drawn, scores = population.draw(np.random.default_rng(seed))
    gains, division = profile(drawn, most)
    return gains, shape_of(drawn, scores, division.labels)


def farthest(observed: Array, drawn: Array, least: float) -> Farthest:
    """Return the test of statistics (S,) against those of draws (B, S); `least` is the least standard deviation."""
    means, spreads = drawn.mean(axis=0), np.maximum(drawn.std(axis=0, ddof=1), least)
    standard = (observed - means) / spreads
    at = int(standard.argmax())
    # The mean and the standard deviation of the other draws, for each draw.
    n_draws, off = len(drawn), drawn - means
    left = (n_draws - 1) * drawn.var(axis=0, ddof=1) - off**2 * n_draws / (n_draws - 1)
    of_others = np.maximum(np.sqrt(np.maximum(left, 0.0) / (n_draws - 2)), least)
    highest = (off * n_draws / (n_draws - 1) / of_others).max(axis=1)
    z = float((standard[at] - highest.mean()) / max(float(highest.std(ddof=1)), least))
    p = max(float(ndtr(-z)), float((highest >= standard[at]).mean()))
    return Farthest(at, float(observed[at]), z, p, float(means[at]), float(spreads[at]))


def compared(
    observed: Array, shape: Array, drawn: Sequence[tuple[Array, Array]], least: float
) -> tuple[Farthest, Farthest]:
    """Return the tests of a profile (k_max - 1,) and of a shape (S,) against those of draws.

    `least` is the least standard deviation of a gain, in nats.
    """
    gains, shapes = (np.array(each) for each in zip(*drawn, strict=True))
    return farthest(observed, gains, least), farthest(shape, shapes, _LEAST_OF_SHAPE)


def profile(part: Problem, most_clusters: int) -> tuple[Array, Division]:
    """Return the gains G_2, G_3, ... in log joint over one cluster, in nats, float64 (most_clusters - 1,).

    Also the best division into two.
    """
    labels, one = part.cohort.together, joint_of(part, part.cohort.together)
    gains: list[float] = []
    first = best_division(part)
    divisions = [first]
    while len(gains) < most_clusters - 1:
        cluster = max(range(len(divisions)), key=lambda k: divisions[k].gain)
        if divisions[cluster].gain == -np.inf:
            break
        divided = labels.copy()  # the second half of the cluster is a new one, the last
        divided[np.flatnonzero(labels == cluster)[divisions[cluster].labels == 1]] = labels.max() + 1
        gain = joint_of(part, divided) - one
        if gains and gain <= gains[-1]:
            break
        labels = divided
        gains.append(gain)
        if len(gains) < most_clusters - 1:
            halves = [part.restricted_to(np.flatnonzero(labels == half)) for half in (cluster, len(gains))]
            divisions[cluster], after = (best_division(half) for half in halves)
            divisions.append(after)
    found = np.array(gains or [0.0])
    found = np.concatenate([found, np.full(most_clusters - 1 - found.size, found[-1])])
    if gains:
        found[-1] = max(found[-1], log_joint(part, swept(part, part.partition(labels), _POLISHING_SWEEPS)) - one)
    return found, first


def best_division(part: Problem, given: Labels | None = None) -> Division:
    """Divide subjects into two clusters by sweeps from cuts of their main axis, or from a `given` division (M,).

    After one sweep from each cut, the two with the best log joints go on.
    """
    arrays, together = part.cohort.arrays, part.cohort.together
    if together.size < 2:
        return Division(-np.inf, together)
    if given is None:
        ranks = np.argsort(np.argsort(principal_axis(arrays), kind="stable"))
        n_below = [min(max(round(share * ranks.size), 1), ranks.size - 1) for share in _CUTS]  # one in each half
        starts = [(ranks >= n).astype(np.int64) for n in n_below]
    else:
        starts = [given]
    one, partition = joint_of(part, together), part.partition(starts[0])

    def after(start: Labels, n_sweeps: int) -> Division:
        relabel(arrays, partition, start)
        swept(part, partition, n_sweeps)
        if partition.n_clusters[0] < 2:
            return Division(-np.inf, together)
        return Division(log_joint(part, partition) - one, partition.labels.copy())

    begun = sorted((after(start, 1) for start in starts), key=_gain, reverse=True)[:_PURSUED]
    pursued = [after(division.labels, _SWEEPS) for division in begun if division.gain > -np.inf]
    return max(pursued, key=_gain, default=Division(-np.inf, together))


def distance_in(problem: Problem, node: Node) -> float:
    """Return how far apart the log odds of the halves of a node are, in standard deviations within them."""
    odds = log_odds(problem.restricted_to(node.members), node.halves)
    means, variances = zip(
        *((of.mean(), of.var()) for of in (odds[node.halves == 0], odds[node.halves == 1])), strict=True
    )
    return float(abs(means[1] - means[0]) / max(np.sqrt(np.mean(variances)), 1e-12))


def p_of_gap_in(
    problem: Problem, node: Node, seed: np.random.SeedSequence, level: float, *, in_measurements: bool = False
) -> float:
    """Return p of no gap along the axis between the halves of a node of a problem at coarsening 1 (`p_of_gap`).

    In normal scores of all features or, with `in_measurements`, on the own scale of measurements.
    """
    rng = np.random.default_rng(seed)
    node = node.sample(LARGEST_NODE, rng)
    part = problem.restricted_to(node.members)
    if in_measurements:
        return p_of_gap_in_measurements(part.cohort, node.halves, rng, level)
    return p_of_gap(one_population(part, rng), node.halves, lambda drawn: best_division(drawn).labels, rng, level)


class Division(NamedTuple):
    """A division of subjects into two clusters."""

    gain: float
    """Log joint less that of one cluster, in nats; -inf if no two clusters were found."""
    labels: Labels
    """(M,) 0 or 1; all 0 if no two clusters were found."""


_gain = attrgetter("gain")


def swept(part: Problem, partition: Partition, most_sweeps: int) -> Partition:
    """Sweep a partition, in place, and return it: no cluster opens, and it ends when no subject moves."""
    arrays, order, least = part.cohort.arrays, np.arange(partition.labels.size), minimum_gain(part)
    for sweep in range(most_sweeps):
        _, moves = make_moves(
            arrays,
            part.model,
            partition,
            order,
            minimum_gain=least,
            most_clusters=_NO_NEW_CLUSTER,
            up_to_date=sweep > 0,
        )
        if moves == 0:
            break
    accumulate(arrays, partition)  # moves add and subtract, which changes the last digits of sums
    return partition
