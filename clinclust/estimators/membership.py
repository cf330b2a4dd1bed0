"""The probability of each subject's own subtype."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP

__all__ = ["CLEAR", "own_membership"]

CLEAR = 0.95
"""From this probability on a membership is called clear."""


def own_membership(model: MAPDP) -> NDArray[np.float64]:
    """Return the probability of each subject's own subtype given all other subjects, float64 (N,)."""
    labels = np.asarray(model.labels_)
    return np.asarray(model.membership_)[np.arange(labels.size), labels]
