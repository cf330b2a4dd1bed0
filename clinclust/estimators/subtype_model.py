"""SubtypeModel: the attributes of a partition that comparisons, reports, associations and figures use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clinclust.errors import InputError, not_fitted
from clinclust.estimators.few_subjects import NO_FLOOR

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.fit import Fit
    from clinclust.schema import FeatureSchema

NOT_FITTED = "the model is not fitted; call model.fit(frame) first"


class SubtypeModel(Protocol):
    """A partition of a cohort into subtypes: a fitted `MAPDP`, a `Partition`, or the result of another method.

    The parts of a report that need a MAP-DP search read `fit_`; all other parts read the other attributes. An
    estimator that is not fitted has no attribute `labels_`.
    """

    @property
    def schema_(self) -> FeatureSchema:
        """Schema of the cohort."""

    @property
    def labels_(self) -> NDArray[np.int64]:
        """Cluster of each subject, int64 (N,), 0 .. K - 1 by decreasing size."""

    @property
    def cluster_sizes_(self) -> NDArray[np.int64]:
        """Number of subjects in each cluster, int64 (K,)."""

    @property
    def membership_(self) -> NDArray[np.float64] | None:
        """Probability of each cluster for each subject, float64 (N, K); None if the method gives no probabilities."""

    @property
    def uninformative_(self) -> Mapping[str, str]:
        """Features with the role ``cluster`` that were not clustered on, with the reason."""

    @property
    def names_(self) -> Mapping[int, str]:
        """Default names of subtypes in reports, by number from 1; empty if there are none."""

    @property
    def index_(self) -> pd.Index | None:
        """Index of the subjects that the labels belong to; None if it is not known."""

    @property
    def made_by(self) -> str:
        """The person or method that made the partition; completes the sentence "The subtypes were made by ..."."""

    @property
    def fit_(self) -> Fit | None:
        """Results of the MAP-DP search; None if no such search made the partition."""


def is_fitted(model: SubtypeModel) -> bool:
    """Return whether the model has labels."""
    return hasattr(model, "labels_")


def require_fitted(model: SubtypeModel) -> None:
    """Check that the model has labels.

    Raises
    ------
    NotFittedError
        If it is an estimator that has none yet.
    ValueError
        If it is no model.
    """
    if is_fitted(model):
        return
    if not hasattr(model, "fit"):
        raise InputError(f"model must be a fitted MAPDP or a Partition, not {type(model).__name__}")
    raise not_fitted(NOT_FITTED)


def require_search(model: SubtypeModel, purpose: str) -> Fit:
    """Return the results of the MAP-DP search of a model.

    Parameters
    ----------
    model : SubtypeModel
    purpose : str
        What needs the search; the subject of the sentence in the error.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    ValueError
        If its subtypes were not found by a MAP-DP search.
    """
    require_fitted(model)
    if model.fit_ is None:
        raise InputError(f"{purpose} needs a fitted MAPDP; these subtypes were made by {model.made_by}")
    return model.fit_


def parameters_of(model: SubtypeModel) -> dict[str, Any]:
    """Return the parameters of the estimator by name; empty if the model is not an estimator."""
    get_params = getattr(model, "get_params", None)
    return {} if get_params is None else dict(get_params())


def clustered_features(model: SubtypeModel) -> list[str]:
    """Return the names of the features from which the subtypes were found.

    Without a MAP-DP search these are the features from which the subtypes may have been made.
    """
    return [feature.name for feature in model.schema_.clustered if feature.name not in model.uninformative_]


def fewest_subjects(model: SubtypeModel) -> int:
    """Return the number of subjects below which a subtype of the model is not tested; 1 if there is none."""
    return NO_FLOOR if model.fit_ is None else model.fit_.min_size_


CLEAR = 0.95
"""A membership probability of at least this value is called clear."""


def own_membership(model: SubtypeModel) -> NDArray[np.float64] | None:
    """Return the probability of each subject's own subtype given all other subjects, float64 (N,).

    Returns None if the model has no membership probabilities.
    """
    if model.membership_ is None:
        return None
    labels = np.asarray(model.labels_)
    return np.asarray(model.membership_)[np.arange(labels.size), labels]


def basis_of_membership(model: SubtypeModel) -> str:
    """Return what the probabilities of a model rest on: one partition, or all of them.

    A model of which other partitions than its own were drawn says so in an attribute `membership_basis`.
    """
    return str(getattr(model, "membership_basis", "given all other subjects"))
