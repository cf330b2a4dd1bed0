"""The walk along the tree of a fit, from its root, with the test of each join."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.engine.continuum.node_test import (
    LARGEST_NODE,
    SMALLEST_NODE,
    DrawPlan,
    Node,
    NodeTest,
    against_one_population,
)
from clinclust.engine.search.plan import n_threads
from clinclust.engine.search.threads import Threads
from clinclust.estimators.fitted_problem import fitted_problem
from clinclust.estimators.tree_test import JOIN_DTYPES, TreeTest

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit
    from clinclust.estimators.subtype_tree import SubtypeTree
    from clinclust.progress import Progress

__all__ = ["tested_tree"]

Labels = NDArray[np.int64]

_BRANCH = 1416
"""Spawn key of the random draws, which keeps them independent of those of the search."""


def tested_tree(
    fit: Fit, cohort: pd.DataFrame, parameters: Mapping[str, Any], progress: Progress, cancelled: Event
) -> TreeTest:
    """Test the joins of a tree from its root, and those below each that is accepted.

    Parameters
    ----------
    fit : Fit
    cohort : DataFrame, N rows
        The cohort of the fit, as `cohort_of` returns it.
    parameters : mapping
        Those of `distinct_subtypes`; `random_state` is a seed.
    progress : Progress
    cancelled : threading.Event
        Ends the walk when it is set.
    """
    most_draws = int(parameters["n_draws"]) * fit.tree_.evidence.size
    with (
        Threads(n_threads(parameters["n_jobs"])) as pool,
        progress.stage("draws of one population", most_draws) as advance,
    ):
        level = float(parameters["significance_level"])
        plan = DrawPlan(int(parameters["n_draws"]), level, parameters["null"], pool, cancelled, advance)
        try:
            rows = _walked(fit, cohort, plan, parameters["random_state"])
        except BaseException:
            cancelled.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return TreeTest(
        joins=pd.DataFrame(rows, columns=list(JOIN_DTYPES)).astype(JOIN_DTYPES),
        n_draws=int(parameters["n_draws"]),
        significance_level=level,
        null=parameters["null"],
        random_seed=int(parameters["random_state"]),
    )


def _walked(fit: Fit, cohort: pd.DataFrame, plan: DrawPlan, seed: int) -> list[dict[str, Any]]:
    """Return the rows of `TreeTest.joins`."""
    tree, rows = fit.tree_, list[dict[str, Any]]()
    if tree.n_subtypes == 1:
        return rows
    problem = fitted_problem(fit, cohort, coarsening=1.0)
    labels = fit.finer_labels_[problem.cohort.order]
    ahead = [2 * tree.n_subtypes - 2]
    while ahead:
        number = ahead.pop(0)
        node = _node(tree, number, labels)
        if node.n_clusters == 1 or node.members.size < SMALLEST_NODE:
            continue
        found = against_one_population(problem, node, plan, np.random.SeedSequence(seed, spawn_key=(_BRANCH, number)))
        accepted = found.p < plan.significance_level
        rows.append(_row(tree, number, node, found, accepted))
        if accepted:
            ahead += _sides(tree, number)
    return rows


def _sides(tree: SubtypeTree, number: int) -> list[int]:
    """Return the two sides of the join that made a node."""
    return [int(side) for side in tree.joins[number - tree.n_subtypes]]


def _node(tree: SubtypeTree, number: int, labels: Labels) -> Node:
    """Return a node of the tree; `labels` (N,) are in encoded order."""
    below = tree.members()
    members = np.flatnonzero(np.isin(labels, below[number]))
    if number < tree.n_subtypes:
        return Node(members, np.zeros(members.size, dtype=np.int64), 1)
    second = below[_sides(tree, number)[1]]
    return Node(members, np.isin(labels[members], second).astype(np.int64), len(below[number]))


def _row(tree: SubtypeTree, number: int, node: Node, found: NodeTest, accepted: bool) -> dict[str, Any]:
    """Return a row of `TreeTest.joins`."""
    n_second = int(node.halves.sum())
    return {
        "step": number - tree.n_subtypes + 1,
        "first_size": node.members.size - n_second,
        "second_size": n_second,
        "n_tested": min(node.members.size, LARGEST_NODE),
        "n_clusters": node.n_clusters,
        "n_parts": found.n_parts,
        "gain": found.gain,
        "expected": found.expected,
        "expected_sd": found.expected_sd,
        "excess": found.excess,
        "z": found.z,
        "p": found.p,
        "accepted": accepted,
    }
