"""Two statistics of a cohort that tell groups from degrees: the gap in a division, and flat-topped main axes.

A gap is the dip of Hartigan and Hartigan (1985, *The dip test of unimodality*, Annals of Statistics 13, 70-84), of the
log odds of the best division into two. A mixture of two groups of similar size is flatter than a normal distribution:
its kurtosis is low along the axis that parts them (Pena and Prieto 2001, *Cluster identification using projections*,
Journal of the American Statistical Association 96, 1433-1445), and that axis is among the principal ones.
"""

from __future__ import annotations

import numpy as np

from clinclust.arrays import Array, Labels
from clinclust.engine.continuum.normal_scores import correlations
from clinclust.engine.kernels.dip import dip
from clinclust.engine.kernels.sweep import write_scores
from clinclust.engine.problem.problem import Problem

_MOST_AXES = 3
_LEAST = 1e-4
"""Least dip, of which the logarithm is taken."""


def shape_of(part: Problem, scores: Array, halves: Labels) -> Array:
    """Return the log dip of a division (N,), and the -log kurtosis along the A main axes, float64 (1 + A,).

    The axes are the first min(D, 3) principal components of normal scores, float64 (N, D), NaN = missing.
    """
    return np.concatenate([[log_dip(part, halves)], -np.log(kurtoses(scores))])


def log_dip(part: Problem, halves: Labels) -> float:
    """Return the log of the dip of the subjects' log odds in a division; that of a least dip if there is one half."""
    if not 0 < halves.sum() < halves.size:
        return float(np.log(_LEAST))
    logs = np.empty((halves.size, 3))
    write_scores(part.cohort.arrays, part.model, part.partition(halves), logs)
    return float(np.log(max(dip(np.sort(logs[:, 1] - logs[:, 0])), _LEAST)))


def kurtoses(scores: Array) -> Array:
    """Return the kurtosis of the first three principal components of scores (N, D), NaN = missing; 3 = normal.

    A missing value has the mean, 0. A component that does not vary has kurtosis 1, the least.
    """
    _, axes = np.linalg.eigh(correlations(scores)[0])
    along = np.nan_to_num(scores) @ axes[:, : -_MOST_AXES - 1 : -1]
    along = along - along.mean(axis=0)
    variance = (along**2).mean(axis=0)
    return np.asarray((along**4).mean(axis=0) / np.maximum(variance, 1e-9) ** 2).clip(1.0)
