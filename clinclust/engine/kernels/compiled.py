"""Compilation of the numerical kernels.

Kernels release the global interpreter lock, are cached on disk, and never use ``fastmath``: NaN means missing. The
innermost functions receive pointers (`flat`), so the outermost kernel must keep the arrays alive. For debugging:

CLINCLUST_PLAIN_KERNELS=1 : arrays replace pointers and vector registers; the same bits.
NUMBA_BOUNDSCHECK=1 : arrays replace pointers, and every index is checked; the same bits.
NUMBA_DISABLE_JIT=1 : plain kernels without compilation; the last digits may differ.
"""

from __future__ import annotations

import hashlib
import logging
import operator
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from llvmlite import ir
from numba import config, extending, njit, types
from numba.core import event
from numba.core.typing.templates import ConcreteTemplate, infer_global
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


# What kernels do with vectors of eight numbers.
#
# Compiled kernels hold them in vector registers. The instructions are IEEE operations in the order in which they are
# written, none of them fused, so that all processors give the same bits. Plain kernels compile the functions on arrays,
# with the same bits, or run them, so that a debugger can step through a fit of a small cohort.

LANES = 8  # clusters, features or numbers that the innermost loops process at a time
_DOUBLE_BYTES = 8
_I32, _I64, _DOUBLE = ir.IntType(32), ir.IntType(64), ir.DoubleType()
_EIGHT = ir.VectorType(_DOUBLE, LANES)


