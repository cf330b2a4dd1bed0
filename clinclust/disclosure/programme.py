"""The counts of a feature as an integer programme, whose constraints are the numbers shown of it.

All counts of a feature are unknowns of an integer programme: R rows (levels, missing) by K subtypes. Whatever is shown
binds them: counts and their margins exactly, shares by the interval that rounds to them, and for features without
levels sums and sums of squares, which add up over the subtypes,

    sum_k n_k m_k = n m,    sum_k (n_k - 1) s_k^2 + n_k (m_k - m)^2 = (n - 1) s^2,

both linear in the counts, again with the intervals of rounded means and SDs.
The interval from the lowest to the highest is what Fischetti and Salazar-Gonzalez (2000) call the
attacker's, and find in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clinclust.disclosure.counts import FeatureCounts
from clinclust.disclosure.rounding import rounding_error
from clinclust.errors import InputError

__all__ = ["Programme"]

Floats = NDArray[np.float64]

_SLACK = 1e-9
_MOST_NODES = 2000
_PERCENT_DECIMALS = 3  # of a share whose percentage has one
_SHARE_DECIMALS = 2


class Programme:
    """Every number shown of a feature, and the sizes, as constraints on its counts.

    Parameters
    ----------
    shown : FeatureCounts
    sizes : sequence of pairs, length G
        Lowest and highest that the size of each group can be.
    rounding : int, optional
        Base to which shown counts are rounded; shares are then computed from rounded counts and say nothing more.
    """

    def __init__(self, shown: FeatureCounts, sizes: Sequence[tuple[int, int]], rounding: int | None = None) -> None:
        self._shown = shown
        self._rounding = rounding
        self.R, self.K = len(shown.rows), len(shown.subtypes) - 1
        self._cells = self.R * self.K
        # Sums, then sums of squares, of each subtype, for features without levels.
        self._n_unknowns = self._cells if shown.is_share else self._cells + 2 * self.K
        self._rows: list[Floats] = []
        self._low: list[float] = []
        self._high: list[float] = []
        self._is_network = True
        self._add_sizes(sizes)
        self._add_counts()
        if shown.is_share:
            self._add_shares()
        else:
            self._add_sums()

    @cached_property
    def forms(self) -> Floats:
        """Every count as a sum of unknowns, (R + 1, G, unknowns); the last row counts the observed values."""
        forms = np.zeros((self.R + 1, self.K + 1, self._n_unknowns))
        for row in range(self.R):
            for group in range(1, self.K + 1):
                forms[row, group, row * self.K + group - 1] = 1.0
        forms[-1] = forms[: self.R - 1].sum(axis=0)
        forms[:, 0] = forms[:, 1:].sum(axis=1)
        return forms

    def _extreme(self, form: Floats, sign: float) -> Floats | None:
        """Return the unknowns where a sum of them is lowest (sign 1) or highest (-1); None if none were found."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        lowest, highest, whole = (
            np.zeros(self._n_unknowns),
            np.full(self._n_unknowns, np.inf),
            np.ones(self._n_unknowns),
        )
        if not self._shown.is_share:
            sums = slice(self._cells, self._cells + self.K)
            lowest[sums] = -np.inf
            whole[self._cells :] = 0.0
        if self._is_network:
            # A table with margins: its extreme points are whole by themselves (Hoffman and Kruskal 1956).
            whole[:] = 0.0
        result = milp(
            sign * form,
            integrality=whole.astype(np.int64),
            bounds=Bounds(lowest, highest),
            constraints=LinearConstraint(np.array(self._rows), np.array(self._low), np.array(self._high)),
            options={"node_limit": _MOST_NODES, "mip_rel_gap": 0.0},
        )
        if result.status == 2:
            raise InputError(f"{self._shown.name}: no counts agree with every number shown")
        return None if result.x is None else np.concatenate([np.rint(result.x[: self._cells]), result.x[self._cells :]])

    def intervals(self, wanted: NDArray[np.bool_], possible: Floats | None, enough: float) -> tuple[Floats, Floats]:
        """See `clinclust.disclosure.attacker.intervals`; NaN where the search was given up."""
        unknown = np.full(wanted.shape, np.nan)
        low, high = (unknown.copy(), unknown.copy()) if possible is None else (possible.copy(), possible.copy())
        for row, group in np.argwhere(wanted).tolist():
            form = self.forms[row, group]
            for sign in (-1.0, 1.0):
                if high[row, group] - low[row, group] >= enough:
                    break
                solution = self._extreme(form, sign)
                if solution is not None and possible is not None:
                    # Every solution shows for all counts what they can be.
                    counts = self.forms @ solution
                    low, high = np.minimum(low, counts), np.maximum(high, counts)
                else:
                    end = low if sign > 0 else high
                    end[row, group] = np.nan if solution is None else form @ solution
        return low, high

    def _bind(self, row: Floats, low: float, high: float) -> None:
        self._rows.append(row)
        self._low.append(low)
        self._high.append(high)

    def _add_sizes(self, sizes: Sequence[tuple[int, int]]) -> None:
        whole_groups = self.forms[: self.R].sum(axis=0)
        for form, (least, most) in zip(whole_groups, sizes, strict=True):
            self._bind(form, least, most)

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
                self._bind(n, 1.0, np.inf)  # otherwise there would be no share

    def _add_sums(self) -> None:
        """Bind sums about a centre c, and of squares about it; in units of the SD."""
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
                # n (s^2 + d^2) - s^2 at the lowest and at the highest s and d, the distance from the centre.
                distance = abs(mean[group] - centre)
                s, d = max(sd[group] - error, 0.0) / unit, max(distance - 2 * error, 0.0) / unit
                self._bind(sums[1, group] - (s**2 + d**2 - _SLACK) * n, -(s**2) - _SLACK, np.inf)
                s, d = (sd[group] + error) / unit, (distance + 2 * error) / unit
                self._bind(sums[1, group] - (s**2 + d**2 + _SLACK) * n, -np.inf, -(s**2) + _SLACK)
