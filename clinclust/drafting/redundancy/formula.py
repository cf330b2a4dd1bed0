"""A column as a formula of others: a weighted sum, or on logarithms a product of powers, up to rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.redundancy.rounding import step_of

__all__ = ["Formula", "formula_of", "needed"]

Array = NDArray[np.float64]

_FEWEST_MORE = 20  # subjects, beyond three for each weight
_TRIMMED = (
    0.9  # the share of the subjects that the weights are fitted to, so that single errors of entry do not bend it
)
_HOLDS = 0.98
_COARSEST = 0.25  # of a standard deviation: a wider tolerance would find formulas in noise
_SLACK = 1.1
_EXACT = 1e-6


@dataclass(frozen=True)
class Formula:
    """A formula of one column by others."""

    weights: tuple[float, ...]
    """Of each other column; on logarithms, its power."""
    n: int
    """Subjects in whom all are observed."""
    holds: int
    """Those of them in whom the formula holds."""
    exactness: int
    """0: to the last digit; 1: up to the rounding of the column; 2: up to the rounding of all."""


def formula_of(target: Array, others: Array, *, logs: bool) -> Formula | None:
    """Return the formula of a column by others, or None if there is none.

    Parameters
    ----------
    target : float64 (N,)
        NaN = missing.
    others : float64 (N, C)
    logs : bool
        Whether to look for a product of powers; all observed values must be positive.
    """
    complete = ~np.isnan(target) & ~np.isnan(others).any(axis=1)
    if complete.sum() < 3 * others.shape[1] + _FEWEST_MORE:
        return None
    return _fitted(target[complete], others[complete], logs)


def needed(target: Array, others: Array, *, logs: bool) -> list[int]:
    """Return the places of the columns that a formula of the target needs; none if there is no formula."""
    left = list(range(others.shape[1]))
    if formula_of(target, others, logs=logs) is None:
        return []
    for place in reversed(range(others.shape[1])):
        fewer = [other for other in left if other != place]
        if fewer and formula_of(target, others[:, fewer], logs=logs) is not None:
            left = fewer
    return left


def _fitted(y: Array, x: Array, logs: bool) -> Formula | None:
    response, design = (np.log(y), np.log(x)) if logs else (y, x)
    middle, spread = design.mean(axis=0), design.std(axis=0)
    if not (spread > 0).all() or not response.std() > 0:
        return None
    design = np.column_stack([np.ones(len(y)), (design - middle) / spread])
    kept = np.ones(len(y), dtype=bool)
    for _ in range(3):
        solution = np.linalg.lstsq(design[kept], response[kept], rcond=None)[0]
        residual = np.abs(response - design @ solution)
        kept = residual <= np.quantile(residual, _TRIMMED)
    weights = solution[1:] / spread
    return _judged(y, x, logs, weights, residual, float(response.std()))


def _judged(y: Array, x: Array, logs: bool, weights: Array, residual: Array, spread: float) -> Formula | None:
    own = step_of(y) / 2.0 / (y if logs else np.ones_like(y))
    steps = np.array([step_of(column) for column in x.T]) / 2.0
    of_others = (steps / x if logs else np.broadcast_to(steps, x.shape)) @ np.abs(weights)
    for exactness, tolerance in enumerate((np.zeros_like(own), own, own + of_others)):
        holds = int((residual <= _SLACK * tolerance + _EXACT * spread).sum())
        if holds >= _HOLDS * y.size and np.median(tolerance) <= _COARSEST * spread:
            return Formula(tuple(weights.tolist()), y.size, holds, exactness)
    return None
