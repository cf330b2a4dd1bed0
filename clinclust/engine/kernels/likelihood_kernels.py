"""Dispatch of the compiled functions by the likelihood of a feature. No other compiled code compares likelihoods.

`CohortArrays.kinds` holds the code of each feature's likelihood. An unknown code gives NaN, so that scores become NaN.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import flat, subkernel
from clinclust.engine.kernels.predictives import (
    beta,
    dirichlet,
    dirichlet_tree,
    gamma,
    negative_binomial,
    normal_gamma,
    normal_wishart,
)
from clinclust.likelihoods.binomial import Binomial
from clinclust.likelihoods.categorical import Categorical
from clinclust.likelihoods.exponential import Exponential
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.likelihoods.geometric import Geometric
from clinclust.likelihoods.multivariate_gaussian import MultivariateGaussian
from clinclust.likelihoods.negative_binomial import NegativeBinomial
from clinclust.likelihoods.ordinal import Ordinal
from clinclust.likelihoods.poisson import Poisson

__all__ = [
    "BINOMIAL",
    "CHAINED",
    "GAUSSIAN",
    "add_value",
    "adds_up",
    "counts_levels",
    "fill_coefficients",
    "fill_levels",
    "left_out_value",
    "log_marginal",
    "place_in_block",
]

Array = NDArray[np.float64]

# Compiled functions treat global numbers as constants. Bernoulli has the code of the binomial, with one trial.
BINOMIAL, GEOMETRIC, POISSON = Binomial.kernel, Geometric.kernel, Poisson.kernel
NEGATIVE_BINOMIAL, CATEGORICAL, ORDINAL = NegativeBinomial.kernel, Categorical.kernel, Ordinal.kernel
EXPONENTIAL, GAUSSIAN, CHAINED = Exponential.kernel, Gaussian.kernel, MultivariateGaussian.kernel

_beta_levels, _geometric_levels, _beta_marginal = (
    beta.level_predictives,
    beta.geometric_predictives,
    beta.log_marginal,
)
_gamma_levels, _gamma_marginal = gamma.level_predictives, gamma.log_marginal
_dispersed_levels, _dispersed_marginal = negative_binomial.level_predictives, negative_binomial.log_marginal
_dirichlet_levels, _dirichlet_marginal = dirichlet.level_predictives, dirichlet.log_marginal
_tree_levels, _tree_marginal = dirichlet_tree.level_predictives, dirichlet_tree.log_marginal
_lomax, _lomax_left_out = gamma.coefficients, gamma.left_out_value
_student, _student_left_out, _student_marginal = (
    normal_gamma.coefficients,
    normal_gamma.left_out_value,
    normal_gamma.log_marginal,
)


_add_chained, _chained_marginal = normal_wishart.add_values, normal_wishart.log_marginal


@subkernel
def place_in_block(n_statistics: int) -> int:
    """Return the place of a feature of a multivariate Gaussian block, from its number of sufficient statistics."""
    place = 0
    while (place + 2) * (place + 3) // 2 < n_statistics:
        place += 1
    return place


@subkernel
def counts_levels(kind: int) -> bool:
    """Return whether the sufficient statistics of a discrete feature are the numbers of subjects at each level."""
    return kind in (CATEGORICAL, ORDINAL)


@subkernel
def adds_up(kind: int) -> bool:
    """Return whether `fill_levels` fills differences: the log predictive of a level minus that of the level before."""
    return kind in (GEOMETRIC, POISSON, NEGATIVE_BINOMIAL)


@subkernel
def fill_levels(
    kind: int,
    prior: Array,
    sums: Array,
    counts: Array,
    log_base: Array,
    n_levels: int,
    numbers: Array,
    rests: Array,
    left_numbers: Array,
    left_rests: Array,
    work: Array,
) -> None:
    """Fill the log predictive of every level of one discrete feature under one cluster.

    Parameters
    ----------
    kind : int
        Code of the likelihood.
    prior : float64 (P,)
        Hyperparameters.
    sums : float64 (S,)
        Sufficient statistics of the cluster.
    counts : float64 (2 n_levels,)
        Sufficient statistics of one subject at each level.
    log_base : float64 (n_levels,)
        Log base measure of each level.
    n_levels : int
    numbers, rests : float64 (n_levels,), overwritten
        ln p(level | cluster) = ln numbers + rests. If `adds_up`, this is the difference to the level before.
    left_numbers, left_rests : float64 (n_levels,), overwritten
        The same for the cluster without one subject at that level. Where the statistics exclude such a subject, the
        values are 1 and 0, or 1 and infinity if `adds_up`. `refresh` recognises them, because the resulting log
        predictive is not below 0.
    work : float64, overwritten
    """
    if kind == BINOMIAL:
        _beta_levels(prior, sums, counts, log_base, n_levels, numbers, rests, left_numbers, left_rests, work)
    elif kind == GEOMETRIC:
        _geometric_levels(prior, sums, counts, n_levels, numbers, rests, left_numbers, left_rests)
    elif kind == POISSON:
        _gamma_levels(prior, sums, counts, log_base, n_levels, numbers, rests, left_numbers, left_rests)
    elif kind == NEGATIVE_BINOMIAL:
        _dispersed_levels(prior, sums, counts, log_base, n_levels, numbers, rests, left_numbers, left_rests)
    elif kind == CATEGORICAL:
        _dirichlet_levels(prior, sums, n_levels, numbers, rests, left_numbers, left_rests)
    elif kind == ORDINAL:
        _tree_levels(prior, sums, n_levels, numbers, rests, left_numbers, left_rests)
    else:
        for level in range(n_levels):
            numbers[level] = left_numbers[level] = 1.0
            rests[level] = left_rests[level] = math.nan


@subkernel
def fill_coefficients(
    kind: int, prior: Array, sums: Array, out: Array, stride: int, left: Array, left_stride: int
) -> None:
    """Write the coefficients of the log predictives of one continuous feature under one cluster.

    Parameters
    ----------
    kind : int
        Code of the likelihood.
    prior : float64 (P,)
        Hyperparameters.
    sums : float64 (S,)
        Sufficient statistics of the cluster.
    out : float64, modified in place
        c0 .. c3 of the log predictive c0 - c1 ln(1 + c2 (z - c3)^2), `stride` elements apart.
    stride : int
    left : float64, modified in place
        c0 .. c3 of c0 + c1 ln(1 - c2 (z - c3)^2), the log predictive of z under the cluster without z, `left_stride`
        elements apart.
    left_stride : int
    """
    if kind == EXPONENTIAL:
        _lomax(prior, sums, out, stride, left, left_stride)
    elif kind == GAUSSIAN:
        _student(prior, sums, out, stride, left, left_stride)
    else:
        for part in range(4):
            out[part * stride] = left[part * left_stride] = math.nan


@subkernel
def left_out_value(kind: int, prior: Array, sums: Array, z: float) -> float:
    """Return the log predictive of the continuous value z under its own cluster without z."""
    if kind == EXPONENTIAL:
        return _lomax_left_out(prior, sums, z)
    if kind == GAUSSIAN:
        return _student_left_out(prior, sums, z)
    return math.nan


@subkernel
def add_value(kind: int, sums: Array, n_statistics: int, values: Array, column: int, sign: float) -> None:
    """Add a continuous value to the sufficient statistics of a cluster (sign = 1), or remove it (sign = -1).

    Parameters
    ----------
    kind : int
        Code of the likelihood.
    sums : float64 (S,), modified in place
    n_statistics : int
        S.
    values : float64 (D_value,)
        The continuous values of the subject.
    column : int
        Which of them is added; it must not be missing.
    sign : float
    """
    if kind == CHAINED:
        place = place_in_block(n_statistics)
        _add_chained(sums, flat(values, column - place), place, sign)
        return
    z = values[column]
    sums[0] += sign
    if kind == EXPONENTIAL:
        sums[1] += sign * z * z
    else:
        sums[1] += sign * z
        sums[2] += sign * z * z


@subkernel
def log_marginal(kind: int, prior: Array, sums: Array, n_statistics: int, work: Array) -> float:
    """Return A(posterior) - A(prior), the log marginal without base measure, of one feature in one cluster.

    Parameters
    ----------
    kind : int
        Code of the likelihood.
    prior : float64 (P,)
    sums : float64 (S,)
    n_statistics : int
        S.
    work : float64 (3 S,), overwritten
    """
    if kind in (BINOMIAL, GEOMETRIC):
        return _beta_marginal(prior, sums)
    if kind in (POISSON, EXPONENTIAL):
        return _gamma_marginal(prior, sums)
    if kind == NEGATIVE_BINOMIAL:
        return _dispersed_marginal(prior, sums)
    if kind == CATEGORICAL:
        return _dirichlet_marginal(prior, sums, n_statistics)
    if kind == ORDINAL:
        return _tree_marginal(prior, sums, n_statistics)
    if kind == GAUSSIAN:
        return _student_marginal(prior, sums)
    if kind == CHAINED:
        return _chained_marginal(prior, sums, place_in_block(n_statistics), work)
    return math.nan
