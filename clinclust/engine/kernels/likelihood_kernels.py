"""Dispatch of the compiled functions by the likelihood of a feature. No other compiled code compares likelihoods.

`CohortArrays.kinds` holds the code of each feature's likelihood. An unknown code gives NaN, so that scores become NaN.
"""

from __future__ import annotations

import math

from clinclust.arrays import Array
from clinclust.compiled import flat, subkernel
from clinclust.engine.kernels.predictives_beta import (
    beta_log_marginal,
    binomial_predictives,
    geometric_predictives,
    negative_binomial_log_marginal,
    negative_binomial_predictives,
)
from clinclust.engine.kernels.predictives_dirichlet import (
    categorical_predictives,
    dirichlet_log_marginal,
    ordinal_predictives,
    tree_log_marginal,
)
from clinclust.engine.kernels.predictives_gamma import (
    exponential_coefficients,
    exponential_left_out,
    gamma_log_marginal,
    poisson_predictives,
)
from clinclust.engine.kernels.predictives_gaussian import (
    add_values,
    chained_log_marginal,
    gaussian_coefficients,
    gaussian_left_out,
    gaussian_log_marginal,
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

# Compiled functions treat global numbers as constants. Bernoulli has the code of the binomial, with one trial.
BINOMIAL, GEOMETRIC, POISSON = Binomial.kernel, Geometric.kernel, Poisson.kernel
NEGATIVE_BINOMIAL, CATEGORICAL, ORDINAL = NegativeBinomial.kernel, Categorical.kernel, Ordinal.kernel
EXPONENTIAL, GAUSSIAN, CHAINED = Exponential.kernel, Gaussian.kernel, MultivariateGaussian.kernel


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
    """Fill the log predictive of every level of one discrete feature under one cluster, as ln numbers + rests.

    If `adds_up`, it is the difference to the level before. `left_numbers` and `left_rests` are those of the cluster
    without one subject at that level; where the statistics exclude such a subject, 1 and 0, or 1 and infinity if
    `adds_up`. `refresh` recognises these, because the resulting log predictive is not below 0.

    Prior (P,) and sums (S,) are those of the feature; counts (2 n_levels,) are the statistics of one subject at each
    level; log_base (n_levels,) are the base measures.
    """
    if kind == BINOMIAL:
        binomial_predictives(prior, sums, counts, log_base, n_levels, numbers, rests, left_numbers, left_rests, work)
    elif kind == GEOMETRIC:
        geometric_predictives(prior, sums, counts, n_levels, numbers, rests, left_numbers, left_rests)
    elif kind == POISSON:
        poisson_predictives(prior, sums, counts, log_base, n_levels, numbers, rests, left_numbers, left_rests)
    elif kind == NEGATIVE_BINOMIAL:
        negative_binomial_predictives(prior, sums, counts, log_base, n_levels, numbers, rests, left_numbers, left_rests)
    elif kind == CATEGORICAL:
        categorical_predictives(prior, sums, n_levels, numbers, rests, left_numbers, left_rests)
    elif kind == ORDINAL:
        ordinal_predictives(prior, sums, n_levels, numbers, rests, left_numbers, left_rests)
    else:
        for level in range(n_levels):
            numbers[level] = left_numbers[level] = 1.0
            rests[level] = left_rests[level] = math.nan


@subkernel
def fill_coefficients(
    kind: int, prior: Array, sums: Array, out: Array, stride: int, left: Array, left_stride: int
) -> None:
    """Write the coefficients of the log predictives of one continuous feature under one cluster.

    `out` receives c0 .. c3 of the log predictive c0 - c1 ln(1 + c2 (z - c3)^2), `stride` elements apart, and `left`
    those of c0 + c1 ln(1 - c2 (z - c3)^2), the log predictive of z under the cluster without z.
    """
    if kind == EXPONENTIAL:
        exponential_coefficients(prior, sums, out, stride, left, left_stride)
    elif kind == GAUSSIAN:
        gaussian_coefficients(prior, sums, out, stride, left, left_stride)
    else:
        for part in range(4):
            out[part * stride] = left[part * left_stride] = math.nan


@subkernel
def left_out_value(kind: int, prior: Array, sums: Array, z: float) -> float:
    """Return the log predictive of the continuous value z under its own cluster without z."""
    if kind == EXPONENTIAL:
        return exponential_left_out(prior, sums, z)
    if kind == GAUSSIAN:
        return gaussian_left_out(prior, sums, z)
    return math.nan


@subkernel
def add_value(kind: int, sums: Array, n_statistics: int, values: Array, column: int, sign: float) -> None:
    """Add the continuous value at `column` to the sufficient statistics of a cluster, or remove it, by its sign."""
    if kind == CHAINED:
        place = place_in_block(n_statistics)
        add_values(sums, flat(values, column - place), place, sign)
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
    """Return A(posterior) - A(prior) of one feature in one cluster; `work`, (3 S,), is overwritten."""
    if kind in (BINOMIAL, GEOMETRIC):
        return beta_log_marginal(prior, sums)
    if kind in (POISSON, EXPONENTIAL):
        return gamma_log_marginal(prior, sums)
    if kind == NEGATIVE_BINOMIAL:
        return negative_binomial_log_marginal(prior, sums)
    if kind == CATEGORICAL:
        return dirichlet_log_marginal(prior, sums, n_statistics)
    if kind == ORDINAL:
        return tree_log_marginal(prior, sums, n_statistics)
    if kind == GAUSSIAN:
        return gaussian_log_marginal(prior, sums)
    if kind == CHAINED:
        return chained_log_marginal(prior, sums, place_in_block(n_statistics), work)
    return math.nan


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
