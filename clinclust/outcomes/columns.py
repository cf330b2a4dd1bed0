"""The columns of outcomes, times and covariates, and the assignment of the subjects with its errors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import pandas as pd

from clinclust.arrays import Array, Labels, Mask
from clinclust.drafting import draft_schema
from clinclust.errors import CohortWarning, InputError, SchemaError, refuse
from clinclust.estimators.fitted_cohort import cohort_of, rows_of_the_fit
from clinclust.estimators.subtype_model import clustered_features, fewest_subjects
from clinclust.files.cell_text import canonical_text
from clinclust.nearest import did_you_mean
from clinclust.outcomes.three_step import assignment_errors, in_intervals
from clinclust.schema import FeatureSchema

if TYPE_CHECKING:
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature


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
        known = ~np.isnan(self.observed)
        return known if self.time is None or self.entry is None else known & ~np.isnan(self.time + self.entry)

    def modelled(self, chosen: Mask) -> Array:
        """Return the outcomes of some subjects, (n,), for `Density.terms`; (n, 2J) of times."""
        if self.time is None or self.entry is None:
            return self.observed[chosen] if self.kind != "ordered" else _ranked(self.observed[chosen])
        return in_intervals(self.time[chosen], self.observed[chosen], self.entry[chosen])


def _ranked(values: Array) -> Array:
    """Return observed levels numbered 0, 1, ... without a gap."""
    return np.unique(values, return_inverse=True)[1].astype(np.float64)


class CohortColumns:
    """The columns of the table of a cohort, in the order of the model."""

    def __init__(self, model: SubtypeModel, frame: pd.DataFrame) -> None:
        validated = cohort_of(model, frame, stacklevel=4).table
        rows = None if model.fit_ is None else rows_of_the_fit(model.fit_, frame)
        self._table = frame if rows is None else frame.iloc[rows]
        self._model, self._validated, self._schema = model, validated, model.schema_
        self.problems: list[str] = []

    def refuse(self) -> None:
        """Raise InputError with all problems, if there are any."""
        refuse(self.problems)

    def check(self, versus: int, level: float, names: Sequence[str], called: str, *, alone: bool = False) -> None:
        """Note what is wrong with the subtype to compare with, the level, and columns that formed the subtypes.

        With `alone`, one subtype is enough.
        """
        n_subtypes = int(np.asarray(self._model.labels_).max()) + 1
        if not 0.0 < level < 1.0:
            self.problems.append(f"level must lie between 0 and 1, not {level!r}")
        if n_subtypes == 1 and not alone:
            self.problems.append("there is one subtype, so nothing can be compared")
        elif not 1 <= versus <= n_subtypes:
            self.problems.append(f"versus must be a subtype from 1 to {n_subtypes}, not {versus}")
        formed = [repr(name) for name in names if name in clustered_features(self._model)]
        if formed:
            self.problems.append(f"{called}: the subtypes were found from {', '.join(formed)}")

    def read(self, name: str, called: str) -> tuple[Feature, Array] | None:
        """Return the feature of a column and its scores (N,), NaN = missing; None, and a problem, without any."""
        cells = self._cells(name, called)
        if cells is None:
            return None
        if name in self._schema and self._schema[name].likelihood is not None:
            feature, column = self._schema[name], self._validated[name]
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
            self._tell_of_missing(name, cells, column)
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
        found = self.read(name, "outcome")
        if found is None:
            return None
        feature, values = found
        if feature.traits.is_nominal:
            levels = ", ".join(map(str, feature.levels or ()))
            self.problems.append(f"outcome: {name!r} has levels without order; name one as the event: {levels}")
            return None
        if feature.traits.is_yes_no:
            return Outcome(name, "binary", values, str(feature.levels[1]) if feature.levels else "1")
        if feature.traits.is_scale and np.unique(values[~np.isnan(values)]).size <= _MOST_LEVELS:
            return Outcome(name, "ordered", values)
        return Outcome(
            name, "count" if feature.traits.is_whole and not feature.traits.is_scale else "continuous", values
        )

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

    def covariates(self, names: Sequence[str], called: str) -> tuple[list[str], Array]:
        """Return terms and their values, float64 (N, C), NaN = missing; levels without order have an indicator each."""
        terms: list[str] = []
        columns = [np.empty((len(self._table), 0))]
        for name in names:
            found = self.read(name, called)
            if found is None:
                continue
            feature, scores = found
            levels = [str(level) for level in feature.levels or ()]
            if feature.traits.is_nominal:
                others = np.arange(1, len(levels))
                terms += [f"{name}: {levels[level]} (against {levels[0]})" for level in others]
                columns.append(np.where(np.isnan(scores)[:, None], np.nan, scores[:, None] == others))
            else:
                terms.append(f"{name}: {levels[-1]}" if feature.traits.is_yes_no and levels else name)
                columns.append(scores[:, None])
        return terms, np.hstack(columns)

    def refuse_redundant(self, terms: Sequence[str], values: Array, called: str) -> None:
        """Raise InputError for terms whose values (n, C) the terms before them, or none, determine."""
        columns = np.hstack([np.ones((len(values), 1)), standardised(values)[0]])
        for place, term in enumerate(terms):
            if np.linalg.matrix_rank(columns[:, : place + 2], tol=1e-8 * np.sqrt(len(values))) < place + 2:
                known = "others determine it" if np.ptp(values[:, place]) > 0.0 else "it is the same in all"
                self.problems.append(f"{called}: leave out {term!r}: of the subjects with all values, {known}")
                break
        self.refuse()

    def _cells(self, name: str, called: str) -> pd.Series | None:
        """Return the canonical texts of a column, without the codes that the schema declares missing."""
        if name not in self._table.columns:
            near = did_you_mean(name, [each for each in self._table.columns if isinstance(each, str)])
            self.problems.append(f"{called}: the table has no column {name!r}.{near}".removesuffix("."))
            return None
        cells = self._table[name].map(canonical_text, na_action="ignore").astype("string")
        return cells.mask(cells.isin(["", *map(str, self._schema.missing_codes)]).fillna(True))

    def _tell_of_missing(self, name: str, cells: pd.Series, column: pd.Series) -> None:
        taken = cells[(cells.notna() & column.isna()).to_numpy()]
        if len(taken):
            warnings.warn(
                f"{name}: {len(taken)} cells ({_some(taken)}) are taken for missing; if they are not, declare the "
                "column in the schema, with role: describe",
                CohortWarning,
                stacklevel=5,
            )

    def _number(self, name: str, called: str) -> Array | None:
        """Return the numbers of a column, (N,), NaN = missing."""
        cells = self._cells(name, called)
        if cells is None:
            return None
        numbers = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        n_texts = int((np.isnan(numbers) & cells.notna().to_numpy()).sum())
        if n_texts == 0 and np.isfinite(numbers[~np.isnan(numbers)]).all():
            return numbers
        found = self.read(name, called)  # numbers with decimal commas or units
        if found is not None and found[0].levels is None:
            return found[1]
        if found is not None:
            self.problems.append(f"{called}: {name!r} holds levels, not numbers")
        return None

    def _is_level(self, name: str, event: str) -> Array | None:
        """Return 1 for the cells of a column that are the event and 0 for others, NaN = missing, float64 (N,)."""
        cells = self._cells(name, "outcome")
        if cells is None:
            return None
        if name in self._schema and self._schema[name].levels is not None:
            cells = self._validated[name].astype("string")
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
    known = cells.dropna().unique().tolist()
    return f"it has {', '.join(sorted(known))}" if len(known) <= _MOST_LEVELS else f"it has {len(known)} values"


def standardised(values: Array) -> tuple[Array, Array]:
    """Return columns with mean 0 and standard deviation 1, so that units decide nothing, and what they were."""
    scales = np.maximum(values.std(axis=0), 1e-300)
    return (values - values.mean(axis=0)) / scales, scales


_FEWEST = 5
"""Fewest subjects of a subtype with all values."""
_LEAST_TOLD_APART = 0.7
"""Share of the members of a subtype who are assigned to it, below which nothing is corrected."""


class Assigned:
    """The chosen subjects, bool (N,), of the subtypes that have enough of them, as these were assigned.

    Raises InputError if there are not two such subtypes, with number `versus` among them.
    """

    def __init__(self, model: SubtypeModel, chosen: Mask, versus: int) -> None:
        labels = np.asarray(model.labels_)
        counts, fewest = np.bincount(labels[chosen], minlength=int(labels.max()) + 1), fewest_subjects(model)
        self.subtypes: Labels = np.flatnonzero(counts >= max(_FEWEST, fewest)).astype(np.int64)
        if self.subtypes.size < 2 or versus - 1 not in self.subtypes:
            raise InputError(
                f"at least two subtypes, among them subtype {versus}, need {max(_FEWEST, fewest)} subjects with all "
                "values; name other columns, or another subtype"
            )
        self.versus = int(np.searchsorted(self.subtypes, versus - 1))
        """Place of the subtype that others are compared with."""
        self.too_small = np.setdiff1d(np.arange(counts.size), self.subtypes) + 1
        """Numbers of the subtypes that are left out."""
        among = np.isin(labels, self.subtypes)
        self.chosen: Mask = chosen & among
        self.labels: Labels = np.searchsorted(self.subtypes, labels[self.chosen]).astype(np.int64)
        self._errors = np.eye(self.subtypes.size)
        self._why_not: str | None = "these subtypes have no probabilities"
        if model.membership_ is not None:
            membership = np.asarray(model.membership_)[among][:, self.subtypes]
            membership = membership / np.maximum(membership.sum(axis=1, keepdims=True), 1e-300)
            assigned = np.searchsorted(self.subtypes, labels[among]).astype(np.int64)
            self._errors = assignment_errors(membership, assigned)
            self._why_not = self._not_told_apart()

    def errors_of(self, method: str) -> tuple[Array, str | None]:
        """Return the errors of assignment (K, K), and why they cannot be carried through, if they cannot."""
        return (np.eye(self.subtypes.size), None) if method == "naive" else (self._errors, self._why_not)

    def _not_told_apart(self) -> str | None:
        own = np.diag(self._errors)
        worst = int(own.argmin())
        if own[worst] >= _LEAST_TOLD_APART:
            return None
        return (
            f"the subtypes are too hard to tell apart: {100 * own[worst]:.0f}% of the members of subtype "
            f"{self.subtypes[worst] + 1} are assigned to it (at least {100 * _LEAST_TOLD_APART:.0f}% are needed)"
        )
