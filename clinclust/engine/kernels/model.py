"""The model of a cohort: everything but the data that the joint depends on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Model"]


class Model(NamedTuple):
    """What the compiled kernels read of the model; nothing here changes while subjects move."""

    prior: NDArray[np.float64]
    """(H,) hyperparameters of all features side by side, on the encoded scale."""
    concentration: float
    """N0: the weight of a new cluster, in subjects."""
    discount: float = 0.0
    """What each cluster gives of its size to the weight of a new one, in [0, 1): the discount of the Pitman-Yor
    process; 0 is the Dirichlet process."""
    coarsening: float = 1.0
    """The power, in (0, 1], to which the likelihood is raised (Miller and Dunson 2019)."""
