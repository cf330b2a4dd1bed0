"""The choice of rows: conditions, one row for each subject, rows of a sheet, and summaries of several rows of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, TypeAdapter

from clinclust.arguments import Rule
from clinclust.arrays import Array, Labels, Mask
from clinclust.data import data
from clinclust.errors import InputError, did_you_mean, on_one_line, refuse
from clinclust.files import conditions, say, text_table
from clinclust.files.cell_text import listed, numbers_of, quote_cell, quoted, texts_of
from clinclust.files.notation import MISSING_SIGNS, DecimalMark, means_missing, names_subjects
from clinclust.files.text_table import ColumnNotes, Names, RowRanges, TableRead, chosen_columns, read_dumped

# Recognise that a table holds several rows of one subject, as tables of visits do.

SEVERAL_ROWS = "several_rows"  # the key of ``frame.attrs``

# among few subjects, an identifier given twice may be a slip of typing
_FEWEST_SUBJECTS = 20
_FILLED = 0.9
_HALF = 0.5


@dataclass(frozen=True)
class RepeatedSubjects:
    """Subjects with several rows: whose, and how many."""

    column: str  # the column of the subjects
    n_rows: int
    n_subjects: int
    n_repeated: int  # subjects with several rows
    most_rows: int
    has_visits: bool  # whether a column whose name speaks of time tells the rows of a subject apart
    are_copies: bool = False  # whether the rows of each subject are equal in every column, as if pasted twice

    def warning(self) -> str:
        """Return that rows are not subjects, as the first sentence of a report."""
        follows = "copies of one row weigh double" if self.are_copies else "subtypes may be those of visits"
        return say("rows_are_not_patients", subjects=self, follows=follows)

    def sentence(self) -> str:
        """Return what was found, and how to keep one row of each subject."""
        return say("keep_one_row", subjects=self)


def subjects_with_several_rows(frame: pd.DataFrame) -> RepeatedSubjects | None:
    """Return the subjects of a table of visits; None if no column clearly names subjects with several rows.

    The name of the column says that it identifies at least 20 subjects, and its values do so in nearly all rows. Most
    subjects have several rows, or another column speaks of visits, or all rows of a subject are copies of one.
    """
    for name in frame.columns[~frame.columns.duplicated(keep=False)].astype(str):
        subjects = repeated_subjects(frame, name) if names_subjects(name) else None
        if subjects is None or subjects.n_subjects < _FEWEST_SUBJECTS or subjects.n_rows < _FILLED * len(frame):
            continue
        numbers = numbers_of(texts_of(frame[name]).unique().tolist())
        are_decimals = np.isfinite(numbers).all() and (numbers != np.floor(numbers)).any()
        is_clear = subjects.are_copies or subjects.has_visits or subjects.n_repeated > _HALF * subjects.n_subjects
        if is_clear and not are_decimals:
            return subjects
    return None


def repeated_subjects(frame: pd.DataFrame, column: str) -> RepeatedSubjects | None:
    """Return which subjects have several rows in a table, or None if each has one; empty cells name no subject."""
    subjects = texts_of(frame[column])
    counts = subjects[subjects != ""].value_counts()
    several = counts[counts > 1]
    if several.empty or _start_anew(numbers_of(subjects.tolist())):
        return None
    is_repeated = subjects.isin(several.index).to_numpy()
    repeated = frame[is_repeated].astype(str).assign(**{column: subjects.to_numpy()[is_repeated]})
    parts = data("tables")["visits"]["parts"]
    timed = [name for name in frame.columns.drop(column) if any(part in str(name).casefold() for part in parts)]
    return RepeatedSubjects(
        column,
        n_rows=int(counts.sum()),
        n_subjects=len(counts),
        n_repeated=len(several),
        most_rows=int(counts.iloc[0]),
        has_visits=any(timed.count(name) == 1 and not repeated[[column, name]].duplicated().any() for name in timed),
        are_copies=len(repeated.drop_duplicates()) == len(several),
    )


def _start_anew(numbers: Array) -> bool:
    """Return whether numbers (N,) rise from 1 in a few blocks of rows: patients 1 to 8 and 1 to 11 of two studies."""
    is_1 = numbers == 1.0
    if not (is_1[0] and (is_1[1:] | (np.diff(numbers) > 0.0)).all()):
        return False
    blocks = pd.Series(numbers).groupby(is_1.cumsum())
    ends, are_dense = blocks.max(), blocks.size() >= _FILLED * blocks.max()  # at visits of subjects, all end alike
    return bool(are_dense.all() and ends.min() <= _FILLED * ends.max() and len(ends) < ends.mean())


def noted_several_rows(frame: pd.DataFrame) -> RepeatedSubjects | None:
    """Return what is noted of the subjects of a table with several rows; None if nothing is that could be read."""
    with suppress(TypeError, ValueError):  # of another structure
        return RepeatedSubjects(**dict(frame.attrs.get(SEVERAL_ROWS) or {}))
    return None


# The summaries of visits, and what is estimated on the cohort for them, and kept for new subjects.

SUMMARIES: Mapping[str, str] = data("tables")["summaries"]  # of a measurement, and what a subject needs for each
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


_TRENDS = TypeAdapter(dict[str, Trend])


# Which rows of a table are the cohort, in words that a schema and a saved model can hold, and how many were taken.

Keep = Literal["first", "last"]
ROWS_TAKEN = "rows_taken"
RULES = {
    "keep": Rule(" or ".join(get_args(Keep)), get_args(Keep).__contains__),
    "dates": Rule(" or ".join(conditions.DATE_ORDERS), conditions.DATE_ORDERS.__contains__),
    "draw": Rule("a whole number from 1 on", lambda value: str(value).isdecimal() and str(value) > "0"),
    "summarise": Rule("a dictionary such as {'egfr': ['mean', 'slope']}", lambda value: isinstance(value, Mapping)),
    "trends": Rule("the trends of `rows` of a schema", lambda value: isinstance(value, Mapping)),
}  # of what a choice of rows holds other than texts
_TEXT = Rule("a text that is not empty", lambda value: isinstance(value, str) and bool(value.strip()))


class ChoiceError(InputError):
    """The rows that were asked for cannot be chosen."""


@dataclass(frozen=True)
class RowChoice:
    """Which rows to keep. Without any field, all are."""

    where: str | None = None  # a condition; see `clinclust.files.conditions`
    one_row_per: str | None = None  # the column that says whose row it is
    keep: Keep = "first"  # which of the rows of one subject
    by: str | None = None  # the column of numbers or dates that orders the rows of a subject; by default the file
    dates: conditions.DateOrder | None = None  # how dates such as 03/04/2020 are read, where no other date tells it
    rows: str | None = None  # those of the sheet that hold the subjects, such as 2-61,66-; the rest chooses among them
    time: str | None = None  # the column of the time of each row of a subject, for `summarise`
    # what becomes of columns: the level, trend, ... of all rows of a subject
    summarise: Mapping[str, Sequence[str]] | None = field(default=None, hash=False)
    # the mean lines of a cohort (`Trend`), by which new subjects are summarised; else estimated
    trends: Mapping[str, Any] | None = field(default=None, hash=False)
    draw_by: str | None = None  # the column of sampling weights, in proportion to which rows are drawn
    draw: str = "1"  # which of the draws by weight
    count: str | None = None  # the column that says how many people each row represents

    def __post_init__(self) -> None:
        if self.summarise is not None:
            lists = {name: list(it) if isinstance(it, list | tuple) else [it] for name, it in self.summarise.items()}
            object.__setattr__(self, "summarise", lists)
        object.__setattr__(self, "draw", str(self.draw))
        if self.trends is not None:
            names = ", ".join(part.name for part in fields(Trend) if part.name != "per")
            object.__setattr__(self, "trends", read_dumped(_TRENDS, self.trends, "no_trends", fields=names))

    def __bool__(self) -> bool:
        return self.rows is not None or self.by_values is not None

    @property
    def by_values(self) -> RowChoice | None:
        """The part of it that chooses rows by their cells, in any sheet; None if it has none."""
        stated = (self.where, self.one_row_per, self.draw_by, self.count)
        return None if self.draw == "1" and all(value is None for value in stated) else replace(self, rows=None)

    @property
    def of_new_subjects(self) -> RowChoice:
        """The part that also holds for subjects to be assigned: each of them is, whatever weight it has."""
        return replace(self, draw_by=None, draw="1", count=None)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that are not the default, by name."""
        stated = {part.name: value for part in fields(self) if (value := getattr(self, part.name)) != part.default}
        more = {} if self.trends is None else {"trends": _TRENDS.dump_python(dict(self.trends), exclude_none=True)}
        return stated | more

    @classmethod
    def from_dict(cls, stated: object) -> RowChoice:
        """Return the choice that `as_dict` wrote; InputError lists all problems of anything else."""
        if not isinstance(stated, Mapping):
            raise InputError(say("no_choice_of_rows", value=quoted(stated)))
        names, problems = [part.name for part in fields(cls)], list[str]()
        for name, value in stated.items():
            if name not in names:
                hint = did_you_mean(str(name), names)
                problems.append(f"{quoted(str(name))} is no part of it.{hint} Parts are {', '.join(names)}")
            elif value is not None:
                problems += RULES.get(name, _TEXT).problems(name, value)
        if not problems:
            choice = cls(**stated)
            problems = choice.problems()
            try:
                choice._meaning()
            except InputError as error:
                problems.append(str(error))
        refuse(problems)
        return choice

    def problems(self) -> list[str]:
        """Return one sentence for each field that makes no sense without another, and for each unknown summary."""
        faults = {
            "keep_without_subjects": self.one_row_per is None and (self.keep != "first" or self.by is not None),
            "dates_without_use": self.dates is not None and self.where is self.by is self.time is None,
            "time_without_summaries": self.summarise is None and (self.time is not None or self.trends is not None),
            "summaries_without_subjects": self.summarise is not None and self.one_row_per is None,
            "summaries_without_time": self.summarise is not None and self.time is None,
            "no_summaries": self.summarise == {},
            "drawn_and_counted": None not in (self.draw_by, self.count),
            "draw_without_weights": self.draw != "1" and self.draw_by is None,
        }
        problems = [say(fault) for fault, is_wrong in faults.items() if is_wrong]
        for name, summaries in (self.summarise or {}).items():
            unknown = [str(summary) for summary in summaries if summary not in list(SUMMARIES)]
            if unknown or not summaries or len(set(summaries)) < len(summaries):
                hints = "".join(did_you_mean(summary, SUMMARIES) for summary in unknown)
                which, words = listed(map(quoted, summaries)) or "nothing", ", ".join(SUMMARIES)
                problems.append(say("unknown_summaries", name=name, which=which, words=words, hints=hints))
        return problems

    def _meaning(self) -> tuple[object, ...]:
        """Return its meaning without the order of dates, whatever the spaces."""
        ranges = None if self.rows is None else RowRanges.parsed(self.rows)
        condition = None if self.where is None else conditions.parsed(self.where)
        of_subjects = (self.one_row_per, self.keep, self.by, self.time, self.summarise)
        return condition, of_subjects, ranges and ranges.ranges, self.draw_by, self.draw, self.count

    def agrees_with(self, other: RowChoice) -> bool:
        """Return whether both choose the same rows; dates agree if only one has their order. Trends are no choice."""
        return self._meaning() == other._meaning() and len({self.dates, other.dates} - {None}) < 2

    def follows(self, wanted: RowChoice) -> bool:
        """Return whether it agrees with all that the user said of the rows."""
        mine = self if wanted.by_values is not None else RowChoice(rows=self.rows)
        return (mine if wanted.rows is not None else replace(mine, rows=None)).agrees_with(wanted)

    def completed_by(self, other: RowChoice) -> RowChoice:
        """Return this choice, and what the user said of the rows where it says nothing itself."""
        mine, theirs = self.by_values, other.by_values
        more = other if mine is None or (theirs is not None and mine.agrees_with(theirs)) else self
        rows, dates, trends = self.rows or other.rows, self.dates or more.dates, self.trends or more.trends
        return replace(other if mine is None else self, rows=rows, dates=dates, trends=trends)

    def in_words(self) -> str:
        """Return which rows they are, in words that follow "the rows taken are"."""
        return ", and ".join(self.phrases().values()) or "all rows"

    def phrases(self) -> dict[str, str]:
        """Return the words for the rows of the sheet, the condition and the row of each subject, by field, if any."""
        order = self.by or self.time
        row = f"{self.keep} {'in the file' if order is None else f'by {order}'}"
        if self.summarise is not None:
            words = [f"{' and '.join(names)} of {column}" for column, names in self.summarise.items()]
            row += f", with {', '.join(words)}"
            has_model = any({"mean", "slope"} & set(names) for names in self.summarise.values())
            row += f" over {self.time} from all of its rows{' (predictions of a linear mixed model)' * has_model}"
        phrases = {
            "rows": f"rows {self.rows} of the sheet",
            "where": f"those where {(self.where or '').strip()}",
            "one_row_per": f"one row for each {self.one_row_per}, the {row}",
            "draw_by": f"rows drawn in proportion to {self.draw_by} (draw {self.draw})",
            "count": f"each row as often as {self.count} says",
        }
        return {name: on_one_line(words) for name, words in phrases.items() if getattr(self, name) is not None}


