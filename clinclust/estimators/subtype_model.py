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

    Parts of a report that need a MAP-DP search read `fit_`; an estimator that is not fitted has no `labels_`.
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
        """Probability of each cluster for each subject, float64 (N, K); None without probabilities."""

    @property
    def uninformative_(self) -> Mapping[str, str]:
        """Features with the role ``cluster`` that were not clustered on, with the reason."""

    @property
    def names_(self) -> Mapping[int, str]:
        """Default names of subtypes in reports, by number from 1; empty if there are none."""

    @property
    def index_(self) -> pd.Index | None:
        """Index of the labels; None if unknown."""

    @property
    def made_by(self) -> str:
        """The person or method; completes the sentence "The subtypes were made by ..."."""

    @property
    def fit_(self) -> Fit | None:
        """Results of the MAP-DP search, if one made the partition."""


def is_fitted(model: SubtypeModel) -> bool:
    """Return whether the model has labels."""
    return hasattr(model, "labels_")


def require_fitted(model: SubtypeModel) -> None:
    """Raise NotFittedError for an estimator without labels, and InputError for anything that is no model."""
    if is_fitted(model):
        return
    if not hasattr(model, "fit"):
        raise InputError(f"model must be a fitted MAPDP or a Partition, not {type(model).__name__}")
    raise not_fitted(NOT_FITTED)


def require_search(model: SubtypeModel, purpose: str) -> Fit:
    """Return the results of the MAP-DP search of a model.

    Raises NotFittedError, or InputError if it has none; `purpose` is the subject of the sentence.
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
    """Return the features from which the subtypes were found, or may have been made without a MAP-DP search."""
    return [feature.name for feature in model.schema_.clustered if feature.name not in model.uninformative_]


def fewest_subjects(model: SubtypeModel) -> int:
    """Return the floor of the size of tested subtypes; 1 without a floor."""
    return NO_FLOOR if model.fit_ is None else model.fit_.min_size_


CLEAR = 0.95
"""Membership probability from which an assignment is called clear."""


def own_membership(model: SubtypeModel) -> NDArray[np.float64] | None:
    """Return the probability of each subject's own subtype given all other subjects, float64 (N,); None without any."""
    membership = getattr(model, "membership_", None)
    if membership is None:
        return None
    labels = np.asarray(model.labels_)
    return np.asarray(membership)[np.arange(labels.size), labels]


def basis_of_membership(model: SubtypeModel) -> str:
    """Return what the probabilities are conditional on (`membership_basis` of the model): one partition by default."""
    return str(getattr(model, "membership_basis", "given all other subjects"))
