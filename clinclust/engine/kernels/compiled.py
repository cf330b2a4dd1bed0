"""Compilation of the numerical kernels.

Kernels release the global interpreter lock, are cached on disk, and never use ``fastmath``: NaN means missing. The
innermost functions receive pointers (`flat`), so the outermost kernel must keep the arrays alive. For debugging:

CLINCLUST_PLAIN_KERNELS=1 : arrays replace pointers and vector registers; the same bits.
NUMBA_BOUNDSCHECK=1 : arrays replace pointers, and every index is checked; the same bits.
NUMBA_DISABLE_JIT=1 : plain kernels without compilation; the last digits may differ.
"""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numba import config, extending, njit, types
from numba.core import event
from numpy.typing import NDArray

from clinclust.arrays import Array, Mask, Whole

Function = TypeVar("Function", bound=Callable[..., object])
Number = TypeVar("Number", np.float64, np.int64, np.int32)

logger = logging.getLogger("clinclust")

_MESSAGE = "clinclust: compiling its numerical kernels; this happens once on a machine and takes about half a minute"
_DISABLED, _CHECKED = bool(vars(config)["DISABLE_JIT"]), bool(vars(config)["BOUNDSCHECK"])
PLAIN: bool = _DISABLED or os.environ.get("CLINCLUST_PLAIN_KERNELS", "0") not in ("", "0")
"""Whether the kernels use no instructions for vector registers."""

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def _fingerprint() -> str:
    """Return a hash of every file that holds kernels, or constants compiled into them."""
    kernels, digest = Path(__file__).parent, hashlib.blake2b(digest_size=6)
    folders = (kernels, kernels.parents[1] / "likelihoods")
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


# Numba identifies a cached function by its file, line and name, not by the functions and constants compiled into it.
# The suffix of the name therefore identifies the sources and the choice of kernels.
_SUFFIX = f"_{_fingerprint()}" + ("_plain" if PLAIN else "") + ("_checked" if _CHECKED else "")


def kernel(function: Function, **more: bool) -> Function:
    """Compile a function that Python code calls."""
    compiled: Function
    options: dict[str, Any] = _OPTIONS | more
    function.__qualname__ += _SUFFIX
    try:
        compiled = njit(cache=True, **options)(function)
    except RuntimeError:  # there is no writable cache folder, so every process compiles
        compiled = njit(**options)(function)
    return compiled


def subkernel(function: Function) -> Function:
    """Compile a function that only kernels call."""
    return kernel(function, no_cpython_wrapper=True)


def inlined(function: Function) -> Function:
    """Compile a function into the kernels that call it: passing a whole state takes longer than a small score."""
    return kernel(function, no_cpython_wrapper=True, forceinline=True)


_pointer: Any = types.CPointer
_tuple: Any = types.Tuple


def _numbers_of(typing: Any, array: Any, start: Any) -> Any:
    """Return a pointer to the elements of an array, or of another pointer, from flat index `start` on."""
    signature = _pointer(array.dtype)(array, types.intp)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, (first, start) = signature.args[0], arguments
        if not isinstance(kind, types.CPointer):
            first = context.make_array(kind)(context, builder, first).data
        return builder.gep(first, [start], source_etype=context.get_data_type(kind.dtype))

    return signature, build


def _part_of(array: NDArray[Number], start: int) -> NDArray[Number]:
    """Return the elements of an array from flat index `start` on."""
    return array.reshape(-1)[start:]


_flat: Any = njit(_part_of) if PLAIN or _CHECKED else extending.intrinsic(_numbers_of)
flat: Callable[[NDArray[Number], int], NDArray[Number]] = _flat
"""Return the elements of a contiguous array from flat index `start` on: a pointer, or an array for plain kernels."""


def _fields_of(_typing: Any, fields: Any) -> Any:
    """Return the fields of a named tuple, each array as `flat` returns it from 0 on."""
    ends = list(fields.types)
    for place, kind in enumerate(ends):
        if isinstance(kind, types.Array):
            ends[place] = kind.copy(ndim=1, layout="C") if _CHECKED or PLAIN else _pointer(kind.dtype)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        parts = [builder.extract_value(arguments[0], place) for place in range(len(ends))]
        for place, (kind, end) in enumerate(zip(fields.types, ends, strict=True)):
            if isinstance(kind, types.Array):  # also where it is flat: the tuple needs a reference of its own
                parts[place] = context.compile_internal(builder, lambda it: flat(it, 0), end(kind), [parts[place]])
        return context.make_tuple(builder, signature.return_type, parts)

    return _tuple(ends)(fields), build


def _fields_now(fields: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(it.reshape(-1) if isinstance(it, np.ndarray) else it for it in fields)


flattened: Any = _fields_now if _DISABLED else extending.intrinsic(_fields_of)
"""Return the fields of a named tuple as a tuple, each array as `flat` returns it from 0 on."""


# What kernels do with vectors of eight numbers besides arithmetic: here they are arrays.
#
# Compiled kernels hold them in vector registers (`clinclust.engine.kernels.vectors`), with the same bits. Plain kernels
# compile what is written here, or run it, so that a debugger can step through a fit of a small cohort.

LANES = 8
"""Clusters, features or numbers that the innermost loops process at a time."""


def _operation(function: Function) -> Function:
    return inlined(function) if PLAIN else function


def padded(length: int) -> int:
    """Return the length rounded up to a multiple of eight."""
    return -(-length // LANES) * LANES


@_operation
def eight(numbers: Array, index: int) -> Array:
    """Return the eight doubles from an index on."""
    return numbers[index : index + LANES].copy()


@_operation
def write_eight(numbers: Array, index: int, vector: Array) -> None:
    """Write eight doubles from an index on."""
    numbers[index : index + LANES] = vector


@_operation
def spread(number: float) -> Array:
    """Return a vector that holds a double in every lane."""
    return np.full(LANES, number)


@_operation
def lane(vector: Array, place: int) -> float:
    """Return one double of a vector."""
    number: float = vector[place]
    return number


@_operation
def choose(marks: Mask, yes: Array, no: Array) -> Array:
    """Return the lanes of `yes` where a mark is true, else those of `no`."""
    return np.where(marks, yes, no)


@_operation
def largest_of(vector: Array) -> float:
    """Return the largest of eight doubles; of 0.0 and -0.0 it may be the other one than in a register."""
    return float(vector.max())


@_operation
def smallest_of(vector: Array) -> float:
    """Return the smallest of eight doubles."""
    return float(vector.min())


@_operation
def bits_of(vector: Array) -> Whole:
    """Return the bits of doubles as integers."""
    return vector.view(np.int64)


@_operation
def from_bits(bits: Whole) -> Array:
    """Return the doubles that have these bits."""
    return bits.view(np.float64)


@_operation
def as_numbers(bits: Whole) -> Array:
    """Return integers as doubles."""
    return bits.astype(np.float64)


@contextmanager
def announcing_compilation() -> Iterator[None]:
    """Log one line, and print it on a terminal, when the block first compiles a kernel that is not cached."""

    class Announcer(event.Listener):
        announced = False

        def on_start(self, compilation: Any) -> None:
            ours = compilation.data["dispatcher"].py_func.__module__.startswith("clinclust.")
            if ours and not self.announced:
                self.announced = True
                logger.info(_MESSAGE)
                if sys.stderr is not None and sys.stderr.isatty():
                    print(_MESSAGE, file=sys.stderr)

        def on_end(self, compilation: Any) -> None:
            pass

    with event.install_listener("numba:compile", Announcer()):
        yield


if not PLAIN:
    importlib.import_module("clinclust.engine.kernels.vectors")
