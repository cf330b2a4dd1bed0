"""Where in a sheet the table is: what is above it, its header, totals, rows that are no subjects."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Mask
from clinclust.data import data
from clinclust.errors import InputError
from clinclust.files.cell_text import LONGEST_NUMBER, compile_short, listed, numbers_of, quote_cell, quoted
from clinclust.files.dictionaries.words import means_missing
from clinclust.files.number_notation import (
    DecimalMark,
    columns_with_comma,
    looks_like_number,
    number_as_written,
    share_of_numbers,
)
from clinclust.files.text_table import (
    LOOKED_AT,
    ColumnNotes,
    Doubt,
    Finding,
    Row,
    RowRanges,
    SheetRows,
    TableRead,
    cell,
    filled_places,
    is_blank,
    letters_of,
    refusal,
    rows_named,
)

# What a row above the subjects is, given the cells below it: units, an explanation, names, or itself a subject.

_UNITS = data("tables")["units"]
_UNIT = compile_short(f"(?:{_UNITS['plain']}|{_UNITS['prefixed']}{_UNITS['per']}|{_UNITS['area']})", re.IGNORECASE)
_BRACKETED = re.compile(r"(.*\S)?\s*[\[(]\s*+([^\])(\[]{1,20}?)\s*[\])]\s*", re.DOTALL)
_NO_UNIT = ("-", "–", ".", "/")
_MEANINGS = re.compile(r"\s*[\w.+-]{1,12}\s*=\s*[^\s=].*|\s*[\w.+-]{1,12}\s*:\D[^:,;/|\n]*+[,;/|\n][^:]*+:.*", re.S)
_IMPORT_ID = re.compile(r'\s*\{\s*"ImportId"')
_DATE = compile_short(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}(?:[ ,].*)?")
_FEWEST_BELOW = 5  # what is needed to find the first row of the subjects odd
_FEWEST_COLUMNS, _FEWEST_WORDS = 3, 2  # in a narrower table a subject may look like the header or like a note
_MOST, _HALF = 0.8, 0.5  # other tables may be below
_MOST_LEVELS = 8
_NUMBERS, _DATES = "numbers", "dates"


class Explaining(NamedTuple):
    """A row that explains the columns, by their numbers, or may do so unless it is certain, and what it holds."""

    texts: dict[int, str]
    is_certain: bool
    why: str


def _unit_in_name(name: str) -> tuple[str, str] | None:
    """Return the name without its unit, and the unit, if a name such as ``CRP (mg/L)`` ends in one."""
    match = _BRACKETED.fullmatch(name)
    return (match[1], match[2]) if match and match[1] and _UNIT.fullmatch(match[2]) else None


def _explaining(rows: Sequence[Row], names: dict[int, str], of_subjects: bool = True) -> Explaining | None:
    """Return what the first of some rows below the header explains, or may explain; None if it looks like a subject.

    In a codebook, whose rows are not `of_subjects`, only units are sure to explain.
    """
    if units := _units(rows, names):
        return Explaining(units, True, "units")
    if len(rows) < 2 or len(names) < _FEWEST_WORDS or not of_subjects:
        return None
    every = {place: rows[0][1][place - 1].strip() for place in sorted(filled_places(rows[0][1]))}
    if not every.keys() <= names.keys() and _are_names(every, rows):
        return Explaining(every, False, "what reads like names, also where the row above it has none")
    texts = {place: text for place, text in every.items() if place in names}
    holds_ids = [all(map(_IMPORT_ID.match, filter(str.strip, row[1]))) for row in rows[:2]]
    if any(holds_ids):
        return Explaining({} if holds_ids[0] else texts, True, "the survey program's own words")
    types = set(data("tables")["types"]["words"])
    if len(texts) >= _FEWEST_COLUMNS and types.issuperset(map(str.casefold, texts.values())):
        return Explaining({}, True, "the types of the columns")
    meanings, words, n_values = {}, set[str](), 0
    for place, text in texts.items():
        cells = _below(rows, place)
        if text in cells or looks_like_number(text) or means_missing(text) or not any(map(str.isalnum, text)):
            n_values += 1
        elif _MEANINGS.fullmatch(text) and not any(map(_MEANINGS.fullmatch, cells)):
            meanings[place] = text
        elif len(cells) >= _FEWEST_BELOW and share_of_numbers(cells) >= _MOST:
            words.add(text)
    if meanings and n_values <= len(meanings):
        return Explaining(meanings, not n_values, "what codes mean")
    if len(words) >= _FEWEST_WORDS:
        return Explaining(texts, False, "words where the rows below it hold numbers")
    is_headless = min(names) not in texts and len(_below(rows, min(names))) == len(rows) - 1 >= _FEWEST_BELOW
    if texts and not n_values and is_headless and len(names) >= _FEWEST_COLUMNS:
        return Explaining(texts, False, "nothing in the first column, and words elsewhere")
    return None


def _units(rows: Sequence[Row], names: dict[int, str]) -> dict[int, str]:
    """Return the unit of each column above numbers, by its number, if the first row holds units; else none."""
    units: dict[int, str] = {}
    n_known = n_others = 0
    if len(names) < _FEWEST_COLUMNS:  # in a narrow table a subject may look like units
        return {}
    for place in sorted(filled_places(rows[0][1])):
        text = rows[0][1][place - 1].strip()
        if text in _NO_UNIT or means_missing(text):  # NA is no nanoampere
            continue
        bracketed = _BRACKETED.fullmatch(text)
        unit = bracketed[2] if bracketed and not bracketed[1] else text
        is_known = bool(_UNIT.fullmatch(unit))
        if is_known or unit != text:
            units[place] = unit
        n_known += is_known
        n_others += place not in units
        if place not in names or (place in units and share_of_numbers(_below(rows, place)) < _HALF):
            return {}
    return units if n_known >= (max(2, n_others) if n_others else len(units) / 2) else {}


def shape_of(text: str) -> str:
    """Return the shape of a text: ``a9`` for ``P01`` and ``P2``, ``9-9`` for ``12-7``."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", " ".join(text.split())))


