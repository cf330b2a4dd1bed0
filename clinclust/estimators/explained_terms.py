"""The terms of the log odds of the subtype of each subject: one for each feature, and one for the sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.predictives import log_predictives
from clinclust.estimators.left_out import held_values, left_out_scores, log_weights, own_log_weights

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.fit import Fit
    from clinclust.estimators.subtype_mixture import SubtypeMixture

__all__ = ["Terms", "terms_of_cohort", "terms_of_new"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of n subjects.

    Attributes
    ----------
    of_features : float64 (D, n)
        The term of each feature in nats, in the order of the encoding; 0 where a value is missing.
    of_size : float64 (n,)
        The term of the sizes.
    total : float64 (n,)
        The log odds of the two subtypes.
    subtype, against : int64 (n,)
        Numbers from 1 of the subtypes that are compared; 0 is none of these.
    """

    of_features: Array
    of_size: Array
    total: Array
    subtype: Labels
    against: Labels

    @property
    def within(self) -> Array:
        """What the other clusters of the two subtypes add, float64 (n,)."""
        return np.asarray(self.total - self.of_size - self.of_features.sum(axis=0))


def terms_of_new(subtypes: SubtypeMixture, frame: pd.DataFrame) -> Terms:
    """Return the terms of new subjects for their most probable subtype.

    Parameters
    ----------
    subtypes : SubtypeMixture
    frame : DataFrame, n rows
        The subjects, validated.
    """
    clusters, values = subtypes.clusters, model_values(frame, subtypes.encoding.features)
    scores = clusters.scores(values, coarsened=True)
    of_subtypes = subtypes.log_summed(scores)
    best = of_subtypes.argmax(axis=1)
    other = _next(of_subtypes, best)
    first, second = (_leading_cluster(scores, subtypes, subtype) for subtype in (best, other))
    differences = log_predictives(clusters, values, first) - log_predictives(clusters, values, second)
    weights, rows = log_weights(clusters), np.arange(len(frame))
    return Terms(
        differences * clusters.model.exponents[:, None],
        weights[first] - weights[second],
        of_subtypes[rows, best] - of_subtypes[rows, other],
        _numbers(best, subtypes),
        _numbers(other, subtypes),
    )


def terms_of_cohort(fit: Fit, cohort: pd.DataFrame) -> Terms:
    """Return the terms of the subjects of a fit for the subtype that it gave them, each judged by all others.

    Parameters
    ----------
    fit : Fit
    cohort : DataFrame, N rows
        As `cohort_of` returns it.
    """
    subtypes, clusters, first = fit.subtypes_, fit.clusters_, fit.cluster_labels_
    scores, values = left_out_scores(fit, cohort), model_values(cohort, fit.clusters_.encoding.features)
    of_subtypes = subtypes.log_summed(scores)
    other = _next(of_subtypes, fit.labels_)
    second = _leading_cluster(scores, subtypes, other)
    own = log_predictives(clusters, values, first, held_values(fit))
    rows = np.arange(len(cohort))
    return Terms(
        (own - log_predictives(clusters, values, second)) * clusters.model.exponents[:, None],
        own_log_weights(clusters, first) - log_weights(clusters)[second],
        of_subtypes[rows, fit.labels_] - of_subtypes[rows, other],
        _numbers(fit.labels_, subtypes),
        _numbers(other, subtypes),
    )


def _next(of_subtypes: Array, best: Labels) -> Labels:
    """Return the most probable of the other subtypes that were found; if there is none, the new one.

    The last column is none of these subtypes.
    """
    none = of_subtypes.shape[1] - 1
    left = of_subtypes.copy()
    left[np.arange(len(of_subtypes)), best] = -np.inf
    if none > 1:
        left[:, none] = -np.inf
    return np.asarray(left.argmax(axis=1))


def _numbers(subtype: Labels, subtypes: SubtypeMixture) -> Labels:
    """Return the numbers of subtypes from 1; 0 is none of these."""
    n_subtypes = int(subtypes.subtype_of.max()) + 1
    return np.where(subtype == n_subtypes, 0, subtype + 1)


def _leading_cluster(scores: Array, subtypes: SubtypeMixture, subtype: Labels) -> Labels:
    """Return, for each subject, the cluster of this subtype with the highest score, int64 (n,)."""
    # The empty cluster is the last, and a subtype of its own.
    of_cluster = np.append(subtypes.subtype_of, int(subtypes.subtype_of.max()) + 1)
    inside = of_cluster[None, :] == subtype[:, None]
    return np.asarray(np.where(inside, scores, -np.inf).argmax(axis=1))