# Visits: the level, trend, last value and spread of measurements of which each subject has several rows.
#
# Value j of subject i, at time t_ij, is a value of the subject's own line (Laird and Ware, Biometrics 1982,
# doi:10.2307/2529876)::
#
#     y_ij = (mean + a_i) + (slope + b_i) (t_ij - at) + e_ij,   (a_i, b_i) ~ N(0, D),   e_ij ~ N(0, sd_residual^2)
#
# The *level* of a subject is mean + a_i, the value at the common time `at`, which is the mean time of all values; the
# *trend* is slope + b_i. Both are best linear unbiased predictions: with few or noisy visits they are drawn towards the
# mean line. The mean line, D and the residual are estimated by restricted maximum likelihood. Its criterion is that of
# Bates et al. (J Stat Softw 2015, doi:10.18637/jss.v067.i01), computed from sums of each subject. statsmodels' MixedLM
# gives the same numbers where it converges (`tests/files/test_visits.py`). It does not where D is singular, as when all
# slopes are alike, and here the factor of D is bounded instead; and the order of the rows has no influence here.
#
# What is estimated is a `Trend`, with six digits. The schema keeps it, so that new subjects are compared with the line
# of the cohort.


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


def _estimate_trend(name: str, time: str, visits: _Visits, per: TimeUnit) -> tuple[Trend, list[str]]:
    unit, scale = float(visits.times.std()), float(visits.values.std()) or 1.0
    at, centre = _round(visits.times.mean(), unit), visits.values.mean()
    n_free = float((visits.n - visits.has_line - (visits.n > 0)).sum())
    if n_free == 0 or visits.squares.sum() <= 1e-12 * scale**2 * visits.values.size:
        levels = visits.mean + visits.slope * (at - visits.mean_time)
        lines = np.stack([(levels - centre) / scale, visits.slope * unit / scale])[:, visits.has_line]
        beta, residual = lines.mean(axis=1), 0.0
        covariance = np.cov(lines) if lines.shape[1] > 1 else np.zeros((2, 2))
    else:
        values = (visits.values - centre) / scale
        squares, products = (sums[visits.n > 0] for sums in visits.compute_moments(values, at, unit))
        beta, covariance, residual = _maximise_reml(squares, products, float(values @ values))
    sd_mean, sd_slope = np.sqrt(np.diag(covariance).clip(0.0)).tolist()
    product, per_unit = sd_mean * sd_slope, scale / unit
    trend = Trend(
        at=at,
        mean=_round(centre + scale * beta[0], scale),
        slope=_round(per_unit * beta[1], per_unit),
        sd_mean=_round(scale * sd_mean, scale),
        sd_slope=_round(per_unit * sd_slope, per_unit),
        correlation=round(float(np.clip(covariance[0, 1] / product, -1, 1)), _DIGITS) if product else 0.0,
        sd_residual=_round(scale * residual, scale),
        per=per,
    )
    line = say("mean_line", name=name, trend=trend, at=_describe_time(trend, time), unit=per or time)
    return trend, [line] if n_free else [line, f"{quoted(name)}: {say('no_noise_of_visits')}"]


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
        inverse = np.linalg.inv(inner)
        scores = products @ root
        solved = np.einsum("nij,nj->ni", inverse, scores)
        information = squares.sum(axis=0) - np.einsum("nij,njk,nlk->il", mixed, inverse, mixed)
        score = products.sum(axis=0) - np.einsum("nij,nj->i", mixed, solved)
        beta = np.linalg.solve(information, score)
        variance = (sum_of_squares - (scores * solved).sum() - beta @ score) / n_free
        deviance = n_free * np.log(variance) + np.linalg.slogdet(inner)[1].sum() + np.linalg.slogdet(information)[1]
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


