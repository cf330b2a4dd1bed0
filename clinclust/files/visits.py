"""Visits: the level, trend, last value and spread of measurements of which each subject has several rows.

Value j of subject i, at time t_ij, is a value of the subject's own line (Laird and Ware, Biometrics 1982,
doi:10.2307/2529876)::

    y_ij = (mean + a_i) + (slope + b_i) (t_ij - at) + e_ij,   (a_i, b_i) ~ N(0, D),   e_ij ~ N(0, sd_residual^2)

The *level* of a subject is mean + a_i, the value at the common time `at`, which is the mean time of all values; the
*trend* is slope + b_i. Both are best linear unbiased predictions: with few or noisy visits they are drawn towards the
mean line. The mean line, D and the residual are estimated by restricted maximum likelihood. Its criterion is that of
Bates et al. (J Stat Softw 2015, doi:10.18637/jss.v067.i01), computed from sums of each subject. statsmodels' MixedLM
gives the same numbers where it converges (`tests/files/test_visits.py`). It does not where D is singular, as when all
slopes are alike, and here the factor of D is bounded instead; and the order of the rows has no influence here.

What is estimated is a `Trend`, with six digits. The schema keeps it, so that new subjects are compared with the line of
the cohort.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from clinclust.arrays import Array, Mask
from clinclust.errors import InputError, did_you_mean, on_one_line, refuse
from clinclust.files import say
from clinclust.files.cell_text import listed, quote_cell, quoted, rows_named
from clinclust.files.conditions import A_DAY, Cells, DateColumn, Reader, name_in_condition, text_in_condition
from clinclust.files.notation import MISSING_SIGNS, means_missing
from clinclust.files.text_table import COLUMN_NOTES, ColumnNotes, add_notes, notes_of

# What is asked for: summaries by column, in words that a schema and an option can hold.

SUMMARIES: Mapping[str, str] = {
    "mean": "a value",
    "slope": "2 different times",
    "last": "a value",
    "spread": "3 values at 2 different times",
}
"""The summaries of a measurement, and what a subject needs for each."""
ByColumn = tuple[tuple[str, tuple[str, ...]], ...]


def read_summaries(stated: Mapping[str, Any] | None) -> ByColumn | None:
    """Return the summaries of each column, from a dictionary of lists; None is nothing."""
    if stated is None:
        return None
    return tuple(
        (str(name), tuple(names) if isinstance(names, list | tuple) else (names,)) for name, names in stated.items()
    )


def find_summary_problems(summarise: ByColumn) -> list[str]:
    """Return one sentence for each summary that is unknown, repeated or lacking, and for each repeated column."""
    if not summarise:
        return ["`summarise` names no column; it takes such as {'egfr': ['mean', 'slope']}"]
    columns = [name for name, _ in summarise]
    problems = [f"`summarise` names {quoted(name)} twice" for name in dict.fromkeys(columns) if columns.count(name) > 1]
    for name, summaries in summarise:
        unknown = [summary for summary in summaries if summary not in SUMMARIES]
        problems += [
            f"`summarise`: {quoted(summary)} of {quoted(name)} is no summary.{did_you_mean(str(summary), SUMMARIES)}"
            for summary in unknown
        ]
        if unknown or not summaries or len(set(summaries)) < len(summaries):
            problems.append(f"`summarise`: give {quoted(name)} one or more of {', '.join(SUMMARIES)}, each once")
    return problems


def render_summaries(time: str | None, summarise: ByColumn) -> str:
    """Return what is summarised, in words."""
    parts = [f"{' and '.join(summaries)} of {on_one_line(name)}" for name, summaries in summarise]
    has_model = any({"mean", "slope"} & set(summaries) for _, summaries in summarise)
    how = " (predictions of a linear mixed model)" if has_model else ""
    return f"{', '.join(parts)} over {on_one_line(time or '')} from all of its rows{how}"


# What is estimated on the cohort, and kept for new subjects.

_Number = Annotated[float, Field(allow_inf_nan=False)]  # or its text, as YAML has it
_Size = Annotated[float, Field(allow_inf_nan=False, ge=0)]
TimeUnit = Literal["year"] | None  # of dates; None for numbers
_DIGITS = 6


@dataclass(frozen=True)
class Trend:
    """The mean line of a measurement in a cohort, and how subjects and values vary about it."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    at: _Number  # the time at which the level is the value of a line
    mean: _Number
    slope: _Number
    sd_mean: _Size  # of the levels of subjects
    sd_slope: _Size
    correlation: Annotated[float, Field(ge=-1, le=1)]  # of level and slope
    sd_residual: _Size  # of a value about the line of its subject
    per: TimeUnit = None  # the unit of time, if it is dates

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that say anything."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @property
    def root(self) -> Array:
        """The lower triangular root of the covariance D of level and slope, float64 (2, 2)."""
        across = np.sqrt(1 - self.correlation**2)
        return np.array([[self.sd_mean, 0.0], [self.correlation * self.sd_slope, across * self.sd_slope]])


