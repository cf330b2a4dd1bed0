"""Marks of subtypes that may be noise: few subjects, or weak evidence to their nearest other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Labels
from clinclust.engine.search.labels import groups_by_decreasing_size

if TYPE_CHECKING:
    from clinclust.engine.problem.posterior import Clusters
    from clinclust.estimators.mixture import SubtypeMixture


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
