"""The posterior around a fit: the sampler of the model of a search, on the values that the search kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clinclust.estimators.fitted_cohort import cohort_of
from clinclust.estimators.gibbs import GibbsDP
from clinclust.estimators.subtype_model import require_search

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.subtype_model import SubtypeModel


def posterior_around(
    model: SubtypeModel, frame: pd.DataFrame, *, n_jobs: int | None = None, progress: bool = True
) -> GibbsDP:
    """Return draws from the posterior whose mode a fitted `MAPDP` found, with the seed of the fit.

    Outlying values of the fit are missing for the sampler. CohortWarning is issued if the chains have not converged.
    """
    fit = require_search(model, "posterior")
    cohort = cohort_of(model, frame, stacklevel=3)
    kept = cohort.copy()
    for part, is_outlying in zip(fit.schema_.parts, fit.outliers_.T, strict=True):
        if is_outlying.any():
            kept[part.column] = kept[part.column].mask(is_outlying)
    sampler = GibbsDP.of(model, random_state=fit.random_seed_, n_jobs=n_jobs, progress=progress)
    return sampler.fit(kept)
