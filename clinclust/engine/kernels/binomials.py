"""The predictives of eight binomial features at a time, as vector instructions.

`clinclust.engine.kernels.predictives.beta.binomial_predictives` computes those of one feature.

`clinclust.engine.kernels.plain` holds the same function in plain Python.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from clinclust.engine.kernels.vectors import (
    DOUBLE,
    I32,
    I64,
    LANES,
    Loop,
    intrinsic,
    load,
    memory_of,
    spread,
    store,
    vector,
)

__all__ = ["eight_binomials"]


@intrinsic
def eight_binomials(
    typing: Any, prior: Any, sums: Any, n_trials: Any, numbers: Any, left_numbers: Any, work: Any
) -> Any:
    """Fill the predictives of every level of eight binomials, with the same number of trials n, under one cluster.

    The predictive of level x is beta-binomial, C(n, x) a^(x) b^(n - x) / (a + b)^(n), with the posterior (a, b) and
    the rising factorial y^(x) = y (y + 1) ... (y + x - 1). For the cluster without one subject at level x, each factor
    y + j becomes y - 1 - j.

    Parameters
    ----------
    prior, sums : float64 (16,)
        The prior (a, b) of each feature, and the sufficient statistics of the cluster, which are added to it.
    n_trials : int
        n, at most 16, so that the binomial coefficient is exact and no product overflows.
    numbers, left_numbers : float64 (8 (n + 1),), overwritten
        p(level | cluster), feature by feature, and the same for the cluster without one subject at that level. The
        latter is 1 where the statistics exclude such a subject.
    work : float64 (16 (n + 1),), overwritten
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
