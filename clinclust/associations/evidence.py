"""From subtypes that a feature did not form to the test of it: one part of the cohort, or several combined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.comparisons.contrasts import Contrast, ContrastKind, contrast_of

__all__ = ["Association", "Part", "association_of"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


class Part(NamedTuple):
    """Some subjects, and subtypes of them that the tested feature had no part in."""

    rows: Labels
    """(n,) rows of the table."""
    labels: Labels
    """(n,) 0 .. K - 1."""
    membership: Array
    """(n, K) probability of each subtype."""


@dataclass(frozen=True)
class Association:
    """One feature tested: see the columns of `validated_associations` of the same names."""

    contrast: Contrast
    n_subtypes: int
    n: int


def association_of(values: Array, parts: list[Part], kind: ContrastKind, min_size: int) -> Association:
    """Test a feature against the subtypes of each part; of several parts combine p as Fisher (1932) did.

    Parameters
    ----------
    values : float64 (N,)
        Scores of the feature, NaN = missing.
    parts : list of Part
        Without a subject in common.
    kind : str
        As in `contrast_of`.
    min_size : int
        Smaller subtypes take no part.
    """
    found, n = [], 0
    for part in parts:
        sizes = np.bincount(part.labels)
        groups = np.where(sizes[part.labels] >= min_size, part.labels, -1)
        contrast = contrast_of(values[part.rows], groups, kind)
        if not np.isnan(contrast.p):
            found.append(contrast)
            n += int((~np.isnan(values[part.rows[groups >= 0]])).sum())
    n_subtypes = max(np.unique(part.labels).size for part in parts)
    if not found:
        return Association(Contrast(), n_subtypes, 0)
    return Association(found[0] if len(parts) == 1 else _combined(found), n_subtypes, n)


def _combined(contrasts: list[Contrast]) -> Contrast:
    """-2 sum ln p is chi-squared with two degrees of freedom for each independent test."""
    from scipy.special import chdtrc

    with np.errstate(divide="ignore"):
        statistic = float(-2.0 * np.log([contrast.p for contrast in contrasts]).sum())
    df = 2.0 * len(contrasts)
    names = ", ".join(dict.fromkeys(contrast.test for contrast in contrasts))
    p = float(chdtrc(df, statistic)) if np.isfinite(statistic) else 0.0
    return Contrast(f"Fisher's combination of {names}", statistic, df, np.nan, p)
