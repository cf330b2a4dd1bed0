"""Whether subtypes come out again: in samples of the cohort, and in another cohort."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arguments import accepting
from clinclust.arrays import Array, Labels, RandomState
from clinclust.associations.refit import merged, pose_as_fitted, refit_plan, search_clusters
from clinclust.data import data
from clinclust.engine.kernels.compiled import announcing_compilation
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.plan import Budget, Cancelled, interruptible, n_threads, workers_or_threads
from clinclust.engine.search.settle import adjusted_rand_index, by_decreasing_size, groups_by_decreasing_size
from clinclust.errors import InputError, refuse
from clinclust.estimators.distinct_subtypes import as_asked
from clinclust.estimators.fitting import Prepared, fit_by
from clinclust.estimators.mapdp import MAPDP
from clinclust.estimators.mixture import FEW_SUBJECTS
from clinclust.estimators.parameters import parameter_problems, seed_of
from clinclust.estimators.settings import Settings, estimated_seconds, pose_for, rounded_duration, seconds_of_stability
from clinclust.estimators.subtype_model import FittedCohort, cohort_of, cohort_problems, require_search
from clinclust.estimators.subtype_tree import FEWEST_DRAWS
from clinclust.progress import SILENT, Progress
from clinclust.schema.validation import kept_out

if TYPE_CHECKING:
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature


# Would these subtypes come out again? Refits of resampled cohorts, and of the cohort under other settings.


class Refitted(NamedTuple):
    """What a refit found."""

    labels: Labels
    """(n,) the subtype of each subject, 0 to K - 1 by decreasing size."""
    n_found: int
    """The number of clusters that the search found, before mergers; of the whole procedure, of subtypes."""


@dataclass(frozen=True, eq=False)
class Refitter:
    """Searches as the fit of a cohort did, from scratch, with its concentration, coarsening and block weights.

    Where its subtypes are unions of clusters, those of a refit are merged to as many, or more where the tree would join
    large subtypes before a few odd subjects. With `whole_procedure`, resamples are fitted with the parameters of the
    model, and what it chose from the data is chosen anew. Only the search is then shorter: without refinement, time
    limits or initial labels, and with the fewest draws for each join of a tree.
    """

    cohort: FittedCohort
    problem: Problem
    n_restarts: int
    cancelled: Event
    whole_procedure: bool

    @property
    def model(self) -> MAPDP:
        """The model of the cohort."""
        return cast("MAPDP", self.cohort.model)

    @property
    def reported(self) -> Labels:
        """The reported subtype of each subject, in the order of the problem, int64 (N,)."""
        return self.cohort.labels[self.problem.cohort.order]

    def refit_rows(self, rows: Labels, seed: int) -> Refitted:
        """Refit some subjects of the problem, int64 (n,), none twice."""
        if not self.whole_procedure:
            return self.refit(self.problem.restricted_to(rows, 0), seed)
        labels = self._repeat_procedure(self.problem.cohort.order[rows], seed)
        return Refitted(labels, int(labels.max()) + 1)

    def refit(self, problem: Problem, seed: int) -> Refitted:
        """Refit another problem, with what the fit chose from the data."""
        plan = replace(refit_plan(self.model, seed, self.n_restarts), cancelled=self.cancelled)
        problem, labels = search_clusters(problem, plan)
        labels = by_decreasing_size(labels)
        n_found, n_subtypes = int(labels.max()) + 1, self.model.n_clusters_
        if self.model.subtype_of_.size > n_subtypes < n_found:
            share, sizes = labels.size / self.problem.cohort.n_subjects, self.model.cluster_sizes_
            large = sizes[sizes >= FEW_SUBJECTS]
            enough = share * large.min() / 2.0 if large.size else 0.0
            subtype_of = merged(problem, labels, n_subtypes, large.size, enough)
            labels = groups_by_decreasing_size(subtype_of, np.bincount(labels))[labels]
        return Refitted(labels, n_found)

    def _repeat_procedure(self, rows: Labels, seed: int) -> Labels:
        """Return the subtype of the subjects in some rows of the table, int64 (n,), 0, 1, ... by decreasing size."""
        settings, schema, table = Settings.of(self.model), self.cohort.schema, self.cohort.table.iloc[rows]
        settings = replace(
            settings,
            random_state=seed,
            n_jobs=1,
            progress=False,
            max_seconds=None,
            n_restarts=min(self.n_restarts, settings.n_restarts),
            init=settings.init if isinstance(settings.init, str) else "search",
        )
        try:
            problem = pose_for(settings, table, schema)
        except InputError:
            if len(kept_out(table, schema)) < len(schema.clustered):
                raise
            return np.zeros(rows.size, dtype=np.int64)  # nothing differs between these subjects
        plan = replace(settings.search_plan(problem, self.cancelled, Budget(), SILENT), refine=False, calibrate=False)
        prepared = Prepared(table, schema, problem)
        fit = fit_by(plan, prepared, is_tested=settings.is_tested, n_draws=FEWEST_DRAWS, with_grades=False)
        number, floor = settings.n_clusters, self.model.min_size
        if isinstance(number, Integral):  # a search that finds fewer shows that they are not stable
            number = min(int(number), fit.subtype_of_.size)
        if isinstance(floor, Integral):  # the same share of the subjects
            floor = max(2, math.ceil(int(floor) * rows.size / len(self.cohort.table)))
        return as_asked(fit, number, floor).labels_


_CONCENTRATIONS = {"1/3": 1.0 / 3.0, "3": 3.0, "30": 30.0}
_NO_STRENGTH = ("mean", "dispersion")
"""Hyperparameters that say where values lie or how they scatter, and not how much the prior weighs."""


def changed_settings(problem: Problem, seed: int) -> list[tuple[str, Problem, int]]:
    """Return the changed settings of the sensitivity table: a name, the problem, and the seed of the search."""
    changed = [
        (f"concentration {called}", replace(problem, model=problem.model._replace(concentration=value)), seed)
        for called, value in _CONCENTRATIONS.items()
    ]
    changed += [(f"prior strength x {factor:g}", _with_prior_strength(problem, factor), seed) for factor in (0.5, 2.0)]
    return [*changed, *((f"seed {seed + step}", problem, seed + step) for step in (1, 2, 3))]


def _with_prior_strength(problem: Problem, factor: float) -> Problem:
    """Return the problem with a prior that weighs as so many times as many subjects, around the same values."""
    likelihoods = problem.cohort.encoding.likelihoods
    names = [name for likelihood in likelihoods for name in likelihood.hyperparameter_names]
    weighs = np.array([name not in _NO_STRENGTH for name in names])
    # Degrees of a block weigh by what they are above the number of features before the feature.
    before = np.repeat([likelihood.n_before for likelihood in likelihoods], np.diff(problem.cohort.arrays.prior_start))
    least = np.where(np.array(names) == "degrees", before, 0.0)
    prior = np.where(weighs, least + factor * (problem.model.prior - least), problem.model.prior)
    cohort = problem.cohort.with_prior(prior, problem.model.powers)
    return replace(problem, cohort=cohort, model=problem.model._replace(prior=prior))


def contingency(reported: Labels, refitted: Labels, n_subtypes: int) -> Array:
    """Return the number of subjects in each of K reported subtypes, some perhaps empty, and each refitted one."""
    counts = np.zeros((n_subtypes, int(refitted.max()) + 1))
    np.add.at(counts, (reported, refitted), 1.0)
    return counts


def jaccard_similarities(counts: Array) -> Array:
    """Return the Jaccard similarity of each reported subtype with each refitted one, (K, L), by `contingency`."""
    either = counts.sum(axis=1, keepdims=True) + counts.sum(axis=0) - counts
    return np.asarray(counts / np.maximum(either, 1.0))


def clusterwise_jaccard(counts: Array) -> Array:
    """Return the largest Jaccard similarity of each reported subtype with a refitted one; NaN without subjects."""
    return np.where(counts.sum(axis=1) > 0.0, jaccard_similarities(counts).max(axis=1), np.nan)


def co_membership(reported: Labels, refitted: Labels, counts: Array) -> tuple[Array, Array]:
    """Return with which share of the others of its subtype, and of all other subjects, each subject came together.

    Both are float64 (n,), NaN where there are no such subjects; `counts` is the `contingency`.
    """
    together = counts[reported, refitted]
    of_subtype, of_refit = counts.sum(axis=1)[reported], counts.sum(axis=0)[refitted]
    with np.errstate(invalid="ignore", divide="ignore"):
        return (together - 1.0) / (of_subtype - 1.0), (of_refit - together) / (counts.sum() - of_subtype)


HALF, BOOTSTRAP, PERMUTED = SAMPLES = ("half-sample", "bootstrap", "permuted")
"""Kinds of resamples; the last are halves of cohorts with permuted columns."""


class Draw(NamedTuple):
    """A refit of a resample, compared with the partition of the whole, reported or of permuted columns."""

    rows: Labels
    sizes: Array
    is_large: NDArray[np.bool_]
    jaccard: Array
    by_chance: Array
    co_membership: tuple[Array, Array]
    n_found: int


def draw_and_refit(refitter: Refitter, kind: str, seed: np.random.SeedSequence) -> Draw:
    """Refit one resample, and compare it with the reported partition on its subjects."""
    rng = np.random.default_rng(seed)
    n_subjects, reported = refitter.problem.cohort.n_subjects, refitter.reported
    seed_of_search = int(rng.integers(2**31))
    n_found = None
    if kind == PERMUTED:
        encoded = refitter.problem.cohort
        codes, values = rng.permuted(encoded.arrays.codes, axis=0), rng.permuted(encoded.arrays.values, axis=0)
        encoded = replace(encoded, arrays=encoded.arrays._replace(codes=codes, values=values))
        refitter = replace(refitter, problem=replace(refitter.problem, cohort=encoded), whole_procedure=False)
        reported, n_found = refitter.refit(refitter.problem, seed_of_search)
    if kind == BOOTSTRAP:
        rows = np.unique(rng.integers(n_subjects, size=n_subjects))  # copies would make clusters of their own
    else:
        rows = np.sort(rng.choice(n_subjects, n_subjects // 2, replace=False))
    result = refitter.refit_rows(rows, seed_of_search)
    labels, n_subtypes = result.labels, int(reported.max()) + 1
    counts = contingency(reported[rows], labels, n_subtypes)
    return Draw(
        rows,
        counts.sum(axis=1),
        np.bincount(reported, minlength=n_subtypes) >= FEW_SUBJECTS,
        clusterwise_jaccard(counts),
        clusterwise_jaccard(contingency(reported[rows], rng.permutation(labels), n_subtypes)),
        co_membership(reported[rows], labels, counts),
        n_found or result.n_found,
    )


_FEW = 2 * FEW_SUBJECTS


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """How stable the subtypes of a cohort are. Tables are tidy; `assess_stability` explains the columns.

    Attributes
    ----------
    subtypes, numbers, subjects, sensitivity : DataFrame
    permuted_jaccard : float
        Mean Jaccard, weighed by size, of the clusters of at least 5 subjects in cohorts with permuted columns; NaN if
        none of these cohorts has two.
    restart_agreement : float
        Mean adjusted Rand index of the searches of the fit with the best of them.
    n_bootstraps : int
        Half-samples, and as many bootstrap samples.
    is_of_whole_procedure : bool
        Whether the resamples were refitted with all that the fit chose from the data.
    seed : int

    Examples
    --------
    >>> import clinclust as cc
    >>> cc.stability.Stability.__match_args__[:2]
    ('subtypes', 'numbers')
    """

    subtypes: pd.DataFrame
    numbers: pd.DataFrame
    subjects: pd.DataFrame
    sensitivity: pd.DataFrame
    permuted_jaccard: float
    restart_agreement: float
    n_bootstraps: int
    is_of_whole_procedure: bool
    seed: int

    @property
    def same_number(self) -> float:
        """The share of the half-samples with as many clusters as the cohort; of the whole procedure, subtypes."""
        rows = self.numbers[self.numbers["sample"] == "half-sample"]
        return float(rows.loc[rows["as_in_cohort"], "share"].sum())

    @property
    def summary(self) -> str:
        """The result in words, a sentence for each subtype."""
        lines = [_TEXTS["subtype"].format_map(row) for row in self.subtypes.to_dict("records")]
        numbers = {"what": "subtypes" if self.is_of_whole_procedure else "clusters", "n": self.n_bootstraps}
        numbers["few"] = _TEXTS["few"] if (self.subtypes["size"] < _FEW).any() else ""
        return "\n".join([*lines, _TEXTS["number"].format(same=self.same_number, **numbers)])

    def __repr__(self) -> str:
        jaccards = ", ".join(f"{value:.2f}" for value in self.subtypes["jaccard"])
        return f"Stability(jaccard {jaccards}; {self.n_bootstraps} half-samples and bootstraps)"


DISSOLVED, RECOVERED = 0.5, 0.75
"""Largest Jaccard of a subtype that is dissolved in a refit, and least of one that is found again (Hennig 2007)."""


class Band(NamedTuple):
    """A band of the mean Jaccard similarity, from `least` on."""

    least: float
    name: str
    words: str


_TEXTS: dict[str, Any] = data("report")["stability"]["summary"]
*BANDS, TOO_FEW = (Band(**band) for band in _TEXTS["bands"])
"""The bands of Hennig (2007, Computational Statistics and Data Analysis 52, 258-271), the most stable first.

