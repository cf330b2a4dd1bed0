"""Operations on vectors of eight doubles in LLVM's intermediate representation, for the innermost loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import extending, types

from clinclust.engine.kernels.plain import BITS_OF_ROOT_HALF, LANES, LN2_HIGH, LN2_LOW, MANTISSA_BITS, R

# Callers do not pass the first parameter, numba's typing context. The type therefore does not list the parameters.
intrinsic: Callable[[Callable[..., Any]], Callable[..., Any]] = extending.intrinsic

I32, I64, DOUBLE = ir.IntType(32), ir.IntType(64), ir.DoubleType()
VECTOR, BITS = ir.VectorType(DOUBLE, LANES), ir.VectorType(I64, LANES)
_DOUBLE_BYTES = 8
_SUMS = 4


def vector(value: float) -> Any:
    """Return a constant vector that holds the same number eight times."""
    return ir.Constant(VECTOR, [value] * LANES)


def _bits(value: int) -> Any:
    return ir.Constant(BITS, [value] * LANES)


def spread(builder: Any, scalar: Any) -> Any:
    """Return a vector that holds an LLVM scalar in every lane."""
    one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), scalar, ir.Constant(I32, 0))
    everywhere = ir.Constant(ir.VectorType(I32, LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(VECTOR, ir.Undefined), everywhere)


def memory_of(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Return the address of the first element of an array or of a result of `clinclust.compiled.flat`."""
    return array if isinstance(kind, types.CPointer) else context.make_array(kind)(context, builder, array).data


def load(builder: Any, address: Any, index: Any) -> Any:
    """Return the eight doubles from element `index` on."""
    return builder.load(_address_of(builder, address, index), align=_DOUBLE_BYTES, typ=VECTOR)


def store(builder: Any, vector: Any, address: Any, index: Any) -> None:
    """Write eight doubles from element `index` on."""
    builder.store(vector, _address_of(builder, address, index), align=_DOUBLE_BYTES)


def _address_of(builder: Any, address: Any, index: Any) -> Any:
    """Return the address of the eight doubles from element `index` on."""
    place = builder.gep(address, [index], source_etype=DOUBLE)
    # Up to llvmlite 0.44, LLVM has typed pointers. Later versions still check the types at stores.
    return builder.bitcast(place, VECTOR.as_pointer()) if hasattr(place.type, "pointee") else place


def load_one(builder: Any, address: Any, index: Any, kind: Any) -> Any:
    """Return element `index`, of LLVM type `kind`."""
    return builder.load(builder.gep(address, [index], source_etype=kind), typ=kind)


def split(builder: Any, x: Any) -> tuple[Any, Any]:
    """Return e and m of eight positive normal numbers x = 2^e m, with m between sqrt(1/2) and sqrt(2)."""
    bits = builder.bitcast(x, BITS)
    exponent = builder.ashr(builder.sub(bits, _bits(BITS_OF_ROOT_HALF)), _bits(MANTISSA_BITS))
    return exponent, builder.bitcast(builder.sub(bits, builder.shl(exponent, _bits(MANTISSA_BITS))), VECTOR)


def log(builder: Any, x: Any) -> Any:
    """Return ln x of eight positive normal numbers, with an error below one unit in the last place."""
    return log_of_split(builder, *split(builder, x))


def log_of_split(builder: Any, exponent: Any, mantissa: Any) -> Any:
    """Return ln(2^e m)."""
    # The exponents are cut to 32 bits, because few processors can convert vectors of 64-bit integers to doubles.
    power = builder.sitofp(builder.trunc(exponent, ir.VectorType(I32, LANES)), VECTOR)
    f = builder.fsub(mantissa, vector(1.0))
    s = builder.fdiv(f, builder.fadd(f, vector(2.0)))
    z = builder.fmul(s, s)
    r = vector(R[-1])
    for coefficient in R[-2::-1]:
        r = builder.fadd(vector(coefficient), builder.fmul(z, r))
    r = builder.fmul(z, r)
    half_square = builder.fmul(builder.fmul(vector(0.5), f), f)
    small = builder.fadd(builder.fmul(s, builder.fadd(half_square, r)), builder.fmul(power, vector(LN2_LOW)))
    rest = builder.fsub(builder.fsub(half_square, small), f)
    return builder.fsub(builder.fmul(power, vector(LN2_HIGH)), rest)


class Loop:
    """A loop under construction, `for index in range(0, stop, step)`, that carries values from turn to turn."""

    def __init__(self, builder: Any, stop: Any, step: int, carried: list[Any]) -> None:
        self.builder, self.carried_in = builder, carried
        self.entry = builder.block
        self.body = builder.append_basic_block("turn")
        self.end = builder.append_basic_block("over")
        self.stop, self.step = stop, step
        zero = ir.Constant(I64, 0)
        builder.cbranch(builder.icmp_signed("<", zero, stop), self.body, self.end)
        builder.position_at_end(self.body)
        self.index = builder.phi(I64)
        self.index.add_incoming(zero, self.entry)
        self.carried = [builder.phi(value.type) for value in carried]
        for phi, value in zip(self.carried, carried, strict=True):
            phi.add_incoming(value, self.entry)

    def close(self, carried: list[Any]) -> list[Any]:
        """End the body of the loop with the carried values of the next turn; return the values after the loop."""
        builder, last = self.builder, self.builder.block
        following = builder.add(self.index, ir.Constant(I64, self.step))
        self.index.add_incoming(following, last)
        for phi, value in zip(self.carried, carried, strict=True):
            phi.add_incoming(value, last)
        builder.cbranch(builder.icmp_signed("<", following, self.stop), self.body, self.end)
        builder.position_at_end(self.end)
        results = []
        for before, after in zip(self.carried_in, carried, strict=True):
            phi = builder.phi(after.type)
            phi.add_incoming(before, self.entry)
            phi.add_incoming(after, last)
            results.append(phi)
        return results


def sum_side_by_side(builder: Any, count: Any, start: Any, term: Callable[[Any], Any]) -> Any:
    """Return start + term(0) + ... + term(count - 1)."""
    whole = builder.and_(count, ir.Constant(I64, -_SUMS))
    nothing = ir.Constant(start.type, None)
    loop = Loop(builder, whole, _SUMS, [start] + [nothing] * (_SUMS - 1))
    places = [builder.add(loop.index, ir.Constant(I64, turn)) for turn in range(_SUMS)]
    total, *others = loop.close(
        [builder.fadd(carried, term(place)) for carried, place in zip(loop.carried, places, strict=True)]
    )
    for other in others:
        total = builder.fadd(total, other)
    rest = Loop(builder, builder.sub(count, whole), 1, [total])
    (total,) = rest.close([builder.fadd(rest.carried[0], term(builder.add(whole, rest.index)))])
    return total
