"""SubtypeTree: the successive merges of the subtypes, each with its evidence in nats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.engine.search.labels import groups_by_decreasing_size
from clinclust.errors import InputError
from clinclust.estimators.few_subjects import WEAK_NATS

__all__ = ["SubtypeTree"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class SubtypeTree:
    """The tree of the subtypes of a fit. Each step merges the two groups with the least evidence between them.

    The evidence of a join is the decrease, in nats, of the log joint (coarsened, if the fit is) when its two sides are
    merged. Sufficient statistics are additive, so the evidence is exact: it is the difference of the log joints before
    and after the step. After a full search no merge raises the joint, so the evidence of the first join is not below 0.

    Attributes
    ----------
    labels : int64 (N,)
        Subtype of each subject, in the order of the table.
    joins : int64 (K - 1, 2)
        The two sides of each join, numbered as in scipy: 0 .. K - 1 are the subtypes, and K + s is the group that step
        s (from 0) made.
    evidence : float64 (K - 1,)
        Evidence of each join in nats, in the order of the joins. A later join may have less evidence than an earlier
        one.
    """

    labels: Labels
    joins: Labels
    evidence: Array

    @property
    def n_subtypes(self) -> int:
        """Number of subtypes at the tips of the tree, K."""
        return int(self.evidence.size) + 1

    @property
    def merges(self) -> pd.DataFrame:
        """DataFrame with one row for each join.

        Columns: `step` (1 .. K - 1), `first` and `second` (tuples of the subtypes on each side, counted from 1 as in
        reports), `size` (subjects on both sides), `n_subtypes` (subtypes left after the step) and `evidence` (nats).
        """
        members = self.members()
        sizes = np.bincount(self.labels, minlength=self.n_subtypes)
        first, second = ([members[node] for node in self.joins[:, side].tolist()] for side in (0, 1))
        return pd.DataFrame(
            {
                "step": np.arange(1, self.n_subtypes),
                "first": [_counted_from_one(side) for side in first],
                "second": [_counted_from_one(side) for side in second],
                "size": [int(sizes[[*one, *other]].sum()) for one, other in zip(first, second, strict=True)],
                "n_subtypes": np.arange(self.n_subtypes - 1, 0, -1),
                "evidence": self.evidence,
            }
        )

    def cut(self, n_subtypes: int) -> Labels:
        """Return the labels when `n_subtypes` subtypes are left, int64 (N,), 0, 1, ... by decreasing size.

        Raises
        ------
        ValueError
            If `n_subtypes` is not a whole number from 1 to K.
        """
        return self.subtype_of(n_subtypes)[self.labels]

    def subtype_of(self, n_subtypes: int) -> Labels:
        """Return the group that holds each of the K subtypes when `n_subtypes` groups are left, int64 (K,).

        Groups are numbered 0, 1, ... by decreasing size; of two groups of equal size, the one with the lower subtype
        number comes first, as in the fit.

        Raises
        ------
        ValueError
            If `n_subtypes` is not a whole number from 1 to K.
        """
        whole = isinstance(n_subtypes, Integral) and not isinstance(n_subtypes, bool)
        if not whole or not 1 <= n_subtypes <= self.n_subtypes:
            raise InputError(f"n_subtypes must be a whole number from 1 to {self.n_subtypes}, not {n_subtypes!r}")
        gone = set(self.joins[: self.n_subtypes - int(n_subtypes)].ravel().tolist())
        last = 2 * self.n_subtypes - int(n_subtypes)
        return self.group_of([node for node in range(last) if node not in gone])

    def group_of(self, nodes: Sequence[int]) -> Labels:
        """Return the number of the node, by decreasing size, below which each of the K subtypes lies, int64 (K,)."""
        members = self.members()
        groups = np.zeros(self.n_subtypes, dtype=np.int64)
        for number, node in enumerate(nodes):
            groups[list(members[node])] = number
        return groups_by_decreasing_size(groups, np.bincount(self.labels, minlength=self.n_subtypes))

    def linkage(self) -> Array:
        """Return the tree as a linkage matrix of ``scipy.cluster.hierarchy``, float64 (K - 1, 4).

        Columns: the two sides, the height, and the number of subtypes below the join. The height is the maximum of the
        evidence, the heights of the joins below, and 0, because heights in a dendrogram must not decrease.
        """
        table = np.zeros((self.n_subtypes - 1, 4))
        table[:, :2] = self.joins
        below = np.concatenate([np.zeros(self.n_subtypes), np.zeros(self.n_subtypes - 1)])
        count = np.concatenate([np.ones(self.n_subtypes), np.zeros(self.n_subtypes - 1)])
        for step, (first, second) in enumerate(self.joins.tolist()):
            node = self.n_subtypes + step
            below[node] = max(self.evidence[step], below[first], below[second])
            count[node] = count[first] + count[second]
            table[step, 2:] = below[node], count[node]
        return table

    def members(self) -> list[tuple[int, ...]]:
        """Return, for each node, the subtypes at and below it in ascending order, counted from 0 as in `labels`."""
        members: list[tuple[int, ...]] = [(subtype,) for subtype in range(self.n_subtypes)]
        for first, second in self.joins.tolist():
            members.append(tuple(sorted(members[first] + members[second])))
        return members

    def __repr__(self) -> str:
        lines = [f"SubtypeTree of {self.n_subtypes} subtypes and {self.labels.size} subjects"]
        lines += [
            f"  {', '.join(map(str, first))} with {', '.join(map(str, second))}: {evidence:.1f} nats{_weak(evidence)}"
            for first, second, evidence in self.merges[["first", "second", "evidence"]].to_numpy().tolist()
        ]
        return "\n".join(lines)


def _weak(evidence: float) -> str:
    return f" (weak: less than {WEAK_NATS:g})" if evidence < WEAK_NATS else ""


def _counted_from_one(clusters: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(cluster + 1 for cluster in clusters)
