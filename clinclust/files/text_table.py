"""A table of texts with what is noted of its columns, and the columns that are chosen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, groupby, pairwise, zip_longest
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from clinclust.errors import InputError, did_you_mean
from clinclust.files import say
from clinclust.files.cell_text import is_blank, listed, quoted, remove_unseen

# What a file says of its columns: labels, units, coded values, user-missing codes.

COLUMN_NOTES = "column_notes"  # the key of ``frame.attrs`` under which they are, as a dictionary by column
ColumnKind = Literal["nominal", "ordinal", "number", "yes/no", "date", "text", "id"]
ORDERED: ColumnKind = "ordinal"
_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


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
    role: Literal["adjust", "arm", "outcome", "time", "site", "describe", "ignore"] | None = None
    reason: str | None = None  # of kind and role, such as ``the dictionary says: radio, 4 choices``


_NOTES = TypeAdapter(dict[str, ColumnNotes])


def read_dumped(adapter: TypeAdapter[Any], stated: object, sentence: str, **fields: object) -> Any:
    """Return what a type adapter dumped; InputError says the `sentence` with the places that are not as it writes."""
    try:
        return adapter.validate_python(stated)
    except ValidationError as error:
        places = listed(".".join(map(str, problem["loc"])) or "its type" for problem in error.errors())
        raise InputError(say(sentence, places=places, **fields)) from None


def notes_of(frame: pd.DataFrame) -> dict[str, ColumnNotes]:
    """Return the notes on the columns that are in a table; InputError if `read_cohort` did not write them."""
    notes = read_dumped(_NOTES, frame.attrs.get(COLUMN_NOTES, {}), "column_notes_damaged", key=COLUMN_NOTES)
    return {column: notes[column] for column in notes if column in set(frame.columns)}


def add_notes(frame: pd.DataFrame, notes: Mapping[str, ColumnNotes]) -> None:
    """Put the notes that say anything into ``frame.attrs``, as lists, texts and numbers, and replace earlier ones."""
    dumped = _NOTES.dump_python(dict(notes), mode="json", exclude_defaults=True)
    if stated := {column: about for column, about in dumped.items() if about}:
        frame.attrs[COLUMN_NOTES] = {**frame.attrs.get(COLUMN_NOTES, {}), **stated}


# The rows of a table as they are read: which are subjects, in ranges such as ``2-61``, and their texts.

# `66`, `2-61`, `66-`
_RANGE = re.compile(r"(\d{1,7})(?:\s*-\s*(\d{0,7}))?")
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
            last = first if match is None or match[2] is None else int(match[2] or 10**9)  # beyond any file
            if not ranges[-1][1] < first <= last:
                raise InputError(say("no_range_of_rows", rows=text, part=part.strip()))
            ranges.append((first, last))
        return cls(text.strip(), tuple(ranges[1:]))

    def __contains__(self, number: int) -> bool:
        return any(first <= number <= last for first, last in self.ranges)


def ranges_of(numbers: Iterable[int], between: Iterable[int] = ()) -> str | None:
    """Return the text that means these rows, and none of those `between`; None if it would be too long."""
    rows = set(numbers)
    runs = [list(run) for is_kept, run in groupby(sorted(rows.union(between)), rows.__contains__) if is_kept]
    text = ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    return text if 0 < len(text) <= _LONGEST else None


TEXT = pd.StringDtype(na_value=np.nan)
_CELLS_AT_ONCE = 2_500_000  # Python strings need much memory, so rows are converted to a compact table in portions
_LOOKED_AT = 60  # rows, to find the header; one that is asked for may be below them


def texts_in(cells: Iterable[str], first: int = 0) -> dict[int, str]:
    """Return the texts of a row that are not blank, stripped, by the number of their column."""
    return {at: text.strip() for at, text in enumerate(cells, first) if text and not is_blank(text)}


class SheetRows:
    """The rows of a sheet that hold anything: the first unchanged, and all in a compact table."""

    def __init__(self, n_first: int = 0) -> None:
        self.n_first = _LOOKED_AT + n_first
        self.first: list[tuple[int, list[str]]] = []  # number of the row, and its texts from the first column on
        self.misfits: dict[int, str] = {}  # rows of a text that have not as many fields as the header, in words
        self._rows: dict[int, list[str]] = {}  # those of the next portion, by number
        self._width = 0  # of the widest of these
        self._portions: list[pd.DataFrame] = []

    def add(self, number: int, texts: list[str]) -> None:
        """Add a row; a blank one is not kept."""
        if is_blank("".join(texts)):
            return
        if len(self.first) < self.n_first:
            self.first.append((number, texts))
        if (len(self._rows) + 1) * max(self._width, len(texts)) > _CELLS_AT_ONCE:
            self._tabulate()  # a far cell would widen all rows of its portion
        self._rows[number], self._width = texts, max(self._width, len(texts))

    def _tabulate(self) -> None:
        columns = list(zip_longest(*self._rows.values(), fillvalue=""))
        held = dict(compress(enumerate(columns, 1), map(any, columns)))  # calls nothing for an empty column
        self._portions.append(pd.DataFrame(held, np.array([*self._rows], dtype=np.int64) - 2, dtype=TEXT))
        self._rows, self._width = {}, 0

    def body(self, last: int) -> pd.DataFrame:
        """Return the rows below that of the number `last`, by number minus 2; columns are numbers, from 1."""
        self._tabulate()
        frame = pd.concat(self._portions).fillna("") if len(self._portions) > 1 else self._portions[0]
        return frame.loc[frame.index > last - 2, sorted(frame.columns)]


# Choose columns by name or number, and refuse names that are unclear.

Names = Sequence[str] | None
_ONLY_REDCAP = ("Complete?", "Event Name", "Repeat Instrument", "Repeat Instance", "Data Access Group")


@dataclass(frozen=True)
class TableRead:
    """A table as it was read. Names of its columns may repeat, or be empty."""

    frame: pd.DataFrame
    remarks: list[str] = field(default_factory=list)  # each a sentence without the name of the file
    notes: list[ColumnNotes] = field(default_factory=list)  # of each column
    places: list[int] = field(default_factory=list)  # of the columns in the file, from 1
    unnamed: frozenset[str] = frozenset()  # the names that were made for columns without one
    n_outside: int = 0  # rows below the header that are not among the subjects of the user

    def __post_init__(self) -> None:
        n_columns = self.frame.shape[1]
        self.notes.extend([ColumnNotes()] * (n_columns - len(self.notes)))
        self.places.extend(range(len(self.places) + 1, n_columns + 1))

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [str(name) for name in self.frame.columns]

    def find_column(self, wanted: str) -> int | str:
        """Return the place of the column that a name or ``#7``, its number in the file, means, or what is wrong."""
        names, numbered = self.names, [f"#{place}" for place in self.places]
        alike = [at for at, name in enumerate(names) if name.strip() == wanted.strip() and name.strip()]
        same = [at for at in alike if names[at] == wanted] or alike
        if len(same) == 1:
            return same[0]
        if ways := [quoted(numbered[at]) for at in same]:
            return f"there are {len(ways)} columns {quoted(wanted)}: say one of {listed(ways)}"
        if wanted in numbered:
            return numbered.index(wanted)
        return f"there is no column {quoted(wanted)}.{did_you_mean(wanted, names)}"


