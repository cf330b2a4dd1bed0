"""Dirichlet tree over L ordered levels: the conjugate prior of their probabilities (ordinal likelihood).

The levels are split into two halves, each half is split again, and so on, down to single levels. Each split has its own
probability of the lower half, with a beta prior (Dennis 1991, *On the hyper-Dirichlet type 1 and hyper-Liouville
distributions*; Minka 1999, *The Dirichlet-tree distribution*). Neighbouring levels share all splits above the one
between them, so an observation at one level is also evidence for the other.

Parameters: the beta parameter of the lower half at each of the L - 1 boundaries between neighbouring levels, then those
of the upper half. Sufficient statistics of a cluster: the number of subjects at each level.
"""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np

from clinclust.arrays import Array, Whole
from clinclust.priors.conjugate import ConjugatePrior, log_beta


@lru_cache(maxsize=256)
def _splits(n_levels: int) -> tuple[Whole, Whole, Whole, Whole]:
    """Return the first level, the boundary, the level after the last, and the depth of each split, int64 (L - 1,)."""
    splits = []

    def divide(first: int, last: int, depth: int) -> None:
        if last - first > 1:
            middle = (first + last) // 2
            splits.append((middle, first, last, depth))
            divide(first, middle, depth + 1)
            divide(middle, last, depth + 1)

    divide(0, n_levels, 1)
    middle, first, last, depth = np.array(sorted(splits), dtype=np.int64).reshape(-1, 4).T
    return first, middle, last, depth


def depths(n_levels: int) -> Whole:
    """Return the depth of the split at each boundary, int64 (L - 1,): 1 for the split of all levels into halves."""
    return _splits(n_levels)[3]


def halves(weights: Array) -> Array:
    """Return the weight of the levels (..., L) in the lower half of each split, then in the upper, (..., 2 (L - 1))."""
    first, middle, last, _ = _splits(weights.shape[-1])
    below = np.concatenate([np.zeros((*weights.shape[:-1], 1)), np.cumsum(weights, axis=-1)], axis=-1)
    lower, upper = below[..., middle] - below[..., first], below[..., last] - below[..., middle]
    return np.concatenate([lower, upper], axis=-1)


def probabilities(parameters: Array) -> Array:
    """Return the mean probability of each level, (L,), of parameters of shape (2 (L - 1),)."""
    lower, upper = np.split(parameters, 2)
    return _products(lower / (lower + upper), upper / (lower + upper))


def moments(parameters: Array) -> tuple[Array, Array]:
    """Return the means of the probability of each level and of its square, (R, L), of parameters (R, 2 (L - 1))."""
    lower, upper = np.split(parameters, 2, axis=-1)
    both = lower + upper
    squares = (lower * (lower + 1.0), upper * (upper + 1.0))
    return _products(lower / both, upper / both), _products(*(square / (both * (both + 1.0)) for square in squares))


def _products(of_lower: Array, of_upper: Array) -> Array:
    """Return the product of the factors of the splits above each level, (..., L), from those of each half."""
    products = np.ones((*of_lower.shape[:-1], of_lower.shape[-1] + 1))
    for place, (first, middle, last) in enumerate(zip(*_splits(products.shape[-1])[:3], strict=True)):
        products[..., first:middle] *= of_lower[..., [place]]
        products[..., middle:last] *= of_upper[..., [place]]
    return products


class DirichletTree(ConjugatePrior):
    """Dirichlet tree: parameters of shape (..., 2 (L - 1)), statistics of shape (..., L), as in the module."""

    NAMES: ClassVar[tuple[str, ...]] = ("lower", "upper")

    @staticmethod
    def posterior(prior: Array, statistics: Array) -> Array:
        """Return the posterior parameters given the number of subjects at each level."""
        return prior + halves(statistics)

    @staticmethod
    def log_normalizer(parameters: Array) -> Array:
        """Return A = sum over splits of ln B(lower, upper)."""
        lower, upper = np.split(parameters, 2, axis=-1)
        return np.asarray(log_beta(lower, upper).sum(axis=-1), dtype=np.float64)