class VisitSummaries(NamedTuple):
    """The summaries of the columns of a table, of the subject of each row."""

    time: str
    columns: Mapping[str, pd.DataFrame]  # the summaries of each column by their names, each (N,)
    notes: Mapping[str, ColumnNotes]  # on the summaries
    trends: Mapping[str, Trend]
    remarks: list[str]

    def replace_columns(self, frame: pd.DataFrame, rows: Labels) -> pd.DataFrame:
        """Return the table of the rows at these places, with summaries instead of their columns, and without time."""
        if lost := [quoted(name) for name in self.columns if name not in frame]:
            raise InputError(f"`only` and `drop` leave out {listed(lost)}, which `summarise` names: do one of them")
        names = frame.columns.drop(self.time, errors="ignore")
        parts = [self.columns[name].iloc[rows] if name in self.columns else frame[[name]] for name in names]
        changed = pd.concat(parts, axis="columns")
        changed.attrs = dict(frame.attrs)
        text_table.add_notes(changed, self.notes)
        return changed


def summarise_visits(reader: conditions.Reader, choice: RowChoice) -> VisitSummaries:
    """Return the summaries of a table of visits; InputError lists all columns and cells that cannot be used."""
    problems, remarks, use_of = list[str](), list[str](), dict[int, tuple[str, str]]()
    summarise, trends = choice.summarise or {}, dict[str, Trend]()
    codes, times, per, time = np.zeros(len(reader.read.frame), dtype=np.intp), np.zeros(0), None, ""
    numbers, columns, about = dict[str, Array](), dict[str, pd.DataFrame](), dict[str, ColumnNotes]()
    uses = [("one_row_per", str(choice.one_row_per)), ("time", str(choice.time))]
    for use, name in [*uses, *(("summarise", name) for name in summarise)]:
        try:
            cells = reader.cells(name)
            if (other := use_of.setdefault(cells.number, (use, name))) != (use, name):
                raise InputError(f"this and `{other[0]}` name one column, {quoted(name)}: give another")
            if use == "one_row_per":
                codes = np.unique(cells.texts.astype(str), return_inverse=True)[1]
            elif use == "time":
                time = cells.name
                times, per, remarks = _read_times(cells)
                if per is not None:  # dates count from the first of the subject: cohorts are recruited over years
                    times = times - pd.Series(times).groupby(codes).transform("min").to_numpy()
                    remarks.append(f"time is the years from the first {quoted(time)} of each subject")
                if n_without := int(np.isnan(times).sum()):
                    remarks.append(f"{n_without:,} rows without {quoted(time)} are not part of the summaries")
            else:
                if twice := {f"{cells.name} {summary}" for summary in summarise[name]}.intersection(reader.read.names):
                    raise InputError(f"this would add a second {listed(map(quoted, twice))}: rename it")
                numbers[name], notices = _read_numbers(cells)
                remarks += notices
        except InputError as error:
            problems.append(f"`{use}`: {error.at_command_line}")
    refuse(problems)
    for name, values in numbers.items():
        column, notes, visits = reader.cells(name).name, reader.cells(name).notes, _Visits(codes, times, values)
        over, block = per or time, notes.block or column
        trend = (choice.trends or {}).get(name)
        if {"mean", "slope"}.isdisjoint(summarise[name]):
            trend = None
        elif trend is None and not visits.has_line.any():
            problems.append(say("no_trend_of_visits", column=column))
            continue
        elif trend is None:
            trend, notices = _estimate_trend(column, time, visits, per)
            remarks += notices
        elif trend.per != per:
            stated, here = ("dates", "numbers") if trend.per else ("numbers", "dates")
            problems.append(say("trend_of_other_times", name=column, over=stated, time=time, here=here))
        if trend is not None:
            trends[name] = trend
        of_subjects = _summarise_column(visits, notes.label or column, trend, over)
        columns[column] = pd.DataFrame(index=reader.read.frame.index)
        for summary in summarise[name]:
            (values, label), new = of_subjects[summary], f"{column} {summary}"
            columns[column][new] = values[codes]
            unit = f"{notes.unit} per {over}" if notes.unit and summary == "slope" else notes.unit
            reason = f"the {summary} of the rows of a subject"
            about[new] = ColumnNotes(label, unit, notes.section, kind="number", block=block, reason=reason)
            if count := int(np.isnan(values).sum()):
                remarks.append(f"{quoted(new)} is missing for {count:,} subjects: it needs {SUMMARIES[summary]}")
    refuse(problems)
    return VisitSummaries(time, columns, about, trends, remarks)


