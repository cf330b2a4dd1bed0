"""Missing values that depend on the subtype, and what can be said of a feature whatever they are.

A test leaves out missing values. If they are missing because of their size, and in one subtype more often than in
others, the values that are left differ between subtypes although the feature does not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.associations.evidence import Part, TestRules, association_of
from clinclust.comparisons.contrasts import Contrast, Contrasted, combined

__all__ = ["UNEVEN_BELOW", "p_of_missingness", "p_whatever_is_missing"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

UNEVEN_BELOW = 0.01
"""An association is marked as doubtful if the p of `p_of_missingness` is below this."""
_QUARTILES = (0.25, 0.5, 0.75)
_LEAST_EXPECTED = 5.0
_GRID = 2001


def p_of_missingness(values: Array, parts: list[Part], rules: TestRules) -> float:
    """Return p of the test whether the share of missing values differs between subtypes; NaN if it cannot be tested."""
    tested = [Contrasted(np.isnan(values).astype(np.float64), "counts")]
    return association_of(tested, parts, rules).contrast.p


def p_whatever_is_missing(values: Array, parts: list[Part], rules: TestRules, *, is_nominal: bool) -> float:
    """Return an upper bound of p over all values that the missing ones can have.

    The feature is cut in two, at each quartile of its observed values or into each level and all others. For each cut,
    the share above it in every subtype lies between two bounds: all missing values below, or all above. The smallest
    Pearson chi-squared within these bounds is smaller than that of the values that are missing in truth. So its p is
    valid however values came to be missing (worst-case bounds: Horowitz and Manski 2000, Journal of the American
    Statistical Association 95). p is multiplied by the number of cuts. Parts are combined as in `association_of`.

    Parameters
    ----------
    values : float64 (N,)
        The scores of the feature; NaN = missing.
    parts : list of Part
    rules : TestRules
        Its persons are not used: rows must be independent.
    is_nominal : bool
        Whether the values are levels without order.

    Returns
    -------
    float
        NaN if the expected counts are too small for chi-squared at every cut.
    """
    found = []
    for part in parts:
        own, groups = values[part.rows], rules.groups(part, values.size)
        p = [_least_p(own, above, groups) for above in _cuts(own, is_nominal=is_nominal)]
        usable = [each for each in p if not np.isnan(each)]
        if usable:
            found.append(Contrast("chi-squared", p=min(1.0, len(usable) * min(usable))))
    return combined(found).p


def _cuts(values: Array, *, is_nominal: bool) -> list[NDArray[np.bool_]]:
    """Return the cuts of the feature, bool (N,) each: whether a value is above; False where it is missing."""
    observed = values[~np.isnan(values)]
    if not observed.size:
        return []
    if is_nominal:
        return [values == level for level in np.unique(observed)]
    at = np.unique(np.quantile(observed, _QUARTILES, method="lower"))
    return [values > cut for cut in at if cut < observed.max()]


def _least_p(values: Array, above: NDArray[np.bool_], groups: Labels) -> float:
    """Return p of the smallest chi-squared of one cut over all values that the missing ones can have."""
    from scipy.special import chdtrc

    taking_part = groups >= 0
    if not taking_part.any():
        return float("nan")
    where = groups[taking_part]
    n = np.bincount(where).astype(np.float64)
    is_group = n > 0
    low = np.bincount(where, above[taking_part])[is_group]
    high = low + np.bincount(where, np.isnan(values[taking_part]))[is_group]
    n = n[is_group]
    # For a common share q, the shares nearest to it within their bounds give the smallest statistic.
    q = np.linspace(0.0, 1.0, _GRID)[1:-1, None]
    nearest = np.clip(q, low / n, high / n)
    statistic = (n * (nearest - q) ** 2 / (q * (1.0 - q))).sum(axis=1)
    best = int(statistic.argmin())
    if n.size < 2 or n.min() * min(q[best, 0], 1.0 - q[best, 0]) < _LEAST_EXPECTED:
        return float("nan")
    return float(chdtrc(n.size - 1.0, statistic[best]))
