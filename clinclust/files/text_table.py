"""A table of texts with what is noted of its columns, and the columns that are chosen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from itertools import compress, count, groupby, pairwise
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError

from clinclust.errors import InputError
from clinclust.files.cell_text import argument, canonical_text, listed, quoted, rows_named
from clinclust.roles import Role
from clinclust.texts import did_you_mean

# What a file says of its columns: labels, units, coded values, user-missing codes.

COLUMN_NOTES = "column_notes"
"""The key of ``frame.attrs`` under which the notes of a table are kept: a plain dictionary from column to notes."""

ColumnKind = Literal["nominal", "ordinal", "number", "yes/no", "date", "text", "id"]
ORDERED: ColumnKind = "ordinal"


_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


def _of_no_subject(role: Role) -> Role:
    if role in ("cluster", "id"):
        raise ValueError(role)
    return role


@dataclass(frozen=True)
class ColumnNotes:
    """What a file says of one column. None, or an empty tuple, is what it does not say."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    label: str | None = None  # the name for readers
    unit: str | None = None
    section: str | None = None  # the heading above the column
    description: str | None = None
    levels: tuple[tuple[str, str], ...] = ()  # codes and their labels, in the order of the file
    kind: ColumnKind | None = None
    missing_codes: tuple[str, ...] = ()
    minimum: _Number | None = None  # of possible values
    maximum: _Number | None = None
    decimal: Literal[","] | None = None  # the decimal mark, if it is not the point
    asked_if: str | None = None  # the condition under which the question was asked
    block: str | None = None  # the instrument that the column belongs to
    role: Annotated[Role, AfterValidator(_of_no_subject)] | None = None
    reason: str | None = None  # of kind and role, such as ``the dictionary says: radio, 4 choices``

    def as_dict(self) -> dict[str, Any]:
        """Return what is said, as lists, texts and numbers that JSON can hold."""
        said: dict[str, Any] = _NOTES.dump_python(self, mode="json", exclude_defaults=True)
        return said

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> ColumnNotes:
        """Return the notes that `as_dict` wrote; InputError if a key is unknown, or a value of another type."""
        try:
            return _NOTES.validate_python(dict(given))
        except ValidationError as error:
            keys = dict.fromkeys(problem["loc"][0] for problem in error.errors())
            problems = [f"{quoted(key)} is {quoted(given.get(str(key)))}" for key in keys]
            raise InputError(
                f"these are no notes on a column: {listed(problems)}; expected are {', '.join(_NAMES)}, as "
                "ColumnNotes.as_dict writes them"
            ) from None


_NAMES = tuple(field.name for field in fields(ColumnNotes))
_NOTES = TypeAdapter(ColumnNotes)


def notes_of(frame: pd.DataFrame) -> dict[str, ColumnNotes]:
    """Return the notes on the columns that are in a table; InputError if `read_cohort` did not write them."""
    kept = frame.attrs.get(COLUMN_NOTES, {})
    if not isinstance(kept, Mapping) or not all(isinstance(given, Mapping) for given in kept.values()):
        raise InputError(
            f"frame.attrs[{COLUMN_NOTES!r}] is not a dictionary from columns to notes; remove it, or read the file "
            "again with clinclust.read_cohort"
        )
    present = set(frame.columns)
    return {str(column): ColumnNotes.from_dict(given) for column, given in kept.items() if column in present}


def add_notes(frame: pd.DataFrame, notes: Mapping[str, ColumnNotes]) -> None:
    """Put the notes that say anything into ``frame.attrs``, in the place of earlier notes on these columns."""
    said = {column: given.as_dict() for column, given in notes.items()}
    said = {column: given for column, given in said.items() if given}
    if said:
        frame.attrs[COLUMN_NOTES] = {**frame.attrs.get(COLUMN_NOTES, {}), **said}


# The rows of a table as they are read: which are subjects, in ranges such as ``2-61``, and their texts.

_RANGE = re.compile(r"(\d{1,7})(?:\s*-\s*(\d{0,7}))?")
_LAST = 10**9  # beyond the last row and column of any file
_LONGEST = 120


