"""Scores of several subjects at once, in the lanes of vector registers."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from inspect import Signature, signature
from typing import Any

from llvmlite import ir
from numba import extending, types

from clinclust.engine.kernels.plain import BITS_OF_ROOT_HALF, LANES, LN2_HIGH, LN2_LOW, MANTISSA_BITS, R

# Numbers and memory of LLVM's intermediate representation, whose Python operators append instructions: arithmetic of
# vectors of eight doubles reads here as that of single numbers does in `clinclust.engine.kernels.plain`.

I32, I64, DOUBLE = ir.IntType(32), ir.IntType(64), ir.DoubleType()
VECTOR, BITS = ir.VectorType(DOUBLE, LANES), ir.VectorType(I64, LANES)
_DOUBLE_BYTES = 8
_SUMS = 4


def _operator(instruction: str) -> Callable[[Number, Number | float], Number]:
    """Return a method that appends an instruction for integers, or that for doubles, which has an f before its name."""

    def operate(self: Number, other: Number | float) -> Number:
        is_double = getattr(self.value.type, "element", self.value.type) == DOUBLE
        append = getattr(self.builder, f"f{instruction}" if is_double else instruction)
        return Number(self.builder, append(self.value, self._like(other)))

    return operate


class Number:
    """An integer or double, or a vector of them, that instructions compute; Python numbers become constants."""

    __add__, __sub__, __mul__, __truediv__ = _operator("add"), _operator("sub"), _operator("mul"), _operator("div")
    __and__, __lshift__, __rshift__ = _operator("and_"), _operator("shl"), _operator("ashr")

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def constant(self, number: float) -> Number:
        """Return a constant of the same type, in every lane."""
        return Number(self.builder, self._like(number))

    def _like(self, other: Number | float) -> Any:
        kind = self.value.type
        if isinstance(other, Number):
            return other.value
        return ir.Constant(kind, [other] * kind.count if hasattr(kind, "count") else other)

    def compared(self, sign: str, other: Number | float) -> Number:
        """Return whether doubles compare like this; false for NaN."""
        return Number(self.builder, self.builder.fcmp_ordered(sign, self.value, self._like(other)))

    def choose(self, yes: Number, no: Number) -> Number:
        """Return `yes` where this is true, else `no`."""
        return Number(self.builder, self.builder.select(self.value, yes.value, no.value))

    def cast(self, kind: Any) -> Number:
        """Return the same bits as another type."""
        return Number(self.builder, self.builder.bitcast(self.value, kind))

    def spread(self) -> Number:
        """Return a vector that holds this double in every lane."""
        nothing = ir.Constant(VECTOR, ir.Undefined)
        first = self.builder.insert_element(nothing, self.value, ir.Constant(I32, 0))
        return Number(self.builder, first).shuffled([0] * LANES, Number(self.builder, nothing))

    def shuffled(self, lanes: list[int], other: Number) -> Number:
        """Return the vector of these lanes of this vector and, behind its own, another one."""
        places = ir.Constant(ir.VectorType(I32, len(lanes)), lanes)
        return Number(self.builder, self.builder.shuffle_vector(self.value, other.value, places))

    def lane(self, place: int) -> Number:
        """Return one element of a vector."""
        return Number(self.builder, self.builder.extract_element(self.value, ir.Constant(I32, place)))


class Memory:
    """The elements of an array of doubles, or of integers of 32 or 64 bits, by their flat index."""

    def __init__(self, builder: Any, address: Any) -> None:
        self.builder, self.address = builder, address

    def one(self, index: Number, kind: Any = DOUBLE) -> Number:
        """Return an element of this type; integers as 64 bits."""
        value = self.builder.load(self.builder.gep(self.address, [index.value], source_etype=kind), typ=kind)
        return Number(self.builder, self.builder.sext(value, I64) if kind == I32 else value)

    def eight(self, index: Number) -> Number:
        """Return the eight doubles from an index on."""
        return Number(self.builder, self.builder.load(self._eight(index), align=_DOUBLE_BYTES, typ=VECTOR))

    def write_one(self, index: Number, number: Number) -> None:
        """Write a double."""
        self.builder.store(number.value, self.builder.gep(self.address, [index.value], source_etype=DOUBLE))

    def write_eight(self, index: Number, vector: Number) -> None:
        """Write eight doubles from an index on."""
        self.builder.store(vector.value, self._eight(index), align=_DOUBLE_BYTES)

    def _eight(self, index: Number) -> Any:
        place = self.builder.gep(self.address, [index.value], source_etype=DOUBLE)
        # Up to llvmlite 0.44, LLVM has typed pointers. Later versions still check the types at stores.
        return self.builder.bitcast(place, VECTOR.as_pointer()) if hasattr(place.type, "pointee") else place


def memory_of(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Return the address of the first element of an array, or of what `flat` returned."""
    return array if isinstance(kind, types.CPointer) else context.make_array(kind)(context, builder, array).data


