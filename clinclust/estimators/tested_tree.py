"""The walk along the tree of a fit, from its root, with the test of each join."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clinclust.engine.continuum.node_test import LARGEST_NODE, SMALLEST_NODE, DrawPlan, Node, NodeTest
from clinclust.engine.continuum.null_cohorts import UNIMODAL
from clinclust.engine.search.plan import n_threads
from clinclust.engine.search.split_merge import merge_tree
from clinclust.engine.search.threads import Threads
from clinclust.estimators.fitted_problem import fitted_problem
from clinclust.estimators.merged_leaves import PairTests, leaves_merged
from clinclust.estimators.subtype_tree import SubtypeTree
from clinclust.estimators.tree_test import JOIN_DTYPES, TreeTest, is_tested

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit
    from clinclust.progress import Progress

__all__ = ["tested_tree"]


def tested_tree(
    fit: Fit,
    cohort: pd.DataFrame,
    parameters: Mapping[str, Any],
    progress: Progress,
    cancelled: Event,
    *,
    with_unimodal: bool,
) -> tuple[SubtypeTree, TreeTest]:
    """Test the joins of a tree from its root, and those below each that is accepted.

    Where the tree divides by severity first and by disease then, slices of one disease lie on different branches. The
    sides that the walk ends at are therefore merged where two of them are one continuum (`leaves_merged`), and the tree
    is made again from there and walked once more.

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
    with_unimodal : bool
        Whether accepted joins are also tested against one population whose severity may be skewed.

    Returns
    -------
    tree : SubtypeTree
        The tree of the fit, or the one that was made again.
    test : TreeTest
        The test of its joins.
    """
    level = float(parameters["significance_level"])
    with (
        Threads(n_threads(parameters["n_jobs"])) as pool,
        progress.stage("draws of one population") as advance,
    ):
        plan = DrawPlan(int(parameters["n_draws"]), level, parameters["null"], pool, cancelled, advance)
        try:
            return _tested(fit, cohort, plan, int(parameters["random_state"]), with_unimodal=with_unimodal)
        except BaseException:
            cancelled.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _tested(
    fit: Fit, cohort: pd.DataFrame, plan: DrawPlan, seed: int, *, with_unimodal: bool
) -> tuple[SubtypeTree, TreeTest]:
    tree = fit.tree_
    if not is_tested(tree):
        return tree, _test_of([], plan, seed)
    tests = PairTests(fit, cohort, plan, seed)
    walked = _walked(tree, tests, by_number=True)
    first = leaves_merged(tree, _test_of(walked, plan, seed).distinct_nodes(tree), tests)
    if first:
        problem = fitted_problem(fit, cohort, coarsening=fit.coarsening_)
        tree = SubtypeTree(tree.labels, *merge_tree(problem, tree.labels[problem.cohort.order], first))
        walked = _walked(tree, tests, by_number=False)
    if with_unimodal and plan.null != UNIMODAL:
        _add_unimodal(walked, tree, tests, by_number=not first)
    return tree, _test_of(walked, plan, seed)


def _test_of(rows: list[dict[str, Any]], plan: DrawPlan, seed: int) -> TreeTest:
    return TreeTest(
        joins=pd.DataFrame(rows, columns=list(JOIN_DTYPES)).astype(JOIN_DTYPES),
        n_draws=plan.n_draws,
        significance_level=plan.significance_level,
        null=plan.null,
        random_seed=seed,
    )


def _walked(tree: SubtypeTree, tests: PairTests, *, by_number: bool) -> list[dict[str, Any]]:
    """Return the rows of `TreeTest.joins`.

    With `by_number`, the draws at a join depend on its number, else on the clusters below it.
    """
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


def _add_unimodal(rows: list[dict[str, Any]], tree: SubtypeTree, tests: PairTests, *, by_number: bool) -> None:
    """Add to each accepted join its p against one population whose severity may be skewed."""
    members = tree.members()
    for row in rows:
        if row["accepted"]:
            first, second = (frozenset(members[side]) for side in tree.joins[row["step"] - 1].tolist())
            number = tree.n_subtypes + row["step"] - 1 if by_number else None
            row["p_unimodal"] = tests.test(first, second, number, UNIMODAL).p


def _row(step: int, node: Node, found: NodeTest, accepted: bool) -> dict[str, Any]:
    """Return a row of `TreeTest.joins`."""
    n_second = int(node.halves.sum())
    return {
        "step": step,
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
        "p_unimodal": np.nan,
        "accepted": accepted,
    }
