"""Newton's method for many small problems at once.

It uses no library matrix routines, because their last bits depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["climb"]

Array = NDArray[np.float64]

_MOST_STEPS = 100
_DIFFERENCE = 1e-5
_LEAST_GAIN = 1e-12
_FARTHEST_STEP = 2.0


def climb(objective: Callable[[Array], tuple[Array, Array]], start: Array, free: NDArray[np.bool_]) -> Array:
    """Maximise F functions of P variables each. No value ends lower than it began.

    The Hessian is computed from differences of the gradient. Each function has its own Levenberg damping. The damping
    grows until the matrix is positive definite and the step raises the value; after a step that raises the value, the
    damping shrinks.

    Parameters
    ----------
    objective : callable
        Takes points (F, P); returns the values (F,) and their gradients (F, P).
    start : float64 (F, P)
        The first points.
    free : bool (F, P)
        True for variables that may change.

    Returns
    -------
    float64 (F, P)
        The points of the maxima.
    """
    points = start.copy()
    values, gradients = objective(points)
    gradients = np.where(free, gradients, 0.0)
    damping = np.full(values.size, 1e-3)
    active = np.ones(values.size, dtype=bool)
    curvatures = _negative_hessian(objective, points, free)
    for _ in range(_MOST_STEPS):
        steps, uphill = _damped_step(curvatures, gradients, damping)
        steps = np.where(uphill[:, None], steps, 0.0)
        longest = np.abs(steps).max(axis=1, keepdims=True)
        steps *= np.minimum(1.0, _FARTHEST_STEP / np.maximum(longest, 1e-300))
        # The first-order gain of the step. If it is below the rounding error of the value, the function is done.
        promised = (steps * gradients).sum(axis=1)
        active &= ~uphill | (promised > _LEAST_GAIN * np.maximum(1.0, np.abs(values)))
        if not active.any():
            break
        candidates = points + np.where(active[:, None], steps, 0.0)
        after, slopes = objective(candidates)
        rose = active & uphill & (after > values)
        damping = np.where(rose, damping / 10.0, np.minimum(damping * 10.0, 1e12))
        points = np.where(rose[:, None], candidates, points)
        values = np.where(rose, after, values)
        gradients = np.where(rose[:, None] & free, slopes, gradients)
        if rose.any():
            curvatures = _negative_hessian(objective, points, free)
    return points


def _negative_hessian(
    objective: Callable[[Array], tuple[Array, Array]], points: Array, free: NDArray[np.bool_]
) -> Array:
    """Return the negative Hessian of each function, symmetric, float64 (F, P, P).

    Rows and columns of variables that are not free are those of the identity matrix.
    """
    n_variables = points.shape[1]
    columns = []
    for variable in range(n_variables):
        difference = np.zeros(n_variables)
        difference[variable] = _DIFFERENCE
        above, below = objective(points + difference)[1], objective(points - difference)[1]
        columns.append((below - above) / (2.0 * _DIFFERENCE))
    hessian = np.stack(columns, axis=-1)
    both = free[:, :, None] & free[:, None, :]
    return np.where(both, 0.5 * (hessian + hessian.transpose(0, 2, 1)), np.eye(n_variables))


def _damped_step(curvatures: Array, gradients: Array, damping: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Solve (curvature + damping I) step = gradient by Gaussian elimination.

    Returns
    -------
    steps : float64 (F, P)
    uphill : bool (F,)
        Whether the matrix is positive definite (all its pivots are above 1e-10), so that the step is uphill.
    """
    n_variables = gradients.shape[1]
    matrix = curvatures + damping[:, None, None] * np.eye(n_variables)
    right = gradients.copy()
    uphill = np.ones(gradients.shape[0], dtype=bool)
    for column in range(n_variables):
        pivot = matrix[:, column, column]
        uphill &= pivot > 1e-10
        pivot = np.where(pivot > 1e-10, pivot, 1.0)
        for row in range(column + 1, n_variables):
            factor = matrix[:, row, column] / pivot
            matrix[:, row] -= factor[:, None] * matrix[:, column]
            right[:, row] -= factor * right[:, column]
    steps = np.zeros_like(right)
    for row in reversed(range(n_variables)):
        rest = right[:, row] - (matrix[:, row, row + 1 :] * steps[:, row + 1 :]).sum(axis=1)
        steps[:, row] = rest / np.where(uphill, matrix[:, row, row], 1.0)
    return steps, uphill
