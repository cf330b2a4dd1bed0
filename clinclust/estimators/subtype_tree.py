"""The tree of the clusters of a fit, and what the test of its joins says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Array, Labels
from clinclust.engine.continuum.tested_node import SMALLEST_NODE
from clinclust.engine.search.settle import groups_by_decreasing_size
from clinclust.errors import InputError
from clinclust.estimators.mixture import WEAK_NATS

# The tree of a fit's clusters, and the test of its joins against one continuous population.


@dataclass(frozen=True, eq=False, repr=False)
class SubtypeTree:
    """The tree of the subtypes of a fit. Each step merges the two groups with the least evidence between them.

    The evidence of a join is the decrease, in nats, of the (coarsened) log joint by the merger.

    Attributes
    ----------
    labels : int64 (N,)
        Subtype of each subject, in the order of the table.
    joins : int64 (K - 1, 2)
        The two groups of each join, numbered as in scipy: 0 .. K - 1 are the subtypes, K + s the group of step s.
    evidence : float64 (K - 1,)
        Evidence of each join in nats; not always increasing.
    """

    labels: Labels
    joins: Labels
    evidence: Array

    @property
    def n_subtypes(self) -> int:
        """Number of subtypes at the tips of the tree, K."""
        return int(self.evidence.size) + 1

    @property
    def merges(self) -> pd.DataFrame:
        """DataFrame with one row for each join.

        Columns: `step` (1 .. K - 1), `first` and `second` (tuples of the merged subtypes, counted from 1), `size`
        (subjects in both), `n_subtypes` (subtypes left after the step) and `evidence` (nats).
        """
        members = self.members()
        sizes = np.bincount(self.labels, minlength=self.n_subtypes)
        first, second = ([members[node] for node in self.joins[:, side].tolist()] for side in (0, 1))
        return pd.DataFrame(
            {
                "step": np.arange(1, self.n_subtypes),
                "first": [tuple(cluster + 1 for cluster in side) for side in first],
                "second": [tuple(cluster + 1 for cluster in side) for side in second],
                "size": [int(sizes[[*one, *other]].sum()) for one, other in zip(first, second, strict=True)],
                "n_subtypes": np.arange(self.n_subtypes - 1, 0, -1),
                "evidence": self.evidence,
            }
        )

    def cut(self, n_subtypes: int) -> Labels:
        """Return the labels when `n_subtypes` are left, int64 (N,), by decreasing size; ValueError outside 1 .. K."""
        return self.subtype_of(n_subtypes)[self.labels]

    def subtype_of(self, n_subtypes: int) -> Labels:
        """Return the group of each of the K subtypes when `n_subtypes` groups are left, int64 (K,), by decreasing size.

        Of two groups of equal size, the one with the lower subtype number comes first. ValueError outside 1 .. K.
        """
        whole = isinstance(n_subtypes, Integral) and not isinstance(n_subtypes, bool)
        if not whole or not 1 <= n_subtypes <= self.n_subtypes:
            raise InputError(f"n_subtypes must be a whole number from 1 to {self.n_subtypes}, not {n_subtypes!r}")
        gone = set(self.joins[: self.n_subtypes - int(n_subtypes)].ravel().tolist())
        last = 2 * self.n_subtypes - int(n_subtypes)
        return self.group_of([node for node in range(last) if node not in gone])

    def group_of(self, nodes: Sequence[int]) -> Labels:
        """Return the number of the node above each of the K subtypes, nodes by decreasing size, int64 (K,)."""
        members = self.members()
        groups = np.zeros(self.n_subtypes, dtype=np.int64)
        for number, node in enumerate(nodes):
            groups[list(members[node])] = number
        return groups_by_decreasing_size(groups, np.bincount(self.labels, minlength=self.n_subtypes))

    def linkage(self) -> Array:
        """Return the tree as a linkage matrix of ``scipy.cluster.hierarchy``, float64 (K - 1, 4).

        The height is the maximum of the evidence, the heights of the joins below, and 0.
        """
        table = np.zeros((self.n_subtypes - 1, 4))
        table[:, :2] = self.joins
        below = np.zeros(2 * self.n_subtypes - 1)
        count = np.concatenate([np.ones(self.n_subtypes), np.zeros(self.n_subtypes - 1)])
        for step, (first, second) in enumerate(self.joins.tolist()):
            node = self.n_subtypes + step
            below[node] = max(self.evidence[step], below[first], below[second])
            count[node] = count[first] + count[second]
            table[step, 2:] = below[node], count[node]
        return table

    def members(self) -> list[tuple[int, ...]]:
        """Return the subtypes at and below each node, ascending from 0."""
        members: list[tuple[int, ...]] = [(subtype,) for subtype in range(self.n_subtypes)]
        for first, second in self.joins.tolist():
            members.append(tuple(sorted(members[first] + members[second])))
        return members

    def __repr__(self) -> str:
        lines = [f"SubtypeTree of {self.n_subtypes} subtypes and {self.labels.size} subjects"]
        for first, second, evidence in self.merges[["first", "second", "evidence"]].to_numpy().tolist():
            weak = f" (weak: less than {WEAK_NATS:g})" if evidence < WEAK_NATS else ""
            sides = f"{', '.join(map(str, first))} with {', '.join(map(str, second))}"
            lines.append(f"  {sides}: {evidence:.1f} nats{weak}")
        return "\n".join(lines)


DEFAULT_TEST: dict[str, Any] = {"n_draws": 200, "significance_level": 0.05}
"""Default parameters of the test."""
DISTINCT_LEVEL = 0.03
"""Level of the test against a continuum of any shape, below which a join is distinct (`p_of_any_shape`)."""
SHAPE_COUNTS = 3.0
"""Multiple of the p of draws of the smoothed population in that of any shape; that of a gap has its own (`gap.py`)."""
FEWEST_DRAWS = 20
"""Least `n_draws`."""

JOIN_DTYPES = {
    "step": "int64",
    "first_size": "int64",
    "second_size": "int64",
    "n_tested": "int64",
    "n_clusters": "int64",
    "n_parts": "int64",
    "gain": "float64",
    "expected": "float64",
    "expected_sd": "float64",
    "excess": "float64",
    "z": "float64",
    "p": "float64",
    "accepted": "bool",
    "p_any_shape": "float64",
    "distinct": "bool",
}
"""The columns of `TreeTest.joins`."""


@dataclass(frozen=True, eq=False, repr=False)
class TreeTest:
    """The test of a tree from its root; parameters as in `distinct_subtypes`.

    Attributes
    ----------
    joins : DataFrame
        One row for each tested join, from the root on, with the `step` of `SubtypeTree.merges` and columns of
        `DistinctSubtypes.joins`.
    n_draws : int
    significance_level : float
    random_seed : int
    """

    joins: pd.DataFrame
    n_draws: int
    significance_level: float
    random_seed: int

    def __repr__(self) -> str:
        return f"TreeTest({len(self.joins)} joins, {int(self.joins['accepted'].sum())} accepted)"

    def parted_nodes(self, tree: SubtypeTree, by: str = "accepted") -> list[int]:
        """Return the nodes of the tree that are one subtype each, numbered as in `SubtypeTree.joins`.

        They are parted by the joins that are "accepted", or by the "distinct" ones only.
        """
        joins = self.joins.loc[self.joins[by].astype(bool), "step"]
        divided = {tree.n_subtypes + step - 1 for step in joins.tolist()}
        ahead, undivided = [2 * tree.n_subtypes - 2], []
        while ahead:
            node = ahead.pop()
            if node in divided:
                ahead += map(int, tree.joins[node - tree.n_subtypes])
            else:
                undivided.append(node)
        return undivided

    def parted_of(self, tree: SubtypeTree, by: str = "accepted") -> NDArray[np.int64]:
        """Return the node of `parted_nodes` that holds each subtype of the tree, by decreasing size, int64 (K,)."""
        return tree.group_of(self.parted_nodes(tree, by))

    def problems(self, tree: SubtypeTree) -> list[str]:
        """Return why it cannot be a test of the tree; empty if it can."""
        if not len(self.joins):
            return ["no join of the tree was tested"] if is_tested(tree) else []
        steps, wanted = self.joins["step"].tolist(), {2 * tree.n_subtypes - 2}
        for step, is_accepted in zip(steps, self.joins["accepted"].tolist(), strict=True):
            node = tree.n_subtypes + step - 1
            if node not in wanted or node < tree.n_subtypes:
                return [f"step {step} of the tree was tested, but not the join above it"]
            wanted |= {int(side) for side in tree.joins[step - 1]} if is_accepted else set()
        is_below = self.joins["p"].to_numpy() < self.significance_level
        if len(set(steps)) < len(steps) or not np.array_equal(is_below, self.joins["accepted"].to_numpy()):
            return ["the joins that were accepted are not those whose p is below the significance level"]
        is_distinct = self.joins["accepted"] & (self.joins["p_any_shape"] < DISTINCT_LEVEL)
        if not np.array_equal(is_distinct, self.joins["distinct"]):
            return [f"the distinct joins are not the accepted ones whose p_any_shape is below {DISTINCT_LEVEL}"]
        return []


def is_tested(tree: SubtypeTree) -> bool:
    """Return whether the tree has a join, among enough subjects for a test."""
    return tree.n_subtypes > 1 and tree.labels.size >= SMALLEST_NODE
