"""Where in a sheet the table is: what is above it, its header, totals, rows that are no subjects."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise, takewhile
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clinclust.arrays import Mask
from clinclust.data import data
from clinclust.errors import InputError
from clinclust.files import notation, say
from clinclust.files.cell_text import compile_short, is_blank, listed, numbers_of, quote_cell, quoted, rows_named
from clinclust.files.conditions import looks_like_date
from clinclust.files.notation import DecimalMark, looks_like_number, means_missing, share_of_numbers
from clinclust.files.text_table import ColumnNotes, RowRanges, SheetRows, TableRead, ranges_of, texts_in

Texts = Mapping[int, str]  # of a row: those that are not blank, stripped, by the number of their column
Row = tuple[int, Texts]  # the number of a row in a spreadsheet, and its texts by column, from 1
Areas = Sequence[Any]  # merged cells: CellRange of openpyxl
Doubt = tuple[str, Sequence[int]]  # what was seen, as a sentence, and the rows that are no subjects if it is right


@dataclass(frozen=True)
class SheetOptions:
    """What the user said of a file and the sheet in it; the rows of a codebook are not `of_subjects`."""

    sheet: str | None = None  # its name or number in a workbook
    encoding: str | None = None
    header_row: int | None = None  # 0 for none
    decimal: DecimalMark | None = None
    rows: RowRanges | None = None  # of the subjects
    of_subjects: bool = True
    most_columns: int | None = None

    @property
    def empty_sheet(self) -> SheetRows:
        """A sheet without rows, which will keep as many of the first as are needed to find the header."""
        return SheetRows(self.rows.ranges[0][0] if self.header_row == 0 and self.rows else self.header_row or 0)


# What a row above the subjects is, given the cells below it: units, an explanation, names, or itself a subject.

_TABLES = data("tables")
# `0 = no; 1 = yes` or `0: none, 1: mild` below a name; not `see: note`
_MEANINGS = re.compile(r"\s*[\w.+-]{1,12}\s*=\s*[^\s=].*|\s*[\w.+-]{1,12}\s*:\D[^:,;/|\n]*+[,;/|\n][^:]*+:.*", re.S)
# Qualtrics writes `{"ImportId":"QID1"}` below the questions
_IMPORT_ID = re.compile(r'\s*\{\s*"ImportId"')
_FEWEST_BELOW = 5  # what is needed to find the first row of the subjects odd
_FEWEST_COLUMNS, _FEWEST_WORDS = 3, 2  # in a narrower table a subject may look like the header or like a note
_MOST, _HALF = 0.8, 0.5  # other tables may be below
# `sex` above m, f, m, f is a name, because few values repeat
_MOST_LEVELS = 8
_NUMBERS, _DATES = "numbers", "dates"


def _explain(rows: Sequence[Row], names: Texts, of_subjects: bool) -> tuple[str, bool, Texts] | None:
    """Return what the first row below the header holds if no subject, whether this is certain, and texts of columns."""
    if units := _read_units(rows, names):
        return "units", True, units
    every = rows[0][1]
    if len(rows) < 2 or len(names) < _FEWEST_WORDS or not of_subjects:
        return None
    # `Laboratory` alone in the row above `id`, `age`, `crp`
    if not every.keys() <= names.keys() and _are_names(every, rows):
        return "what reads like names, also where the row above it has none", False, every
    texts = {place: text for place, text in every.items() if place in names}
    holds_ids = [all(map(_IMPORT_ID.match, row.values())) for _, row in rows[:2]]
    if any(holds_ids):
        return "the survey program's own words", True, {} if holds_ids[0] else texts
    if len(texts) >= _FEWEST_COLUMNS and {*map(str.casefold, texts.values())} <= {*_TABLES["types"]["words"]}:
        return "the types of the columns", True, {}
    meanings, words, n_values = {}, set[str](), 0
    for place, text in texts.items():
        cells = _below(rows, place)
        if text in cells or looks_like_number(text) or means_missing(text) or not any(map(str.isalnum, text)):
            n_values += 1
        elif _MEANINGS.fullmatch(text) and not any(map(_MEANINGS.fullmatch, cells)):
            meanings[place] = text
        # `at baseline` between `age` and 63
        elif len(cells) >= _FEWEST_BELOW and share_of_numbers(cells) >= _MOST:
            words.add(text)
    if meanings and n_values <= len(meanings):
        return "what codes mean", not n_values, meanings
    if len(words) >= _FEWEST_WORDS:
        return "words where the rows below it hold numbers", False, texts
    # nothing below `id`, and `in the last year` below `falls`
    is_headless = min(names) not in texts and len(_below(rows, min(names))) == len(rows) - 1 >= _FEWEST_BELOW
    if texts and not n_values and is_headless and len(names) >= _FEWEST_COLUMNS:
        return "nothing in the first column, and words elsewhere", False, texts
    return None


def _read_units(rows: Sequence[Row], names: Texts) -> Texts:
    """Return the unit of each column above numbers if the first row holds units; else none."""
    above = {place: text for place, text in rows[0][1].items() if not means_missing(text)}  # NA is no nanoampere
    texts = {place: text for place, text in above.items() if text not in ("-", "–", ".", "/")}
    bare = {at: text[1:-1].strip() if text[0] + text[-1] in ("[]", "()") else text for at, text in texts.items()}
    sure = {place for place, unit in bare.items() if notation.is_known_unit(unit)}
    units = {place: unit for place, unit in bare.items() if place in sure or unit != texts[place]}
    are_above_numbers = all(share_of_numbers(_below(rows, place)) >= _HALF for place in units)
    if len(names) < _FEWEST_COLUMNS or not texts.keys() <= names.keys() or not are_above_numbers:
        return {}  # in a narrow table a subject may look like units
    n_others = len(texts) - len(units)
    return units if len(sure) >= (max(2, n_others) if n_others else len(units) / 2) else {}


def _shape_of(text: str) -> str:
    """Return the shape of a text: ``a9`` for ``P01`` and ``P2``, ``9-9`` for ``12-7``."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", " ".join(text.split())))


