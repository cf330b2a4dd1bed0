"""The choice of rows: conditions, one row for each subject, rows of a sheet; and subjects with several rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arguments import Rule
from clinclust.arrays import Array, Mask
from clinclust.data import data
from clinclust.errors import InputError, did_you_mean, on_one_line, refuse
from clinclust.files import conditions, say, visits
from clinclust.files.cell_text import canonical_text, numbers_of, quote_cell, quoted
from clinclust.files.notation import DecimalMark, names_subjects
from clinclust.files.text_table import RowRanges, TableRead, chosen_columns

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
        return say("rows_are_not_patients", subjects=self, column=quoted(self.column), follows=follows)

    def sentence(self) -> str:
        """Return what was found, and how to keep one row of each subject."""
        return say("keep_one_row", subjects=self, column=quoted(self.column), option=one_row_of_each(self.column))


def one_row_of_each(column: str) -> str:
    """Return the option that keeps one row of each subject, and which rows it may be."""
    return f"one_row_per={column!r} (the first; with keep='last' the last)"


def subjects_with_several_rows(frame: pd.DataFrame) -> RepeatedSubjects | None:
    """Return the subjects of a table of visits; None if no column clearly names subjects with several rows.

    The name of the column says that it identifies at least 20 subjects, and its values do so in nearly all rows. Most
    subjects have several rows, or another column speaks of visits, or all rows of a subject are copies of one.
    """
    for name in frame.columns[~frame.columns.duplicated(keep=False)].astype(str):
        subjects = repeated_subjects(frame, name) if names_subjects(name) else None
        if subjects is None or subjects.n_subjects < _FEWEST_SUBJECTS or subjects.n_rows < _FILLED * len(frame):
            continue
        numbers = numbers_of(_texts(frame, name).unique().tolist())
        are_decimals = np.isfinite(numbers).all() and (numbers != np.floor(numbers)).any()
        is_clear = subjects.are_copies or subjects.has_visits or subjects.n_repeated > _HALF * subjects.n_subjects
        if is_clear and not are_decimals:
            return subjects
    return None


def repeated_subjects(frame: pd.DataFrame, column: str) -> RepeatedSubjects | None:
    """Return which subjects have several rows in a table, or None if each has one; cells without a value are none."""
    subjects = _texts(frame, column)
    counts = subjects[subjects != ""].value_counts()
    several = counts[counts > 1]
    if several.empty:
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


def note_several_rows(frame: pd.DataFrame, subjects: RepeatedSubjects | None) -> None:
    """Put into ``frame.attrs`` that the subjects of a table have several rows."""
    if subjects is not None:
        frame.attrs[SEVERAL_ROWS] = asdict(subjects)


def noted_several_rows(frame: pd.DataFrame) -> RepeatedSubjects | None:
    """Return what `note_several_rows` noted of a table; None if nothing is noted that could be read."""
    noted = frame.attrs.get(SEVERAL_ROWS)
    try:
        return RepeatedSubjects(**noted) if isinstance(noted, Mapping) else None
    except TypeError:
        return None


def _texts(frame: pd.DataFrame, name: str) -> pd.Series:
    column = frame[name]
    return column.astype(object).where(column.notna(), "").map(canonical_text)


# Which rows of a table are the cohort, in words that a schema and a saved model can hold, and how many were taken.

Keep = Literal["first", "last"]
KEPT: tuple[Keep, ...] = get_args(Keep)
ROWS_TAKEN = "rows_taken"


RULES = {
    "keep": Rule(" or ".join(KEPT), KEPT.__contains__),
    "dates": Rule(" or ".join(conditions.DATE_ORDERS), conditions.DATE_ORDERS.__contains__),
    "summarise": Rule(
        "a dictionary from columns to lists of summaries, such as {'egfr': ['mean', 'slope']}",
        lambda value: isinstance(value, Mapping),
    ),
    "trends": Rule("the trends of `rows` of a schema", lambda value: isinstance(value, Mapping)),
}
"""What a choice of rows holds other than texts."""
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
    summarise: visits.ByColumn | None = None  # what becomes of columns: the level, trend, ... of all rows of a subject
    trends: visits.Trends | None = (
        None  # the mean lines of a cohort, by which new subjects are summarised; else estimated
    )

    def __bool__(self) -> bool:
        return self.rows is not None or self.by_values is not None

    @property
    def by_values(self) -> RowChoice | None:
        """The part of it that chooses rows by their cells, in any sheet; None if it has none."""
        return replace(self, rows=None) if self.where is not None or self.one_row_per is not None else None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that are not the default, by name."""
        stated = {field.name: value for field in fields(self) if (value := getattr(self, field.name)) != field.default}
        if self.summarise is not None:
            stated["summarise"] = {name: list(summaries) for name, summaries in self.summarise}
        if self.trends is not None:
            stated["trends"] = {name: trend.as_dict() for name, trend in self.trends}
        return stated

    @classmethod
    def from_dict(cls, given: object) -> RowChoice:
        """Return the choice that `as_dict` wrote; InputError, which lists all problems, if it is none."""
        if not isinstance(given, Mapping):
            raise InputError(say("no_choice_of_rows", value=quoted(given)))
        names, problems = [field.name for field in fields(cls)], list[str]()
        for name, value in given.items():
            rule = RULES.get(name, _TEXT)
            if name not in names:
                hint = did_you_mean(str(name), names)
                problems.append(f"{quoted(str(name))} is no part of it.{hint} Parts are {', '.join(names)}")
            elif value is not None and not rule.accepts(value):
                mean = "; for the level of a measurement over the rows of a subject, give `summarise`"
                problems.append(f"{name} must be {rule.allowed}, not {quoted(value)}{mean if value == 'mean' else ''}")
        if not problems:
            summaries, trends = visits.read_summaries(given.get("summarise")), visits.read_trends(given.get("trends"))
            choice = cls(**{**given, "summarise": summaries, "trends": trends})
            problems = choice.problems()
            try:
                choice._meaning()
            except InputError as error:
                problems.append(str(error))
        refuse(problems)
        return choice

    def problems(self) -> list[str]:
        """Return the fields that make no sense without another."""
        problems = []
        if self.one_row_per is None and (self.keep != "first" or self.by is not None):
            problems.append("`keep` and `by` choose a row of a subject: give `one_row_per` with the column of subjects")
        if self.dates is not None and self.where is None and self.by is None and self.time is None:
            problems.append("`dates` says how `where`, `by` and `time` read dates: give one of these too")
        if self.summarise is None and (self.time is not None or self.trends is not None):
            problems.append("`time` is for `summarise`: give the columns to summarise; `by` orders rows without it")
        if self.summarise is not None and self.one_row_per is None:
            problems.append("`summarise` needs `one_row_per`: give it with the column of subjects")
        if self.summarise is not None and self.time is None:
            problems.append("`summarise` needs `time`: give it with the column of the time of each row")
        return problems + ([] if self.summarise is None else visits.find_summary_problems(self.summarise))

    def find_lost_columns(self, only: Sequence[str] | None, drop: Sequence[str] | None) -> list[str]:
        """Return one sentence for each column that is summarised, and that a choice of columns leaves out."""
        return [
            f"{quoted(name)} is summarised, but `{'drop' if name in (drop or ()) else 'only'}` leaves it out"
            for name, _ in self.summarise or ()
            if name in (drop or ()) or (only is not None and name not in only)
        ]

    def _meaning(self) -> tuple[object, ...]:
        """Return its meaning without the order of dates, whatever the spaces."""
        ranges = None if self.rows is None else RowRanges.parsed(self.rows)
        condition = None if self.where is None else conditions.parsed(self.where)
        summaries = None if self.summarise is None else frozenset(self.summarise)
        return condition, self.one_row_per, self.keep, self.by, ranges and ranges.ranges, self.time, summaries

    def agrees_with(self, other: RowChoice) -> bool:
        """Return whether both choose the same rows; dates agree if only one has their order. Trends are no choice."""
        return self._meaning() == other._meaning() and len({self.dates, other.dates} - {None}) < 2

    def follows(self, said: RowChoice) -> bool:
        """Return whether it agrees with all that the user said of the rows."""
        mine = self if said.by_values is not None else RowChoice(rows=self.rows)
        return (mine if said.rows is not None else replace(mine, rows=None)).agrees_with(said)

    def completed_by(self, said: RowChoice) -> RowChoice:
        """Return this choice, and what the user said of the rows where it says nothing itself."""
        mine, theirs = self.by_values, said.by_values
        chosen = said if set(self.as_dict()) <= {"dates", "rows"} else self
        is_same = mine is None or (theirs is not None and mine.agrees_with(theirs))
        dates, trends = (self.dates or said.dates, self.trends or said.trends) if is_same else (self.dates, self.trends)
        return replace(chosen, dates=dates, rows=self.rows or said.rows, trends=trends)

    def in_words(self) -> str:
        """Return which rows they are, in words that follow "the rows taken are"."""
        return ", and ".join(self.phrases().values()) or "all rows"

    def phrases(self) -> dict[str, str]:
        """Return the words for the rows of the sheet, the condition and the row of each subject, by field, if any."""
        phrases, order = dict[str, str](), self.by or self.time
        if self.rows is not None:
            phrases["rows"] = f"rows {on_one_line(self.rows)} of the sheet"
        if self.where is not None:
            phrases["where"] = f"those where {on_one_line(self.where.strip())}"
        if self.one_row_per is not None:
            by = "in the file" if order is None else f"by {on_one_line(order)}"
            phrases["one_row_per"] = f"one row for each {on_one_line(self.one_row_per)}, the {self.keep} {by}"
            if self.summarise is not None:
                phrases["one_row_per"] += f", with {visits.render_summaries(self.time, self.summarise)}"
        return phrases


