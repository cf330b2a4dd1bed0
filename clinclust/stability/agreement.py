"""How far the subtypes of a refit agree with the reported ones, subtype by subtype and subject by subject."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["clusterwise_jaccard", "co_membership", "contingency"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


def contingency(reported: Labels, refitted: Labels, n_subtypes: int) -> Array:
    """Return the number of subjects in each reported subtype and each refitted one, float64 (K, K').

    Parameters
    ----------
    reported, refitted : int64 (n,)
        Subtypes of the same subjects.
    n_subtypes : int
        K; a reported subtype may have none of these subjects.
    """
    counts = np.zeros((n_subtypes, int(refitted.max()) + 1))
    np.add.at(counts, (reported, refitted), 1.0)
    return counts


def clusterwise_jaccard(counts: Array) -> Array:
    """Return the largest Jaccard similarity of each reported subtype with a refitted one, float64 (K,).

    It is the number of subjects in both by that in either; NaN for a subtype without subjects.
    """
    either = counts.sum(axis=1, keepdims=True) + counts.sum(axis=0, keepdims=True) - counts
    with np.errstate(invalid="ignore"):
        largest = np.max(counts / either, axis=1)
    return np.where(counts.sum(axis=1) > 0.0, largest, np.nan)


def co_membership(reported: Labels, refitted: Labels, counts: Array) -> tuple[Array, Array]:
    """Return with which share of the others of its subtype, and of all other subjects, each subject came together.

    Parameters
    ----------
    reported, refitted : int64 (n,)
    counts : float64 (K, K')
        Their `contingency`.

    Returns
    -------
    own, others : float64 (n,)
        NaN where there are no such subjects.
    """
    together_own = counts[reported, refitted] - 1.0
    in_own = counts.sum(axis=1)[reported] - 1.0
    together = counts.sum(axis=0)[refitted] - counts[reported, refitted]
    outside = counts.sum() - counts.sum(axis=1)[reported]
    with np.errstate(invalid="ignore", divide="ignore"):
        return together_own / in_own, together / outside