def _names_like_values(names: dict[int, str], below: Sequence[Row]) -> list[str]:
    """Return the names that are like the values below them, if more are so than are clearly names; otherwise none."""
    rows = [row for row in below if any(cell(row, place).strip() != name.strip() for place, name in names.items())]
    signs = [(name.strip(), _compared(name.strip(), _below([(0, []), *rows], place))) for place, name in names.items()]
    like = [name for name, sign in signs if sign > 0]
    return like if len(like) > sum(sign < 0 for _, sign in signs) else []


def _are_names(texts: dict[int, str], rows: Sequence[Row]) -> bool:
    """Return whether the texts of the first row differ, and most are clearly names of what is below them."""
    signs = [_compared(text, _below(rows, place)) for place, text in texts.items()]
    return len(set(texts.values())) == len(texts) and 2 * signs.count(-1) > len(signs)


def _below(rows: Sequence[Row], place: int) -> list[str]:
    return [text.strip() for row in rows[1:] if not is_blank(text := cell(row, place))]


def _compared(name: str, cells: Sequence[str]) -> int:
    """Return 1 if a name is like the cells below it, -1 if it is clearly the name of these, 0 if that is not known.

    Like them is a number above numbers, a date above dates, one of repeated values, or a code of the usual shape.
    """
    if not cells or means_missing(name) or not any(map(str.isalnum, name)):
        return 0
    kind, kinds = _kind(name), [_kind(text) for text in cells]
    usual = max(set(kinds), key=kinds.count)
    usual = usual if kinds.count(usual) > _HALF * len(kinds) else ""
    if kind in (_NUMBERS, _DATES):
        return int(kind == usual)
    if usual in (_NUMBERS, _DATES):
        return -1
    if name in cells:
        return int(len(set(cells)) < len(cells))
    if len(set(cells)) <= min(_MOST_LEVELS, len(cells) / 2):
        return -1
    return (1 if kind == usual else -1) if "9" in usual else 0


def _kind(text: str) -> str:
    return _DATES if _DATE.fullmatch(text) else _NUMBERS if looks_like_number(text) else shape_of(text)


# Find the names of the columns: below titles, over one row or two, with units below them.

Area = tuple[int, int, int, int]  # merged cells: first row, first column, last row, last column, from 1
_MOST_IN_TITLE = 2
_MOST_BELOW = 4  # rows of units and explanations between the names and the subjects


def _groups_of(rows: Sequence[Row], at: int, merged: Sequence[Area]) -> dict[int, str] | None:
    """Return the heading above each column if the row at this place holds headings of groups of columns, else None.

    The row below must complete the names. Merged cells prove a group; without them, either the first column has its
    name in the upper row alone, or several headings begin right of it. And numbers, not names, must be below one of
    the names.
    """
    if at + 2 >= len(rows) or rows[at + 1][0] != rows[at][0] + 1:
        return None
    (number, above), (_, names), below = rows[at], rows[at + 1], rows[at + 2 :]
    upper, lower = filled_places(above), filled_places(names)
    first, width = min(upper | lower), max(upper | lower)
    is_complete = set().union(*(filled_places(texts) for _, texts in below)) <= upper | lower and lower - upper
    is_title = upper == {first}  # its cells may be merged over a part of the table
    if not is_complete or is_title or any(looks_like_number(names[place - 1]) for place in lower):
        return None
    spans = {left: right for top, left, bottom, right in merged if top == bottom == number and left in upper}
    spans = {left: right for left, right in spans.items() if left < right <= width and right - left + 1 < width}
    groups, heading, last = dict[int, str](), "", 0
    for place in range(first, width + 1):
        if place in upper:
            heading, last = above[place - 1].strip(), spans.get(place, place) if spans else width
        if place in lower and place <= last:
            groups[place] = heading
    joined = _joined_names(above, names, groups)
    if len(set(joined.values())) < len(joined):
        return None
    if spans:
        return groups
    is_named_above = first in upper and first not in lower
    begins_beside = first not in upper and 1 < len(upper) <= width / 2 and len(lower) == width - first + 1
    values = [[text for row in below if not is_blank(text := cell(row, place))] for place in lower]
    has_numbers = any(share_of_numbers(cells) >= _HALF for cells in values)
    return groups if has_numbers and (is_named_above or begins_beside) else None


def _joined_names(above: Sequence[str], names: Sequence[str], groups: dict[int, str]) -> dict[int, str]:
    joined: dict[int, str] = {}
    for place in sorted(filled_places(above) | filled_places(names)):
        name = cell((0, list(names)), place).strip()
        joined[place] = f"{groups[place]} - {name}" if name and place in groups else name or above[place - 1].strip()
    return joined