@dataclass(frozen=True)
class RowRanges:
    """Rows by their numbers in a spreadsheet: the first and last of ranges in rising order, and the text of these."""

    text: str
    ranges: tuple[tuple[int, int], ...]

    @classmethod
    def parsed(cls, text: str) -> RowRanges:
        """Return the ranges that a text such as ``2-61, 66-`` means; InputError if it means none."""
        ranges = [(0, 0)]
        for part in text.split(","):
            match = _RANGE.fullmatch(part.strip())
            first = int(match[1]) if match else 0
            last = first if match is None or match[2] is None else int(match[2] or _LAST)
            if not ranges[-1][1] < first <= last:
                raise InputError(
                    f"rows={quoted(text)}: {quoted(part.strip())} is no range of rows; write the first and the last "
                    "row of the subjects as a spreadsheet counts them, such as 2-61; several in rising order such as "
                    "2-61,66-90; the last without an end such as 5-"
                )
            ranges.append((first, last))
        return cls(text.strip(), tuple(ranges[1:]))

    def __contains__(self, number: int) -> bool:
        return any(first <= number <= last for first, last in self.ranges)

    @property
    def first(self) -> int:
        """The first row of all ranges."""
        return self.ranges[0][0]


def ranges_of(numbers: Iterable[int], between: Iterable[int] = ()) -> str | None:
    """Return the text that means these rows, and none of those `between`; None if it would be too long."""
    kept = set(numbers)
    runs = [list(run) for is_kept, run in groupby(sorted(kept.union(between)), kept.__contains__) if is_kept]
    text = ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    return text if 0 < len(text) <= _LONGEST else None


TEXT = pd.StringDtype(na_value=np.nan)
_CELLS_AT_ONCE = 2_500_000  # Python strings need much memory, so rows are converted to a compact table in portions
LOOKED_AT = 60  # rows, to find the header; one that is asked for may be below them


@dataclass(frozen=True)
class TableRead:
    """A table as it was read. Names of its columns may repeat, or be empty."""

    frame: pd.DataFrame
    remarks: list[str] = field(default_factory=list)  # each a sentence without the name of the file
    notes: list[ColumnNotes] = field(default_factory=list)  # of each column; empty if the file says nothing of any
    places: list[int] = field(default_factory=list)  # of the columns in the file, from 1; empty if 1, 2, 3, ...
    unnamed: frozenset[str] = frozenset()  # the names that were made for columns without one
    n_outside: int = 0  # rows below the header that hold something, but are not among the subjects of the user


def _compact(rows: Sequence[list[str]], width: int) -> pd.DataFrame:
    cells = np.empty((len(rows), width), dtype=object)
    for place, texts in enumerate(rows):
        cells[place] = texts
    return pd.DataFrame(cells, dtype=TEXT)


def is_blank(text: str) -> bool:
    """Return whether a cell holds nothing that can be seen."""
    return not text or text.isspace() or not (text.isascii() or canonical_text(text))


def filled_places(texts: Sequence[str]) -> set[int]:
    """Return the numbers, from 1, of the columns in which a row holds anything; fast if most of it is empty."""
    return {place for place in compress(count(1), texts) if not is_blank(texts[place - 1])}