Trends = tuple[tuple[str, Trend], ...]
_TRENDS = TypeAdapter(dict[str, Trend])


def read_trends(stated: object) -> Trends | None:
    """Return the trend of each column, from a dictionary as a schema has it; InputError for anything else."""
    try:
        return None if stated is None else tuple(_TRENDS.validate_python(stated).items())
    except ValidationError as error:
        places = [".".join(map(str, problem["loc"])) for problem in error.errors()]
        names = ", ".join(field.name for field in fields(Trend) if field.name != "per")
        shown = listed(place or "its type" for place in places)
        raise InputError(say("no_trends", fields=names, places=shown)) from None


class _Visits:
    """The values of a column with their times, and the line of each subject by least squares.

    They are sorted by subject, time and value, so that sums have the same bits. Lines are float64 (n_subjects,), their
    slopes NaN without two different times.
    """

    def __init__(self, codes: NDArray[np.intp], times: Array, values: Array) -> None:
        complete = np.isfinite(times) & np.isfinite(values)
        order = np.flatnonzero(complete)[np.lexsort((values[complete], times[complete], codes[complete]))]
        self.codes, self.times, self.values = codes[order], times[order], values[order]
        self._n_subjects = int(codes.max(initial=-1)) + 1
        self.n = self.sum_by_subject()
        with np.errstate(invalid="ignore", divide="ignore"):
            self.mean_time, self.mean = (self.sum_by_subject(cells) / self.n for cells in (self.times, self.values))
            times, values = self.times - self.mean_time[self.codes], self.values - self.mean[self.codes]
            differs = (np.diff(self.times) > 0) & (np.diff(self.codes) == 0)
            self.has_line = np.bincount(self.codes[1:][differs], minlength=self._n_subjects) > 0
            slope = self.sum_by_subject(times * values) / self.sum_by_subject(times**2)
        self.slope = np.where(self.has_line, slope, np.nan)
        rest = values - np.where(self.has_line, slope, 0.0)[self.codes] * times
        rest[np.abs(rest) <= 1e-12 * np.abs(self.values)] = 0.0  # rounding errors of constant values
        self.squares = self.sum_by_subject(rest**2)  # about the line

    def sum_by_subject(self, terms: Array | None = None) -> Array:
        """Return the sum of a term over the values of each subject, float64 (n_subjects,); without one their number."""
        return np.bincount(self.codes, terms, self._n_subjects).astype(np.float64)

    def compute_moments(self, values: Array, at: float, unit: float = 1.0) -> tuple[Array, Array]:
        """Return X'X, float64 (n_subjects, 2, 2), and X'y, (n_subjects, 2), where a row of X is 1 and (t - at)/unit."""
        times = (self.times - at) / unit
        first, second = self.sum_by_subject(times), self.sum_by_subject(times**2)
        squares = np.stack([self.n, first, first, second], axis=-1).reshape(-1, 2, 2)
        return squares, np.stack([self.sum_by_subject(values), self.sum_by_subject(times * values)], axis=-1)


def _estimate_trend(visits: _Visits, per: TimeUnit) -> tuple[Trend, str]:
    """Return the trend of a column, and a remark if nothing tells change from noise. A subject must have a line."""
    unit, scale = float(visits.times.std()), float(visits.values.std()) or 1.0
    at, centre, remark = _round(visits.times.mean(), unit), visits.values.mean(), ""
    n_free = float((visits.n - visits.has_line - (visits.n > 0)).sum())
    if n_free == 0 or visits.squares.sum() <= 1e-12 * scale**2 * visits.values.size:
        levels = visits.mean + visits.slope * (at - visits.mean_time)
        lines = np.stack([(levels - centre) / scale, visits.slope * unit / scale])[:, visits.has_line]
        beta, residual = lines.mean(axis=1), 0.0
        covariance = np.cov(lines) if lines.shape[1] > 1 else np.zeros((2, 2))
        if n_free == 0:
            remark = say("no_noise_of_visits")
    else:
        values = (visits.values - centre) / scale
        squares, products = (sums[visits.n > 0] for sums in visits.compute_moments(values, at, unit))
        beta, covariance, residual = _maximise_reml(squares, products, float(values @ values))
    sd_mean, sd_slope = np.sqrt(np.diag(covariance).clip(0.0)).tolist()
    product, per_unit = sd_mean * sd_slope, scale / unit
    return Trend(
        at=at,
        mean=_round(centre + scale * beta[0], scale),
        slope=_round(per_unit * beta[1], per_unit),
        sd_mean=_round(scale * sd_mean, scale),
        sd_slope=_round(per_unit * sd_slope, per_unit),
        correlation=round(float(np.clip(covariance[0, 1] / product, -1, 1)), _DIGITS) if product else 0.0,
        sd_residual=_round(scale * residual, scale),
        per=per,
    ), remark


