"""Find what separates the cells of a text table."""

from __future__ import annotations

import csv
import io
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from clinclust.errors import InputError

__all__ = ["delimiter_of"]

_LINES_TRIED = 50
_MARKS = (",", ";", "\t", "|")
_CALLED = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_MOST = 0.5  # the share of rows that a delimiter must split alike, if it does not split all of them


@dataclass(frozen=True)
class _Split:
    """How a delimiter splits the first rows: whether all alike, how many of them alike, and into how many fields."""

    all_alike: bool
    share: float
    fields: int
    header: int


def delimiter_of(text: str, usual: str, suffix: str) -> tuple[str, list[str]]:
    """Return the delimiter that splits all rows alike or, if none does, most rows; and a remark if it is unusual.

    Among several, the one that splits the header into most names is taken; in a tie the usual one of the kind of file.

    Parameters
    ----------
    text : str
    usual : {",", "tab"}
        The delimiter that the suffix of the file stands for.
    suffix : str

    Raises
    ------
    InputError
        If the comma and the semicolon split all rows alike, into equally many cells.
    """
    splits = {mark: _split(text, mark) for mark in (usual, *(mark for mark in _MARKS if mark != usual))}
    alike = {mark: split.header for mark, split in splits.items() if split.all_alike}
    if alike:
        best = max(alike, key=lambda mark: alike[mark])
        if alike.get(",") == alike.get(";") == alike[best]:
            raise InputError(
                "the comma and the semicolon both split all rows alike: begin the file with a line that says which of "
                "them separates the cells, sep=, or sep=;"
            )
    else:
        best = _best_of_unlike(splits, usual)
    is_unusual = best == "|" or (suffix in (".tsv", ".tab") and best != "\t")
    told = f"the cells are separated by {_CALLED[best]}, unusual for {suffix or 'such a file'}: read so"
    return best, [told] if is_unusual else []


def _best_of_unlike(splits: dict[str, _Split], usual: str) -> str:
    """Return the delimiter that splits most rows alike: titles and footnotes stand around many tables."""
    often = {mark: split for mark, split in splits.items() if split.fields > 1 and split.share > _MOST}
    if often:
        return max(often, key=lambda mark: (often[mark].share, often[mark].fields))
    named = {mark: split.header for mark, split in splits.items() if split.header > 1}
    return max(named, key=lambda mark: named[mark]) if named else usual


def _split(text: str, delimiter: str) -> _Split:
    rows = filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    numbers: list[int] = []
    with suppress(csv.Error):
        numbers.extend(map(len, islice(rows, _LINES_TRIED)))
    if not numbers:
        return _Split(False, 0.0, 0, 0)
    fields, count = Counter(numbers).most_common(1)[0]
    return _Split(len(set(numbers)) == 1 and fields > 1, count / len(numbers), fields, numbers[0])
