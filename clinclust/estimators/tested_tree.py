"""The walk along the tree of a fit, with the test of each join; leaves that are one continuum are merged.

Where a tree divides by severity before disease, slices of one disease lie on different branches. Leaves are therefore
tested pairwise after the walk, and the most clearly continuous are merged. Unions of several connected leaves are
tested as well, because two neighbouring slices alone have an abrupt edge, and are no sample of a normal severity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from threading import Event
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from clinclust.engine.continuum.tested_node import (
    SMALLEST_NODE,
    DrawPlan,
    Node,
    NodeTest,
    RunningTest,
)
from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.search.plan import n_threads
from clinclust.engine.search.split_merge import merge_gains, merge_tree
from clinclust.engine.search.threads import workers_or_threads
from clinclust.estimators.fitted_cohort import fitted_problem
from clinclust.estimators.subtype_tree import DISTINCT_LEVEL, JOIN_DTYPES, SubtypeTree, TreeTest, is_tested

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit
    from clinclust.progress import Progress

Side: TypeAlias = frozenset[int]
"""Clusters of the fit."""

_BRANCH = 1416
"""Spawn key of the random draws."""
_NEAREST = 3
"""Number of nearest groups with which each group is tested."""
_FEW = 5
"""Largest number of groups for which all unions are tested."""
_LEFT_OUT = (1, 2)
"""Numbers of groups that a union leaves out if there are more."""
_NEAR = 4.0
"""The z below which two groups may be neighbouring slices: 1.8 to 3.6 in simulated cohorts, and 10 for distant ones."""
_MANY = 7
"""Number of groups above which only pairs are tested."""


class PairTests:
    """Cached tests of unions of groups of clusters; `cohort` is as `cohort_of` returns it."""

    def __init__(self, fit: Fit, cohort: pd.DataFrame, plan: DrawPlan, seed: int) -> None:
        self.problem = fitted_problem(fit, cohort, coarsening=1.0)
        self.labels = fit.cluster_labels_[self.problem.cohort.order]
        self.plan, self.seed = plan, seed
        self._begun: dict[tuple[frozenset[Side], bool], RunningTest] = {}

    def node(self, first: Side, second: Side) -> Node:
        """Return the subjects of two groups."""
        members = np.flatnonzero(np.isin(self.labels, list(first | second)))
        halves = np.isin(self.labels[members], list(second)).astype(np.int64)
        return Node(members, halves, len(first | second))

    def begun(self, first: Side, second: Side, number: int | None = None, *, any_shape: bool = False) -> RunningTest:
        """Return the test of two groups against one continuum, or one of any shape, with its first draws at least.

        The draws depend on `number`, or else on the clusters.
        """
        plan = replace(self.plan, significance_level=DISTINCT_LEVEL, any_shape=True) if any_shape else self.plan
        pair = frozenset((first, second)), any_shape
        if pair not in self._begun:
            key = sorted(first | second) if number is None else [number]
            seed = np.random.SeedSequence(self.seed, spawn_key=(_BRANCH, *key))
            self._begun[pair] = RunningTest(self.problem, self.node(first, second), plan, seed)
        return self._begun[pair]

    def test(self, first: Side, second: Side, number: int | None = None, *, any_shape: bool = False) -> NodeTest:
        """Return the ended test of two groups (`begun`)."""
        return self.begun(first, second, number, any_shape=any_shape).ended()

    def most_continuous(self, sides: Sequence[Side]) -> tuple[int, ...]:
        """Return the positions of the groups that are most clearly one continuum; empty if none are.

        Only if no pair is one continuum, proper unions of several groups are tested.
        """
        pairs = {pair: self.together([sides[place] for place in pair]) for pair in self.nearest_pairs(sides)}
        if found := self._most_continuous_of(pairs):
            return found
        near = [pair for pair, test in pairs.items() if test.found.z < _NEAR]
        unions = [union for union in _unions(len(sides)) if _hangs_together(union, near)]
        return self._most_continuous_of({union: self.together([sides[place] for place in union]) for union in unions})

    def _most_continuous_of(self, tests: Mapping[tuple[int, ...], RunningTest]) -> tuple[int, ...]:
        """Return the key of the test with the largest p; empty if all are below the level.

        Beyond the first draws, only the test with the largest p makes more, until it has ended above the level.
        """
        left = dict(tests)
        while left:
            best = max(left, key=lambda places: left[places].found.p)
            if not left[best].has_ended:
                left[best].go_on()
            elif left[best].found.p >= self.plan.significance_level:
                return best
            else:
                del left[best]
        return ()

    def together(self, sides: Sequence[Side]) -> RunningTest:
        """Return the test of several groups against one continuum, as at the join of the last of them (`begun`)."""
        return self.begun(frozenset().union(*sides[:-1]), sides[-1])

    def nearest_pairs(self, sides: Sequence[Side]) -> Iterator[tuple[int, ...]]:
        """Yield the positions of the pairs to test: each large enough group with its nearest ones."""
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
    """Yield the positions of the groups of each tested union of three or more."""
    if n_sides <= _MANY:
        numbers = range(3, n_sides) if n_sides <= _FEW else [n_sides - number for number in _LEFT_OUT]
        for number in numbers:
            yield from combinations(range(n_sides), number)


def _hangs_together(union: Sequence[int], near: Sequence[tuple[int, ...]]) -> bool:
    """Return whether near pairs connect the groups of a union."""
    reached, before = {union[0]}, 0
    while before < len(reached):
        before = len(reached)
        reached.update(*(pair for pair in near if set(pair) <= set(union) and reached & set(pair)))
    return len(reached) == len(union)


def leaves_merged(tree: SubtypeTree, ends: Sequence[int], tests: PairTests) -> list[tuple[int, int]]:
    """Return the first joins of a new tree in which leaves that are one continuum are merged; empty if none are.

    `ends` are the nodes at which the walk ended; nodes are numbered as in `SubtypeTree.joins`.
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
    while len(sides) > 2:  # two groups are the whole cohort, which is more than one continuum
        union = tests.most_continuous(sides)
        if not union:
            break
        first, *others = union
        for other in others:
            sides[first], nodes[first] = sides[first] | sides[other], join(nodes[first], nodes[other])
        for other in reversed(others):
            del sides[other], nodes[other]
    return joins if len(joins) > n_before else []


