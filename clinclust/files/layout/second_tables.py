"""Second tables below the first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.files.dictionaries.missing_words import means_missing
from clinclust.files.layout.doubts import Doubt
from clinclust.files.layout.filled_columns import filled_columns
from clinclust.files.layout.sheet_rows import is_blank
from clinclust.files.layout.written_numbers import looks_like_number
from clinclust.files.listed import listed, quoted

__all__ = ["second_tables"]

_FEWEST_COLUMNS = 3  # in a narrower table a subject may look like the header
_FEWEST_WORDS = 2
_FEWEST_LACKING = 2
_MOST_GAPS = 200  # more are a habit of the sheet, such as an empty row below each subject


def second_tables(frame: pd.DataFrame, headers: Sequence[Sequence[str]], mask: NDArray[np.bool_]) -> list[Doubt]:
    """Return a doubt for the first row from which on the rows seem to be another table, with all rows from there on.

    It is a row of names of columns in another order or choice; or, below an empty row, one with words in columns of
    numbers, or rows that lack what all rows above have.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows below the header, as text; the labels plus 2 are row numbers.
    headers : sequence of sequences of str
        The rows of the header, as wide as the table.
    mask : bool ndarray, shape (N,)
        The rows that are known to be no subjects.
    """
    if frame.shape[1] < _FEWEST_COLUMNS:
        return []
    found = [_of_names(frame, headers, mask), _below_a_gap(frame, mask)]
    first = min((each for each in found if each is not None), default=None)
    if first is None:
        return []
    at, why = first
    numbers = (np.asarray(frame.index)[at:] + 2)[~mask[at:]].tolist()
    shown = listed(quoted(text.strip()) for text in frame.iloc[at].tolist() if not is_blank(text))
    return [Doubt(f"a second table seems to begin in row {numbers[0]} ({shown}): {why}", tuple(numbers))]


def _of_names(frame: pd.DataFrame, headers: Sequence[Sequence[str]], mask: NDArray[np.bool_]) -> tuple[int, str] | None:
    """Return the first row most of whose cells are names of columns."""
    names = {text.strip().casefold() for header in headers for text in header if not is_blank(text)}
    first = frame.iloc[:, 0].str.strip().str.casefold()
    for at in np.flatnonzero(first.isin(list(names)).to_numpy(dtype=bool) & ~mask).tolist():
        cells = [text.strip().casefold() for text in frame.iloc[at].tolist() if not is_blank(text)]
        shared = sum(cell in names for cell in cells)
        if shared >= _FEWEST_COLUMNS and 2 * shared > len(cells):
            return at, "it holds names of columns, in another order or choice than the header"
    return None


def _below_a_gap(frame: pd.DataFrame, mask: NDArray[np.bool_]) -> tuple[int, str] | None:
    """Return the first row below an empty row with which another table seems to begin."""
    gaps = (np.flatnonzero(np.diff(np.asarray(frame.index)) > 1) + 1).tolist()
    if not 0 < len(gaps) <= _MOST_GAPS:
        return None
    for begin, end in zip(gaps, [*gaps[1:], len(frame)], strict=True):
        block = [at for at in range(begin, end) if not mask[at]]
        above = frame[np.arange(len(frame)) < begin]
        why = _why_another(above[~mask[:begin]], frame, block) if block else None
        if why is not None:
            return block[0], why
    return None


def _why_another(above: pd.DataFrame, frame: pd.DataFrame, block: Sequence[int]) -> str | None:
    """Return why rows below an empty row seem to be no subjects of the table above it; None if they fit."""
    columns = filled_columns(above)
    first = frame.iloc[block[0]].tolist()
    words = {first[place].strip() for place in columns.numeric if _is_word(first[place])}
    if len(words) >= _FEWEST_WORDS:
        return "it stands below an empty row, with words in columns of numbers"
    cells: list[list[str]] = frame.iloc[list(block)].to_numpy().tolist()
    lacking = [place for place in columns.always if _are_blank(row[place] for row in cells)]
    if len(lacking) >= _FEWEST_LACKING and not _are_blank(text for row in cells for text in row[1:]):
        shown = listed((quoted(str(frame.columns[place]).strip()) for place in lacking), len(lacking))
        return f"it stands below an empty row, without a value in {shown}, which all rows above it have"
    return None


def _is_word(text: str) -> bool:
    return not is_blank(text) and not looks_like_number(text) and not means_missing(text)


def _are_blank(texts: Iterable[str]) -> bool:
    return all(map(is_blank, texts))
