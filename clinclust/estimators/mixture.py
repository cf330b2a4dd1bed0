"""A subtype as the mixture of its clusters, and marks of subtypes that may be noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Array, Labels
from clinclust.engine.search.settle import groups_by_decreasing_size

if TYPE_CHECKING:
    from collections.abc import Callable

    from clinclust.engine.problem.encoding import Encoding
    from clinclust.engine.problem.problem import Clusters
    from clinclust.likelihoods import Likelihood
    from clinclust.schema import Feature, FeatureSchema


# The parameters of the subtypes in each feature, with intervals (Raykov et al. 2016, appendix D and eq. 32).

_TAIL = 0.025
_COLUMNS = ("feature", "parameter", "level", "subtype", "estimate", "lower", "upper")


def cluster_parameters(subtypes: SubtypeMixture, schema: FeatureSchema) -> pd.DataFrame:
    """Return the table of `MAPDP.cluster_parameters_`."""
    encoding = subtypes.encoding
    of_part = {feature.name: index for index, feature in enumerate(encoding.features)}
    rows: list[tuple[Any, ...]] = []
    for part in schema.clustered_parts:
        if part.name in of_part:
            index, likelihood = of_part[part.name], encoding.alone[of_part[part.name]]
            posteriors = subtypes.pooled.posteriors(index)[:-1]
            centre, scale = encoding.standards_of(index, 0)
            stated = [likelihood.stated_hyperparameters(posterior, centre, scale) for posterior in posteriors]
            rows += _rows(part, likelihood, np.array(stated))
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _rows(feature: Feature, likelihood: Likelihood, posteriors: Array) -> Iterator[tuple[Any, ...]]:
    """Yield one row for each parameter, level and subtype."""
    for name, distribution in likelihood.parameters(posteriors).items():
        if name == "sd" and feature.transform is not None:
            continue  # no number in the unit of the column says it
        mean, lower, upper = distribution.mean(), distribution.ppf(_TAIL), distribution.ppf(1.0 - _TAIL)
        estimate = np.where(np.isfinite(mean), mean, distribution.median())  # few values may leave no finite mean
        numbers = np.stack([estimate, lower, upper])
        if name == "mean":
            numbers, name = _in_unit(feature, numbers)
        levels = _levels(feature, likelihood)
        for place, level in enumerate(levels):
            of_level = numbers[..., place] if numbers.ndim == 3 else numbers
            for subtype, row in enumerate(of_level.T.tolist(), start=1):
                yield feature.name, name, level, subtype, *row


def _in_unit(feature: Feature, numbers: Array) -> tuple[Array, str]:
    """Return means (3, K) in the unit of the column, and what they are called."""
    known = feature.level_numbers
    if known is not None and np.ptp(np.diff(known.numbers)) < 1e-9 * known.step:  # a scale of even steps
        ends = known.numbers[0] + numbers * (known.numbers[1] - known.numbers[0])
        return np.vstack([ends[:1], np.sort(ends[1:], axis=0)]), "mean"
    return feature.from_model_scale(numbers), "mean" if feature.transform is None else "back-transformed mean"


def _levels(feature: Feature, likelihood: Likelihood) -> list[str]:
    """Return the levels whose probabilities are parameters; an empty text for a mean."""
    if likelihood.is_yes_no:
        return [feature.levels[1] if feature.levels else "1"]
    if not likelihood.counts_levels:
        return [""]
    if feature.levels:
        return list(feature.levels)
    return [f"{feature.lowest + step:g}" for step in range((feature.n_trials or 0) + 1)]


# Mixtures of clusters: subtypes that are unions of clusters.
#
# The predictive of a subtype is the sum of those of its clusters, weighted by their sizes.


@dataclass(frozen=True, eq=False)
class SubtypeMixture:
    """The subtypes of a fit. J is the number of clusters that the search found, K that of the subtypes.

    Attributes
    ----------
    clusters : Clusters
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
    def is_merged(self) -> bool:
        """Whether a subtype holds several clusters."""
        return int(self.subtype_of.max()) + 1 < self.subtype_of.size

    @cached_property
    def pooled(self) -> Clusters:
        """The subtypes as single clusters, for evidence only."""
        return self.clusters if self._is_in_order else self.clusters.pooled(self.subtype_of)

    @property
    def sizes(self) -> Array:
        """Number of subjects in each subtype, float64 (K,)."""
        return self.pooled.sizes

    def summed(self, probabilities: Array) -> Array:
        """Return the probability of each subtype, float64 (n, K), from those of the clusters (n, J).

        Further columns, such as that of a new cluster, stay at the end.
        """
        # A sum of several probabilities may exceed 1 by a rounding error.
        return self._joined(probabilities, lambda columns: np.minimum(columns.sum(axis=1), 1.0))

    def log_summed(self, scores: Array) -> Array:
        """Return the log weight of each subtype from those of its clusters."""
        return self._joined(scores, lambda columns: np.logaddexp.reduce(columns, axis=1))

    def _joined(self, of_clusters: Array, join: Callable[[Array], Array]) -> Array:
        """Return the columns of each subtype combined; that of a single cluster is unchanged."""
        if self._is_in_order:
            return of_clusters
        members = [np.flatnonzero(self.subtype_of == subtype) for subtype in range(int(self.subtype_of.max()) + 1)]
        columns = [of_clusters[:, it[0]] if it.size == 1 else join(of_clusters[:, it]) for it in members]
        return np.column_stack([*columns, of_clusters[:, self.subtype_of.size :]])

    @property
    def _is_in_order(self) -> bool:
        """Whether each subtype is the cluster of the same number."""
        return np.array_equal(self.subtype_of, np.arange(self.subtype_of.size))