def padded(length: int) -> int:
    """Return the length rounded up to a multiple of eight."""
    return -(-length // LANES) * LANES


class Vector(types.Type):
    """The type of eight numbers in a register."""

    def __init__(self, name: str, of_one: Any, in_llvm: Any) -> None:
        self.of_one, self.in_llvm = of_one, ir.VectorType(in_llvm, LANES)
        super().__init__(name=f"eight {name}")


_numba: Any = extending
_numba.register_model(Vector)(lambda manager, kind: _numba.models.PrimitiveModel(manager, kind, kind.in_llvm))
_NUMBERS, _BITS = Vector("numbers", types.float64, _DOUBLE), Vector("bits", types.int64, _I64)
_MARKS = Vector("marks", types.boolean, ir.IntType(1))
_MEMORY = _pointer(types.float64), types.Array(types.float64, 1, "C")  # doubles: what `flat` returns, or an array


def _define(function: Any, result: Any, *kinds: Any, by: Callable[..., Any]) -> None:
    """Define a function of arguments of these types by the instructions that `by` appends with a builder."""

    class Operation(ConcreteTemplate):
        cases: ClassVar = [result(*kinds)]

    def append(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        if isinstance(kinds[0], types.Array):
            values = context.make_array(kinds[0])(context, builder, values[0]).data, *values[1:]
        appended = by(builder, *values)
        return context.get_dummy_value() if result == types.void else appended

    declare: Any = infer_global
    declare(function)(Operation)
    _numba.lower_builtin(function, *kinds)(append)


def _operation(result: Any, first: Any, *kinds: Any, by: Callable[..., Any]) -> Callable[[Function], Function]:
    """Return a decorator of a function on vectors, which the instructions replace unless kernels are plain."""

    def decorate(function: Function) -> Function:
        globals()[function.__name__] = function  # where Numba expects it already
        for kind in first if isinstance(first, tuple) else (first,):
            if not PLAIN:
                _define(function, result, kind, *kinds, by=by)
        return inlined(function) if PLAIN else function

    return decorate


def _define_operator(function: Any, kind: Vector, result: Vector, by: Callable[[Any, Any, Any], Any]) -> None:
    """Define an operator of two vectors, and of a vector and a number."""
    _define(function, result, kind, kind, by=by)
    with_number = kind, kind.of_one
    _define(function, result, *with_number, by=lambda builder, one, other: by(builder, one, _spread(builder, other)))


def _place(builder: Any, numbers: Any, index: Any) -> Any:
    place = builder.gep(numbers, [index], source_etype=_DOUBLE)
    # Up to llvmlite 0.44, LLVM has typed pointers. Later versions still check the types at stores.
    return builder.bitcast(place, _EIGHT.as_pointer()) if hasattr(place.type, "pointee") else place


def _read(builder: Any, numbers: Any, index: Any) -> Any:
    return builder.load(_place(builder, numbers, index), align=_DOUBLE_BYTES, typ=_EIGHT)


def _write(builder: Any, numbers: Any, index: Any, vector: Any) -> None:
    builder.store(vector, _place(builder, numbers, index), align=_DOUBLE_BYTES)


def _spread(builder: Any, value: Any) -> Any:
    empty = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
    first = builder.insert_element(empty, value, ir.Constant(_I32, 0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES))


def _count(builder: Any, bits: Any) -> Any:
    # Cut to 32 bits, because few processors can convert vectors of 64-bit integers to doubles.
    return builder.sitofp(builder.trunc(bits, ir.VectorType(_I32, LANES)), _EIGHT)


if not PLAIN:
    for _function, _of_numbers, _of_bits in (
        (operator.add, ir.IRBuilder.fadd, ir.IRBuilder.add),
        (operator.sub, ir.IRBuilder.fsub, ir.IRBuilder.sub),
    ):
        _define_operator(_function, _NUMBERS, _NUMBERS, _of_numbers)
        _define_operator(_function, _BITS, _BITS, _of_bits)
    _define_operator(operator.mul, _NUMBERS, _NUMBERS, ir.IRBuilder.fmul)
    _define_operator(operator.truediv, _NUMBERS, _NUMBERS, ir.IRBuilder.fdiv)
    _define_operator(operator.lshift, _BITS, _BITS, ir.IRBuilder.shl)
    _define_operator(operator.rshift, _BITS, _BITS, ir.IRBuilder.ashr)
    for _function, _sign in ((operator.lt, "<"), (operator.gt, ">"), (operator.ge, ">="), (operator.eq, "==")):
        _compare = partial(lambda sign, builder, *two: builder.fcmp_ordered(sign, *two), _sign)
        _define_operator(_function, _NUMBERS, _MARKS, _compare)


@_operation(_NUMBERS, _MEMORY, types.intp, by=_read)
def eight(numbers: Array, index: int) -> Array:
    """Return the eight doubles from an index on."""
    return numbers[index : index + LANES].copy()


@_operation(types.void, _MEMORY, types.intp, _NUMBERS, by=_write)
def write_eight(numbers: Array, index: int, vector: Array) -> None:
    """Write eight doubles from an index on."""
    numbers[index : index + LANES] = vector


@_operation(_NUMBERS, types.float64, by=_spread)
def spread(number: float) -> Array:
    """Return a vector that holds a double in every lane."""
    return np.full(LANES, number)


@_operation(types.float64, _NUMBERS, types.intp, by=ir.IRBuilder.extract_element)
def lane(vector: Array, place: int) -> float:
    """Return one double of a vector."""
    number: float = vector[place]
    return number


@_operation(_NUMBERS, _MARKS, _NUMBERS, _NUMBERS, by=ir.IRBuilder.select)
def choose(marks: Mask, yes: Array, no: Array) -> Array:
    """Return the lanes of `yes` where a mark is true, else those of `no`."""
    return np.where(marks, yes, no)


@_operation(_BITS, _NUMBERS, by=lambda builder, vector: builder.bitcast(vector, _BITS.in_llvm))
def bits_of(vector: Array) -> Whole:
    """Return the bits of doubles as integers."""
    return vector.view(np.int64)


@_operation(_NUMBERS, _BITS, by=lambda builder, bits: builder.bitcast(bits, _EIGHT))
def from_bits(bits: Whole) -> Array:
    """Return the doubles that have these bits."""
    return bits.view(np.float64)


@_operation(_NUMBERS, _BITS, by=_count)
def as_numbers(bits: Whole) -> Array:
    """Return integers as doubles."""
    return bits.astype(np.float64)
