"""Totals of whole numbers: the events of a group, or the steps that its scores lie above the lowest of a scale.

A mean and the n beside it give the total: 0.014286 of 70 subjects is one fall of one subject. A total below the
threshold belongs to fewer subjects than the threshold, so it is as sensitive as their number. So is the total of the
steps below the highest score.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.disclosure.counts import ALL_SUBJECTS, FeatureCounts
from clinclust.disclosure.rounding import rounding_error
from clinclust.disclosure.rule import Rule
from clinclust.likelihoods import traits_of

__all__ = ["small_totals", "total_intervals", "totals"]

Floats = NDArray[np.float64]

_SLACK = 1e-6


def totals(counts: FeatureCounts) -> Floats:
    """Return the total of each group in steps above the lowest score and below the highest, (2, G).

    NaN if the values are no whole numbers, the mean is withheld, or there is no highest score.
    """
    if not counts.is_whole:
        return np.full((2, counts.n.size), np.nan)
    origin, step = counts.grid
    low, high = counts.scale
    origin = low if np.isfinite(low) else origin
    above, below = counts.mean[0] - origin, high - counts.mean[0]
    return np.array([side / step * counts.n for side in (above, below)])


def small_totals(counts: FeatureCounts, rule: Rule) -> NDArray[np.bool_]:
    """Return which groups have a total of 1 to ``threshold - 1`` in either direction, bool (G,).

    With rounded counts (`rounded_counts`), those that may have one.
    """
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


def total_intervals(shown: FeatureCounts) -> tuple[Floats, Floats]:
    """Return the lowest and the highest possible total above the lowest score, each (G,); infinite without a bound.

    The total of a group whose mean is withheld lies between 0 and what the groups shown leave of that of all subjects;
    if the others are all shown, it is the difference.
    """
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
