"""Subtypes of few subjects: how many subjects a subtype needs, and what becomes of one that has fewer.

A subtype of a few subjects may be a rare disease or a few odd records, and no statistic of two subjects can tell which.
So it is merged with another only where something says that the two are hardly distinct; else it stays, is described,
and takes no part in tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.search.labels import groups_by_decreasing_size
from clinclust.errors import InputError
from clinclust.estimators.weak_evidence import WEAK_NATS

if TYPE_CHECKING:
    from clinclust.engine.problem.posterior import Clusters
    from clinclust.estimators.fit import Fit
    from clinclust.estimators.subtype_model import SubtypeModel

__all__ = [
    "FEW",
    "FEW_SUBJECTS",
    "MEANING_OF_MARKS",
    "NO_FLOOR",
    "WEAK",
    "WEAK_EVIDENCE",
    "fewest_subjects",
    "marks_of",
    "n_standing",
    "refuse_too_large_a_floor",
    "with_floor",
]

Labels = NDArray[np.int64]

NO_FLOOR = 1
"""Every subtype has so many subjects."""
WEAK_EVIDENCE = 5.0
"""Evidence in nats below which two subtypes are hardly distinct: a Bayes factor of 150, up to which Kass and Raftery
(1995) call evidence less than very strong. Dependence between features inside a disease adds to the evidence for a
division, so that evidence that is weak in spite of it stays weak."""

FEW, WEAK = "few", "weak"
"""The marks of a subtype that may be noise, wherever it is shown."""
FEW_SUBJECTS = 5
"""Subjects below which a subtype is marked as few."""
MEANING_OF_MARKS = (
    f"{FEW}: fewer than {FEW_SUBJECTS} subjects; {WEAK}: less than {WEAK_NATS:g} nats of evidence between a subtype "
    "and its nearest other."
)
"""What the marks mean, where not only those that are used are explained."""


def marks_of(fit: Fit) -> list[tuple[str, ...]]:
    """Return the marks of each subtype: `FEW` below 5 subjects, `WEAK` if a merger would cost less than 3 nats."""
    is_weak = _to_nearest(fit) < WEAK_NATS
    is_few = fit.cluster_sizes_ < FEW_SUBJECTS
    pairs = zip(is_few.tolist(), is_weak.tolist(), strict=True)
    return [((FEW,) if few else ()) + ((WEAK,) if weak else ()) for few, weak in pairs]


def n_standing(fit: Fit) -> int:
    """Return the number of subtypes, at least 1, that are left without those that may be noise.

    Of the subtypes with less than 3 nats between them, the two with the least are taken for one, and so on. Of what is
    left, subtypes of fewer than 5 subjects do not count.
    """
    evidence, pair = _closest(fit)
    while evidence < WEAK_NATS:
        fit = _joined(fit, *pair)
        evidence, pair = _closest(fit)
    return max(1, int((fit.cluster_sizes_ >= FEW_SUBJECTS).sum()))


def _to_nearest(fit: Fit) -> NDArray[np.float64]:
    """Return the evidence in nats between each subtype and its nearest other, float64 (K,); infinite for one."""
    pairs, evidence = _all_pairs(fit)
    nearest = np.full(fit.n_clusters_, np.inf)
    for side in pairs.T:
        np.minimum.at(nearest, side, evidence)
    return nearest


def _closest(fit: Fit) -> tuple[float, tuple[int, int]]:
    """Return the least evidence between two subtypes, infinite if there is one, and the two."""
    pairs, evidence = _all_pairs(fit)
    if not evidence.size:
        return np.inf, (0, 0)
    kept, lost = pairs[best := int(evidence.argmin())].tolist()
    return float(evidence[best]), (kept, lost)


def _all_pairs(fit: Fit) -> tuple[Labels, NDArray[np.float64]]:
    """Return every pair of subtypes, int64 (P, 2), and the evidence between them in nats, float64 (P,)."""
    pairs = np.column_stack(np.triu_indices(fit.n_clusters_, 1)).astype(np.int64)
    return pairs, _evidence(fit.subtypes_.pooled, pairs) if len(pairs) else np.zeros(0)


def fewest_subjects(model: SubtypeModel) -> int:
    """Return the number of subjects below which a subtype of the model is described only; 1 if there is none."""
    return NO_FLOOR if model.fit_ is None else model.fit_.min_size_


def refuse_too_large_a_floor(min_size: float | None, n_subjects: int) -> None:
    """Raise InputError, before a search, if no two subtypes of the cohort can have `MAPDP.min_size` subjects."""
    floor = _in_subjects(min_size, n_subjects)
    if 2 * floor <= n_subjects:
        return
    most = n_subjects // 2
    repair = f"give at most {most}" if most >= 2 else "leave it out"
    raise InputError(
        f"at least {floor} subjects in a subtype were asked for (min_size), and the cohort has {n_subjects}, so that "
        f"no two subtypes can be compared; {repair}, or check how the table was read or filtered"
    )


def with_floor(fit: Fit, min_size: float | None) -> Fit:
    """Return the fit with a floor for the size of its subtypes; see `MAPDP.min_size`.

    Subtypes below the floor are merged where they are hardly distinct. Each time, of all pairs with a subtype below the
    floor that may be merged, it is the pair whose merger lowers the log joint least.
    """
    floor = _in_subjects(min_size, fit.cluster_labels_.size)
    fit = replace(fit, min_size_=floor)
    pair = _pair_to_merge(fit)
    while pair is not None:
        fit = _joined(fit, *pair)
        pair = _pair_to_merge(fit)
    return fit


def _joined(fit: Fit, kept: int, lost: int) -> Fit:
    """Return the fit with two subtypes merged."""
    groups = np.where(fit.subtype_of_ == lost, kept, fit.subtype_of_)
    sizes = fit.clusters_.sizes.astype(np.int64)
    return replace(fit, subtype_of_=groups_by_decreasing_size(groups, sizes))


def _in_subjects(min_size: float | None, n_subjects: int) -> int:
    """Return the floor in subjects: the smallest number that is no smaller share of the cohort than asked for."""
    if min_size is None:
        return NO_FLOOR
    if isinstance(min_size, Integral):
        return int(min_size)
    # The decimal as it was written: in binary, a tenth of 30 subjects is a little more than 3.
    return max(NO_FLOOR, math.ceil(Fraction(repr(float(min_size))) * n_subjects))


def _pair_to_merge(fit: Fit) -> tuple[int, int] | None:
    """Return the two subtypes to merge next, the first of which may have any size; None if there are none."""
    small = np.flatnonzero(fit.untested_)
    if not small.size or fit.n_clusters_ == 1:
        return None
    distinct = _distinct_subtype_of(fit)
    pairs = [pair for pair in _pairs(small, fit.n_clusters_) if distinct is None or _is_inside_one(distinct, *pair)]
    if not pairs:
        return None
    evidence = _evidence(fit.subtypes_.pooled, np.array(pairs))
    best = int(evidence.argmin())
    return pairs[best] if distinct is not None or evidence[best] < WEAK_EVIDENCE else None


def _pairs(small: Labels, n_subtypes: int) -> Iterator[tuple[int, int]]:
    """Yield each pair of subtypes with a small one, once."""
    is_small = set(small.tolist())
    for lost in small.tolist():
        yield from ((kept, lost) for kept in range(n_subtypes) if kept not in is_small or kept < lost)


def _distinct_subtype_of(fit: Fit) -> Labels | None:
    """Return the distinct subtype that holds each subtype, int64 (K,); -1 if several do, None without a test."""
    if fit.tree_test_ is None:
        return None
    of_clusters = fit.tree_test_.distinct_of(fit.tree_)
    holding = [np.unique(of_clusters[fit.subtype_of_ == subtype]) for subtype in range(fit.n_clusters_)]
    return np.array([found[0] if found.size == 1 else -1 for found in holding], dtype=np.int64)


def _is_inside_one(distinct: Labels, first: int, second: int) -> bool:
    return bool(distinct[first] == distinct[second] >= 0)


def _evidence(clusters: Clusters, pairs: Labels) -> NDArray[np.float64]:
    """Return the decrease of the log joint by the merger of each pair of clusters (P, 2), in nats, float64 (P,)."""
    first, second = pairs.T
    sizes, statistics = clusters.sizes, clusters.statistics
    together = replace(clusters, sizes=sizes[first] + sizes[second], statistics=statistics[first] + statistics[second])
    apart, model = clusters.log_joint_of_each(), clusters.model
    seat = np.log(model.concentration + model.discount * (sizes.size - 1))
    return np.asarray(apart[first] + apart[second] + seat - together.log_joint_of_each(), dtype=np.float64)