def _are_names(texts: Texts, rows: Sequence[Row]) -> bool:
    """Return whether the texts of the first row differ, and most are clearly names of what is below them."""
    signs = [_compare(text, _below(rows, place)) for place, text in texts.items()]
    return len(set(texts.values())) == len(texts) and 2 * signs.count(-1) > len(signs)


def _below(rows: Sequence[Row], place: int) -> list[str]:
    return [texts[place] for _, texts in rows[1:] if place in texts]


def _compare(name: str, cells: Sequence[str]) -> int:
    """Return 1 if a name is like the cells below it, -1 if it is clearly the name of these, 0 if that is not known.

    Like them is a number above numbers, a date above dates, one of repeated values, or a code of the usual shape.
    """
    if not cells or means_missing(name) or not any(map(str.isalnum, name)):
        return 0

    def kind_of(text: str) -> str:
        return _DATES if looks_like_date(text) else _NUMBERS if looks_like_number(text) else _shape_of(text)

    kind, kinds = kind_of(name), list(map(kind_of, cells))
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


# Find the names of the columns: below titles, over one row or two, with units below them.

# a title and its date: `Cohort 2019 to 2023`, `as of 3 April 2024`
_MOST_IN_TITLE = 2
_MOST_BELOW = 4  # rows of units and explanations between the names and the subjects


@dataclass
class Header:
    """The names of the columns and the notes on them, by the number of a column, from 1."""

    names: dict[int, str]
    last: int = 0  # the number of its last row, with its units and explanations
    rows: Sequence[Row] = ()  # those that the names were read from
    notes: dict[int, ColumnNotes] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)

    def notes_on(self, place: int) -> ColumnNotes:
        """Return the notes on a column; a name such as ``CRP (mg/L)`` ends in a unit."""
        notes = self.notes.get(place, ColumnNotes())
        name, unit = notation.split_unit(notes.label or self.names.get(place, ""))
        return replace(notes, label=name, unit=notes.unit or unit) if unit else notes


