"""The columns of outcomes, times and covariates, the assignment of the subjects, and survival as assigned."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from scipy.special import ndtri

from clinclust.arguments import accepting
from clinclust.arrays import Array, Code, Labels, Mask
from clinclust.drafting import draft_schema
from clinclust.drafting.levels import no_before_yes
from clinclust.errors import InputError, SchemaError, did_you_mean, refuse, warn
from clinclust.estimators.explanation import find_continuum
from clinclust.estimators.subtype_model import (
    FittedCohort,
    SubtypeModel,
    clustered_features,
    cohort_of,
    cohort_problems,
    fewest_subjects,
    place_of,
    require_fitted,
)
from clinclust.files.cell_text import canonical_text
from clinclust.outcomes.estimates import assignment_errors
from clinclust.schema import Feature, FeatureSchema

Event: TypeAlias = str | float | bool | None  # the value that is the event; None: it follows from the values

SCORE = "1 SD of the continuum score"
_MOST_LEVELS = 10  # different values above which a scale counts as continuous


@dataclass(frozen=True)
class Outcome:
    """An outcome of N subjects: values, and of a survival the end and begin of follow-up, are (N,), NaN = missing.

    `event` is what counts as 1, of a binary outcome or a survival; `order` are the levels of an ordered outcome from
    lowest to highest, of which ratios above 1 are of higher ones.
    """

    name: str
    kind: Literal["continuous", "binary", "count", "ordered", "survival"]
    observed: Array
    event: str | None = None
    order: tuple[str, ...] = ()
    times: tuple[Array, ...] = ()

    @property
    def is_known(self) -> Mask:
        """Whether the outcome of a subject is observed, bool (N,)."""
        return np.asarray(~np.isnan([self.observed, *self.times]).any(axis=0))


class CohortColumns:
    """The columns of a cohort: those that are validated, and those of a `table` in the order of the cohort."""

    def __init__(self, cohort: FittedCohort, table: pd.DataFrame) -> None:
        self.cohort, self._table, self._schema = cohort, table, cohort.schema
        self.n_subtypes = int(cohort.labels.max()) + 1
        self.problems: list[str] = []

    @classmethod
    def read(cls, model: SubtypeModel, frame: pd.DataFrame) -> CohortColumns:
        """Validate the table of a public function, which is the caller.

        Columns that the schema of the fit does not name are no fault: outcomes come years later.
        """
        require_fitted(model)
        if len(frame) != len(model.labels_) and (problems := cohort_problems(model, frame)):
            more = "; join outcomes that came later to that table as columns, with empty cells for subjects without any"
            raise InputError(f"{problems[0]}{more}")
        named = [isinstance(name, str) and name in model.schema_ for name in frame.columns]
        absent = {feature.name for feature in model.schema_ if not feature.is_ignored} - set(frame.columns)
        cohort = cohort_of(model, frame if absent else frame.loc[:, named])
        return cls(cohort, cohort.in_order(frame))

    def check(
        self, versus: Code, level: float, names: Sequence[str | None], called: str, *, alone: bool = False
    ) -> None:
        """Note what is wrong with the subtype to compare with, the level, and columns that formed the subtypes.

        With `alone`, one subtype is enough.
        """
        if not 0.0 < level < 1.0:
            self.problems.append(f"level must lie between 0 and 1, not {level!r}")
        if self.n_subtypes == 1 and not alone:
            self.problems.append("there is one subtype, so nothing can be compared")
        elif place_of(versus, self.cohort.model.codes_) is None:
            codes = ", ".join(map(str, self.cohort.model.codes_))
            self.problems.append(f"versus must be a subtype, {codes}, not {versus!r}")
        formed = [repr(name) for name in names if name in clustered_features(self.cohort.model)]
        if formed:
            self.problems.append(f"{called}: the subtypes were found from {', '.join(formed)}")

    def feature(self, name: str, called: str) -> tuple[Feature, Array] | None:
        """Return the feature of a column and its scores (N,), NaN = missing; None, and a problem, without any."""
        cells, feature = self._cells(name, called), self._declared(name)
        if cells is None:
            return None
        if feature is not None:
            column = self.cohort.table[name]
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
            of_event = self._is_level(name, event)
            return None if of_event is None else Outcome(name, "binary", *of_event)
        if (column := self.feature(name, "outcome")) is None:
            return None
        feature, values = column
        if feature.traits.is_nominal:
            levels = ", ".join(map(str, feature.levels or ()))
            self.problems.append(f"outcome: {name!r} has levels without order; name one as the event: {levels}")
            return None
        if feature.traits.is_yes_no:
            return Outcome(name, "binary", values, str(feature.levels[1]) if feature.levels else "1")
        different = np.unique(values[~np.isnan(values)])
        if feature.traits.is_scale and different.size <= _MOST_LEVELS:
            texts = feature.levels or [f"{value:g}" for value in different]
            return Outcome(name, "ordered", values, order=tuple(map(str, texts)))
        is_count = feature.traits.is_whole and not feature.traits.is_scale
        return Outcome(name, "count" if is_count else "continuous", values)

    def survival(self, name: str, time: str, entry: str | None, event: Event) -> Outcome | None:
        """Return an outcome with the time to it; without `event`, the yes of a yes/no column: 1, dead, declared."""
        cells = self._cells(name, "outcome")
        ends, begins = self._number(time, "time"), None if entry is None else self._number(entry, "entry")
        event = self._find_yes(name, cells) if event is None and cells is not None else event
        if cells is not None and event is None:
            self.problems.append(f"event: say which value of {name!r} is the event: {_some(cells)}")
        values = None if cells is None or event is None else self._is_level(name, event)
        if values is None or ends is None or (entry is not None and begins is None):
            return None
        begins = np.zeros(ends.size) if begins is None else begins
        if n_early := int((ends <= begins).sum()):
            begin = "0" if entry is None else repr(entry)
            values_are = "1 value of {} is" if n_early == 1 else f"{n_early:,} values of {{}} are"
            self.problems.append(
                f"time: {values_are.format(repr(time))} not above {begin}, where follow-up begins; write half a unit "
                "after it, as 0.5 days for a death on the first day, or leave these rows out"
            )
        return Outcome(name, "survival", *values, times=(ends, begins))

    def _find_yes(self, name: str, cells: pd.Series) -> str | None:
        """Return the value of a column that means yes, by its schema or its two values; None if neither says so."""
        if (feature := self._declared(name)) is not None and feature.traits.is_yes_no:
            return "1" if feature.levels is None else str(feature.levels[1])
        values = sorted(cells.dropna().unique())
        if set(values) <= {"0", "1"}:
            return "1"
        places = no_before_yes(values) if len(values) == 2 else None
        return None if places is None else str(values[places[1]])

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

    def assign(self, rows: Mask, covariates: pd.DataFrame, versus: Code, called: str) -> tuple[Assigned, pd.DataFrame]:
        """Return the subjects of some rows, bool (N,), who have all covariates, as they were assigned.

        Raises InputError for a term whose values are determined by the terms before it, or by none.
        """
        assigned = Assigned(self.cohort, rows & covariates.notna().all(axis=1).to_numpy(), versus)
        covariates = covariates[assigned.rows]
        columns = np.insert(standardised(covariates)[0], 0, 1.0, axis=1)
        for place, (term, values) in enumerate(covariates.items()):
            if np.linalg.matrix_rank(columns[:, : place + 2], tol=1e-8 * np.sqrt(len(values))) < place + 2:
                why = "others determine it" if np.ptp(values) > 0.0 else "it is the same in all"
                raise InputError(f"{called}: leave out {term!r}: of the subjects with all values, {why}")
        return assigned, covariates

    def score_continuum(self) -> pd.DataFrame | None:
        """Return the continuum score of each subject, where nothing shows that the subtypes are more than its slices.

        None if a test of the tree accepted each subtype as distinct, if the score orders subjects by chance, or if no
        search made the subtypes.
        """
        fit = self.cohort.model.fit_
        if fit is None or not fit.clusters_.encoding.features:
            return None
        if fit.tree_test_ is not None and fit.grades is None and int(fit.tree_test_.parted_of(fit.tree_).max()) > 0:
            return None
        continuum = find_continuum(self.cohort)
        return None if continuum.is_by_chance else pd.DataFrame({SCORE: continuum.score})

    def read_clustered(self, without: Sequence[str]) -> pd.DataFrame:
        """Return the terms of the features that formed the subtypes, apart from some, with mean 0 and SD 1."""
        names = [name for name in clustered_features(self.cohort.model) if name not in without]
        terms = self.covariates(names, "features")
        self.problems.clear()
        values, scales = standardised(terms)
        return pd.DataFrame(values, columns=terms.columns).loc[:, scales > 1e-300]

    def _declared(self, name: str) -> Feature | None:
        """Return the feature of a column that the schema names and does not ignore."""
        return self._schema[name] if name in self._schema and self._schema[name].likelihood is not None else None

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
        if (cells := self._cells(name, called)) is None:
            return None
        numbers = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        if np.isfinite(numbers[cells.notna().to_numpy()]).all():
            return numbers
        column = self.feature(name, called)  # numbers with decimal commas or units
        if column is not None and column[0].levels is not None:
            self.problems.append(f"{called}: {name!r} holds levels, not numbers")
        return None if column is None or column[0].levels is not None else column[1]

    def _is_level(self, name: str, event: str | float) -> tuple[Array, str] | None:
        """Return 1 for the cells of a column that are the event and 0 for others, NaN = missing, (N,), and the event.

        True and 1 are the yes of a column of two values, False and 0 the no.
        """
        if (cells := self._cells(name, "outcome")) is None:
            return None
        if name in self._schema and self._schema[name].levels is not None:
            cells = self.cohort.table[name].astype("string")
        wanted = str(canonical_text(event))
        at = (cells == wanted).fillna(False).to_numpy(dtype=bool)
        number = pd.to_numeric(pd.Series([wanted]), errors="coerce").iloc[0]
        if not np.isnan(number):
            at |= (pd.to_numeric(cells, errors="coerce") == number).fillna(False).to_numpy(dtype=bool)
        truth = {"true": True, "1": True, "false": False, "0": False}.get(wanted.casefold())
        if not at.any() and truth is not None and (yes := self._find_yes(name, cells)) is not None:
            others = cells[cells != yes].dropna().unique()
            wanted = yes if truth else str(others[0]) if len(others) == 1 else wanted
            at = (cells == wanted).fillna(False).to_numpy(dtype=bool)
        if not at.any():
            self.problems.append(f"event: no cell of {name!r} is {wanted!r}; {_some(cells)}")
            return None
        return np.where(cells.isna().to_numpy(dtype=bool), np.nan, at), wanted


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
    """Some subjects, bool (N,), of the subtypes that have enough of them, as these were assigned.

    `versus` becomes the place, among these subtypes, of the one that others are compared with; `too_small` are the
    codes of those that are left out, `names` those of the others, and `membership` (n, K) is by the features.
    Raises InputError if there are not two such subtypes, `versus` among them.
    """

    def __init__(self, cohort: FittedCohort, rows: Mask, versus: Code) -> None:
        labels, fewest = cohort.labels, max(_FEWEST, fewest_subjects(cohort.model))
        counts = np.bincount(labels[rows], minlength=int(labels.max()) + 1)
        self.subtypes: Labels = np.flatnonzero(counts >= fewest).astype(np.int64)
        self.codes = cohort.model.codes_
        self.names: list[Code] = [self.codes[it] for it in self.subtypes]
        reference = place_of(versus, self.codes)
        if self.subtypes.size < 2 or reference is None or reference not in self.subtypes:
            raise InputError(
                f"at least two subtypes, among them subtype {versus}, need {fewest} subjects with all values; name "
                "other columns, or another subtype"
            )
        self.versus = int(np.searchsorted(self.subtypes, reference))
        self.too_small = [self.codes[it] for it in np.setdiff1d(np.arange(counts.size), self.subtypes)]
        among = np.isin(labels, self.subtypes)
        self.rows: Mask = rows & among
        self.labels: Labels = np.searchsorted(self.subtypes, labels[self.rows]).astype(np.int64)
        self._errors = np.eye(self.subtypes.size)
        self.membership = self._errors[self.labels]
        self._why_not: str | None = "these subtypes have no probabilities"
        if cohort.model.membership_ is not None:
            membership = np.asarray(cohort.model.membership_)[among][:, self.subtypes]
            membership = membership / np.maximum(membership.sum(axis=1, keepdims=True), 1e-300)
            assigned = np.searchsorted(self.subtypes, labels[among]).astype(np.int64)
            self._errors, self.membership = assignment_errors(membership, assigned), membership[rows[among]]
            recovered, worst = np.diag(self._errors).min(), self.names[int(np.diag(self._errors).argmin())]
            why = f"the subtypes are too hard to tell apart: {100 * recovered:.0f}% of the members of subtype {worst} "
            why += f"are assigned to it (at least {100 * _LEAST_RECOVERED:.0f}% are needed)"
            self._why_not = why if recovered < _LEAST_RECOVERED else None

    def compare_with(self, places: Labels) -> tuple[list[dict[str, Code]], Array]:
        """Return the pairs of some subtypes, as columns of a result, and as contrasts of all subtypes, (D, K).

        Each is compared with `versus`, or with the first of them if that is not among them.
        """
        versus = self.versus if self.versus in places else int(places[0])
        others, units = places[places != versus], np.eye(self.subtypes.size)
        pairs = [{"subtype": self.names[it], "versus": self.names[versus]} for it in others.tolist()]
        return pairs, units[others] - units[versus]

    def errors_of(self, method: str) -> tuple[Array, str | None]:
        """Return the errors of assignment (K, K), and why they cannot be carried through, if they cannot."""
        return (np.eye(self.subtypes.size), None) if method == "naive" else (self._errors, self._why_not)


class Everybody(Assigned):
    """Some subjects, bool (N,), as one group."""

    def __init__(self, cohort: FittedCohort, rows: Mask) -> None:
        self.rows, self.codes, self.names, self.too_small = rows, cohort.model.codes_, cohort.model.codes_[:1], []
        self.subtypes, self.labels, self.versus = np.zeros(1, dtype=np.int64), np.zeros(rows.sum(), dtype=np.int64), 0


# The survival of each subtype as assigned.


@accepting()
def survival_curves(
    model: SubtypeModel,
    frame: pd.DataFrame,
    outcome: str,
    time: str,
    *,
    event: Event = None,
    competing: Sequence[str] = (),
    entry: str | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Return the survival of each subtype as assigned, by the product limit of Kaplan and Meier (1958).

    With competing events, the cumulative incidence of the event instead (Aalen and Johansen 1978): the share to whom it
    has happened, S(t-) d(t) / n(t) summed over times, where S is survival without any of the events. Curves of assigned
    subtypes lie too close together; `compare_outcomes` corrects their hazard ratios.

    Parameters
    ----------
    model, frame, outcome, time, event, entry, level
        As in `compare_outcomes`.
    competing : list of str
        Values of `outcome` that are competing events; all others than these and `event` are censored.

    Returns
    -------
    DataFrame
        One row for each subtype and time of an event or of the last visit of a subject: ``subtype``, ``time``,
        ``at_risk``, ``events``, ``survival``, ``lower`` and ``upper`` (of log(-log), with Greenwood's variance). With
        `competing`, ``incidence`` in the place of ``survival`` (its variance by the delta method, Marubini and
        Valsecchi 1995).

    Raises
    ------
    CohortError, ValueError
        As in `compare_outcomes`.

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
    columns.check(1, level, (outcome, time, entry), "outcome", alone=True)
    survival = columns.survival(outcome, time, entry, event)
    others = [columns.survival(outcome, time, entry, value) for value in competing]
    if survival is not None and survival.event in competing:
        columns.problems.append(f"competing: {survival.event!r} is the event itself")
    refuse(columns.problems)
    assert survival is not None
    (ends, begins), is_known, is_incidence = survival.times, survival.is_known, bool(competing)
    happened = survival.observed + 2.0 * sum(other.observed for other in others if other is not None)
    if not is_known.any():
        raise InputError(f"no subject has {outcome!r} and {time!r}")
    tables = {
        code: _curve(ends[rows], happened[rows], begins[rows], level, is_incidence)
        for label, code in enumerate(columns.cohort.model.codes_)
        if (rows := is_known & (columns.cohort.labels == label)).any()
    }
    return pd.concat(tables, names=["subtype"]).reset_index("subtype").reset_index(drop=True)


def _curve(time: Array, happened: Array, entry: Array, level: float, is_incidence: bool) -> pd.DataFrame:
    """Return the survival or the incidence after each time of some subjects (n,); `happened`: 1 the event, 2 others.

    With I the incidence, S the survival before a time, d events and D of any kind of n at risk, the variance is
    sum_j (I - I_j)^2 D_j / (n_j (n_j - D_j)) + S_j^2 d_j (n_j - d_j) / n_j^3 - 2 (I - I_j) S_j d_j / n_j^2; Greenwood's
    without others.
    """
    times = np.unique(time)
    at_risk = ((entry[:, None] < times) & (time[:, None] >= times)).sum(axis=0)
    is_now, n = time[:, None] == times, np.maximum(at_risk, 1).astype(np.float64)
    events, others = ((is_now & (happened == kind)[:, None]).sum(axis=0) for kind in (1.0, 2.0))
    any_event = events + others
    survival = np.cumprod(1.0 - any_event / n)
    before = np.append(1.0, survival[:-1])
    incidence = np.cumsum(before * events / n)
    of_survival = np.where(any_event < n, any_event / (n * np.maximum(n - any_event, 1e-300)), 0.0)
    of_event, of_both = before**2 * events * (n - events) / n**3, before * events / n**2
    # (I - I_j)^2 and (I - I_j) multiplied out, so that each sum runs once over the times.
    variance = incidence**2 * np.cumsum(of_survival) - 2.0 * incidence * np.cumsum(incidence * of_survival)
    variance += np.cumsum(incidence**2 * of_survival) + np.cumsum(of_event)
    variance -= 2.0 * (incidence * np.cumsum(of_both) - np.cumsum(incidence * of_both))
    share = incidence if is_incidence else survival
    with np.errstate(divide="ignore", invalid="ignore"):
        margin = float(ndtri(0.5 + level / 2.0)) * np.sqrt(np.maximum(variance, 0.0)) / (-share * np.log(share))
        is_open = (share <= 0.0) | (share >= 1.0)
        lower, upper = (np.where(is_open, np.nan, share ** np.exp(end)) for end in (margin, -margin))
    columns = {"time": times, "at_risk": at_risk, "events": events, "incidence" if is_incidence else "survival": share}
    return pd.DataFrame(columns | {"lower": lower, "upper": upper})
