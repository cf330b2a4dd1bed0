"""The numbers of a column whose cells hold nothing but numbers: exact, and written again as the column writes them."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from clinclust.files.dictionaries.missing_words import says_missing
from clinclust.files.listed import quoted
from clinclust.files.number_notation import Marks, number_as_written, parts_of
from clinclust.files.selection.cells import Cells

__all__ = ["NO_NUMBERS", "PlainNumbers", "plain_numbers"]

NO_NUMBERS = "the cells hold no numbers"
"""Why a column of texts or dates cannot be averaged."""
_MOST_DIGITS = 40
"""A number that needs more, such as 1e99, is computed, not measured."""


class PlainNumbers(NamedTuple):
    """The numbers of a column, whole after they are multiplied by a power of ten."""

    scaled: dict[str, int]
    """By the text of a cell, its number times ``10 ** decimals``. Texts that stand for a missing value have none."""
    decimals: int
    """The most decimals of a cell."""
    marks: Marks

    def written(self, number: int) -> str:
        """Return a number that was multiplied by ``10 ** decimals`` as the column writes numbers."""
        whole, rest = divmod(abs(number), 10**self.decimals)
        grouped = f"{whole:,}".replace(",", self.marks.thousands or "")
        decimals = f"{self.marks.decimal or '.'}{rest:0{self.decimals}d}" if self.decimals else ""
        return f"{'-' if number < 0 else ''}{grouped}{decimals}"

    def plainly(self, number: int) -> str:
        """Return such a number with a decimal point, as programs read it."""
        return self._replace(marks=Marks()).written(number)


def plain_numbers(cells: Cells) -> PlainNumbers | str:
    """Return the numbers of a column, or why it cannot be averaged: a part of a sentence about several such columns.

    All cells with a value must hold a number alone: no unit, no flag, no limit such as ``<5``. Words and signs that say
    that a value is missing (``NA``, ``n.d.``, ``.``) are no values.
    """
    texts = [text for text in cells.counts if not says_missing(text)]
    if not texts:
        return PlainNumbers({}, 0, cells.marks)
    if cells.marks.is_guess and not cells.is_comma_told:
        example = next(text for text in texts if "," in text)
        return f"the comma in {quoted(example)} may be a decimal mark or keep thousands apart: say --decimal , or ."
    read = {text: _number(text, cells.marks) for text in texts}
    strange = [text for text, number in read.items() if number is None]
    if len(strange) == len(texts):
        return NO_NUMBERS
    if strange:
        n = sum(cells.counts[text] for text in strange)
        return (
            f"not all cells hold a number alone ({n:,} {'does' if n == 1 else 'do'} not, first {quoted(strange[0])}): "
            "write numbers alone in the table, and the unit in the header"
        )
    numbers = {text: number for text, number in read.items() if number is not None}
    decimals = max(max(0, -_exponent(number)) for number in numbers.values())
    if max(number.adjusted() for number in numbers.values()) + decimals > _MOST_DIGITS:
        return f"the numbers have more than {_MOST_DIGITS} digits"
    return PlainNumbers({text: _times(number, decimals) for text, number in numbers.items()}, decimals, cells.marks)


def _number(text: str, marks: Marks) -> Decimal | None:
    parts = parts_of(text)
    if parts is None or parts.limit or parts.unit:
        return None
    written = number_as_written(parts.number, marks.decimal, marks.thousands)
    try:
        number = None if written is None else Decimal(written)
    except InvalidOperation:
        return None
    return number if number is not None and number.is_finite() else None


def _exponent(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)  # of a finite number
    return exponent


def _times(number: Decimal, decimals: int) -> int:
    """Return the number times ``10 ** decimals``, exactly, whatever the precision of decimal arithmetic is set to."""
    sign, digits, _ = number.as_tuple()
    whole = int("".join(map(str, digits)) + "0" * (_exponent(number) + decimals))
    return -whole if sign else whole