def _round(value: float, unit: float) -> float:
    """Return a value with six digits of its unit, so that a schema holds few and the same numbers everywhere."""
    return round(float(value), _DIGITS - 1 - int(np.floor(np.log10(unit)))) if unit else float(value)


def _maximise_reml(squares: Array, products: Array, sum_of_squares: float) -> tuple[Array, Array, float]:
    """Return the mean line (2,), D (2, 2) and the residual SD that maximise the restricted likelihood.

    With X_i'X_i (S, 2, 2), X_i'y_i (S, 2) and the sum of y^2. D is residual^2 L L', and L has the elements theta.
    """
    from scipy.optimize import Bounds, minimize

    n_free = squares[:, 0, 0].sum() - 2

    def solve(theta: Array) -> tuple[float, Array, float, Array]:
        root = np.array([[theta[0], 0.0], [theta[1], theta[2]]])
        mixed = squares @ root
        inner = np.eye(2) + root.T @ mixed
        corner = inner[:, 0, 1]
        determinants = inner[:, 0, 0] * inner[:, 1, 1] - corner**2
        inverse = np.stack([inner[:, 1, 1], -corner, -corner, inner[:, 0, 0]], axis=-1).reshape(-1, 2, 2)
        inverse /= determinants[:, None, None]
        scores = products @ root
        solved = np.einsum("nij,nj->ni", inverse, scores)
        information = squares.sum(axis=0) - np.einsum("nij,njk,nlk->il", mixed, inverse, mixed)
        score = products.sum(axis=0) - np.einsum("nij,nj->i", mixed, solved)
        beta = np.linalg.solve(information, score)
        variance = (sum_of_squares - (scores * solved).sum() - beta @ score) / n_free
        deviance = n_free * np.log(variance) + np.log(determinants).sum() + np.linalg.slogdet(information)[1]
        return float(deviance), beta, float(variance), root

    theta = np.zeros(3)
    if len(squares) > 1:  # of one subject nothing tells how subjects differ
        starts = np.array([[2.0, 0.0, 0.1], [1.0, 0.0, 1.0]])  # SD of subjects in units of that of residuals
        search = partial(minimize, lambda at: solve(at)[0], method="L-BFGS-B", bounds=Bounds([0, -np.inf, 0], np.inf))
        ends = [search(x0=start, options={"ftol": 1e-14, "gtol": 1e-8}) for start in starts]
        theta = min(ends, key=lambda end: float(end.fun)).x
    _, beta, variance, root = solve(theta)
    return beta, variance * root @ root.T, float(np.sqrt(variance))


# The summaries of a table of visits.


@dataclass(frozen=True, eq=False)
class VisitSummaries:
    """The summaries of the columns of a table, of the subject of each row."""

    time: str
    times: Array  # of the rows, float64 (N,), NaN without one
    columns: Mapping[str, Mapping[str, tuple[Array, ColumnNotes]]]  # of each column: values (N,) and notes by name
    trends: Trends
    dates: list[DateColumn]
    remarks: list[str]

    def replace_columns(self, frame: pd.DataFrame, rows: Mask) -> pd.DataFrame:
        """Return the table of the rows that stay, with summaries in the place of their columns, and without time."""
        if lost := [quoted(name) for name in self.columns if name not in frame]:
            raise InputError(f"`only` and `drop` leave out {listed(lost)}, which `summarise` names: do one of them")
        columns, notes = dict[Any, Any](), notes_of(frame)
        for name in frame.columns.drop(self.time, errors="ignore"):
            if name not in self.columns:
                columns[name] = frame[name]
                continue
            notes.pop(name, None)
            for summary, (values, about) in self.columns[name].items():
                columns[summary], notes[summary] = values[rows], about
        changed = pd.DataFrame(columns, index=frame.index)
        changed.attrs = {**frame.attrs, COLUMN_NOTES: {}}
        add_notes(changed, {name: about for name, about in notes.items() if name in columns})
        return changed


