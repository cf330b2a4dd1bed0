"""The disclosure rule: which counts, totals and numbers of rows are sensitive, and how long a protected interval is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.disclosure.counts import ALL_SUBJECTS, FeatureCounts
from clinclust.disclosure.rounding import rounding_error
from clinclust.errors import InputError
from clinclust.files.selection.row_choice import RowCounts
from clinclust.likelihoods import traits_of


@dataclass(frozen=True)
class Rule:
    """The disclosure rule: which counts are sensitive, and when they are protected.

    A count of 1 to ``threshold - 1``, and a total of whole numbers, is protected if no interval shorter than `width`
    follows (Willenborg and de Waal 2001; Fischetti and Salazar-Gonzalez 2000). Parameters are those of
    `suppress_small_cells`.
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

    def sensitive_of(self, counts: FeatureCounts) -> NDArray[np.bool_]:
        """Return which counts of a feature are sensitive, or as rounded may be: its rows, the observed values."""
        table = np.vstack([counts.table, counts.n])
        below, above = rounding_error(self.rounding)
        errors = np.ones((len(table), 1))
        if counts.is_yes_no:
            errors[len(counts.levels)] = 2  # the other level is the difference of two rounded counts
        sensitive = self._some_is_sensitive(table - errors * below, table + errors * above, _levels(counts))
        if self.missing_is_harmless:
            sensitive[-2] = False
        return sensitive

    def harmless(self, counts: FeatureCounts, low: Array, high: Array) -> NDArray[np.bool_]:
        """Return for which intervals of the counts of `sensitive_of` no count in them is sensitive, (R + 1, G)."""
        is_known = ~np.isnan(low) & ~np.isnan(high)
        return np.asarray(is_known & ~self._some_is_sensitive(low, high, _levels(counts)))

    def _some_is_sensitive(self, low: Array, high: Array, is_level: NDArray[np.bool_]) -> NDArray[np.bool_]:
        lowest = np.where(is_level & self.zero_is_disclosive, 0, 1)
        return np.asarray((low < self.threshold) & (high >= lowest))

    def may_be_sensitive(self, low: float, high: float, *, is_level: bool, is_missing: bool = False) -> bool:
        """Return whether a count from `low` to `high` can be sensitive, of a level or of missing values or neither."""
        if is_missing and self.missing_is_harmless:
            return False
        return bool(self._some_is_sensitive(np.asarray(low), np.asarray(high), np.asarray(is_level)))


def _levels(counts: FeatureCounts) -> NDArray[np.bool_]:
    """Return which rows of `sensitive_of` are levels, (R + 1, 1)."""
    is_level = np.zeros((len(counts.rows) + 1, 1), dtype=bool)
    if counts.is_share:
        is_level[:-2] = True
    return is_level


def are_small_rows(counts: RowCounts, n_subjects: int, threshold: int) -> bool:
    """Return whether a number of rows left out is small, or gives one by subtraction from the rows of the table."""
    numbers = [counts.not_meeting, counts.unknown, counts.not_meeting - counts.unknown]
    numbers += [counts.further, counts.outside, counts.taken - n_subjects]
    return any(Rule(threshold).may_be_sensitive(number, number, is_level=False) for number in numbers)


_SLACK = 1e-6


def totals(counts: FeatureCounts) -> Array:
    """Return each group's total in steps above the lowest and below the highest score, (2, G); NaN if there is none."""
    if not counts.is_whole:
        return np.full((2, counts.n.size), np.nan)
    origin, step = counts.grid
    low, high = counts.scale
    origin = low if np.isfinite(low) else origin
    return np.array([distance / step * counts.n for distance in (counts.mean[0] - origin, high - counts.mean[0])])


def small_totals(counts: FeatureCounts, rule: Rule) -> NDArray[np.bool_]:
    """Return which groups have, or with rounded counts may have, a total of 1 to ``threshold - 1`` either way, (G,)."""
    size = np.abs(totals(counts))
    if rule.rounding is None:
        return np.asarray(((size > _SLACK) & (size < rule.threshold - _SLACK)).any(axis=0))
    below, above = rounding_error(rule.rounding)
    low, high = size - below, size + above
    if not counts.has_total:
        error = 0.5 * 10.0**-counts.decimals / counts.grid[1]
        of_each = np.divide(size, counts.n, out=np.full(size.shape, np.nan), where=counts.n > 0)
        low, high = (of_each - error) * (counts.n - below), (of_each + error) * (counts.n + above)
    return np.asarray(((low < rule.threshold - _SLACK) & (high > 1.0 - _SLACK)).any(axis=0))


def total_intervals(shown: FeatureCounts) -> tuple[Array, Array]:
    """Return the lowest and the highest possible total above the lowest score, each (G,); infinite without a bound."""
    known = totals(shown)[0]
    # A mean of a count is stored exactly, so that totals are right; others as they are printed.
    decimal = 0.0 if traits_of(shown.likelihood).is_count else 0.5 * 10.0**-shown.decimals / shown.grid[1]
    error = decimal * shown.n + _SLACK
    low, high = np.ceil(known - error), np.floor(known + error)
    unknown = np.isnan(known)
    left_low, left_high = low[0] - high[1:][~unknown[1:]].sum(), high[0] - low[1:][~unknown[1:]].sum()
    is_alone = unknown[1:].sum() == 1
    for group in np.flatnonzero(unknown):
        is_open = group == ALL_SUBJECTS or unknown[ALL_SUBJECTS]
        low[group] = left_low if is_alone and not is_open else 0.0
        high[group] = np.inf if is_open else left_high
    return low, high
