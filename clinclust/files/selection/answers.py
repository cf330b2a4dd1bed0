"""Three-valued answers: of each row, a condition is met, is not met, or it is not known which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clinclust.files.selection.cells import Ranges

__all__ = ["Answer", "all_of", "any_of", "compared", "point"]

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Answer:
    """Of which rows a condition is met, and of which it is not; of all others it is not known.

    Attributes
    ----------
    is_met, is_not_met : bool (N,)
    """

    is_met: Mask
    is_not_met: Mask

    @classmethod
    def of(cls, is_met: Mask) -> Answer:
        """Return the answer that is known of every row."""
        return cls(is_met, ~is_met)

    def opposite(self) -> Answer:
        """Return the answer to the opposite condition; what is not known stays so."""
        return Answer(self.is_not_met, self.is_met)

    def where(self, is_known: Mask) -> Answer:
        """Return the answer with all other rows not known."""
        return Answer(self.is_met & is_known, self.is_not_met & is_known)


def all_of(answers: Sequence[Answer]) -> Answer:
    """Return whether all conditions are met: not, as soon as one is not, whatever is known of the others."""
    return Answer(
        np.logical_and.reduce([answer.is_met for answer in answers]),
        np.logical_or.reduce([answer.is_not_met for answer in answers]),
    )


def any_of(answers: Sequence[Answer]) -> Answer:
    """Return whether one of the conditions is met, whatever is known of the others."""
    return all_of([answer.opposite() for answer in answers]).opposite()


def point(number: float) -> Ranges:
    """Return the range of one number."""
    return Ranges(np.array([number]), np.array([number]), np.array([False]))


def compared(one: Ranges, sign: str, other: Ranges) -> Answer:
    """Return the answer to a comparison of numbers that are known, or known to lie in a range.

    It is known where it is the same for all numbers of both ranges. Nothing is known where a range is NaN.
    """
    with np.errstate(invalid="ignore"):
        if sign == "==":
            above, below = _is_above(one, other), _is_above(other, one)
            is_same = (one.low == one.high) & (other.low == other.high) & (one.low == other.low)
            return Answer(is_same, above | below)
        if sign in ("<", ">="):
            answer = Answer(_is_above(other, one), other.high <= one.low)
            return answer if sign == "<" else answer.opposite()
        answer = Answer(_is_above(one, other), one.high <= other.low)
        return answer if sign == ">" else answer.opposite()


def _is_above(one: Ranges, other: Ranges) -> Mask:
    """Return where all numbers of one range are larger than all of the other."""
    touches = (one.low == other.high) & (one.is_open | other.is_open)
    return np.asarray((one.low > other.high) | touches, dtype=bool)
