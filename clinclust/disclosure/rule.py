"""The rule: which counts must not be known, and how far apart what they can be has to lie."""

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
    """What is sensitive, and what protects it.

    A count of 1 to ``threshold - 1`` is sensitive; so is 0 for a level, if nobody having it says something of
    everybody. It is protected when a reader cannot narrow it down to an interval shorter than `width`: a sliding
    protection level (Willenborg and de Waal 2001; Fischetti and Salazar-Gonzalez 2000). With a width of `threshold`
    the highest that a small count can be is no longer small.

    Attributes
    ----------
    threshold : int
    zero_is_disclosive : bool
    rounding : int or None
        Rounded counts have only the width that rounding gives: half the base.
    """

    threshold: int = 10
    zero_is_disclosive: bool = False
    rounding: int | None = None

    def check(self) -> None:
        """Raise ValueError if a number cannot be used."""
        if self.threshold < 2:
            raise InputError(
                f"threshold must be at least 2, not {self.threshold!r}: below 1 there is nothing to withhold"
            )
        if self.rounding is not None and self.rounding < 3:
            raise InputError(f"rounding must be a base of at least 3, not {self.rounding!r}")

    @property
    def width(self) -> int:
        """Shortest interval that protects."""
        return self.threshold if self.rounding is None else self.rounding // 2

    def sensitive(self, table: Floats, is_level: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which counts are; `is_level` is (rows, 1)."""
        small: NDArray[np.bool_] = (table >= 1) & (table < self.threshold)
        return small | ((table == 0) & is_level) if self.zero_is_disclosive else small

    def sensitive_of(self, counts: FeatureCounts) -> NDArray[np.bool_]:
        """Which counts of a feature are, (R + 1, G): its rows, then the observed values."""
        table = np.vstack([counts.table, counts.n])
        is_level = np.zeros((len(table), 1), dtype=bool)
        if counts.is_share:
            is_level[: len(table) - 2] = True
        return self.sensitive(table, is_level)

    def may_be_sensitive(self, low: float, high: float, *, is_level: bool) -> bool:
        """Whether a count between these can be sensitive."""
        lowest = 0 if self.zero_is_disclosive and is_level else 1
        return low < self.threshold and high >= lowest