class SheetRows:
    """The rows of a sheet: the first that hold anything as they are, the others in a compact table.

    If the user gave the rows of the `subjects`, no others are kept below the first.
    """

    def __init__(self, n_first: int = LOOKED_AT, subjects: RowRanges | None = None) -> None:
        self.n_first, self._subjects = n_first, subjects
        self.first: list[tuple[int, list[str]]] = []  # number of the row, and its texts from the first column on
        self._beyond: dict[int, dict[int, str]] = {}  # of columns, from 1, that are empty in the first rows: by row
        self.n_outside = 0  # rows that hold something, but are none of the subjects
        self.filled_up: set[int] = set()  # rows of a text with fewer fields than the header, which no subject has
        self._columns: list[int] | None = None  # once the first rows are complete
        self._gaps: list[slice] = []  # between these columns, and after the last
        self._texts: list[list[str]] = []
        self._numbers: list[int] = []
        self._portions: list[pd.DataFrame] = []

    @property
    def columns(self) -> list[int]:
        """Numbers, from 1, of the columns that hold anything in the first rows."""
        if self._columns is not None:
            return self._columns
        return sorted(set[int]().union(*(filled_places(texts) for _, texts in self.first)))

    def add(self, number: int, texts: list[str]) -> None:
        """Add a row; a blank one is not kept."""
        if self._columns is None:
            if len(self.first) < self.n_first:
                if not is_blank("".join(texts)):
                    self.first.append((number, texts))
                return
            self._columns = self.columns
            ends = pairwise([0, *self._columns, _LAST])
            self._gaps = [slice(last, end - 1) for last, end in ends if end > last + 1]
        if self._subjects is not None and number not in self._subjects:
            self.n_outside += not is_blank("".join(texts))
            return
        if len(texts) != len(self._columns) or self._columns[-1] != len(self._columns):
            for gap in self._gaps:  # few, while a stray cell in the last column of Excel makes 16,384 empty cells
                for place in filled_places(texts[gap]):
                    self._beyond.setdefault(gap.start + place, {})[number] = texts[gap.start + place - 1]
            texts = [texts[at - 1] if at <= len(texts) else "" for at in self._columns]
        for text in texts:  # faster than all(map(is_blank, texts)), and each row of a large file comes here
            if text and not text.isspace():
                self._texts.append(texts)
                self._numbers.append(number)
                if len(self._texts) * len(self._columns) >= _CELLS_AT_ONCE:
                    self._portions.append(_compact(self._texts, len(self._columns)))
                    self._texts = []
                return

    def body(self, last: int) -> tuple[pd.DataFrame, list[int]]:
        """Return the rows below that of the number `last`, and the numbers of the columns; labels plus 2 are rows."""
        columns = self.columns
        above = [row for row in self.first if row[0] > last]
        first = _compact(
            [[texts[at - 1] if at <= len(texts) else "" for at in columns] for _, texts in above], len(columns)
        )
        portions = [first, *self._portions, _compact(self._texts, len(columns))]
        frame = pd.concat([portion for portion in portions if len(portion)] or portions[:1], ignore_index=True)
        labels = np.array([*(number for number, _ in above), *self._numbers], dtype=np.int64) - 2
        if not np.array_equal(labels, np.arange(len(frame))):
            frame.index = pd.Index(labels)
        if not self._beyond:
            return frame, columns
        if len(self._beyond) > len(columns):  # with a million rows these would take all memory
            rows = sorted({row for cells in self._beyond.values() for row in cells})
            raise InputError(
                f"{len(self._beyond):,} columns that are empty in the first {len(self.first)} rows hold something in "
                f"{rows_named(rows)}: if that is another table, rows=FIRST-LAST says which rows are the subjects"
            )
        beyond = {at: pd.Series(cells, dtype=TEXT) for at, cells in self._beyond.items()}
        far = pd.DataFrame({at: cells.reindex(labels + 2, fill_value="") for at, cells in beyond.items()})
        places = [*columns, *far.columns]
        order = np.argsort(places)
        return pd.concat([frame, far.set_index(frame.index)], axis="columns").iloc[:, order], sorted(places)


def column_of(letters: str) -> int:
    """Return the number of a column, from 1, by its letters."""
    return reduce(lambda number, letter: 26 * number + ord(letter) - ord("A") + 1, letters, 0)


def letters_of(column: int) -> str:
    """Return the letters of a column by its number, from 1."""
    before, place = divmod(column - 1, 26)
    return (letters_of(before) if before else "") + chr(ord("A") + place)


# Choose columns by name or number, and refuse names that are unclear.

MOST_COLUMNS = 20_000
"""The most columns of a table that is read whole: with 200 rows they take 13 CPU seconds."""

_LONGEST_SHOWN, _LONGEST_OPTION = 60, 2000  # characters of a name, and of all names, that can be pasted
_ONLY_REDCAP = ("Complete?", "Event Name", "Repeat Instrument", "Repeat Instance", "Data Access Group")
_NUMBERED = re.compile(r"(?P<name>.*)#(?P<number>[0-9]{1,6})", re.DOTALL)