@dataclass
class Header:
    """The names of the columns; dictionaries are by the number of a column, from 1."""

    names: dict[int, str]
    last: int  # the number of its last row, with its units and explanations; 0 if there is no header
    rows: list[Row]  # those that the names were read from; none if the user said that there is no header
    groups: dict[int, str] = field(default_factory=dict)
    units: dict[int, str] = field(default_factory=dict)
    explanations: dict[int, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)


def find_header(
    rows: Sequence[Row],
    merged: Sequence[Area] = (),
    asked: int | None = None,
    subjects: RowRanges | None = None,
    of_subjects: bool = True,
) -> Header:
    """Return the names of the columns, from the first rows of a sheet that hold anything.

    `asked` is the number of the row of the header, or of the first of two; 0 for no header. No row of the `subjects`
    is a unit or an explanation; the rows of a codebook are not `of_subjects`. InputError is raised if there is no such
    row, or if it is among the subjects.
    """
    if asked == 0:
        filled = [filled_places(texts) for number, texts in rows if subjects is None or number in subjects]
        names = {place: f"column {place}" for place in sorted(set().union(*filled))}
        shown = listed(map(quoted, names.values()))
        told = f"the file has no header, as header_row=0 says: its {len(names)} columns are named by number ({shown})"
        return Header(names, 0, [], remarks=[told])
    if subjects is not None:
        rows = [row for row in rows if row[0] in subjects or row[0] < subjects.first]
    at = _below_titles(rows, merged) if asked is None else _place_of(rows, asked)
    groups = _groups_of(rows, at, merged)
    first = at + (1 if groups is None else 2)
    used, below = list(rows[at:first]), rows[first:]
    names = {place: rows[at][1][place - 1] for place in sorted(filled_places(rows[at][1]))}
    if groups is not None:
        names = _joined_names(used[0][1], used[1][1], groups)
    header = Header(names, used[-1][0], used, groups or {})
    _tell_of_titles(rows[:at], header, asked)
    if subjects is not None and header.last in subjects:
        raise InputError(
            f"rows={subjects.text!r} names row {header.last} as a subject, but the names of the columns are read from "
            "it: begin below it, or give another row of the header (header_row=N, or 0 if there is none)"
        )
    if of_subjects and groups is None:
        _look_for_subject(header, below, asked)
    if not header.doubts:
        _read_below(header, below, None if subjects is None else subjects.first, of_subjects)
    return header


def _tell_of_titles(above: Sequence[Row], header: Header, asked: int | None) -> None:
    number = header.rows[0][0]
    if above:
        held = listed(quote_cell(next(text for text in texts if not is_blank(text)).strip()) for _, texts in above)
        rows = rows_named([number for number, _ in above])
        more = "" if asked is not None else ". If that is wrong, give the row of the header: header_row=N"
        header.remarks.append(f"the header is row {number}: what is above it, in {rows}, is left out ({held}){more}")
    if len(header.rows) == 2:
        one = next((header.names[place] for place in header.groups if place in header.names), "")
        header.remarks.append(
            f"the header has two rows, {number} and {header.last}, whose names are joined, such as {quoted(one)}. If "
            f"the header is row {header.last} alone, say so: header_row={header.last}"
        )


def _look_for_subject(header: Header, below: Sequence[Row], asked: int | None) -> None:
    like = _names_like_values(header.names, below)
    row, shown = f"row {header.last}", listed(map(quote_cell, like))
    if like and asked is not None:
        header.remarks.append(
            f"{row} names the columns, as `header_row` says, though it looks like a subject ({shown}); if it is one, "
            "say header_row=0"
        )
    elif like:
        header.doubts.append(
            Doubt(
                f"{row} is where the names of the columns are expected, but looks like a subject ({shown} are like the "
                "values below): if the file has no header, say header_row=0, and the columns are named 'column 1', "
                f"'column 2' and so on; if the names stand in {row}, say header_row={header.last}"
            )
        )


def _read_below(header: Header, below: Sequence[Row], first_subject: int | None, of_subjects: bool) -> None:
    """Add the units and explanations between the names and the first subject, if the user gave its row."""
    for at, (number, texts) in enumerate(below[:_MOST_BELOW]):
        found = _explaining(below[at:], header.names, of_subjects)
        if found is None or (first_subject is not None and number >= first_subject):
            return
        why = f"{found.why} ({listed(quote_cell(text.strip()) for text in texts if not is_blank(text))})"
        if not found.is_certain and first_subject is None:
            names_too = f"; if it holds the names, say header_row={number}"
            header.doubts.append(Doubt(f"row {number} holds {why}{names_too}", (number,)))
            return
        (header.units if found.why == "units" else header.explanations).update(found.texts)
        header.remarks.append(f"row {number} explains the columns, and is no subject: it holds {why}")
        header.last = number


def _place_of(rows: Sequence[Row], asked: int) -> int:
    numbers = [number for number, _ in rows]
    if asked not in numbers:
        raise InputError(
            f"row {asked} holds nothing that could be a header; the first rows with content are {listed(numbers)}: "
            "give one of them as `header_row`, or 0 if there is no header"
        )
    return numbers.index(asked)


