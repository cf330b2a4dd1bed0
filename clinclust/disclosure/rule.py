"""The disclosure rule: which counts are sensitive, and how long the interval of a protected count must be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clinclust.disclosure.counts import FeatureCounts
from clinclust.disclosure.rounding import rounding_error
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
    missing_is_harmless : bool
        Whether numbers of missing values are not sensitive by themselves.
    min_n : int or None
        The fewest values of which a mean, SD, median or quartile is shown; None: as many as `threshold`.
    """

    threshold: int = 10
    zero_is_disclosive: bool = False
    rounding: int | None = None
    missing_is_harmless: bool = False
    min_n: int | None = None

    def check(self) -> None:
        """Raise ValueError if `threshold`, `rounding` or `min_n` cannot be used."""
        if self.threshold < 2:
            raise InputError(f"threshold must be at least 2, not {self.threshold!r}: no count lies between 0 and 1")
        if self.rounding is not None and self.rounding < 3:
            raise InputError(f"rounding must be a base of at least 3, not {self.rounding!r}")
        if self.min_n is not None and self.min_n < self.threshold:
            raise InputError(
                f"min_n must be at least the threshold, {self.threshold}, not {self.min_n!r}: a mean of fewer "
                "values is withheld in any case"
            )

    @property
    def fewest_values(self) -> int:
        """The fewest values of which a mean, SD, median or quartile is shown."""
        return self.threshold if self.min_n is None else self.min_n

    @property
    def width(self) -> int:
        """The least length of the interval of a protected count."""
        return self.threshold if self.rounding is None else self.rounding // 2

    def sensitive(self, table: Floats, is_level: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which counts of `table`, (rows, G), are sensitive; `is_level`, (rows, 1), marks the rows of levels."""
        return self._some_is_sensitive(table, table, is_level)

    def sensitive_of(self, counts: FeatureCounts) -> NDArray[np.bool_]:
        """Return which counts of a feature are sensitive, bool (R + 1, G): its rows, then the observed values.

        Rounded counts are sensitive if the exact ones may be.
        """
        table = np.vstack([counts.table, counts.n])
        below, above = rounding_error(self.rounding)
        errors = np.ones((len(table), 1))
        if counts.is_yes_no:
            errors[len(counts.levels)] = 2  # the other level is the difference of two rounded counts
        sensitive = self._some_is_sensitive(table - errors * below, table + errors * above, _levels(counts))
        if self.missing_is_harmless:
            sensitive[-2] = False
        return sensitive

    def harmless(self, counts: FeatureCounts, low: Floats, high: Floats) -> NDArray[np.bool_]:
        """Return for which intervals of the counts of `sensitive_of` no count in them is sensitive, bool (R + 1, G)."""
        is_known = ~np.isnan(low) & ~np.isnan(high)
        return np.asarray(is_known & ~self._some_is_sensitive(low, high, _levels(counts)))

    def _some_is_sensitive(self, low: Floats, high: Floats, is_level: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return whether a count from `low` to `high` is sensitive, bool of their shape, (rows, G)."""
        lowest = np.where(is_level & self.zero_is_disclosive, 0, 1)
        return np.asarray((low < self.threshold) & (high >= lowest))

    def may_be_sensitive(self, low: float, high: float, *, is_level: bool, is_missing: bool = False) -> bool:
        """Return whether a count from `low` to `high` can be sensitive, of a level or of missing values or neither."""
        if is_missing and self.missing_is_harmless:
            return False
        lowest = 0 if self.zero_is_disclosive and is_level else 1
        return low < self.threshold and high >= lowest


def _levels(counts: FeatureCounts) -> NDArray[np.bool_]:
    """Return which rows of the counts of a feature are levels, bool (R + 1, 1); the last row is the observed values."""
    is_level = np.zeros((len(counts.rows) + 1, 1), dtype=bool)
    if counts.is_share:
        is_level[:-2] = True
    return is_level
