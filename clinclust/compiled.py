"""How the numerical kernels are compiled: once for all, so that every kernel keeps the same promises.

Kernels release the global interpreter lock (restarts run on threads), are cached on disk, follow IEEE arithmetic for
division, and never use ``fastmath``, which would assume that no value is NaN: NaN is how a missing value looks.

Numba counts a reference whenever an array is handed to a function or renamed. This takes as long as a dozen additions,
and much of the compilation. The innermost functions are therefore handed the numbers themselves, in a row (`flat`).
Nothing keeps these alive but the array that they are of, which the outermost kernel holds, and nothing checks their
bounds, unless numba is told to check all bounds (NUMBA_BOUNDSCHECK=1): then they are arrays after all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import config, extending, njit, types
from numpy.typing import NDArray

__all__ = ["flat", "kernel", "subkernel"]

Function = TypeVar("Function", bound=Callable[..., object])
Number = TypeVar("Number", np.float64, np.int64, np.int32)

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_WITHOUT_DOOR: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True}


def kernel(function: Function) -> Function:
    """Compile a function that Python calls."""
    return _compiled(function, _OPTIONS)


def subkernel(function: Function) -> Function:
    """Compile a function that only kernels call; without a door to Python it compiles in three quarters of the time."""
    return _compiled(function, _WITHOUT_DOOR)


def _compiled(function: Function, options: dict[str, Any]) -> Function:
    compiled: Function
    try:
        compiled = njit(cache=True, **options)(function)
    except RuntimeError:  # nowhere to keep it, neither beside the package nor at home: every process compiles
        compiled = njit(**options)(function)
    return compiled


_pointer: Any = types.CPointer


def _numbers_of(typing: Any, array: Any, start: Any) -> Any:
    """Take the address of one element."""
    signature = _pointer(array.dtype)(array, types.intp)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, (first, start) = signature.args[0], arguments
        if not isinstance(kind, types.CPointer):
            first = context.make_array(kind)(context, builder, first).data
        return builder.gep(first, [start])

    return signature, build


def _part_of(array: NDArray[Number], start: int) -> NDArray[Number]:
    return array.reshape(-1)[start:]


_checked: Any = njit(_part_of)
_unchecked: Any = extending.intrinsic(_numbers_of)
flat: Callable[[NDArray[Number], int], NDArray[Number]] = _checked if vars(config)["BOUNDSCHECK"] else _unchecked
"""Return the numbers of a contiguous array from the one at `start` on, in the order of memory; in kernels only."""