def place_of_column(wanted: str, names: Sequence[str], places: Sequence[int] = ()) -> int | str:
    """Return the place (from 0) of the column that a text means, or what is wrong with the text.

    It is a name; ``name#2`` for the second column of this name; ``#7`` for the seventh column of the file, whose
    numbers are `places`.
    """
    found = [at for at, name in enumerate(names) if name == wanted]
    found = found or [at for at, name in enumerate(names) if name.strip() == wanted.strip() and name.strip()]
    if len(found) == 1:
        return found[0]
    if found:
        return (
            f"there are {len(found)} columns {quoted(wanted)}: say {quoted(f'{wanted}#1')} or {quoted(f'{wanted}#2')}"
        )
    if match := _NUMBERED.fullmatch(wanted):
        name, number = match["name"].strip(), int(match["number"])
        same = [at for at, each in enumerate(names) if not name or each.strip() == name]
        numbers = range(1, len(same) + 1) if name else list(places) or range(1, len(names) + 1)
        if number in numbers:
            return same[numbers.index(number)]
    return f"there is no column {quoted(wanted)}.{did_you_mean(wanted, names)}"


def refuse_many_columns(n_columns: int, most: int | None, what: str = "read without a choice") -> None:
    """Raise InputError if a table has more columns than can be read or drafted (`what`); None is no limit."""
    if most is not None and n_columns > most:
        raise InputError(
            f"the table has {n_columns:,} columns, and at most {most:,} are {what}: keep those that may tell subtypes "
            "apart, with `only` or in the table itself"
        )


def chosen_columns(
    read: TableRead, only: Sequence[str] | None, drop: Sequence[str] | None
) -> tuple[pd.DataFrame, list[str]]:
    """Return the table with the columns to keep (`only`), without those to `drop`, and remarks on the choice.

    InputError is raised if a choice names no column or leaves none, or if columns that stay have one name, mostly no
    name, or look like two tables in one.
    """
    names = [str(name) for name in read.frame.columns]
    wanted, dropped = ([place_of_column(text, names, read.places) for text in texts or ()] for texts in (only, drop))
    if problems := [place for place in [*dropped, *wanted] if isinstance(place, str)]:
        raise InputError(listed(problems))
    kept = [at for at in range(len(names)) if (only is None or at in wanted) and at not in dropped]
    if not kept:
        raise InputError("`only` and `drop` leave no column: name fewer to drop, or others to keep")
    remarks = _refuse_unclear(read, kept, was_chosen=only is not None)
    chosen = read.frame if len(kept) == len(names) else read.frame.iloc[:, kept]
    if read.notes:
        add_notes(chosen, {names[at]: read.notes[at] for at in kept})
    if only is not None or drop:
        remarks.append(f"{len(kept)} of {len(names)} columns are kept, as `only` and `drop` say")
    return chosen, remarks


def _refuse_unclear(read: TableRead, kept: Sequence[int], was_chosen: bool) -> list[str]:
    """Raise InputError if columns that stay have one name or mostly none, or belong to two tables; return remarks."""
    names = [str(name) for name in read.frame.columns]
    numbers = read.places or list(range(1, len(names) + 1))
    columns: dict[str, list[int]] = {}
    for at in kept:
        columns.setdefault(names[at], []).append(at)
    repeated = {name: places for name, places in columns.items() if len(places) > 1}
    unnamed = [at for at in kept if names[at] in read.unnamed]
    held = f"the header has no name for column{'s' * (len(unnamed) > 1)} {listed(numbers[at] for at in unnamed)}"
    without = _drop_as_argument(read, unnamed)
    remarks, problems = [], []
    if 2 * len(unnamed) > len(kept) and not was_chosen:
        problems.append(
            f"{held} of {numbers[-1]}: write a name for every column{without}. If the header is further down: "
            "header_row=N; if no row holds names, header_row=0; if another table is below: rows=FIRST-LAST"
        )
    elif unnamed and not was_chosen:
        made = listed(quoted(names[at]) for at in unnamed)
        remarks.append(
            f"{held}: read as {made}. Write {'names' if len(unnamed) > 1 else 'a name'} in the file{without}"
        )
    if not was_chosen and (parts := _side_by_side(read, kept, numbers, repeated)):
        ways = " or ".join(argument("only", _names_to_paste(read, part)) for part in parts)
        shown = " and ".join(f"{numbers[part[0]]} to {numbers[part[-1]]}" for part in parts)
        problems.append(
            f"two tables seem to stand side by side, in columns {shown}, with an empty column between them: give the "
            f"columns of one of them with `only`, {ways}, or of both if they are one table"
        )
    elif repeated:
        where = {name: listed(numbers[at] for at in places) for name, places in repeated.items()}
        shown = listed(f"{quoted(name)} over columns {which}" for name, which in where.items())
        others = [at for places in repeated.values() for at in places[1:]]
        problems.append(
            f"these names are those of several columns: {shown}; rename them in the file"
            f"{_drop_as_argument(read, others)}"
        )
    if problems:
        raise InputError("\n  ".join(problems))
    return remarks


