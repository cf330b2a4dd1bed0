"""How the numerical kernels are compiled: once for all, so that every kernel keeps the same promises.

Kernels release the global interpreter lock (restarts run on threads), are cached on disk, follow IEEE arithmetic for
division, and never use ``fastmath``, which would assume that no value is NaN: NaN is how a missing value looks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from numba import njit

__all__ = ["kernel", "subkernel"]

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile a function that Python calls."""
    compiled: Function = njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled


def subkernel(function: Function) -> Function:
    """Compile a function that only kernels call: without a door to Python it compiles in half the time."""
    compiled: Function = njit(
        cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True
    )(function)
    return compiled