@dataclass(frozen=True)
class RowCounts:
    """How many rows of a table were taken, and how many were left out for which reason."""

    in_table: int  # rows of the table; rows of the sheet below its header, if these were chosen by their numbers
    not_meeting: int = 0  # do not meet the condition
    unknown: int = 0  # of these: it is not known whether they meet it, as a value is missing or cannot be compared
    further: int = 0  # meet it, but another row of the subject was taken
    outside: int = 0  # are not among the rows of the sheet that the user named

    @property
    def taken(self) -> int:
        """Rows that were taken."""
        return self.in_table - self.outside - self.not_meeting - self.further

    def problems(self) -> list[str]:
        """Return what contradicts itself."""
        least = min(*asdict(self).values(), self.taken, self.not_meeting - self.unknown)
        return ["the numbers of rows contradict each other"] if least < 0 else []


class RowsTaken(NamedTuple):
    """Which rows of a table were taken, and how many."""

    choice: RowChoice
    counts: RowCounts


def carry_rows_taken(source: pd.DataFrame, frame: pd.DataFrame) -> None:
    """Note of a table what is noted of the rows of the one that it was made from."""
    frame.attrs |= {key: source.attrs[key] for key in (ROWS_TAKEN, SEVERAL_ROWS) if key in source.attrs}


