"""The checked parameters of an estimator, what they ask of the engine, and what a fit with them will cost."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arguments import is_number
from clinclust.engine.continuum.tested_node import LARGEST_NODE
from clinclust.engine.joint_estimates.resolution import DEFAULT, MANY_FEATURES, has_repeated
from clinclust.engine.problem.problem import Problem, pose
from clinclust.engine.search.plan import Budget, SearchPlan, n_threads
from clinclust.engine.search.settle import LARGE, N_DIVIDED, sample_size
from clinclust.errors import InputError, warn
from clinclust.estimators import parameters, say
from clinclust.estimators.parameters import PublishedParameters, SamplerParameters
from clinclust.estimators.subtype_model import Estimator
from clinclust.files.cell_text import listed
from clinclust.progress import Progress
from clinclust.schema import FeatureSchema


class Settings(PublishedParameters):
    """The checked parameters of a `MAPDP` or `PublishedMAPDP`; those of the paper have their defaults for `MAPDP`."""

    @classmethod
    def of(cls, model: Estimator) -> Self:
        """Check the parameters of a model; raise InputError with all problems."""
        parameters.check_estimator(type(model), model.get_params())
        return cls(**model.get_params())

    @property
    def is_tested(self) -> bool:
        """Whether the tree of the fit is tested."""
        return isinstance(self.n_clusters, str)

    @property
    def chooses_coarsening(self) -> bool:
        """Whether the coarsening is estimated."""
        return isinstance(self.coarsening, str)

    @property
    def estimates_prior(self) -> bool:
        """Whether hyperparameters or the concentration are estimated."""
        return isinstance(self.hyperparameters, str) or not is_number(self.concentration)

    @property
    def selects_features(self) -> bool:
        """Whether features are selected together with the partition."""
        return bool(self.select_features) and not isinstance(self.select_features, str)

    @property
    def selects_first(self) -> frozenset[str] | None:
        """The features with priors stated in code, if features of a wide table are selected before the search."""
        is_first = isinstance(self.select_features, str) and self.starts_anywhere and not self.estimates_prior
        return frozenset(stated_hyperparameters(self.hyperparameters) or ()) if is_first else None

    @property
    def fills_modes(self) -> bool:
        """Whether the search fills missing values with modes."""
        return self.missing == "mode"

    @property
    def starts_anywhere(self) -> bool:
        """Whether restarts begin at starts of several kinds."""
        return isinstance(self.init, str) and self.init == "search" and not self.fills_modes

    def search_plan(self, problem: Problem, cancelled: Event, budget: Budget, progress: Progress) -> SearchPlan:
        """Return the plan of the search of a fit; InputError for unusable `init` or options that blocks cannot have."""
        encoding = problem.cohort.encoding
        in_parts = sorted({feature.column for feature in encoding.features if feature.is_part})
        if self.fills_modes and in_parts:
            raise InputError(say("modes_with_a_spike", columns=listed(in_parts)))
        options = " and ".join(["select_features"] * self.selects_features + ["missing='mode'"] * self.fills_modes)
        likelihoods = zip(encoding.features, encoding.likelihoods, strict=True)
        blocks = sorted({str(feature.block) for feature, likelihood in likelihoods if likelihood.n_before})
        if options and blocks:
            raise InputError(say("options_with_a_block", options=options, blocks=listed(blocks)))
        automatic = parameters.AUTOMATIC_SHARE if self.chooses_coarsening else 0.0
        start: Any = self.init
        if not isinstance(start, str):  # clusters 0 .. K - 1, (N,), in encoded order
            n_subjects, order = problem.cohort.n_subjects, problem.cohort.order
            labels = parameters.cluster_codes(start, n_subjects, called="init")
            start = parameters.cluster_codes(labels[order], n_subjects, called="init")
        return SearchPlan(
            seed=parameters.seed_of(self.random_state),
            n_restarts=self.n_restarts,
            start="single" if self.fills_modes and isinstance(start, str) else start,  # the start of the paper
            max_sweeps=self.max_sweeps,
            n_jobs=self.n_jobs,
            refine=self.starts_anywhere,
            select_features=self.selects_features,
            selects_first=self.selects_first,
            outlying_share=automatic if self.outlying_share is None else self.outlying_share,
            choose_coarsening=self.chooses_coarsening,
            estimate_powers=isinstance(self.block_weights, str),
            choose_hyperparameters=isinstance(self.hyperparameters, str),
            concentration=self.concentration if isinstance(self.concentration, str) else None,
            fill_modes=self.fills_modes,
            cancelled=cancelled,
            budget=budget,
            progress=progress,
        )


def pose_for(settings: Settings | SamplerParameters, frame: pd.DataFrame, schema: FeatureSchema) -> Problem:
    """Return the problem of a validated cohort; estimated and drawn parameters begin at their defaults."""
    concentration = settings.concentration if is_number(settings.concentration) else DEFAULT
    coarsening = settings.coarsening if is_number(settings.coarsening) else 1.0
    weights = None if isinstance(settings.block_weights, str) else settings.block_weights
    return pose(frame, schema, stated_hyperparameters(settings.hyperparameters), concentration, coarsening, weights)


def stated_hyperparameters(
    hyperparameters: Mapping[str, Mapping[str, Any]] | str | None,
) -> Mapping[str, Mapping[str, Any]] | None:
    """Return the stated hyperparameters; None without any or if they are estimated."""
    return None if isinstance(hyperparameters, str) else hyperparameters


# How much memory a search takes.

_TABLES, _TABLES_OF_A_THREAD = 2.5, 0.6
"""Simultaneous tables of the subjects by numeric columns, and how many more with each further thread."""
_OF_A_CELL = 20
"""Bytes by subject and feature of the encoded cohort, of a copy without its outlying values, and of masks of these."""
_CLUSTER_TABLES, _CLUSTERS = 4, 128
"""Tables of the clusters by levels in one partition, and an upper number of clusters."""
_NUMBER, _NAMED = 8, 5
_LARGE_SHARE, _LARGE_IF_UNKNOWN = 0.25, 4e9
"""Share of the machine's memory, or bytes, from which a warning is issued."""