def instructions(returns: Any) -> Callable[[Callable[..., Number | None]], Any]:
    """Make a function for kernels of one that writes its instructions, given each argument as `Number` or `Memory`."""

    def made(write: Callable[..., Number | None]) -> Any:
        def typed(_typing: Any, *kinds: Any) -> Any:
            numbers = ((types.Integer, types.intp), (types.Float, types.float64))
            kinds = tuple(next((to for kind, to in numbers if isinstance(it, kind)), it) for it in kinds)

            def build(context: Any, builder: Any, typed: Any, arguments: Any) -> Any:
                operands = [
                    Number(builder, value)
                    if isinstance(kind, types.Number)
                    else Memory(builder, memory_of(context, builder, kind, value))
                    for kind, value in zip(typed.args, arguments, strict=True)
                ]
                result = write(*operands)
                return context.get_dummy_value() if result is None else result.value

            return returns(*kinds), build

        first, *others = signature(write).parameters.values()
        intrinsic: Any = update_wrapper(typed, write)
        # Numba binds arguments to the names of a signature, the first of which is its typing context.
        intrinsic.__signature__ = Signature([first.replace(name="typing"), first, *others])
        return extending.intrinsic(intrinsic)

    return made


class Loop:
    """A loop under construction, `for index in range(0, stop, step)`, that carries values from turn to turn."""

    def __init__(self, stop: Number, step: int, carried: list[Number]) -> None:
        self.builder, self._carried_in = stop.builder, carried
        self._entry = self.builder.block
        self._body = self.builder.append_basic_block("turn")
        self._end = self.builder.append_basic_block("over")
        self._stop, self._step = stop, step
        self._branch(stop.constant(0))
        self.builder.position_at_end(self._body)
        self.index = self._incoming([(stop.constant(0), self._entry)])
        self.carried = [self._incoming([(number, self._entry)]) for number in carried]

    def _branch(self, index: Number) -> None:
        ahead = self.builder.icmp_signed("<", index.value, self._stop.value)
        self.builder.cbranch(ahead, self._body, self._end)

    def _incoming(self, numbers: list[tuple[Number, Any]]) -> Number:
        phi = self.builder.phi(numbers[0][0].value.type)
        for number, block in numbers:
            phi.add_incoming(number.value, block)
        return Number(self.builder, phi)

    def close(self, carried: list[Number]) -> list[Number]:
        """End the body of the loop with the carried values of the next turn; return the values after the loop."""
        last, following = self.builder.block, self.index + self._step
        for phi, number in zip([self.index, *self.carried], [following, *carried], strict=True):
            phi.value.add_incoming(number.value, last)
        self._branch(following)
        self.builder.position_at_end(self._end)
        pairs = zip(self._carried_in, carried, strict=True)
        return [self._incoming([(before, self._entry), (after, last)]) for before, after in pairs]


