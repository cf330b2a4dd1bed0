"""Eight clusters, or eight features, at a time: the innermost loops, written as vector instructions.

LLVM does not turn the loops of these shapes into vector code by itself, so they are spelled out in its intermediate
representation, on vectors of eight doubles; every processor runs them in as many pieces as its registers need. Only
IEEE additions, multiplications and divisions in a fixed order are used, none of them fused, so that all processors give
the same bits.

Arrays must be contiguous in their last axis, which must hold a multiple of eight numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numpy.typing import NDArray

__all__ = [
    "LANES",
    "Loop",
    "add_log_products",
    "add_log_terms",
    "add_rows",
    "highest",
    "intrinsic",
    "load",
    "log_in_place",
    "memory_of",
    "padded",
    "store",
    "sum_log_terms",
    "sum_rows",
    "vector",
]

LANES = 8

Array = NDArray[np.float64]

# Of its typing context, the first parameter, callers know nothing.
intrinsic: Callable[[Callable[..., Any]], Callable[..., Any]] = extending.intrinsic

_I32, _I64, _DOUBLE = ir.IntType(32), ir.IntType(64), ir.DoubleType()
_VECTOR, _BITS = ir.VectorType(_DOUBLE, LANES), ir.VectorType(_I64, LANES)
# ln(1 + f) = f - f^2 / 2 + s (f^2 / 2 + R(s^2)), s = f / (2 + f), with R of minimal error on sqrt(1/2) .. sqrt(2).
_R = (
    0.6666666666666735130,
    0.3999999999940941908,
    0.2857142874366239149,
    0.2222219843214978396,
    0.1818357216161805012,
    0.1531383769920937332,
    0.1479819860511658591,
)
# ln 2 in two parts, the first with so few digits that its products with exponents are exact.
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_BITS_OF_ROOT_HALF = 0x3FE6A09E667F3BCD
_MANTISSA_BITS = 52
_SUMS = 4


def padded(length: int) -> int:
    """Return the least multiple of eight that is not less."""
    return -(-length // LANES) * LANES


def vector(value: float) -> Any:
    """Return a vector of eight times the same number."""
    return ir.Constant(_VECTOR, [value] * LANES)


def _bits(value: int) -> Any:
    return ir.Constant(_BITS, [value] * LANES)


def _spread(builder: Any, scalar: Any) -> Any:
    """Return a vector with the same number in every lane."""
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), scalar, ir.Constant(_I32, 0))
    everywhere = ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), everywhere)


def memory_of(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Return the address of the first element of an array, or of what `clinclust.compiled.flat` makes of one."""
    return array if isinstance(kind, types.CPointer) else context.make_array(kind)(context, builder, array).data


def load(builder: Any, address: Any, index: Any) -> Any:
    """Return the eight doubles from element `index` on."""
    place = builder.bitcast(builder.gep(address, [index]), _VECTOR.as_pointer())
    vector = builder.load(place)
    vector.align = 8
    return vector


def store(builder: Any, vector: Any, address: Any, index: Any) -> None:
    """Write eight doubles from element `index` on."""
    place = builder.bitcast(builder.gep(address, [index]), _VECTOR.as_pointer())
    builder.store(vector, place).align = 8


def _split(builder: Any, x: Any) -> tuple[Any, Any]:
    """Return e and m of x = 2^e m with m in sqrt(1/2) .. sqrt(2), of eight positive normal numbers."""
    bits = builder.bitcast(x, _BITS)
    exponent = builder.ashr(builder.sub(bits, _bits(_BITS_OF_ROOT_HALF)), _bits(_MANTISSA_BITS))
    return exponent, builder.bitcast(builder.sub(bits, builder.shl(exponent, _bits(_MANTISSA_BITS))), _VECTOR)


def _log(builder: Any, x: Any) -> Any:
    """Return ln x of eight positive normal numbers, to less than one unit in the last place."""
    return _log_of_split(builder, *_split(builder, x))


def _log_of_split(builder: Any, exponent: Any, mantissa: Any) -> Any:
    """Return ln(2^e m)."""
    # Of 32 bits, because few processors turn whole numbers of 64 into doubles at once.
    power = builder.sitofp(builder.trunc(exponent, ir.VectorType(_I32, LANES)), _VECTOR)
    f = builder.fsub(mantissa, vector(1.0))
    s = builder.fdiv(f, builder.fadd(f, vector(2.0)))
    z = builder.fmul(s, s)
    r = vector(_R[-1])
    for coefficient in _R[-2::-1]:
        r = builder.fadd(vector(coefficient), builder.fmul(z, r))
    r = builder.fmul(z, r)
    half_square = builder.fmul(builder.fmul(vector(0.5), f), f)
    small = builder.fadd(builder.fmul(s, builder.fadd(half_square, r)), builder.fmul(power, vector(_LN2_LOW)))
    rest = builder.fsub(builder.fsub(half_square, small), f)
    return builder.fsub(builder.fmul(power, vector(_LN2_HIGH)), rest)


