"""Rows that hold single texts: notes and legends below the last subject, and headings between the subjects.

Frames hold the rows below the header as text; their labels plus 2 are row numbers. `kept` are those that may
be subjects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.data import data
from clinclust.files.layout.above import shape_of
from clinclust.files.layout.doubts import Doubt, rows_named
from clinclust.files.layout.sheet_rows import is_blank
from clinclust.files.layout.totals import is_total_alone, names_group
from clinclust.files.listed import listed, quoted

__all__ = ["headings", "is_note", "notes_below"]

Mask = NDArray[np.bool_]
_ROWS_LOOKED_AT, _SHAPES_LOOKED_AT = 80, 2000
_FEWEST_COLUMNS = 3  # in a narrower table a subject may look like a note
_NOTE = re.compile(rf"\s*(?:{data('tables')['notes']['begins']})", re.IGNORECASE)
_MEANING = re.compile(r"\s*\S{1,12}\s*[=:]\s*\S.*")
_SENTENCE = 12


def is_note(text: str) -> bool:
    """Return whether the only text of a row reads like a footnote, a count such as ``N = 24``, or a total."""
    text = text.strip()
    is_sentence = len(text) >= _SENTENCE and " " in text and any(map(str.isalpha, text))
    return is_sentence or bool(_NOTE.match(text)) or is_total_alone(text)


def notes_below(frame: pd.DataFrame, kept: Mask) -> tuple[Mask, list[str]]:
    """Return where rows stand below the last subject as notes, and what to say of them.

    These are the last of the rows `kept` that hold one text which reads like a note, and unlike the texts of subjects
    in its column; and a block below an empty row whose rows are all short, if one of them reads like a note.
    """
    mask = np.zeros(len(frame), dtype=bool)
    places = np.flatnonzero(kept)[-_ROWS_LOOKED_AT:].tolist()
    if frame.shape[1] < 2 or not places:
        return mask, []
    is_narrow = frame.shape[1] < _FEWEST_COLUMNS
    cells = frame.iloc[places].to_numpy().tolist()
    rows = [[(at, text.strip()) for at, text in enumerate(row) if not is_blank(text)] for row in cells]

    def reads_like_note(row: list[tuple[int, str]]) -> bool:
        column, text = row[0]
        reads = (len(row) == 1) if is_total_alone(text) else (not is_narrow and is_note(text))
        if not reads or is_narrow:
            return reads
        return not any(at == column and is_note(other) for each in rows if len(each) > 2 for at, other in each)

    end = len(places)
    while end > 0 and len(rows[end - 1]) == 1 and reads_like_note(rows[end - 1]):
        end -= 1
    most = 1 if frame.shape[1] == _FEWEST_COLUMNS else 2
    for at in range(0 if is_narrow else len(places) - 1, 0, -1):
        if len(rows[at]) > most:
            break
        if frame.index[places[at]] > frame.index[places[at - 1]] + 1 and at < end:
            block = rows[at:]
            end = at if any(reads_like_note(row) or _MEANING.fullmatch(row[0][1]) for row in block) else end
    if end == len(places):
        return mask, []
    mask[places[end:]] = True
    one = len(places) - end == 1
    return mask, [
        f"{_rows(frame, places[end:])} {'stands' if one else 'stand'} below the table as "
        f"{'a note, and is' if one else 'notes, and are'} left out "
        f"({listed(quoted(row[0][1]) for row in rows[end:])})"
    ]


def headings(frame: pd.DataFrame, kept: Mask) -> tuple[Mask, list[str], list[Doubt]]:
    """Return where a row is certainly a heading, and what to say of these and to ask of doubtful ones.

    A row that holds one text in the first column is a subject of whom nothing else is known if this text has the shape
    of those of other subjects, as ``P33`` has that of ``P01``.
    """
    mask = np.zeros(len(frame), dtype=bool)
    if frame.shape[1] < _FEWEST_COLUMNS:
        return mask, [], []
    alone = np.flatnonzero(kept & np.asarray(frame.iloc[:, 0].str.strip() != "", dtype=bool))
    for place in range(1, frame.shape[1]):
        alone = alone[np.asarray(frame.iloc[alone, place].str.strip() == "", dtype=bool)] if alone.size else alone
    if not alone.size:
        return mask, [], []
    fuller = np.setdiff1d(np.flatnonzero(kept), alone)
    sample = frame.iloc[fuller[:: max(1, len(fuller) // _SHAPES_LOOKED_AT)], 0].tolist()
    shapes = {shape_of(cell.strip()) for cell in sample if not is_blank(cell)}
    texts = dict(zip(alone.tolist(), frame.iloc[alone, 0].str.strip().tolist(), strict=True))
    odd = {at: text for at, text in texts.items() if any(map(str.isalpha, text)) and shape_of(text) not in shapes}
    certain = {at: text for at, text in odd.items() if names_group(text)}
    rest = {at: text for at, text in odd.items() if at not in certain}
    mask[list(certain)] = True
    remarks, doubts = [], []
    if certain:
        remarks.append(
            f"{_held(frame, certain)} as a heading between the subjects, and {'is' if len(certain) == 1 else 'are'} "
            "left out: if subtypes should know these groups, write them into a column of their own"
        )
    if rest and shapes:
        first, numbers = min(rest), np.asarray(frame.index) + 2
        is_title = first > 0 and numbers[first] > numbers[first - 1] + 1 and kept[first + 1 :].any()
        none = np.flatnonzero(kept & (np.arange(len(frame)) >= first)) if is_title else list(rest)
        more = "; below an empty row, it may be the title of rows that are none" if is_title else ""
        doubts.append(
            Doubt(
                f"{_held(frame, rest)}, unlike those of other rows, and nothing else: a heading, a remark, or a "
                f"subject of whom nothing else is known{more}",
                tuple(int(numbers[at]) for at in none),
            )
        )
    return mask, remarks, doubts


def _held(frame: pd.DataFrame, texts: dict[int, str]) -> str:
    shown = listed(map(quoted, texts.values()), len(texts))
    return f"{_rows(frame, texts)} {'holds one text' if len(texts) == 1 else 'hold one text each'} ({shown})"


def _rows(frame: pd.DataFrame, places: Iterable[int]) -> str:
    return rows_named([int(frame.index[at]) + 2 for at in places])