def find_header(lines: Sequence[tuple[int, list[str]]], merged: Areas, options: SheetOptions) -> Header:
    """Return the header among the first rows of a sheet; InputError if the one that was asked for cannot be it."""
    header_row, subjects = options.header_row, options.rows
    rows: list[Row] = [(number, texts_in(texts, 1)) for number, texts in lines]
    if header_row == 0:
        filled = set().union(*(texts for number, texts in rows if subjects is None or number in subjects))
        names = {place: f"column {place}" for place in sorted(filled)}
        return Header(names, remarks=[say("no_header", n_columns=len(names), names=names.values())])
    if subjects is not None:
        rows = [row for row in rows if row[0] in subjects or row[0] < subjects.ranges[0][0]]
    numbers = [number for number, _ in rows]
    if header_row is not None and header_row not in numbers:
        raise InputError(say("empty_header_row", row=header_row, rows=numbers))
    at = _below_titles(rows, merged) if header_row is None else numbers.index(header_row)
    (number, upper), joined = rows[at], _join_two_rows(rows, at, merged)
    # Spaces around a name stay only where another name is the same without them.
    names = dict(upper) if len({*upper.values()}) == len(upper) else {at: dict(lines)[number][at - 1] for at in upper}
    header = joined or Header(names, number, rows[at : at + 1])
    below, last = rows[at + len(header.rows) :], header.last
    if titles := dict(rows[:at]):
        cells = [next(iter(texts.values())) for texts in titles.values()]
        more = "" if header_row is not None else ". If that is wrong, give the row of the header: header_row=N"
        header.remarks.append(say("titles_above", row=number, rows=titles, cells=cells, more=more))
    if joined is not None:
        example = joined.names[min(joined.notes, default=min(joined.names))]
        header.remarks.append(say("header_of_two_rows", first=number, last=last, name=example))
    if subjects is not None and last in subjects:
        raise InputError(say("header_among_subjects", rows=subjects.text, row=last))
    if options.of_subjects and joined is None and header_row is None:
        # a row that is the same as the names, on another page, tells nothing
        others = [(0, {}), *((n, row) for n, row in below if any(row.get(at) != name for at, name in upper.items()))]
        signs = {place: _compare(name, _below(others, place)) for place, name in upper.items()}
        like = [name for place, name in upper.items() if signs[place] > 0]
        if like and len(like) > [*signs.values()].count(-1):
            header.doubts.append((say("header_like_subject", row=last, cells=like), ()))
            return header
    for at, (number, texts) in enumerate(below[:_MOST_BELOW]):
        explained = _explain(below[at:], header.names, options.of_subjects)
        if explained is None or (subjects is not None and number >= subjects.ranges[0][0]):
            break
        what, is_certain, by_column = explained
        if not is_certain and subjects is None:
            header.doubts.append((say("row_in_doubt", row=number, what=what, cells=texts.values()), [number]))
            break
        for place, text in by_column.items():
            noted, text = header.notes.get(place, ColumnNotes()), " ".join(text.split())
            header.notes[place] = replace(noted, unit=text) if what == "units" else replace(noted, description=text)
        header.remarks.append(say("row_explains", row=number, what=what, cells=texts.values()))
        header.last = number
    return header


def _below_titles(rows: Sequence[Row], merged: Areas) -> int:
    """Return the place of the first row that is no title above the table; 0 without one, or it is not clear.

    A header below titles names every column that has a value below it, each once, and none by a number. The first
    column, of the names of rows, may lack a name if the others clearly have one.
    """
    width = len(set().union(*(texts for _, texts in rows)))
    # Labels, descriptions and types of columns, as cBioPortal writes them: the rows above the names begin with #.
    remarks = list(takewhile(lambda row: row[1].get(1, "").startswith("#"), rows))
    if 1 < len(remarks) < len(rows) and len(remarks[-1][1]) <= len(remarks[-2][1]):
        return len(remarks)
    for at, (number, names) in enumerate(rows):
        if _join_two_rows(rows, at, merged) is not None:
            return at
        is_title = len(names) <= _MOST_IN_TITLE and 2 * len(names) < width
        if at and not is_title and 1 < len(names) == len({*names.values()}):
            lacking = set().union(*(texts for _, texts in rows[at + 1 :])) - names.keys()
            has_all = not lacking or (max(lacking) < min(names) and _are_names(names, rows[at:]))
            if has_all and not any(map(looks_like_number, names.values())):
                return at
        widest = max((area.size["columns"] for area in merged if area.min_row <= number <= area.max_row), default=0)
        if not is_title and not widest >= width > 1:
            return 0
    return 0


def _join_two_rows(rows: Sequence[Row], at: int, merged: Areas) -> Header | None:
    """Return the header whose upper row, at this place, holds headings of groups of columns; None if it does not.

    The row below must complete the names. Merged cells prove a group; without them, either the first column has its
    name in the upper row alone, or several headings begin right of it. And numbers, not names, must be below one of
    the names.
    """
    if at + 2 >= len(rows) or rows[at + 1][0] != rows[at][0] + 1:
        return None
    (number, upper), (last, lower), below = rows[at], rows[at + 1], rows[at + 2 :]
    places = sorted(upper.keys() | lower)
    first, width = places[0], places[-1]
    is_complete = set().union(*(texts for _, texts in below)) <= {*places} and lower.keys() - upper
    is_title = upper.keys() == {first}  # its cells may be merged over a part of the table
    if not is_complete or is_title or any(map(looks_like_number, lower.values())):
        return None
    # `Blood` merged over `crp` and `hb` gives `Blood - crp` and `Blood - hb`
    flat = [area for area in merged if area.min_row == area.max_row == number and area.min_col in upper]
    spans = {area.min_col: area.max_col for area in flat if area.size["columns"] > 1}
    names, notes, heading, end = dict[int, str](), dict[int, ColumnNotes](), "", 0
    for place in places:
        if place in upper:
            heading, end = upper[place], spans.get(place, place) if spans else width
        names[place] = lower.get(place) or upper[place]
        if place in lower and place <= end:
            notes[place] = ColumnNotes(lower[place], section=heading)
            names[place] = f"{heading} - {lower[place]}"
    if len(set(names.values())) < len(names):
        return None
    is_named_above = first in upper and first not in lower
    begins_beside = first not in upper and 1 < len(upper) <= width / 2 and len(lower) == width - first + 1
    has_numbers = any(share_of_numbers(_below(rows[at + 1 :], place)) >= _HALF for place in lower)
    is_proved = spans or (has_numbers and (is_named_above or begins_beside))
    return Header(names, last, rows[at : at + 2], notes) if is_proved else None


