"""Rows below the header that are no subjects: notes, headings, the header again, and second tables.

Frames hold the rows below the header as text; their labels plus 2 are row numbers. Headers are as wide as the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from clinclust.arrays import Mask
from clinclust.data import data
from clinclust.files.dictionaries.words import means_missing
from clinclust.files.layout.above import shape_of
from clinclust.files.layout.totals import filled_columns, is_total_alone, names_group
from clinclust.files.listed import listed, quoted
from clinclust.files.number_notation import looks_like_number
from clinclust.files.text_table import Finding, is_blank

_FEWEST_COLUMNS = 3  # in a narrower table a subject may look like the header or like a note
_FEWEST_WORDS, _FEWEST_LACKING = 2, 2
_MOST_GAPS = 200  # more are a habit of the sheet, such as an empty row below each subject
_LAST_LOOKED_AT, _SHAPES_LOOKED_AT = 80, 2000
_NOTE = re.compile(rf"\s*(?:{data('tables')['notes']['begins']})", re.IGNORECASE)
_MEANING = re.compile(r"\S{1,12}\s*[=:]\s*\S.*")
_SENTENCE = 12


def names_again(frame: pd.DataFrame, kept: Mask, headers: Sequence[Sequence[str]]) -> list[Finding]:
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
        if any(row == names or _is_header(row, names, numeric) for names in known):
            again.append(at)
        elif n_shared >= _FEWEST_COLUMNS and 2 * n_shared > sum(map(bool, row)):
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
    """Return whether an empty row is above a header, or above its titles of one text."""
    index = np.asarray(frame.index)
    while at > 0 and index[at] == index[at - 1] + 1 and sum(not is_blank(text) for text in frame.iloc[at - 1]) == 1:
        at -= 1
    return at > 0 and bool(index[at] > index[at - 1] + 1)


def _are_blank(texts: Iterable[str]) -> bool:
    return all(map(is_blank, texts))


def is_note(text: str) -> bool:
    """Return whether the only text of a row reads like a footnote, a legend such as ``1 = m``, a count or a total."""
    text = text.strip()
    is_sentence = len(text) >= _SENTENCE and " " in text and any(map(str.isalpha, text))
    return is_sentence or bool(_NOTE.match(text) or _MEANING.fullmatch(text)) or is_total_alone(text)


def notes_below(frame: pd.DataFrame, kept: Mask) -> list[Finding]:
    """Return the last rows of one text that reads like a note; below such a title of a legend, of two texts too."""
    places = np.flatnonzero(kept)[-_LAST_LOOKED_AT:].tolist()
    cells = frame.iloc[places].to_numpy().tolist()
    rows = [{column: text.strip() for column, text in enumerate(row) if not is_blank(text)} for row in cells]
    width = frame.shape[1]
    of_subjects = {column for row in rows if len(row) > 2 for column, text in row.items() if is_note(text)}
    end = len(places)
    for at in range(len(places) - 1, 0, -1):
        column, text = next(iter(rows[at].items()))
        reads = is_total_alone(text) if width < _FEWEST_COLUMNS else is_note(text) and column not in of_subjects
        if len(rows[at]) > 1 + (width > _FEWEST_COLUMNS):
            break
        is_title = frame.index[places[at]] > frame.index[places[at - 1]] + 1
        if len(rows[at]) == 1 and reads and (end == at + 1 or is_title):
            end = at
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
    certain = [at for at in odd if names_group(texts[at])]
    rest = [at for at in odd if at not in certain] if shapes else []
    asked = "one text, unlike those of other rows, and nothing else: a heading, a remark, or a subject"
    known = "headings between the subjects, whose groups can be kept in a column of their own"
    return [Finding(known, certain), Finding(asked, rest, is_certain=False)]