def _read_numbers(cells: conditions.Cells, use: str = "", needed: str = "numbers") -> tuple[Array, list[str]]:
    """Return the numbers of a column, NaN where it has none, and remarks; InputError names the rows of other texts."""
    low, high = cells.bounds
    words = [text for text in cells.levels if means_missing(text) or text.casefold() in MISSING_SIGNS]
    is_number = (low == high) & np.isfinite(low) & (not cells.looks_like_dates)
    wrong = ~cells.missing & ~np.isin(cells.texts.astype(str), words) & ~is_number
    if wrong.any():
        texts = sorted(dict.fromkeys(cells.texts[wrong].tolist()), key=conditions.looks_like_date)  # dates last
        name = conditions.name_in_condition(cells.name, cells.number)
        values = [conditions.text_in_condition(text) for text in texts]
        repair = "correct them"
        if len(texts) <= 5 and all(values):
            others = f"{name} is missing or {name} not in ({', '.join(map(str, values))})"
            repair += f", or leave these rows out, where={others!r}"
        rows = cells.rows[wrong].tolist()
        fault = say("no_numbers_of_visits", column=cells.name, cells=texts, rows=rows, needed=needed, repair=repair)
        raise InputError(use + fault)
    notices = [f"{listed(map(quote_cell, words))} in {quoted(cells.name)} is taken for missing"] if words else []
    return np.where(low != high, np.nan, low), [*cells.describe_notation(), *notices]


