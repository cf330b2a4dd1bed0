"""The sizes of subtypes that can be shown: no small size, and no size from which a small one can be inferred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from clinclust.arrays import Array
from clinclust.disclosure.counts import ALL_SUBJECTS, FeatureCounts
from clinclust.disclosure.rounding import rounded, rounding_error
from clinclust.errors import InputError


def sizes_given(shown: FeatureCounts, low: Array, high: Array, rounding: int) -> tuple[Array, Array]:
    """Narrow the lowest and the highest possible sizes, each (G,), by the rounded numbers of a feature."""
    below, above = rounding_error(rounding)
    other = np.full((int(shown.is_yes_no), len(low)), np.nan)
    levels = np.vstack([shown.count, other]) if shown.is_share else np.empty((0, len(low)))
    # The rows are the levels, the observed values, the missing ones, and the sizes.
    counts = np.vstack([levels, shown.n, shown.missing])
    first = np.vstack([np.where(np.isnan(counts), 0.0, np.maximum(counts - below, 0.0)), low])
    last = np.vstack([np.where(np.isnan(counts), high, counts + above), high])
    L = len(levels)
    while True:
        before = first.copy(), last.copy()
        if L > 0:
            _pass_through_sum(first[:L], last[:L], first[L], last[L])
        _pass_through_sum(first[L : L + 2], last[L : L + 2], first[L + 2], last[L + 2])
        _pass_through_sum(first[:, 1:].T, last[:, 1:].T, first[:, ALL_SUBJECTS], last[:, ALL_SUBJECTS])
        if (first > last).any():
            raise InputError(f"{shown.name}: no counts agree with every number shown")
        if np.array_equal(first, before[0]) and np.array_equal(last, before[1]):
            return first[-1], last[-1]


def _pass_through_sum(low: Array, high: Array, sum_low: Array, sum_high: Array) -> None:
    """Narrow the intervals of the parts, (parts, sums), and of their sums, (sums,), by each other, in place."""
    np.maximum(sum_low, low.sum(axis=0), out=sum_low)
    np.minimum(sum_high, high.sum(axis=0), out=sum_high)
    others_high, others_low = high.sum(axis=0) - high, low.sum(axis=0) - low
    np.maximum(low, sum_low - others_high, out=low)
    np.minimum(high, sum_high - others_low, out=high)


def shown_sizes(sizes: Mapping[int, int], threshold: int, rounding: int | None = None) -> dict[int, int | None]:
    """Return the size of all subjects (key 0) and of each subtype, rounded if asked; None where it must be withheld.

    Every withheld size has a `size_interval` of at least `threshold`. InputError if the cohort is too small for that.
    """
    total = sum(sizes.values())
    if rounding is not None:
        total, *others = (int(size) for size in rounded(np.array([total, *sizes.values()], dtype=np.float64), rounding))
        sizes = dict(zip(sizes, others, strict=True))
    below, _ = rounding_error(rounding)
    order = sorted(sizes, key=lambda subtype: (sizes[subtype], -subtype))
    n_withheld = sum(size - below < threshold for size in sizes.values())
    while n_withheld <= len(order):
        withheld = set(order[:n_withheld])
        shown = {0: total, **{subtype: None if subtype in withheld else size for subtype, size in sizes.items()}}
        if total - below >= threshold and all(
            high - low >= threshold for low, high in (size_interval(shown, subtype, rounding) for subtype in withheld)
        ):
            return shown
        n_withheld += 1
    raise InputError(
        f"{total} subjects in subtypes of {', '.join(map(str, sizes.values()))} cannot be shared with counts below "
        f"{threshold} withheld: they follow from each other. Take fewer subtypes, or a lower threshold"
    )


def size_intervals(
    shown: Mapping[int, int | None],
    rounding: int | None = None,
    features: Sequence[FeatureCounts] = (),
    *,
    are_sums: bool = False,
) -> dict[int, tuple[int, int]]:
    """Return the lowest and the highest possible value of each size, narrowed by rounded numbers of `features`."""
    if rounding is None:
        return {
            subtype: size_interval(shown, subtype) if size is None else (size, size) for subtype, size in shown.items()
        }
    # The errors of both counts add up.
    ends = _ends(shown, 2 * rounding if are_sums else rounding)
    while True:
        before = ends
        ends = {subtype: _interval(ends, subtype) for subtype in ends}
        low, high = (np.array(end, dtype=np.float64) for end in zip(*ends.values(), strict=True))
        for feature in features:
            low, high = sizes_given(feature, low, high, rounding)
        ends = dict(zip(ends, zip(map(int, low), map(int, high), strict=True), strict=True))
        if ends == before:
            return ends


def size_interval(shown: Mapping[int, int | None], subtype: int, rounding: int | None = None) -> tuple[int, int]:
    """Return the lowest and the highest possible value of a withheld size; sizes decrease if those shown do."""
    return _interval(_ends(shown, rounding), subtype)


def _ends(shown: Mapping[int, int | None], rounding: int | None) -> dict[int, tuple[int, int]]:
    below, above = rounding_error(rounding)
    most = (shown[0] or 0) + above
    return {
        subtype: (1, most) if size is None else (max(size - below, 0), size + above) for subtype, size in shown.items()
    }


def _interval(ends: Mapping[int, tuple[int, int]], subtype: int) -> tuple[int, int]:
    """Return the lowest and the highest possible value of a size, given the ends of all sizes; InputError if none."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    subtypes = [number for number in ends if number]
    aim = np.array([float(subtype in (number, 0)) for number in subtypes])
    steps = np.eye(len(subtypes)) - np.eye(len(subtypes), k=1)  # the last row is the last size itself
    for least_step in (0, -np.inf):
        low, high = (
            milp(
                sign * aim,
                integrality=np.ones(len(subtypes), dtype=np.int64),
                bounds=Bounds(*zip(*(ends[number] for number in subtypes), strict=True)),
                constraints=[
                    LinearConstraint(np.ones((1, len(subtypes))), *ends[0]),
                    LinearConstraint(steps, least_step),
                ],
            )
            for sign in (1, -1)
        )
        if low.x is not None:
            return round(float(aim @ low.x)), round(float(aim @ high.x))
    raise InputError("no sizes of subtypes agree with every number shown")
