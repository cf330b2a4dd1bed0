"""Complementary suppression: the numbers of one feature to withhold until its small counts cannot be inferred."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.disclosure.counts import ALL_SUBJECTS, FeatureCounts
from clinclust.disclosure.intervals import intervals
from clinclust.disclosure.rounding import rounding_error
from clinclust.disclosure.rule import Rule, small_totals
from clinclust.likelihoods import traits_of


class _Step(NamedTuple):
    """One further number to withhold: a count or share of a level, the mean, or n and missing of a group."""

    what: str
    level: int
    group: int


def shown_counts(
    counts: FeatureCounts, sizes: Sequence[tuple[int, int]], withheld: NDArray[np.bool_], rule: Rule
) -> FeatureCounts | None:
    """Return the numbers of a feature that can be shown, None if all can; `sizes` and `withheld` are by group (G)."""
    search = _Search(counts, sizes, withheld, rule)
    if not search.is_touched:
        return None
    if counts.part == "rest":  # its counts are functions of those at the point masses, which are protected
        return search.shown([])
    steps: list[_Step] = []
    while exposed := search.exposed(steps):
        step = next(iter(search.candidates(steps, *exposed[0], in_row=len(steps) % 2 == 0)), None)
        if step is None:
            raise RuntimeError(f"{counts.name}: everything is withheld, and a small count can still be found")
        steps.append(step)
    # A later step may have made an earlier one unnecessary.
    for step in sorted(steps, key=search.cost, reverse=True):
        without = [other for other in steps if other != step]
        if not search.exposed(without):
            steps = without
    return search.shown(steps)


class _Search:
    """The numbers of one feature that must be withheld, and the search for further ones that protect them."""

    def __init__(
        self, counts: FeatureCounts, sizes: Sequence[tuple[int, int]], withheld_groups: NDArray[np.bool_], rule: Rule
    ) -> None:
        self._counts, self._sizes, self._rule = counts, sizes, rule
        self._sensitive = rule.sensitive_of(counts)
        self._is_known = ~withheld_groups
        # The share of a level follows from its counts, whose own rule decides on them.
        fewest = rule.threshold if counts.is_share else rule.fewest_values
        below, above = rounding_error(rule.rounding)
        few = (counts.n - below < fewest) & (counts.n + above > 0) | withheld_groups
        self._means = np.broadcast_to(few, counts.mean.shape).copy()
        if rule.rounding is None:
            self._n = withheld_groups | self._sensitive[-2] | self._sensitive[-1]
            self._levels = withheld_groups | self._sensitive[: len(counts.count)] if counts.is_share else self._means
            if traits_of(counts.likelihood).is_yes_no:
                self._levels = self._levels | self._sensitive[1]
        else:
            self._n = withheld_groups
            self._levels = np.broadcast_to(withheld_groups, counts.mean.shape)
        if counts.is_share:
            self._means = self._levels | few
        elif rule.zero_is_disclosive:
            self._means |= counts.sd == 0.0
        if not counts.is_share:
            small = small_totals(counts, rule)
            self._means |= small
            unknown = np.flatnonzero(self._means[0, 1:]) + 1
            few_together = unknown.size == 1 or (unknown.size > 0 and counts.n[unknown].sum() < fewest)
            # With the total of all subjects, a small one would follow from those of the other groups.
            self._means[0, ALL_SUBJECTS] |= few_together or small.any()
        self.is_touched = bool(
            rule.rounding is not None or self._sensitive.any() or withheld_groups.any() or self._means.any()
        )

    def shown(self, steps: Sequence[_Step]) -> FeatureCounts:
        """Return the numbers that are still shown after these steps."""
        n, levels, means = self._n.copy(), self._levels.copy(), self._means.copy()
        for step in steps:
            if step.what == "n":
                n[step.group] = True
            elif step.what == "count":
                levels[step.level, step.group] = True
            means[step.level, step.group] |= step.what != "n"
        counts = self._counts
        is_rounded = self._rule.rounding is not None
        if not counts.is_share if is_rounded else (n & self._is_known).any():
            # With the totals of a feature, numbers withheld in one group could be inferred from the other groups. Of
            # rounded shares the search withholds what must be.
            n[ALL_SUBJECTS], levels[:, ALL_SUBJECTS], means[:, ALL_SUBJECTS] = True, True, True
        if is_rounded:
            if counts.is_share or counts.has_total:
                means = levels | n | means  # they are quotients of counts
            return counts.without(n, levels, means)
        if counts.is_share:
            # Of a share, either n and count are both shown, or at most the share itself is.
            levels = levels | (n & (counts.count > 0))
            means = means | (levels & ~n)
        return counts.without(n, levels if counts.is_share else np.zeros_like(levels), means)

    def exposed(self, steps: Sequence[_Step]) -> list[tuple[int, int]]:
        """Return the row and the group of every sensitive count whose interval is too short after these steps."""
        is_exact, width = self._rule.rounding is None, self._rule.width
        truth = np.vstack([self._counts.table, self._counts.n]) if is_exact else None
        low, high = intervals(
            self.shown(steps), self._sizes, self._sensitive, rounding=self._rule.rounding, possible=truth, enough=width
        )
        exposed = self._sensitive & ~(high - low >= width)
        if not is_exact:
            # A rounded 0 that must be exactly 0 is about no subject.
            exposed &= ~self._rule.harmless(self._counts, low, high)
        return [(int(row), int(group)) for row, group in np.argwhere(exposed)]

    def cost(self, step: _Step) -> float:
        """Return the number of subjects whose values contribute to the withheld number."""
        counts = self._counts
        if step.what == "n":
            # All counts of the group and of all subjects are withheld with it.
            return float((counts.n + counts.missing)[[step.group, ALL_SUBJECTS]].sum())
        return float(counts.count[step.level, step.group]) if counts.is_share else float(counts.n[step.group])

    def candidates(self, steps: Sequence[_Step], row: int, group: int, *, in_row: bool) -> Iterator[_Step]:
        """Yield the steps that could protect this count, best first: those in its row or group, then the others."""
        shown, counts = self.shown(steps), self._counts
        of_level = row < len(counts.rows) - 1 and counts.is_share
        level = min(row, len(counts.count) - 1) if of_level else 0
        possible = [_Step("n", 0, int(g)) for g in np.flatnonzero(~np.isnan(shown.n))]
        if counts.is_share:
            possible += [_Step("count", int(r), int(g)) for r, g in np.argwhere(~np.isnan(shown.count))]
            possible += [
                _Step("share", int(r), int(g)) for r, g in np.argwhere(~np.isnan(shown.mean) & np.isnan(shown.count))
            ]
        else:
            possible += [_Step("mean", 0, int(g)) for g in np.flatnonzero(~np.isnan(shown.mean[0]))]

        # If only one cell of a row or of a group is withheld, it can be computed from the others there.
        withheld = np.isnan(shown.table[:-1])
        alone_in_row, alone_in_group = withheld.sum(axis=1) == 1, withheld.sum(axis=0) == 1

        def worth(step: _Step) -> tuple[int, bool, bool, float]:
            helped = int(alone_in_row[step.level]) + int(alone_in_group[step.group]) if step.what == "count" else 0
            same_row = step.what != "n" and step.level == level if of_level else step.what == "n"
            same_group = step.group == group
            first = same_row and not same_group if in_row else same_group
            return (-helped, not first, not (same_row or same_group), self.cost(step))

        yield from sorted(possible, key=worth)