def _read_times(cells: conditions.Cells, use: str = "") -> tuple[Array, TimeUnit, list[str]]:
    """Return the time of each row, its unit if it is dates, and remarks."""
    if cells.looks_like_dates:
        return cells.bounds[0] / (365.25 * conditions.A_DAY), "year", cells.describe_notation()
    times, notices = _read_numbers(cells, use, "numbers or dates such as 2024-05-31")
    return times, None, notices


def _describe_time(trend: Trend, time: str) -> str:
    return f"{trend.at:.3g} years" if trend.per else f"{time} {trend.at:.3g}"


def _summarise_column(visits: _Visits, label: str, trend: Trend | None, time: str) -> dict[str, tuple[Array, str]]:
    """Return each summary of the subjects, float64 (n_subjects,), NaN where one has too few values; and its label."""
    n, results = visits.n, dict[str, tuple[Array, str]]()
    if trend is not None:
        # The deviations from the mean line are L (L'X'X L + sd^2 I)^-1 L'X'(y - X beta), which also holds for singular
        # D = L L' and sd = 0. Without any value they are 0.
        squares, products = visits.compute_moments(visits.values, trend.at)
        beta, across = np.array([trend.mean, trend.slope]), np.sqrt(1 - trend.correlation**2)
        root = np.array([[trend.sd_mean, 0.0], [trend.correlation * trend.sd_slope, across * trend.sd_slope]])
        noise = trend.sd_residual**2 * np.eye(2)
        inverse = np.linalg.pinv(root.T @ squares @ root + noise, rcond=1e-13, hermitian=True)
        deviations = np.einsum("ij,njk,kl,nl->ni", root, inverse, root.T, products - squares @ beta, optimize=True)
        level, slope = (beta + deviations).T
        results["mean"] = np.where(n > 0, level, np.nan), f"{label} at {_describe_time(trend, time)}"
        results["slope"] = np.where(visits.has_line, slope, np.nan), f"slope of {label} per {time}"
    with np.errstate(invalid="ignore", divide="ignore"):
        last_time = pd.Series(visits.times).groupby(visits.codes).transform("max").to_numpy()
        is_last = (visits.times == last_time).astype(np.float64)  # the mean of several at one time
        last = visits.sum_by_subject(is_last * visits.values) / visits.sum_by_subject(is_last)
        spread = np.where(visits.has_line & (n > 2), np.sqrt(visits.squares / (n - 2)), np.nan)
    return results | {"last": (last, f"last {label}"), "spread": (spread, f"spread of {label} about its line")}


