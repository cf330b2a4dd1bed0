"""The model of a cohort: everything that the log joint depends on, except the data and the partition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Model"]


class Model(NamedTuple):
    """The model as the compiled kernels read it. It does not change during a search."""

    prior: NDArray[np.float64]
    """(H,) hyperparameters of all features, one after the other, on the encoded scale."""
    powers: NDArray[np.float64]
    """(D,) the power, in (0, 1], to which the likelihood of each feature is raised because of its block; 1 without."""
    concentration: float
    """N0, the weight of a new cluster, in subjects."""
    discount: float = 0.0
    """Discount of the Pitman-Yor process, in [0, 1): the weight that each cluster passes on to a new cluster, in
    subjects. With 0 it is the Dirichlet process."""
    coarsening: float = 1.0
    """The power, in (0, 1], to which the whole likelihood is raised in addition (Miller and Dunson 2019)."""

    @property
    def exponents(self) -> NDArray[np.float64]:
        """The power of each feature's likelihood in all, coarsening times the power of its block, float64 (D,)."""
        return np.asarray(self.coarsening * self.powers)

    def in_full(self) -> Model:
        """Return the model in which every likelihood counts in full: only its densities integrate to 1."""
        return self._replace(coarsening=1.0, powers=np.ones_like(self.powers))