class Loop:
    """A counted loop under construction: for index in range(0, stop, step), with values carried from turn to turn."""

    def __init__(self, builder: Any, stop: Any, step: int, carried: list[Any]) -> None:
        self.builder, self.carried_in = builder, carried
        self.entry = builder.block
        self.body = builder.append_basic_block("turn")
        self.end = builder.append_basic_block("over")
        self.stop, self.step = stop, step
        zero = ir.Constant(_I64, 0)
        builder.cbranch(builder.icmp_signed("<", zero, stop), self.body, self.end)
        builder.position_at_end(self.body)
        self.index = builder.phi(_I64)
        self.index.add_incoming(zero, self.entry)
        self.carried = [builder.phi(value.type) for value in carried]
        for phi, value in zip(self.carried, carried, strict=True):
            phi.add_incoming(value, self.entry)

    def close(self, carried: list[Any]) -> list[Any]:
        """End the body; return the carried values after the loop."""
        builder, last = self.builder, self.builder.block
        following = builder.add(self.index, ir.Constant(_I64, self.step))
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


def _sum_side_by_side(builder: Any, count: Any, start: Any, term: Callable[[Any], Any]) -> Any:
    """Return start + term(0) + ... + term(count - 1), as several sums, so that no addition waits for the one before."""
    whole = builder.and_(count, ir.Constant(_I64, -_SUMS))
    nothing = ir.Constant(start.type, None)
    loop = Loop(builder, whole, _SUMS, [start] + [nothing] * (_SUMS - 1))
    places = [builder.add(loop.index, ir.Constant(_I64, turn)) for turn in range(_SUMS)]
    total, *others = loop.close(
        [builder.fadd(carried, term(place)) for carried, place in zip(loop.carried, places, strict=True)]
    )
    for other in others:
        total = builder.fadd(total, other)
    rest = Loop(builder, builder.sub(count, whole), 1, [total])
    (total,) = rest.close([builder.fadd(rest.carried[0], term(builder.add(whole, rest.index)))])
    return total


@intrinsic
def add_rows(
    typing: Any, scores: Any, weights: Any, first: Any, table: Any, stride: Any, codes: Any, start: Any, count: Any
) -> Any:
    """Add up eight columns of some rows of a table: scores[k] = weights[k] + sum_j table[codes[j], k].

    Parameters
    ----------
    scores : float64 (C,), modified in place
    weights : float64 (C,)
    first : int
        The first of the eight columns.
    table : float64 (R, C)
    stride : int
        C.
    codes : int32, any shape
    start, count : int
        Which of the codes, in the order of memory.
    """
    signature = types.void(scores, weights, types.intp, table, types.intp, codes, types.intp, types.intp)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, stride, start, count = (arguments[index] for index in (2, 4, 6, 7))
        scores, weights, table, codes = (
            memory_of(context, builder, signature.args[place], arguments[place]) for place in (0, 1, 3, 5)
        )

        def row(index: Any) -> Any:
            code = builder.sext(builder.load(builder.gep(codes, [builder.add(start, index)])), _I64)
            return load(builder, table, builder.add(builder.mul(code, stride), first))

        total = _sum_side_by_side(builder, count, load(builder, weights, first), row)
        store(builder, total, scores, first)
        return context.get_dummy_value()

    return signature, build


@intrinsic
def highest(typing: Any, scores: Any, count: Any) -> Any:
    """Return the highest of some scores, none of them NaN.

    Parameters
    ----------
    scores : float64 (C,)
    count : int
        How many; rounded up to a multiple of eight.
    """
    signature = types.float64(scores, types.intp)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        scores = memory_of(context, builder, signature.args[0], arguments[0])
        loop = Loop(builder, arguments[1], LANES, [vector(float("-inf"))])
        (best,) = loop.close([_larger(builder, loop.carried[0], load(builder, scores, loop.index))])
        width = LANES
        while width > 1:  # the upper half against the lower one
            width //= 2
            lanes = ir.VectorType(_I32, width)
            nothing = ir.Constant(best.type, ir.Undefined)
            low = builder.shuffle_vector(best, nothing, ir.Constant(lanes, list(range(width))))
            high = builder.shuffle_vector(best, nothing, ir.Constant(lanes, list(range(width, 2 * width))))
            best = _larger(builder, low, high)
        return builder.extract_element(best, ir.Constant(_I32, 0))

    return signature, build


