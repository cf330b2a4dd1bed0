"""Whether subtypes come out again: in samples of the cohort, and in another cohort."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from threading import Event
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd

from clinclust.arguments import accepting
from clinclust.arrays import Array, Labels, RandomState
from clinclust.associations.refit import merged, pose_as_fitted, refit_plan, search_clusters
from clinclust.data import WORDS
from clinclust.engine.kernels.compiled import announcing_compilation
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.plan import Budget, Threads, interruptible, n_threads
from clinclust.engine.search.settle import adjusted_rand_index, by_decreasing_size, groups_by_decreasing_size
from clinclust.errors import InputError, refuse
from clinclust.estimators.distinct_subtypes import as_asked
from clinclust.estimators.fit import FEW_SUBJECTS
from clinclust.estimators.fitting import Prepared, fit_by
from clinclust.estimators.mapdp import MAPDP
from clinclust.estimators.parameters import parameter_problems, seed_of
from clinclust.estimators.settings import Settings, estimated_seconds, pose_for, rounded_duration, seconds_of_stability
from clinclust.estimators.subtype_model import FittedCohort, SubtypeModel, cohort_of, cohort_problems, require_search
from clinclust.progress import SILENT, Progress
from clinclust.schema import Feature
from clinclust.schema.validation import kept_out

# Would these subtypes come out again? Refits of resampled cohorts, and of the cohort under other settings.


_N_RESTARTS = 3  # of each search


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
            return self.refit(self.problem.restricted_to(rows), seed)
        labels = self._repeat_procedure(self.problem.cohort.order[rows], seed)
        return Refitted(labels, int(labels.max()) + 1)

    def refit(self, problem: Problem, seed: int) -> Refitted:
        """Refit another problem, with what the fit chose from the data."""
        plan = replace(refit_plan(self.model, seed, _N_RESTARTS), cancelled=self.cancelled)
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
            n_restarts=min(_N_RESTARTS, settings.n_restarts),
            init=settings.init if isinstance(settings.init, str) else "search",
        )
        try:
            problem = pose_for(settings, table, schema)
        except InputError:
            if len(kept_out(table, schema)) < len(schema.clustered):
                raise
            return np.zeros(rows.size, dtype=np.int64)  # nothing differs between these subjects
        plan = replace(settings.search_plan(problem, self.cancelled, Budget(), SILENT), refine=False)
        prepared = Prepared(table, schema, problem)
        fit = fit_by(plan, prepared, is_tested=settings.is_tested, in_short=True)
        number, floor = settings.n_clusters, self.model.min_size
        if isinstance(number, Integral):  # a search that finds fewer shows that they are not stable
            number = min(int(number), fit.subtype_of_.size)
        if isinstance(floor, Integral):  # the same share of the subjects
            floor = max(2, math.ceil(int(floor) * rows.size / len(self.cohort.table)))
        return as_asked(fit, number, floor).labels_


def contingency(reported: Labels, refitted: Labels, n_subtypes: int) -> Array:
    """Return the number of subjects in each of K reported subtypes, some perhaps empty, and each refitted one."""
    counts = np.zeros((n_subtypes, int(refitted.max()) + 1))
    np.add.at(counts, (reported, refitted), 1.0)
    return counts


def _jaccard_similarities(counts: Array) -> Array:
    """Return the Jaccard similarity of each reported subtype with each refitted one, (K, L), by `contingency`."""
    either = counts.sum(axis=1, keepdims=True) + counts.sum(axis=0) - counts
    return np.asarray(counts / np.maximum(either, 1.0))


def clusterwise_jaccard(counts: Array) -> Array:
    """Return the largest Jaccard similarity of each reported subtype with a refitted one; NaN without subjects."""
    return np.where(counts.sum(axis=1) > 0.0, _jaccard_similarities(counts).max(axis=1), np.nan)


class Draw(NamedTuple):
    """A refit of a half of the cohort, compared with the reported partition."""

    jaccard: Array
    by_chance: Array
    n_found: int


def draw_and_refit(refitter: Refitter, seed: np.random.SeedSequence) -> Draw:
    """Refit a random half of the subjects, and compare it with the reported partition on them."""
    rng = np.random.default_rng(seed)
    n_subjects, reported = refitter.problem.cohort.n_subjects, refitter.reported
    seed_of_search = int(rng.integers(2**31))
    rows = np.sort(rng.choice(n_subjects, n_subjects // 2, replace=False))
    result = refitter.refit_rows(rows, seed_of_search)
    n_subtypes = int(reported.max()) + 1
    of_refit, of_chance = (
        clusterwise_jaccard(contingency(reported[rows], labels, n_subtypes))
        for labels in (result.labels, rng.permutation(result.labels))
    )
    return Draw(of_refit, of_chance, result.n_found)


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """How stable the subtypes of a cohort are. Tables are tidy; `assess_stability` explains the columns.

    Attributes
    ----------
    subtypes, numbers, sensitivity : DataFrame
    n_halves : int
        Half-samples.
    is_of_whole_procedure : bool
        Whether the halves were refitted with all that the fit chose from the data.

    Examples
    --------
    >>> import clinclust as cc
    >>> cc.stability.Stability.__match_args__[:2]
    ('subtypes', 'numbers')
    """

    subtypes: pd.DataFrame
    numbers: pd.DataFrame
    sensitivity: pd.DataFrame
    n_halves: int
    is_of_whole_procedure: bool

    @property
    def same_number(self) -> float:
        """The share of the half-samples with as many clusters as the cohort; of the whole procedure, subtypes."""
        return float(self.numbers.loc[self.numbers["as_in_cohort"], "share"].sum())

    @property
    def summary(self) -> str:
        """The result in words, a sentence for each subtype."""
        lines = [_TEXTS["subtype"].format_map(row) for row in self.subtypes.to_dict("records")]
        numbers = {"what": "subtypes" if self.is_of_whole_procedure else "clusters", "n": self.n_halves}
        return "\n".join([*lines, _TEXTS["number"].format(same=self.same_number, **numbers)])

    def __repr__(self) -> str:
        jaccards = ", ".join(f"{value:.2f}" for value in self.subtypes["jaccard"])
        return f"Stability(jaccard {jaccards}; {self.n_halves} half-samples)"


DISSOLVED, RECOVERED = 0.5, 0.75
"""Largest Jaccard of a subtype that is dissolved in a refit, and least of one that is found again (Hennig 2007)."""


class Band(NamedTuple):
    """A band of the mean Jaccard similarity, from `least` on."""

    least: float
    name: str
    words: str


_TEXTS = WORDS["stability"]["summary"]
*BANDS, TOO_FEW = (Band(**band) for band in _TEXTS["bands"])
"""The bands of Hennig (2007, Computational Statistics and Data Analysis 52, 258-271), the most stable first.

