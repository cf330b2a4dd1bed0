"""What a fit of `GibbsDP` does: check, pose the problem, run the chains."""

from __future__ import annotations

from functools import partial
from threading import Event
from typing import TYPE_CHECKING, cast

from clinclust.engine.joint_estimates.hyperprior import Hyperprior
from clinclust.engine.kernels.announcement import announcing_compilation
from clinclust.engine.sampling.chain import Unknown
from clinclust.engine.sampling.chains import SamplingPlan, run_chains
from clinclust.engine.sampling.starts import overdispersed_starts
from clinclust.engine.search.plan import SearchPlan, n_threads
from clinclust.engine.search.stopping import Budget
from clinclust.estimators.parameters import seed_of
from clinclust.estimators.posterior import Posterior
from clinclust.estimators.preparation import Prepared, posed, several_subjects
from clinclust.estimators.settings import DRAWN, SamplerSettings
from clinclust.progress import Progress

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from clinclust.engine.sampling.point_estimate import Loss

__all__ = ["checked", "drawn_posterior"]

_MOST_DRAWS, _MOST_NUMBERS = 500, 25_000_000
"""Most draws of each chain that are kept, and most labels of all of them together: 100 MB."""


def checked(settings: SamplerSettings, X: pd.DataFrame | ArrayLike, *, stacklevel: int) -> Prepared:
    """Check the cohort, and pose the problem; raises and warns as `GibbsDP.fit` says."""
    frame, schema = several_subjects(X, settings.schema, stacklevel=stacklevel + 1, progress=settings.progress)
    return posed(frame, schema, partial(settings.problem_of, frame, schema), stacklevel=stacklevel + 1)


def drawn_posterior(settings: SamplerSettings, cohort: Prepared, cancelled: Event) -> tuple[Posterior, int]:
    """Run the chains of a fit; return the posterior and the seed.

    Raises
    ------
    SearchCancelled
        If `cancelled` is set before the chains have ended.
    """
    problem, seed = cohort.problem, seed_of(settings.random_state)
    hyperprior = Hyperprior.of(problem) if settings.hyperparameters == DRAWN else None
    progress, budget = Progress(bool(settings.progress)), Budget(settings.max_seconds)
    most_draws = max(min(_MOST_DRAWS, _MOST_NUMBERS // (settings.n_chains * problem.cohort.n_subjects)), 10)
    with announcing_compilation():
        quick = SearchPlan(seed, 1, refine=False, n_jobs=1, cancelled=cancelled, budget=budget)
        starts = overdispersed_starts(problem, settings.n_chains, quick)
        plan = SamplingPlan(
            seed=seed,
            max_sweeps=settings.max_sweeps,
            max_draws=most_draws,
            n_threads=n_threads(settings.n_jobs),
            unknown=Unknown(settings.concentration == DRAWN, hyperprior),
            cancelled=cancelled,
            budget=budget,
            progress=progress,
        )
        posterior = Posterior.of(run_chains(problem, starts, plan), problem, cast("Loss", settings.loss))
        _ = posterior.labels, posterior.membership  # here, where Ctrl-C ends them
    return posterior, seed
