"""Test a feature against subtypes found without it, in one part of the cohort or combined over several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.comparisons.contrasts import Contrast, ContrastKind, contrast_of

__all__ = ["Association", "Part", "association_of", "fewest_tested"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


class Part(NamedTuple):
    """A part of the subjects, with subtypes found without the tested feature."""

    rows: Labels
    """(n,) the rows of the subjects in the table."""
    labels: Labels
    """(n,) the subtype of each subject, 0 to K - 1."""
    membership: Array
    """(n, K) the probability of each subtype."""


@dataclass(frozen=True)
class Association:
    """The test of one feature; `n_subtypes` and `n` are the columns of `validated_associations`."""

    contrast: Contrast
    n_subtypes: int
    n: int


def association_of(values: Array, parts: list[Part], kind: ContrastKind, min_size: int, floor: int = 1) -> Association:
    """Test a feature against the subtypes of each part; combine the p of several parts by Fisher's method (1932).

    Parameters
    ----------
    values : float64 (N,)
        The scores of the feature; NaN = missing.
    parts : list of Part
        The parts; they have no subject in common.
    kind : str
        The kind of contrast, as in `contrast_of`.
    min_size : int
        Subtypes with fewer subjects take no part.
    floor : int
        Neither do subtypes with a smaller share of the subjects of their part than `floor` is of all N.

    Returns
    -------
    Association
        Its contrast is NaN if no part can be tested.
    """
    found, n = [], 0
    for part in parts:
        sizes = np.bincount(part.labels)
        fewest = fewest_tested(part, values.size, min_size, floor)
        groups = np.where(sizes[part.labels] >= fewest, part.labels, -1)
        contrast = contrast_of(values[part.rows], groups, kind)
        if not np.isnan(contrast.p):
            found.append(contrast)
            n += int((~np.isnan(values[part.rows[groups >= 0]])).sum())
    n_subtypes = max(np.unique(part.labels).size for part in parts)
    if not found:
        return Association(Contrast(), n_subtypes, 0)
    return Association(found[0] if len(parts) == 1 else _combined(found), n_subtypes, n)


def fewest_tested(part: Part, n_subjects: int, min_size: int, floor: int) -> int:
    """Return the fewest subjects of a subtype of this part that is tested; a part has its share of the floor."""
    return max(min_size, -(-floor * part.rows.size // n_subjects))


def _combined(contrasts: list[Contrast]) -> Contrast:
    """Return Fisher's combination: -2 sum ln p is chi-squared with two degrees of freedom per independent test."""
    from scipy.special import chdtrc

    with np.errstate(divide="ignore"):
        statistic = float(-2.0 * np.log([contrast.p for contrast in contrasts]).sum())
    df = 2.0 * len(contrasts)
    names = ", ".join(dict.fromkeys(contrast.test for contrast in contrasts))
    p = float(chdtrc(df, statistic)) if np.isfinite(statistic) else 0.0
    return Contrast(f"Fisher's combination of {names}", statistic, df, np.nan, p)
