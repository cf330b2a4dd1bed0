"""How the numerical kernels are compiled: the options that all of them share.

Kernels release the global interpreter lock (restarts run on threads), are cached on disk, follow IEEE arithmetic for
division, and never use ``fastmath``, which would assume that no value is NaN: missing values are NaN.

Numba counts a reference whenever an array is passed to a function or renamed. This takes as long as a dozen additions,
and much of the compilation. The innermost functions therefore receive pointers (`flat`). The array must be kept alive
by the outermost kernel, and indices are not checked.

Three environment variables choose slower kernels, to find mistakes in them.

CLINCLUST_PLAIN_KERNELS=1
    No LLVM code written by hand: arrays instead of pointers, and the innermost loops in plain Python
    (`clinclust.engine.kernels.inner_loops`). The same bits.
NUMBA_BOUNDSCHECK=1
    Arrays instead of pointers, and every index is checked. The same bits.
NUMBA_DISABLE_JIT=1
    The plain kernels, not compiled, so that a debugger can step through them. Python's `math.lgamma` differs from
    numba's in the last digits.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numba import config, extending, njit, types
from numpy.typing import NDArray

__all__ = ["PLAIN", "flat", "kernel", "subkernel"]

Function = TypeVar("Function", bound=Callable[..., object])
Number = TypeVar("Number", np.float64, np.int64, np.int32)

_DISABLED, _CHECKED = bool(vars(config)["DISABLE_JIT"]), bool(vars(config)["BOUNDSCHECK"])
PLAIN: bool = _DISABLED or os.environ.get("CLINCLUST_PLAIN_KERNELS", "0") not in ("", "0")
"""Whether the kernels do without LLVM code written by hand."""

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_ONLY_FROM_KERNELS: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True}


def _fingerprint() -> str:
    """Return a hash of every file that holds kernels, or constants compiled into them."""
    package, digest = Path(__file__).parent, hashlib.blake2b(digest_size=6)
    folders = (package / "engine" / "kernels", package / "likelihoods")
    for path in (Path(__file__), *sorted(path for folder in folders for path in folder.rglob("*.py"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()


# Numba identifies a cached function by its file, line and name, not by the functions and constants compiled into it.
# The name therefore says which sources were compiled, and by which choice: after a change of any of them, no process
# loads kernels that hold old code.
_SUFFIX = f"_{_fingerprint()}" + ("_plain" if PLAIN else "") + ("_checked" if _CHECKED else "")


def kernel(function: Function) -> Function:
    """Compile a function that Python calls."""
    return _compiled(function, _OPTIONS)


def subkernel(function: Function) -> Function:
    """Compile a function that only kernels call: without a wrapper for Python, which takes a quarter of the time."""
    return _compiled(function, _ONLY_FROM_KERNELS)


def _compiled(function: Function, options: dict[str, Any]) -> Function:
    compiled: Function
    function.__qualname__ += _SUFFIX
    try:
        compiled = njit(cache=True, **options)(function)
    except RuntimeError:  # no cache folder can be written to: every process compiles
        compiled = njit(**options)(function)
    return compiled


_pointer: Any = types.CPointer


def _numbers_of(typing: Any, array: Any, start: Any) -> Any:
    """Return the address of element `start` of an array, or of a pointer."""
    signature = _pointer(array.dtype)(array, types.intp)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, (first, start) = signature.args[0], arguments
        if not isinstance(kind, types.CPointer):
            first = context.make_array(kind)(context, builder, first).data
        return builder.gep(first, [start], source_etype=context.get_data_type(kind.dtype))

    return signature, build


def _part_of(array: NDArray[Number], start: int) -> NDArray[Number]:
    return array.reshape(-1)[start:]


_part: Any = njit(_part_of)
_address: Any = extending.intrinsic(_numbers_of)
flat: Callable[[NDArray[Number], int], NDArray[Number]] = _part if PLAIN or _CHECKED else _address
"""Return the numbers of a contiguous array from the one at `start` on, in the order of memory; in kernels only."""
