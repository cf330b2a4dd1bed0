"""The names of columns in a sheet."""

from __future__ import annotations

__all__ = ["column_of", "letters_of"]


def column_of(letters: str) -> int:
    """Return the number of a column, from 1, by its letters."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def letters_of(column: int) -> str:
    """Return the name of a column from its number, from 1."""
    letters = ""
    while column:
        column, place = divmod(column - 1, 26)
        letters = chr(ord("A") + place) + letters
    return letters