def rows_taken(frame: pd.DataFrame) -> RowsTaken | None:
    """Return which rows of its file a table holds; None if `read_cohort` did not read it, or rows were added since."""
    noted = frame.attrs.get(ROWS_TAKEN)
    if noted is None:
        return None
    try:
        taken = RowsTaken(RowChoice.from_dict(noted["choice"]), RowCounts(**noted["counts"]))
        is_sound = len(noted) == 2 and not taken.counts.problems()
    except (TypeError, KeyError):
        is_sound = False
    if not is_sound:
        raise InputError(say("rows_taken_damaged", key=ROWS_TAKEN))
    return taken if len(frame) <= taken.counts.taken else None


def choose_rows(
    read: TableRead,
    choice: RowChoice,
    decimal: DecimalMark | None,
    only: Sequence[str] | None,
    drop: Sequence[str] | None,
) -> tuple[pd.DataFrame, list[str]]:
    """Return the table with the rows and columns that were chosen, and all remarks on it.

    The choice that it notes says how dates were read, if others of their column decided it, so that it means the same
    in another table. ChoiceError is raised if rows cannot be chosen so, or none is left.
    """
    counts = RowCounts(len(read.frame) + read.n_outside, outside=read.n_outside)
    remarks, dates, summaries, times = [*read.remarks], list[conditions.DateColumn](), None, None
    if choice.where is not None:
        matching = conditions.Matching(conditions.Reader(read, decimal, choice.dates))
        try:
            met = matching.of(conditions.parsed(choice.where))
        except InputError as error:
            raise ChoiceError(f"`where`: {error.at_command_line.removeprefix('`where`').lstrip(': ')}") from error
        n_met, where = int(met.sum()), quoted(choice.where)
        if not n_met:
            why = "; ".join(matching.remarks()) or "rows meet each part of it, and none meets all"
            raise ChoiceError(f"`where` {where} keeps none of {len(met):,} rows: {why}")
        remarks += [*matching.remarks(), f"{n_met:,} of {len(met):,} rows are kept, as `where` says ({where})"]
        read, dates = replace(read, frame=read.frame[met]), matching.dates
        counts = replace(counts, not_meeting=len(met) - n_met, unknown=int(matching.unknown.sum()))
    if choice.one_row_per is not None:
        reader = conditions.Reader(read, decimal, choice.dates)
        try:
            if choice.time is not None and choice.summarise is not None:
                subjects, time, columns = choice.one_row_per, choice.time, choice.summarise
                summaries = visits.summarise_visits(reader, subjects, time, columns, choice.trends)
                remarks, dates, times = remarks + summaries.remarks, dates + summaries.dates, summaries.times
            kept, more, of_order = _one_row_per_subject(reader, choice, choice.one_row_per, times)
        except InputError as error:
            raise ChoiceError(error.at_command_line) from error
        if summaries is not None:
            choice = replace(choice, trends=summaries.trends or None)
        read, remarks, dates = replace(read, frame=read.frame[kept]), remarks + more, dates + of_order
        counts = replace(counts, further=int((~kept).sum()))
    derived = {column.order for column in dates if column.was_derived}
    if choice.dates is None and len(derived) == 1:
        choice = replace(choice, dates=derived.pop())
    frame, more = chosen_columns(read, only, drop)
    if summaries is not None:
        frame = summaries.replace_columns(frame, kept)
    frame.attrs[ROWS_TAKEN] = {"choice": choice.as_dict(), "counts": asdict(counts)}
    note_several_rows(frame, subjects_with_several_rows(frame))
    return frame, remarks + more


