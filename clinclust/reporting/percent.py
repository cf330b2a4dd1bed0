"""The percentage of subjects, rounded in one way wherever it is printed."""

from __future__ import annotations

__all__ = ["percent"]


def percent(part: int, whole: int) -> float:
    """Return 100 * part / whole to one decimal, a tie rounded up; 0 of nobody is 0.

    It is reckoned in whole numbers, because programs print the float64 of 27.25% as 27.2 or as 27.3. What is already
    rounded, all print alike.

    Examples
    --------
    >>> from clinclust.reporting.percent import percent
    >>> percent(109, 400)
    27.3
    """
    return (2000 * part + whole) // (2 * whole) / 10 if whole else 0.0
