"""Would these subtypes come out again? Refits of resampled cohorts, and of the cohort under other settings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arguments import FRAME, MODEL, ON_OR_OFF, accepting
from clinclust.arrays import Array, Labels, RandomState
from clinclust.associations.refit import merged, posed_as_fitted, refit_plan
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.labels import adjusted_rand_index, by_decreasing_size, groups_by_decreasing_size
from clinclust.engine.search.plan import Budget
from clinclust.errors import InputError, refuse
from clinclust.estimators.cost import estimated_seconds, rounded_duration, seconds_of_stability
from clinclust.estimators.cut import as_asked
from clinclust.estimators.few_subjects import FEW_SUBJECTS
from clinclust.estimators.fitted_cohort import cohort_of, cohort_problems
from clinclust.estimators.fitting import fit_by
from clinclust.estimators.preparation import Prepared
from clinclust.estimators.search import search
from clinclust.estimators.settings import Settings
from clinclust.estimators.subtype_model import require_search
from clinclust.estimators.subtype_tree import FEWEST_DRAWS
from clinclust.progress import SILENT
from clinclust.schema.validation import kept_out

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.engine.problem.problem import Problem
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.progress import Progress


@dataclass(frozen=True, eq=False)
class Procedure:
    """How the subtypes of a model were found, to be done again in a part of its cohort.

    All parameters of the model hold: what it chose from the data is chosen anew. Only the search is shorter: without
    refinement, time limits or a given start, and with the fewest draws for each join of a tree.
    """

    model: MAPDP
    cohort: pd.DataFrame
    n_restarts: int
    cancelled: Event

    def labels(self, rows: Labels, seed: int) -> Labels:
        """Return the subtype of the subjects in some rows of the cohort, int64 (n,), 0, 1, ... by decreasing size."""
        settings, schema, frame = self._with(seed), self.model.schema_, self.cohort.iloc[rows]
        try:
            problem = settings.problem_of(frame, schema)
        except InputError:
            if len(kept_out(frame, schema)) < len(schema.clustered):
                raise
            return np.zeros(rows.size, dtype=np.int64)  # nothing differs between these subjects
        plan = replace(settings.search_plan(problem, self.cancelled, Budget(), SILENT), refine=False, calibrate=False)
        cohort = Prepared(frame, schema, problem)
        fit = fit_by(plan, cohort, is_tested=settings.is_tested, n_draws=FEWEST_DRAWS, with_grades=False)
        asked = settings.n_clusters
        if isinstance(asked, Integral):
            asked = min(int(asked), fit.subtype_of_.size)  # a search that finds fewer shows that they are not stable
        return as_asked(fit, asked, self._floor(rows.size)).labels_

    def _with(self, seed: int) -> Settings:
        """Return the settings of another search."""
        settings = Settings.of(self.model)
        return replace(
            settings,
            random_state=seed,
            n_jobs=1,
            progress=False,
            max_seconds=None,
            n_restarts=min(self.n_restarts, settings.n_restarts),
            init=settings.init if isinstance(settings.init, str) else "search",
        )

    def _floor(self, n_subjects: int) -> float | None:
        """Return `MAPDP.min_size` for a part of the cohort: the same share of its subjects."""
        floor = self.model.min_size
        if not isinstance(floor, Integral):
            return floor
        return max(2, math.ceil(int(floor) * n_subjects / len(self.cohort)))


class Refitted(NamedTuple):
    """What a refit found."""

    labels: Labels
    """(n,) the subtype of each subject, 0 to K - 1 by decreasing size."""
    n_found: int
    """The number of clusters that the search found, before mergers; of the whole procedure, of subtypes."""


@dataclass(frozen=True, eq=False)
class Refitter:
    """Searches as the fit of a model did, from scratch, with its concentration, coarsening and block weights.

    Where its subtypes are unions of clusters, those of a refit are merged to as many, or more where the tree would join
    large subtypes before a few odd subjects. A `procedure` replaces this for resamples.
    """

    problem: Problem
    model: MAPDP
    n_restarts: int
    cancelled: Event
    procedure: Procedure | None = None

    @classmethod
    def of(
        cls, model: MAPDP, cohort: pd.DataFrame, n_restarts: int, cancelled: Event, *, whole_procedure: bool
    ) -> Refitter:
        """Encode a cohort, which `cohort_of` has checked."""
        problem = posed_as_fitted(model, cohort)
        procedure = Procedure(model, cohort, n_restarts, cancelled) if whole_procedure else None
        return cls(problem, model, n_restarts, cancelled, procedure)

    @property
    def reported(self) -> Labels:
        """The reported subtype of each subject, in the order of the problem, int64 (N,)."""
        return np.asarray(self.model.labels_, dtype=np.int64)[self.problem.cohort.order]

    def rows(self, rows: Labels, seed: int) -> Refitted:
        """Refit some subjects of the problem, int64 (n,), none twice."""
        if self.procedure is None:
            return self.whole(self.problem.restricted_to(rows, 0), seed)
        labels = self.procedure.labels(self.problem.cohort.order[rows], seed)
        return Refitted(labels, int(labels.max()) + 1)

    def whole(self, problem: Problem, seed: int) -> Refitted:
        """Refit another problem."""
        plan = replace(refit_plan(self.model, seed, self.n_restarts), cancelled=self.cancelled)
        found = search(problem, plan)
        problem, best = found.problem, found.winner
        if best.included is not None and best.included.any():
            problem = problem.with_features(best.included)
        labels = by_decreasing_size(best.labels)
        n_found = int(labels.max()) + 1
        if self.model.subtype_of_.size > self.model.n_clusters_ < n_found:
            labels = self._merged(problem, labels)
        return Refitted(labels, n_found)

    def _merged(self, problem: Problem, labels: Labels) -> Labels:
        share = labels.size / self.problem.cohort.n_subjects
        large = self.model.cluster_sizes_[self.model.cluster_sizes_ >= FEW_SUBJECTS]
        enough = share * large.min() / 2.0 if large.size else 0.0
        subtype_of = merged(problem, labels, self.model.n_clusters_, large.size, enough)
        return groups_by_decreasing_size(subtype_of, np.bincount(labels))[labels]


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


def clusterwise_jaccard(counts: Array) -> Array:
    """Return the largest Jaccard similarity of each reported subtype with a refitted one; NaN without subjects."""
    either = counts.sum(axis=1, keepdims=True) + counts.sum(axis=0, keepdims=True) - counts
    with np.errstate(invalid="ignore"):
        largest = np.max(counts / either, axis=1)
    return np.where(counts.sum(axis=1) > 0.0, largest, np.nan)


def co_membership(reported: Labels, refitted: Labels, counts: Array) -> tuple[Array, Array]:
    """Return with which share of the others of its subtype, and of all other subjects, each subject came together.

    Both are float64 (n,), NaN where there are no such subjects; `counts` is the `contingency`.
    """
    together_own = counts[reported, refitted] - 1.0
    in_own = counts.sum(axis=1)[reported] - 1.0
    together = counts.sum(axis=0)[refitted] - counts[reported, refitted]
    outside = counts.sum() - counts.sum(axis=1)[reported]
    with np.errstate(invalid="ignore", divide="ignore"):
        return together_own / in_own, together / outside


HALF, BOOTSTRAP, PERMUTED = SAMPLES = ("half-sample", "bootstrap", "permuted")
"""Kinds of resamples; the last are halves of cohorts with permuted columns."""


class Draw(NamedTuple):
    """A refit of a resample, compared with the partition of the whole, reported or of permuted columns."""

    rows: Labels
    sizes: Array
    is_large: NDArray[np.bool_]
    jaccard: Array
    by_chance: Array
    own: Array
    others: Array
    n_found: int


def drawn(refitter: Refitter, kind: str, seed: np.random.SeedSequence) -> Draw:
    """Refit one resample, and compare it with the reported partition on its subjects."""
    rng = np.random.default_rng(seed)
    n_subjects, reported = refitter.problem.cohort.n_subjects, refitter.reported
    its_seed = int(rng.integers(2**31))
    n_found = None
    if kind == PERMUTED:
        refitter = replace(refitter, problem=_permuted(refitter, rng), procedure=None)
        whole = refitter.whole(refitter.problem, its_seed)
        reported, n_found = whole.labels, whole.n_found
    if kind == BOOTSTRAP:
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
    return Draw(rows, counts.sum(axis=1), is_large, jaccard, by_chance, own, others, n_found or found.n_found)


def _permuted(refitter: Refitter, rng: np.random.Generator) -> Problem:
    problem = refitter.problem
    arrays = problem.cohort.arrays
    columns = rng.permuted(arrays.codes, axis=0), rng.permuted(arrays.values, axis=0)
    moved = arrays._replace(codes=columns[0], values=columns[1])
    return replace(problem, cohort=replace(problem.cohort, arrays=moved))


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
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> model = cc.MAPDP(cc.draft_schema(frame), random_state=0, progress=False).fit(frame)
    >>> stability = cc.stability.assess_stability(model, frame, n_bootstraps=5, progress=False)
    >>> isinstance(stability, cc.stability.Stability), stability.same_number
    (True, 1.0)
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
        lines = [
            f"Subtype {row.subtype} ({row.size:,} subjects): {row.band} (Jaccard {row.jaccard:.2f}, by chance "
            f"{row.jaccard_by_chance:.2f}): {row.meaning}."
            for row in self.subtypes.itertuples()
        ]
        what = "subtypes" if self.is_of_whole_procedure else "clusters"
        few = " (a subtype of few subjects may have none in a half)" if (self.subtypes["size"] < _FEW).any() else ""
        lines.append(f"As many {what} in {100 * self.same_number:.0f}% of {self.n_bootstraps} half-samples{few}.")
        return "\n".join(lines)

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


BANDS = (
    Band(0.85, "highly stable", "the same subjects come together again nearly always"),
    Band(0.75, "stable", "a valid, stable subtype: mostly the same subjects come together again"),
    Band(0.6, "a pattern", "there is a pattern, but which subjects belong to it is doubtful"),
    Band(0.5, "unstable", "not to be trusted: other subjects come together in other samples"),
    Band(0.0, "dissolved", "the subtype does not come out again: other samples divide its subjects otherwise"),
)
"""The bands of Hennig (2007, Computational Statistics and Data Analysis 52, 258-271), the most stable first."""


TOO_FEW = Band(0.0, "few subjects", "too few subjects to tell")
"""Of subtypes with hardly any subject: one who is alone comes out again alone, or not at all."""


def band_of(jaccard: float, n_subjects: int) -> Band:
    """Return the band of the mean Jaccard similarity of a subtype with this number of subjects."""
    if math.isnan(jaccard) or n_subjects < FEW_SUBJECTS:
        return TOO_FEW
    return next(band for band in BANDS if jaccard >= band.least)


def subtypes_table(refitter: Refitter, halves: list[Draw], bootstraps: list[Draw]) -> pd.DataFrame:
    """Return how far each subtype comes out again; `assess_stability` explains the columns."""
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


def weighted_jaccard(draws: list[Draw]) -> float:
    """Return the mean Jaccard of the clusters of enough subjects, weighed by their sizes; NaN if there are no two.

    One cluster of nearly all subjects comes out again in any half: it divides nothing.
    """
    found = []
    for draw in draws:
        counted = draw.is_large & (draw.sizes > 0)
        if draw.is_large.sum() > 1 and counted.any():
            found.append(float(np.average(draw.jaccard[counted], weights=draw.sizes[counted])))
    return float(np.mean(found)) if found else float("nan")


def numbers_table(draws: dict[str, list[Draw]], refitter: Refitter) -> pd.DataFrame:
    """Return how often how many clusters were found in the resamples of each kind."""
    rows = []
    for sample, of_sample in draws.items():
        of_clusters = refitter.procedure is None or sample == PERMUTED
        in_cohort = refitter.model.subtype_of_.size if of_clusters else refitter.model.n_clusters_
        found, times = np.unique([draw.n_found for draw in of_sample], return_counts=True)
        rows += [
            (sample, n, n == in_cohort, number / len(of_sample))
            for n, number in zip(found.tolist(), times.tolist(), strict=True)
        ]
    return pd.DataFrame(rows, columns=["sample", "n_found", "as_in_cohort", "share"])


def subjects_table(refitter: Refitter, halves: list[Draw], index: pd.Index) -> pd.DataFrame:
    """Return with whom each subject came together in half-samples, in the order of the table."""
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


def sensitivity_table(refitter: Refitter, names: list[str], whole: list[Refitted]) -> pd.DataFrame:
    """Return the number of subtypes of the whole cohort, and their agreement with the reported ones, by setting."""
    reported = refitter.reported
    rows = [
        (name, int(found.labels.max()) + 1, adjusted_rand_index(found.labels, reported))
        for name, found in zip(names, whole, strict=True)
    ]
    return pd.DataFrame(rows, columns=["change", "n_subtypes", "agreement"])


def _mean(values: Array) -> Array:
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0))


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