# Marks of subtypes that may be noise: few subjects, or weak evidence to their nearest other.

NO_FLOOR = 1
"""Fewest subjects of a subtype without a floor."""
FEW, WEAK = "few", "weak"
"""The marks of a subtype that may be noise, wherever it is shown."""
FEW_SUBJECTS = 5
"""Number of subjects below which a subtype is marked as few."""
WEAK_NATS = 3.0
"""Evidence in nats to the nearest other below which a subtype is marked as weak."""
MEANING_OF_MARKS = (
    f"{FEW}: fewer than {FEW_SUBJECTS} subjects; {WEAK}: less than {WEAK_NATS:g} nats of evidence between a subtype "
    "and its nearest other."
)
"""The meaning of all marks."""


def marks_of(subtypes: SubtypeMixture) -> list[tuple[str, ...]]:
    """Return the marks of each subtype: `FEW` below 5 subjects, `WEAK` if a merger would cost less than 3 nats."""
    pairs, evidence = _all_pairs(subtypes)
    nearest = np.full(subtypes.sizes.size, np.inf)  # the evidence between each subtype and its nearest other
    for side in pairs.T:
        np.minimum.at(nearest, side, evidence)
    both = zip((subtypes.sizes < FEW_SUBJECTS).tolist(), (nearest < WEAK_NATS).tolist(), strict=True)
    return [((FEW,) if few else ()) + ((WEAK,) if weak else ()) for few, weak in both]


def n_standing(subtypes: SubtypeMixture) -> int:
    """Return the number of subtypes, at least 1, that are left without those that may be noise.

    Pairs with less than 3 nats between them are merged, the least first; then subtypes below 5 subjects do not count.
    """
    while True:
        pairs, evidence = _all_pairs(subtypes)
        if evidence.min(initial=np.inf) >= WEAK_NATS:
            return max(1, int((subtypes.sizes >= FEW_SUBJECTS).sum()))
        kept, lost = pairs[evidence.argmin()].tolist()
        groups = with_joined(subtypes.subtype_of, kept, lost, subtypes.clusters.sizes)
        subtypes = replace(subtypes, subtype_of=groups)


def with_joined(subtype_of: Labels, kept: int, lost: int, sizes: NDArray[np.float64]) -> Labels:
    """Return the subtype of each cluster, int64 (J,), with two subtypes merged; `sizes` (J,) are of the clusters."""
    return groups_by_decreasing_size(np.where(subtype_of == lost, kept, subtype_of), sizes.astype(np.int64))


def _all_pairs(subtypes: SubtypeMixture) -> tuple[Labels, NDArray[np.float64]]:
    """Return every pair of subtypes, int64 (P, 2), and the evidence between them in nats, float64 (P,)."""
    pairs = np.column_stack(np.triu_indices(subtypes.sizes.size, 1)).astype(np.int64)
    return pairs, evidence_between(subtypes.pooled, pairs) if len(pairs) else np.zeros(0)


def evidence_between(clusters: Clusters, pairs: Labels) -> NDArray[np.float64]:
    """Return the decrease of the log joint when each pair of clusters (P, 2) is merged, in nats, float64 (P,)."""
    first, second = pairs.T
    sizes, statistics = clusters.sizes, clusters.statistics
    together = replace(clusters, sizes=sizes[first] + sizes[second], statistics=statistics[first] + statistics[second])
    apart, model = clusters.log_joint_of_each(), clusters.model
    seat = np.log(model.concentration + model.discount * (sizes.size - 1))
    return np.asarray(apart[first] + apart[second] + seat - together.log_joint_of_each(), dtype=np.float64)
