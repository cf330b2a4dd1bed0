"""The disclosure rule: which counts are sensitive, and how long the interval of a protected count must be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clinclust.disclosure.counts import FeatureCounts
from clinclust.errors import InputError

__all__ = ["Rule"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rule:
    """The disclosure rule: which counts are sensitive, and when they are protected.

    A count of 1 to ``threshold - 1`` is sensitive. So is a count of 0 for a level, if `zero_is_disclosive`. A sensitive
    count is protected if a reader cannot find an interval for it that is shorter than `width`: a sliding protection
    level (Willenborg and de Waal 2001; Fischetti and Salazar-Gonzalez 2000). If the width is `threshold`, the upper end
    of the interval of a small count is not itself small.

    Attributes
    ----------
    threshold : int
        The smallest count that is not sensitive.
    zero_is_disclosive : bool
        Whether a count of 0 for a level is sensitive, because it says something of every subject in the group.
    rounding : int or None
        The base to which counts are rounded. The width is then half the base, which is all that rounding can give.
    """

    threshold: int = 10
    zero_is_disclosive: bool = False
    rounding: int | None = None

    def check(self) -> None:
        """Raise ValueError if `threshold` or `rounding` cannot be used."""
        if self.threshold < 2:
            raise InputError(f"threshold must be at least 2, not {self.threshold!r}: no count lies between 0 and 1")
        if self.rounding is not None and self.rounding < 3:
            raise InputError(f"rounding must be a base of at least 3, not {self.rounding!r}")

    @property
    def width(self) -> int:
        """The least length of the interval of a protected count."""
        return self.threshold if self.rounding is None else self.rounding // 2

    def sensitive(self, table: Floats, is_level: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which counts of `table`, (rows, G), are sensitive; `is_level`, (rows, 1), marks the rows of levels."""
        small: NDArray[np.bool_] = (table >= 1) & (table < self.threshold)
        return small | ((table == 0) & is_level) if self.zero_is_disclosive else small

    def sensitive_of(self, counts: FeatureCounts) -> NDArray[np.bool_]:
        """Return which counts of a feature are sensitive, bool (R + 1, G): its rows, then the observed values."""
        table = np.vstack([counts.table, counts.n])
        is_level = np.zeros((len(table), 1), dtype=bool)
        if counts.is_share:
            is_level[: len(table) - 2] = True
        return self.sensitive(table, is_level)

    def may_be_sensitive(self, low: float, high: float, *, is_level: bool) -> bool:
        """Return whether a count from `low` to `high` can be sensitive."""
        lowest = 0 if self.zero_is_disclosive and is_level else 1
        return low < self.threshold and high >= lowest
