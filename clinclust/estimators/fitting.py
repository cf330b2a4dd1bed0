"""The search of a fit: from a prepared cohort to its `Fit`."""

from __future__ import annotations

from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING

from clinclust.engine.kernels.announcement import announcing_compilation
from clinclust.engine.search.stopping import Budget
from clinclust.estimators.cut import as_asked
from clinclust.estimators.fit import Fit, fit_of
from clinclust.estimators.raised_weights import with_raised_weights
from clinclust.estimators.search import search
from clinclust.estimators.tested_tree import tested_tree
from clinclust.estimators.tree_test import DEFAULT_TEST, FEWEST_DRAWS
from clinclust.progress import Progress

if TYPE_CHECKING:
    from clinclust.engine.search.plan import SearchPlan
    from clinclust.estimators.preparation import Prepared
    from clinclust.estimators.settings import Settings

__all__ = ["fit_by", "found_fit"]


def found_fit(settings: Settings, cohort: Prepared, cancelled: Event) -> Fit:
    """Search as the settings say, and tell the stages if they say so.

    Raises
    ------
    ValueError
        If `init` holds labels, but not exactly one for each subject, or the search found fewer clusters than asked for.
    SearchCancelled
        If `cancelled` is set before the search has ended.
    """
    budget = Budget(settings.max_seconds)
    with announcing_compilation():
        plan = settings.search_plan(cohort.problem, cancelled, budget, Progress(bool(settings.progress)))
        fit = fit_by(plan, cohort, is_tested=settings.is_tested)
    return as_asked(fit, settings.n_clusters, settings.min_size)


def fit_by(
    plan: SearchPlan,
    cohort: Prepared,
    *,
    is_tested: bool,
    n_draws: int = DEFAULT_TEST["n_draws"],
    with_unimodal: bool = True,
) -> Fit:
    """Return what the search of a plan finds, with its tree tested if that is asked for; nothing is merged.

    Parameters
    ----------
    plan : SearchPlan
    cohort : Prepared
    is_tested : bool
        Whether to test the tree, which ``n_clusters="distinct"`` needs.
    n_draws : int
        Largest number of cohorts drawn at each join.
    with_unimodal : bool
        Whether joins that are accepted are also tested against a skewed severity, which decides nothing.
    """
    fit = fit_of(search(cohort.problem, plan), cohort.schema, plan, cohort.frame)
    if not is_tested:
        return fit

    def tested(found: Fit, *, in_short: bool = False) -> Fit:
        parameters = {**DEFAULT_TEST, "random_state": found.random_seed_, "n_jobs": plan.n_jobs}
        parameters["n_draws"] = FEWEST_DRAWS if in_short else n_draws
        with_skewed = with_unimodal and not in_short
        tree, test = tested_tree(
            found, cohort.frame, parameters, plan.progress, plan.cancelled, with_unimodal=with_skewed
        )
        return replace(found, tree_=tree, tree_test_=test)

    return with_raised_weights(tested(fit), cohort, plan, tested)
