"""The operations of `clinclust.engine.kernels.compiled` as instructions for vector registers, in compiled kernels.

They are IEEE operations in the order in which they are written, none of them fused, so that all processors give the
same bits.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar

from llvmlite import ir
from numba import extending, types
from numba.core.typing.templates import ConcreteTemplate, infer_global

from clinclust.engine.kernels import compiled
from clinclust.engine.kernels.compiled import LANES

_DOUBLE_BYTES = 8
_I32, _I64, _DOUBLE = ir.IntType(32), ir.IntType(64), ir.DoubleType()
_EIGHT = ir.VectorType(_DOUBLE, LANES)


class Vector(types.Type):
    """The type of eight numbers in a register."""

    def __init__(self, name: str, of_one: Any, in_llvm: Any) -> None:
        self.of_one, self.in_llvm = of_one, ir.VectorType(in_llvm, LANES)
        super().__init__(name=f"eight {name}")


_numba: Any = extending
_numba.register_model(Vector)(lambda manager, kind: _numba.models.PrimitiveModel(manager, kind, kind.in_llvm))
_NUMBERS, _BITS = Vector("numbers", types.float64, _DOUBLE), Vector("bits", types.int64, _I64)
_MARKS = Vector("marks", types.boolean, ir.IntType(1))
_pointer: Any = types.CPointer
_MEMORY = _pointer(types.float64), types.Array(types.float64, 1, "C")
"""What holds doubles: what `flat` returns, or a whole array."""


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


def _spread(builder: Any, value: Any) -> Any:
    first = builder.insert_element(
        ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined), value, ir.Constant(_I32, 0)
    )
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES))


def _define_operator(function: Any, kind: Vector, result: Vector, by: Callable[[Any, Any, Any], Any]) -> None:
    """Define an operator of two vectors, and of a vector and a number."""
    _define(function, result, kind, kind, by=by)
    _define(
        function, result, kind, kind.of_one, by=lambda builder, one, other: by(builder, one, _spread(builder, other))
    )


def _compare(sign: str) -> Callable[[Any, Any, Any], Any]:
    return lambda builder, one, other: builder.fcmp_ordered(sign, one, other)


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
    _define_operator(_function, _NUMBERS, _MARKS, _compare(_sign))


def _place(builder: Any, numbers: Any, index: Any) -> Any:
    place = builder.gep(numbers, [index], source_etype=_DOUBLE)
    # Up to llvmlite 0.44, LLVM has typed pointers. Later versions still check the types at stores.
    return builder.bitcast(place, _EIGHT.as_pointer()) if hasattr(place.type, "pointee") else place


def _read(builder: Any, numbers: Any, index: Any) -> Any:
    return builder.load(_place(builder, numbers, index), align=_DOUBLE_BYTES, typ=_EIGHT)


def _write(builder: Any, numbers: Any, index: Any, vector: Any) -> None:
    builder.store(vector, _place(builder, numbers, index), align=_DOUBLE_BYTES)


def _across(sign: str) -> Callable[[Any, Any], Any]:
    """Return instructions for the lane that compares like this with all others: one half is compared with the other."""

    def append(builder: Any, vector: Any) -> Any:
        width = LANES
        while width > 1:
            width //= 2
            lanes = [ir.Constant(ir.VectorType(_I32, width), list(range(at, at + width))) for at in (0, width)]
            low, high = (builder.shuffle_vector(vector, vector, half) for half in lanes)
            vector = builder.select(builder.fcmp_ordered(sign, low, high), low, high)
        return builder.extract_element(vector, ir.Constant(_I32, 0))

    return append


def _count(builder: Any, bits: Any) -> Any:
    # Cut to 32 bits, because few processors can convert vectors of 64-bit integers to doubles.
    return builder.sitofp(builder.trunc(bits, ir.VectorType(_I32, LANES)), _EIGHT)


for _kind in _MEMORY:
    _define(compiled.eight, _NUMBERS, _kind, types.intp, by=_read)
    _define(compiled.write_eight, types.void, _kind, types.intp, _NUMBERS, by=_write)
_define(compiled.spread, _NUMBERS, types.float64, by=_spread)
_define(compiled.lane, types.float64, _NUMBERS, types.intp, by=ir.IRBuilder.extract_element)
_define(compiled.choose, _NUMBERS, _MARKS, _NUMBERS, _NUMBERS, by=ir.IRBuilder.select)
_define(compiled.largest_of, types.float64, _NUMBERS, by=_across(">"))
_define(compiled.smallest_of, types.float64, _NUMBERS, by=_across("<"))
_define(compiled.bits_of, _BITS, _NUMBERS, by=lambda builder, vector: builder.bitcast(vector, _BITS.in_llvm))
_define(compiled.from_bits, _NUMBERS, _BITS, by=lambda builder, bits: builder.bitcast(bits, _EIGHT))
_define(compiled.as_numbers, _NUMBERS, _BITS, by=_count)