def refuse_many_columns(n_columns: int, most: int | None, what: str = "read without a choice") -> None:
    """Raise InputError if a table has more columns than can be read or drafted (`what`); None sets no limit."""
    if most is not None and n_columns > most:
        raise InputError(say("too_many_columns", n_columns=n_columns, most=most, what=what))


def join_parts(texts: Iterable[str], names: Iterable[object]) -> list[str]:
    """Return names of columns that a list between commas parted, such as `Na, serum`, in one piece again."""
    joined, names = list[str](), set(names)
    for text in texts:
        whole = {f"{joined[-1]}{mark}{text}" for mark in (",", ", ")} & names if joined else set()
        joined = [*joined[:-1], *whole] if whole and joined[-1] not in names else [*joined, text]
    return joined


def chosen_columns(read: TableRead, only: Names, drop: Names) -> tuple[pd.DataFrame, list[str]]:
    """Return the table with the columns to keep (`only`), without those to `drop`, and remarks on the choice.

    InputError is raised if a choice names no column or leaves none, or if columns that stay have one name, mostly no
    name, or look like two tables in one.
    """
    names, numbers = read.names, read.places
    wanted, dropped = ([read.find_column(text) for text in join_parts(texts or (), names)] for texts in (only, drop))
    if problems := [place.removesuffix(".") for place in [*dropped, *wanted] if isinstance(place, str)]:
        raise InputError("\n  ".join(problems))
    columns = [at for at in range(len(names)) if (only is None or at in wanted) and at not in dropped]
    if not columns:
        raise InputError("`only` and `drop` leave no column: name fewer to drop, or others to keep")
    counts = Counter(names[at] for at in columns)
    repeated = {name: [at for at in columns if names[at] == name] for name, count in counts.items() if count > 1}
    remarks = []
    if only is None and (unnamed := [at for at in columns if names[at] in read.unnamed]):
        held = f"column{'s' * (len(unnamed) > 1)} {listed(numbers[at] for at in unnamed)}"
        made = [names[at] for at in unnamed]
        if 2 * len(unnamed) > len(columns):
            problems.append(say("mostly_unnamed_columns", unnamed=held, n_columns=numbers[-1], names=made))
        else:
            remarks.append(say("unnamed_columns", unnamed=held, names=made))
    if only is None and (parts := _side_by_side(read, columns)):
        ways = " or ".join(f"only={[f'#{numbers[at]}' for at in part]}" for part in parts)
        shown = " and ".join(f"{numbers[part[0]]} to {numbers[part[-1]]}" for part in parts)
        problems.append(say("tables_side_by_side", columns=shown, ways=ways))
    elif repeated:
        where = {quoted(name): listed(numbers[at] for at in places) for name, places in repeated.items()}
        others = [f"#{numbers[at]}" for places in repeated.values() for at in places[1:]]
        problems.append(say("repeated_names", names=listed(map(" over columns ".join, where.items())), others=others))
    if problems:
        raise InputError("\n  ".join(map(str, problems)))
    chosen = read.frame if len(columns) == len(names) else read.frame.iloc[:, columns]
    add_notes(chosen, {names[at]: read.notes[at] for at in columns})
    if only is not None or drop:
        remarks.append(f"{len(columns)} of {len(names)} columns are kept, as `only` and `drop` say")
    return chosen, remarks


