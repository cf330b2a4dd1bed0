"""A quick division of the subjects, good enough to tell dependence within subtypes from dependence through them.

Two columns that differ between subtypes correlate in the whole table. Columns that measure one thing twice correlate
within each subtype too. The division is a mixture of normal distributions that share one covariance matrix, in the
space of the leading principal components: dependence that all groups share is left to the covariance, and does not
divide a continuum into slices. The Bayesian information criterion chooses the number of groups; of several numbers of
components, the one in which groups gain most over one group is taken.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["memberships"]

Array = NDArray[np.float64]

_COMPONENTS = (2, 4, 10)
_FEWEST_PER_COMPONENT = 15  # subjects
_MOST_GROUPS = 8
_STARTS = 4
_CANDIDATES = 6  # of which the one that comes near most points starts a group
_STEPS = 60
_CONVERGED = 1e-3
_SUBJECTS = 1500
_SEED = 0


def memberships(table: Array) -> Array:
    """Return the probability of each group for each subject, float64 (N, G).

    Parameters
    ----------
    table : float64 (N, C)
        Standardised columns, without missing values (0 in their place).
    """
    components = _principal(table)
    best, best_gain = np.ones((len(components), 1)), 0.0
    for n_components in sorted({min(most, components.shape[1]) for most in _COMPONENTS}):
        groups, gain = _divided(components[:, :n_components])
        if gain > best_gain:
            best, best_gain = groups, gain
    return best


def _principal(table: Array) -> Array:
    """Return the leading principal components, each with variance 1."""
    n = len(table)
    left, values, _ = np.linalg.svd(table - table.mean(axis=0), full_matrices=False)
    informative = int((values > 1e-6 * max(values[0], 1e-300)).sum())
    most = max(1, min(_COMPONENTS[-1], n // _FEWEST_PER_COMPONENT, informative))
    return np.asarray(left[:, :most] * np.sqrt(n), dtype=np.float64)


def _divided(points: Array) -> tuple[Array, float]:
    """Return the memberships of the best division of the points, and what it gains over one group."""
    part = points[np.random.default_rng(_SEED).permutation(len(points))[:_SUBJECTS]]
    best, alone = np.ones((len(part), 1)), _score(part, 1, _expected(part, part, np.ones((len(part), 1)))[1])
    best_score = alone
    for n_groups in range(2, _MOST_GROUPS + 1):
        weights, score = max((_fitted(part, n_groups, seed) for seed in range(_STARTS)), key=lambda pair: pair[1])
        if score > best_score:
            best, best_score = weights, score
        elif n_groups > best.shape[1] + 1:
            break
    return _expected(points, part, best)[0], best_score - alone


def _fitted(points: Array, n_groups: int, seed: int) -> tuple[Array, float]:
    """Return the memberships of one run of expectation and maximisation, and its score."""
    weights = _start(points, n_groups, np.random.default_rng([_SEED, n_groups, seed]))
    before = -np.inf
    for _ in range(_STEPS):
        now, log_likelihood = _expected(points, points, weights)
        if log_likelihood - before < _CONVERGED * len(points):
            break
        weights, before = now, log_likelihood
    return weights, _score(points, n_groups, log_likelihood)


def _start(points: Array, n_groups: int, rng: np.random.Generator) -> Array:
    """Return a division by the nearest of some points that lie far apart (greedy k-means++)."""
    nearest = ((points - points[rng.integers(len(points))]) ** 2).sum(axis=1)
    label = np.zeros(len(points), dtype=np.int64)
    for group in range(1, n_groups):
        likely = nearest / nearest.sum() if nearest.sum() > 0 else None
        tried = points[rng.choice(len(points), size=_CANDIDATES, p=likely)]
        squared = ((points[:, None] - tried) ** 2).sum(axis=2)
        best = squared[:, np.minimum(squared, nearest[:, None]).sum(axis=0).argmin()]
        label[best < nearest] = group
        nearest = np.minimum(nearest, best)
    return np.asarray(np.eye(n_groups)[label], dtype=np.float64)


def _expected(points: Array, learned: Array, weights: Array) -> tuple[Array, float]:
    """Return the memberships of points in groups that are learned from `learned`, and the log likelihood."""
    sizes = weights.sum(axis=0) + 1e-9
    means = weights.T @ learned / sizes[:, None]
    within = (learned.T @ learned - (means * sizes[:, None]).T @ means) / len(learned)
    q = points.shape[1]
    inverse_root = np.linalg.inv(np.linalg.cholesky(within + 1e-3 * np.eye(q)))
    whitened, centres = points @ inverse_root.T, means @ inverse_root.T
    squared = (whitened**2).sum(axis=1)[:, None] - 2.0 * whitened @ centres.T + (centres**2).sum(axis=1)
    constant = np.log(np.diag(inverse_root)).sum() - 0.5 * q * np.log(2.0 * np.pi)
    densities = np.log(sizes / len(learned)) - 0.5 * squared + constant
    top = densities.max(axis=1, keepdims=True)
    likely = np.exp(densities - top)
    total = likely.sum(axis=1, keepdims=True)
    return np.asarray(likely / total, dtype=np.float64), float((top + np.log(total)).sum())


def _score(points: Array, n_groups: int, log_likelihood: float) -> float:
    """Return the log likelihood less half the logarithm of N for each parameter that more groups have."""
    n_parameters = n_groups * (int(points.shape[1]) + 1)
    return log_likelihood - 0.5 * n_parameters * math.log(len(points))
