"""A refit of one resample of a cohort, compared with the reported partition."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array, Labels
from clinclust.estimators.few_subjects import FEW_SUBJECTS

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.stability.refits import Refitter


def contingency(reported: Labels, refitted: Labels, n_subtypes: int) -> Array:
    """Return the number of subjects in each of K reported subtypes, some perhaps empty, and each refitted one."""
    counts = np.zeros((n_subtypes, int(refitted.max()) + 1))
    np.add.at(counts, (reported, refitted), 1.0)
    return counts


def clusterwise_jaccard(counts: Array) -> Array:
    """Return the largest Jaccard similarity of each reported subtype with a refitted one; NaN without subjects."""
    either = counts.sum(axis=1, keepdims=True) + counts.sum(axis=0, keepdims=True) - counts
    with np.errstate(invalid="ignore"):
        largest = np.max(counts / either, axis=1)
    return np.where(counts.sum(axis=1) > 0.0, largest, np.nan)


def co_membership(reported: Labels, refitted: Labels, counts: Array) -> tuple[Array, Array]:
    """Return with which share of the others of its subtype, and of all other subjects, each subject came together.

    Both are float64 (n,), NaN where there are no such subjects; `counts` is the `contingency`.
    """
    together_own = counts[reported, refitted] - 1.0
    in_own = counts.sum(axis=1)[reported] - 1.0
    together = counts.sum(axis=0)[refitted] - counts[reported, refitted]
    outside = counts.sum() - counts.sum(axis=1)[reported]
    with np.errstate(invalid="ignore", divide="ignore"):
        return together_own / in_own, together / outside


HALF, BOOTSTRAP, PERMUTED = SAMPLES = ("half-sample", "bootstrap", "permuted")
"""Kinds of resamples; the last are halves of cohorts with permuted columns."""


class Draw(NamedTuple):
    """A refit of a resample, compared with the partition of the whole, reported or of permuted columns."""

    rows: Labels
    sizes: Array
    is_large: NDArray[np.bool_]
    jaccard: Array
    by_chance: Array
    own: Array
    others: Array
    n_found: int


def drawn(refitter: Refitter, kind: str, seed: np.random.SeedSequence) -> Draw:
    """Refit one resample, and compare it with the reported partition on its subjects."""
    rng = np.random.default_rng(seed)
    n_subjects, reported = refitter.problem.cohort.n_subjects, refitter.reported
    its_seed = int(rng.integers(2**31))
    n_found = None
    if kind == PERMUTED:
        refitter = replace(refitter, problem=_permuted(refitter, rng), procedure=None)
        whole = refitter.whole(refitter.problem, its_seed)
        reported, n_found = whole.labels, whole.n_found
    if kind == BOOTSTRAP:
        rows = np.unique(rng.integers(n_subjects, size=n_subjects))  # copies would make clusters of their own
    else:
        rows = np.sort(rng.choice(n_subjects, n_subjects // 2, replace=False))
    found = refitter.rows(rows, its_seed)
    labels, n_subtypes = found.labels, int(reported.max()) + 1
    counts = contingency(reported[rows], labels, n_subtypes)
    by_chance = clusterwise_jaccard(contingency(reported[rows], rng.permutation(labels), n_subtypes))
    own, others = co_membership(reported[rows], labels, counts)
    jaccard = clusterwise_jaccard(counts)
    is_large = np.bincount(reported, minlength=n_subtypes) >= FEW_SUBJECTS
    return Draw(rows, counts.sum(axis=1), is_large, jaccard, by_chance, own, others, n_found or found.n_found)


def _permuted(refitter: Refitter, rng: np.random.Generator) -> Problem:
    problem = refitter.problem
    arrays = problem.cohort.arrays
    columns = rng.permuted(arrays.codes, axis=0), rng.permuted(arrays.values, axis=0)
    moved = arrays._replace(codes=columns[0], values=columns[1])
    return replace(problem, cohort=replace(problem.cohort, arrays=moved))
