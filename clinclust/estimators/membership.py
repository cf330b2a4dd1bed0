"""The membership probability of each subject in its own subtype."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from clinclust.estimators.subtype_model import SubtypeModel

__all__ = ["CLEAR", "basis_of_membership", "own_membership"]

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
