"""The columns of outcomes, times and covariates, the assignment of the subjects, and survival as assigned."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd

import clinclust.estimators.subtype_model as subtype_model
from clinclust.arguments import accepting
from clinclust.arrays import Array, Code, Labels, Mask
from clinclust.comparisons.differences import NORMAL_QUANTILE
from clinclust.drafting import draft_schema
from clinclust.drafting.kinds import no_before_yes
from clinclust.errors import InputError, SchemaError, did_you_mean, refuse, warn
from clinclust.estimators.explanation import find_continuum
from clinclust.estimators.subtype_model import FittedCohort, SubtypeModel, cohort_of
from clinclust.files.cell_text import canonical_text
from clinclust.outcomes.estimates import assignment_errors
from clinclust.schema import Feature, FeatureSchema

Event: TypeAlias = str | float | bool | None  # the value that is the event; None: it follows from the values

SCORE = "1 SD of the continuum score"
_MOST_LEVELS = 10  # different values above which a scale counts as continuous


class Outcome(NamedTuple):
    """An outcome of N subjects; its values and times are (N,), NaN = missing."""

    name: str
    kind: str  # a key of `DENSITIES`
    observed: Array
    event: str | None = None  # what counts as 1, of a binary outcome or a survival
    order: tuple[str, ...] = ()  # levels from lowest to highest, of which ratios above 1 are of higher ones
    times: tuple[Array, ...] = ()  # the end and begin of follow-up, of a survival


class CohortColumns:
    """The columns of a cohort: those that are validated, and those of a `table` in the order of the cohort."""

    def __init__(self, cohort: FittedCohort, table: pd.DataFrame) -> None:
        self.cohort, self._table, self._schema = cohort, table, cohort.schema
        self._declared = {feature.name: feature for feature in cohort.schema if feature.likelihood is not None}
        self.n_subtypes = int(cohort.labels.max()) + 1
        self.problems: list[str] = []

    @classmethod
    def read(cls, model: SubtypeModel, frame: pd.DataFrame) -> CohortColumns:
        """Validate the table of a public function; it may have other columns, because outcomes come years later."""
        subtype_model.require_fitted(model)
        if len(frame) != len(model.labels_) and (problems := subtype_model.cohort_problems(model, frame)):
            more = "; join outcomes that came later to that table as columns, with empty cells for subjects without any"
            raise InputError(f"{problems[0]}{more}")
        cohort = cohort_of(model, frame)
        return cls(cohort, cohort.in_order(frame))

    def check(self, versus: Code, names: Sequence[str | None], called: str, *, alone: bool = False) -> None:
        """Note a wrong subtype to compare with, and columns that formed the subtypes; `alone`: one is enough."""
        if self.n_subtypes == 1 and not alone:
            self.problems.append("there is one subtype, so nothing can be compared")
        elif subtype_model.place_of(versus, self.cohort.model.codes_) is None:
            codes = ", ".join(map(str, self.cohort.model.codes_))
            self.problems.append(f"versus must be a subtype, {codes}, not {versus!r}")
        formed = [repr(name) for name in names if name in subtype_model.clustered_features(self.cohort.model)]
        if formed:
            self.problems.append(f"{called}: the subtypes were found from {', '.join(formed)}")

    def feature(self, name: str, called: str) -> tuple[Feature, Array] | None:
        """Return the feature of a column and its scores (N,), NaN = missing; None, and a problem, without any."""
        feature = self._declared.get(name)
        if feature is not None and name in self._table.columns:
            column = self.cohort.table[name]
        elif (cells := self.cells(name, called)) is None:
            return None
        elif cells.nunique() < 2:
            self.problems.append(f"{called}: {name!r} has {'one value only' if cells.nunique() else 'no values'}")
            return None
        else:
            table = self._table[[name]].where(cells.notna().to_numpy()[:, None])
            with suppress(SchemaError):
                feature = draft_schema(table, roles={name: "describe"}, progress=False)[name]
            if feature is None or feature.likelihood is None:
                self.problems.append(f"{called}: {name!r} holds neither numbers nor few levels (of dates, take days)")
                return None
            column = FeatureSchema([feature]).validate(table, warn=False)[name]
            others = cells[(cells.notna() & column.isna()).to_numpy()]
            if len(others):
                why = f"{name}: {len(others)} cells ({_some(others)}) are taken for missing; if they are not, declare "
                why += "the column in the schema, with role: describe"
                warn(why)
        scores = feature.scores(column)
        if np.isinf(scores).any():
            self.problems.append(f"{called}: {name!r} has values beyond a limit; give them a number")
            return None
        return feature, scores

    def outcome(
        self, name: str, time: str | None = None, entry: str | None = None, event: Event = None
    ) -> Outcome | None:
        """Return an outcome; `event` is the level that counts as 1, of levels."""
        if time is not None:
            return self.survival(name, time, entry, event)
        if entry is not None:
            self.problems.append("entry needs time, the end of follow-up")
        if event is not None:
            of_event = self._mark_event(name, event)
            return None if of_event is None else Outcome(name, "binary", *of_event)
        if (column := self.feature(name, "outcome")) is None:
            return None
        (feature, values), traits = column, column[0].traits
        if traits.is_nominal:
            levels = ", ".join(map(str, feature.levels or ()))
            why = f"outcome: {name!r} has levels without order ({levels}); name one as the event, or declare them "
            self.problems.append(f"{why}from low to high in the schema, with likelihood: ordinal")
            return None
        if traits.is_yes_no:
            return Outcome(name, "binary", values, str(feature.levels[1]) if feature.levels else "1")
        different = np.unique(values[~np.isnan(values)])
        if traits.is_scale and different.size <= _MOST_LEVELS:
            texts = feature.levels or [f"{value:g}" for value in different]
            return Outcome(name, "ordered", values, order=tuple(map(str, texts)))
        return Outcome(name, "count" if traits.is_whole and not traits.is_scale else "continuous", values)

    def survival(self, name: str, time: str, entry: str | None, event: Event) -> Outcome | None:
        """Return an outcome with the time to it; without `event`, the yes of a yes/no column: 1, dead, declared."""
        values, ends = self._mark_event(name, event), self._number(time, "time")
        begins = self._number(entry, "entry") if entry is not None else None if ends is None else np.zeros(ends.size)
        if values is None or ends is None or begins is None:
            return None
        start, is_first, after = repr(entry) if entry else 0, ends == begins, (ends - begins)[ends > begins]
        if n := int((ends < begins).sum()):
            self.problems.append(f"time: {time!r} is below {start}, where follow-up begins (rows: {n:,}): correct them")
        elif not self.problems and (n := int(is_first.sum())):  # deaths on the day of admission
            half = float(after.min()) / 2.0 if after.size else 0.5
            ends = np.where(is_first, begins + half, ends)
            warn(f"time: in {n:,} rows, {time!r} is {start}, where follow-up begins: {half:g} after it is taken")
        return Outcome(name, "survival", *values, times=(ends, begins))

    def covariates(self, names: Sequence[str], called: str) -> pd.DataFrame:
        """Return the terms of columns in N subjects, NaN = missing; levels without order have an indicator each."""
        terms = [pd.DataFrame(index=range(len(self._table)))]
        for name in names:
            if (column := self.feature(name, called)) is None:
                continue
            feature, scores = column
            levels = [str(level) for level in feature.levels or ()]
            if feature.traits.is_nominal:
                indicators = np.where(np.isnan(scores)[:, None], np.nan, scores[:, None] == np.arange(len(levels)))
                titles = [f"{name}: {level} (against {levels[0]})" for level in levels]
                terms.append(pd.DataFrame(indicators, columns=titles).iloc[:, 1:])
            else:
                title = f"{name}: {levels[-1]}" if feature.traits.is_yes_no and levels else name
                terms.append(pd.DataFrame({title: scores}))
        return pd.concat(terms, axis=1)

    @cached_property
    def continuum_score(self) -> pd.DataFrame | None:
        """The continuum score of each subject; None if a test accepted the subtypes as more than its slices.

        Also if the score orders subjects by chance, or if no search made the subtypes.
        """
        fit = self.cohort.model.fit_
        if fit is None or not fit.clusters_.encoding.features:
            return None
        if fit.tree_test_ is not None and fit.grades is None and int(fit.tree_test_.parted_of(fit.tree_).max()) > 0:
            return None
        continuum = find_continuum(self.cohort)
        return None if continuum.is_by_chance else pd.DataFrame({SCORE: continuum.score})

    def cells(self, name: str, called: str) -> pd.Series | None:
        """Return the canonical texts of a column, without the codes that the schema declares missing."""
        if name not in self._table.columns:
            near = did_you_mean(name, [column for column in self._table.columns if isinstance(column, str)])
            self.problems.append(f"{called}: the table has no column {name!r}.{near}".removesuffix("."))
            return None
        cells = self._table[name].map(canonical_text, na_action="ignore").astype("string")
        return cells.mask(cells.isin(["", *map(str, self._schema.missing_codes)]).fillna(True))

    def _number(self, name: str, called: str) -> Array | None:
        """Return the numbers of a column, (N,), NaN = missing."""
        if (cells := self.cells(name, called)) is None:
            return None
        numbers = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        if np.isfinite(numbers[cells.notna().to_numpy()]).all():
            return numbers
        feature, scores = self.feature(name, called) or (None, None)  # numbers with decimal commas or units
        if feature is not None and feature.levels is not None:
            self.problems.append(f"{called}: {name!r} holds levels, not numbers")
        return scores

    def _mark_event(self, name: str, event: Event) -> tuple[Array, str] | None:
        """Return 1 for the cells of a column that are the event and 0 for others, NaN = missing, (N,), and the event.

        True and 1 are the yes of a column of two values, as the schema or the values say; False and 0 are the no.
        """
        if (cells := self.cells(name, "outcome")) is None:
            return None
        feature, values = self._declared.get(name), sorted(cells.dropna().unique())
        places = no_before_yes(values) if len(values) == 2 else None
        yes = "1" if set(values) <= {"0", "1"} else None if places is None else str(values[places[1]])
        if feature is not None and feature.traits.is_yes_no:
            yes = "1" if feature.levels is None else str(feature.levels[1])
        if feature is not None and feature.levels is not None:
            cells = self.cohort.table[name].astype("string")
        wanted = yes if event is None else str(canonical_text(event))
        if wanted is None:
            self.problems.append(f"event: say which value of {name!r} is the event: {_some(cells)}")
            return None
        at = (cells == wanted) | (pd.to_numeric(cells, errors="coerce") == pd.to_numeric(wanted, errors="coerce"))
        truth = {"true": True, "1": True, "false": False, "0": False}.get(wanted.casefold())
        if not at.any() and truth is not None and yes is not None:
            others = cells[cells != yes].dropna().unique()
            wanted = yes if truth else str(others[0]) if len(others) == 1 else wanted
            at = cells == wanted
        if not at.any():
            self.problems.append(f"event: no cell of {name!r} is {wanted!r}; {_some(cells)}")
            return None
        return np.where(cells.isna(), np.nan, at.fillna(False).to_numpy(dtype=bool)), wanted


def _some(cells: pd.Series) -> str:
    """Return the different values of a column of levels in words; of many, how many."""
    levels = cells.dropna().unique().tolist()
    return f"it has {', '.join(sorted(levels))}" if len(levels) <= _MOST_LEVELS else f"it has {len(levels)} values"


def standardised(terms: pd.DataFrame) -> tuple[Array, Array]:
    """Return columns with mean 0 and standard deviation 1, NaN = missing, and what their deviations were."""
    values = np.ascontiguousarray(terms, dtype=np.float64)
    scales = np.maximum(np.nanstd(values, axis=0), 1e-300)
    return (values - np.nanmean(values, axis=0)) / scales, scales


_FEWEST = 5  # subjects of a subtype with all values
_LEAST_RECOVERED = 0.7  # share of the members of a subtype who are assigned to it, below which nothing is corrected


class Assigned:
    """Some subjects, bool (N,), with all covariates, of the subtypes with enough of them; without `versus` one group.

    `versus` becomes a place among these subtypes, covariates (n, C) have mean 0 and SD 1. `membership` (n, K) is by the
    features, `errors` (K, K) are of assignment; `why_not` says why they cannot be carried through.
    """

    def __init__(self, cohort: FittedCohort, rows: Mask, covariates: pd.DataFrame, versus: Code | None) -> None:
        labels, fewest = cohort.labels, max(_FEWEST, subtype_model.fewest_subjects(cohort.model))
        labels, rows = np.zeros_like(labels) if versus is None else labels, rows & covariates.notna().all(axis=1)
        counts = np.bincount(labels[rows], minlength=int(labels.max()) + 1)
        self.subtypes: Labels = np.flatnonzero(counts >= fewest).astype(np.int64)
        self.n_subtypes, codes = self.subtypes.size, cohort.model.codes_
        self.names: list[Code] = [codes[it] for it in self.subtypes]
        reference = 0 if versus is None else subtype_model.place_of(versus, codes)
        if (self.n_subtypes < 2 and versus is not None) or reference is None or reference not in self.subtypes:
            raise InputError(
                f"at least two subtypes, among them subtype {versus}, need {fewest} subjects with all values; name "
                "other columns, or another subtype"
            )
        self.versus = int(np.searchsorted(self.subtypes, reference))
        self.too_small = [codes[it] for it in np.setdiff1d(np.arange(counts.size), self.subtypes)]
        among = np.isin(labels, self.subtypes)
        self.rows: Mask = np.asarray(rows) & among
        self.labels: Labels = np.searchsorted(self.subtypes, labels[self.rows]).astype(np.int64)
        self.errors = np.eye(self.n_subtypes)
        self.membership = self.errors[self.labels]
        self.why_not: str | None = "these subtypes have no probabilities"
        if cohort.model.membership_ is not None:
            membership = np.asarray(cohort.model.membership_)[among][:, self.subtypes]
            membership = membership / np.maximum(membership.sum(axis=1, keepdims=True), 1e-300)
            assigned = np.searchsorted(self.subtypes, labels[among]).astype(np.int64)
            self.errors, self.membership = assignment_errors(membership, assigned), membership[self.rows[among]]
            recovered, worst = np.diag(self.errors).min(), self.names[int(np.diag(self.errors).argmin())]
            why = f"the subtypes are too hard to tell apart: {100 * recovered:.0f}% of the members of subtype {worst} "
            why += f"are assigned to it (at least {100 * _LEAST_RECOVERED:.0f}% are needed)"
            self.why_not = why if recovered < _LEAST_RECOVERED else None
        self.covariates, scales = standardised(covariates[self.rows])
        self.scales = dict(zip(map(str, covariates), scales.tolist(), strict=True))
        columns = np.insert(self.covariates, 0, 1.0, axis=1)
        for place, term in enumerate(self.scales if versus is not None else ()):
            if np.linalg.matrix_rank(columns[:, : place + 2], tol=1e-8 * np.sqrt(len(columns))) < place + 2:
                why = "others determine it" if np.ptp(columns[:, place + 1]) > 0.0 else "it is the same in all"
                raise InputError(f"leave out {term!r}: of the subjects with all values, {why}")

    def compare_with(self, places: Labels) -> tuple[list[dict[str, Code]], Array]:
        """Return the pairs of some subtypes with `versus` or the first, as columns, and as contrasts of all (D, K)."""
        versus = self.versus if self.versus in places else int(places[0])
        others, units = places[places != versus], np.eye(self.n_subtypes)
        pairs = [{"subtype": self.names[it], "versus": self.names[versus]} for it in others.tolist()]
        return pairs, units[others] - units[versus]


@accepting()
def survival_curves(
    model: SubtypeModel, frame: pd.DataFrame, outcome: str, time: str, *, event: Event = None, entry: str | None = None
) -> pd.DataFrame:
    """Return the survival of each subtype as assigned, by the product limit of Kaplan and Meier (1958).

    Curves of assigned subtypes lie too close together; `compare_outcomes` corrects their hazard ratios.

    Parameters
    ----------
    model, frame, outcome, time, event, entry
        As in `compare_outcomes`.

    Returns
    -------
    DataFrame
        One row for each subtype and time of an event or of the last visit of a subject: ``subtype``, ``time``,
        ``at_risk``, ``events``, ``survival``, and its 95% limits ``lower`` and ``upper`` (of log(-log), with Greenwood
        variance).

    Examples
    --------
    >>> import clinclust as cc
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"x": [0.1, 0.4, 0.2, 9.1, 9.3, 9.9], "days": [5.0, 8.0, 12.0, 2.0, 3.0, 4.0]})
    >>> groups = cc.Partition([0, 0, 0, 1, 1, 1], cc.draft_schema(frame[["x"]]), made_by="hand")
    >>> frame["died"] = [1, 0, 1, 1, 1, 0]
    >>> curves = cc.outcomes.survival_curves(groups, frame, "died", "days")
    >>> curves.query("subtype == 1")[["time", "at_risk", "survival"]].round(2).to_numpy().tolist()
    [[5.0, 3.0, 0.67], [8.0, 2.0, 0.67], [12.0, 1.0, 0.0]]
    """
    columns = CohortColumns.read(model, frame)
    columns.check(1, (outcome, time, entry), "outcome", alone=True)
    survival = columns.survival(outcome, time, entry, event)
    refuse(columns.problems)
    assert survival is not None
    (ends, begins), is_known = survival.times, ~np.isnan([survival.observed, *survival.times]).any(axis=0)
    if not is_known.any():
        raise InputError(f"no subject has {outcome!r} and {time!r}")
    curves = []
    for label, code in enumerate(columns.cohort.model.codes_):
        if not (rows := is_known & (columns.cohort.labels == label)).any():
            continue
        times = np.unique(ends[rows])
        at_risk = ((begins[rows, None] < times) & (ends[rows, None] >= times)).sum(axis=0)
        events = ((ends[rows, None] == times) & (survival.observed[rows, None] > 0.0)).sum(axis=0)
        share = np.cumprod(1.0 - events / np.maximum(at_risk, 1))
        with np.errstate(divide="ignore", invalid="ignore"):  # no interval without events or with no subject left
            error = np.sqrt(np.cumsum(events / (at_risk * (at_risk - events)))) / -np.log(share)
            lower, upper = (np.exp(np.log(share) * np.exp(side * NORMAL_QUANTILE * error)) for side in (1, -1))
        curve = {"time": times, "at_risk": at_risk, "events": events, "survival": share}
        curves.append(pd.DataFrame({"subtype": code, **curve, "lower": lower, "upper": upper}))
    return pd.concat(curves, ignore_index=True)
