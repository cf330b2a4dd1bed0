"""The values that parameters of several methods accept."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.estimators.parameters import RULES, Rule, is_number
from clinclust.methods.encoded import different_rows

__all__ = ["MAX_CLUSTERS", "N_RESTARTS", "PENALTY", "WANTED", "WISHED", "one_of_two", "refuse_too_many"]


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


WANTED = Rule("a whole number of at least 1", _is_whole)
"""A number of clusters that a method needs."""
WISHED = WANTED.or_none()
"""A number of clusters that a method can find by itself."""
N_RESTARTS = RULES["n_restarts"]
MAX_CLUSTERS = WANTED
PENALTY = Rule(
    "a number above 0", lambda value: value is None or (is_number(value) and 0.0 < value < np.inf), " or None"
)


def one_of_two(first: str, value: object, second: str, other: object, what: str) -> list[str]:
    """Return a problem unless just one of two parameters is given; `what` explains the second."""
    return [f"give either {first} or {second} ({what})"] if (value is None) == (other is None) else []


def refuse_too_many(n_clusters: int, values: NDArray[np.float64]) -> None:
    """Refuse a number of clusters that is not below the number of different rows of a matrix (N, C).

    Raises
    ------
    ValueError
        If there are not more different rows than clusters.
    """
    different = different_rows(values)
    if n_clusters > 1 and n_clusters >= different:
        raise InputError(f"n_clusters must be below the number of subjects that differ ({different}), not {n_clusters}")