# How many rows are taken, and the choice itself.


@dataclass(frozen=True)
class RowCounts:
    """How many rows of a table were taken, and how many were left out for which reason."""

    in_table: int  # rows of the table; rows of the sheet below its header, if these were chosen by their numbers
    not_meeting: int = 0  # do not meet the condition
    unknown: int = 0  # of these: it is not known whether they meet it, as a value is missing or cannot be compared
    further: int = 0  # meet it, but another row of the subject was taken
    outside: int = 0  # are not among the rows of the sheet that the user named
    not_drawn: int = 0  # were not drawn by their weight, or represent no person
    repeated: int = 0  # are copies of a row that represents several people

    @property
    def taken(self) -> int:
        """Rows that were taken."""
        return self.in_table + self.repeated - self.outside - self.not_meeting - self.further - self.not_drawn

    @property
    def are_possible(self) -> bool:
        """Whether the numbers do not contradict each other."""
        return bool(min(*asdict(self).values(), self.taken, self.not_meeting - self.unknown) >= 0)


class RowsTaken(NamedTuple):
    """Which rows of a table were taken, and how many."""

    choice: RowChoice
    counts: RowCounts


def rows_taken(frame: pd.DataFrame) -> RowsTaken | None:
    """Return which rows of its file a table holds; None if `read_cohort` did not read it, or rows were added since."""
    noted = frame.attrs.get(ROWS_TAKEN)
    if noted is None:
        return None
    with suppress(TypeError, KeyError):  # of another structure
        rows = RowsTaken(RowChoice.from_dict(noted["choice"]), RowCounts(**noted["counts"]))
        if len(noted) == 2 and rows.counts.are_possible:
            return rows if len(frame) <= rows.counts.taken else None
    raise InputError(say("rows_taken_damaged", key=ROWS_TAKEN))


