"""What a fit of `GibbsDP` does: check, pose the problem, run the chains."""

from __future__ import annotations

from functools import partial
from threading import Event
from typing import TYPE_CHECKING, cast

from clinclust.compiled import announcing_compilation
from clinclust.engine.joint_estimates.concentration import DEFAULT
from clinclust.engine.joint_estimates.empirical_bayes import Hyperprior
from clinclust.engine.problem.problem import pose
from clinclust.engine.sampling.chain import Unknown
from clinclust.engine.sampling.chains import SamplingPlan, overdispersed_starts, run_chains
from clinclust.engine.search.plan import Budget, SearchPlan, n_threads
from clinclust.errors import InputError
from clinclust.estimators.parameters import GIBBS_RULES, parameter_problems, seed_of
from clinclust.estimators.posterior import Posterior
from clinclust.estimators.preparation import Prepared, posed, several_subjects
from clinclust.progress import Progress

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from clinclust.engine.sampling.point_estimate import Loss
    from clinclust.estimators.gibbs import GibbsDP

__all__ = ["checked", "drawn_posterior"]

_DRAWN = "drawn"
_MOST_DRAWS, _MOST_NUMBERS = 500, 25_000_000
"""Most draws of each chain that are kept, and most labels of all of them together: 100 MB."""


def checked(model: GibbsDP, X: pd.DataFrame | ArrayLike, *, stacklevel: int) -> Prepared:
    """Check the parameters and the cohort, and pose the problem; raises and warns as `GibbsDP.fit` says."""
    problems = parameter_problems(model.get_params(), GIBBS_RULES)
    if problems:
        raise InputError("; ".join(problems))
    frame, schema = several_subjects(X, model.schema, stacklevel=stacklevel + 1, progress=model.progress)
    concentration, hyperparameters = model.concentration, model.hyperparameters
    problem = partial(
        pose,
        frame,
        schema,
        None if isinstance(hyperparameters, str) else hyperparameters,
        DEFAULT if isinstance(concentration, str) else concentration,
        model.discount,
        model.coarsening,
        model.block_weights,
    )
    return posed(frame, schema, problem, stacklevel=stacklevel + 1)


def drawn_posterior(model: GibbsDP, cohort: Prepared, cancelled: Event) -> tuple[Posterior, int]:
    """Run the chains of a fit; return the posterior and the seed.

    Raises
    ------
    SearchCancelled
        If `cancelled` is set before the chains have ended.
    """
    problem, seed = cohort.problem, seed_of(model.random_state)
    hyperprior = Hyperprior.of(problem) if model.hyperparameters == _DRAWN else None
    progress, budget = Progress(bool(model.progress)), Budget(model.max_seconds)
    most_draws = max(min(_MOST_DRAWS, _MOST_NUMBERS // (model.n_chains * problem.cohort.n_subjects)), 10)
    with announcing_compilation():
        quick = SearchPlan(seed, 1, refine=False, n_jobs=1, cancelled=cancelled, budget=budget)
        starts = overdispersed_starts(problem, model.n_chains, quick)
        plan = SamplingPlan(
            seed=seed,
            max_sweeps=model.max_sweeps,
            max_draws=most_draws,
            n_threads=n_threads(model.n_jobs),
            unknown=Unknown(model.concentration == _DRAWN, hyperprior),
            cancelled=cancelled,
            budget=budget,
            progress=progress,
        )
        posterior = Posterior.of(run_chains(problem, starts, plan), problem, cast("Loss", model.loss))
        _ = posterior.labels, posterior.membership  # here, where Ctrl-C ends them
    return posterior, seed