# Rows that hold totals, means or counts of the rows above them, between the subjects or below them.
#
# Frames hold the rows below the header as text; their labels plus 2 are row numbers. `kept` says which of them may be
# subjects.

_WORDS = _TABLES["totals"]
_LONG = "|".join([*_WORDS["figures"].values(), rf"(?:{_WORDS['everybody']}) (?:{_WORDS['people']})"])
_ANY = "|".join([_LONG, *_WORDS["short"].values()])
_BY_FIGURE = {figure: f"{words}|{_WORDS['short'].get(figure, '(?!)')}" for figure, words in _WORDS["figures"].items()}
# `Total (n = 24)`, `Summe Station 3`, `MW` begin so; `Ward A total` ends so
_BEGINS = compile_short(rf"\W*+(?P<word>{_ANY})\b(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_ENDS = compile_short(rf"(?P<rest>.*[\s:(,-])(?P<word>{_LONG})[\s:=.()\[\]]*", re.IGNORECASE | re.DOTALL)
# `N = 24`
_COUNTED = compile_short(r"\W*n\s*[=:]\s*[\d.,']+\W*", re.IGNORECASE)
_PEOPLE = rf"(?:(?:(?:{_WORDS['everybody']}) |of |de |di |der )?(?:{_WORDS['people']}))?"
# what may follow the word of a total: `: 12`, ` (n = 24)`, ` of patients`; not ` Station 3`
_REST = compile_short(rf"[\s:=.()\[\]]*(?:n\s*[=:]\s*)?[\d.,\s'()±%]*{_PEOPLE}\W*", re.IGNORECASE)
# `Ward 3`, `Group B: controls`, `Station Nord`
_GROUP = compile_short(rf"(?:{_TABLES['notes']['group']})\b.{{0,40}}", re.IGNORECASE)
# identifiers such as `P33`, `A-12` or `ABC`, and no name such as `Miller`
_CODE = compile_short(r"\S*\d\S*|\w{1,5}")
_COLUMNS_LOOKED_AT = 3
_MOST_LOOKED_AT = 1000  # more rows than any sheet has wards: what they hold is then a value of subjects
_ROWS_LOOKED_AT, _FEWEST_ROWS, _NEARLY_ALL = 200, 5, 0.95
_MOST_CODES, _SHARE_WITHOUT_NAME = 0.9, 0.05


class Finding(NamedTuple):
    """What some rows below the header are instead of subjects; `places` count these rows from 0."""

    what: str
    places: list[int]
    is_certain: bool = True


class _Claim(NamedTuple):
    """A row that says that it is a total by a word in the column `place`, or, with -1, that lacks a name."""

    at: int
    place: int
    texts: Texts
    figures: tuple[str, ...] = ("sum", "mean")
    is_long: bool = False  # the word is nothing but one of totals, unlike `n` or `min`
    is_total: bool = True  # it says nothing else, or only of what group


def _filled_columns(frame: pd.DataFrame) -> tuple[list[int], list[int]]:
    """Return the places of columns that nearly all of 200 rows fill, and of those of numbers; none of under 5 rows."""
    rows = np.unique(np.linspace(0, max(0, len(frame) - 1), min(len(frame), _ROWS_LOOKED_AT), dtype=np.int64))
    texts = [list(texts_in(frame.iloc[rows, at].tolist()).values()) for at in range(frame.shape[1])]
    fewest = max(_FEWEST_ROWS, _NEARLY_ALL * len(rows))
    always = [at for at, cells in enumerate(texts) if len(cells) >= fewest]
    numeric = [at for at, cells in enumerate(texts) if len(cells) >= _FEWEST_ROWS and share_of_numbers(cells) >= _MOST]
    return always, numeric


def _find_totals(frame: pd.DataFrame, kept: Mask, decimal: DecimalMark | None) -> list[Finding]:
    """Return the rows that are totals of the rows above or since the last one, and those that say so without reason."""
    places, claimed, begin = np.arange(len(frame)), ~kept, 0
    claims = _find_claims(frame, kept)
    if not claims:
        return []

    def write_plainly(text: str) -> str:
        text = text.strip()
        return (notation.number_as_written(text, ",", ".") or text) if decimal != "." and "," in text else text

    columns = sorted(set().union(*(claim.texts for claim in claims)))
    cells = {at: list(map(write_plainly, frame.iloc[:, at])) for at in columns}
    numbers, filled = pd.DataFrame({at: numbers_of(texts) for at, texts in cells.items()}), pd.DataFrame(cells) != ""
    numbers = numbers.where(np.isfinite(numbers))

    @np.errstate(all="ignore")  # sums of numbers of any size may be infinite, and then they are no total's
    def is_total(claim: _Claim, above: Mask) -> bool:
        others = [at for at in claim.texts if at != claim.place]
        plain = [write_plainly(claim.texts[at]).removesuffix("%").strip() for at in others]
        values, rows = numbers_of(plain), numbers.loc[above, others]
        has_several = np.asarray(rows.count() > 1)
        if not others or (claim.place < 0 and not (has_several & ~np.asarray((rows == values).any())).all()):
            return False
        lower, upper = rows.quantile(0.25), rows.quantile(0.75)
        special = {"norm": [], "quartile": [lower, upper], "range": [upper - lower]}
        special["std"] = [rows.std(), rows.std(ddof=0)]
        statistics = [special[name] if name in special else [getattr(rows, name)()] for name in claim.figures]
        figures = [np.where(has_several, row, np.nan) for variants in statistics for row in variants]
        if "count" in claim.figures:
            figures += [np.asarray(filled.loc[above, others].sum()), np.full(len(others), above.sum())]
        # a mean of 49.96 is written 50.0 or 50
        half = 0.5000001 * 10.0 ** -np.array([len(text.partition(".")[2]) for text in plain], dtype=np.float64)
        agrees = abs(np.array(figures).reshape(-1, len(others)) - values) <= half
        n_agreeing, n_numbers = int(agrees.any(axis=0).sum()), int(np.isfinite(values).sum())
        if claim.place < 0:
            return n_agreeing == len(others) > 1
        is_most = n_agreeing == n_numbers or (claim.is_long and 2 * n_agreeing > n_numbers)
        return n_agreeing > 0 and is_most and len(others) - n_numbers < 2  # one word may be the ward

    totals = []
    for claim in claims:
        above = ~claimed & (places < claim.at)  # the initials of a subject may be the word of a total
        if claim.is_total and (is_total(claim, above & (places >= begin)) or is_total(claim, above)):
            claimed[claim.at], begin = True, claim.at + 1
            totals.append(claim.at)
    words, always = [claim.texts.get(claim.place) for claim in claims], _filled_columns(frame[~claimed])[0]
    unsure = []
    for claim, word in zip(claims, words, strict=True):
        is_single, lacks = claim.is_long and words.count(word) == 1, any(at not in claim.texts for at in always)
        if word is not None and not claimed[claim.at] and claim.is_total + is_single + lacks > 1:
            unsure.append(claim.at)
    why = "the word of a total or of a norm, but no sums, means or counts of the rows above"
    return [Finding("totals or means of the rows above", totals), Finding(why, unsure, is_certain=False)]


def _find_claims(frame: pd.DataFrame, kept: Mask) -> list[_Claim]:
    """Return the few rows without a name, and those in whose first columns a text begins or ends like a total."""
    claims = dict[int, _Claim]()
    blank = np.flatnonzero(np.asarray(frame.iloc[:, 0].str.strip() == "", dtype=bool) & kept)
    if blank.size <= min(_MOST_LOOKED_AT, max(2, _SHARE_WITHOUT_NAME * kept.sum())):  # nearly all others have a name
        claims = {at: _Claim(at, -1, texts_in(frame.iloc[at])) for at in blank.tolist()}
    for place in reversed(range(min(_COLUMNS_LOOKED_AT, frame.shape[1]))):
        cells = frame.iloc[:, place].tolist()
        # pandas parses a pattern at each call, which takes longer than a small table
        matches = [_BEGINS.fullmatch(text) or _ENDS.fullmatch(text) for text in cells]
        like = np.flatnonzero(kept & np.array([match is not None for match in matches], dtype=bool))
        if not 0 < like.size <= min(_MOST_LOOKED_AT, kept.sum() / 2):
            continue
        others = list(texts_in(cells[at] for at in np.setdiff1d(np.flatnonzero(kept), like).tolist()).values())
        are_codes = bool(others) and sum(map(bool, map(_CODE.fullmatch, others))) >= _MOST_CODES * len(others)
        for at in like.tolist():
            texts, above = texts_in(frame.iloc[at]), texts_in(frame.iloc[at - 1]) if at else {}
            match = matches[at]
            if match is None or any(above.get(before) != texts[before] for before in texts if before < place):
                continue  # below the name of a subject is a level, such as of a response
            word, rest = match["word"], match["rest"].strip(" \t:=.()[],-")
            is_long = re.fullmatch(_LONG, word, re.I) is not None
            of_group = is_long and (are_codes or bool(_GROUP.fullmatch(rest)) or rest in above.values())
            is_total = of_group or bool(_REST.fullmatch(match["rest"]) or _COUNTED.fullmatch(cells[at]))
            if is_total or place == 0:
                figure = next((name for name, words in _BY_FIGURE.items() if re.fullmatch(words, word, re.I)), "sum")
                figures = (figure,) if figure != "sum" else ("sum", "mean", "count")  # such as "all"
                claims[at] = _Claim(at, place, texts, figures, is_long, is_total)
    return sorted(claims.values())


# Rows below the header that are no subjects: notes, headings, the header again, and second tables.

_MOST_GAPS = 200  # more are a habit of the sheet, such as an empty row below each subject
_LAST_LOOKED_AT, _SHAPES_LOOKED_AT = 80, 2000
# `* p < 0.05`, `Source: registry`, `Erstellt am 3.4.2024`
_NOTE = re.compile(rf"\s*(?:{_TABLES['notes']['begins']})", re.IGNORECASE)
_SENTENCE = 12


def _find_header_again(frame: pd.DataFrame, kept: Mask, headers: Sequence[Sequence[str]]) -> list[Finding]:
    """Return the rows that are the header again, and those of another table that begins with names.

    Below an empty row it may begin another table, unless it repeats, as on pages. So may names in another order.
    """
    rows = [list(map(_folded, row)) for row in headers if sum(map(bool, row)) > 2]
    every = {name for row in rows for name in row if name}
    like = {*every, *(row[0] for row in rows)}  # the column of row names may have none
    again, below, index = list[int](), dict[int, str](), np.asarray(frame.index)
    for at in np.flatnonzero(frame.iloc[:, 0].map(_folded).isin(like).to_numpy(dtype=bool) & kept).tolist():
        row = list(map(_folded, frame.iloc[at]))
        n_shared = sum(text in every for text in row)
        if row in rows:
            again.append(at)
        elif n_shared >= _FEWEST_COLUMNS and 2 * n_shared > sum(map(bool, row)):
            below[at] = "names of columns, in another order or choice than the header"
    if len(again) == 1:
        below |= {at: "the header again, below an empty row" for at in again if at and index[at] > index[at - 1] + 1}
    return [Finding("the header again", again), *(_second_table(frame, *min(below.items())) if below else ())]


def _find_second_table(frame: pd.DataFrame, kept: Mask) -> list[Finding]:
    """Return the rows below an empty row that begin with words in columns of numbers, or lack what all others have."""
    gaps = (np.flatnonzero(np.diff(np.asarray(frame.index)) > 1) + 1).tolist()
    for begin, end in pairwise([*gaps, len(frame)] if len(gaps) <= _MOST_GAPS else []):
        block = begin + np.flatnonzero(kept[begin:end])
        if not block.size:
            continue
        always, numeric = _filled_columns(frame[:begin][kept[:begin]])
        texts = {_folded(text) for at, text in texts_in(frame.iloc[block[0]]).items() if at in numeric}
        if sum(not looks_like_number(text) and not means_missing(text) for text in texts) >= _FEWEST_WORDS:
            return _second_table(frame, block[0], "below an empty row, with words in columns of numbers")
        filled = {at for row in frame.iloc[block].to_numpy() for at in texts_in(row)}
        lacking = [quoted(str(frame.columns[at]).strip()) for at in always if at not in filled]
        if len(lacking) >= _FEWEST_WORDS and filled - {0}:
            why = f"below an empty row, without a value in {listed(lacking)}, which all rows above it have"
            return _second_table(frame, block[0], why)
    return []


def _second_table(frame: pd.DataFrame, begin: int, why: str) -> list[Finding]:
    return [Finding(f"a second table seems to begin here: {why}", list(range(begin, len(frame))), is_certain=False)]


def _folded(text: str) -> str:
    return text.strip().casefold()


def _is_total_alone(text: str) -> bool:
    """Return whether a text is a count such as ``N = 24``, or the long word of a total and nothing else."""
    match = _BEGINS.fullmatch(text) or _ENDS.fullmatch(text)
    is_alone = match is not None and _REST.fullmatch(match["rest"]) and re.fullmatch(_LONG, match["word"], re.I)
    return bool(is_alone or _COUNTED.fullmatch(text))


def _is_note(text: str) -> bool:
    """Return whether the only text of a row reads like a footnote, a legend such as ``1 = m``, a count or a total."""
    is_sentence = len(text) >= _SENTENCE and " " in text and any(map(str.isalpha, text))
    return is_sentence or bool(_NOTE.match(text) or _MEANINGS.fullmatch(text)) or _is_total_alone(text)


def _find_notes(frame: pd.DataFrame, kept: Mask) -> list[Finding]:
    """Return the last rows of one text that reads like a note, and of a legend, with its titles.

    A legend says in one or several cells what codes mean, ``1 = White``, perhaps next to the name of the column. Its
    title is a text of another shape than those of the subjects (``Race``, not ``P33``).
    """
    subjects = np.flatnonzero(kept)
    places = subjects[-_LAST_LOOKED_AT:].tolist()
    above = subjects[: min(_LAST_LOOKED_AT, len(subjects) // 2)].tolist()
    width = frame.shape[1]
    fuller = [row for at in above if len(row := texts_in(frame.iloc[at])) > min(2, width - 1)]
    of_subjects = {column for row in fuller for column, text in row.items() if _is_note(text)}
    shapes = {_shape_of(next(iter(row.values()))) for row in fuller}
    names = {_folded(str(name)) for name in frame.columns}
    end, was_legend = len(places), False
    for at in range(len(places) - 1, 0, -1):
        row = texts_in(frame.iloc[places[at]])
        column, text = next(iter(row.items()))
        meanings = {place for place, text in row.items() if _MEANINGS.fullmatch(text)}
        others = [text for place, text in row.items() if place not in meanings]
        is_legend = bool(meanings) and of_subjects.isdisjoint(meanings)
        is_legend &= all(_folded(text) in names or _shape_of(text) not in shapes for text in others)
        reads = _is_total_alone(text) if width < _FEWEST_COLUMNS else _is_note(text) and column not in of_subjects
        is_title = was_legend and bool(shapes) and _shape_of(text) not in shapes
        if not is_legend and (len(row) > 1 or not (reads or is_title)):
            break
        end, was_legend = at, is_legend
    return [Finding("notes below the table", places[end:])]


def _find_headings(frame: pd.DataFrame, kept: Mask) -> list[Finding]:
    """Return the rows with one text, in the first column, of another shape than those of subjects: ``P33`` is one."""
    alone = np.flatnonzero(kept & np.asarray(frame.iloc[:, 0].str.strip() != "", dtype=bool))
    for column in range(1, frame.shape[1]):
        alone = alone[np.asarray(frame.iloc[alone, column].str.strip() == "", dtype=bool)] if alone.size else alone
    if not alone.size or frame.shape[1] < _FEWEST_COLUMNS:
        return []
    fuller = np.setdiff1d(np.flatnonzero(kept), alone)
    sample = frame.iloc[fuller[:: max(1, len(fuller) // _SHAPES_LOOKED_AT)], 0].tolist()
    shapes = set(map(_shape_of, texts_in(sample).values()))
    texts = dict(zip(alone.tolist(), map(str.strip, frame.iloc[alone, 0]), strict=True))
    odd = [at for at, text in texts.items() if any(map(str.isalpha, text)) and _shape_of(text) not in shapes]
    groups = [at for at in odd if _GROUP.fullmatch(texts[at])]
    rest = [at for at in odd if at not in groups] if shapes else []
    unsure = "one text, unlike those of other rows, and nothing else: a heading, a remark, or a subject"
    certain = "headings between the subjects, whose groups can be kept in a column of their own"
    return [Finding(certain, groups), Finding(unsure, rest, is_certain=False)]


# Make the table of the subjects out of the rows of a sheet: below its header, without rows that are no subjects.


def sheet_table(rows: SheetRows, options: SheetOptions, merged: Areas = (), header: Header | None = None) -> TableRead:
    """Return the table of a sheet, whose `header` may be known already; InputError if it is empty or uncertain."""
    if not rows.first:
        raise InputError("the table is empty")
    header = header or find_header(rows.first, merged, options)
    frame, n_outside, remarks = rows.body(header.last), 0, [*header.remarks]
    if options.rows is not None:
        is_subject = [label + 2 in options.rows for label in frame.index.tolist()]
        frame, n_outside = frame[is_subject], len(frame) - sum(is_subject)
        if not len(frame):
            raise InputError(f"rows={options.rows.text!r}: none of these rows below the header holds anything")
    frame, places = _name_columns(frame, header)
    headers = [[texts.get(place, "") for place in places] for _, texts in header.rows]
    subjects, left_out = _find_subjects(frame, headers, header.doubts, {*rows.misfits}, options)
    width = max(places, default=0)
    if inside := [area.coord for area in merged if area.min_row - 2 in frame.index and area.max_col <= width]:
        remarks.append(say("merged_cells", cells=inside))
    if not subjects.all():
        frame, places = _name_columns(frame[subjects].set_axis(places, axis=1), header)
    commas, of_commas = notation.columns_with_comma(frame, options.decimal)
    notes = [replace(header.notes_on(place), decimal="," if at in commas else None) for at, place in enumerate(places)]
    return TableRead(frame, remarks + left_out + of_commas, notes, places, n_outside=n_outside)


def _name_columns(frame: pd.DataFrame, header: Header) -> tuple[pd.DataFrame, list[int]]:
    """Return the columns that have a name or hold anything, by their names, and their numbers in the file."""
    columns: list[Any] = frame.columns.tolist()
    places = [place for place in columns if place in header.names or not all(map(is_blank, frame[place].tolist()))]
    names = pd.Index([header.names.get(place, "") for place in places], dtype=object)
    return frame[places].set_axis(names, axis=1), places


def _find_subjects(
    frame: pd.DataFrame, headers: list[list[str]], doubts: list[Doubt], misfits: set[int], options: SheetOptions
) -> tuple[Mask, list[str]]:
    """Return which rows below the header are subjects, and remarks on the others.

    InputError lists what is in doubt, with an option that leaves these rows out, and one that keeps all; all cannot be
    subjects if some are `misfits` with other fields than the header. A codebook has headings and words of totals.
    """
    is_subject, numbers = np.ones(len(frame), dtype=bool), np.asarray(frame.index) + 2
    remarks, unsure = list[str](), list[Finding]()
    again, totals = partial(_find_header_again, headers=headers), partial(_find_totals, decimal=options.decimal)
    looks: list[Callable[[pd.DataFrame, Mask], list[Finding]]]  # notes may be above totals
    looks = [again, _find_notes, totals, _find_notes, _find_headings, _find_second_table]
    if options.rows is not None:
        remarks.append(f"{len(frame):,} rows are read as subjects, as rows={options.rows.text!r} says")

    def tell(what: str, places: Sequence[int]) -> str:
        texts = [next(iter(texts_in(frame.iloc[at]).values())) for at in places[:5]]
        return f"{rows_named(numbers[places].tolist())} ({listed(map(quote_cell, texts), len(places))}): {what}"

    for look in looks if options.rows is None and options.of_subjects and frame.shape[1] > 1 else ():
        for finding in look(frame, is_subject):
            if not finding.is_certain:
                unsure.append(finding)
            elif finding.places:
                is_subject[finding.places] = False
                remarks.append(f"{tell(finding.what, finding.places)}, left out")
    every, in_doubt = list(doubts), set[int]()
    for finding in unsure:
        places = [at for at in finding.places if is_subject[at]]
        if not in_doubt.issuperset(places):
            every.append((tell(finding.what, places), numbers[places].tolist()))
        in_doubt.update(places)
    if not every:
        return is_subject, remarks
    lines = [what for what, _ in every]
    doubtful, repair = {n for _, rows in every for n in rows}, ""
    rows, others = numbers[is_subject].tolist(), numbers[~is_subject].tolist()
    if doubtful and rows:
        rest = [row for row in rows if row not in doubtful]
        without = None if misfits.intersection(rest) else ranges_of(rest, doubtful | set(others))
        whole = None if doubtful & misfits else ranges_of(rows, others)
        repair = "\n  say with `rows` which rows are subjects, or delete the other rows from the file"
        if without is not None:
            repair = f"\n  if none of these rows is a subject, say rows={without!r}"
        repair += "" if whole is None else f"; if all of them are subjects, say rows={whole!r}"
    raise InputError("\n  - ".join(["it is not certain which rows are subjects:", *lines]) + repair)