def choose_rows(
    read: TableRead, choice: RowChoice, decimal: DecimalMark | None, only: Names, drop: Names
) -> tuple[pd.DataFrame, list[str]]:
    """Return the table with the rows and columns that were chosen, and all remarks on it; ChoiceError if it has none.

    The choice that it notes says how dates were read, so that it means the same in another table.
    """
    counts = RowCounts(len(read.frame) + read.n_outside, outside=read.n_outside)
    remarks, readers, summaries = [*read.remarks], list[conditions.Reader](), None
    if choice.where is not None:
        readers.append(reader := conditions.Reader(read, decimal, choice.dates))
        try:
            met = reader.find_rows(conditions.parsed(choice.where))
        except InputError as error:
            raise ChoiceError(f"`where`: {error.at_command_line.removeprefix('`where`').lstrip(': ')}") from error
        n_met, where = int(met.sum()), quoted(choice.where)
        if not n_met:
            why = "; ".join(reader.remarks()) or "rows meet each part of it, and none meets all"
            raise ChoiceError(f"`where` {where} keeps none of {len(met):,} rows: {why}")
        remarks += [*reader.remarks(), f"{n_met:,} of {len(met):,} rows are kept, as `where` says ({where})"]
        read = replace(read, frame=read.frame[met])
        counts = replace(counts, not_meeting=len(met) - n_met, unknown=int(reader.unknown.sum()))
    if choice.one_row_per is not None:
        readers.append(reader := conditions.Reader(read, decimal, choice.dates))
        try:
            if choice.summarise is not None:
                summaries = summarise_visits(reader, choice)
                remarks += summaries.remarks
                choice = replace(choice, trends=summaries.trends or None)
            mask, more = _one_row_per_subject(reader, choice)
        except InputError as error:
            raise ChoiceError(error.at_command_line) from error
        read, remarks = replace(read, frame=read.frame[mask]), remarks + more
        counts, at = replace(counts, further=int((~mask).sum())), np.flatnonzero(mask)
    if choice.draw_by is not None or choice.count is not None:
        try:
            places, more = _draw_rows(conditions.Reader(read, decimal, choice.dates), choice)
        except InputError as error:
            raise ChoiceError(
                f"`{'count' if choice.draw_by is None else 'draw_by'}`: {error.at_command_line}"
            ) from error
        n_drawn, n_rows = len(set(places.tolist())), len(read.frame)
        row_names = [str(place + 1) for place in dict.fromkeys(places.tolist())]
        read, remarks = replace(read, frame=read.frame.iloc[places]), remarks + more
        at = at[places] if summaries is not None else places
        counts = replace(counts, not_drawn=n_rows - n_drawn, repeated=len(places) - n_drawn)
    derived = {column.order for reader in readers for column in reader.dates if column.was_derived}
    if choice.dates is None and len(derived) == 1:
        choice = replace(choice, dates=derived.pop())
    frame, more = chosen_columns(read, only, drop)
    if choice.count is not None:
        frame = frame.drop(columns=choice.count, errors="ignore")  # each row is one person now, and so are row names
        for name in frame.columns[[frame[name].drop_duplicates().tolist() == row_names for name in frame]]:
            frame[name] = np.arange(1, len(frame) + 1).astype(str)
    if summaries is not None:
        frame = summaries.replace_columns(frame, at)
    frame.attrs[ROWS_TAKEN] = {"choice": choice.as_dict(), "counts": asdict(counts)}
    if (several := subjects_with_several_rows(frame)) is not None:
        frame.attrs[SEVERAL_ROWS] = asdict(several)
    return frame, remarks + more


def _one_row_per_subject(reader: conditions.Reader, choice: RowChoice) -> tuple[Mask, list[str]]:
    subjects, remarks = reader.cells(str(choice.one_row_per)), list[str]()
    if subjects.missing.any():
        condition = f"{conditions.name_in_condition(subjects.name, subjects.number)} is not missing"
        name, rows = subjects.name, subjects.rows[subjects.missing]
        raise InputError(say("rows_without_subject", column=name, n_rows=len(rows), row=rows[0], where=condition))
    n_alike = len(subjects.levels) - len({"".join(text.casefold().split()) for text in subjects.levels})
    if n_alike:
        remarks.append(say("subjects_written_alike", n_values=n_alike, column=subjects.name))
    times, order, by = np.full(len(subjects.texts), np.nan), choice.by or choice.time, "in the file"
    if order is not None:
        (times, _, notices), by = _read_times(reader.cells(order), "`by`: "), f"by {quoted(order)}"
        n_without = int(np.isnan(times).sum())
        lacking = [f"{n_without:,} rows without {quoted(order)} stay only for lack of another"] if n_without else []
        remarks += [*notices, *lacking] if choice.by is not None else []
    ordered = pd.DataFrame({"subject": subjects.texts, "time": times}).sort_values(
        "time", kind="stable", na_position="first" if choice.keep == "last" else "last"
    )
    mask = ~ordered.duplicated("subject", keep=choice.keep).sort_index().to_numpy()
    of_each = f"the {choice.keep} {by} of each {quoted(subjects.name)}"
    return mask, [*remarks, f"{mask.sum():,} of {len(mask):,} rows are kept: {of_each}"]


