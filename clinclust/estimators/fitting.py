"""The search of a fit: from a prepared cohort to its `Fit`."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

from clinclust.engine.kernels.announcement import announcing_compilation
from clinclust.estimators.fit import Fit, fit_of
from clinclust.estimators.from_parameters import search_plan_of
from clinclust.estimators.search import search

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.preparation import Prepared

__all__ = ["found_fit"]


def found_fit(model: MAPDP, cohort: Prepared, cancelled: Event) -> Fit:
    """Search as the parameters of the model say, with a progress bar if standard error is a terminal.

    Raises
    ------
    ValueError
        If `init` holds labels, but not exactly one for each subject.
    SearchCancelled
        If `cancelled` is set before the search has ended.
    """
    from tqdm import tqdm

    hidden = None if model.progress else True
    with (
        announcing_compilation(),
        tqdm(total=model.n_restarts, desc="restarts", delay=1, disable=hidden) as bar,
    ):
        plan = search_plan_of(model, cohort.problem, lambda restart: bar.update(), cancelled)
        return fit_of(search(cohort.problem, plan), cohort.schema, plan, cohort.frame)
