"""Places in a sheet: the names of columns, the numbers of rows, and areas such as ``A2:B4``."""

from __future__ import annotations

import re

__all__ = ["MOST_COLUMNS", "MOST_ROWS", "column_of", "corners_of_area", "letters_of", "whole"]

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384  # of Excel

_LETTERS = re.compile("[A-Z]{1,3}")
_AREA = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7}):\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_KNOWN: dict[str, int] = {}  # at most 18,278 names


def column_of(letters: str) -> int:
    """Return the number of a column from 1; 0 if the letters name none."""
    number = _KNOWN.get(letters, 0)
    if number or not _LETTERS.fullmatch(letters):
        return number
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    _KNOWN[letters] = number
    return number


def letters_of(column: int) -> str:
    """Return the name of a column from its number, from 1."""
    letters = ""
    while column:
        column, place = divmod(column - 1, 26)
        letters = chr(ord("A") + place) + letters
    return letters


def whole(text: str) -> int:
    """Return the number that the text writes in at most seven digits, otherwise 0."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 7 else 0


def corners_of_area(area: str) -> tuple[int, int, int, int] | None:
    """Return the first row and column and the last row and column of an area; None if the text names none."""
    match = _AREA.fullmatch(area)
    return (int(match[2]), column_of(match[1]), int(match[4]), column_of(match[3])) if match else None