def split(x: Number) -> tuple[Number, Number]:
    """Return e and m of eight positive normal numbers x = 2^e m, with m between sqrt(1/2) and sqrt(2)."""
    bits = x.cast(BITS)
    exponent = (bits - BITS_OF_ROOT_HALF) >> MANTISSA_BITS
    return exponent, (bits - (exponent << MANTISSA_BITS)).cast(VECTOR)


def log(x: Number) -> Number:
    """Return ln x of eight positive normal numbers, with an error below one unit in the last place."""
    return log_of_split(*split(x))


def log_of_split(exponent: Number, mantissa: Number) -> Number:
    """Return ln(2^e m)."""
    # The exponents are cut to 32 bits, because few processors can convert vectors of 64-bit integers to doubles.
    builder = exponent.builder
    power = Number(builder, builder.sitofp(builder.trunc(exponent.value, ir.VectorType(I32, LANES)), VECTOR))
    f = mantissa - 1.0
    s = f / (f + 2.0)
    z = s * s
    r = z.constant(R[-1])
    for coefficient in R[-2::-1]:
        r = z * r + coefficient
    r = z * r
    half_square = f * 0.5 * f
    small = s * (half_square + r) + power * LN2_LOW
    return power * LN2_HIGH - ((half_square - small) - f)


def sum_side_by_side(count: Number, begin: Number, term: Callable[[Number], Number]) -> Number:
    """Return begin + term(0) + ... + term(count - 1)."""
    whole = count & -_SUMS
    loop = Loop(whole, _SUMS, [begin] + [begin.constant(0.0)] * (_SUMS - 1))
    total, *others = loop.close([carried + term(loop.index + turn) for turn, carried in enumerate(loop.carried)])
    for other in others:
        total = total + other
    rest = Loop(count - whole, 1, [total])
    (total,) = rest.close([rest.carried[0] + term(whole + rest.index)])
    return total


# The innermost loops over eight clusters or eight features at a time, as vector instructions.
#
# They use IEEE additions, multiplications and divisions in a fixed order, and no fused operations, so that all
# processors give the same bits. `clinclust.engine.kernels.plain` holds the same functions in plain Python.
#
# The last axis of an array must be contiguous, and its length C a multiple of eight; `first` is the index of the first
# of eight clusters; `start` and `count` are the flat index of the first code, in memory order, and the number of codes.


@instructions(types.void)
def add_rows(
    scores: Memory,
    weights: Memory,
    first: Number,
    table: Memory,
    stride: Number,
    codes: Memory,
    start: Number,
    count: Number,
) -> None:
    """Sum selected rows of a table in eight columns k: scores[k] = weights[k] + sum_j table[codes[start + j], k].

    Scores and weights are float64 (C,), the table is float64 (R, C), `stride` is C, and codes are int32.
    """

    def row(index: Number) -> Number:
        return table.eight(codes.one(start + index, I32) * stride + first)

    scores.write_eight(first, sum_side_by_side(count, weights.eight(first), row))


@instructions(types.float64)
def highest(scores: Memory, count: Number) -> Number:
    """Return the highest of the first `count` scores (C,), rounded up to a multiple of eight; none may be NaN."""
    nothing = ir.Constant(VECTOR, [float("-inf")] * LANES)
    loop = Loop(count, LANES, [Number(count.builder, nothing)])
    (best,) = loop.close([_larger(loop.carried[0], scores.eight(loop.index))])
    width = LANES
    while width > 1:  # compare the upper half with the lower half
        width //= 2
        low, high = (best.shuffled(list(range(at, at + width)), best) for at in (0, width))
        best = _larger(low, high)
    return best.lane(0)


def _larger(one: Number, other: Number) -> Number:
    return one.compared(">", other).choose(one, other)


