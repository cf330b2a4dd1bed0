"""The attacker's intervals: the lowest and the highest possible value of each count, given every number shown.

By an integer programme (`clinclust.disclosure.programme`) or, if nothing is shown of all subjects, by trying each n.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.disclosure.counts import ALL_SUBJECTS, FeatureCounts
from clinclust.disclosure.programme import Programme
from clinclust.disclosure.rounding import rounding_error
from clinclust.errors import InputError

_SLACK = 1e-9


def are_independent(shown: FeatureCounts) -> bool:
    """Return whether nothing is shown of all subjects except the size of the cohort."""
    of_all = (shown.count, shown.percent, shown.mean, shown.sd)
    return bool(np.isnan(shown.n[ALL_SUBJECTS]) and all(np.isnan(values[:, ALL_SUBJECTS]).all() for values in of_all))


def column_intervals(
    shown: FeatureCounts, sizes: Sequence[tuple[int, int]], rounding: int | None = None
) -> tuple[Array, Array]:
    """Implement `intervals` for numbers of which `are_independent` is true."""
    R, G = len(shown.rows), len(shown.subtypes)
    low, high = np.zeros((R + 1, G)), np.zeros((R + 1, G))
    for group in range(1, G):
        least, most = sizes[group]
        of_group = (shown.n, shown.missing, shown.count, shown.percent, shown.mean, shown.sd)
        if all(bool(np.isnan(values[..., group]).all()) for values in of_group):
            high[:, group] = most
            continue
        found = [_of_size(shown, group, size, rounding) for size in range(least, most + 1)]
        possible = [ends for ends in found if ends is not None]
        if not possible:
            raise InputError(
                f"{shown.name}: no counts agree with every number shown of subtype {shown.subtypes[group]}"
            )
        low[:, group] = np.min([ends[0] for ends in possible], axis=0)
        high[:, group] = np.max([ends[1] for ends in possible], axis=0)
    low[:, ALL_SUBJECTS], high[:, ALL_SUBJECTS] = low[:, 1:].sum(axis=1), high[:, 1:].sum(axis=1)
    return low, np.minimum(high, sizes[ALL_SUBJECTS][1])


def _of_size(shown: FeatureCounts, group: int, size: int, rounding: int | None) -> tuple[Array, Array] | None:
    """Return the lowest and the highest counts of a group of this size, each (R + 1,); None if there are none."""
    n = np.arange(size + 1.0)
    n = n[_agrees(n, shown.n[group], rounding) & _agrees(size - n, shown.missing[group], rounding)]
    if shown.is_share:
        least, most = _levels(shown, group, n, rounding)
    else:
        n = n[_possible(shown, group, n, rounding)]
        least = most = n[np.newaxis]
    possible = (least <= most).all(axis=0) & (least.sum(axis=0) <= n) & (n <= most.sum(axis=0))
    if not possible.any():
        return None
    n, least, most = n[possible], least[:, possible], most[:, possible]
    # Tighten the counts of each level by those of the other levels, because they add up to n.
    least, most = np.maximum(least, n - (most.sum(axis=0) - most)), np.minimum(most, n - (least.sum(axis=0) - least))
    low = [*least.min(axis=1), size - n.max(), n.min()]
    high = [*most.max(axis=1), size - n.min(), n.max()]
    return np.array(low), np.array(high)


def _agrees(count: Array, shown: float, rounding: int | None) -> NDArray[np.bool_]:
    below, above = rounding_error(rounding)
    return np.asarray(np.isnan(shown) | (count >= shown - below) & (count <= shown + above))


def _levels(shown: FeatureCounts, group: int, n: Array, rounding: int | None) -> tuple[Array, Array]:
    """Return the lowest and the highest count of each level for each value of n, each (levels, values of n)."""
    below, above = rounding_error(rounding)
    n_levels = len(shown.rows) - 1
    least, most = np.zeros((n_levels, n.size)), np.broadcast_to(n, (n_levels, n.size)).copy()
    is_share_shown = ~np.isnan(shown.mean[:, group]) | ~np.isnan(shown.percent[:, group])
    if rounding is None and is_share_shown.any():
        most[:, n == 0] = -1  # a share exists only if there are observed values
    for level in range(len(shown.levels)):
        count = shown.count[level, group]
        if not np.isnan(count):
            least[level], most[level] = count - below, np.minimum(most[level], count + above)
        if rounding is None:
            for share, decimals in ((shown.mean[level, group], 2), (shown.percent[level, group] / 100, 3)):
                if not np.isnan(share):
                    middle, error = round(float(share), decimals), 0.5 * 10.0**-decimals + _SLACK
                    least[level] = np.maximum(least[level], np.ceil((middle - error) * n - _SLACK))
                    most[level] = np.minimum(most[level], np.floor((middle + error) * n + _SLACK))
    return np.maximum(least, 0), most


def _possible(shown: FeatureCounts, group: int, n: Array, rounding: int | None) -> NDArray[np.bool_]:
    mean, sd = shown.mean[0, group], shown.sd[0, group]
    possible = n >= (2 if np.isfinite(sd) else 1 if np.isfinite(mean) else 0)
    if not shown.is_whole or not np.isfinite(mean):
        return possible
    origin, step = shown.grid
    error = 0.5 * 10.0**-shown.decimals / step + _SLACK
    mean = (round(float(mean), shown.decimals) - origin) / step
    first, last = np.ceil((mean - error) * n), np.floor((mean + error) * n)
    if rounding is not None and shown.has_total:
        # Such a mean is that of the rounded total, and is shown only with the rounded n.
        below, above = rounding_error(rounding)
        total = np.rint(shown.mean[0, group] * shown.n[group])
        first, last = np.full(n.shape, max(total - below, 0.0)), np.full(n.shape, total + above)
    possible &= first <= last
    if not np.isfinite(sd):
        return possible
    sd = round(float(sd), shown.decimals) / step
    found = np.zeros(n.shape, dtype=bool)
    for further in range(int(max((last - first).max(initial=0), 0)) + 1):
        total = first + further
        squares = total**2 / np.maximum(n, 1)
        lowest = np.ceil((n - 1) * max(sd - error, 0.0) ** 2 + squares - _SLACK)
        highest = np.floor((n - 1) * (sd + error) ** 2 + squares + _SLACK)
        # The square of a whole number has its parity, so the sum of squares has the parity of the sum.
        lowest += (lowest + total) % 2
        found |= (total <= last) & (lowest <= highest)
        if found[possible].all():
            break
    return possible & found


def intervals(
    shown: FeatureCounts,
    sizes: Sequence[tuple[int, int]],
    wanted: NDArray[np.bool_],
    *,
    rounding: int | None = None,
    possible: Array | None = None,
    enough: float = np.inf,
) -> tuple[Array, Array]:
    """Return the lowest and the highest possible counts, each (R + 1, G): the rows, then the observed values.

    Only the ends of the `wanted` intervals are certain. `sizes` are the ends of the size of each group, (G,); a search
    starts from `possible` counts and stops at a length of `enough`. InputError if no counts agree with what is shown.
    """
    if are_independent(shown):
        return column_intervals(shown, sizes, rounding)
    return Programme(shown, sizes, rounding).intervals(wanted, possible, enough)