The last is of subtypes with hardly any subject: one who is alone comes out again alone, or not at all."""


def band_of(jaccard: float, n_subjects: int) -> Band:
    """Return the band of the mean Jaccard similarity of a subtype with this number of subjects."""
    if math.isnan(jaccard) or n_subjects < FEW_SUBJECTS:
        return TOO_FEW
    return next(band for band in BANDS if jaccard >= band.least)


def subtypes_table(refitter: Refitter, halves: list[Draw], bootstraps: list[Draw]) -> pd.DataFrame:
    """Return how far each subtype comes out again; `assess_stability` explains the columns."""
    jaccard = np.array([draw.jaccard for draw in halves])
    mean = pd.DataFrame(jaccard).mean().to_numpy()  # of the halves that hold a subject of the subtype
    sizes = np.bincount(refitter.reported)
    bands = [band_of(value, size) for value, size in zip(mean.tolist(), sizes.tolist(), strict=True)]
    n = np.maximum((~np.isnan(jaccard)).sum(axis=0), 1)
    return pd.DataFrame(
        {
            "subtype": refitter.model.codes_,
            "size": sizes,
            "jaccard": mean,
            "band": [band.name for band in bands],
            "meaning": [band.words for band in bands],
            "dissolved": (jaccard <= DISSOLVED).sum(axis=0) / n,
            "found_again": (jaccard >= RECOVERED).sum(axis=0) / n,
            "bootstrap_jaccard": pd.DataFrame([draw.jaccard for draw in bootstraps]).mean().to_numpy(),
            "jaccard_by_chance": pd.DataFrame([draw.by_chance for draw in halves]).mean().to_numpy(),
        }
    )


def weighted_jaccard(draws: list[Draw]) -> float:
    """Return the mean Jaccard of the clusters of enough subjects, weighed by their sizes; NaN if there are no two.

    One cluster of nearly all subjects comes out again in any half: it divides nothing.
    """
    means = []
    for draw in draws:
        counted = draw.is_large & (draw.sizes > 0)
        if draw.is_large.sum() > 1 and counted.any():
            means.append(float(np.average(draw.jaccard[counted], weights=draw.sizes[counted])))
    return float(np.mean(means)) if means else float("nan")


def numbers_table(draws: dict[str, list[Draw]], refitter: Refitter) -> pd.DataFrame:
    """Return how often how many clusters were found in the resamples of each kind."""
    rows = []
    for sample, of_sample in draws.items():
        is_whole = refitter.whole_procedure and sample != PERMUTED
        in_cohort = refitter.model.n_clusters_ if is_whole else refitter.model.subtype_of_.size
        for n, times in sorted(Counter(draw.n_found for draw in of_sample).items()):
            rows.append((sample, n, n == in_cohort, times / len(of_sample)))
    return pd.DataFrame(rows, columns=["sample", "n_found", "as_in_cohort", "share"])


def subjects_table(refitter: Refitter, halves: list[Draw]) -> pd.DataFrame:
    """Return with whom each subject came together in half-samples, in the order of the table."""
    encoded, columns = refitter.problem.cohort, {}
    for place, name in enumerate(("own", "others")):
        total, times = np.zeros(encoded.n_subjects), np.zeros(encoded.n_subjects)
        for draw in halves:
            share = draw.co_membership[place]
            seen = ~np.isnan(share)
            total[draw.rows[seen]] += share[seen]
            times[draw.rows[seen]] += 1.0
        with np.errstate(invalid="ignore"):
            columns[name] = encoded.in_table_order(total / times)
    return pd.DataFrame(columns, index=refitter.cohort.table.index)


_N_PERMUTED = 10  # cohorts with permuted columns
_OF_A_FIT = 0.3  # time of the whole procedure in half a cohort, as a share of that of the fit


@accepting()
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
    require_search(model, "assess_stability")
    search: dict[str, Any] = {"n_restarts": n_restarts, "random_state": random_state}
    search |= {"n_jobs": n_jobs, "progress": progress}
    problems = [*parameter_problems(search), *cohort_problems(model, frame)]
    if isinstance(n_bootstraps, bool) or not isinstance(n_bootstraps, int | np.integer) or n_bootstraps < 1:
        problems.insert(0, f"n_bootstraps must be a whole number of at least 1, not {n_bootstraps!r}")
    refuse(problems)
    cohort = cohort_of(model, frame)
    return resample_cohort(cohort, int(n_bootstraps), whole_procedure=whole_procedure, **search)


def resample_cohort(
    cohort: FittedCohort,
    n_bootstraps: int,
    *,
    n_restarts: int = 3,
    whole_procedure: bool = False,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: bool = True,
) -> Stability:
    """Return the result of `assess_stability` for a cohort; InputError if it has fewer than four subjects."""
    if len(cohort.table) < 4:
        raise InputError("half-samples need a cohort of at least four subjects")
    seed, cancelled = cohort.fit.random_seed_ if random_state is None else seed_of(random_state), Cancelled()

    def search_and_compare() -> Stability:
        with announcing_compilation():
            refitter = Refitter(cohort, pose_as_fitted(cohort), n_restarts, cancelled, whole_procedure)
            return _refit_resamples(refitter, n_bootstraps, seed, n_jobs, Progress(bool(progress)))

    return interruptible(search_and_compare, cancelled)


def _refit_resamples(
    refitter: Refitter, n_bootstraps: int, seed: int, n_jobs: int | None, progress: Progress
) -> Stability:
    kinds = dict(zip(SAMPLES, (n_bootstraps, n_bootstraps, _N_PERMUTED), strict=True))
    seeds = dict(zip(SAMPLES, np.random.SeedSequence([seed, 2007]).spawn(3), strict=True))
    tasks: list[Callable[[], Any]] = []
    for kind, number in kinds.items():
        tasks += [partial(draw_and_refit, refitter, kind, child) for child in seeds[kind].spawn(number)]
    changes = changed_settings(refitter.problem, seed)
    tasks += [partial(refitter.refit, problem, seed_of_change) for _, problem, seed_of_change in changes]
    settings = Settings.of(refitter.model)
    seconds = seconds_of_stability(refitter.problem, settings, n_bootstraps)
    if refitter.whole_procedure:
        seconds_of_fit = estimated_seconds(refitter.problem, settings, with_report=False)
        seconds = max(seconds, _OF_A_FIT * seconds_of_fit * 2 * n_bootstraps)
    results: list[Any] = []
    stage = progress.stage(f"stability, in about {rounded_duration(seconds)}", len(tasks))
    with workers_or_threads(n_threads(n_jobs), refitter.cancelled) as pool, stage as advance:
        for future in [pool.submit(task) for task in tasks]:
            results.append(future.result())
            advance()
    halves, bootstraps = results[:n_bootstraps], results[n_bootstraps : 2 * n_bootstraps]
    permuted, whole = results[2 * n_bootstraps : -len(changes)], results[-len(changes) :]
    sensitivity = [
        (name, int(result.labels.max()) + 1, adjusted_rand_index(result.labels, refitter.reported))
        for (name, *_), result in zip(changes, whole, strict=True)
    ]
    return Stability(
        subtypes=subtypes_table(refitter, halves, bootstraps),
        numbers=numbers_table(dict(zip(SAMPLES, (halves, bootstraps, permuted), strict=True)), refitter),
        subjects=subjects_table(refitter, halves),
        sensitivity=pd.DataFrame(sensitivity, columns=["change", "n_subtypes", "agreement"]),
        permuted_jaccard=weighted_jaccard(permuted),
        restart_agreement=float(refitter.cohort.fit.restarts_["ari_to_best"].mean()),
        n_bootstraps=n_bootstraps,
        is_of_whole_procedure=refitter.whole_procedure,
        seed=seed,
    )


# Are the subtypes of a cohort found again in another one? Assigned against found there, sizes and profiles.

_PERMUTATIONS = 20


@dataclass(frozen=True, eq=False, repr=False)
class Validation:
    """Whether subtypes are found again in another cohort.

    Attributes
    ----------
    subtypes : DataFrame
        `validate_subtypes` explains the columns.
    n_found : int
        Number of subtypes that the same procedure finds in the other cohort.
    n_cohort, n_other : int
        Subjects of both.
    agreement : float
        Adjusted Rand index, in the other cohort, of the subtypes assigned and of those found there.
    agreement_in_cohort : float
        The same in the cohort of the model.

    Examples
    --------
    >>> import clinclust as cc
    >>> isinstance(cc.stability.Validation, type)
    True
    """

    subtypes: pd.DataFrame
    n_found: int
    n_cohort: int
    n_other: int
    agreement: float
    agreement_in_cohort: float

    @property
    def n_found_again(self) -> int:
        """Subtypes that are found again: in one group, none is."""
        return int((self.subtypes["jaccard"] >= RECOVERED).sum()) if self.n_found > 1 else 0

    @property
    def summary(self) -> str:
        """The result in words: a line for the number, and one for each subtype."""
        finds = _TEXTS["finds" if self.n_found > 1 else "finds_one"].format(n=self.n_found)
        outside = 1.0 - self.subtypes["share_assigned"].sum()
        numbers = {"again": self.n_found_again, "n": len(self.subtypes), "n_other": self.n_other, "finds": finds}
        numbers["outside"] = _TEXTS["outside"].format(outside) if outside > 1e-9 else ""
        lines = [_TEXTS["validation"].format(agreement=self.agreement, **numbers)]
        for row in self.subtypes.to_dict("records"):
            numbered = [name for name in ("jaccard", "profile_correlation") if not math.isnan(row[name])]
            more = "".join(_TEXTS[name].format_map(row) for name in numbered)
            lines.append(_TEXTS["there"].format_map(row | {"more": more}))
        return "\n".join(lines)

    def __repr__(self) -> str:
        jaccards = ", ".join(f"{value:.2f}" for value in self.subtypes["jaccard"])
        return f"Validation(jaccard {jaccards}; {self.n_found} found in {self.n_other:,} subjects)"


@accepting()
def validate_subtypes(
    model: SubtypeModel, frame: pd.DataFrame, other: pd.DataFrame, *, progress: bool = True
) -> Validation:
    """Look for the subtypes of a model in another cohort, such as of another hospital.

    The subjects of the other cohort are assigned by the model, and independently clustered by the same procedure, with
    all that the fit chooses from the data chosen anew. Of another number found, the tree of the other fit is cut to as
    many subtypes, where it has them. What is compared is in the sense of Hennig (2007, Computational Statistics and
    Data Analysis 52, 258-271): a subtype is found again if mostly the same subjects come together.

    Parameters
    ----------
    model : SubtypeModel
        A fitted `MAPDP`.
    frame : DataFrame, N rows
        The cohort of the fit.
    other : DataFrame
        Another cohort, with the features of the fit in the same units.
    progress : bool
        Show a bar for the search.

    Returns
    -------
    Validation
        subtypes: for each subtype its share of the cohort, and of the other as assigned and as found there
        (`share_found`); the subtype found there that is nearest (`nearest`); `jaccard`, the number of subjects of the
        other cohort in both divided by that in either; `jaccard_by_chance`, that of random labels of the same sizes;
        the `band` of Hennig, or ``not found`` if the other cohort is one group; `jaccard_in_cohort`, where the subjects
        of the cohort are assigned by the fit of the other; and `profile_correlation` of the means of the features in
        the subtype and in the nearest, each in standard deviations from the mean of its own cohort.

    Raises
    ------
    CohortError
        If a table does not fit the schema.
    ValueError
        If the model is not a fitted MAPDP, or `frame` is not its cohort.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> def cohort(n):
    ...     frail = rng.random(n) < 0.4
    ...     return pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> frame, other = cohort(200), cohort(150)
    >>> model = cc.MAPDP(cc.draft_schema(frame), random_state=0, progress=False).fit(frame)
    >>> found = cc.stability.validate_subtypes(model, frame, other, progress=False)
    >>> found.n_found, (found.subtypes["jaccard"] > 0.9).tolist()
    (2, [True, True])
    """
    require_search(model, "validate_subtypes")
    return _validate(cohort_of(model, frame), other, progress=progress)


def _validate(cohort: FittedCohort, other: pd.DataFrame, *, progress: bool) -> Validation:
    model = cast("MAPDP", cohort.model)
    schema, n_subtypes, reported = model.schema_needed, model.n_clusters_, cohort.labels
    parameters = model.get_params() | {"schema": schema, "progress": progress}
    number = parameters["n_clusters"]
    if isinstance(number, Integral):  # a search that finds fewer says that they are not there
        parameters["n_clusters"] = None
    validated = schema.validate(other, warn=False)  # before the model, which knows a repair for single subjects only
    assigned = np.asarray(model.predict(other))
    fit = type(model)(**parameters).fit(other)
    n_found = min(int(number), fit.n_clusters_) if isinstance(number, Integral) else fit.n_clusters_
    if n_subtypes != fit.n_clusters_ and n_subtypes <= fit.subtype_of_.size:
        fit = fit.cut(n_subtypes)
    labels, back = np.asarray(fit.labels_), np.asarray(fit.predict(cohort.table))
    fits, fits_back = assigned >= 0, back >= 0  # others belong to none of the subtypes
    in_other = contingency(assigned[fits], labels[fits], n_subtypes)
    in_cohort = contingency(reported[fits_back], back[fits_back], n_subtypes)
    jaccard, nearest = clusterwise_jaccard(in_other), jaccard_similarities(in_other).argmax(axis=1)
    here, there = _profile(cohort.table, reported, schema.clustered), _profile(validated, labels, schema.clustered)
    rng = np.random.default_rng(fit.random_seed_)
    permuted = (contingency(assigned[fits], rng.permutation(labels[fits]), n_subtypes) for _ in range(_PERMUTATIONS))
    by_chance = np.mean([clusterwise_jaccard(counts) for counts in permuted], axis=0)
    sizes = np.bincount(assigned[fits], minlength=n_subtypes)
    bands = [band_of(value, size).name for value, size in zip(jaccard.tolist(), sizes.tolist(), strict=True)]
    if n_found == 1 < n_subtypes:  # all subjects there come together, and those of every subtype with them
        bands = ["not found"] * n_subtypes
    table = pd.DataFrame(
        {
            "subtype": model.codes_,
            "share": np.bincount(reported, minlength=n_subtypes) / len(reported),
            "share_assigned": sizes / len(other),
            "nearest": nearest + 1,
            "share_found": np.bincount(labels)[nearest] / len(other),
            "jaccard": jaccard,
            "jaccard_by_chance": by_chance,
            "band": bands,
            "jaccard_in_cohort": clusterwise_jaccard(in_cohort),
            "profile_correlation": [here[k].corr(there[at], min_periods=3) for k, at in enumerate(nearest)],
        }
    )
    return Validation(
        table,
        n_found,
        len(reported),
        len(other),
        adjusted_rand_index(assigned[fits], labels[fits]),
        adjusted_rand_index(reported[fits_back], back[fits_back]),
    )


def _profile(frame: pd.DataFrame, labels: Labels, features: tuple[Feature, ...]) -> pd.DataFrame:
    """Return the mean of each feature or nominal level, (F,), in SDs from all, of each subtype, the columns."""
    columns = []
    for feature in features:
        values = model_values(frame, feature.parts)
        for part in feature.parts:
            column = values[part.name]
            if not part.traits.is_nominal:
                columns.append(column)
                continue
            levels = range(len(part.levels or ()))
            columns += [np.where(np.isnan(column), np.nan, column == level) for level in levels]
    table = pd.DataFrame(np.column_stack(columns))
    return ((table.groupby(labels).mean() - table.mean()) / table.std()).T
