"""Headers that stand again among the subjects: on every page, or above a second table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.files.dictionaries.missing_words import means_missing
from clinclust.files.layout.doubts import Doubt, rows_named
from clinclust.files.layout.filled_columns import filled_columns
from clinclust.files.layout.sheet_rows import is_blank
from clinclust.files.layout.written_numbers import looks_like_number

__all__ = ["RepeatedHeaders", "repeated_headers"]

_FEWEST_COLUMNS = 3  # in a narrower table a subject may look like the header
_FEWEST_WORDS = 2
_COLUMNS_LOOKED_AT = 3
_FEWEST_PAGES = 3
_NUMBERED = re.compile(r"(?P<before>.*?)(?P<number>\d{1,15})\D*", re.DOTALL)

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class RepeatedHeaders:
    """Where rows are the header again (a mask), what to tell of these, and what to ask of the rows below them."""

    mask: Mask
    remarks: list[str] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)


def repeated_headers(frame: pd.DataFrame, headers: Sequence[Sequence[str]]) -> RepeatedHeaders:
    """Return where a row is a row of the header again, in the same words or in others.

    Below an empty row it may begin another table: this is asked, unless the subjects are numbered on from those above
    it, or the header stands again after equally many rows, as on pages.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows below the header, as text; the labels plus 2 are row numbers.
    headers : sequence of sequences of str
        The rows of the header, as wide as the table; none if the file has no header.
    """
    mask = _in_the_same_words(frame, headers)
    if len(headers) and frame.shape[1] >= _FEWEST_COLUMNS:
        mask |= _in_other_words(frame, headers[-1], mask)
    found = RepeatedHeaders(mask)
    if not mask.any():
        return found
    numbers = np.asarray(frame.index) + 2
    found.remarks.append(f"the header is repeated in {rows_named(numbers[mask].tolist())}: left out")
    at = _begins_another_table(frame, mask)
    if at is not None:
        what = (
            f"the header is repeated in row {numbers[at]}, below an empty row: a second table may begin there, or the "
            "same one goes on"
        )
        found.doubts.append(Doubt(what, tuple(numbers[at:][~mask[at:]].tolist())))
    return found


def _in_the_same_words(frame: pd.DataFrame, headers: Sequence[Sequence[str]]) -> Mask:
    """Return where a row is a row of the header in every column of it, whatever its case and spaces."""
    mask = np.zeros(len(frame), dtype=bool)
    for header in headers:
        if sum(not is_blank(text) for text in header) < _FEWEST_COLUMNS:
            continue
        equal = np.ones(len(frame), dtype=bool)
        for place, name in enumerate(header):
            where = np.flatnonzero(equal)
            if not where.size:
                break
            cells = frame.iloc[where, place]
            equal[where] = np.asarray(cells.str.strip().str.casefold() == name.strip().casefold(), dtype=bool)
        mask |= equal
    return mask


def _in_other_words(frame: pd.DataFrame, header: Sequence[str], known: Mask) -> Mask:
    """Return where a row holds words in columns of numbers, most of them shortened or lengthened names of columns."""
    mask = np.zeros(len(frame), dtype=bool)
    columns = filled_columns(frame[~known])
    if len(columns.numeric) < _FEWEST_WORDS:
        return mask
    left = np.flatnonzero(~known)
    for place in columns.numeric[:_COLUMNS_LOOKED_AT]:  # hardly a row is left after the first of them
        left = left[frame.iloc[left, place].str.match(r"\s*[^\W\d_]").to_numpy(dtype=bool)]
    for at in left.tolist():
        mask[at] = _is_header(frame.iloc[at].tolist(), header, columns.numeric)
    return mask


def _is_header(row: Sequence[str], header: Sequence[str], numeric: Sequence[int]) -> bool:
    words = {row[place].strip().casefold() for place in numeric if _is_word(row[place])}
    filled = [place for place, text in enumerate(row) if not is_blank(text)]
    alike = sum(_is_form_of(row[place], header[place]) for place in filled)
    has_number = any(looks_like_number(row[place]) for place in numeric)
    n_named = sum(not is_blank(name) for name in header)  # with fewer names it is the header of another table
    return len(words) >= _FEWEST_WORDS and not has_number and 2 * alike > max(len(filled), n_named)


def _is_word(text: str) -> bool:
    return not is_blank(text) and not looks_like_number(text) and not means_missing(text)


def _is_form_of(text: str, name: str) -> bool:
    """Return whether one text begins with the other, as ``Diab.`` and ``Diabetes`` do."""
    one, other = (each.strip().casefold().rstrip(". ") for each in (text, name))
    return bool(one and other) and (one.startswith(other) or other.startswith(one))


def _begins_another_table(frame: pd.DataFrame, mask: Mask) -> int | None:
    """Return the place of the first repeated header below an empty row with which another table may begin."""
    headers = np.flatnonzero(mask).tolist()
    if _are_pages(headers, len(frame)):
        return None
    for at in headers:
        above, below = np.flatnonzero(~mask[:at]), at + 1 + np.flatnonzero(~mask[at + 1 :])
        if above.size and below.size and _is_below_gap(frame, at) and not _goes_on(frame, above, below):
            return at
    return None


def _are_pages(headers: Sequence[int], n_rows: int) -> bool:
    """Return whether headers stand after equally many rows each, and no more after the last."""
    lengths = np.diff([-1, *headers, n_rows])
    return len(lengths) >= _FEWEST_PAGES and len(set(lengths[:-1].tolist())) == 1 and bool(lengths[-1] <= lengths[0])


def _is_below_gap(frame: pd.DataFrame, at: int) -> bool:
    """Return whether an empty row stands above a header, or above the title of one text that stands above it."""
    index = np.asarray(frame.index)
    while at > 0 and index[at] == index[at - 1] + 1:
        at -= 1
        if sum(not is_blank(text) for text in frame.iloc[at].tolist()) > 1:
            return False
    return at > 0


def _goes_on(frame: pd.DataFrame, above: NDArray[np.int64], below: NDArray[np.int64]) -> bool:
    """Return whether the subjects below a header are numbered on from those above it, by steps as usual there."""
    texts = frame.iloc[:, 0]
    parted = [_NUMBERED.fullmatch(texts.iloc[at].strip()) for at in (*above.tolist(), int(below[0]))]
    known = [(match["before"], int(match["number"])) for match in parted if match]
    if len(known) < max(len(parted), _FEWEST_PAGES) or len({before for before, _ in known}) > 1:
        return False
    steps = np.diff([number for _, number in known])
    return bool(steps.min() > 0 and steps[-1] <= steps[:-1].max())
