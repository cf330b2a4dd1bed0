"""Columns of outcomes, and models of an outcome in three steps."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import chdtrc, digamma, expit, gammaln, log_expit, logit, softmax

from clinclust.arrays import Array, Code, Labels, Mask
from clinclust.drafting import draft_schema
from clinclust.errors import CohortWarning, InputError, SchemaError, did_you_mean, refuse
from clinclust.estimators.subtype_model import (
    FittedCohort,
    clustered_features,
    cohort_of,
    fewest_subjects,
    place_of,
    require_fitted,
)
from clinclust.files.cell_text import canonical_text
from clinclust.schema import FeatureSchema

if TYPE_CHECKING:
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature


# The columns of outcomes, times and covariates, and the assignment of the subjects with its errors.

Kind: TypeAlias = Literal["continuous", "binary", "count", "ordered", "survival"]

_MOST_LEVELS = 10
"""Number of different values above which a scale counts as continuous."""


@dataclass(frozen=True)
class Outcome:
    """An outcome of N subjects."""

    name: str
    kind: Kind
    observed: Array
    """(N,), NaN = missing; 1 for the event and 0 for none."""
    event: str | None = None
    """What counts as the event, of a binary outcome or a survival."""
    time: Array | None = None
    """(N,) end of follow-up, NaN = missing."""
    entry: Array | None = None
    """(N,) begin of follow-up."""

    @property
    def is_known(self) -> Mask:
        """Whether the outcome of a subject is observed, bool (N,)."""
        is_observed = ~np.isnan(self.observed)
        if self.time is None or self.entry is None:
            return is_observed
        return is_observed & ~np.isnan(self.time + self.entry)

    def modelled(self, rows: Mask) -> Array:
        """Return the outcomes of some subjects, (n,), for `Density.terms`; (n, 2J) of times."""
        if self.time is not None and self.entry is not None:
            return in_intervals(self.time[rows], self.observed[rows], self.entry[rows])
        if self.kind == "ordered":  # levels are numbered 0, 1, ... without a gap
            return np.unique(self.observed[rows], return_inverse=True)[1].astype(np.float64)
        return self.observed[rows]


class Covariates(NamedTuple):
    """Terms of a regression and their values in N subjects."""

    terms: list[str]
    values: Array
    """(N, C), NaN = missing."""

    @property
    def is_known(self) -> Mask:
        """Whether all values of a subject are observed, bool (N,)."""
        return np.asarray(~np.isnan(self.values).any(axis=1))

    def of(self, rows: Mask) -> Covariates:
        """Return the covariates of some subjects."""
        return Covariates(self.terms, self.values[rows])


class CohortColumns:
    """The columns of a cohort: those that are validated, and those of a `table` in the order of the cohort."""

    def __init__(self, cohort: FittedCohort, table: pd.DataFrame) -> None:
        self.cohort, self._table, self._schema = cohort, table, cohort.schema
        self.problems: list[str] = []

    @classmethod
    def read(cls, model: SubtypeModel, frame: pd.DataFrame) -> CohortColumns:
        """Validate the table of a public function, which is the caller."""
        require_fitted(model)
        cohort = cohort_of(model, frame, stacklevel=4)
        return cls(cohort, cohort.in_order(frame))

    def refuse(self) -> None:
        """Raise InputError with all problems, if there are any."""
        refuse(self.problems)

    def check(self, versus: Code, level: float, names: Sequence[str], called: str, *, alone: bool = False) -> None:
        """Note what is wrong with the subtype to compare with, the level, and columns that formed the subtypes.

        With `alone`, one subtype is enough.
        """
        n_subtypes = int(self.cohort.labels.max()) + 1
        if not 0.0 < level < 1.0:
            self.problems.append(f"level must lie between 0 and 1, not {level!r}")
        if n_subtypes == 1 and not alone:
            self.problems.append("there is one subtype, so nothing can be compared")
        elif place_of(versus, self.cohort.model.codes_) is None:
            self.problems.append(
                f"versus must be a subtype, {', '.join(map(str, self.cohort.model.codes_))}, not {versus!r}"
            )
        formed = [repr(name) for name in names if name in clustered_features(self.cohort.model)]
        if formed:
            self.problems.append(f"{called}: the subtypes were found from {', '.join(formed)}")

    def feature(self, name: str, called: str) -> tuple[Feature, Array] | None:
        """Return the feature of a column and its scores (N,), NaN = missing; None, and a problem, without any."""
        cells = self._cells(name, called)
        if cells is None:
            return None
        if name in self._schema and self._schema[name].likelihood is not None:
            feature, column = self._schema[name], self.cohort.table[name]
        elif cells.nunique() < 2:
            self.problems.append(f"{called}: {name!r} has {'one value only' if cells.nunique() else 'no values'}")
            return None
        else:
            table = self._table[[name]].where(cells.notna().to_numpy()[:, None])
            try:
                drafted = draft_schema(table, roles={name: "describe"}, progress=False)[name]
            except SchemaError:
                drafted = None
            if drafted is None or drafted.likelihood is None:
                self.problems.append(f"{called}: {name!r} holds neither numbers nor few levels (of dates, take days)")
                return None
            feature, column = drafted, FeatureSchema([drafted]).validate(table, warn=False)[name]
            others = cells[(cells.notna() & column.isna()).to_numpy()]
            if len(others):
                warnings.warn(
                    f"{name}: {len(others)} cells ({_some(others)}) are taken for missing; if they are not, declare "
                    "the column in the schema, with role: describe",
                    CohortWarning,
                    stacklevel=5,
                )
        scores = feature.scores(column)
        if np.isinf(scores).any():
            self.problems.append(f"{called}: {name!r} has values beyond a limit; give them a number")
            return None
        return feature, scores

    def outcome(self, name: str, event: str | None) -> Outcome | None:
        """Return an outcome without a time; `event` is the level that counts as 1, of levels."""
        if event is not None:
            values = self._is_level(name, event)
            return None if values is None else Outcome(name, "binary", values, event)
        column = self.feature(name, "outcome")
        if column is None:
            return None
        feature, values = column
        if feature.traits.is_nominal:
            levels = ", ".join(map(str, feature.levels or ()))
            self.problems.append(f"outcome: {name!r} has levels without order; name one as the event: {levels}")
            return None
        if feature.traits.is_yes_no:
            return Outcome(name, "binary", values, str(feature.levels[1]) if feature.levels else "1")
        if feature.traits.is_scale and np.unique(values[~np.isnan(values)]).size <= _MOST_LEVELS:
            return Outcome(name, "ordered", values)
        is_count = feature.traits.is_whole and not feature.traits.is_scale
        return Outcome(name, "count" if is_count else "continuous", values)

    def survival(self, name: str, time: str, entry: str | None, event: str | None) -> Outcome | None:
        """Return an outcome with the time to it; without `event`, one coded 0 and 1."""
        cells = self._cells(name, "outcome")
        ends, begins = self._number(time, "time"), None if entry is None else self._number(entry, "entry")
        if cells is not None and event is None and not set(cells.dropna()) <= {"0", "1"}:
            self.problems.append(f"event: say which value of {name!r} is the event: {_some(cells)}")
            return None
        event = "1" if event is None else event
        values = None if cells is None else self._is_level(name, event)
        if values is None or ends is None or (entry is not None and begins is None):
            return None
        begins = np.zeros(ends.size) if begins is None else begins
        if (ends <= begins).any():
            n_early, begin = int((ends <= begins).sum()), "0" if entry is None else repr(entry)
            self.problems.append(f"time: {n_early} values of {time!r} are not above {begin}, where follow-up begins")
        return Outcome(name, "survival", values, event, ends, begins)

    def covariates(self, names: Sequence[str], called: str) -> Covariates:
        """Return the terms of some columns and their values; levels without order have an indicator each."""
        terms: list[str] = []
        columns = [np.empty((len(self._table), 0))]
        for name in names:
            column = self.feature(name, called)
            if column is None:
                continue
            feature, scores = column
            levels = [str(level) for level in feature.levels or ()]
            if feature.traits.is_nominal:
                others = np.arange(1, len(levels))
                terms += [f"{name}: {levels[level]} (against {levels[0]})" for level in others]
                columns.append(np.where(np.isnan(scores)[:, None], np.nan, scores[:, None] == others))
            else:
                terms.append(f"{name}: {levels[-1]}" if feature.traits.is_yes_no and levels else name)
                columns.append(scores[:, None])
        return Covariates(terms, np.hstack(columns))

    def assign(self, rows: Mask, covariates: Covariates, versus: Code, called: str) -> tuple[Assigned, Covariates]:
        """Return the subjects of some rows, bool (N,), who have all covariates, as they were assigned.

        Raises InputError for a term whose values are determined by the terms before it, or by none.
        """
        assigned = Assigned(self.cohort, rows & covariates.is_known, versus)
        terms, values = covariates = covariates.of(assigned.rows)
        columns = np.hstack([np.ones((len(values), 1)), standardised(values)[0]])
        for place, term in enumerate(terms):
            if np.linalg.matrix_rank(columns[:, : place + 2], tol=1e-8 * np.sqrt(len(values))) < place + 2:
                why = "others determine it" if np.ptp(values[:, place]) > 0.0 else "it is the same in all"
                raise InputError(f"{called}: leave out {term!r}: of the subjects with all values, {why}")
        return assigned, covariates

    def _cells(self, name: str, called: str) -> pd.Series | None:
        """Return the canonical texts of a column, without the codes that the schema declares missing."""
        if name not in self._table.columns:
            near = did_you_mean(name, [column for column in self._table.columns if isinstance(column, str)])
            self.problems.append(f"{called}: the table has no column {name!r}.{near}".removesuffix("."))
            return None
        cells = self._table[name].map(canonical_text, na_action="ignore").astype("string")
        return cells.mask(cells.isin(["", *map(str, self._schema.missing_codes)]).fillna(True))

    def _number(self, name: str, called: str) -> Array | None:
        """Return the numbers of a column, (N,), NaN = missing."""
        cells = self._cells(name, called)
        if cells is None:
            return None
        numbers = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        n_texts = int((np.isnan(numbers) & cells.notna().to_numpy()).sum())
        if n_texts == 0 and np.isfinite(numbers[~np.isnan(numbers)]).all():
            return numbers
        column = self.feature(name, called)  # numbers with decimal commas or units
        if column is not None and column[0].levels is None:
            return column[1]
        if column is not None:
            self.problems.append(f"{called}: {name!r} holds levels, not numbers")
        return None

    def _is_level(self, name: str, event: str) -> Array | None:
        """Return 1 for the cells of a column that are the event and 0 for others, NaN = missing, float64 (N,)."""
        cells = self._cells(name, "outcome")
        if cells is None:
            return None
        if name in self._schema and self._schema[name].levels is not None:
            cells = self.cohort.table[name].astype("string")
        wanted = canonical_text(event)
        at = (cells == wanted).fillna(False).to_numpy(dtype=bool)
        number = pd.to_numeric(pd.Series([wanted]), errors="coerce").iloc[0]
        if not np.isnan(number):
            at |= (pd.to_numeric(cells, errors="coerce") == number).fillna(False).to_numpy(dtype=bool)
        if not at.any():
            self.problems.append(f"event: no cell of {name!r} is {event!r}; {_some(cells)}")
            return None
        return np.where(cells.isna().to_numpy(dtype=bool), np.nan, at)


def _some(cells: pd.Series) -> str:
    """Return the different values of a column of levels in words; of many, how many."""
    levels = cells.dropna().unique().tolist()
    return f"it has {', '.join(sorted(levels))}" if len(levels) <= _MOST_LEVELS else f"it has {len(levels)} values"


def standardised(values: Array) -> tuple[Array, Array]:
    """Return columns with mean 0 and standard deviation 1, so that units decide nothing, and what they were."""
    scales = np.maximum(values.std(axis=0), 1e-300)
    return (values - values.mean(axis=0)) / scales, scales


_FEWEST = 5
"""Fewest subjects of a subtype with all values."""
_LEAST_RECOVERED = 0.7
"""Share of the members of a subtype who are assigned to it, below which nothing is corrected."""


class Assigned:
    """Some subjects, bool (N,), of the subtypes that have enough of them, as these were assigned.

    Raises InputError if there are not two such subtypes, `versus` among them.
    """

    def __init__(self, cohort: FittedCohort, rows: Mask, versus: Code) -> None:
        labels, fewest = cohort.labels, max(_FEWEST, fewest_subjects(cohort.model))
        counts = np.bincount(labels[rows], minlength=int(labels.max()) + 1)
        self.subtypes: Labels = np.flatnonzero(counts >= fewest).astype(np.int64)
        self.codes = cohort.model.codes_
        reference = place_of(versus, self.codes)
        if self.subtypes.size < 2 or reference is None or reference not in self.subtypes:
            raise InputError(
                f"at least two subtypes, among them subtype {versus}, need {fewest} subjects with all values; name "
                "other columns, or another subtype"
            )
        self.versus = int(np.searchsorted(self.subtypes, reference))
        """Place of the subtype that others are compared with."""
        self.too_small = [self.codes[it] for it in np.setdiff1d(np.arange(counts.size), self.subtypes)]
        """Codes of the subtypes that are left out."""
        among = np.isin(labels, self.subtypes)
        self.rows: Mask = rows & among
        self.labels: Labels = np.searchsorted(self.subtypes, labels[self.rows]).astype(np.int64)
        self._errors = np.eye(self.subtypes.size)
        self._why_not: str | None = "these subtypes have no probabilities"
        if cohort.model.membership_ is not None:
            membership = np.asarray(cohort.model.membership_)[among][:, self.subtypes]
            membership = membership / np.maximum(membership.sum(axis=1, keepdims=True), 1e-300)
            assigned = np.searchsorted(self.subtypes, labels[among]).astype(np.int64)
            self._errors = assignment_errors(membership, assigned)
            recovered = np.diag(self._errors)
            worst = int(recovered.argmin())
            self._why_not = None
            if recovered[worst] < _LEAST_RECOVERED:
                self._why_not = (
                    f"the subtypes are too hard to tell apart: {100 * recovered[worst]:.0f}% of the members of "
                    f"subtype {self.codes[self.subtypes[worst]]} are assigned to it (at least "
                    f"{100 * _LEAST_RECOVERED:.0f}% are needed)"
                )

    @property
    def pairs(self) -> list[dict[str, Code]]:
        """The codes of each other subtype and of the one that it is compared with, as columns of a result."""
        others, versus = np.delete(self.subtypes, self.versus), int(self.subtypes[self.versus])
        return [{"subtype": self.codes[subtype], "versus": self.codes[versus]} for subtype in others.tolist()]

    def errors_of(self, method: str) -> tuple[Array, str | None]:
        """Return the errors of assignment (K, K), and why they cannot be carried through, if they cannot."""
        return (np.eye(self.subtypes.size), None) if method == "naive" else (self._errors, self._why_not)


# Outcomes by subtype with the errors of assignment carried through: BCH and maximum likelihood, in three steps.

_LARGEST = 30.0
"""Bound of exponents."""
_MOST_SIZE = 12.0
"""Bound of the log size, at which counts are Poisson."""
_EVENTS_OF_AN_INTERVAL, _MOST_INTERVALS = 8, 12


class Terms(NamedTuple):
    """The log densities of outcomes, and their derivatives."""

    log_density: Array
    """(N, K)"""
    of_eta: Array
    """(N, K)"""
    of_shape: Array
    """(S, N, K)"""


class Density(NamedTuple):
    """The density of an outcome. The outcomes of N subjects are (N,), or (N, 2J) as `in_intervals` returns them."""

    terms: Callable[[Array, Array, Array], Terms]
    """Returns the terms of outcomes by linear predictors (N, K) and shape parameters (S,)."""
    start: Callable[[Array], tuple[float, Array]]
    """Returns an intercept and shape parameters (S,) for outcomes in one group."""
    measure: str
    """What is reported of a difference of linear predictors: its exponential, if this is a ratio."""
    level: str = ""
    """What `on_scale` of the linear predictor of a subtype is; empty for nothing."""
    on_scale: Callable[[Array], Array] = np.asarray

    @property
    def is_ratio(self) -> bool:
        """Whether the exponential of a difference is reported."""
        return self.measure.endswith("ratio")


def _normal(y: Array, eta: Array, shape: Array) -> Terms:
    log_sd = np.clip(shape[0], -_LARGEST, _LARGEST)
    standard = (y[:, None] - eta) * np.exp(-log_sd)
    return Terms(-0.5 * standard**2 - log_sd, standard * np.exp(-log_sd), (standard**2 - 1.0)[None])


def _bernoulli(y: Array, eta: Array, shape: Array) -> Terms:
    is_one = y[:, None]
    log_density = np.where(is_one > 0.0, log_expit(eta), log_expit(-eta))
    return Terms(log_density, is_one - expit(eta), np.empty((0, *eta.shape)))


def _negative_binomial(y: Array, eta: Array, shape: Array) -> Terms:
    size, count = np.exp(np.clip(shape[0], -_LARGEST, _MOST_SIZE)), y[:, None]
    log_mean = np.clip(eta, -_LARGEST, _LARGEST)
    mean, share = np.exp(log_mean), np.log1p(np.exp(log_mean) / size)
    log_density = gammaln(count + size) - gammaln(size) - gammaln(count + 1.0) - size * share
    log_density += count * (log_mean - np.log(size) - share)
    of_size = digamma(count + size) - digamma(size) - share + (mean - count) / (size + mean)
    return Terms(log_density, (count - mean) * size / (size + mean), (size * of_size)[None])


def _poisson(y: Array, eta: Array, shape: Array) -> Terms:
    mean, count = np.exp(np.clip(eta, -_LARGEST, _LARGEST)), y[:, None]
    return Terms(count * eta - mean - gammaln(count + 1.0), count - mean, np.empty((0, *eta.shape)))


def _proportional_odds(y: Array, eta: Array, shape: Array) -> Terms:
    steps, level = np.exp(np.clip(shape, -_LARGEST, _LARGEST)), y.astype(np.int64)
    cuts = np.concatenate([[-np.inf, 0.0], np.cumsum(steps), [np.inf]])
    upper, lower = cuts[level + 1][:, None] - eta, cuts[level][:, None] - eta
    chance = np.maximum(expit(upper) - expit(lower), 1e-300)
    at_upper, at_lower = expit(upper) * expit(-upper) / chance, expit(lower) * expit(-lower) / chance
    places = np.arange(shape.size)[:, None]
    in_upper, in_lower = (level > places)[:, :, None], (level > places + 1)[:, :, None]
    of_shape = steps[:, None, None] * (at_upper * in_upper - at_lower * in_lower)
    return Terms(np.log(chance), at_lower - at_upper, of_shape)


def _piecewise_exponential(y: Array, eta: Array, shape: Array) -> Terms:
    died, exposed = np.split(y, 2, axis=1)
    log_baseline = np.concatenate([[0.0], np.clip(shape, -_LARGEST, _LARGEST)])
    expected = exposed * np.exp(log_baseline)
    ratio = np.exp(np.clip(eta, -_LARGEST, _LARGEST))
    log_density = (died @ log_baseline)[:, None] + died.sum(axis=1)[:, None] * eta
    log_density -= expected.sum(axis=1)[:, None] * ratio
    of_shape = died.T[1:, :, None] - expected.T[1:, :, None] * ratio
    return Terms(log_density, died.sum(axis=1)[:, None] - expected.sum(axis=1)[:, None] * ratio, of_shape)


def in_intervals(time: Array, event: Array, entry: Array) -> Array:
    """Return events (N, J), 0 or 1, and times at risk (N, J) in each interval, side by side.

    Times are (N,), events 0 or 1. Each interval has at least eight events; there are at most twelve.
    """
    times = np.sort(time[event > 0.0])
    n_intervals = int(np.clip(times.size // _EVENTS_OF_AN_INTERVAL, 1, _MOST_INTERVALS))
    ends = np.unique(np.quantile(times, np.arange(1, n_intervals) / n_intervals)) if times.size else np.empty(0)
    ends = ends[ends < times[-1]] if times.size else ends
    edges = np.concatenate([[-np.inf], ends, [np.inf]])
    place = np.searchsorted(ends, time, side="left")  # an event at an end belongs to the interval before it
    died = (place[:, None] == np.arange(edges.size - 1)) * (event > 0.0)[:, None]
    exposed = np.minimum(time[:, None], edges[1:]) - np.maximum(entry[:, None], edges[:-1])
    return np.hstack([died.astype(np.float64), np.maximum(exposed, 0.0)])


def _start_of_levels(y: Array) -> tuple[float, Array]:
    below = np.cumsum(np.bincount(y.astype(np.int64)) / y.size)[:-1]
    cuts = logit(np.clip(below, 1e-3, 1.0 - 1e-3))
    return -float(cuts[0]), np.log(np.maximum(np.diff(cuts), 1e-3))


def _start_of_hazard(y: Array) -> tuple[float, Array]:
    died, exposed = (part.sum(axis=0) for part in np.split(y, 2, axis=1))
    logs = np.log(np.maximum(died, 0.5) / np.maximum(exposed, 1e-12))
    return float(logs[0]), logs[1:] - logs[0]


def _log_mean(y: Array) -> float:
    return float(np.log(max(y.mean(), 1e-3)))


_NO_SHAPE = np.empty(0)
DENSITIES: dict[str, Density] = {
    "continuous": Density(
        _normal, lambda y: (float(y.mean()), np.log([max(float(y.std()), 1e-6)])), "mean difference", "mean"
    ),
    "binary": Density(
        _bernoulli,
        lambda y: (float(logit(np.clip(y.mean(), 0.01, 0.99))), _NO_SHAPE),
        "odds ratio",
        "share",
        lambda eta: np.asarray(expit(eta)),
    ),
    "count": Density(_negative_binomial, lambda y: (_log_mean(y), np.ones(1)), "rate ratio", "mean", np.exp),
    "ordered": Density(_proportional_odds, _start_of_levels, "odds ratio"),
    "survival": Density(_piecewise_exponential, _start_of_hazard, "hazard ratio"),
}
POISSON = Density(_poisson, lambda y: (_log_mean(y), _NO_SHAPE), "rate ratio", "mean", np.exp)
"""Of counts without overdispersion."""


Method: TypeAlias = Literal["bch", "ml", "naive"]

_STEP = 1e-5
"""Of numerical derivatives of scores."""
_POLISHING = 20
_FARTHEST = 18.0
"""Log ratio of a subtype to all, or of the ends of a covariate, beyond which there is no maximum."""
_LEAST_SUBJECTS = 2
"""Fewest subjects for each parameter."""
_CONVERGED = 1e-10
"""Largest mean score of a solution."""


class Estimates(NamedTuple):
    """Parameters that maximise a likelihood, with their covariance."""

    parameters: Array
    """(P,) the intercepts of the K subtypes come first."""
    covariance: Array
    """(P, P)"""

    def of(self, contrast: Array) -> tuple[float, float]:
        """Return the estimate and the standard error of a linear combination (P,) of the parameters."""
        return float(contrast @ self.parameters), float(np.sqrt(contrast @ self.covariance @ contrast))


NO_MAXIMUM = "not estimated: too few subjects or events, or a covariate that separates them"


def assignment_errors(membership: Array, assigned: Labels) -> Array:
    """Return D, the chance of each assignment (columns) of the members of each subtype (rows), float64 (K, K).

    Membership is (N, K), assignments are 0 .. K - 1, (N,).
    """
    joint = np.column_stack([membership[assigned == s].sum(axis=0) for s in range(membership.shape[1])])
    return np.asarray(joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300))


def outcome_by_subtype(
    density: Density, y: Array, covariates: Array, errors: Array, assigned: Labels, method: Method
) -> Estimates | None:
    """Return the intercepts of the subtypes (K,), the slopes of the covariates (C,) and the shape parameters.

    None if the likelihood has no maximum.
    Outcomes are (N,) or (N, 2J), covariates (N, C), the errors of assignment (K, K), assignments (N,). Of ``"ml"``, the
    log odds of the subtypes 2 .. K against the first come last.
    """
    n_subtypes, n_covariates = len(errors), covariates.shape[1]
    first, shape = density.start(y)
    start, n_shape = np.concatenate([np.full(n_subtypes, first), np.zeros(n_covariates), shape]), shape.size
    if method != "naive":  # weights below 0 make far parts of the objective rise without end
        naive = outcome_by_subtype(density, y, covariates, errors, assigned, "naive")
        start = start if naive is None else naive.parameters
    chance_if_member = errors.T[assigned]  # (N, K) chance of the assignment of each subject, if it is a member of k
    weights = np.eye(n_subtypes)[assigned] if method == "naive" else np.linalg.inv(errors)[assigned]
    if method == "ml":
        shares = np.linalg.solve(errors.T, np.bincount(assigned, minlength=n_subtypes) / assigned.size)
        shares = np.log(np.maximum(shares, 0.01))
        start = np.concatenate([start, shares[1:] - shares[0]])

    def objective(parameters: Array) -> tuple[float, Array]:
        intercepts, slopes, shapes, odds = np.split(parameters, np.cumsum([n_subtypes, n_covariates, n_shape]))
        eta = intercepts + (covariates @ slopes)[:, None]
        terms = density.terms(y, eta, shapes)
        if method == "ml":
            shares = softmax(np.concatenate([[0.0], odds]))
            joint = terms.log_density + np.log(np.maximum(chance_if_member * shares, 1e-300))
            most = joint.max(axis=1, keepdims=True)
            total = np.exp(joint - most).sum(axis=1)
            counted = np.exp(joint - most) / total[:, None]
            value, of_shares = float((np.log(total) + most[:, 0]).sum()), counted[:, 1:] - shares[1:]
        else:
            counted, value = weights, float((weights * terms.log_density).sum())
            of_shares = np.empty((len(y), 0))
        of_eta = counted * terms.of_eta
        of_slopes = of_eta.sum(axis=1)[:, None] * covariates
        of_shape = (counted * terms.of_shape).sum(axis=2).T
        return value, np.hstack([of_eta, of_slopes, of_shape, of_shares])

    estimates = maximise(objective, start)
    if estimates is None or not density.is_ratio:
        return estimates
    intercepts, slopes, _ = np.split(estimates.parameters, [n_subtypes, n_subtypes + n_covariates])
    return None if _is_apart(intercepts - first, slopes, covariates) else estimates


def predictors_of_subtype(
    predictors: Array, errors: Array, assigned: Labels, versus: int, method: Literal["ml", "naive"]
) -> Estimates | None:
    """Return the multinomial log odds of each other subtype than `versus`, by intercept and slopes, (K - 1) (1 + C).

    Maximises sum_i ln sum_k pi_k(x_i) D_(k, s_i) over pi_k(x) = softmax of the log odds (Vermunt 2010), for predictors
    (N, C); `"naive"` takes assignments for known.
    """
    n_subtypes = len(errors)
    chance_if_member = (np.eye(n_subtypes) if method == "naive" else errors).T[assigned]
    columns = np.hstack([np.ones((len(predictors), 1)), predictors])
    others = np.delete(np.arange(n_subtypes), versus)

    def objective(parameters: Array) -> tuple[float, Array]:
        odds = np.zeros((len(columns), n_subtypes))
        odds[:, others] = columns @ parameters.reshape(others.size, -1).T
        shares = softmax(odds, axis=1)
        joint = shares * chance_if_member
        chance = np.maximum(joint.sum(axis=1), 1e-300)
        change = (joint / chance[:, None] - shares)[:, others]
        return float(np.log(chance).sum()), (change[:, :, None] * columns[:, None, :]).reshape(len(columns), -1)

    estimates = maximise(objective, np.zeros(others.size * columns.shape[1]))
    if estimates is None:
        return None
    odds = estimates.parameters.reshape(others.size, -1)
    return None if any(_is_apart(terms[:1], terms[1:], predictors) for terms in odds) else estimates


def _is_apart(intercepts: Array, slopes: Array, columns: Array) -> bool:
    """Return whether a share of 0 or 1 in a subtype or at an end of a column (N, C) leaves no maximum."""
    reach = np.abs(slopes) * np.ptp(columns, axis=0) if slopes.size else np.zeros(1)
    return bool(max(np.abs(intercepts).max(), reach.max()) > _FARTHEST)


def maximise(objective: Callable[[Array], tuple[float, Array]], start: Array) -> Estimates | None:
    """Return the parameters (P,) that maximise an objective, with robust covariance; none if there is no maximum.

    The objective returns its value, and the score of each subject, float64 (N, P).
    """
    n_subjects = len(objective(start)[1])
    if n_subjects < _LEAST_SUBJECTS * start.size:
        return None

    def negative(parameters: Array) -> tuple[float, Array]:
        value, scores = objective(parameters)
        return -value / n_subjects, -scores.sum(axis=0) / n_subjects

    with np.errstate(all="ignore"):
        at = minimize(negative, start, jac=True, method="BFGS", options={"gtol": 1e-6}).x
        for _ in range(_POLISHING):
            gradient = negative(at)[1]
            hessian = _jacobian(lambda near: negative(near)[1], at)
            if not np.isfinite(hessian).all() or np.linalg.cond(hessian) > 1e10:
                return None
            if np.abs(gradient).max() <= _CONVERGED:
                break
            at = at - np.linalg.solve(hessian, gradient)
        else:
            return None
    if np.linalg.eigvalsh(0.5 * (hessian + hessian.T))[0] <= 0.0:
        return None
    scores = objective(at)[1] / n_subjects
    inverse = np.linalg.inv(hessian)
    covariance = inverse @ (scores.T @ scores) @ inverse.T
    if not (np.diag(covariance) > 0.0).all():
        return None
    return Estimates(at, covariance * n_subjects / max(n_subjects - at.size, 1))


def _jacobian(function: Callable[[Array], Array], at: Array) -> Array:
    """Return the derivatives of a function (P,) -> (P,) by central differences, float64 (P, P)."""
    steps = _STEP * np.maximum(1.0, np.abs(at))
    columns = [
        (function(at + step * unit) - function(at - step * unit)) / (2.0 * step)
        for step, unit in zip(steps, np.eye(at.size), strict=True)
    ]
    return np.column_stack(columns)


class Periods(NamedTuple):
    """Estimates before and after a time, and the test that ratios are the same in both."""

    until: float
    estimates: tuple[Estimates, Estimates]
    statistic: float
    p: float


def in_two_periods(
    time: Array,
    event: Array,
    entry: Array,
    covariates: Array,
    errors: Array,
    labels: Labels,
    versus: int,
    method: Method,
) -> Periods | None:
    """Return the hazards of K subtypes in two periods; None where one of them has too few events.

    Times, events and entries are (n,), covariates (n, C), the errors of assignment (K, K), assignments (n,).
    """
    until = float(np.median(time[event > 0.0]))
    periods = []
    for is_late in (False, True):
        rows = (time > until) if is_late else (entry < until)
        if np.unique(labels[rows]).size < len(errors):
            return None
        ends, begins = (time, np.maximum(entry, until)) if is_late else (np.minimum(time, until), entry)
        happened = (event > 0.0) & ((time > until) == is_late)
        y = in_intervals(ends[rows], happened[rows].astype(np.float64), begins[rows])
        estimates = outcome_by_subtype(DENSITIES["survival"], y, covariates[rows], errors, labels[rows], method)
        if estimates is None:
            return None
        periods.append(estimates)
    contrast = np.delete(np.eye(len(errors)) - np.eye(len(errors))[versus], versus, axis=0)
    means = [contrast @ period.parameters[: len(errors)] for period in periods]
    spread = sum(contrast @ period.covariance[: len(errors), : len(errors)] @ contrast.T for period in periods)
    apart = means[1] - means[0]
    statistic = float(apart @ np.linalg.solve(spread, apart))
    return Periods(until, (periods[0], periods[1]), statistic, float(chdtrc(apart.size, statistic)))
