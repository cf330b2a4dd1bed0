"""Do columns measure nearly the same? Then they correlate in ranks, in most subjects, and beyond chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.redundancy.determined import needed_evidence

__all__ = ["groups_of_nearly_same"]

Array = NDArray[np.float64]

_NEARLY = 0.8
_FEWEST_SUBJECTS = 50


def groups_of_nearly_same(n: Array, r: Array) -> list[list[int]]:
    """Return groups of columns that correlate by .8 or more on average (average linkage), in the order of the table.

    Parameters
    ----------
    n, r : float64 (C, C)
        Subjects in whom both columns are observed, and their rank correlation, 0 on the diagonal.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    size = np.abs(r)
    # Fisher's z is nearly normal; the tail of a normal distribution beyond z is at most exp(-z^2 / 2).
    z = np.arctanh(np.minimum(size, 0.999999)) * np.sqrt(np.maximum(n - 3.0, 0.0))
    sure = (size >= _NEARLY) & (n >= _FEWEST_SUBJECTS) & (z**2 / 2.0 >= needed_evidence(len(r)))
    members = np.flatnonzero(sure.any(axis=0))
    if not members.size:
        return []
    size = np.where((n >= _FEWEST_SUBJECTS) | sure, size, 0.0)[np.ix_(members, members)]
    distance = 1.0 - size[np.triu_indices(members.size, 1)]
    labels = fcluster(linkage(distance, "average"), 1.0 - _NEARLY + 1e-9, "distance")
    groups = [members[labels == label].tolist() for label in np.unique(labels)]
    return sorted(group for group in groups if len(group) > 1)