@instructions(types.float64)
def sum_rows(table: Memory, codes: Memory, start: Number, count: Number) -> Number:
    """Return the sum of table[codes[start + j]] over j < count, of a table float64 (R,) and codes int32."""
    nothing = Number(count.builder, ir.Constant(DOUBLE, 0.0))
    return sum_side_by_side(count, nothing, lambda index: table.one(codes.one(start + index, I32)))


@instructions(types.void)
def add_log_terms(
    scores: Memory, first: Number, coefficients: Memory, column: Number, stride: Number, z: Number
) -> None:
    """Add the log predictives of one value z: scores[k] += c0 - c1 ln(1 + c2 (z - c3)^2) for eight clusters k.

    The coefficients c0 .. c3 of each feature and cluster are float64 (D, 4, C); `column` is the feature, `stride` is C.
    """
    c = [coefficients.eight(first + (column * 4 + part) * stride) for part in range(4)]
    apart = z.spread() - c[3]
    term = c[0] - c[1] * log(c[2] * (apart * apart) + 1.0)
    scores.write_eight(first, scores.eight(first) + term)


@instructions(types.void)
def add_log_products(
    scores: Memory, first: Number, coefficients: Memory, columns: Memory, count: Number, stride: Number, values: Memory
) -> None:
    """Add the log predictives of several values whose features have the same c1, with one logarithm of a product.

    scores[k] += sum_j c0 - c1 ln prod_j [1 + c2 (values[columns[j]] - c3)^2] for eight clusters k and the first `count`
    columns, int64, without NaN values. The c1 is that of the first column.
    """

    def coefficient(column: Number, part: int) -> Number:
        return coefficients.eight(first + (column * 4 + part) * stride)

    def multiplied(place: Number, exponent: Number, mantissa: Number, total: Number) -> list[Number]:
        column = columns.one(place, I64)
        z = values.one(column).spread()
        observed = z.compared("==", z)
        apart = z - coefficient(column, 3)
        inner = coefficient(column, 2) * (apart * apart) + 1.0
        # The exponent is split off after every factor, so that no product can overflow.
        more, mantissa = split(mantissa * observed.choose(inner, one))
        return [exponent + more, mantissa, total + observed.choose(coefficient(column, 0), nothing)]

    total = scores.eight(first)
    one, nothing, no_power = total.constant(1.0), total.constant(0.0), Number(first.builder, ir.Constant(BITS, None))
    # Two independent products, so that a multiplication does not wait for the result of the previous one.
    even = count & -2
    pairs = Loop(even, 2, [no_power, one, total, no_power, one, nothing])
    left = multiplied(pairs.index, *pairs.carried[:3])
    right = multiplied(pairs.index + 1, *pairs.carried[3:])
    left, right = (parts := pairs.close(left + right))[:3], parts[3:]
    last = Loop(count - even, 1, left)
    left = last.close(multiplied(even + last.index, *last.carried))
    more, mantissa = split(left[1] * right[1])
    logarithm = log_of_split(left[0] + right[0] + more, mantissa)
    power = coefficient(columns.one(count.constant(0), I64), 1)
    scores.write_eight(first, left[2] + right[2] - power * logarithm)


@instructions(types.float64)
def sum_log_terms(values: Memory, coefficients: Memory, start: Number, width: Number, least: Number) -> Number:
    """Return the sum over features of c0 + c1 ln(1 - c2 (z - c3)^2). Features whose z is NaN are skipped.

    The result is NaN if 1 - c2 (z - c3)^2 is below `least` for any feature: too many digits are lost. The values z are
    float64 (width,); c0 .. c3, of this length each, follow each other from flat index `start` on.
    """
    zero, unit = (Number(width.builder, ir.Constant(VECTOR, [number] * LANES)) for number in (0.0, 1.0))
    loop = Loop(width, LANES, [zero, unit])
    total, lowest = loop.carried
    c = [coefficients.eight(start + loop.index + width * part) for part in range(4)]
    z = values.eight(loop.index)
    observed = z.compared("==", z)
    apart = z - c[3]
    inner = observed.choose(unit - c[2] * (apart * apart), unit)
    lowest = inner.compared("<", lowest).choose(inner, lowest)
    # `log` needs positive numbers. Where this one is too low, the result is NaN anyway.
    inner = inner.compared("<", 1e-300).choose(unit, inner)
    total, lowest = loop.close([total + observed.choose(c[0] + c[1] * log(inner), zero), lowest])
    result = total.lane(0)
    for lane in range(1, LANES):
        result = result + total.lane(lane)
    for lane in range(LANES):
        result = lowest.lane(lane).compared("<", least).choose(result.constant(float("nan")), result)
    return result