def summarise_visits(
    reader: Reader, subjects: str, time: str, summarise: ByColumn, trends: Trends | None
) -> VisitSummaries:
    """Return the summaries of a table of visits; a trend that is not stated is estimated.

    InputError lists all columns that are unknown or clash, and all cells that are no numbers.
    """
    problems, remarks, unknown, added = list[str](), list[str](), list[str](), list[str]()
    cells, uses_by_place, names = dict[str, Cells](), dict[int, str](), reader.read.names
    uses = [(subjects, "`one_row_per`", ()), (time, "`time`", ())]
    for name, use, summaries in [*uses, *((name, "`summarise`", summaries) for name, summaries in summarise)]:
        place = reader.read.find_column(name)
        if isinstance(place, str):
            unknown.append(f"{use}: {place}")
            continue
        if place in uses_by_place:
            problems.append(f"{use} and {uses_by_place[place]} name one column, {quoted(name)}: give another")
        uses_by_place.setdefault(place, use)
        cells[name] = Cells(reader, place)
        added += [f"{names[place]} {summary}" for summary in summaries]
    if unknown:
        problems.insert(0, f"{'; '.join(unknown)} The columns are {listed(names)}")
    problems += [f"`summarise` would add a second {quoted(name)}: rename it" for name in added if name in names]
    labels = reader.read.frame.index
    rows = np.asarray(labels + 2 if pd.api.types.is_integer_dtype(labels) else labels)
    codes, times, per = np.zeros(len(rows), dtype=np.intp), np.zeros(0), None
    if subjects in cells:
        codes = np.unique(cells[subjects].texts.astype(str), return_inverse=True)[1]
    if time in cells:
        try:
            times, per, remarks = _read_times(cells[time], rows, codes)
        except InputError as error:
            problems.append(error.at_command_line)
    columns: dict[str, dict[str, tuple[Array, ColumnNotes]]] = {}
    estimates = dict[str, Trend]()
    for name, summaries in ((name, summaries) for name, summaries in summarise if name in cells):
        column, notes = cells[name].name, cells[name].notes
        try:
            values, notices = _read_numbers(cells[name], rows)
            if problems:  # such as those of the time: only what else is wrong is of interest
                continue
            visits = _Visits(codes, times, values)
            if {"mean", "slope"} & set(summaries):
                estimates[name], more = _choose_trend(column, time, visits, dict(trends or ()).get(name), per)
                notices += more
        except InputError as error:
            problems.append(error.at_command_line)
            continue
        remarks += notices
        over, block = per or cells[time].name, notes.block or column
        of_subjects = _summarise_column(visits, notes.label or column, estimates.get(name), over)
        columns[column] = {}
        for summary in summaries:
            (values, label), new = of_subjects[summary], f"{column} {summary}"
            unit = f"{notes.unit} per {over}" if notes.unit and summary == "slope" else notes.unit
            reason = f"the {summary} of the rows of a subject"
            about = ColumnNotes(label, unit, notes.section, kind="number", block=block, reason=reason)
            columns[column][new] = values[codes], about
            if count := int(np.isnan(values).sum()):
                remarks.append(f"{quoted(new)} is missing for {count:,} subjects: it needs {SUMMARIES[summary]}")
    refuse(problems)
    dates = [cells[time].dates] if per else []
    return VisitSummaries(cells[time].name, times, columns, tuple(estimates.items()), dates, remarks)


def _read_numbers(cells: Cells, rows: NDArray[Any], needed: str = "numbers") -> tuple[Array, list[str]]:
    """Return the numbers of a column, NaN where it has none, and remarks; InputError names the rows of other texts."""
    low, high = cells.bounds
    words = [text for text in cells.counts if means_missing(text) or text.casefold() in MISSING_SIGNS]
    wrong = ~cells.missing & ~np.isin(cells.texts.astype(str), words) & ~((low == high) & np.isfinite(low))
    if wrong.any():
        texts = list(dict.fromkeys(cells.texts[wrong].tolist()))
        name = name_in_condition(cells.name, cells.number)
        conditions = [text_in_condition(text) for text in texts]
        repair = "correct them"
        if len(texts) <= 5 and all(conditions):
            others = f"{name} is missing or {name} not in ({', '.join(map(str, conditions))})"
            repair += f", or leave these rows out, where={others!r}"
        shown, where, column = listed(map(quote_cell, texts)), rows_named(rows[wrong].tolist()), quoted(cells.name)
        fault = say("no_numbers_of_visits", column=column, cells=shown, rows=where, needed=needed, repair=repair)
        raise InputError(fault)
    notices = [f"{listed(map(quote_cell, words))} in {quoted(cells.name)} is taken for missing"] if words else []
    return np.where(wrong | (low != high), np.nan, low), [*cells.describe_notation(), *notices]