def needed_memory(problem: Problem, settings: Settings) -> float:
    """Return the approximate memory of the search in bytes, without the table itself."""
    arrays, threads = problem.cohort.arrays, n_threads(settings.n_jobs)
    subjects, n_features = problem.cohort.n_subjects, len(problem.cohort.encoding.features)
    cells, n_columns = _OF_A_CELL * subjects * n_features, n_features + int(_levels(problem).sum())
    if _begins_in_sample(subjects, settings):
        subjects = min(subjects, N_DIVIDED * threads)
    axes = (_TABLES + _TABLES_OF_A_THREAD * (threads - 1)) * subjects * n_columns
    partitions = threads * _CLUSTER_TABLES * min(subjects, _CLUSTERS) * int(arrays.level_start[-1])
    return cells + _NUMBER * (axes + partitions)


def _begins_in_sample(n_subjects: int, settings: Settings) -> bool:
    """Return whether the search begins in a sample, so that never more than that is in memory as a table of levels."""
    tunes = settings.estimates_prior or settings.selects_features
    return n_subjects >= LARGE and settings.starts_anywhere and not tunes


def _levels(problem: Problem) -> NDArray[np.int64]:
    """Return the number of levels of each nominal feature, int64 (D,); 0 for others."""
    likelihoods = problem.cohort.encoding.likelihoods
    return np.array([likelihood.n_statistics * likelihood.is_nominal for likelihood in likelihoods], dtype=np.int64)


def refuse_or_warn_of_memory(problem: Problem, settings: Settings) -> None:
    """Raise InputError for a fit that needs more memory than the machine has; warn if it needs a large share."""
    needed, there = needed_memory(problem, settings), machine_memory()
    if needed < (_LARGE_IF_UNKNOWN if there is None else _LARGE_SHARE * there):
        return
    levels, features = _levels(problem), problem.cohort.encoding.features
    most = [place for place in np.argsort(-levels, kind="stable")[:_NAMED] if levels[place] > 0.1 * levels.sum()]
    named = ", ".join(f"{features[place].name} ({levels[place]:,} levels)" for place in most)
    because = f" for {problem.cohort.n_subjects:,} subjects, most of it for {named}" if named else ""
    if there is not None and needed > there:
        raise InputError(say("too_much_memory", needed=needed / 1e9, because=because, there=there / 1e9))
    warn(say("much_memory", needed=needed / 1e9, because=because))


