"""What a reader can infer: the lowest and the highest possible value of each count, total and size that is withheld.

The counts of a feature, R rows by K subtypes, are the unknowns of an integer programme that has every number shown as a
constraint (intervals of Fischetti and Salazar-Gonzalez 2000). For features without levels, sums and sums of squares add
up over the subtypes,

    sum_k n_k m_k = n m,    sum_k (n_k - 1) s_k^2 + n_k (m_k - m)^2 = (n - 1) s^2.

If nothing is shown of all subjects, each n of each subtype is tried instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.comparisons.frame import ALL_SUBJECTS
from clinclust.disclosure.counts import SLACK_OF_TOTALS, FeatureCounts, rounding_error, totals
from clinclust.errors import InputError
from clinclust.likelihoods import traits_of

_SLACK = 1e-9  # rounding errors of sums and of the solver
_MOST_NODES = 2000
_SHARE_DECIMALS, _PERCENT_DECIMALS = 2, 3  # decimals of a share as a mean, and as a percentage with one decimal


def intervals(
    shown: FeatureCounts,
    sizes: Sequence[tuple[int, int]],
    wanted: NDArray[np.bool_],
    *,
    possible: Array | None = None,
    enough: float = np.inf,
) -> tuple[Array, Array]:
    """Return the lowest and the highest possible counts, each (R + 1, G): the rows, then the observed values.

    Only the ends of the `wanted` intervals are certain. `sizes` are the ends of the size of each group, (G,); a search
    starts from `possible` counts and stops at a length of `enough`. InputError if no counts agree with what is shown.
    """
    if are_independent(shown):
        return _bound_columns(shown, sizes)
    return _Programme(shown, sizes).intervals(wanted, possible, enough)


def are_independent(shown: FeatureCounts) -> bool:
    """Return whether nothing is shown of all subjects except the size of the cohort."""
    of_all = (shown.count, shown.percent, shown.mean, shown.sd)
    return bool(np.isnan(shown.n[ALL_SUBJECTS]) and all(np.isnan(values[:, ALL_SUBJECTS]).all() for values in of_all))


def _bound_columns(shown: FeatureCounts, sizes: Sequence[tuple[int, int]]) -> tuple[Array, Array]:
    """Implement `intervals` for numbers of which `are_independent` is true."""
    R, G = len(shown.rows), len(shown.subtypes)
    low, high = np.zeros((R + 1, G)), np.zeros((R + 1, G))
    for group in range(1, G):
        least, most = sizes[group]
        of_group = (shown.n, shown.missing, shown.count, shown.percent, shown.mean, shown.sd)
        if all(bool(np.isnan(values[..., group]).all()) for values in of_group):
            high[:, group] = most
            continue
        ends_by_size = [_bound_counts(shown, group, size) for size in range(least, most + 1)]
        possible = [ends for ends in ends_by_size if ends is not None]
        if not possible:
            of_subtype = f" of subtype {shown.subtypes[group]}"
            raise InputError(f"{shown.name}: no counts agree with every number shown{of_subtype}")
        low[:, group] = np.min([ends[0] for ends in possible], axis=0)
        high[:, group] = np.max([ends[1] for ends in possible], axis=0)
    low[:, ALL_SUBJECTS], high[:, ALL_SUBJECTS] = low[:, 1:].sum(axis=1), high[:, 1:].sum(axis=1)
    return low, np.minimum(high, sizes[ALL_SUBJECTS][1])


def _bound_counts(shown: FeatureCounts, group: int, size: int) -> tuple[Array, Array] | None:
    """Return the lowest and the highest counts of a group of this size, each (R + 1,); None without any."""
    n, possible = np.arange(size + 1.0), np.ones(size + 1, dtype=np.bool_)
    below, above = rounding_error(shown.rounding)
    for count, number in ((n, shown.n[group]), (size - n, shown.missing[group])):
        possible &= np.isnan(number) | (count >= number - below) & (count <= number + above)
    n = n[possible]
    if shown.is_share:
        least, most = _bound_levels(shown, group, n)
    else:
        n = n[_is_possible(shown, group, n)]
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


def _bound_levels(shown: FeatureCounts, group: int, n: Array) -> tuple[Array, Array]:
    """Return the lowest and the highest count of each level for each value of n, each (levels, values of n)."""
    below, above = rounding_error(shown.rounding)
    n_levels = len(shown.rows) - 1
    least, most = np.zeros((n_levels, n.size)), np.broadcast_to(n, (n_levels, n.size)).copy()
    is_share_shown = ~np.isnan(shown.mean[:, group]) | ~np.isnan(shown.percent[:, group])
    if shown.rounding is None and is_share_shown.any():
        most[:, n == 0] = -1  # a share exists only if there are observed values
    for level in range(len(shown.levels)):
        count = shown.count[level, group]
        if not np.isnan(count):
            least[level], most[level] = count - below, np.minimum(most[level], count + above)
        if shown.rounding is None:
            for share, decimals in ((shown.mean, _SHARE_DECIMALS), (shown.percent / 100, _PERCENT_DECIMALS)):
                if not np.isnan(share[level, group]):
                    middle, error = round(float(share[level, group]), decimals), 0.5 * 10.0**-decimals + _SLACK
                    least[level] = np.maximum(least[level], np.ceil((middle - error) * n - _SLACK))
                    most[level] = np.minimum(most[level], np.floor((middle + error) * n + _SLACK))
    return np.maximum(least, 0), most


def _is_possible(shown: FeatureCounts, group: int, n: Array) -> NDArray[np.bool_]:
    mean, sd = shown.mean[0, group], shown.sd[0, group]
    possible = n >= (2 if np.isfinite(sd) else 1 if np.isfinite(mean) else 0)
    if not shown.is_whole or not np.isfinite(mean):
        return possible
    origin, step = shown.grid
    error = 0.5 * 10.0**-shown.decimals / step + _SLACK
    mean = (round(float(mean), shown.decimals) - origin) / step
    first, last = np.ceil((mean - error) * n), np.floor((mean + error) * n)
    if shown.rounding is not None and shown.has_total:
        # Such a mean is that of the rounded total, and is shown only with the rounded n.
        below, above = rounding_error(shown.rounding)
        total = np.rint(shown.mean[0, group] * shown.n[group])
        first, last = np.full(n.shape, max(total - below, 0.0)), np.full(n.shape, total + above)
    possible &= first <= last
    if not np.isfinite(sd):
        return possible
    sd = round(float(sd), shown.decimals) / step
    is_reached = np.zeros(n.shape, dtype=bool)
    for further in range(int(max((last - first).max(initial=0), 0)) + 1):
        total = first + further
        squares = total**2 / np.maximum(n, 1)
        lowest = np.ceil((n - 1) * max(sd - error, 0.0) ** 2 + squares - _SLACK)
        highest = np.floor((n - 1) * (sd + error) ** 2 + squares + _SLACK)
        # The square of a whole number has its parity, so the sum of squares has the parity of the sum.
        lowest += (lowest + total) % 2
        is_reached |= (total <= last) & (lowest <= highest)
        if is_reached[possible].all():
            break
    return possible & is_reached


class _Programme:
    """The integer programme of one feature, with the lowest and the highest possible size of each group, (G,)."""

    def __init__(self, shown: FeatureCounts, sizes: Sequence[tuple[int, int]]) -> None:
        self._shown = shown
        self.R, self.K = len(shown.rows), len(shown.subtypes) - 1
        self._cells = self.R * self.K
        # For features without levels, the sum of each subtype and then its sum of squares are further unknowns.
        self._n_unknowns = self._cells if shown.is_share else self._cells + 2 * self.K
        self._bounds: list[tuple[Array, float, float]] = []  # coefficients, and the ends of their sum
        self._is_network = True
        for form, (least, most) in zip(self.forms[: self.R].sum(axis=0), sizes, strict=True):
            self._bind(form, least, most)
        below, above = rounding_error(shown.rounding)
        levels = zip(self.forms, shown.count, strict=False) if shown.is_share else ()
        for forms, counts in (*levels, (self.forms[-1], shown.n), (self.forms[self.R - 1], shown.missing)):
            for form, count in zip(forms, counts, strict=True):
                if not np.isnan(count):
                    self._bind(form, count - below, count + above)
        if shown.is_share:
            self._add_shares()
        else:
            self._add_sums()

    @cached_property
    def forms(self) -> Array:
        """Each count as coefficients of the unknowns, (R + 1, G, unknowns); the last row is the observed values."""
        forms = np.zeros((self.R + 1, self.K + 1, self._n_unknowns))
        for row in range(self.R):
            for group in range(1, self.K + 1):
                forms[row, group, row * self.K + group - 1] = 1.0
        forms[-1] = forms[: self.R - 1].sum(axis=0)
        forms[:, 0] = forms[:, 1:].sum(axis=1)
        return forms

    def _extreme(self, form: Array, sign: float) -> Array | None:
        """Return the unknowns that minimise (sign 1) or maximise (sign -1) `form`; None if no solution was found."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        lowest, whole = np.zeros(self._n_unknowns), np.ones(self._n_unknowns)
        lowest[self._cells : self._cells + self.K] = -np.inf  # the sums, if there are any
        whole[self._cells :] = 0.0
        if self._is_network:
            # The extreme points of tables with given margins are whole in any case (Hoffman and Kruskal 1956).
            whole[:] = 0.0
        result = milp(
            sign * form,
            integrality=whole.astype(np.int64),
            bounds=Bounds(lowest, np.inf),
            constraints=LinearConstraint(*map(np.array, zip(*self._bounds, strict=True))),
            options={"node_limit": _MOST_NODES, "mip_rel_gap": 0.0},
        )
        if result.status == 2:
            raise InputError(f"{self._shown.name}: no counts agree with every number shown")
        return None if result.x is None else np.concatenate([np.rint(result.x[: self._cells]), result.x[self._cells :]])

    def intervals(self, wanted: NDArray[np.bool_], possible: Array | None, enough: float) -> tuple[Array, Array]:
        """Implement `intervals`; NaN where no solution was found."""
        can_stop = bool(np.isfinite(enough))
        if possible is not None:
            low, high = possible.copy(), possible.copy()
        else:
            low, high = (np.full(wanted.shape, end if can_stop else np.nan) for end in (np.inf, -np.inf))
        for row, group in np.argwhere(wanted).tolist():
            form = self.forms[row, group]
            for sign in (-1.0, 1.0):
                if high[row, group] - low[row, group] >= enough:
                    break
                solution = self._extreme(form, sign)
                if solution is not None and (possible is not None or can_stop):
                    # Every solution gives a possible value of all counts, so it can extend every interval.
                    counts = self.forms @ solution
                    low, high = np.minimum(low, counts), np.maximum(high, counts)
                else:
                    end = low if sign > 0 else high
                    end[row, group] = np.nan if solution is None else form @ solution
        return low, high

    def _bind(self, row: Array, low: float, high: float) -> None:
        self._bounds.append((row, low, high))

    def _add_shares(self) -> None:
        shown = self._shown
        if shown.rounding is not None:
            return
        is_exact = ~np.isnan(shown.count) & ~np.isnan(shown.n)
        for share, decimals in ((shown.mean, _SHARE_DECIMALS), (shown.percent / 100, _PERCENT_DECIMALS)):
            for level, group in np.argwhere(~is_exact & ~np.isnan(share)):
                middle, error = round(share[level, group], decimals), 0.5 * 10.0**-decimals + _SLACK
                count, n = self.forms[level, group], self.forms[-1, group]
                self._is_network = False
                self._bind(count - (middle - error) * n, 0.0, np.inf)
                self._bind(count - (middle + error) * n, -np.inf, 0.0)
                self._bind(n, 1.0, np.inf)  # a share exists only if there are observed values

    def _add_sums(self) -> None:
        """Constrain the sums of deviations from a centre and the sums of their squares, in units of the SD."""
        shown, K = self._shown, self.K
        mean, sd = np.round(shown.mean[0], shown.decimals), np.round(shown.sd[0], shown.decimals)
        error = 0.5 * 10.0**-shown.decimals
        centre = mean[0] if np.isfinite(mean[0]) else 0.0
        unit = sd[0] if np.isfinite(sd[0]) and sd[0] > 0.0 else 1.0
        sums = np.zeros((2, K + 1, self._n_unknowns))
        for group in range(1, K + 1):
            sums[0, group, self._cells + group - 1] = 1.0
            sums[1, group, self._cells + K + group - 1] = 1.0
        sums[:, 0] = sums[:, 1:].sum(axis=1)
        for group, n in enumerate(self.forms[-1]):
            low, high = (end if np.isfinite(end) else np.nan for end in shown.scale)
            if np.isfinite(mean[group]):
                low, high = mean[group] - error, mean[group] + error
            if np.isfinite(low):
                self._is_network = False
                self._bind(sums[0, group] - ((low - centre) / unit - _SLACK) * n, 0.0, np.inf)
                self._bind(sums[0, group] - ((high - centre) / unit + _SLACK) * n, -np.inf, 0.0)
            if np.isfinite(mean[group]) and np.isfinite(sd[group]) and np.isfinite(mean[0]):
                # The sum of squares is n (s^2 + d^2) - s^2, where d is the distance of the mean from the centre; it is
                # bounded by its values at the lowest and at the highest s and d.
                distance = abs(mean[group] - centre)
                s, d = max(sd[group] - error, 0.0) / unit, max(distance - 2 * error, 0.0) / unit
                self._bind(sums[1, group] - (s**2 + d**2 - _SLACK) * n, -(s**2) - _SLACK, np.inf)
                s, d = (sd[group] + error) / unit, (distance + 2 * error) / unit
                self._bind(sums[1, group] - (s**2 + d**2 + _SLACK) * n, -np.inf, -(s**2) + _SLACK)


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
    ends = _bound_shown_sizes(shown, 2 * rounding if are_sums else rounding)
    while True:
        before = ends
        ends = {subtype: _bound_size(ends, subtype) for subtype in ends}
        low, high = (np.array(end, dtype=np.float64) for end in zip(*ends.values(), strict=True))
        for feature in features:
            low, high = _narrow_sizes(feature, low, high)
        ends = dict(zip(ends, zip(map(int, low), map(int, high), strict=True), strict=True))
        if ends == before:
            return ends


