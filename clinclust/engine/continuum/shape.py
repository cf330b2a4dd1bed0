"""Statistics of a cohort that tell groups from degrees: the gap in a division, and main axes in two halves.

A gap is the dip of Hartigan and Hartigan (1985, *The dip test of unimodality*, Annals of Statistics 13, 70-84), of the
log odds of the best division into two.

The halves of an axis are the mean log likelihood ratio of two normal distributions of equal weight, at a distance of
2 delta, to one normal, of standardised principal scores x:

    log cosh(x delta / v) - (x^2 + delta^2) / (2 v) + x^2 / 2 - log(v) / 2,   v = 1 - delta^2

This is the most powerful statistic against these two (Neyman and Pearson 1933, *On the problem of the most efficient
tests of statistical hypotheses*, Philosophical Transactions A 231, 289-337); the axis that parts two groups of similar
size is among the principal ones.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from clinclust.arrays import Array, Labels
from clinclust.engine.continuum.normal_scores import correlations
from clinclust.engine.kernels.dip import dip
from clinclust.engine.kernels.sweep import write_scores
from clinclust.engine.problem.problem import Problem

_MOST_AXES = 3
_APART = (0.7, 0.9)
"""Distances delta of the halves from the middle, in standard deviations of the whole."""
_LEAST = 1e-4
"""Least dip, of which the logarithm is taken."""


def shape_of(part: Problem, scores: Array, halves: Labels) -> Array:
    """Return the log dip of a division (N,), and the halves of the A main axes at both distances, float64 (1 + 2 A,).

    The axes are the first min(D, 3) principal components of normal scores, float64 (N, D), NaN = missing.
    """
    return np.concatenate([[log_dip(part, halves)], axes_in_halves(scores).ravel()])


def log_dip(part: Problem, halves: Labels) -> float:
    """Return the log of the dip of the subjects' log odds in a division; that of a least dip if there is one half."""
    if not 0 < halves.sum() < halves.size:
        return float(np.log(_LEAST))
    logs = np.empty((halves.size, 3))
    write_scores(part.cohort.arrays, part.model, part.partition(halves), logs)
    return float(np.log(max(dip(np.sort(logs[:, 1] - logs[:, 0])), _LEAST)))


def axes_in_halves(scores: Array) -> Array:
    """Return the mean log likelihood ratios, in nats, of the first A principal components of scores (N, D); (2, A).

    A missing value (NaN) has the mean, 0.
    """
    size = scores.shape[1]
    _, axes = eigh(correlations(scores)[0], subset_by_index=[max(size - _MOST_AXES, 0), size - 1])
    along = np.nan_to_num(scores) @ axes[:, ::-1]
    along = along - along.mean(axis=0)
    x = along / np.maximum(along.std(axis=0), 1e-9)
    return np.array([_log_ratio(x, delta).mean(axis=0) for delta in _APART])


def _log_ratio(x: Array, delta: float) -> Array:
    v = 1.0 - delta**2
    log_cosh = np.logaddexp(x * delta / v, -x * delta / v) - np.log(2.0)
    return np.asarray(log_cosh - (x**2 + delta**2) / (2.0 * v) + x**2 / 2.0 - np.log(v) / 2.0)