The last is of subtypes with hardly any subject: one who is alone comes out again alone, or not at all."""


def band_of(jaccard: float, n_subjects: int) -> Band:
    """Return the band of the mean Jaccard similarity of a subtype with this number of subjects."""
    if math.isnan(jaccard) or n_subjects < FEW_SUBJECTS:
        return TOO_FEW
    return next(band for band in BANDS if jaccard >= band.least)


def subtypes_table(refitter: Refitter, halves: list[Draw]) -> pd.DataFrame:
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
            "jaccard_by_chance": pd.DataFrame([draw.by_chance for draw in halves]).mean().to_numpy(),
        }
    )


def numbers_table(refitter: Refitter, halves: list[Draw]) -> pd.DataFrame:
    """Return how often how many clusters were found in the halves."""
    in_cohort = refitter.model.n_clusters_ if refitter.whole_procedure else refitter.model.subtype_of_.size
    times = sorted(Counter(draw.n_found for draw in halves).items())
    rows = [(n, n == in_cohort, number / len(halves)) for n, number in times]
    return pd.DataFrame(rows, columns=["n_found", "as_in_cohort", "share"])


@accepting()
def assess_stability(
    model: SubtypeModel,
    frame: pd.DataFrame,
    n_halves: int = 100,
    *,
    whole_procedure: bool = False,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: bool = True,
) -> Stability:
    """Refit a model on random halves of its cohort, and say which subtypes come out again.

    Each refit is a search from scratch, with the parameters of the model, and with the concentration, coarsening and
    block weights that the fit found. Where the subtypes are unions of clusters (`MAPDP.cut`, or
    ``n_clusters="distinct"``), the clusters of a refit are merged along their own tree to as many. What the fit chose
    from the data is then not in doubt, and subtypes look more stable than they are: two overlapping groups had a
    Jaccard of .98 so, and of .80 to .87 with `whole_procedure`.

    A subtype is compared with the nearest subtype of the refit: Jaccard is the number of drawn subjects in both divided
    by that in either. Its mean over the refits falls into a band of Hennig (2007, Computational Statistics and Data
    Analysis 52, 258-271): from .85 on highly stable, from .75 stable, from .6 a pattern, below that unstable. Stable
    does not mean real: slices of one continuum can be stable, so ask `distinct_subtypes` as well.

    In a half no subject is drawn twice, because copies would make clusters of their own.

    Parameters
    ----------
    model : SubtypeModel
        A fitted `MAPDP`.
    frame : DataFrame, N rows
        The cohort of the fit.
    n_halves : int
        Number of half-samples.
    whole_procedure : bool
        Choose coarsening, block weights, concentration and hyperparameters anew in every half, and test its tree again,
        as the fit did; ten to thirty times as long for ``n_clusters="distinct"``. The fits with other settings keep
        what the fit chose.
    random_state : int, numpy.random.Generator, RandomState or None
        Seed; by default that of the fit.
    n_jobs, progress
        As in `MAPDP`.

    Returns
    -------
    Stability
        subtypes: for each subtype the mean Jaccard in half-samples, its band and what it means, the share of the
        half-samples in which it dissolved (Jaccard at most .5) and in which it was found again (at least .75), and
        jaccard_by_chance, if the labels of each refit were dealt out at random. Subtypes of fewer than 5 subjects have
        no band.

        numbers: how often how many clusters were found in half-samples.

        sensitivity: number of subtypes, and adjusted Rand index with the reported partition, of refits of the whole
        cohort with a third, three and ten times the concentration, and three other seeds.

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
    >>> stability = cc.stability.assess_stability(model, frame, 5, progress=False)
    >>> stability.subtypes["band"].tolist()
    ['highly stable', 'highly stable']
    """
    require_search(model, "assess_stability")
    search: dict[str, Any] = {"random_state": random_state, "n_jobs": n_jobs, "progress": progress}
    problems = [*parameter_problems(search), *cohort_problems(model, frame)]
    if isinstance(n_halves, bool) or not isinstance(n_halves, int | np.integer) or n_halves < 1:
        problems.insert(0, f"n_halves must be a whole number of at least 1, not {n_halves!r}")
    refuse(problems)
    cohort = cohort_of(model, frame)
    return resample_cohort(cohort, int(n_halves), whole_procedure=whole_procedure, **search)


def resample_cohort(
    cohort: FittedCohort,
    n_halves: int,
    *,
    whole_procedure: bool = False,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: bool = True,
) -> Stability:
    """Return the result of `assess_stability` for a cohort; InputError if it has fewer than four subjects."""
    if len(cohort.table) < 4:
        raise InputError("half-samples need a cohort of at least four subjects")
    seed, cancelled = cohort.fit.random_seed_ if random_state is None else seed_of(random_state), Event()

    def search_and_compare() -> Stability:
        with announcing_compilation():
            refitter = Refitter(cohort, pose_as_fitted(cohort), cancelled, whole_procedure)
            changes, children = _change_settings(refitter.problem, seed), np.random.SeedSequence([seed, 2007])
            tasks: list[Any] = [partial(draw_and_refit, refitter, child) for child in children.spawn(n_halves)]
            tasks += [partial(refitter.refit, problem, of_search) for _, problem, of_search in changes]
            results: list[Any] = []
            about = f"stability, in about {_estimate_time(refitter, n_halves)}"
            stage = Progress(bool(progress)).stage(about, len(tasks))
            with Threads(n_threads(n_jobs), cancelled) as pool, stage as advance:
                for future in [pool.submit(task) for task in tasks]:
                    results.append(future.result())
                    advance()
        halves, whole = results[:n_halves], results[n_halves:]
        sensitivity = [
            (name, int(result.labels.max()) + 1, adjusted_rand_index(result.labels, refitter.reported))
            for (name, *_), result in zip(changes, whole, strict=True)
        ]
        return Stability(
            subtypes_table(refitter, halves),
            numbers_table(refitter, halves),
            pd.DataFrame(sensitivity, columns=["change", "n_subtypes", "agreement"]),
            n_halves,
            whole_procedure,
        )

    return interruptible(search_and_compare, cancelled)


_CONCENTRATIONS = {"1/3": 1.0 / 3.0, "3": 3.0, "30": 30.0}


def _change_settings(problem: Problem, seed: int) -> list[tuple[str, Problem, int]]:
    """Return the changed settings of the sensitivity table: a name, the problem, and the seed of the search."""
    changed = [
        (f"concentration {called}", problem.under(concentration=value), seed)
        for called, value in _CONCENTRATIONS.items()
    ]
    return [*changed, *((f"seed {seed + step}", problem, seed + step) for step in (1, 2, 3))]


_OF_A_FIT = 0.3  # time of the whole procedure in half a cohort, as a share of that of the fit


def _estimate_time(refitter: Refitter, n_halves: int) -> str:
    settings = Settings.of(refitter.model)
    seconds = seconds_of_stability(refitter.problem, settings, n_halves)
    if refitter.whole_procedure:
        seconds_of_fit = estimated_seconds(refitter.problem, settings, with_report=False)
        seconds = max(seconds, _OF_A_FIT * seconds_of_fit * n_halves)
    return rounded_duration(seconds)


# Are the subtypes of a cohort found again in another one? Assigned against found there, sizes and profiles.


@dataclass(frozen=True, eq=False, repr=False)
class Validation:
    """Whether subtypes are found again in another cohort.

    Attributes
    ----------
    subtypes : DataFrame
        `validate_subtypes` explains the columns.
    n_found : int
        Number of subtypes that the same procedure finds in the other cohort.
    n_other : int
        Number of subjects there.
    agreement : float
        Adjusted Rand index, in the other cohort, of the subtypes assigned and of those found there.

    Examples
    --------
    >>> import clinclust as cc
    >>> isinstance(cc.stability.Validation, type)
    True
    """

    subtypes: pd.DataFrame
    n_found: int
    n_other: int
    agreement: float

    @property
    def n_found_again(self) -> int:
        """Subtypes that are found again: none of one group."""
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
        other cohort in both divided by that in either; the `band` of Hennig, or ``not found`` if the other cohort is
        one group; and `profile_correlation` of the means of the features in the subtype and in the nearest, each in
        standard deviations from the mean of its own cohort.

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
    return find_again(cohort_of(model, frame), other, progress=progress)


def find_again(cohort: FittedCohort, other: pd.DataFrame, *, progress: bool) -> Validation:
    """Return the `validate_subtypes` of a cohort."""
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
    labels, fits = np.asarray(fit.labels_), assigned >= 0  # others belong to none of the subtypes
    in_other = contingency(assigned[fits], labels[fits], n_subtypes)
    jaccard, nearest = clusterwise_jaccard(in_other), _jaccard_similarities(in_other).argmax(axis=1)
    here, there = _profile(cohort.table, reported, schema.clustered), _profile(validated, labels, schema.clustered)
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
            "band": bands,
            "profile_correlation": [here[k].corr(there[at], min_periods=3) for k, at in enumerate(nearest)],
        }
    )
    agreement = adjusted_rand_index(assigned[fits], labels[fits])
    return Validation(table, n_found, len(other), agreement)


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
            columns += [np.where(np.isnan(column), np.nan, column == level) for level in range(len(part.levels or ()))]
    table = pd.DataFrame(np.column_stack(columns))
    return ((table.groupby(labels).mean() - table.mean()) / table.std()).T
