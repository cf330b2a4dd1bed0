"""The counts of a feature, R rows by K subtypes, as the unknowns of an integer programme, given all numbers shown.

For features without levels, sums and sums of squares add up over the subtypes,

    sum_k n_k m_k = n m,    sum_k (n_k - 1) s_k^2 + n_k (m_k - m)^2 = (n - 1) s^2.

Intervals of possible counts are those of Fischetti and Salazar-Gonzalez (2000).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.disclosure.counts import FeatureCounts
from clinclust.disclosure.rounding import rounding_error
from clinclust.errors import InputError

_SLACK = 1e-9
_MOST_NODES = 2000
_PERCENT_DECIMALS = 3  # decimals of a share whose percentage has one decimal
_SHARE_DECIMALS = 2


class Programme:
    """The integer programme of one feature, with the lowest and the highest possible size of each group, (G,)."""

    def __init__(self, shown: FeatureCounts, sizes: Sequence[tuple[int, int]], rounding: int | None = None) -> None:
        self._shown = shown
        self._rounding = rounding
        self.R, self.K = len(shown.rows), len(shown.subtypes) - 1
        self._cells = self.R * self.K
        # For features without levels, the sum of each subtype and then its sum of squares are further unknowns.
        self._n_unknowns = self._cells if shown.is_share else self._cells + 2 * self.K
        self._rows: list[Array] = []
        self._low: list[float] = []
        self._high: list[float] = []
        self._is_network = True
        for form, (least, most) in zip(self.forms[: self.R].sum(axis=0), sizes, strict=True):
            self._bind(form, least, most)
        self._add_counts()
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
            constraints=LinearConstraint(np.array(self._rows), np.array(self._low), np.array(self._high)),
            options={"node_limit": _MOST_NODES, "mip_rel_gap": 0.0},
        )
        if result.status == 2:
            raise InputError(f"{self._shown.name}: no counts agree with every number shown")
        return None if result.x is None else np.concatenate([np.rint(result.x[: self._cells]), result.x[self._cells :]])

    def intervals(self, wanted: NDArray[np.bool_], possible: Array | None, enough: float) -> tuple[Array, Array]:
        """Return the intervals as `clinclust.disclosure.intervals.intervals` does; NaN where no solution was found."""
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
        self._rows.append(row)
        self._low.append(low)
        self._high.append(high)

    def _add_counts(self) -> None:
        below, above = rounding_error(self._rounding)
        shown = self._shown
        levels = zip(self.forms, shown.count, strict=False) if shown.is_share else ()
        for forms, counts in (*levels, (self.forms[-1], shown.n), (self.forms[self.R - 1], shown.missing)):
            for form, count in zip(forms, counts, strict=True):
                if not np.isnan(count):
                    self._bind(form, count - below, count + above)

    def _add_shares(self) -> None:
        shown = self._shown
        if self._rounding is not None:
            return
        known = ~np.isnan(shown.count) & ~np.isnan(shown.n)
        for share, decimals in ((shown.mean, _SHARE_DECIMALS), (shown.percent / 100, _PERCENT_DECIMALS)):
            for level, group in np.argwhere(~known & ~np.isnan(share)):
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