def _side_by_side(read: TableRead, kept: Sequence[int]) -> list[list[int]]:
    """Return two parts with names that an empty column divides, if one of them is shorter; else nothing."""
    frame, numbers = read.frame, read.places
    gaps = [after for before, after in pairwise(kept) if numbers[after] - numbers[before] > after - before]
    if not gaps or not len(frame):
        return []
    parts = [[at for at in kept if at < gaps[0]], [at for at in kept if at >= gaps[0]]]
    ends = {(frame.iloc[::-1, part] != "").any(axis=1).idxmax() for part in parts}
    are_tables = len(ends) > 1 and not any(read.unnamed.issuperset(frame.columns[part]) for part in parts)
    return parts if are_tables else []


def name_columns(read: TableRead) -> TableRead:
    """Return the table with a name for each column without one: ``#7``, as the seventh column of the file.

    Programs write the names of rows below an empty header (`write.csv` of R, `to_csv` of pandas), and a cell may be
    filled by mistake. In an export of REDCap with labels, the second column of a name has ``(2)`` after it.
    """
    numbers = {at: f"#{read.places[at]}" for at, name in enumerate(read.names) if is_blank(name)}
    made = {at: f"{number} (2)" if number in read.names else number for at, number in numbers.items()}
    seen = Counter(map(remove_unseen, read.names))  # a zero-width space in a name cannot be typed
    plain = [name if name.isascii() or seen[remove_unseen(name)] > 1 else remove_unseen(name) for name in read.names]
    names, remarks = [made.get(at, name) for at, name in enumerate(plain)], read.remarks
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated and any(name.strip() in _ONLY_REDCAP or "(choice=" in name for name in names):
        counts = [names[: at + 1].count(name) for at, name in enumerate(names)]
        names = [f"{name} ({n})" if n > 1 else name for name, n in zip(names, counts, strict=True)]
        second = f"{repeated[0]} (2)"
        remarks = [*remarks, say("names_of_redcap_labels", n_names=len(repeated), names=repeated, second=second)]
    frame = read.frame if names == read.names else read.frame.set_axis(pd.Index(names, dtype=object), axis=1)
    return replace(read, frame=frame, unnamed=frozenset(made.values()), remarks=remarks)
