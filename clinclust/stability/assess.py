"""Would these subtypes come out again? Refits of resampled cohorts, and of the cohort under other settings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from clinclust.arguments import FRAME, MODEL, ON_OR_OFF, accepting
from clinclust.arrays import RandomState
from clinclust.errors import refuse
from clinclust.estimators.cost import estimated_seconds, rounded_duration, seconds_of_stability
from clinclust.estimators.fitted_cohort import cohort_of, cohort_problems
from clinclust.estimators.settings import Settings
from clinclust.estimators.subtype_model import require_search
from clinclust.stability.refits import changed_settings
from clinclust.stability.resamples import SAMPLES, drawn
from clinclust.stability.result import (
    Stability,
    numbers_table,
    sensitivity_table,
    subjects_table,
    subtypes_table,
    weighted_jaccard,
)

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.progress import Progress
    from clinclust.stability.refits import Refitted, Refitter
    from clinclust.stability.resamples import Draw


_N_PERMUTED = 10  # cohorts with permuted columns
_OF_A_FIT = 0.3  # time of the whole procedure in half a cohort, as a share of that of the fit


@accepting(model=MODEL, frame=FRAME, whole_procedure=ON_OR_OFF)
def assess_stability(
    model: SubtypeModel,
    frame: pd.DataFrame,
    n_bootstraps: int = 100,
    *,
    n_restarts: int = 3,
    whole_procedure: bool = False,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: bool = True,
) -> Stability:
    """Refit a model on half-samples and bootstrap samples of its cohort, and say which subtypes come out again.

    Each refit is a search from scratch, with the parameters of the model, and with the concentration, coarsening and
    block weights that the fit found. Where the subtypes are unions of clusters (`MAPDP.cut`, or
    ``n_clusters="distinct"``), the clusters of a refit are merged along their own tree to as many. What the fit chose
    from the data is then not in doubt, and subtypes look more stable than they are: two overlapping groups had a
    Jaccard of .98 so, and of .80 to .87 with `whole_procedure`.

    A subtype is compared with the nearest subtype of the refit: Jaccard is the number of drawn subjects in both divided
    by that in either. Its mean over the refits falls into a band of Hennig (2007, Computational Statistics and Data
    Analysis 52, 258-271): from .85 on highly stable, from .75 stable, from .6 a pattern, below that unstable. Stable
    does not mean real: slices of one continuum can be stable, so ask `distinct_subtypes` as well.

    Half-samples (half of the subjects, none twice) decide. Bootstrap samples hold about 63% of the subjects. Each
    counts once, because copies would make clusters of their own.

    Parameters
    ----------
    model : SubtypeModel
        A fitted `MAPDP`.
    frame : DataFrame, N rows
        The cohort of the fit.
    n_bootstraps : int
        Number of half-samples, and of bootstrap samples.
    n_restarts : int
        Starts of each search.
    whole_procedure : bool
        Choose coarsening, block weights, concentration and hyperparameters anew in every resample, and test its tree
        again, as the fit did; ten to thirty times as long for ``n_clusters="distinct"``. Permuted cohorts and the fits
        with other settings keep what the fit chose.
    random_state : int, numpy.random.Generator, RandomState or None
        Seed; by default that of the fit.
    n_jobs, progress
        As in `MAPDP`.

    Returns
    -------
    Stability
        subtypes: for each subtype the mean Jaccard in half-samples, its band and what it means, the share of the
        half-samples in which it dissolved (Jaccard at most .5) and in which it was found again (at least .75), the mean
        Jaccard in bootstrap samples, and jaccard_by_chance, if the labels of each refit were dealt out at random.
        Subtypes of fewer than 5 subjects have no band.

        numbers: how often how many clusters were found, in half-samples, in bootstrap samples, and in 10 cohorts whose
        columns were permuted one by one, where only the shape of the margins can make clusters; permuted_jaccard is how
        far those of at least 5 subjects come out again, where there are two of them.

        subjects: for each subject the mean share of the others of its subtype, and of all other subjects, with whom it
        came together in half-samples.

        sensitivity: number of subtypes, and adjusted Rand index with the reported partition, of refits of the whole
        cohort with a third, three and ten times the concentration, half and twice the strength of the prior, and three
        other seeds.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema.
    ValueError
        If the model is not a fitted MAPDP, `frame` is not its cohort, a parameter cannot be used, or the cohort has
        fewer than four subjects.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> model = cc.MAPDP(cc.draft_schema(frame), random_state=0, progress=False).fit(frame)
    >>> stability = cc.stability.assess_stability(model, frame, n_bootstraps=5, progress=False)
    >>> stability.subtypes["band"].tolist()
    ['highly stable', 'highly stable']
    """
    from clinclust.compiled import announcing_compilation
    from clinclust.engine.search.threads import Cancelled, interruptible
    from clinclust.estimators.parameters import parameter_problems, seed_of
    from clinclust.progress import Progress
    from clinclust.stability.refits import Refitter

    fit = require_search(model, "assess_stability")
    numbers = {"n_restarts": n_restarts, "random_state": random_state, "n_jobs": n_jobs, "progress": progress}
    problems = [*parameter_problems(numbers), *cohort_problems(model, frame)]
    if isinstance(n_bootstraps, bool) or not isinstance(n_bootstraps, int | np.integer) or n_bootstraps < 1:
        problems.insert(0, f"n_bootstraps must be a whole number of at least 1, not {n_bootstraps!r}")
    if not problems and len(frame) < 4:
        problems.append("half-samples need a cohort of at least four subjects")
    refuse(problems)
    cohort = cohort_of(model, frame, stacklevel=3).table
    seed, cancelled = fit.random_seed_ if random_state is None else seed_of(random_state), Cancelled()

    def assessed() -> Stability:
        with announcing_compilation():
            searched = cast("MAPDP", model)
            refitter = Refitter.of(searched, cohort, n_restarts, cancelled, whole_procedure=whole_procedure)
            return _assessed(refitter, int(n_bootstraps), seed, n_jobs, Progress(bool(progress)), cohort.index)

    return interruptible(assessed, cancelled)


def _assessed(
    refitter: Refitter, n_bootstraps: int, seed: int, n_jobs: int | None, progress: Progress, index: pd.Index
) -> Stability:
    from clinclust.engine.search.plan import n_threads
    from clinclust.engine.search.threads import workers_or_threads

    kinds = dict(zip(SAMPLES, (n_bootstraps, n_bootstraps, _N_PERMUTED), strict=True))
    seeds = dict(zip(SAMPLES, np.random.SeedSequence([seed, 2007]).spawn(3), strict=True))
    tasks: list[Callable[[], Any]] = []
    for kind, number in kinds.items():
        tasks += [partial(drawn, refitter, kind, each) for each in seeds[kind].spawn(number)]
    settings = changed_settings(refitter.problem, seed)
    whole_tasks: list[Callable[[], Any]] = [
        partial(refitter.whole, problem, its_seed) for _, problem, its_seed in settings
    ]
    of_model = Settings.of(refitter.model)
    seconds = seconds_of_stability(refitter.problem, of_model, n_bootstraps)
    if refitter.procedure is not None:
        of_fit = estimated_seconds(refitter.problem, of_model, with_report=False)
        seconds = max(seconds, _OF_A_FIT * of_fit * 2 * n_bootstraps)
    found: list[Any] = []
    stage = progress.stage(f"stability, in about {rounded_duration(seconds)}", len(tasks) + len(whole_tasks))
    with workers_or_threads(n_threads(n_jobs), refitter.cancelled) as pool, stage as advance:
        for future in [pool.submit(task) for task in tasks + whole_tasks]:
            found.append(future.result())
            advance()
    draws: list[Draw] = found[: len(tasks)]
    halves, bootstraps = draws[:n_bootstraps], draws[n_bootstraps : 2 * n_bootstraps]
    permuted = draws[2 * n_bootstraps :]
    whole: list[Refitted] = found[len(tasks) :]
    fit = refitter.model.fit_
    return Stability(
        subtypes=subtypes_table(refitter, halves, bootstraps),
        numbers=numbers_table(dict(zip(SAMPLES, (halves, bootstraps, permuted), strict=True)), refitter),
        subjects=subjects_table(refitter, halves, index),
        sensitivity=sensitivity_table(refitter, [name for name, *_ in settings], whole),
        permuted_jaccard=weighted_jaccard(permuted),
        restart_agreement=float(fit.restarts_["ari_to_best"].mean()),
        n_bootstraps=n_bootstraps,
        is_of_whole_procedure=refitter.procedure is not None,
        seed=seed,
    )
