"""The numbers of a feature with rounded counts, before any of them is withheld.

What is then withheld is decided from these numbers alone, and not from the exact ones behind them. So two cohorts with
the same rounded numbers have the same numbers withheld, and what is withheld tells nothing of the exact counts.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from clinclust.comparisons.summaries import decimals_of_mean
from clinclust.disclosure.counts import FeatureCounts
from clinclust.disclosure.rounding import printed, rounded
from clinclust.likelihoods import traits_of

__all__ = ["rounded_counts"]

Floats = NDArray[np.float64]


def rounded_counts(counts: FeatureCounts, base: int) -> FeatureCounts:
    """Return the numbers of a feature with every count rounded to a multiple of `base`.

    Shares, and means of counts of events, are those of the rounded counts and totals. The SD of counts of events is
    left out: that of rare events follows from their total, as that of a share does. Other means and SDs are rounded to
    the decimals that reports print.
    """
    # A level without a count would tell that n is exactly 0.
    of_levels = np.where(counts.n == 0, 0.0, counts.count) if counts.is_share else counts.count
    n, missing, count = (rounded(values, base) for values in (counts.n, counts.missing, of_levels))
    if counts.is_share:
        share = _quotient(np.minimum(count, n), n)
        sd = np.sqrt(share * (1.0 - share) * _quotient(n, n - 1.0))
        return replace(counts, n=n, missing=missing, count=count, percent=100.0 * share, mean=share, sd=sd)
    is_scored = traits_of(counts.likelihood).is_scale
    # Not from the SD of all subjects, which is withheld.
    decimals = decimals_of_mean(counts.sd[0, 1:].tolist(), is_scored=is_scored)
    mean, sd = printed(counts.mean, decimals), printed(counts.sd, decimals)
    if counts.has_total:
        mean, sd = _quotient(rounded(np.rint(counts.mean * counts.n), base), n), np.full_like(sd, np.nan)
    return replace(counts, n=n, missing=missing, mean=mean, sd=sd, decimals=decimals)


def _quotient(part: Floats, whole: Floats) -> Floats:
    """Return ``part / whole``, NaN where `whole` is not positive."""
    part, whole = np.broadcast_arrays(part, whole)
    return np.asarray(np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0))
