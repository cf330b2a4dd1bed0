"""Block weights that are raised because distinct subtypes explain the dependence inside a block.

The weights of a fit begin with one cluster (`joint_estimates.dependence`). Where subtypes differ in the features of
one block and in little else, this is too low to find them: all that they differ in counts as dependence. Beginning at
weight 1 is no way out by itself, because slices of what a block measures would explain its dependence away. The test of
the tree tells slices from distinct subtypes. A short search in which every feature counts in full is therefore tested;
where its distinct subtypes leave less dependence, the weights that they imply are tried. A block that measures one
continuum keeps its weight: no distinct subtypes explain its dependence.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from clinclust.engine.joint_estimates.dependence import implied_weights
from clinclust.engine.problem.blocks import powers_of_blocks, powers_of_features
from clinclust.estimators.fit import Fit, fit_of
from clinclust.estimators.fitted_problem import fitted_problem
from clinclust.estimators.search import search, short_plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clinclust.engine.search.plan import SearchPlan
    from clinclust.estimators.preparation import Prepared

__all__ = ["with_raised_weights"]

_LOW = 0.8
"""Weight below which a block may hide subtypes."""
_LEFT = 0.4
"""Share of the dependence inside a block, 1 / w - 1, that distinct subtypes may leave for the search to be made again.

Subtypes that differ in a block leave 0 to .36 of it (simulated items and yes/no symptoms), and slices of what a block
measures .5 and more (simulated measurements; ages, years of marriage and children of 6,366 people).
"""
_SHARE = 0.3
"""Share of what is left of a time budget that the search in full may take."""


class Tested(Protocol):
    """Returns a fit whose tree is tested; in short with few draws, where the result only guides."""

    def __call__(self, found: Fit, *, in_short: bool = False) -> Fit: ...


def with_raised_weights(fit: Fit, cohort: Prepared, plan: SearchPlan, tested: Tested) -> Fit:
    """Return the fit, or one with raised block weights if that has more distinct subtypes.

    Parameters
    ----------
    fit : Fit
        Its tree is tested.
    cohort : Prepared
    plan : SearchPlan
        That of the fit.
    tested : callable
        Tests the tree of a fit (`Tested`).
    """
    powers = fit.block_weights_
    if not plan.estimate_powers or min(powers.values(), default=1.0) >= _LOW or plan.budget.used_up():
        return fit
    short = short_plan(plan, plan.budget.part(_SHARE), plan.progress.within("blocks in full"))
    implied = _implied_by(tested(_searched(cohort, short, {}), in_short=True), cohort)
    if not any(_dependence(implied[block]) <= _LEFT * _dependence(powers[block]) for block in implied):
        return fit
    again = replace(plan, estimate_powers=False, progress=plan.progress.within("blocks anew"))
    found = tested(_searched(cohort, again, powers | implied))
    return found if _n_distinct(found) > _n_distinct(fit) else fit


def _searched(cohort: Prepared, plan: SearchPlan, powers: Mapping[str, float]) -> Fit:
    of_features = powers_of_features(cohort.problem.cohort.encoding.features, powers)
    return fit_of(search(cohort.problem.with_powers(of_features), plan), cohort.schema, plan, cohort.frame)


def _implied_by(fit: Fit, cohort: Prepared) -> dict[str, float]:
    """Return the power of each block that distinct subtypes imply; empty if nothing is distinct."""
    if fit.tree_test_ is None or _n_distinct(fit) == 1:
        return {}
    problem = fitted_problem(fit, cohort.frame, coarsening=1.0)
    distinct = fit.tree_test_.distinct_of(fit.tree_)[fit.tree_.labels]
    return powers_of_blocks(problem.cohort.encoding.features, implied_weights(problem, distinct[problem.cohort.order]))


def _dependence(power: float) -> float:
    return 1.0 / power - 1.0


def _n_distinct(fit: Fit) -> int:
    return 0 if fit.tree_test_ is None else len(fit.tree_test_.distinct_nodes(fit.tree_))
