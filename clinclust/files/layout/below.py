"""Rows that hold single texts: notes below the last subject, and headings between the subjects."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.data import data
from clinclust.files.layout.above import shape_of
from clinclust.files.layout.doubts import Finding
from clinclust.files.layout.other_tables import FEWEST_COLUMNS
from clinclust.files.layout.sheet_rows import is_blank
from clinclust.files.layout.totals import is_total_alone, names_group

__all__ = ["headings", "is_note", "notes_below"]

Mask = NDArray[np.bool_]
_ROWS_LOOKED_AT, _SHAPES_LOOKED_AT = 80, 2000
_NOTE = re.compile(rf"\s*(?:{data('tables')['notes']['begins']})", re.IGNORECASE)
_MEANING = re.compile(r"\S{1,12}\s*[=:]\s*\S.*")
_SENTENCE = 12


def is_note(text: str) -> bool:
    """Return whether the only text of a row reads like a footnote, a legend such as ``1 = m``, a count or a total."""
    text = text.strip()
    is_sentence = len(text) >= _SENTENCE and " " in text and any(map(str.isalpha, text))
    return is_sentence or bool(_NOTE.match(text) or _MEANING.fullmatch(text)) or is_total_alone(text)


def notes_below(frame: pd.DataFrame, kept: Mask) -> list[Finding]:
    """Return the last rows that hold one text which reads like a note, unlike the texts of subjects in its column.

    Below such a text that stands below an empty row, as the title of a legend, rows of two texts are notes too.
    """
    places = np.flatnonzero(kept)[-_ROWS_LOOKED_AT:].tolist()
    cells = frame.iloc[places].to_numpy().tolist()
    rows = [{column: text.strip() for column, text in enumerate(row) if not is_blank(text)} for row in cells]
    width = frame.shape[1]
    of_subjects = {column for row in rows if len(row) > 2 for column, text in row.items() if is_note(text)}
    end = len(places)
    for at in range(len(places) - 1, 0, -1):
        column, text = next(iter(rows[at].items()))
        reads = is_total_alone(text) if width < FEWEST_COLUMNS else is_note(text) and column not in of_subjects
        if len(rows[at]) > 1 + (width > FEWEST_COLUMNS):
            break
        is_title = frame.index[places[at]] > frame.index[places[at - 1]] + 1
        if len(rows[at]) == 1 and reads and (end == at + 1 or is_title):
            end = at
    return [Finding("notes below the table", places[end:])]


def headings(frame: pd.DataFrame, kept: Mask) -> list[Finding]:
    """Return the rows that hold one text in the first column, of another shape than those of other subjects.

    ``P33`` beside ``P01`` is a subject of whom nothing else is known. The name of a ward is certainly a heading.
    """
    alone = np.flatnonzero(kept & np.asarray(frame.iloc[:, 0].str.strip() != "", dtype=bool))
    for column in range(1, frame.shape[1]):
        alone = alone[np.asarray(frame.iloc[alone, column].str.strip() == "", dtype=bool)] if alone.size else alone
    if not alone.size or frame.shape[1] < FEWEST_COLUMNS:
        return []
    fuller = np.setdiff1d(np.flatnonzero(kept), alone)
    sample = frame.iloc[fuller[:: max(1, len(fuller) // _SHAPES_LOOKED_AT)], 0].tolist()
    shapes = {shape_of(cell) for cell in sample if not is_blank(cell)}
    texts = dict(zip(alone.tolist(), frame.iloc[alone, 0].tolist(), strict=True))
    odd = [at for at, text in texts.items() if any(map(str.isalpha, text)) and shape_of(text) not in shapes]
    certain = [at for at in odd if names_group(texts[at])]
    rest = [at for at in odd if at not in certain] if shapes else []
    asked = "one text, unlike those of other rows, and nothing else: a heading, a remark, or a subject"
    if rest and rest[0] and frame.index[rest[0]] > frame.index[rest[0] - 1] + 1 and kept[rest[0] + 1 :].any():
        asked += "; below an empty row, it may be the title of rows that are none"
        rest = list(range(rest[0], len(frame)))
    told = "headings between the subjects, whose groups can be kept in a column of their own"
    return [Finding(told, certain), Finding(asked, rest, is_certain=False)]