def tested_tree(
    fit: Fit,
    cohort: pd.DataFrame,
    parameters: Mapping[str, Any],
    progress: Progress,
    cancelled: Event,
    *,
    with_grades: bool,
) -> tuple[SubtypeTree, TreeTest]:
    """Test the joins of a tree from its root; merge leaves that are one continuum, and walk the new tree once more.

    `cohort` is as `cohort_of` returns it, `parameters` are those of `distinct_subtypes` with a seed as `random_state`.
    With `with_grades`, accepted joins are also tested against one of any shape. Returns the tested tree and its
    test.
    """
    level = float(parameters["significance_level"])
    with (
        workers_or_threads(n_threads(parameters["n_jobs"])) as pool,
        progress.stage("draws of one population") as advance,
    ):
        plan = DrawPlan(int(parameters["n_draws"]), level, pool, cancelled, advance)
        try:
            return _tested(fit, cohort, plan, int(parameters["random_state"]), with_grades=with_grades)
        except BaseException:
            cancelled.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _tested(
    fit: Fit, cohort: pd.DataFrame, plan: DrawPlan, seed: int, *, with_grades: bool
) -> tuple[SubtypeTree, TreeTest]:
    tree = fit.tree_
    if not is_tested(tree):
        return tree, _test_of([], plan, seed)
    tests = PairTests(fit, cohort, plan, seed)
    walked = _walked(tree, tests, by_number=True)
    first = leaves_merged(tree, _test_of(walked, plan, seed).parted_nodes(tree), tests)
    if first:
        problem = fitted_problem(fit, cohort, coarsening=fit.coarsening_)
        tree = SubtypeTree(tree.labels, *merge_tree(problem, tree.labels[problem.cohort.order], first))
        walked = _walked(tree, tests, by_number=False)
    if with_grades:
        _add_grades(walked, tree, tests, by_number=not first)
    return tree, _test_of(walked, plan, seed)


def _test_of(rows: list[dict[str, Any]], plan: DrawPlan, seed: int) -> TreeTest:
    return TreeTest(
        joins=pd.DataFrame(rows, columns=list(JOIN_DTYPES)).astype(JOIN_DTYPES),
        n_draws=plan.n_draws,
        significance_level=plan.significance_level,
        random_seed=seed,
    )


def _walked(tree: SubtypeTree, tests: PairTests, *, by_number: bool) -> list[dict[str, Any]]:
    """Return the rows of `TreeTest.joins`; draws depend on the number of a join (`by_number`), or its clusters."""
    rows, members = list[dict[str, Any]](), tree.members()
    ahead = [2 * tree.n_subtypes - 2]
    while ahead:
        number = ahead.pop(0)
        if number < tree.n_subtypes:
            continue
        sides = [int(side) for side in tree.joins[number - tree.n_subtypes]]
        first, second = (frozenset(members[side]) for side in sides)
        node = tests.node(first, second)
        if node.members.size < SMALLEST_NODE:
            continue
        found = tests.test(first, second, number if by_number else None)
        accepted = found.p < tests.plan.significance_level
        rows.append(_row(number - tree.n_subtypes + 1, node, found, accepted))
        if accepted:
            ahead += sides
    return rows


def _add_grades(rows: list[dict[str, Any]], tree: SubtypeTree, tests: PairTests, *, by_number: bool) -> None:
    """Add to accepted joins, from the root on, their p against one of any shape, up to the first not distinct."""
    members, reached = tree.members(), {2 * tree.n_subtypes - 2}
    for row in rows:
        node = tree.n_subtypes + row["step"] - 1
        if row["accepted"] and node in reached:
            sides = tree.joins[row["step"] - 1].tolist()
            first, second = (frozenset(members[side]) for side in sides)
            row["p_any_shape"] = tests.test(first, second, node if by_number else None, any_shape=True).p
            row["distinct"] = row["p_any_shape"] < DISTINCT_LEVEL
            reached |= set(sides) if row["distinct"] else set()


def _row(step: int, node: Node, found: NodeTest, accepted: bool) -> dict[str, Any]:
    """Return a row of `TreeTest.joins`."""
    n_second = int(node.halves.sum())
    return {
        "step": step,
        "first_size": node.members.size - n_second,
        "second_size": n_second,
        "n_tested": found.n_subjects,
        "n_clusters": node.n_clusters,
        "n_parts": found.n_parts,
        "gain": found.gain,
        "expected": found.expected,
        "expected_sd": found.expected_sd,
        "excess": found.excess,
        "z": found.z,
        "p": found.p,
        "accepted": accepted,
        "p_any_shape": np.nan,
        "distinct": False,
    }