def _names_to_paste(read: TableRead, places: Sequence[int]) -> list[str]:
    """Return names that mean these columns, from 0, in a list between commas: ``age``, ``age#2``, ``#7``."""
    names = [str(name) for name in read.frame.columns]
    numbers = read.places or range(1, len(names) + 1)
    texts = []
    for at in places:
        name = f"{names[at]}#{names[: at + 1].count(names[at])}" if names.count(names[at]) > 1 else names[at]
        is_plain = name.isprintable() and len(name) < _LONGEST_SHOWN and not set(name) & set(",'\"")
        texts.append(name if is_plain and place_of_column(name, names, read.places) == at else f"#{numbers[at]}")
    return texts


def _drop_as_argument(read: TableRead, places: Sequence[int]) -> str:
    """Return the end of a sentence that leaves all these columns out; empty if it would be too long to paste."""
    option = argument("drop", _names_to_paste(read, places))
    return f", or leave {'it' if len(places) == 1 else 'them'} out: {option}" if len(option) <= _LONGEST_OPTION else ""


def _side_by_side(
    read: TableRead, kept: Sequence[int], numbers: Sequence[int], repeated: Collection[str]
) -> list[list[int]]:
    """Return two parts that an empty column divides, if a name is in both or one of them is shorter; else nothing.

    A part without any name is no table, but a remark to the right of one.
    """
    frame = read.frame
    gaps = [after for before, after in pairwise(kept) if numbers[after] - numbers[before] > after - before]
    if not gaps or not len(frame):
        return []
    parts = [[at for at in kept if at < gaps[0]], [at for at in kept if at >= gaps[0]]]
    names = [{str(frame.columns[at]) for at in part} for part in parts]
    ends = [(frame.iloc[::-1, part] != "").any(axis=1).idxmax() for part in parts]
    is_one_table = ends[0] == ends[1] and not (names[0] & names[1] & set(repeated))
    return [] if is_one_table or any(part <= read.unnamed for part in names) else parts


def with_names(read: TableRead) -> TableRead:
    """Return the table with a name for each column without one: ``#7``, as the seventh column of the file.

    Programs write the names of rows below an empty header (`write.csv` of R, `to_csv` of pandas), and a cell may be
    filled by mistake.
    """
    names = [str(name) for name in read.frame.columns]
    made = names_for_unnamed(names, read.places)
    if not made:
        return read
    frame = read.frame.set_axis(pd.Index([made.get(at, name) for at, name in enumerate(names)], dtype=object), axis=1)
    return replace(read, frame=frame, unnamed=frozenset(made.values()))


def names_for_unnamed(names: Sequence[str], numbers: Sequence[int] = ()) -> dict[int, str]:
    """Return a name for each column without one, by its place from 0, that is the name of no other."""
    made: dict[int, str] = {}
    for at in (at for at, name in enumerate(names) if is_blank(name)):
        made[at] = f"#{numbers[at] if numbers else at + 1}"
        while made[at] in names:
            made[at] += " (2)"
    return made


def with_distinct_names(read: TableRead) -> TableRead:
    """Return an export of REDCap with labels in which the second column of a name has ``(2)`` after it."""
    seen: Counter[str] = Counter()
    distinct = []
    for name in map(str, read.frame.columns):
        seen[name] += 1
        distinct.append(f"{name} ({seen[name]})" if seen[name] > 1 else name)
    repeated = [name for name, count in seen.items() if count > 1]
    if not repeated or not any(name.strip() in _ONLY_REDCAP or "(choice=" in name for name in seen):
        return read
    frame = read.frame.set_axis(pd.Index(distinct, dtype=object), axis=1)
    remark = (
        f"an export of REDCap with labels, in which {len(repeated)} names are those of several columns "
        f"({listed(map(quoted, repeated))}): the second is called {quoted(f'{repeated[0]} (2)')}, and so on in the "
        "order of the file; an export with raw names has a name of its own for each field"
    )
    return replace(read, frame=frame, remarks=[*read.remarks, remark])