def _one_row_per_subject(
    reader: conditions.Reader, choice: RowChoice, name: str, times: Array | None
) -> tuple[Mask, list[str], list[conditions.DateColumn]]:
    """Return which row of each subject stays, remarks, and dates that decided; `times` order rows without `by`."""
    subjects, remarks, dates = reader.cells(name), list[str](), list[conditions.DateColumn]()
    if subjects.missing.any():
        condition = f"{conditions.name_in_condition(subjects.name, subjects.number)} is not missing"
        shown, rows = quoted(subjects.name), reader.read.frame.index[subjects.missing] + 2
        raise InputError(say("rows_without_subject", column=shown, n_rows=len(rows), row=rows[0], where=condition))
    n_alike = len(subjects.counts) - len({"".join(text.casefold().split()) for text in subjects.counts})
    if n_alike:
        remarks.append(say("subjects_written_alike", n_values=n_alike, column=quoted(subjects.name)))
    order = np.arange(len(subjects.texts))
    last = -np.inf if choice.keep == "last" else np.inf
    if choice.by is None and times is not None:
        order = np.argsort(np.where(np.isnan(times), last, times), kind="stable")
    elif choice.by is not None:
        cells = reader.cells(choice.by)
        dates = [cells.dates] if cells.looks_like_dates else []
        low, high = (dates[0].moments, dates[0].moments) if dates else cells.bounds
        if wrong := cells.texts[~cells.missing & ~(low == high)].tolist():
            example = quote_cell(min(wrong, key=conditions.looks_like_date))
            raise InputError(say("no_order_of_rows", column=quoted(cells.name), cell=example))
        order = np.argsort(np.where(cells.missing, last, low), kind="stable")
        remarks += dates[0].describe_notation(cells.name) if dates else cells.describe_notation()
        if n_without := int(cells.missing.sum()):
            remarks.append(f"{n_without:,} rows without {quoted(cells.name)} stay only for lack of another")
    kept = np.zeros(len(order), dtype=bool)
    kept[order[~pd.Series(subjects.texts[order]).duplicated(keep=choice.keep).to_numpy()]] = True
    by = "in the file" if (column := choice.by or choice.time) is None else f"by {quoted(column)}"
    of_each = f"the {choice.keep} {by} of each {quoted(subjects.name)}"
    return kept, [*remarks, f"{kept.sum():,} of {len(kept):,} rows are kept: {of_each}"], dates


# Draw a sample of the rows of a large table by a hash, the same in any order and in any partitions.

N_SAMPLED = 50_000
"""Expected number of rows of the sample of a table in partitions."""
Words = NDArray[np.uint64]


def drawn(frame: pd.DataFrame, ids: Sequence[str], first: int, share: float, seed: int) -> NDArray[np.bool_]:
    """Return whether each row is in a sample of about this share, bool (n,), by a hash of its identifiers.

    Without identifiers the number of the row counts, of which the first is `first`. The sample therefore does not
    depend on the partitions, nor, with identifiers, on the order of the rows.
    """
    if ids:
        words = pd.util.hash_pandas_object(frame[list(ids)].astype(str), index=False).to_numpy().astype(np.uint64)
    else:
        words = np.arange(first, first + len(frame), dtype=np.uint64)
    mix(words, np.random.SeedSequence([seed, 35]).generate_state(1, np.uint64)[0])
    return np.asarray(words < np.uint64(min(share, 1.0) * (2**64 - 2**11))) | np.bool_(share >= 1.0)


MULTIPLIERS = np.array([0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB, 0xD6E8_FEB8_6659_FD93], dtype=np.uint64)


def mix(words: Words, key: np.uint64) -> None:
    """Apply the finaliser of splitmix64, a bijection."""
    words ^= key
    for shift, multiplier in ((30, MULTIPLIERS[0]), (27, MULTIPLIERS[1])):
        words ^= words >> np.uint64(shift)
        words *= multiplier
    words ^= words >> np.uint64(31)
