"""TreeTest: the joins of a tree that were tested against one continuous population, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.engine.continuum.node_test import SMALLEST_NODE
from clinclust.estimators.subtype_tree import SubtypeTree

__all__ = ["DEFAULT_TEST", "FEWEST_DRAWS", "JOIN_DTYPES", "TreeTest", "is_tested"]

DEFAULT_TEST: dict[str, Any] = {"n_draws": 100, "significance_level": 0.05, "null": "copula"}
"""The parameters of the test unless somebody gives others."""
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
    "p_unimodal": "float64",
    "accepted": "bool",
}
"""The columns of `TreeTest.joins`."""


@dataclass(frozen=True, eq=False, repr=False)
class TreeTest:
    """The test of a tree from its root, as a fit keeps it.

    Attributes
    ----------
    joins : DataFrame
        One row for each join that was tested, from the root on. `step` is that of `SubtypeTree.merges`; the other
        columns are those of `DistinctSubtypes.joins`.
    n_draws : int
    significance_level : float
    null : str
    random_seed : int
        The parameters of `distinct_subtypes`.
    """

    joins: pd.DataFrame
    n_draws: int
    significance_level: float
    null: str
    random_seed: int

    def __repr__(self) -> str:
        return f"TreeTest({len(self.joins)} joins, {int(self.joins['accepted'].sum())} accepted)"

    def distinct_nodes(self, tree: SubtypeTree) -> list[int]:
        """Return the nodes of the tree that are one subtype each, numbered as in `SubtypeTree.joins`."""
        accepted = self.joins.loc[self.joins["accepted"].astype(bool), "step"]
        divided = {tree.n_subtypes + step - 1 for step in accepted.tolist()}
        return list(_undivided(tree, divided, 2 * tree.n_subtypes - 2))

    def distinct_of(self, tree: SubtypeTree) -> NDArray[np.int64]:
        """Return the distinct subtype that holds each subtype of the tree, by decreasing size, int64 (K,)."""
        return tree.group_of(self.distinct_nodes(tree))

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
        return []


def is_tested(tree: SubtypeTree) -> bool:
    """Return whether a test of the tree begins: it has a join, among enough subjects."""
    return tree.n_subtypes > 1 and tree.labels.size >= SMALLEST_NODE


def _undivided(tree: SubtypeTree, divided: set[int], node: int) -> Iterator[int]:
    """Yield the nodes at and below a node at which the division ends."""
    ahead = [node]
    while ahead:
        node = ahead.pop()
        if node in divided:
            ahead += map(int, tree.joins[node - tree.n_subtypes])
        else:
            yield node
