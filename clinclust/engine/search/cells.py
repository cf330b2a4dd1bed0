"""Cells: the groups of subjects that the sums a site has sent tell apart.

Sums of groups of subjects can be subtracted from each other: what two rounds differ in may be one subject. Any linear
combination of all sums that were ever sent is one of the sums of the cells, which are the subjects that were in the
same group every time. It therefore shows no value of a single subject if each cell has several.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from clinclust.arrays import Labels, Mask, Whole

Agrees = Callable[[Whole], bool]


@dataclass
class Cells:
    """The cells of a site, which only become smaller."""

    observed: Mask
    """(n, D) whether each value is observed."""
    fewest: int
    """Fewest observed values of each feature, and fewest subjects, of a new cell."""
    agrees: Agrees | None = None
    """Asked, with the positions of the subjects, whether a cell may have fewer."""
    of_subjects: Whole = field(init=False)
    """(n,) cell of each subject."""
    _answers: dict[bytes, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.of_subjects = np.zeros(self.observed.shape[0], dtype=np.int64)

    def permitted(self, labels: Labels) -> Labels:
        """Return labels, (n,), of which no part of a cell is too small: such a part joins the largest of its cell."""
        while True:
            parts, of_subjects = self._parts(labels)
            cells, clusters = parts.T
            sizes = np.bincount(of_subjects)
            is_divided = np.bincount(cells)[cells] > 1
            small = self._small(of_subjects, sizes, is_divided)
            if not small.any():
                return labels
            for cell in np.unique(cells[small]).tolist():
                own = np.flatnonzero(cells == cell)
                largest = own[sizes[own].argmax()]
                joining = own if small[largest] else own[small[own]]
                clusters[joining] = clusters[largest]
            labels = clusters[of_subjects]

    def divide(self, labels: Labels) -> None:
        """Divide the cells by the labels of sums that are sent; they must be permitted."""
        self.of_subjects = self._parts(labels)[1]

    def small_clusters(self, labels: Labels) -> Whole:
        """Return the clusters, in ascending order, that are too small whatever the cells."""
        clusters, of_subjects = np.unique(labels, return_inverse=True)
        sizes = np.bincount(of_subjects)
        return clusters[self._small(of_subjects, sizes, np.ones(sizes.size, dtype=np.bool_))]

    def _parts(self, labels: Labels) -> tuple[Whole, Whole]:
        """Return the cell and the cluster of each part, (P, 2), and the part of each subject."""
        n_clusters = int(labels.max()) + 1
        parts, of_subjects = np.unique(self.of_subjects * n_clusters + labels, return_inverse=True)
        return np.stack(np.divmod(parts, n_clusters), axis=1), of_subjects

    def _small(self, of_subjects: Whole, sizes: Whole, asked: Mask) -> Mask:
        small = sizes < self.fewest
        for column in self.observed.T:
            n_observed = np.bincount(of_subjects[column], minlength=sizes.size)
            small |= (n_observed > 0) & (n_observed < self.fewest)
        small &= asked
        if self.agrees is not None:
            for part in np.flatnonzero(small).tolist():
                rows = np.flatnonzero(of_subjects == part)
                if rows.tobytes() not in self._answers:
                    self._answers[rows.tobytes()] = bool(self.agrees(rows))
                small[part] = not self._answers[rows.tobytes()]
        return small
