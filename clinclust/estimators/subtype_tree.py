"""SubtypeTree: the subtypes merged step by step, each join with its evidence in nats."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.errors import InputError

__all__ = ["SubtypeTree"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class SubtypeTree:
    """The subtypes of a fit, merged step by step, each time the two with the least evidence between them.

    The evidence of a join is by how many nats the joint (coarsened, if the fit is) falls when its two sides become
    one. Sufficient statistics add up, so that it is exact: the difference of the joints of two cuts. A fit by the
    full search leaves no merger that raises the joint, so the first join has no evidence below 0.

    Attributes
    ----------
    labels : int64 (N,)
        Subtype of each subject, in the order of the table.
    joins : int64 (K - 1, 2)
        The two sides of each join as scipy numbers them: 0 .. K - 1 are the subtypes, K + s is what step s made.
    evidence : float64 (K - 1,)
        In nats, in the order of the joins. It may be lower at a later join than at an earlier one.
    """

    labels: Labels
    joins: Labels
    evidence: Array

    @property
    def n_subtypes(self) -> int:
        """K, the subtypes at the tips."""
        return int(self.evidence.size) + 1

    @property
    def merges(self) -> pd.DataFrame:
        """One row for each join.

        Columns: `step` (1 .. K - 1), `first` and `second` (tuples of subtype numbers), `size` (subjects in both),
        `n_subtypes` (subtypes left) and `evidence` (nats).
        """
        members = self._members()
        sizes = np.bincount(self.labels, minlength=self.n_subtypes)
        first, second = ([members[node] for node in self.joins[:, side].tolist()] for side in (0, 1))
        return pd.DataFrame(
            {
                "step": np.arange(1, self.n_subtypes),
                "first": first,
                "second": second,
                "size": [int(sizes[[*one, *other]].sum()) for one, other in zip(first, second, strict=True)],
                "n_subtypes": np.arange(self.n_subtypes - 1, 0, -1),
                "evidence": self.evidence,
            }
        )

    def cut(self, n_subtypes: int) -> Labels:
        """Return the labels when so many subtypes are left, int64 (N,), 0, 1, ... by decreasing size.

        Raises
        ------
        ValueError
            If it is not a whole number from 1 to K.
        """
        whole = isinstance(n_subtypes, Integral) and not isinstance(n_subtypes, bool)
        if not whole or not 1 <= n_subtypes <= self.n_subtypes:
            raise InputError(f"n_subtypes must be a whole number from 1 to {self.n_subtypes}, not {n_subtypes!r}")
        members = self._members()
        gone = set(self.joins[: self.n_subtypes - int(n_subtypes)].ravel().tolist())
        last = 2 * self.n_subtypes - int(n_subtypes)
        sides = [members[node] for node in range(last) if node not in gone]
        sizes = np.bincount(self.labels, minlength=self.n_subtypes)
        # Of two as large, the one with the lowest subtype number comes first, as in the fit.
        sides.sort(key=lambda side: (-int(sizes[list(side)].sum()), side))
        new_number = np.zeros(self.n_subtypes, dtype=np.int64)
        for number, side in enumerate(sides):
            new_number[list(side)] = number
        return new_number[self.labels]

    def linkage(self) -> Array:
        """Return the tree as ``scipy.cluster.hierarchy`` wants it, float64 (K - 1, 4).

        Columns: the two sides, the height and the number of subtypes below. Heights are the evidence, raised where
        needed to the highest join below (and to 0), because a dendrogram cannot turn back.
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

    def _members(self) -> list[tuple[int, ...]]:
        """Return the subtypes at and below each node, in ascending order."""
        members: list[tuple[int, ...]] = [(subtype,) for subtype in range(self.n_subtypes)]
        for first, second in self.joins.tolist():
            members.append(tuple(sorted(members[first] + members[second])))
        return members

    def __repr__(self) -> str:
        lines = [f"SubtypeTree of {self.n_subtypes} subtypes and {self.labels.size} subjects"]
        lines += [
            f"  {', '.join(map(str, first))} with {', '.join(map(str, second))}: {evidence:.1f} nats"
            for first, second, evidence in self.merges[["first", "second", "evidence"]].to_numpy().tolist()
        ]
        return "\n".join(lines)
