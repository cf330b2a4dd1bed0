"""The header again among the subjects, and second tables below the first.

Frames hold the rows below the header as text; their labels plus 2 are row numbers. Headers are as wide as the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.files.dictionaries.missing_words import means_missing
from clinclust.files.layout.decimal_marks import looks_like_number, share_of_numbers
from clinclust.files.layout.doubts import Doubt, rows_named
from clinclust.files.layout.sheet_rows import is_blank
from clinclust.files.listed import listed, quoted

__all__ = ["FilledColumns", "filled_columns", "repeated_headers", "second_tables"]

Mask = NDArray[np.bool_]
_FEWEST_COLUMNS = 3  # in a narrower table a subject may look like the header
_NUMBERED = re.compile(r"(?P<before>.*?)(?P<number>\d{1,15})\D*", re.DOTALL)
_FEWEST_NUMBERED = 3
_FEWEST_WORDS, _FEWEST_LACKING, _FEWEST_ROWS = 2, 2, 5
_MOST_GAPS = 200  # more are a habit of the sheet, such as an empty row below each subject
_ROWS_LOOKED_AT = 200
_NEARLY_ALL, _MOST = 0.95, 0.8


@dataclass(frozen=True)
class FilledColumns:
    """Columns, by their places from 0: in which nearly all rows have a value, and in which most values are numbers."""

    always: tuple[int, ...] = ()
    numeric: tuple[int, ...] = ()


def filled_columns(frame: pd.DataFrame) -> FilledColumns:
    """Return what the rows of a table have in common, from 200 of them; nothing if there are fewer than five."""
    if len(frame) < _FEWEST_ROWS:
        return FilledColumns()
    rows = np.unique(np.linspace(0, len(frame) - 1, min(len(frame), _ROWS_LOOKED_AT), dtype=np.int64))
    sample = frame.iloc[rows]
    always, numeric = [], []
    for place in range(frame.shape[1]):
        filled = [cell for cell in sample.iloc[:, place].tolist() if not is_blank(cell)]
        if len(filled) >= _NEARLY_ALL * len(rows):
            always.append(place)
        if len(filled) >= _FEWEST_ROWS and share_of_numbers(filled) >= _MOST:
            numeric.append(place)
    return FilledColumns(tuple(always), tuple(numeric))


def repeated_headers(frame: pd.DataFrame, headers: Sequence[Sequence[str]]) -> tuple[Mask, list[str], list[Doubt]]:
    """Return where a row is a row of the header again, what to tell of these, and what to ask of the rows below them.

    It may be so in other words: most of its texts are names of their columns, shortened or lengthened, and stand where
    other rows hold numbers. Below an empty row it may begin another table: this is asked, unless the subjects are
    numbered on from those above it, or the header stands again after equally many rows, as on pages.
    """
    mask = np.zeros(len(frame), dtype=bool)
    known = [[_folded(text) for text in row] for row in headers if sum(not is_blank(text) for text in row) > 2]
    if not known or frame.shape[1] < _FEWEST_COLUMNS:
        return mask, [], []
    numeric = filled_columns(frame).numeric
    first = frame.iloc[:, 0].map(_folded)
    like = [text for text in first.unique().tolist() if any(text == row[0] or _is_form(text, row[0]) for row in known)]
    for at in np.flatnonzero(first.isin(like).to_numpy(dtype=bool)).tolist():
        row = frame.iloc[at].tolist()
        mask[at] = any(list(map(_folded, row)) == names or _is_header(row, names, numeric) for names in known)
    if not mask.any():
        return mask, [], []
    numbers = np.asarray(frame.index) + 2
    told = [f"the header is repeated in {rows_named(numbers[mask].tolist())}: left out"]
    places = np.flatnonzero(mask).tolist()
    below_gap = [at for at in places if _is_below_gap(frame, at) and not _goes_on(frame.iloc[:, 0], mask, at)]
    lengths = np.diff([-1, *places, len(frame)])
    are_pages = len(places) > 1 and len(set(lengths[:-1].tolist())) == 1 and lengths[-1] <= lengths[0]
    if not below_gap or are_pages:
        return mask, told, []
    at = below_gap[0]
    what = (
        f"the header is repeated in row {numbers[at]}, below an empty row: a second table may begin there, or the same "
        "one goes on"
    )
    return mask, told, [Doubt(what, tuple(numbers[at:][~mask[at:]].tolist()))]


def _goes_on(names: pd.Series, mask: Mask, at: int) -> bool:
    """Return whether no subject stands above or below a header, or they are numbered on, by steps as usual above it."""
    above, below = names[:at][~mask[:at]].tolist(), names[at + 1 :][~mask[at + 1 :]].tolist()
    if not above or not below:
        return True
    parted = [_NUMBERED.fullmatch(text.strip()) for text in (*above, below[0])]
    known = [(match["before"], int(match["number"])) for match in parted if match]
    if len(known) < max(len(parted), _FEWEST_NUMBERED) or len({before for before, _ in known}) > 1:
        return False
    steps = np.diff([number for _, number in known])
    return bool(steps.min() > 0 and steps[-1] <= steps[:-1].max())


def _folded(text: str) -> str:
    return text.strip().casefold()


def _is_form(text: str, name: str) -> bool:
    """Return whether one text begins with the other, as ``Diab.`` and ``Diabetes`` do."""
    one, other = text.rstrip(". "), name.rstrip(". ")
    return bool(one and other) and (one.startswith(other) or other.startswith(one))


def _is_header(row: Sequence[str], names: Sequence[str], numeric: Sequence[int]) -> bool:
    filled = [place for place, text in enumerate(row) if not is_blank(text)]
    alike = sum(_is_form(_folded(row[place]), names[place]) for place in filled)
    has_number = any(looks_like_number(row[place]) for place in numeric)
    n_named = sum(map(bool, names))  # with fewer names it is the header of another table
    return _has_words(row, numeric) and not has_number and 2 * alike > max(len(filled), n_named)


def _has_words(row: Sequence[str], numeric: Sequence[int]) -> bool:
    """Return whether a row holds different words in columns of numbers."""
    texts = {_folded(row[place]) for place in numeric if not is_blank(row[place])}
    return sum(not looks_like_number(text) and not means_missing(text) for text in texts) >= _FEWEST_WORDS


def _is_below_gap(frame: pd.DataFrame, at: int) -> bool:
    """Return whether an empty row stands above a header, or above the title of one text that stands above it."""
    index = np.asarray(frame.index)
    while at > 0 and index[at] == index[at - 1] + 1:
        at -= 1
        if sum(not is_blank(text) for text in frame.iloc[at].tolist()) > 1:
            return False
    return at > 0


def second_tables(frame: pd.DataFrame, headers: Sequence[Sequence[str]], kept: Mask) -> list[Doubt]:
    """Return a doubt for the first row from which on the rows seem to be another table, with all rows from there on.

    It is a row of names of columns in another order or choice; or, below an empty row, one with words in columns of
    numbers, or rows that lack what all rows above have.
    """
    if frame.shape[1] < _FEWEST_COLUMNS:
        return []
    found = [each for each in (_of_names(frame, headers, kept), _below_a_gap(frame, kept)) if each is not None]
    if not found:
        return []
    at, why = min(found)
    numbers = (np.asarray(frame.index)[at:] + 2)[kept[at:]].tolist()
    shown = listed(quoted(text.strip()) for text in frame.iloc[at].tolist() if not is_blank(text))
    return [Doubt(f"a second table seems to begin in row {numbers[0]} ({shown}): {why}", tuple(numbers))]


def _of_names(frame: pd.DataFrame, headers: Sequence[Sequence[str]], kept: Mask) -> tuple[int, str] | None:
    """Return the first row most of whose cells are names of columns."""
    names = {_folded(text) for header in headers for text in header if not is_blank(text)}
    first = frame.iloc[:, 0].str.strip().str.casefold()
    for at in np.flatnonzero(first.isin(list(names)).to_numpy(dtype=bool) & kept).tolist():
        cells = [_folded(text) for text in frame.iloc[at].tolist() if not is_blank(text)]
        shared = sum(cell in names for cell in cells)
        if shared >= _FEWEST_COLUMNS and 2 * shared > len(cells):
            return at, "it holds names of columns, in another order or choice than the header"
    return None


def _below_a_gap(frame: pd.DataFrame, kept: Mask) -> tuple[int, str] | None:
    """Return the first row below an empty row with which another table seems to begin."""
    gaps = (np.flatnonzero(np.diff(np.asarray(frame.index)) > 1) + 1).tolist()
    if len(gaps) > _MOST_GAPS:
        return None
    for begin, end in pairwise([*gaps, len(frame)]):
        block = begin + np.flatnonzero(kept[begin:end])
        if not block.size:
            continue
        columns = filled_columns(frame[:begin][kept[:begin]])
        if _has_words(frame.iloc[block[0]].tolist(), columns.numeric):
            return int(block[0]), "it stands below an empty row, with words in columns of numbers"
        cells: list[list[str]] = frame.iloc[block].to_numpy().tolist()
        lacking = [place for place in columns.always if _are_blank(row[place] for row in cells)]
        if len(lacking) >= _FEWEST_LACKING and not _are_blank(text for row in cells for text in row[1:]):
            shown = listed((quoted(str(frame.columns[place]).strip()) for place in lacking), len(lacking))
            why = f"it stands below an empty row, without a value in {shown}, which all rows above it have"
            return int(block[0]), why
    return None


def _are_blank(texts: Iterable[str]) -> bool:
    return all(map(is_blank, texts))