@instructions(types.void)
def log_in_place(numbers: Memory, count: Number) -> None:
    """Replace the first `count` elements, rounded up to a multiple of eight, positive normal numbers, by logarithms."""
    loop = Loop(count, LANES, [])
    numbers.write_eight(loop.index, log(numbers.eight(loop.index)))
    loop.close([])


@instructions(types.void)
def eight_binomials(
    prior: Memory, sums: Memory, n_trials: Number, numbers: Memory, left_numbers: Memory, work: Memory
) -> None:
    """Fill the predictives of every level of eight binomials, with the same number of trials n, under one cluster.

    The predictive of level x is beta-binomial, C(n, x) a^(x) b^(n - x) / (a + b)^(n), with the posterior (a, b) and the
    rising factorial y^(x) = y (y + 1) ... (y + x - 1). For the cluster without one subject at level x, each factor y +
    j becomes y - 1 - j.

    Prior and sums are (a, b) and the statistics of each feature, (16,); n is at most 16, so that no product overflows.
    `numbers` and `left_numbers`, (8 (n + 1),), are overwritten feature by feature, the latter with 1 where the
    statistics exclude a subject at that level; `work` has 16 (n + 1) elements.
    """
    n_levels = n_trials + 1
    falling_at = n_levels * LANES

    def pairs(memory: Memory) -> list[Number]:
        low, high = (memory.eight(n_trials.constant(start)) for start in (0, LANES))
        return [low.shuffled(list(range(odd, 2 * LANES, 2)), high) for odd in (0, 1)]

    (a, b), (s, t) = pairs(prior), pairs(sums)
    a, b = a + s, b + t
    total, one, nothing = a + b, a.constant(1.0), a.constant(0.0)
    loop = Loop(n_trials, 1, [one, one, one, one, nothing])
    b_up, b_down, all_up, all_down, turn = loop.carried
    work.write_eight(loop.index * LANES, b_up)
    work.write_eight(falling_at + loop.index * LANES, b_down)
    factors = [b_up * (b + turn), b_down * (b - 1.0 - turn), all_up * (total + turn), all_down * (total - 1.0 - turn)]
    b_up, b_down, all_up, all_down, _ = loop.close([*factors, turn + 1.0])
    work.write_eight(n_trials * LANES, b_up)
    work.write_eight(falling_at + n_trials * LANES, b_down)
    above, below = one / all_up, one / all_down

    loop = Loop(n_levels, 1, [one, one, nothing, one])
    a_up, a_down, level, coefficient = loop.carried
    trials = Number(n_trials.builder, n_trials.builder.uitofp(n_trials.value, DOUBLE)).spread()
    others, place = trials - level, (n_trials - loop.index) * LANES
    with_all = a_up * work.eight(place) * above * coefficient
    without = a_down * work.eight(falling_at + place) * below * coefficient
    possible = s.compared(">=", level) & t.compared(">=", others)
    without = possible.choose(without, one)
    for lane in range(LANES):
        row = n_levels * lane + loop.index
        numbers.write_one(row, with_all.lane(lane))
        left_numbers.write_one(row, without.lane(lane))
    following = level + 1.0
    # The quotient is exact, because it is a whole number.
    loop.close([a_up * (a + level), a_down * (a - 1.0 - level), following, coefficient * others / following])
