"""Scores of several subjects at once, in the lanes of vector registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import extending, types

from clinclust.engine.kernels.plain import BITS_OF_ROOT_HALF, LANES, LN2_HIGH, LN2_LOW, MANTISSA_BITS, R

# Operations on vectors of eight doubles in LLVM's intermediate representation, for the innermost loops.

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
    """Return the address of the first element of an array, or of what `flat` returned."""
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


# The innermost loops over eight clusters or eight features at a time, as vector instructions.
#
# They use IEEE additions, multiplications and divisions in a fixed order, and no fused operations, so that all
# processors give the same bits. `clinclust.engine.kernels.plain` holds the same functions in plain Python.
#
# The last axis of an array must be contiguous, and its length C a multiple of eight; `first` is the index of the first
# of eight clusters; `start` and `count` are the flat index of the first code, in memory order, and the number of codes.


@intrinsic
def add_rows(
    typing: Any, scores: Any, weights: Any, first: Any, table: Any, stride: Any, codes: Any, start: Any, count: Any
) -> Any:
    """Sum selected rows of a table in eight columns k: scores[k] = weights[k] + sum_j table[codes[start + j], k].

    Scores and weights are float64 (C,), the table is float64 (R, C), `stride` is C, and codes are int32.
    """
    signature = types.void(scores, weights, types.intp, table, types.intp, codes, types.intp, types.intp)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, stride, start, count = (arguments[index] for index in (2, 4, 6, 7))
        scores, weights, table, codes = (
            memory_of(context, builder, signature.args[place], arguments[place]) for place in (0, 1, 3, 5)
        )

        def row(index: Any) -> Any:
            code = builder.sext(load_one(builder, codes, builder.add(start, index), I32), I64)
            return load(builder, table, builder.add(builder.mul(code, stride), first))

        total = sum_side_by_side(builder, count, load(builder, weights, first), row)
        store(builder, total, scores, first)
        return context.get_dummy_value()

    return signature, build


@intrinsic
def highest(typing: Any, scores: Any, count: Any) -> Any:
    """Return the highest of the first `count` scores (C,), rounded up to a multiple of eight; none may be NaN."""
    signature = types.float64(scores, types.intp)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        scores = memory_of(context, builder, signature.args[0], arguments[0])
        loop = Loop(builder, arguments[1], LANES, [vector(float("-inf"))])
        (best,) = loop.close([_larger(builder, loop.carried[0], load(builder, scores, loop.index))])
        width = LANES
        while width > 1:  # compare the upper half with the lower half
            width //= 2
            lanes = ir.VectorType(I32, width)
            nothing = ir.Constant(best.type, ir.Undefined)
            low = builder.shuffle_vector(best, nothing, ir.Constant(lanes, list(range(width))))
            high = builder.shuffle_vector(best, nothing, ir.Constant(lanes, list(range(width, 2 * width))))
            best = _larger(builder, low, high)
        return builder.extract_element(best, ir.Constant(I32, 0))

    return signature, build


def _larger(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", one, other), one, other)


@intrinsic
def sum_rows(typing: Any, table: Any, codes: Any, start: Any, count: Any) -> Any:
    """Return the sum of table[codes[start + j]] over j < count, of a table float64 (R,) and codes int32."""
    signature = types.float64(table, codes, types.intp, types.intp)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start, count = arguments[2:]
        table = memory_of(context, builder, signature.args[0], arguments[0])
        codes = memory_of(context, builder, signature.args[1], arguments[1])

        def entry(index: Any) -> Any:
            code = builder.sext(load_one(builder, codes, builder.add(start, index), I32), I64)
            return load_one(builder, table, code, DOUBLE)

        return sum_side_by_side(builder, count, ir.Constant(DOUBLE, 0.0), entry)

    return signature, build


@intrinsic
def add_log_terms(typing: Any, scores: Any, first: Any, coefficients: Any, column: Any, stride: Any, z: Any) -> Any:
    """Add the log predictives of one value z: scores[k] += c0 - c1 ln(1 + c2 (z - c3)^2) for eight clusters k.

    The coefficients c0 .. c3 of each feature and cluster are float64 (D, 4, C); `column` is the feature, `stride` is C.
    """
    signature = types.void(scores, types.intp, coefficients, types.intp, types.intp, types.float64)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, column, stride = arguments[1], arguments[3], arguments[4]
        scores = memory_of(context, builder, signature.args[0], arguments[0])
        coefficients = memory_of(context, builder, signature.args[2], arguments[2])
        start = builder.add(first, builder.mul(builder.mul(column, ir.Constant(I64, 4)), stride))
        c = []
        for _ in range(4):
            c.append(load(builder, coefficients, start))
            start = builder.add(start, stride)
        apart = builder.fsub(spread(builder, arguments[5]), c[3])
        inner = builder.fadd(vector(1.0), builder.fmul(c[2], builder.fmul(apart, apart)))
        term = builder.fsub(c[0], builder.fmul(c[1], log(builder, inner)))
        store(builder, builder.fadd(load(builder, scores, first), term), scores, first)
        return context.get_dummy_value()

    return signature, build


@intrinsic
def add_log_products(
    typing: Any, scores: Any, first: Any, coefficients: Any, columns: Any, count: Any, stride: Any, values: Any
) -> Any:
    """Add the log predictives of several values whose features have the same c1, with one logarithm of a product.

    scores[k] += sum_j c0 - c1 ln prod_j [1 + c2 (values[columns[j]] - c3)^2] for eight clusters k and the first `count`
    columns, int64, without NaN values. The c1 is that of the first column.
    """
    signature = types.void(scores, types.intp, coefficients, columns, types.intp, types.intp, values)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        first, count, stride = arguments[1], arguments[4], arguments[5]
        scores, coefficients, columns, values = (
            memory_of(context, builder, kinds[place], arguments[place]) for place in (0, 2, 3, 6)
        )

        def coefficient(column: Any, part: int) -> Any:
            row = builder.add(builder.mul(column, ir.Constant(I64, 4)), ir.Constant(I64, part))
            return load(builder, coefficients, builder.add(first, builder.mul(row, stride)))

        one, nothing = vector(1.0), ir.Constant(VECTOR, None)

        def multiplied(place: Any, exponent: Any, mantissa: Any, total: Any) -> list[Any]:
            column = load_one(builder, columns, place, I64)
            z = spread(builder, load_one(builder, values, column, DOUBLE))
            observed = builder.fcmp_ordered("==", z, z)
            apart = builder.fsub(z, coefficient(column, 3))
            inner = builder.fadd(one, builder.fmul(coefficient(column, 2), builder.fmul(apart, apart)))
            inner = builder.select(observed, inner, one)
            constant = builder.select(observed, coefficient(column, 0), nothing)
            # The exponent is split off after every factor, so that no product can overflow.
            more, mantissa = split(builder, builder.fmul(mantissa, inner))
            return [builder.add(exponent, more), mantissa, builder.fadd(total, constant)]

        # Two independent products, so that a multiplication does not wait for the result of the previous one.
        even = builder.and_(count, ir.Constant(I64, -2))
        start = [ir.Constant(BITS, None), one, load(builder, scores, first)]
        pairs = Loop(builder, even, 2, [*start, ir.Constant(BITS, None), one, nothing])
        left = multiplied(pairs.index, *pairs.carried[:3])
        right = multiplied(builder.add(pairs.index, ir.Constant(I64, 1)), *pairs.carried[3:])
        left, right = (parts := pairs.close(left + right))[:3], parts[3:]
        last = Loop(builder, builder.sub(count, even), 1, left)
        left = last.close(multiplied(builder.add(even, last.index), *last.carried))
        more, mantissa = split(builder, builder.fmul(left[1], right[1]))
        exponent = builder.add(builder.add(left[0], right[0]), more)
        total = builder.fadd(left[2], right[2])
        logarithm = log_of_split(builder, exponent, mantissa)
        power = coefficient(builder.load(columns, typ=I64), 1)
        store(builder, builder.fsub(total, builder.fmul(power, logarithm)), scores, first)
        return context.get_dummy_value()

    return signature, build


@intrinsic
def sum_log_terms(typing: Any, values: Any, coefficients: Any, start: Any, width: Any, least: Any) -> Any:
    """Return the sum over features of c0 + c1 ln(1 - c2 (z - c3)^2). Features whose z is NaN are skipped.

    The result is NaN if 1 - c2 (z - c3)^2 is below `least` for any feature: too many digits are lost. The values z are
    float64 (width,); c0 .. c3, of this length each, follow each other from flat index `start` on.
    """
    signature = types.float64(values, coefficients, types.intp, types.intp, types.float64)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start, width, least = arguments[2:]
        values = memory_of(context, builder, signature.args[0], arguments[0])
        coefficients = memory_of(context, builder, signature.args[1], arguments[1])
        nothing = ir.Constant(VECTOR, None)
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
        # `log` needs positive numbers. Where this one is too low, the result is NaN anyway.
        inner = builder.select(builder.fcmp_ordered("<", inner, vector(1e-300)), vector(1.0), inner)
        term = builder.fadd(c[0], builder.fmul(c[1], log(builder, inner)))
        total = builder.fadd(loop.carried[0], builder.select(observed, term, nothing))
        total, lowest = loop.close([total, lowest])
        lanes = [builder.extract_element(total, ir.Constant(I32, lane)) for lane in range(LANES)]
        result = lanes[0]
        for lane in lanes[1:]:
            result = builder.fadd(result, lane)
        for lane in range(LANES):
            low = builder.fcmp_ordered("<", builder.extract_element(lowest, ir.Constant(I32, lane)), least)
            result = builder.select(low, ir.Constant(DOUBLE, float("nan")), result)
        return result

    return signature, build


@intrinsic
def log_in_place(typing: Any, numbers: Any, count: Any) -> Any:
    """Replace the first `count` elements, rounded up to a multiple of eight, positive normal numbers, by logarithms."""
    signature = types.void(numbers, types.intp)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        numbers = memory_of(context, builder, signature.args[0], arguments[0])
        loop = Loop(builder, arguments[1], LANES, [])
        store(builder, log(builder, load(builder, numbers, loop.index)), numbers, loop.index)
        loop.close([])
        return context.get_dummy_value()

    return signature, build


@intrinsic
def eight_binomials(
    typing: Any, prior: Any, sums: Any, n_trials: Any, numbers: Any, left_numbers: Any, work: Any
) -> Any:
    """Fill the predictives of every level of eight binomials, with the same number of trials n, under one cluster.

    The predictive of level x is beta-binomial, C(n, x) a^(x) b^(n - x) / (a + b)^(n), with the posterior (a, b) and the
    rising factorial y^(x) = y (y + 1) ... (y + x - 1). For the cluster without one subject at level x, each factor y +
    j becomes y - 1 - j.

    Prior and sums are (a, b) and the statistics of each feature, (16,); n is at most 16, so that no product overflows.
    `numbers` and `left_numbers`, (8 (n + 1),), are overwritten feature by feature, the latter with 1 where the
    statistics exclude a subject at that level; `work` has 16 (n + 1) elements.
    """
    signature = types.void(prior, sums, types.intp, numbers, left_numbers, work)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, n = signature.args, arguments[2]
        prior, sums, numbers, left_numbers, work = (
            memory_of(context, builder, kinds[place], arguments[place]) for place in (0, 1, 3, 4, 5)
        )
        one, many = vector(1.0), builder.add(n, ir.Constant(I64, 1))
        trials = spread(builder, builder.uitofp(n, DOUBLE))
        falling_at = builder.mul(many, ir.Constant(I64, LANES))

        def pairs(address: Any) -> tuple[Any, Any]:
            halves = [load(builder, address, ir.Constant(I64, start)) for start in (0, LANES)]
            places = [ir.Constant(ir.VectorType(I32, LANES), list(range(odd, 2 * LANES, 2))) for odd in (0, 1)]
            return builder.shuffle_vector(*halves, places[0]), builder.shuffle_vector(*halves, places[1])

        def multiplied(products: list[Any], rising: list[Any], turn: Any) -> list[Any]:
            """Multiply each product by y + j or by y - 1 - j, alternately, and increase j by 1."""
            factors = [
                builder.fadd(y, turn) if up else builder.fsub(builder.fsub(y, one), turn)
                for y, up in zip(rising, (True, False) * 2, strict=False)
            ]
            grown = [builder.fmul(product, factor) for product, factor in zip(products, factors, strict=True)]
            return [*grown, builder.fadd(turn, one)]

        (a, b), (s, t) = pairs(prior), pairs(sums)
        a, b = builder.fadd(a, s), builder.fadd(b, t)
        total, nothing = builder.fadd(a, b), vector(0.0)
        loop = Loop(builder, n, 1, [one] * 4 + [nothing])
        place = builder.mul(loop.index, ir.Constant(I64, LANES))
        store(builder, loop.carried[0], work, place)
        store(builder, loop.carried[1], work, builder.add(falling_at, place))
        b_up, b_down, all_up, all_down, _ = loop.close(
            multiplied(loop.carried[:4], [b, b, total, total], loop.carried[4])
        )
        place = builder.mul(n, ir.Constant(I64, LANES))
        store(builder, b_up, work, place)
        store(builder, b_down, work, builder.add(falling_at, place))
        all_up, all_down = builder.fdiv(one, all_up), builder.fdiv(one, all_down)

        loop = Loop(builder, many, 1, [one, one, nothing, one])
        a_up, a_down, level, coefficient = loop.carried
        others = builder.fsub(trials, level)
        place = builder.mul(builder.sub(n, loop.index), ir.Constant(I64, LANES))
        with_all = builder.fmul(builder.fmul(a_up, load(builder, work, place)), all_up)
        falling = load(builder, work, builder.add(falling_at, place))
        without = builder.fmul(builder.fmul(a_down, falling), all_down)
        possible = builder.and_(builder.fcmp_ordered(">=", s, level), builder.fcmp_ordered(">=", t, others))
        with_all = builder.fmul(with_all, coefficient)
        without = builder.select(possible, builder.fmul(without, coefficient), one)
        for lane in range(LANES):
            row = builder.add(builder.mul(many, ir.Constant(I64, lane)), loop.index)
            for values, address in ((with_all, numbers), (without, left_numbers)):
                value = builder.extract_element(values, ir.Constant(I32, lane))
                builder.store(value, builder.gep(address, [row], source_etype=DOUBLE))
        up, down, following = multiplied([a_up, a_down], [a, a], level)
        # The quotient is exact, because it is a whole number.
        loop.close([up, down, following, builder.fdiv(builder.fmul(coefficient, others), following)])
        return context.get_dummy_value()

    return signature, build
