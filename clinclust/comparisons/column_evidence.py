"""What a column alone tells of a partition: a naive Bayes classifier that never sees the subject that it classifies."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["ColumnEvidence", "named_together"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class ColumnEvidence:
    """The log predictives of a column in every subtype, relative to all subjects.

    For a subject at level l, ln(p(l | k) / p(l)), where p(l | k) = (n_lk + p(l)) / (n_k + 1) and all counts are without
    the subject itself (leave one out), so that many levels do not tell more than few. A missing value tells nothing.

    Parameters
    ----------
    levels : int64 (N,)
        Level of each subject, from 0; -1 where it is missing.
    labels : int64 (N,)
        Subtype of each subject, 0 to K - 1.
    """

    def __init__(self, levels: Ints, labels: Ints) -> None:
        self.levels, self.labels, self.n_subtypes = levels, labels, int(labels.max()) + 1

    @cached_property
    def counts(self) -> Ints:
        """Numbers of subjects, int64 (L + 1, K); the last row is of missing values."""
        n_levels = int(self.levels.max(initial=-1)) + 1
        rows = np.where(self.levels < 0, n_levels, self.levels)
        cells = np.bincount(rows * self.n_subtypes + self.labels, minlength=(n_levels + 1) * self.n_subtypes)
        return cells.reshape(-1, self.n_subtypes)

    @cached_property
    def log_ratios(self) -> Floats:
        """The logs by level, subtype of the subject, and subtype, float64 (L + 1, K, K)."""
        found = np.zeros((*self.counts.shape, self.n_subtypes))
        observed, itself = self.counts[:-1], np.eye(self.n_subtypes)
        share = (observed.sum(axis=1) - 1)[:, None, None] / max(int(observed.sum()) - 1, 1)
        inside = np.maximum(observed[:, None, :] - itself, 0.0)
        of_all = np.maximum(observed.sum(axis=0) - itself, 0.0)
        # A level that nobody else has tells nothing.
        known = np.where(share > 0, share, 1.0)
        found[:-1] = np.where(share > 0, np.log((inside + known) / ((of_all + 1.0) * known)), 0.0)
        return found

    @cached_property
    def information(self) -> float:
        """The mean log ratio of the subject's own subtype, in nats: mutual information, with each subject left out."""
        own = np.diagonal(self.log_ratios, axis1=1, axis2=2)
        return float((self.counts * own).sum() / self.labels.size)

    @property
    def of_subjects(self) -> Floats:
        """The log ratios of each subject, float64 (N, K)."""
        return np.asarray(self.log_ratios[self.levels, self.labels])

    @cached_property
    def named(self) -> Ints:
        """Numbers of subjects by subtype and by the subtype that the column names, int64 (K, K)."""
        named = (_log_prior(self.counts.sum(axis=0)) + self.log_ratios).argmax(axis=2)
        found = np.zeros((self.n_subtypes, self.n_subtypes), dtype=np.int64)
        np.add.at(found, (np.broadcast_to(np.arange(self.n_subtypes), named.shape), named), self.counts)
        return found


def named_together(log_ratios: Floats, labels: Ints) -> Ints:
    """Return what `ColumnEvidence.named` is of several columns, taken for independent inside the subtypes.

    Parameters
    ----------
    log_ratios : float64 (N, K)
        The sum of `ColumnEvidence.of_subjects`.
    labels : int64 (N,)
    """
    n_subtypes = log_ratios.shape[1]
    named = (_log_prior(np.bincount(labels, minlength=n_subtypes))[labels] + log_ratios).argmax(axis=1)
    return np.bincount(labels * n_subtypes + named, minlength=n_subtypes**2).reshape(n_subtypes, n_subtypes)


def _log_prior(sizes: Ints) -> Floats:
    """Return the logs of the sizes without a subject of each subtype, float64 (K, K)."""
    return np.asarray(np.log(np.maximum(sizes - np.eye(sizes.size), 0.5)))
