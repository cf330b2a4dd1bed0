"""Would these subtypes come out again? Refits of resampled cohorts, and of the cohort under other settings."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arguments import FRAME, MODEL, ON_OR_OFF, accepting
from clinclust.engine.search.agreement import adjusted_rand_index
from clinclust.errors import InputError
from clinclust.estimators.duration import estimated_seconds, rounded_duration, seconds_of_stability
from clinclust.estimators.few_subjects import FEW_SUBJECTS
from clinclust.estimators.fitted_cohort import cohort_of, cohort_problems
from clinclust.estimators.subtype_model import require_search
from clinclust.stability.agreement import clusterwise_jaccard, co_membership, contingency
from clinclust.stability.bands import DISSOLVED, RECOVERED, band_of
from clinclust.stability.result import Stability

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.progress import Progress
    from clinclust.stability.refits import Refitted, Refitter

__all__ = ["assess_stability"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

_N_PERMUTED = 10
"""Cohorts with permuted columns."""
_OF_A_FIT = 0.3
"""Time of the whole procedure in half a cohort, as a share of that of the fit."""
_CONCENTRATIONS = {"1/3": 1.0 / 3.0, "3": 3.0, "30": 30.0}
_NO_STRENGTH = ("mean", "dispersion")
"""Hyperparameters that say where values lie or how they scatter, and not how much the prior weighs."""
_SAMPLES = ("half-sample", "bootstrap", "permuted")


class _Draw(NamedTuple):
    """A refit of a resample, compared with the partition of the whole, reported or of permuted columns."""

    rows: Labels
    sizes: Array
    is_large: NDArray[np.bool_]
    jaccard: Array
    by_chance: Array
    own: Array
    others: Array
    n_found: int


@accepting(model=MODEL, frame=FRAME, whole_procedure=ON_OR_OFF)
def assess_stability(
    model: SubtypeModel,
    frame: pd.DataFrame,
    n_bootstraps: int = 100,
    *,
    n_restarts: int = 3,
    whole_procedure: bool = False,
    random_state: int | None = None,
    n_jobs: int | None = None,
    progress: bool = True,
) -> Stability:
    """Refit a model on half-samples and bootstrap samples of its cohort, and say which subtypes come out again.

    Each refit is a search from scratch, with the parameters of the model, and with the concentration, coarsening and
    powers of blocks that the fit found. Where the subtypes are unions of clusters (`MAPDP.cut`, or
    ``n_clusters="distinct"``), the clusters of a refit are merged along their own tree to as many: the test of the tree
    is not repeated. What the fit chose from the data is then not in doubt, and subtypes look more stable than they are:
    two overlapping groups had a Jaccard of .98 so, and of .80 to .87 with `whole_procedure`, because the test called
    them one group in a third of the halves.

    A subtype is compared with the subtype of the refit that is nearest to it: Jaccard is the number of drawn subjects
    in both divided by that in either (Hennig 2007, *Cluster-wise assessment of cluster stability*, Computational
    Statistics and Data Analysis 52, 258-271). Its mean over the refits falls into one of Hennig's bands: from .85 on
    highly stable, from .75 stable, from .6 a pattern of which it is doubtful who belongs to it, below that unstable.
    Stable does not mean real: slices of one continuum can be stable, so that `distinct_subtypes` is asked as well.

    Half-samples (half of the subjects, none twice) decide. Bootstrap samples hold about 63% of the subjects. Each
    counts once, however often it was drawn: copies lie closer together than any two subjects, and made clusters of
    their own (7 to 20 of them in 527 subjects with 5).

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
        Choose coarsening, powers of blocks, concentration and hyperparameters anew in every resample, and test its tree
        again, as the fit did; ten to thirty times as long for ``MAPDP.recommended``. Permuted cohorts and the fits with
        other settings keep what the fit chose.
    random_state : int, optional
        Seed; by default that of the fit.
    n_jobs : int, optional
        Number of threads, as in `MAPDP`; it does not change the result.
    progress : bool
        As in `MAPDP`.

    Returns
    -------
    Stability
        subtypes: for each subtype the mean Jaccard in half-samples, its band and what it means, the share of the
        half-samples in which it dissolved (Jaccard at most .5) and in which it was found again (at least .75), the mean
        Jaccard in bootstrap samples, and jaccard_by_chance: the same if the labels of each refit were dealt out at
        random, which large subtypes reach by their size alone. Subtypes of fewer than 5 subjects have no band.

        numbers: how often how many clusters were found, in half-samples, in bootstrap samples, and in 10 cohorts whose
        columns were permuted one by one. In these, features are independent of each other, and only the shape of their
        margins can make clusters, such as two peaks; permuted_jaccard is how far those of at least 5 subjects come out
        again, where there are two of them.

        subjects: for each subject the mean share of the others of its subtype, and of all other subjects, with whom it
        came together in half-samples.

        sensitivity: number of subtypes, and agreement with the reported partition (adjusted Rand index), of refits of
        the whole cohort with a third and three times and ten times the concentration, half and twice the strength of
        the prior, and three other seeds.

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
    >>> stability = cc.assess_stability(model, frame, n_bootstraps=5, progress=False)
    >>> stability.subtypes["band"].tolist()
    ['highly stable', 'highly stable']
    """
    from clinclust.engine.kernels.announcement import announcing_compilation
    from clinclust.engine.search.threads import interruptible
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
    if problems:
        raise InputError("; ".join(problems))
    cohort = cohort_of(model, frame, stacklevel=3)
    seed, cancelled = fit.random_seed_ if random_state is None else seed_of(random_state), Event()

    def assessed() -> Stability:
        with announcing_compilation():
            searched = cast("MAPDP", model)
            refitter = Refitter.of(searched, cohort, n_restarts, cancelled, whole_procedure=whole_procedure)
            return _assessed(refitter, int(n_bootstraps), seed, n_jobs, Progress(bool(progress)), cohort.index)

    return interruptible(assessed, cancelled)


def _assessed(
    refitter: Refitter, n_bootstraps: int, seed: int, n_jobs: int | None, progress: Progress, index: pd.Index
) -> Stability:
    kinds = dict(zip(_SAMPLES, (n_bootstraps, n_bootstraps, _N_PERMUTED), strict=True))
    seeds = dict(zip(_SAMPLES, np.random.SeedSequence([seed, 2007]).spawn(3), strict=True))
    tasks: list[Callable[[], Any]] = []
    for kind, number in kinds.items():
        tasks += [partial(_draw, refitter, kind, each) for each in seeds[kind].spawn(number)]
    settings = _settings(refitter, seed)
    tasks_of_settings = [partial(refitter.whole, problem, its_seed) for _, problem, its_seed in settings]
    seconds = seconds_of_stability(refitter.problem, refitter.model, n_bootstraps)
    if refitter.procedure is not None:
        of_fit = estimated_seconds(refitter.problem, refitter.model, with_report=False)
        seconds = max(seconds, _OF_A_FIT * of_fit * 2 * n_bootstraps)
    about = rounded_duration(seconds)
    found = _side_by_side(
        [*tasks, *tasks_of_settings],
        refitter.cancelled,
        n_jobs,
        progress.stage(f"stability, in about {about}", len(tasks) + len(tasks_of_settings)),
    )
    draws: list[_Draw] = found[: len(tasks)]
    halves, bootstraps = draws[:n_bootstraps], draws[n_bootstraps : 2 * n_bootstraps]
    whole: list[Refitted] = found[len(tasks) :]
    fit = refitter.model.fit_
    return Stability(
        subtypes=_subtypes(refitter, halves, bootstraps),
        numbers=_numbers(dict(zip(_SAMPLES, (halves, bootstraps, draws[2 * n_bootstraps :]), strict=True)), refitter),
        subjects=_subjects(refitter, halves, index),
        sensitivity=_sensitivity(refitter, [name for name, *_ in settings], whole),
        permuted_jaccard=_weighted(draws[2 * n_bootstraps :]),
        restart_agreement=float(fit.restarts_["ari_to_best"].mean()),
        n_bootstraps=n_bootstraps,
        is_of_whole_procedure=refitter.procedure is not None,
        seed=seed,
    )


def _side_by_side(
    tasks: list[Callable[[], Any]],
    cancelled: Event,
    n_jobs: int | None,
    stage: AbstractContextManager[Callable[[], object]],
) -> list[Any]:
    """Return the results of the tasks, in order; they run in parallel on threads."""
    from clinclust.engine.search.plan import n_threads
    from clinclust.engine.search.threads import Threads

    with Threads(n_threads(n_jobs)) as pool, stage as advance:
        futures = [pool.submit(task) for task in tasks]
        try:
            found = []
            for future in futures:
                found.append(future.result())
                advance()
        except BaseException:
            cancelled.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return found


def _draw(refitter: Refitter, kind: str, seed: np.random.SeedSequence) -> _Draw:
    """Refit one resample, and compare it with the reported partition on its subjects."""
    rng = np.random.default_rng(seed)
    n_subjects, reported = refitter.problem.cohort.n_subjects, refitter.reported
    its_seed = int(rng.integers(2**31))
    n_found = None
    if kind == "permuted":
        refitter = replace(refitter, problem=_permuted(refitter, rng), procedure=None)
        whole = refitter.whole(refitter.problem, its_seed)
        reported, n_found = whole.labels, whole.n_found
    if kind == "bootstrap":
        rows = np.unique(rng.integers(n_subjects, size=n_subjects))  # copies would make clusters of their own
    else:
        rows = np.sort(rng.choice(n_subjects, n_subjects // 2, replace=False))
    found = refitter.rows(rows, its_seed)
    labels, n_subtypes = found.labels, int(reported.max()) + 1
    counts = contingency(reported[rows], labels, n_subtypes)
    by_chance = clusterwise_jaccard(contingency(reported[rows], rng.permutation(labels), n_subtypes))
    own, others = co_membership(reported[rows], labels, counts)
    jaccard = clusterwise_jaccard(counts)
    is_large = np.bincount(reported, minlength=n_subtypes) >= FEW_SUBJECTS
    return _Draw(rows, counts.sum(axis=1), is_large, jaccard, by_chance, own, others, n_found or found.n_found)


def _permuted(refitter: Refitter, rng: np.random.Generator) -> Problem:
    """Return the problem with every column permuted, missing values with it."""
    problem = refitter.problem
    arrays = problem.cohort.arrays
    columns = rng.permuted(arrays.codes, axis=0), rng.permuted(arrays.values, axis=0)
    moved = arrays._replace(codes=columns[0], values=columns[1])
    return replace(problem, cohort=replace(problem.cohort, arrays=moved))


def _settings(refitter: Refitter, seed: int) -> list[tuple[str, Problem, int]]:
    """Return the changed settings of the sensitivity table: a name, the problem, and the seed of the search."""
    problem = refitter.problem
    changed = [
        (f"concentration {called}", replace(problem, model=problem.model._replace(concentration=value)), seed)
        for called, value in _CONCENTRATIONS.items()
    ]
    changed += [(f"prior strength x {factor:g}", _with_prior_strength(problem, factor), seed) for factor in (0.5, 2.0)]
    return [*changed, *((f"seed {seed + step}", problem, seed + step) for step in (1, 2, 3))]


def _with_prior_strength(problem: Problem, factor: float) -> Problem:
    """Return the problem with a prior that weighs as so many times as many subjects, around the same values."""
    names = [name for likelihood in problem.cohort.encoding.likelihoods for name in likelihood.hyperparameter_names]
    weighs = np.array([name not in _NO_STRENGTH for name in names])
    prior = np.where(weighs, factor * problem.model.prior, problem.model.prior)
    cohort = problem.cohort.with_prior(prior, problem.model.powers)
    return replace(problem, cohort=cohort, model=problem.model._replace(prior=prior))


def _subtypes(refitter: Refitter, halves: list[_Draw], bootstraps: list[_Draw]) -> pd.DataFrame:
    jaccard = np.array([draw.jaccard for draw in halves])
    mean = _mean(jaccard)
    sizes = np.bincount(refitter.reported)
    bands = [band_of(value, size) for value, size in zip(mean.tolist(), sizes.tolist(), strict=True)]
    seen = np.maximum((~np.isnan(jaccard)).sum(axis=0), 1)
    with np.errstate(invalid="ignore"):
        dissolved, found_again = (jaccard <= DISSOLVED).sum(axis=0) / seen, (jaccard >= RECOVERED).sum(axis=0) / seen
    return pd.DataFrame(
        {
            "subtype": np.arange(1, sizes.size + 1),
            "size": sizes,
            "jaccard": mean,
            "band": [band.name for band in bands],
            "meaning": [band.words for band in bands],
            "dissolved": dissolved,
            "found_again": found_again,
            "bootstrap_jaccard": _mean(np.array([draw.jaccard for draw in bootstraps])),
            "jaccard_by_chance": _mean(np.array([draw.by_chance for draw in halves])),
        }
    )


def _weighted(draws: list[_Draw]) -> float:
    """Return the mean Jaccard of the clusters of enough subjects, weighed by their sizes; NaN if there are no two.

    One cluster of nearly all subjects, beside a few who are odd, comes out again in any half: it divides nothing.
    """
    found = []
    for draw in draws:
        counted = draw.is_large & (draw.sizes > 0)
        if draw.is_large.sum() > 1 and counted.any():
            found.append(float(np.average(draw.jaccard[counted], weights=draw.sizes[counted])))
    return float(np.mean(found)) if found else float("nan")


def _numbers(draws: dict[str, list[_Draw]], refitter: Refitter) -> pd.DataFrame:
    rows = []
    for sample, of_sample in draws.items():
        of_clusters = refitter.procedure is None or sample == "permuted"
        in_cohort = refitter.model.subtype_of_.size if of_clusters else refitter.model.n_clusters_
        found, times = np.unique([draw.n_found for draw in of_sample], return_counts=True)
        rows += [
            (sample, n, n == in_cohort, number / len(of_sample))
            for n, number in zip(found.tolist(), times.tolist(), strict=True)
        ]
    return pd.DataFrame(rows, columns=["sample", "n_found", "as_in_cohort", "share"])


def _subjects(refitter: Refitter, halves: list[_Draw], index: pd.Index) -> pd.DataFrame:
    n_subjects = refitter.problem.cohort.n_subjects
    found = {}
    for name in ("own", "others"):
        total, times = np.zeros(n_subjects), np.zeros(n_subjects)
        for draw in halves:
            share = getattr(draw, name)
            known = ~np.isnan(share)
            total[draw.rows[known]] += share[known]
            times[draw.rows[known]] += 1.0
        with np.errstate(invalid="ignore"):
            found[name] = refitter.problem.cohort.in_table_order(total / times)
    return pd.DataFrame(found, index=index)


def _sensitivity(refitter: Refitter, names: list[str], whole: list[Refitted]) -> pd.DataFrame:
    reported = refitter.reported
    rows = [
        (name, int(found.labels.max()) + 1, adjusted_rand_index(found.labels, reported))
        for name, found in zip(names, whole, strict=True)
    ]
    return pd.DataFrame(rows, columns=["change", "n_subtypes", "agreement"])


def _mean(values: Array) -> Array:
    """Return the mean over rows without NaN, float64 (K,); NaN where nothing is known."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0))
