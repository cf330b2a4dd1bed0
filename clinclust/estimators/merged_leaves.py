"""Leaves of a tested tree that lie on different branches and are one continuum: they are merged.

A tree that merges the nearest clusters can divide by severity first and by disease then. The walk from the root then
ends at slices of the diseases: the mild and the severe of one disease lie on different branches. Sides are tested
together as a join of the tree is, and those that are most clearly one continuum are joined, until none are.

Pairs are not enough. A slice ends abruptly where the next begins, so that two slices of one continuum are a population
with an edge, which no normal severity has, while all slices together are the continuum. Unions of several sides are
therefore tested as well, if they hang together by pairs that are not parted widely: all of them if the sides are few,
else those that leave out one or two sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from clinclust.engine.continuum.node_test import SMALLEST_NODE, DrawPlan, Node, NodeTest, against_one_population
from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.search.split_merge import merge_gains
from clinclust.estimators.fitted_problem import fitted_problem

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.fit import Fit
    from clinclust.estimators.subtype_tree import SubtypeTree

__all__ = ["PairTests", "leaves_merged"]

Side: TypeAlias = frozenset[int]
"""Clusters of the fit."""

_BRANCH = 1416
"""Spawn key of the random draws, which keeps them independent of those of the search."""
_NEAREST = 3
"""Number of nearest sides with which each side is tested."""
_FEW = 5
"""Number of sides up to which all unions are tested."""
_LEFT_OUT = (1, 2)
"""Numbers of sides that a union leaves out where the sides are more than that."""
_NEAR = 6.0
"""The z below which two sides may be neighbouring slices: 1.8 to 3.6 in simulated cohorts, and 10 for distant ones."""
_MANY = 7
"""Number of sides above which only pairs are tested."""


class PairTests:
    """The tests of the unions of two sides, each made once.

    Parameters
    ----------
    fit : Fit
    cohort : DataFrame, N rows
        The cohort of the fit, as `cohort_of` returns it.
    plan : DrawPlan
    seed : int
    """

    def __init__(self, fit: Fit, cohort: pd.DataFrame, plan: DrawPlan, seed: int) -> None:
        self.problem = fitted_problem(fit, cohort, coarsening=1.0)
        self.labels = fit.cluster_labels_[self.problem.cohort.order]
        self.plan, self.seed = plan, seed
        self._found: dict[tuple[frozenset[Side], str], NodeTest] = {}

    def node(self, first: Side, second: Side) -> Node:
        """Return the subjects of two sides."""
        members = np.flatnonzero(np.isin(self.labels, list(first | second)))
        halves = np.isin(self.labels[members], list(second)).astype(np.int64)
        return Node(members, halves, len(first | second))

    def test(self, first: Side, second: Side, number: int | None = None, null: str | None = None) -> NodeTest:
        """Return the test whether two sides are more than one continuum.

        The draws depend on the clusters of both sides, or on `number` if it is given. `null` is that of the plan unless
        another is given.
        """
        plan = self.plan if null is None else replace(self.plan, null=null)
        pair = frozenset((first, second)), plan.null
        if pair not in self._found:
            key = sorted(first | second) if number is None else [number]
            seed = np.random.SeedSequence(self.seed, spawn_key=(_BRANCH, *key))
            self._found[pair] = against_one_population(self.problem, self.node(first, second), plan, seed)
        return self._found[pair]

    def together(self, sides: Sequence[Side]) -> NodeTest:
        """Return the test whether several sides are more than one continuum, as at the join of the last of them."""
        return self.test(frozenset().union(*sides[:-1]), sides[-1])

    def of_unions(self, sides: Sequence[Side]) -> dict[tuple[int, ...], NodeTest]:
        """Return the test of each union of some of the sides, but not of all, by their places in ascending order."""
        found: dict[tuple[int, ...], NodeTest] = {
            pair: self.together([sides[place] for place in pair]) for pair in self.nearest_pairs(sides)
        }
        near = [pair for pair, test in found.items() if test.z < _NEAR]
        for union in _unions(len(sides)):
            if union not in found and _hangs_together(union, near):
                found[union] = self.together([sides[place] for place in union])
        return found

    def nearest_pairs(self, sides: Sequence[Side]) -> Iterator[tuple[int, int]]:
        """Yield the places of the pairs to test: each side of enough subjects with the sides nearest to it."""
        side_of = np.zeros(self.labels.max() + 1, dtype=np.int64)
        for place, side in enumerate(sides):
            side_of[list(side)] = place
        partition = new_partition(self.problem.cohort.arrays, side_of[self.labels])
        gains = merge_gains(self.problem, partition)
        gains = np.maximum(gains, gains.T)
        is_large = partition.sizes[: len(sides)] >= SMALLEST_NODE
        gains[~is_large] = gains[:, ~is_large] = -np.inf
        nearest = [set(np.argsort(-row, kind="stable")[:_NEAREST].tolist()) for row in gains]
        for one, other in combinations(range(len(sides)), 2):
            if gains[one, other] > -np.inf and (other in nearest[one] or one in nearest[other]):
                yield one, other


def _unions(n_sides: int) -> Iterator[tuple[int, ...]]:
    """Yield the places of the sides of each union of three or more that is tested."""
    if n_sides <= _MANY:
        numbers = range(3, n_sides) if n_sides <= _FEW else [n_sides - number for number in _LEFT_OUT]
        for number in numbers:
            yield from combinations(range(n_sides), number)


def _hangs_together(union: Sequence[int], near: Sequence[tuple[int, ...]]) -> bool:
    """Return whether each side of a union can be reached from the first through near pairs inside of it."""
    reached, before = {union[0]}, 0
    while before < len(reached):
        before = len(reached)
        reached.update(*(pair for pair in near if set(pair) <= set(union) and reached & set(pair)))
    return len(reached) == len(union)


def leaves_merged(tree: SubtypeTree, ends: Sequence[int], tests: PairTests) -> list[tuple[int, int]]:
    """Return the first joins of a new tree, in which sides that are one continuum lie together; empty if none are.

    These are the joins of the tree below the nodes at which the walk ended, and then those of the sides that are
    merged. Nodes of the new tree are numbered as in `SubtypeTree.joins`.

    Parameters
    ----------
    tree : SubtypeTree
    ends : sequence of int
        The nodes at which the walk along the tree ended.
    tests : PairTests
    """
    members, joins = tree.members(), list[tuple[int, int]]()
    within = [set(members[end]) for end in ends]
    renumbered = {tip: tip for tip in range(tree.n_subtypes)}

    def join(first: int, second: int) -> int:
        joins.append((first, second))
        return tree.n_subtypes + len(joins) - 1

    for step, (first, second) in enumerate(tree.joins.tolist()):
        node = tree.n_subtypes + step
        if any(side.issuperset(members[node]) for side in within):
            renumbered[node] = join(renumbered[first], renumbered[second])
    n_before = len(joins)
    sides, nodes = [frozenset(side) for side in within], [renumbered[end] for end in ends]
    while len(sides) > 2:  # two sides are the whole cohort, which is more than one continuum
        found = tests.of_unions(sides)
        union = max(found, key=lambda places: found[places].p, default=())
        if not union or found[union].p < tests.plan.significance_level:
            break
        first, *others = union
        for other in others:
            sides[first], nodes[first] = sides[first] | sides[other], join(nodes[first], nodes[other])
        for other in reversed(others):
            del sides[other], nodes[other]
    return joins if len(joins) > n_before else []
