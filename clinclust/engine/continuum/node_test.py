"""The test of one node of a merge tree: whether its split gains more than it would in one continuous population.

This is the question of SigClust (Liu, Hayes, Nobel and Marron 2008, *Statistical significance of clustering for high
dimension, low sample size data*), asked along a tree (Kimes, Liu, Hayes and Marron 2017, *Statistical significance for
hierarchical clustering*). There the one population is Gaussian. Here it is a Gaussian copula with the margins, the
correlations and the missing values of the subjects.

G_k is the gain of the best division into k clusters, k = 2 .. k_max (`profile`), g_2 that of the best division into two
(also from the tree's own), and S_bk the gain in draw b of the one population, with mean m_k and standard deviation s_k:

    T = max(max_k (G_k - m_k) / s_k, (g_2 - m_2) / s_2),   M_b = max_k (S_bk - m_k) / s_k
    z = (T - mean of M) / (standard deviation of M),        p = 1 - Phi(z), but at least the share of M_b >= T

The last bound matters where few draws gain anything, so that M is far from normal.

The draws end early where more of them would not change the decision: after 20 and after 50, if z lies further from the
value at which p is the significance level than 4.5 times its own standard error. After B draws, this is about
((1 + z^2 / 2) / B)^(1/2), as m, s and the moments of M are means over the draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from clinclust.engine.continuum.divisions import best_division
from clinclust.engine.continuum.null_cohorts import OnePopulation, one_population
from clinclust.engine.continuum.profile import profile
from clinclust.engine.search.settle import minimum_gain
from clinclust.engine.search.threads import SearchCancelled, Threads

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["LARGEST_NODE", "SMALLEST_NODE", "DrawPlan", "Node", "NodeTest", "against_one_population", "compared"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

SMALLEST_NODE = 10
"""Number of subjects below which a node is not tested."""
LARGEST_NODE = 5000
"""Number of subjects above which a node is tested in a sample of this size."""
_FEWEST_CLUSTERS, _MOST_CLUSTERS = 3, 8
"""Bounds of k_max."""
_CHECKPOINTS = (20, 50)
"""Numbers of draws after which a test may end. They are fixed, so that the threads do not change the result."""
_STANDARD_ERRORS = 4.5
"""Distance of z from its value at the level, in standard errors, from which on a test ends early."""
_LEAST_SPREAD = 0.1
"""Standard deviation of gains, in nats, below which no test ends early: a rare gain may come."""
_NODE, _DRAW = 0, 1
"""Spawn keys of the random numbers of the node itself and of its first draw."""


@dataclass(frozen=True)
class NodeTest:
    """The result of the test of one node.

    Attributes
    ----------
    n_parts : int
        The k at which the gain exceeds its expectation most.
    gain : float
        G_k, or g_2, at this k, in nats.
    expected, expected_sd : float
        m_k and s_k at this k, in nats.
    z, p : float
    """

    n_parts: int
    gain: float
    expected: float
    expected_sd: float
    z: float
    p: float

    @property
    def excess(self) -> float:
        """Nats by which the gain exceeds its expectation in one population."""
        return self.gain - self.expected


@dataclass(frozen=True)
class Node:
    """A node of a merge tree.

    Attributes
    ----------
    members : int64 (M,)
        The subjects below the node, in encoded order.
    halves : int64 (M,)
        0 or 1: the two sides of the join.
    n_clusters : int
        Number of clusters of the fit below the node.
    """

    members: Labels
    halves: Labels
    n_clusters: int

    def sample(self, rng: np.random.Generator) -> Node:
        """Return the node as it is, or with a sample of the largest number of subjects that are tested."""
        if self.members.size <= LARGEST_NODE:
            return self
        chosen = np.sort(rng.choice(self.members.size, LARGEST_NODE, replace=False))
        return Node(self.members[chosen], self.halves[chosen], self.n_clusters)


@dataclass(frozen=True)
class DrawPlan:
    """How nodes are tested.

    Attributes
    ----------
    n_draws : int
        Largest number of cohorts drawn from the one population of a node.
    significance_level : float
        The level of each test: the draws end early where p is far from it.
    null : str
        The kind of one population (`NULLS`).
    pool : Threads
    cancelled : threading.Event
        When it is set, no further draw is made.
    advance : callable
        Called after each draw.
    """

    n_draws: int
    significance_level: float
    null: str
    pool: Threads
    cancelled: Event
    advance: Callable[[], object]

    def batches(self) -> Iterator[range]:
        """Yield the numbers of the draws up to each checkpoint."""
        first = 0
        for last in (*(number for number in _CHECKPOINTS if number < self.n_draws), self.n_draws):
            yield range(first, last)
            first = last

    def is_decided(self, found: NodeTest, n_draws: int) -> bool:
        """Return whether draws beyond these would not change on which side of the level p lies."""
        critical = -ndtri(self.significance_level)
        error = np.sqrt((1.0 + 0.5 * found.z**2) / n_draws)
        return bool(found.expected_sd > _LEAST_SPREAD and abs(found.z - critical) > _STANDARD_ERRORS * error)


def against_one_population(problem: Problem, node: Node, plan: DrawPlan, seed: np.random.SeedSequence) -> NodeTest:
    """Test whether the subjects of a node are more than one continuous population.

    Parameters
    ----------
    problem : Problem
        Problem of all subjects, at coarsening 1.
    node : Node
    plan : DrawPlan
    seed : SeedSequence
        Seed of this node. Every draw has a stream of its own, so that the threads do not change it.

    Raises
    ------
    SearchCancelled
        If the plan is cancelled.
    """
    most = min(max(node.n_clusters, _FEWEST_CLUSTERS), _MOST_CLUSTERS)
    rng = np.random.default_rng(_stream(seed, _NODE))
    node = node.sample(rng)
    part = problem.restricted_to(node.members, 0)
    population = one_population(part, plan.null, rng)
    gains = plan.pool.submit(_of_subjects, part, node.halves, most, rng)
    draw = partial(_of_draw, population, most, plan.cancelled)
    expected: list[Array] = []
    for batch in plan.batches():
        drawn = [plan.pool.submit(draw, _stream(seed, _DRAW + number)) for number in batch]
        for one in drawn:
            expected.append(one.result())
            plan.advance()
        found = compared(*gains.result(), np.array(expected), minimum_gain(part))
        if plan.is_decided(found, len(expected)):
            break
    return found


def _stream(seed: np.random.SeedSequence, number: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, number))


def _of_subjects(part: Problem, halves: Labels, most: int, rng: np.random.Generator) -> tuple[Array, float]:
    """Return the profile of the subjects, and the gain of their best two-way division, also from that of the tree."""
    return profile(part, most, rng), best_division(part, rng, halves).gain


def _of_draw(population: OnePopulation, most: int, cancelled: Event, seed: np.random.SeedSequence) -> Array:
    """Return the profile of a cohort drawn from one population."""
    if cancelled.is_set():
        raise SearchCancelled("the test was cancelled")
    rng = np.random.default_rng(seed)
    return profile(population.draw(rng), most, rng)


def compared(observed: Array, two_way: float, expected: Array, least: float) -> NodeTest:
    """Return the test of a profile and a best two-way gain against the profiles of draws.

    Parameters
    ----------
    observed : float64 (k_max - 1,)
        G_2 .. G_kmax in nats.
    two_way : float
        g_2, in nats.
    expected : float64 (B, k_max - 1)
        S_bk, in nats.
    least : float
        Nats that count as a rounding error: the least standard deviation.
    """
    means, spreads = expected.mean(axis=0), np.maximum(expected.std(axis=0, ddof=1), least)
    gains = observed.copy()
    gains[0] = max(gains[0], two_way)
    standard = (gains - means) / spreads
    at = int(standard.argmax())
    highest = ((expected - means) / spreads).max(axis=1)
    z = float((standard[at] - highest.mean()) / max(float(highest.std(ddof=1)), least))
    return NodeTest(
        n_parts=at + 2,
        gain=float(gains[at]),
        expected=float(means[at]),
        expected_sd=float(spreads[at]),
        z=z,
        p=max(float(ndtr(-z)), float((highest >= standard[at]).mean())),
    )
