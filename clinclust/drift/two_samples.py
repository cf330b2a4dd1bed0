"""Tests of one feature in two samples: whether the batch has the distribution of the cohort.

Under the hypothesis every choice of the subjects of the batch among all is equally probable. Given how often each value
occurs in both together, the numbers of the batch are then multivariate hypergeometric, from which they are drawn: p is
valid however many values are tied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.comparisons.contrasts import Contrast

if TYPE_CHECKING:
    from clinclust.likelihoods.likelihood import Likelihood

Counts = NDArray[np.int64]

_FIRST, _MOST, _CELLS = 2_000, 100_000, 1_000_000
"""Draws with which every feature is tested, the most with which a small p is computed, and their most numbers."""
_ENOUGH = 10  # draws at least as far out as the batch at which p is known well enough
_MOST_VALUES = 100  # most different values with a test by permutation; with more, ties are too few to matter
_MOST_EXACT = 1_000_000
"""Largest product of the sizes of the samples with the exact distribution of Kolmogorov and Smirnov."""


def compared_margins(likelihood: Likelihood, cohort: Array, batch: Array, rng: np.random.Generator) -> Contrast:
    """Return the test of observed values (n,) and (m,) for a likelihood: chi-squared, trend, or Kolmogorov-Smirnov."""
    if not cohort.size or not batch.size:
        return Contrast()
    values, places = np.unique(np.concatenate([cohort, batch]), return_inverse=True)
    in_cohort = np.bincount(places[: cohort.size], minlength=values.size)
    in_batch = np.bincount(places[cohort.size :], minlength=values.size)
    if values.size < 2:
        return Contrast()
    if likelihood.is_share:
        return chi_squared(in_cohort, in_batch, rng)
    if likelihood.is_scale:
        return _trend(values, in_cohort, in_batch, rng)
    if values.size <= _MOST_VALUES:
        return _permuted("Kolmogorov-Smirnov, permuted", _largest_distance, in_cohort, in_batch, rng)
    from scipy.stats import ks_2samp

    found = ks_2samp(cohort, batch, method="exact" if cohort.size * batch.size <= _MOST_EXACT else "asymp")
    return Contrast("Kolmogorov-Smirnov", float(found.statistic), p=float(found.pvalue))


def chi_squared(in_cohort: Counts, in_batch: Counts, rng: np.random.Generator) -> Contrast:
    """Return the chi-squared test of numbers by level, int64 (L,), in cohort and batch, by permutation."""
    held = in_cohort + in_batch > 0
    if held.sum() < 2 or not in_cohort.any() or not in_batch.any():
        return Contrast()
    return _permuted("chi-squared, permuted", _chi_squared, in_cohort[held], in_batch[held], rng)


def _trend(values: Array, in_cohort: Counts, in_batch: Counts, rng: np.random.Generator) -> Contrast:
    """Return the test of Cochran and Armitage."""

    def differences(batch: Counts, totals: Counts) -> Array:
        here = batch.sum(axis=1)
        return np.asarray((batch @ values) / here - ((totals - batch) @ values) / (totals.sum() - here))

    found = _permuted("trend, permuted", lambda *counts: np.abs(differences(*counts)), in_cohort, in_batch, rng)
    signed = differences(in_batch[None, :], in_cohort + in_batch)
    return found._replace(statistic=float(signed[0]))


def _largest_distance(batch: Counts, totals: Counts) -> Array:
    in_batch, in_both = batch.cumsum(axis=1), totals.cumsum()
    n_batch, n_both = int(batch[0].sum()), int(totals.sum())
    distances = np.abs(in_batch / n_batch - (in_both - in_batch) / (n_both - n_batch))
    return np.asarray(distances.max(axis=1))


def _chi_squared(batch: Counts, totals: Counts) -> Array:
    n_batch, n_both = int(batch[0].sum()), int(totals.sum())
    expected = totals * (n_batch / n_both)
    # Both samples depart from their expected numbers by the same; together these terms are one.
    return np.asarray(((batch - expected) ** 2 / expected).sum(axis=1) * (n_both / (n_both - n_batch)))


def _permuted(
    name: str,
    statistic: Callable[[Counts, Counts], Array],
    in_cohort: Counts,
    in_batch: Counts,
    rng: np.random.Generator,
) -> Contrast:
    """Return the test of a statistic of the numbers of the batch, int64 (draws, L), and those of both samples (L,)."""
    totals, n_batch = in_cohort + in_batch, int(in_batch.sum())
    here = float(statistic(in_batch[None, :], totals)[0])
    p = 1.0
    for n in (_FIRST, min(_MOST, _CELLS // totals.size)):
        drawn = rng.multivariate_hypergeometric(totals, n_batch, size=n, method="marginals")
        n_as_far = int((statistic(drawn, totals) >= here - 1e-9 * max(here, 1.0)).sum())
        p = (1 + n_as_far) / (1 + n)
        if n_as_far >= _ENOUGH:
            break
    return Contrast(name, here, p=p)