# Rows that represent more or fewer people than one.
#
# In a survey, people are chosen with unequal probabilities, and the weight of each says how many of the population
# it represents. A row of weight w is drawn with probability min(w / c, 1): the rows that are drawn are a simple random
# sample of the population, as every fit, test and summary takes them to be (inverse sampling: Hinkins, Oh and Scheuren
# 1997, Survey Methodology 23, 11-21; Rao, Scott and Benhin 2003, 29, 107-128). With the largest weight for c, few would
# be drawn; c is where the weight beyond it is 2% of all (trimming: Potter 1990, Proc Surv Res Meth Sect ASA 225-230).
# In a simulated survey with log-normal weights, whose mean age was 0.23 SD above that of its population, this drew 31%
# of the people, 0.025 SD above it; without trimming 10%, with 5% 41% (0.047 SD).

_TRIMMED = 0.02
_MOST_COPIES = 10_000_000


def _draw_rows(reader: conditions.Reader, choice: RowChoice) -> tuple[NDArray[np.intp], list[str]]:
    """Return the places of the rows that are drawn by weight, or of each as often as its count says, and remarks."""
    is_counted, cells = choice.count is not None, reader.cells(str(choice.count or choice.draw_by))
    numbers, remarks = _read_numbers(cells, needed="whole numbers of people" if is_counted else "weights")
    faults = {"no_weights": ~(numbers >= 0.0), "parts_of_people": is_counted & (numbers % 1.0 != 0.0)}
    for fault, wrong in faults.items():
        if wrong.any():
            texts, rows = list(dict.fromkeys(cells.texts[wrong].tolist())), cells.rows[wrong].tolist()
            where = f"{conditions.name_in_condition(cells.name, cells.number)} >= 0"
            raise InputError(say(fault, column=cells.name, cells=texts, rows=rows, where=where))
    n_rows, total = len(numbers), float(numbers.sum())
    if total == 0.0 or (is_counted and total > _MOST_COPIES):
        raise InputError(say("too_many_copies" if total else "no_weight_above_0", column=cells.name, n_people=total))
    if is_counted:
        places = np.repeat(np.arange(n_rows), numbers.astype(np.intp))
        notice = say("rows_of_several", column=cells.name, n_rows=n_rows, n_people=len(places))
    else:
        # c is the largest of the numbers by which the first k of the sorted weights would lose this share of all.
        cut = ((np.cumsum(np.sort(numbers)[::-1]) - _TRIMMED * total) / np.arange(1, n_rows + 1)).max()
        columns = reader.read.frame.set_axis(range(reader.read.frame.shape[1]), axis=1)
        identifier = next(([place] for place in columns if columns[place].is_unique), [])
        places = np.flatnonzero(drawn(columns, identifier, 0, numbers / cut, int(choice.draw)))
        notice = say("drawn_by_weight", column=cells.name, n_drawn=len(places), n_rows=n_rows, draw=choice.draw)
    return places, [*remarks, notice]


# Draw a sample of the rows of a large table by a hash, the same in any order and in any partitions.

N_SAMPLED = 50_000  # expected number of rows of the sample of a table in partitions


def drawn(frame: pd.DataFrame, ids: Sequence[Any], first: int, share: float | Array, seed: int) -> Mask:
    """Return whether each row is in a sample of about this share, bool (n,), whatever the partitions and their order.

    A hash of its identifiers decides, or else of its number, of which the first is `first`.
    """
    if ids:
        words = pd.util.hash_pandas_object(frame[list(ids)].astype(str), index=False).to_numpy()
    else:
        words = np.arange(first, first + len(frame), dtype=np.uint64)
    words = pd.util.hash_array(words ^ np.random.SeedSequence([seed, 35]).generate_state(1, np.uint64)[0])
    below = (np.minimum(share, 1.0) * (2**64 - 2**11)).astype(np.uint64)
    return np.asarray((words < below) | np.greater_equal(share, 1.0))