def _below_titles(rows: Sequence[Row], merged: Sequence[Area]) -> int:
    """Return the place of the first row that is no title above the table; 0 if there is none, or it is not clear."""
    width = len(set().union(*(filled_places(texts) for _, texts in rows)))
    for at, (number, texts) in enumerate(rows):
        n_filled = len(filled_places(texts))
        is_title = n_filled <= _MOST_IN_TITLE and 2 * n_filled < width
        if _groups_of(rows, at, merged) is not None or (at and not is_title and _is_header(rows, at)):
            return at
        spans_all = any(top <= number <= end and right - left + 1 >= width > 1 for top, left, end, right in merged)
        if not is_title and not spans_all:
            return 0
    return 0


def _is_header(rows: Sequence[Row], at: int) -> bool:
    """Return whether a row names every column that has a value below it, each once, and none by a number.

    The first column, of the names of rows, may lack a name if the others clearly have one.
    """
    names = {place: rows[at][1][place - 1].strip() for place in sorted(filled_places(rows[at][1]))}
    lacking = set().union(*(filled_places(texts) for _, texts in rows[at + 1 :])) - names.keys()
    has_all = len(names) > 1 and (not lacking or (max(lacking) < min(names) and _are_names(names, rows[at:])))
    return has_all and len({*names.values()}) == len(names) and not any(map(looks_like_number, names.values()))


# Rows that hold totals, means or counts of the rows above them, between the subjects or below them.