def machine_memory() -> float | None:
    """Return the bytes of memory that this process may use; None if the system does not say."""
    limits = []
    with suppress(AttributeError, ValueError, OSError):  # Windows has no sysconf
        limits.append(float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE")))
    with suppress(OSError, ValueError):  # no control group (container), or its limit is "max"
        limits.append(float(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return min(limits, default=None)


# How long a fit and its report take: processor seconds as measured on reference cohorts, divided by those of threads.

_SEARCH, _TEST = (-5.56, 0.59, 0.18), (-4.7, 0.57, 0.84)
"""Coefficients of ln(seconds) of a search, and of the test of a tree: constant, ln N (tested: `LARGEST_NODE`), ln D."""
_SKEWNESS = 1.57
"""Exponent of 1 + `skewness_of_gaussians` in the seconds of a search."""
_WITHOUT_A_FEATURE, _WITHOUT_A_CELL = 0.006, 1e-6
"""Seconds of a search without one feature: constant, and by subject and feature."""
_SELECTING_FIRST, _SELECTING_A_CELL = 0.05, 5e-6
"""The same of the selection of features before it in a wide table: 0.15 of 500 x 40, 1.7 of a survey of 4,654 x 70."""
MOST_REFITS = 24
"""Number of searches of the validated associations: of more features or blocks, several are left out together. The
subtypes found without one in 24 are nearly those found without one."""
_OTHER_REFITS = 6
"""Searches of an assessment of stability under other settings."""
_OF_FURTHER_THREADS, _MOST_THREADS = 0.85, 8
"""Share of each further thread's time that is not lost in waiting, and a number of threads that searches can use."""
_OF_COARSENING, _OF_OUTLYING, _OF_SELECTION, _OF_BLOCK_POWERS = 2.0, 2.0, 3.0, 1.3
"""Relative durations of each option (a chosen coarsening: 0.4 to 6); block weights also prolong the tree's test."""
_OF_RESTARTS, _DEFAULT_RESTARTS = 0.4, 10
"""Share of the restarts in the time of a default search, and their number."""
_AMONG_ALL_A_CELL = 2e-6
"""Seconds by subject and feature of a search among all subjects after one in a sample."""
_WRITING, _WRITING_A_FEATURE, _WRITING_A_CELL = 1.5, 0.02, 2e-5
"""Seconds of writing a workbook and a page, on one thread: constant, by feature, by subject and feature."""
_SURPRISE = 5.0
"""Factor by which one fit in ten takes longer than estimated."""
_MOST_VALUES, _MOST_NEGENTROPY = 2_000, 1.0


def skewness_of_gaussians(problem: Problem) -> float:
    """Return the departure of Gaussian features from normality, in nats: skewness^2 / 12 + excess kurtosis^2 / 48."""
    values = problem.cohort.arrays.values
    every = max(1, -(-len(values) // _MOST_VALUES))
    continuous = problem.cohort.encoding.likelihoods[-values.shape[1] :] if values.shape[1] else ()
    # Without missing values; a column that does not vary is masked by the division, and counts as normal.
    columns = np.ma.masked_invalid(values[::every, [likelihood.is_real for likelihood in continuous]])
    standard = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    nats = (standard**3).mean(axis=0) ** 2 / 12.0 + ((standard**4).mean(axis=0) - 3.0) ** 2 / 48.0
    return float(np.ma.filled(np.ma.minimum(nats, _MOST_NEGENTROPY), 0.0).sum())


def estimated_seconds(
    problem: Problem,
    settings: Settings,
    *,
    with_report: bool = True,
    associations: str | None = "refit",
    stability: int | None = None,
) -> float:
    """Return the approximate seconds of a fit and of its report; `stability` is the number of its half-samples."""
    n_subjects, n_features = problem.cohort.n_subjects, len(problem.cohort.encoding.features)
    seconds = _of_search(problem, settings)
    if settings.is_tested:
        is_weighed = settings.block_weights == "auto" and has_repeated(problem)
        tested = _power_law(_TEST, min(n_subjects, LARGEST_NODE), n_features)
        seconds += tested * (_OF_BLOCK_POWERS if is_weighed else 1.0) / _parallel(settings)
    if with_report:
        seconds += _WRITING + _WRITING_A_FEATURE * n_features + _WRITING_A_CELL * n_subjects * n_features
        seconds += _of_refits(problem, settings, min(n_features, MOST_REFITS) if associations == "refit" else 0)
        seconds += 0.0 if stability is None else seconds_of_stability(problem, settings, stability)
    return seconds


def _power_law(coefficients: tuple[float, float, float], n_subjects: int, n_features: int) -> float:
    constant, of_subjects, of_features = coefficients
    return float(np.exp(constant + of_subjects * np.log(n_subjects) + of_features * np.log(n_features)))


def seconds_of_stability(problem: Problem, settings: Settings, stability: int) -> float:
    """Return the approximate seconds of `assess_stability` with so many half-samples."""
    return _of_refits(problem, settings, stability + _OTHER_REFITS)


def _of_refits(problem: Problem, settings: Settings, n_refits: int) -> float:
    """Return the approximate seconds of searches without refinement."""
    n_cells = problem.cohort.n_subjects * len(problem.cohort.encoding.features)
    of_each = _WITHOUT_A_FEATURE + _WITHOUT_A_CELL * n_cells * (1.0 + 0.4 * skewness_of_gaussians(problem))
    if settings.selects_first is not None and len(problem.cohort.encoding.features) > MANY_FEATURES:
        of_each += _SELECTING_FIRST + _SELECTING_A_CELL * n_cells
    return n_refits * of_each / _parallel(settings)


def _parallel(settings: Settings) -> float:
    """Return the processor seconds of a search per second."""
    return 1.0 + _OF_FURTHER_THREADS * (min(n_threads(settings.n_jobs), _MOST_THREADS) - 1)


def _of_search(problem: Problem, settings: Settings) -> float:
    """Return the approximate seconds of the search, limited by `max_seconds`."""
    n_features, n_subjects = len(problem.cohort.encoding.features), problem.cohort.n_subjects
    is_sampled = _begins_in_sample(n_subjects, settings)
    searched, among_all = (sample_size(n_subjects), n_subjects) if is_sampled else (n_subjects, 0)
    ties = (1.0 + skewness_of_gaussians(problem)) ** _SKEWNESS
    longer = (  # by which factor, and whether
        (1.0 - _OF_RESTARTS + _OF_RESTARTS * settings.n_restarts / _DEFAULT_RESTARTS, True),
        (_OF_BLOCK_POWERS, settings.block_weights == "auto" and has_repeated(problem)),
        (_OF_COARSENING, settings.chooses_coarsening),
        (_OF_OUTLYING, bool(settings.outlying_share) and not settings.chooses_coarsening),
        (_OF_SELECTION, settings.selects_features),
    )
    factors = [factor for factor, is_asked in longer if is_asked]
    seconds = _power_law(_SEARCH, searched, n_features) * float(ties) * math.prod(factors)
    seconds = (seconds + _AMONG_ALL_A_CELL * among_all * n_features) / _parallel(settings)
    return seconds if settings.max_seconds is None else min(seconds, settings.max_seconds)


def duration_sentence(
    problem: Problem,
    settings: Settings,
    *,
    associations: str | None = "refit",
    stability: int | None = None,
    options: str = "these options",
) -> str:
    """Return a sentence on the duration of a fit and its report; `options` names the options in words."""
    seconds = estimated_seconds(problem, settings, associations=associations, stability=stability)
    search = _of_search(problem, settings)
    if settings.max_seconds is not None and _SURPRISE * search >= settings.max_seconds:
        after = "the test of the subtypes and the report take" if settings.is_tested else "the report takes"
        more = rounded_duration(seconds - search)
        return say("limited_duration", options=options, max_seconds=settings.max_seconds, after=after, more=more)
    usual, longest = rounded_duration(seconds), rounded_duration(_SURPRISE * seconds)
    more = f", and up to {longest} if many partitions are about equally good" if longest != usual else ""
    return f"With {options}, a fit and its report take about {usual} on this machine{more}"


_ROUND = (1, 2, 3, 5, 10, 20, 30, 60, 120, 180, 300, 600, 1200, 1800, 3600, 7200, 10800, 18000, 36000, 86400)
_UNITS = {3600: ("an hour", "hours"), 60: ("a minute", "minutes"), 1: ("a second", "seconds")}


def rounded_duration(seconds: float) -> str:
    """Return a duration as one of a few round ones: "2 seconds", "5 minutes", "an hour", "more than a day"."""
    if seconds > _ROUND[-1]:
        return "more than a day"
    nearest = min(_ROUND, key=lambda number: abs(np.log(number / max(seconds, 1.0))))
    length = next(length for length in _UNITS if nearest >= length)
    return _UNITS[length][0] if nearest == length else f"{nearest // length} {_UNITS[length][1]}"
