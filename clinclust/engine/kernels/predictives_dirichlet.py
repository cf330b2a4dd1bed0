"""Compiled predictives of categorical and ordinal features (`priors.conjugate`, `priors.dirichlet_tree`)."""

from __future__ import annotations

from clinclust.arrays import Array
from clinclust.compiled import subkernel
from clinclust.engine.kernels.predictives_beta import log_beta_gain
from clinclust.engine.kernels.predictives_gamma import log_gamma_ratio


@subkernel
def dirichlet_log_marginal(prior: Array, sums: Array, n_levels: int) -> float:
    """Return A(posterior) - A(prior) of one cluster, with A as in `clinclust.priors.conjugate.Dirichlet`."""
    value = total = count = 0.0
    for level in range(n_levels):
        total += prior[level]
        count += sums[level]
        if sums[level] > 0.0:
            value += log_gamma_ratio(prior[level], sums[level])
    return value - log_gamma_ratio(total, count)


@subkernel
def categorical_predictives(
    prior: Array, sums: Array, n_levels: int, numbers: Array, rests: Array, left_numbers: Array, left_rests: Array
) -> None:
    """Fill the log predictive of every level of one categorical feature under one cluster (`fill_levels`).

    It is that of (concentration + count) / (sum of the concentrations + sum of the counts); prior and sums are
    (n_levels,).
    """
    total = 0.0
    for level in range(n_levels):
        total += prior[level] + sums[level]
    for level in range(n_levels):
        weight = prior[level] + sums[level]
        numbers[level] = weight / total
        left_numbers[level] = (weight - 1.0) / (total - 1.0) if sums[level] >= 1.0 else 1.0
        rests[level] = left_rests[level] = 0.0


@subkernel
def _split(n_levels: int, boundary: int) -> tuple[int, int]:
    """Return the first level, and the level after the last, of the range that the split at this boundary divides."""
    first, last = 0, n_levels
    middle = (first + last) // 2
    while middle != boundary:
        if boundary < middle:
            last = middle
        else:
            first = middle
        middle = (first + last) // 2
    return first, last


@subkernel
def _between(sums: Array, first: int, last: int) -> float:
    total = 0.0
    for level in range(first, last):
        total += sums[level]
    return total


@subkernel
def tree_log_marginal(prior: Array, sums: Array, n_levels: int) -> float:
    """Return A(posterior) - A(prior) of one cluster, with A as in `clinclust.priors.dirichlet_tree.DirichletTree`."""
    value = 0.0
    for boundary in range(1, n_levels):
        first, last = _split(n_levels, boundary)
        a, b = prior[boundary - 1], prior[n_levels + boundary - 2]
        s, t = _between(sums, first, boundary), _between(sums, boundary, last)
        if s + t > 0.0:
            value += log_beta_gain(a, b, s, t)
    return value


@subkernel
def ordinal_predictives(
    prior: Array, sums: Array, n_levels: int, numbers: Array, rests: Array, left_numbers: Array, left_rests: Array
) -> None:
    """Fill the log predictive of every level of one ordinal feature under one cluster (`fill_levels`).

    It is that of a product over the splits above the level, of the posterior mean probability of the half with the
    level. The prior is (2 (n_levels - 1),), the sums are (n_levels,).
    """
    for level in range(n_levels):
        numbers[level] = left_numbers[level] = 1.0
        rests[level] = left_rests[level] = 0.0
    for boundary in range(1, n_levels):
        first, last = _split(n_levels, boundary)
        lower = prior[boundary - 1] + _between(sums, first, boundary)
        upper = prior[n_levels + boundary - 2] + _between(sums, boundary, last)
        for level in range(first, last):
            side = lower if level < boundary else upper
            numbers[level] *= side / (lower + upper)
            if sums[level] >= 1.0:
                left_numbers[level] *= (side - 1.0) / (lower + upper - 1.0)
