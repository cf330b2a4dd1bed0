"""SubtypeMixture: subtypes that are unions of the clusters of a fit, and what sums over them.

A subtype of several clusters is their mixture: its predictive is the sum of theirs, weighed by their sizes. It is not
the predictive of their pooled statistics, which would describe one cluster between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from clinclust.engine.kernels.partition import Model
    from clinclust.engine.problem.encoding import Encoding
    from clinclust.engine.problem.posterior import Clusters

__all__ = ["SubtypeMixture", "summed"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SubtypeMixture:
    """The subtypes of a fit. J is the number of clusters that the search found, K that of the subtypes.

    There are no posteriors of a subtype: ask its `clusters`.

    Attributes
    ----------
    clusters : Clusters
        The clusters that the search found.
    subtype_of : int64 (J,)
        Subtype of each cluster, 0 .. K - 1.
    """

    clusters: Clusters
    subtype_of: Labels

    @property
    def encoding(self) -> Encoding:
        """The encoding of the features."""
        return self.clusters.encoding

    @property
    def model(self) -> Model:
        """The model of the clusters."""
        return self.clusters.model

    @property
    def is_merged(self) -> bool:
        """Whether a subtype holds several clusters."""
        return int(self.subtype_of.max()) + 1 < self.subtype_of.size

    @cached_property
    def pooled(self) -> Clusters:
        """The partition into subtypes, each taken as one cluster: for its evidence, not for predictions."""
        return self.clusters.pooled(self.subtype_of) if self.is_merged else self.clusters

    @property
    def sizes(self) -> Array:
        """Number of subjects in each subtype, float64 (K,)."""
        return self.pooled.sizes

    @property
    def statistics(self) -> Array:
        """Sufficient statistics of each subtype, float64 (K, S)."""
        return self.pooled.statistics

    def summed(self, probabilities: Array) -> Array:
        """Return the probability of each subtype from those of its clusters; see the function of this name."""
        return summed(probabilities, self.subtype_of)

    def log_summed(self, scores: Array) -> Array:
        """Return the log weight of each subtype from those of its clusters; see `summed`."""
        return _joined(scores, self.subtype_of, lambda columns: np.logaddexp.reduce(columns, axis=1))


def summed(probabilities: Array, subtype_of: Labels) -> Array:
    """Return the probability of each subtype, float64 (n, K), from those of the clusters (n, J).

    Columns beyond the J clusters, such as that of a new cluster, stay as they are, at the end.
    """
    # A sum of several probabilities may exceed 1 by a rounding error.
    return _joined(probabilities, subtype_of, lambda columns: np.minimum(columns.sum(axis=1), 1.0))


def _joined(of_clusters: Array, subtype_of: Labels, join: Callable[[Array], Array]) -> Array:
    """Return the columns of each subtype joined; a subtype of one cluster keeps the bits of its column."""
    members = _members(subtype_of)
    if len(members) == subtype_of.size:
        return of_clusters
    columns = [of_clusters[:, it[0]] if it.size == 1 else join(of_clusters[:, it]) for it in members]
    return np.column_stack([*columns, of_clusters[:, subtype_of.size :]])


def _members(subtype_of: Labels) -> list[Labels]:
    """Return the clusters of each subtype, ascending."""
    return [np.flatnonzero(subtype_of == subtype) for subtype in range(int(subtype_of.max()) + 1)]