def _larger(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", one, other), one, other)


@intrinsic
def sum_rows(typing: Any, table: Any, codes: Any, start: Any, count: Any) -> Any:
    """Return the sum of table[codes[start + j]], j < count.

    Parameters
    ----------
    table : float64 (R,)
    codes : int32, any shape
    start, count : int
        Which of the codes, in the order of memory.
    """
    signature = types.float64(table, codes, types.intp, types.intp)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start, count = arguments[2:]
        table = memory_of(context, builder, signature.args[0], arguments[0])
        codes = memory_of(context, builder, signature.args[1], arguments[1])

        def entry(index: Any) -> Any:
            code = builder.sext(builder.load(builder.gep(codes, [builder.add(start, index)])), _I64)
            return builder.load(builder.gep(table, [code]))

        return _sum_side_by_side(builder, count, ir.Constant(_DOUBLE, 0.0), entry)

    return signature, build


@intrinsic
def add_log_terms(typing: Any, scores: Any, first: Any, coefficients: Any, column: Any, stride: Any, z: Any) -> Any:
    """Add the log predictives of one value: scores[k] += c0 - c1 ln(1 + c2 (z - c3)^2) for eight clusters k.

    Parameters
    ----------
    scores : float64 (C,), modified in place
    first : int
        The first of the eight clusters.
    coefficients : float64 (D, 4, C)
    column, stride : int
        Which of the D features; C.
    z : float
    """
    signature = types.void(scores, types.intp, coefficients, types.intp, types.intp, types.float64)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, column, stride = arguments[1], arguments[3], arguments[4]
        scores = memory_of(context, builder, signature.args[0], arguments[0])
        coefficients = memory_of(context, builder, signature.args[2], arguments[2])
        start = builder.add(first, builder.mul(builder.mul(column, ir.Constant(_I64, 4)), stride))
        c = []
        for _ in range(4):
            c.append(load(builder, coefficients, start))
            start = builder.add(start, stride)
        apart = builder.fsub(_spread(builder, arguments[5]), c[3])
        inner = builder.fadd(vector(1.0), builder.fmul(c[2], builder.fmul(apart, apart)))
        term = builder.fsub(c[0], builder.fmul(c[1], _log(builder, inner)))
        store(builder, builder.fadd(load(builder, scores, first), term), scores, first)
        return context.get_dummy_value()

    return signature, build


@intrinsic
def add_log_products(
    typing: Any, scores: Any, first: Any, coefficients: Any, columns: Any, count: Any, stride: Any, values: Any
) -> Any:
    """Do what `add_log_terms` does for several features whose c1 are the same: one logarithm, of a product.

    scores[k] += sum_j c0 - c1 ln prod_j [1 + c2 (values[columns[j]] - c3)^2], values that are NaN left out.

    Parameters
    ----------
    scores, first, coefficients, stride
        As in `add_log_terms`.
    columns : int64
        Which of the D features; c1 is that of the first.
    count : int
    values : float64 (D,)
    """
    signature = types.void(scores, types.intp, coefficients, columns, types.intp, types.intp, values)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        first, count, stride = arguments[1], arguments[4], arguments[5]
        scores, coefficients, columns, values = (
            memory_of(context, builder, kinds[place], arguments[place]) for place in (0, 2, 3, 6)
        )

        def coefficient(column: Any, part: int) -> Any:
            row = builder.add(builder.mul(column, ir.Constant(_I64, 4)), ir.Constant(_I64, part))
            return load(builder, coefficients, builder.add(first, builder.mul(row, stride)))

        one, nothing = vector(1.0), ir.Constant(_VECTOR, None)

        def multiplied(place: Any, exponent: Any, mantissa: Any, total: Any) -> list[Any]:
            column = builder.load(builder.gep(columns, [place]))
            z = _spread(builder, builder.load(builder.gep(values, [column])))
            observed = builder.fcmp_ordered("==", z, z)
            apart = builder.fsub(z, coefficient(column, 3))
            inner = builder.fadd(one, builder.fmul(coefficient(column, 2), builder.fmul(apart, apart)))
            inner = builder.select(observed, inner, one)
            constant = builder.select(observed, coefficient(column, 0), nothing)
            # The exponent is taken off at every factor, so that no product can overflow.
            more, mantissa = _split(builder, builder.fmul(mantissa, inner))
            return [builder.add(exponent, more), mantissa, builder.fadd(total, constant)]

        # Two products side by side, so that no multiplication waits for the one before.
        even = builder.and_(count, ir.Constant(_I64, -2))
        start = [ir.Constant(_BITS, None), one, load(builder, scores, first)]
        pairs = Loop(builder, even, 2, [*start, ir.Constant(_BITS, None), one, nothing])
        left = multiplied(pairs.index, *pairs.carried[:3])
        right = multiplied(builder.add(pairs.index, ir.Constant(_I64, 1)), *pairs.carried[3:])
        left, right = (parts := pairs.close(left + right))[:3], parts[3:]
        last = Loop(builder, builder.sub(count, even), 1, left)
        left = last.close(multiplied(builder.add(even, last.index), *last.carried))
        more, mantissa = _split(builder, builder.fmul(left[1], right[1]))
        exponent = builder.add(builder.add(left[0], right[0]), more)
        total = builder.fadd(left[2], right[2])
        logarithm = _log_of_split(builder, exponent, mantissa)
        power = coefficient(builder.load(columns), 1)
        store(builder, builder.fsub(total, builder.fmul(power, logarithm)), scores, first)
        return context.get_dummy_value()

    return signature, build


@intrinsic
def sum_log_terms(typing: Any, values: Any, coefficients: Any, start: Any, width: Any, least: Any) -> Any:
    """Return the sum over features of c0 + c1 ln(1 - c2 (z - c3)^2), those whose z is NaN left out.

    NaN if for any of them 1 - c2 (z - c3)^2 is below `least`, where it has lost too many digits.

    Parameters
    ----------
    values : float64 (W,)
        z of each feature; W is a multiple of eight.
    coefficients : float64, any shape
        Holds c0 .. c3, each of length W, side by side from element `start` on.
    start, width : int
        width = W.
    least : float
    """
    signature = types.float64(values, coefficients, types.intp, types.intp, types.float64)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start, width, least = arguments[2:]
        values = memory_of(context, builder, signature.args[0], arguments[0])
        coefficients = memory_of(context, builder, signature.args[1], arguments[1])
        nothing = ir.Constant(_VECTOR, None)
        loop = Loop(builder, width, LANES, [nothing, vector(1.0)])
        place, c = builder.add(start, loop.index), []
        for _ in range(4):
            c.append(load(builder, coefficients, place))
            place = builder.add(place, width)
        z = load(builder, values, loop.index)
        observed = builder.fcmp_ordered("==", z, z)
        apart = builder.fsub(z, c[3])
        inner = builder.fsub(vector(1.0), builder.fmul(c[2], builder.fmul(apart, apart)))
        inner = builder.select(observed, inner, vector(1.0))
        lower = builder.fcmp_ordered("<", inner, loop.carried[1])
        lowest = builder.select(lower, inner, loop.carried[1])
        # The logarithm of what is too low is nobody's business; it must only not trap.
        inner = builder.select(builder.fcmp_ordered("<", inner, vector(1e-300)), vector(1.0), inner)
        term = builder.fadd(c[0], builder.fmul(c[1], _log(builder, inner)))
        total = builder.fadd(loop.carried[0], builder.select(observed, term, nothing))
        total, lowest = loop.close([total, lowest])
        lanes = [builder.extract_element(total, ir.Constant(_I32, lane)) for lane in range(LANES)]
        result = lanes[0]
        for lane in lanes[1:]:
            result = builder.fadd(result, lane)
        for lane in range(LANES):
            low = builder.fcmp_ordered("<", builder.extract_element(lowest, ir.Constant(_I32, lane)), least)
            result = builder.select(low, ir.Constant(_DOUBLE, float("nan")), result)
        return result

    return signature, build


@intrinsic
def log_in_place(typing: Any, numbers: Any, count: Any) -> Any:
    """Replace the first `count` positive normal numbers of an array, rounded up to a multiple of eight, by their ln."""
    signature = types.void(numbers, types.intp)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        numbers = memory_of(context, builder, signature.args[0], arguments[0])
        loop = Loop(builder, arguments[1], LANES, [])
        store(builder, _log(builder, load(builder, numbers, loop.index)), numbers, loop.index)
        loop.close([])
        return context.get_dummy_value()

    return signature, build