def _read_times(cells: Cells, rows: NDArray[Any], codes: NDArray[np.intp]) -> tuple[Array, TimeUnit, list[str]]:
    """Return the time of each row, its unit if it is dates, and remarks.

    Dates count in years from the first date of the subject: a day of the calendar is no common time of a cohort that
    was recruited over years.
    """
    per: TimeUnit = "year" if cells.looks_like_dates else None
    if per is None:
        times, notices = _read_numbers(cells, rows, "numbers or dates such as 2024-05-31")
    else:
        times, notices = cells.dates.moments / (365.25 * A_DAY), cells.dates.describe_notation(cells.name)
        first = np.full(codes.max(initial=0) + 1, np.inf)
        np.fmin.at(first, codes, times)
        times = times - first[codes]
        notices.append(f"time is the years from the first {quoted(cells.name)} of each subject")
    if n_without := int(np.isnan(times).sum()):
        notices.append(f"{n_without:,} rows without {quoted(cells.name)} are not part of the summaries")
    return times, per, notices


def _choose_trend(
    name: str, time: str, visits: _Visits, stated: Trend | None, per: TimeUnit
) -> tuple[Trend, list[str]]:
    """Return the trend of a column, that of the cohort if it is stated, and remarks on what was estimated."""
    if stated is not None:
        if stated.per != per:
            over, here = ("dates", "numbers") if stated.per else ("numbers", "dates")
            raise InputError(f"the trend of {quoted(name)} is over {over}, and {quoted(time)} holds {here} here")
        return stated, []
    if not visits.has_line.any():
        raise InputError(say("no_trend_of_visits", column=quoted(name)))
    trend, remark = _estimate_trend(visits, per)
    line = say("mean_line", name=quoted(name), trend=trend, at=_describe_time(trend, time), unit=per or time)
    return trend, [line, *([f"{quoted(name)}: {remark}"] if remark else [])]


def _describe_time(trend: Trend, time: str) -> str:
    return f"{trend.at:.3g} years" if trend.per else f"{time} {trend.at:.3g}"


def _summarise_column(visits: _Visits, label: str, trend: Trend | None, time: str) -> dict[str, tuple[Array, str]]:
    """Return each summary of the subjects, float64 (n_subjects,), NaN where one has too few values; and its label."""
    n, results = visits.n, dict[str, tuple[Array, str]]()
    if trend is not None:
        # The deviations from the mean line are L (L'X'X L + sd^2 I)^-1 L'X'(y - X beta), which also holds for singular
        # D = L L' and sd = 0. Without any value they are 0.
        squares, products = visits.compute_moments(visits.values, trend.at)
        beta, root = np.array([trend.mean, trend.slope]), trend.root
        inverse = np.linalg.pinv(
            root.T @ squares @ root + trend.sd_residual**2 * np.eye(2), rcond=1e-13, hermitian=True
        )
        deviations = np.einsum("ij,njk,kl,nl->ni", root, inverse, root.T, products - squares @ beta, optimize=True)
        level, slope = (beta + deviations).T
        results["mean"] = np.where(n > 0, level, np.nan), f"{label} at {_describe_time(trend, time)}"
        results["slope"] = np.where(visits.has_line, slope, np.nan), f"slope of {label} per {time}"
    with np.errstate(invalid="ignore", divide="ignore"):
        last_time = np.full(n.size, -np.inf)
        np.maximum.at(last_time, visits.codes, visits.times)
        is_last = (visits.times == last_time[visits.codes]).astype(np.float64)  # the mean of several at one time
        last = visits.sum_by_subject(is_last * visits.values) / visits.sum_by_subject(is_last)
        spread = np.where(visits.has_line & (n > 2), np.sqrt(visits.squares / (n - 2)), np.nan)
    return results | {"last": (last, f"last {label}"), "spread": (spread, f"spread of {label} about its line")}
