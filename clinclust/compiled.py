"""How the numerical kernels are compiled: once for all, so that every kernel keeps the same promises.

Kernels release the global interpreter lock (restarts run on threads), are cached on disk, follow IEEE arithmetic for
division, and never use ``fastmath``, which would assume that no value is NaN: NaN is how a missing value looks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

__all__ = ["inlined", "kernel", "subkernel"]

Function = TypeVar("Function", bound=Callable[..., object])

_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
_WITHOUT_DOOR: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: Function) -> Function:
    """Compile a function that Python calls."""
    compiled: Function = njit(**_OPTIONS)(function)
    return compiled


def subkernel(function: Function) -> Function:
    """Compile a function that only kernels call; without a door to Python it compiles in three quarters of the time."""
    compiled: Function = njit(**_WITHOUT_DOOR)(function)
    return compiled


def inlined(function: Function) -> Function:
    """Write a function out in each kernel that calls it.

    A call counts a reference to every array that it is given, which costs as much as adding up a hundred numbers.
    """
    compiled: Function = njit(**_WITHOUT_DOOR, inline="always")(function)
    return compiled
