"""The sizes of subtypes that can be shown: no small size, and no size from which a small one can be inferred."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from clinclust.errors import InputError

__all__ = ["shown_sizes", "size_interval", "size_intervals"]


def shown_sizes(sizes: Mapping[int, int], threshold: int) -> dict[int, int | None]:
    """Return the size of all subjects (key 0) and of each subtype, with None where the size must be withheld.

    The sizes of subtypes with fewer than `threshold` subjects are withheld. If necessary, the sizes of the next
    smallest subtypes are withheld too, until the interval of every withheld size (see `size_interval`) is at least
    `threshold` long.

    Raises
    ------
    ValueError
        If the cohort is too small for such intervals.
    """
    total = sum(sizes.values())
    order = sorted(sizes, key=lambda subtype: (sizes[subtype], -subtype))
    n_withheld = sum(size < threshold for size in sizes.values())
    while n_withheld <= len(order):
        withheld = set(order[:n_withheld])
        shown = {0: total, **{subtype: None if subtype in withheld else size for subtype, size in sizes.items()}}
        if total >= threshold and all(
            high - low >= threshold for low, high in (size_interval(shown, subtype) for subtype in withheld)
        ):
            return shown
        n_withheld += 1
    raise InputError(
        f"{total} subjects in subtypes of {', '.join(map(str, sizes.values()))} cannot be shared with counts below "
        f"{threshold} withheld: they follow from each other. Take fewer subtypes, or a lower threshold"
    )


def size_intervals(shown: Mapping[int, int | None]) -> dict[int, tuple[int, int]]:
    """Return the lowest and the highest possible value of each size; both are the size itself if it is shown."""
    return {subtype: size_interval(shown, subtype) if size is None else (size, size) for subtype, size in shown.items()}


def size_interval(shown: Mapping[int, int | None], subtype: int) -> tuple[int, int]:
    """Return the lowest and the highest possible value of a withheld size.

    The sizes add up to the size of the cohort. Every reader knows that subtypes are numbered by decreasing size; if the
    shown sizes are not in that order, this constraint is dropped.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    subtypes, total = [number for number in shown if number], shown[0] or 0
    aim = np.array([float(number == subtype) for number in subtypes])
    ends = [(1, total) if shown[number] is None else (shown[number],) * 2 for number in subtypes]
    steps = np.eye(len(subtypes)) - np.eye(len(subtypes), k=1)  # the last row is the last size itself
    for least_step in (0, -np.inf):
        low, high = (
            milp(
                sign * aim,
                integrality=np.ones(len(subtypes), dtype=np.int64),
                bounds=Bounds(*zip(*ends, strict=True)),
                constraints=[
                    LinearConstraint(np.ones((1, len(subtypes))), total, total),
                    LinearConstraint(steps, least_step),
                ],
            )
            for sign in (1, -1)
        )
        if low.x is not None:
            break
    return round(float(aim @ low.x)), round(float(aim @ high.x))