_WORDS = data("tables")["totals"]
_FIGURES = ("sum", "mean", "median", "deviation", "count", "minimum", "maximum", "norm")
_LONG = "|".join([*(_WORDS[figure] for figure in _FIGURES), rf"(?:{_WORDS['everybody']}) (?:{_WORDS['people']})"])
_ANY = "|".join([_LONG, *_WORDS["short"].values()])
_BEGINS = re.compile(rf"\W*+(?P<word>{_ANY})\b(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_ENDS = re.compile(rf"(?P<rest>.*[\s:(,-])(?P<word>{_LONG})[\s:=.()\[\]]*", re.IGNORECASE | re.DOTALL)
_LIKE = re.compile(rf"^\W*(?:{_ANY})\b|[\s:(,-](?:{_LONG})[\s:=.()\[\]]*$", re.IGNORECASE)
_COUNTED = compile_short(r"\W*n\s*[=:]\s*[\d.,']+\W*", re.IGNORECASE)
_PEOPLE = rf"(?:(?:(?:{_WORDS['everybody']}) |of |de |di |der )?(?:{_WORDS['people']}))?"
_REST = compile_short(rf"[\s:=.()\[\]]*(?:n\s*[=:]\s*)?[\d.,\s'()±%]*{_PEOPLE}\W*", re.IGNORECASE)
_GROUP = compile_short(rf"(?:{data('tables')['notes']['group']})\b.{{0,40}}", re.IGNORECASE)
_CODE = compile_short(r"\S*\d\S*|\w{1,5}")
_COLUMNS_LOOKED_AT, _CELLS_LOOKED_AT = 3, 2000
_MOST_LOOKED_AT = 1000  # more rows than any sheet has wards: what they hold is then a value of subjects
_ROWS_LOOKED_AT, _FEWEST_ROWS, _NEARLY_ALL = 200, 5, 0.95
_MOST_CODES, _SHARE_WITHOUT_NAME = 0.9, 0.05


class _Claim(NamedTuple):
    """A row that says that it is a total by a word in the column `place`, or, with -1, that lacks a name."""

    at: int
    place: int
    texts: list[str]
    figures: tuple[str, ...] = ("sum", "mean")
    is_long: bool = False  # the word is nothing but one of totals, unlike `n` or `min`
    is_total: bool = True  # it says nothing else, or only of what group


def filled_columns(frame: pd.DataFrame) -> tuple[list[int], list[int]]:
    """Return the places of columns that nearly all of 200 rows fill, and of those of numbers; none of under 5 rows."""
    rows = np.unique(np.linspace(0, max(0, len(frame) - 1), min(len(frame), _ROWS_LOOKED_AT), dtype=np.int64))
    columns = [[cell for cell in frame.iloc[rows, at].tolist() if not is_blank(cell)] for at in range(frame.shape[1])]
    fewest = max(_FEWEST_ROWS, _NEARLY_ALL * len(rows))
    always = [at for at, cells in enumerate(columns) if len(cells) >= fewest]
    numeric = [
        at for at, cells in enumerate(columns) if len(cells) >= _FEWEST_ROWS and share_of_numbers(cells) >= _MOST
    ]
    return always, numeric


def _names_group(text: str) -> bool:
    """Return whether a text reads like the name of a ward, a site or an arm of a trial."""
    return bool(_GROUP.fullmatch(text.strip()))


def _is_total_alone(text: str) -> bool:
    """Return whether a text is a count such as ``N = 24``, or the long word of a total and nothing else."""
    match = None if len(text) > LONGEST_NUMBER else _BEGINS.fullmatch(text) or _ENDS.fullmatch(text)
    is_alone = match is not None and _REST.fullmatch(match["rest"]) and re.fullmatch(_LONG, match["word"], re.I)
    return bool(is_alone or _COUNTED.fullmatch(text))


def totals(frame: pd.DataFrame, kept: Mask, decimal: str | None) -> list[Finding]:
    """Return the rows that are certainly totals, and those that say so, but agree with no rows above.

    A total has the word of one, or no name, and its numbers are figures of the rows above it or since the last total.
    """
    places, taken, begin = np.arange(len(frame)), ~kept, 0
    claims = sorted({claim.at: claim for claim in (*_without_name(frame, kept), *_with_words(frame, kept))}.values())
    if not claims:
        return []
    counted = np.ones(len(frame), dtype=bool)  # a total counts subjects, and no other total
    counted[[claim.at for claim in claims if claim.place >= 0 and claim.is_total]] = False

    @cache
    def column(place: int) -> tuple[NDArray[np.float64], Mask]:
        cells = frame.iloc[:, place].tolist()
        return numbers_of([_plain(cell, decimal) for cell in cells]), np.array([not is_blank(cell) for cell in cells])

    def is_total(claim: _Claim, above: Mask) -> bool:
        others = [at for at, text in enumerate(claim.texts) if at != claim.place and not is_blank(text)]
        agreeing, n_numbers = 0, 0
        for at in others:
            plain = _plain(claim.texts[at], decimal).removesuffix("%").strip()
            value = float(numbers_of([plain])[0])
            numbers, filled = column(at)
            numbers = numbers[above & np.isfinite(numbers)]
            if claim.place < 0 and (numbers.size < 2 or value in numbers):
                return False
            n_numbers += bool(np.isfinite(value))
            known = _figures_of(numbers, {int(filled[above].sum()), int(above.sum())}, claim.figures)
            half = 0.5000001 * 10.0 ** -len(plain.partition(".")[2])
            agreeing += any(abs(number - value) <= half for number in known)
        if claim.place < 0:
            return agreeing == len(others) > 1
        is_most = agreeing == n_numbers or (claim.is_long and 2 * agreeing > n_numbers)
        return agreeing > 0 and is_most and len(others) - n_numbers < 2  # one word may be the ward

    found = []
    for claim in claims:
        above = ~taken & (places < claim.at)  # the initials of a subject may be the word of a total
        parts = (above & counted & (places >= begin), above & counted, above)
        if claim.is_total and any(is_total(claim, part) for part in parts):
            taken[claim.at], begin = True, claim.at + 1
            found.append(claim.at)
    asked, always = [], filled_columns(frame[~taken])[0]
    words = {claim.at: claim.texts[claim.place].strip() for claim in claims if claim.place >= 0}
    for claim in claims:
        is_single = claim.is_long and list(words.values()).count(words[claim.at]) == 1
        lacks = any(is_blank(claim.texts[at]) for at in always)
        if claim.at in words and not taken[claim.at] and claim.is_total + is_single + lacks > 1:
            asked.append(claim.at)
    why = "the word of a total or of a norm, but no sums, means or counts of the rows above"
    return [Finding("totals or means of the rows above", found), Finding(why, asked, is_certain=False)]


def _with_words(frame: pd.DataFrame, kept: Mask) -> list[_Claim]:
    """Return the rows in whose first columns a text begins or ends like a total, the first column last."""
    found = []
    for place in reversed(range(min(_COLUMNS_LOOKED_AT, frame.shape[1]))):
        cells = frame.iloc[:, place]
        # pandas parses the pattern at each call, which takes longer than a small table.
        like = np.flatnonzero(np.array([_LIKE.search(text) is not None for text in cells.tolist()], dtype=bool) & kept)
        if not 0 < like.size <= min(_MOST_LOOKED_AT, kept.sum() / 2):
            continue
        fuller = np.setdiff1d(np.flatnonzero(kept), like)
        others = [text.strip() for text in cells.iloc[fuller].tolist() if not is_blank(text)]
        others = others[:: max(1, len(others) // _CELLS_LOOKED_AT)]
        are_codes = bool(others) and sum(map(bool, map(_CODE.fullmatch, others))) >= _MOST_CODES * len(others)
        for at in like.tolist():
            texts = frame.iloc[at].tolist()
            above = frame.iloc[at - 1].tolist()[: place + 1] if at else [""] * (place + 1)
            match = _BEGINS.fullmatch(texts[place]) or _ENDS.fullmatch(texts[place])
            if match is None or any(not is_blank(text) and text != above[on] for on, text in enumerate(texts[:place])):
                continue  # below the name of a subject is a level, such as of a response
            word, rest = match["word"], match["rest"].strip(" \t:=.()[],-")
            is_long = re.fullmatch(_LONG, word, re.I) is not None
            of_group = is_long and (are_codes or _names_group(rest) or rest in map(str.strip, above))
            is_total = of_group or bool(_REST.fullmatch(match["rest"]) or _COUNTED.fullmatch(texts[place]))
            if is_total or place == 0:
                found.append(_Claim(at, place, texts, _figures_said(word), is_long, is_total))
    return found


def _figures_said(word: str) -> tuple[str, ...]:
    short = _WORDS["short"]
    for figure in _FIGURES[1:]:
        if re.fullmatch(f"{_WORDS[figure]}|{short.get(figure, '(?!)')}", word, re.I):
            return () if figure == "norm" else (figure,)
    return ("sum", "mean", "count")


def _without_name(frame: pd.DataFrame, kept: Mask) -> list[_Claim]:
    """Return the rows without a value in the first column, if nearly all others have one."""
    blank = np.flatnonzero(np.asarray(frame.iloc[:, 0].str.strip() == "", dtype=bool) & kept)
    if blank.size > min(_MOST_LOOKED_AT, max(2, _SHARE_WITHOUT_NAME * kept.sum())):
        return []
    return [_Claim(at, -1, frame.iloc[at].tolist()) for at in blank.tolist()]


@np.errstate(all="ignore")  # sums of numbers of any size may be infinite, and then they are no total's
def _figures_of(numbers: NDArray[np.float64], counts: set[int], figures: Sequence[str]) -> list[float]:
    if numbers.size < 2:
        return [*counts] if "count" in figures else []
    known = {
        "sum": [numbers.sum()],
        "mean": [numbers.mean()],
        "median": [np.median(numbers)],
        "deviation": [numbers.std(ddof=1), numbers.std()],
        "count": [numbers.size, *counts],
        "minimum": [numbers.min()],
        "maximum": [numbers.max()],
    }
    return [float(number) for figure in figures for number in known[figure]]


def _plain(text: str, decimal: str | None) -> str:
    text = text.strip()
    return (number_as_written(text, ",", ".") or text) if decimal != "." and "," in text else text


# Rows below the header that are no subjects: notes, headings, the header again, and second tables.
#
# Frames hold the rows below the header as text; their labels plus 2 are row numbers. Headers are as wide as the table.

_FEWEST_LACKING = 2
_MOST_GAPS = 200  # more are a habit of the sheet, such as an empty row below each subject
_LAST_LOOKED_AT, _SHAPES_LOOKED_AT = 80, 2000
_NOTE = re.compile(rf"\s*(?:{data('tables')['notes']['begins']})", re.IGNORECASE)
_MEANING = re.compile(r"\S{1,12}\s*[=:]\s*\S.*")
_LEGEND = re.compile(r"[\w.+-]{1,12}\s*=\s*[^\s=].*", re.DOTALL)
_SENTENCE = 12


def _names_again(frame: pd.DataFrame, kept: Mask, headers: Sequence[Sequence[str]]) -> list[Finding]:
    """Return the rows that are the header again, and those of another table that begins with names.

    The header may be in other words: most of its texts are names of their columns, shortened or lengthened, where
    other rows hold numbers. Below an empty row it may begin another table, unless it repeats after equally many rows,
    as on pages. So may names of columns in another order or choice.
    """
    known = [[_folded(text) for text in row] for row in headers if sum(not is_blank(text) for text in row) > 2]
    every = {name for row in known for name in row if name}
    numeric = filled_columns(frame)[1]
    first = frame.iloc[:, 0].map(_folded)
    like = [text for text in first.unique() if text in every or any(_is_form(text, row[0]) for row in known)]
    again, below = list[int](), dict[int, str]()
    for at in np.flatnonzero(first.isin(like).to_numpy(dtype=bool) & kept).tolist():
        row = [_folded(text) for text in frame.iloc[at].tolist()]
        n_shared = sum(text in every for text in row)
        if any(row == names or _is_repeated_header(row, names, numeric) for names in known):
            again.append(at)
        elif n_shared >= _FEWEST_COLUMNS and 2 * n_shared > sum(map(bool, row)):
            below[at] = "names of columns, in another order or choice than the header"
    lengths = np.diff([-1, *again, len(frame)])
    if len(again) < 2 or len(set(lengths[:-1].tolist())) > 1 or lengths[-1] > lengths[0]:
        below |= {at: "the header again, below an empty row" for at in again if _is_below_gap(frame, at)}
    found = [Finding("the header again", again)]
    return [*found, _from(min(below), below[min(below)], len(frame))] if below else found


def _second_tables(frame: pd.DataFrame, kept: Mask) -> list[Finding]:
    """Return the rows below an empty row that begin with words in columns of numbers, or lack what all others have."""
    gaps = (np.flatnonzero(np.diff(np.asarray(frame.index)) > 1) + 1).tolist()
    if len(gaps) > _MOST_GAPS:
        return []
    for begin, end in pairwise([*gaps, len(frame)]):
        always, numeric = filled_columns(frame[:begin][kept[:begin]])
        block = begin + np.flatnonzero(kept[begin:end])
        cells: list[list[str]] = frame.iloc[block].to_numpy().tolist()
        if cells and _has_words(cells[0], numeric):
            return [_from(int(block[0]), "below an empty row, with words in columns of numbers", len(frame))]
        lacking = [at for at in always if _are_blank(row[at] for row in cells)]
        if cells and len(lacking) >= _FEWEST_LACKING and not _are_blank(text for row in cells for text in row[1:]):
            shown = listed(quoted(str(frame.columns[at]).strip()) for at in lacking)
            why = f"below an empty row, without a value in {shown}, which all rows above it have"
            return [_from(int(block[0]), why, len(frame))]
    return []


def _from(at: int, why: str, n_rows: int) -> Finding:
    return Finding(f"a second table seems to begin here: {why}", list(range(at, n_rows)), is_certain=False)


def _folded(text: str) -> str:
    return text.strip().casefold()


def _is_form(text: str, name: str) -> bool:
    """Return whether one text begins with the other, as ``Diab.`` and ``Diabetes`` do."""
    one, other = text.rstrip(". "), name.rstrip(". ")
    return bool(one and other) and (one.startswith(other) or other.startswith(one))


def _is_repeated_header(row: Sequence[str], names: Sequence[str], numeric: Sequence[int]) -> bool:
    alike = sum(map(_is_form, row, names))
    has_number = any(looks_like_number(row[place]) for place in numeric)
    # with fewer names it is the header of another table
    return _has_words(row, numeric) and not has_number and 2 * alike > max(sum(map(bool, row)), sum(map(bool, names)))


def _has_words(row: Sequence[str], numeric: Sequence[int]) -> bool:
    texts = {_folded(row[place]) for place in numeric if not is_blank(row[place])}
    return sum(not looks_like_number(text) and not means_missing(text) for text in texts) >= _FEWEST_WORDS


def _is_below_gap(frame: pd.DataFrame, at: int) -> bool:
    """Return whether an empty row is above a header, or above its titles of one text."""
    index = np.asarray(frame.index)
    while at > 0 and index[at] == index[at - 1] + 1 and sum(not is_blank(text) for text in frame.iloc[at - 1]) == 1:
        at -= 1
    return at > 0 and bool(index[at] > index[at - 1] + 1)


def _are_blank(texts: Iterable[str]) -> bool:
    return all(map(is_blank, texts))


def _is_note(text: str) -> bool:
    """Return whether the only text of a row reads like a footnote, a legend such as ``1 = m``, a count or a total."""
    text = text.strip()
    is_sentence = len(text) >= _SENTENCE and " " in text and any(map(str.isalpha, text))
    return is_sentence or bool(_NOTE.match(text) or _MEANING.fullmatch(text)) or _is_total_alone(text)


def _notes_below(frame: pd.DataFrame, kept: Mask) -> list[Finding]:
    """Return the last rows of one text that reads like a note, and of a legend, with its titles.

    A legend says in one or several cells what codes mean, ``1 = White``, perhaps next to the name of the column. Its
    title is a text of another shape than those of the subjects (``Race``, not ``P33``) or, below an empty row, any one
    or two texts.
    """
    subjects = np.flatnonzero(kept)
    places = subjects[-_LAST_LOOKED_AT:].tolist()
    above, rows = (
        [{at: text.strip() for at, text in enumerate(row) if not is_blank(text)} for row in frame.iloc[of].to_numpy()]
        for of in (subjects[: min(_LAST_LOOKED_AT, len(subjects) // 2)], places)
    )
    width = frame.shape[1]
    fuller = [row for row in above if len(row) > min(2, width - 1)]
    of_subjects = {column for row in fuller for column, text in row.items() if _is_note(text)}
    shapes = {shape_of(text) for row in fuller for text in list(row.values())[:1]}
    names = {_folded(str(name)) for name in frame.columns}
    end, was_legend = len(places), False
    for at in range(len(places) - 1, 0, -1):
        column, text = next(iter(rows[at].items()))
        meanings = {place for place, text in rows[at].items() if _LEGEND.fullmatch(text)}
        is_legend = bool(meanings) and of_subjects.isdisjoint(meanings)
        others = [text for place, text in rows[at].items() if place not in meanings]
        is_legend &= all(_folded(text) in names or shape_of(text) not in shapes for text in others)
        reads = _is_total_alone(text) if width < _FEWEST_COLUMNS else _is_note(text) and column not in of_subjects
        if len(rows[at]) > 1 + (width > _FEWEST_COLUMNS) and not is_legend:
            break
        is_below_gap = frame.index[places[at]] > frame.index[places[at - 1]] + 1
        is_title = was_legend and bool(shapes) and shape_of(text) not in shapes
        is_note_alone = len(rows[at]) == 1 and reads
        is_part = is_legend or is_note_alone or (is_title and len(rows[at]) == 1)
        if (is_part and end == at + 1) or (is_note_alone and is_below_gap):
            end = at
        was_legend = is_legend and end == at
    return [Finding("notes below the table", places[end:])]


def headings(frame: pd.DataFrame, kept: Mask) -> list[Finding]:
    """Return the rows that hold one text in the first column, of another shape than those of other subjects.

    ``P33`` among ``P01`` is a subject of whom nothing else is known. The name of a ward is certainly a heading.
    """
    alone = np.flatnonzero(kept & np.asarray(frame.iloc[:, 0].str.strip() != "", dtype=bool))
    for column in range(1, frame.shape[1]):
        alone = alone[np.asarray(frame.iloc[alone, column].str.strip() == "", dtype=bool)] if alone.size else alone
    if not alone.size or frame.shape[1] < _FEWEST_COLUMNS:
        return []
    fuller = np.setdiff1d(np.flatnonzero(kept), alone)
    sample = frame.iloc[fuller[:: max(1, len(fuller) // _SHAPES_LOOKED_AT)], 0].tolist()
    shapes = {shape_of(cell) for cell in sample if not is_blank(cell)}
    texts = dict(zip(alone.tolist(), frame.iloc[alone, 0].tolist(), strict=True))
    odd = [at for at, text in texts.items() if any(map(str.isalpha, text)) and shape_of(text) not in shapes]
    certain = [at for at in odd if _names_group(texts[at])]
    rest = [at for at in odd if at not in certain] if shapes else []
    asked = "one text, unlike those of other rows, and nothing else: a heading, a remark, or a subject"
    known = "headings between the subjects, whose groups can be kept in a column of their own"
    return [Finding(known, certain), Finding(asked, rest, is_certain=False)]


# Make the table of the subjects out of the rows of a sheet: below its header, without rows that are no subjects.


@dataclass(frozen=True)
class SheetOptions:
    """What the user said of a sheet; the rows of a codebook are not `of_subjects`."""

    header_row: int | None = None  # 0 for none
    decimal: DecimalMark | None = None
    rows: RowRanges | None = None  # of the subjects
    of_subjects: bool = True
    most_columns: int | None = None

    def empty_rows(self) -> SheetRows:
        """Return the place to collect rows in, which keeps as many as are needed to find the header."""
        begin = self.rows.first if self.header_row == 0 and self.rows is not None else self.header_row or 0
        return SheetRows(LOOKED_AT + begin, self.rows)

    def may_be_subject(self, number: int) -> bool:
        """Return whether the user did not exclude this row."""
        return self.rows is None or number in self.rows


def sheet_table(
    rows: SheetRows, options: SheetOptions, merged: Sequence[Area] = (), header: Header | None = None
) -> TableRead:
    """Return the table of a sheet, whose `header` may be known already; InputError if it is empty or uncertain."""
    if not rows.first:
        raise InputError("the table is empty")
    if header is None:
        header = find_header(rows.first, merged, options.header_row, options.rows, options.of_subjects)
    (frame, every), n_outside = rows.body(header.last), rows.n_outside
    if options.rows is not None:
        is_said = [label + 2 in options.rows for label in frame.index.tolist()]
        n_outside += len(frame) - sum(is_said)
        frame = frame[is_said]
        if not len(frame):
            raise InputError(f"rows={options.rows.text!r}: none of these rows below the header holds anything")
    frame, places = _named_or_filled(frame, every, header)
    frame.columns = pd.Index([header.names.get(place, "") for place in places], dtype=object)
    headers = [[cell(row, place) for place in places] for row in header.rows]
    kept, left_out = _subjects(frame, headers, header.doubts, options, rows.filled_up)
    remarks = [*header.remarks, *_of_merged(merged, frame, places), *left_out]
    if not kept.all():
        frame, places = _named_or_filled(frame[kept], places, header)
    commas, of_commas = columns_with_comma(frame, options.decimal)
    notes = [_notes(header, place, at in commas) for at, place in enumerate(places)]
    return TableRead(frame, remarks + of_commas, notes, places, n_outside=n_outside)


def _named_or_filled(frame: pd.DataFrame, places: Sequence[int], header: Header) -> tuple[pd.DataFrame, list[int]]:
    """Return the columns, with their numbers in the file, that have a name or hold anything."""
    named = [
        at
        for at, place in enumerate(places)
        if place in header.names or not all(map(is_blank, frame.iloc[:, at].tolist()))
    ]
    return frame.iloc[:, named], [places[at] for at in named]


def _subjects(
    frame: pd.DataFrame,
    headers: Sequence[Sequence[str]],
    doubts: Sequence[Doubt],
    options: SheetOptions,
    filled_up: Collection[int],
) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which rows below the header are subjects, and remarks on the others; if in doubt, refuse.

    Among the rows of a codebook, headings and words of totals are usual.
    """
    kept, numbers = np.ones(len(frame), dtype=bool), np.asarray(frame.index) + 2
    looks: list[Callable[[], list[Finding]]] = []
    remarks, asked = list[str](), list[Finding]()
    if options.rows is not None:
        remarks.append(f"{len(frame):,} rows are read as subjects, as rows={options.rows.text!r} says")
    elif frame.shape[1] > 1:
        looks = [lambda: _names_again(frame, kept, headers), lambda: _notes_below(frame, kept)]
        if options.of_subjects:
            looks += [lambda: totals(frame, kept, options.decimal), looks[1]]  # notes may be above totals
            looks += [lambda: headings(frame, kept), lambda: _second_tables(frame, kept)]
    for look in looks:
        for finding in look():
            if not finding.is_certain:
                asked.append(finding)
            elif finding.places:
                kept[finding.places] = False
                remarks.append(f"{_said(finding.what, finding.places, frame)}, left out")
    known, every = set[int](), list(doubts)
    for finding in sorted(asked, key=lambda finding: -len(finding.places)):
        places = [at for at in finding.places if kept[at]]
        if not known.issuperset(places):
            every.append(Doubt(_said(finding.what, places, frame), tuple(numbers[places].tolist())))
        known.update(places)
    if every:
        raise refusal(every, numbers[kept].tolist(), numbers[~kept].tolist(), filled_up)
    return kept, remarks


def _said(what: str, places: Sequence[int], frame: pd.DataFrame) -> str:
    numbers = (np.asarray(frame.index)[places] + 2).tolist()
    texts = [next(text.strip() for text in frame.iloc[at].tolist() if not is_blank(text)) for at in places[:5]]
    return f"{rows_named(numbers)} ({listed(map(quote_cell, texts), len(places))}): {what}"


def _of_merged(merged: Sequence[Area], frame: pd.DataFrame, places: Sequence[int]) -> list[str]:
    if not merged or not len(frame):
        return []
    first, last, width = frame.index[0] + 2, frame.index[-1] + 2, max(places, default=0)
    inside = [
        f"{letters_of(left)}{top}:{letters_of(right)}{bottom}"
        for top, left, bottom, right in merged
        if first <= top <= last and right <= width
    ]
    value = "the value counts for the first cell only: unmerge them, and write the value into each cell"
    return [f"merged cells ({listed(inside)}): {value}"] if inside else []


def _notes(header: Header, place: int, has_comma: bool) -> ColumnNotes:
    name, group, unit = header.names.get(place, ""), header.groups.get(place), header.units.get(place)
    label = name.removeprefix(f"{group} - ") if group else None
    in_name = _unit_in_name(label or name)
    if in_name is not None:
        label, unit = in_name[0], unit or in_name[1]
    description = " ".join(header.explanations.get(place, "").split()) or None
    return ColumnNotes(
        label=label, unit=unit, section=group, description=description, decimal="," if has_comma else None
    )
