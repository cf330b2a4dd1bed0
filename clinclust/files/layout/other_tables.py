"""The header again among the subjects, and second tables below the first.

Frames hold the rows below the header as text; their labels plus 2 are row numbers. Headers are as wide as the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.files.dictionaries.missing_words import means_missing
from clinclust.files.layout.decimal_marks import looks_like_number, share_of_numbers
from clinclust.files.layout.doubts import Finding
from clinclust.files.layout.sheet_rows import is_blank
from clinclust.files.listed import listed, quoted

__all__ = ["FEWEST_COLUMNS", "filled_columns", "names_again", "second_tables"]

Mask = NDArray[np.bool_]
FEWEST_COLUMNS = 3
"""In a narrower table a subject may look like the header or like a note."""
_FEWEST_WORDS, _FEWEST_LACKING, _FEWEST_ROWS = 2, 2, 5
_MOST_GAPS = 200  # more are a habit of the sheet, such as an empty row below each subject
_ROWS_LOOKED_AT = 200
_NEARLY_ALL, _MOST = 0.95, 0.8


def filled_columns(frame: pd.DataFrame) -> tuple[list[int], list[int]]:
    """Return the places of columns in which nearly all rows have a value, and in which most values are numbers.

    From 200 rows; none if there are fewer than five.
    """
    rows = np.unique(np.linspace(0, max(0, len(frame) - 1), min(len(frame), _ROWS_LOOKED_AT), dtype=np.int64))
    columns = [[cell for cell in frame.iloc[rows, at].tolist() if not is_blank(cell)] for at in range(frame.shape[1])]
    fewest = max(_FEWEST_ROWS, _NEARLY_ALL * len(rows))
    always = [at for at, cells in enumerate(columns) if len(cells) >= fewest]
    numeric = [
        at for at, cells in enumerate(columns) if len(cells) >= _FEWEST_ROWS and share_of_numbers(cells) >= _MOST
    ]
    return always, numeric


def names_again(frame: pd.DataFrame, kept: Mask, headers: Sequence[Sequence[str]]) -> list[Finding]:
    """Return the rows that are the header again, and those of another table that begins with names.

    The header may stand there in other words: most of its texts are names of their columns, shortened or lengthened,
    where other rows hold numbers. Below an empty row it may begin another table, unless it stands again after equally
    many rows, as on pages. So may names of columns in another order or choice.
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
        if any(row == names or _is_header(row, names, numeric) for names in known):
            again.append(at)
        elif n_shared >= FEWEST_COLUMNS and 2 * n_shared > sum(map(bool, row)):
            below[at] = "names of columns, in another order or choice than the header"
    lengths = np.diff([-1, *again, len(frame)])
    if len(again) < 2 or len(set(lengths[:-1].tolist())) > 1 or lengths[-1] > lengths[0]:
        below |= {at: "the header again, below an empty row" for at in again if _is_below_gap(frame, at)}
    found = [Finding("the header again", again)]
    return [*found, _from(min(below), below[min(below)], len(frame))] if below else found


def second_tables(frame: pd.DataFrame, kept: Mask) -> list[Finding]:
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


def _is_header(row: Sequence[str], names: Sequence[str], numeric: Sequence[int]) -> bool:
    alike = sum(map(_is_form, row, names))
    has_number = any(looks_like_number(row[place]) for place in numeric)
    # with fewer names it is the header of another table
    return _has_words(row, numeric) and not has_number and 2 * alike > max(sum(map(bool, row)), sum(map(bool, names)))


def _has_words(row: Sequence[str], numeric: Sequence[int]) -> bool:
    """Return whether a row holds different words in columns of numbers."""
    texts = {_folded(row[place]) for place in numeric if not is_blank(row[place])}
    return sum(not looks_like_number(text) and not means_missing(text) for text in texts) >= _FEWEST_WORDS


def _is_below_gap(frame: pd.DataFrame, at: int) -> bool:
    """Return whether an empty row stands above a header, or above the titles of one text that stand above it."""
    index = np.asarray(frame.index)
    while at > 0 and index[at] == index[at - 1] + 1 and sum(not is_blank(text) for text in frame.iloc[at - 1]) == 1:
        at -= 1
    return at > 0 and bool(index[at] > index[at - 1] + 1)


def _are_blank(texts: Iterable[str]) -> bool:
    return all(map(is_blank, texts))