def size_interval(shown: Mapping[int, int | None], subtype: int, rounding: int | None = None) -> tuple[int, int]:
    """Return the lowest and the highest possible value of a withheld size; sizes decrease if those shown do."""
    return _bound_size(_bound_shown_sizes(shown, rounding), subtype)


def _bound_shown_sizes(shown: Mapping[int, int | None], rounding: int | None) -> dict[int, tuple[int, int]]:
    below, above = rounding_error(rounding)
    most = (shown[0] or 0) + above
    return {
        subtype: (1, most) if size is None else (max(size - below, 0), size + above) for subtype, size in shown.items()
    }


def _bound_size(ends: Mapping[int, tuple[int, int]], subtype: int) -> tuple[int, int]:
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


def _narrow_sizes(shown: FeatureCounts, low: Array, high: Array) -> tuple[Array, Array]:
    """Narrow the lowest and the highest possible sizes, each (G,), by the rounded numbers of a feature."""
    below, above = rounding_error(shown.rounding)
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


def total_intervals(shown: FeatureCounts) -> tuple[Array, Array]:
    """Return the lowest and the highest possible total above the lowest score, each (G,); infinite without a bound."""
    total = totals(shown)[0]
    # A mean of a count is stored exactly, so that totals are right; others as they are printed.
    decimal = 0.0 if traits_of(shown.likelihood).is_count else 0.5 * 10.0**-shown.decimals / shown.grid[1]
    error = decimal * shown.n + SLACK_OF_TOTALS
    low, high = np.ceil(total - error), np.floor(total + error)
    unknown = np.isnan(total)
    left_low, left_high = low[0] - high[1:][~unknown[1:]].sum(), high[0] - low[1:][~unknown[1:]].sum()
    is_alone = unknown[1:].sum() == 1
    for group in np.flatnonzero(unknown):
        is_open = group == ALL_SUBJECTS or unknown[ALL_SUBJECTS]
        low[group] = left_low if is_alone and not is_open else 0.0
        high[group] = np.inf if is_open else left_high
    return low, high
