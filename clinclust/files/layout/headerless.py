"""Find out whether the row of the names of the columns is a subject: many files have no header."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from clinclust.files.dictionaries.missing_words import means_missing
from clinclust.files.layout.sheet_rows import Row, is_blank
from clinclust.files.layout.written_numbers import looks_like_number, share_of_numbers
from clinclust.files.listed import listed, quoted

__all__ = ["name_without_header", "names_by_numbers", "seems_a_subject", "shape_of"]

_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}(?:[ ,].*)?")
_MOST = 0.5  # the share of the cells of a column that says what kind of cells it has
_MOST_LEVELS = 8
_FEWEST_FROM_NOUGHT, _FEWEST_FROM_ONE = 3, 5  # numbers of columns, which nobody takes for a subject
_FEWEST_BESIDE_WORDS = 2


@dataclass(frozen=True)
class _Likeness:
    """The columns (by number) whose name is like the values below it, and how many names are clearly none of these."""

    like_values: tuple[int, ...]
    n_unlike: int


def name_without_header(place: int) -> str:
    """Return the name of a column of a file without a header; it is also chosen by its number, as ``#3``."""
    return f"column {place}"


def shape_of(text: str) -> str:
    """Return the shape of a text: ``a9`` for ``P01`` and ``P2``, ``9-9`` for ``12-7``."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", " ".join(text.split())))


def seems_a_subject(names: dict[int, str], below: Sequence[Row]) -> str | None:
    """Return what makes the row of the names look like a subject, in words; None if it looks like names.

    It does if more of its cells are like the values below them (a number above numbers, a date above dates, one of the
    values of the column, a code like the others) than are clearly names (a word above numbers, or above a few values
    that repeat, or above codes of one form).
    """
    likeness = _likeness(names, below)
    if len(likeness.like_values) <= likeness.n_unlike or _are_counted(names, likeness):
        return None
    shown = listed((quoted(names[place].strip()) for place in likeness.like_values), len(likeness.like_values))
    return f"{shown} {'is' if len(likeness.like_values) == 1 else 'are'} like the values below"


def names_by_numbers(names: dict[int, str], below: Sequence[Row]) -> str | None:
    """Return the names that are numbers above numbers, as text, if they are taken for names all the same."""
    likeness = _likeness(names, below)
    if len(likeness.like_values) <= likeness.n_unlike or not _are_counted(names, likeness):
        return None
    return listed((names[place].strip() for place in likeness.like_values), len(likeness.like_values))


def _are_counted(names: dict[int, str], likeness: _Likeness) -> bool:
    """Return whether the names that are like values count days, years or columns: whole numbers that rise."""
    texts = [names[place].strip() for place in likeness.like_values]
    if not all(text.isascii() and text.isdecimal() and len(text) < 9 for text in texts):
        return False
    numbers = [int(text) for text in texts]
    if any(right <= left for left, right in pairwise(numbers)):
        return False
    if likeness.n_unlike:
        return len(numbers) >= _FEWEST_BESIDE_WORDS
    fewest = {0: _FEWEST_FROM_NOUGHT, 1: _FEWEST_FROM_ONE}.get(numbers[0])
    return fewest is not None and len(numbers) >= fewest and numbers[-1] - numbers[0] == len(numbers) - 1


def _likeness(names: dict[int, str], below: Sequence[Row]) -> _Likeness:
    repeats = [row for _, row in below if not _is_header_again(names, row)]
    like, unlike = [], 0
    for place, name in names.items():
        cells = [row[place - 1].strip() for row in repeats if place <= len(row) and not is_blank(row[place - 1])]
        sign = _compared(name.strip(), cells)
        if sign > 0:
            like.append(place)
        unlike += sign < 0
    return _Likeness(tuple(like), unlike)


def _is_header_again(names: dict[int, str], row: Sequence[str]) -> bool:
    return all(place <= len(row) and row[place - 1].strip() == name.strip() for place, name in names.items())


def _compared(name: str, cells: Sequence[str]) -> int:
    """Return 1 if a name is like the cells below it, -1 if it is clearly the name of these, 0 if that is not known."""
    if not cells or means_missing(name) or not any(map(str.isalnum, name)):
        return 0
    are_dates = 2 * sum(bool(_DATE.fullmatch(cell)) for cell in cells) > len(cells)
    if _DATE.fullmatch(name):
        return int(are_dates)
    are_numbers = share_of_numbers(cells) > _MOST
    if looks_like_number(name):
        return int(are_numbers and not are_dates)
    if are_numbers or are_dates:
        return -1
    levels = set(cells)
    if name in levels:
        return int(len(levels) < len(cells))
    if len(levels) <= min(_MOST_LEVELS, len(cells) / 2):
        return -1
    shapes = [shape_of(cell) for cell in cells]
    usual = max(set(shapes), key=shapes.count)
    if "9" not in usual or shapes.count(usual) <= _MOST * len(shapes):
        return 0
    return 1 if shape_of(name) == usual else -1
