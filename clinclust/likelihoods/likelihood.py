"""What every likelihood can say; one subclass a file, listed in `clinclust.likelihoods.REGISTRY`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from clinclust.schema import Feature

__all__ = ["Array", "Likelihood"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Likelihood(ABC):
    """The distribution of one feature within a cluster, with its parameters integrated out.

    Values are numbers on the model's scale (`Feature` turns a validated column into them); NaN is missing.
    """

    name: ClassVar[str]
    prior: ClassVar[ModuleType]

    @classmethod
    @abstractmethod
    def of(cls, feature: Feature) -> Likelihood:
        """Return the likelihood that a feature declares."""

    @property
    @abstractmethod
    def n_statistics(self) -> int:
        """Length S of a sufficient statistic."""

    @property
    def n_hyperparameters(self) -> int:
        """Number of hyperparameters of the prior."""
        return len(self.prior.NAMES)

    @abstractmethod
    def statistics(self, values: Array) -> Array:
        """Return T(x), shape (n, S), of values of shape (n,). A missing value has T = 0."""

    @abstractmethod
    def log_base_measure(self, values: Array) -> Array:
        """Return log h(x), shape (n,), of values of shape (n,). A missing value has log h = 0."""

    @abstractmethod
    def default_hyperparameters(self, values: Array) -> Array:
        """Return a prior about as strong as one subject whose mean is that of the observed values (n,)."""

    @abstractmethod
    def predictive(self, posterior: Array) -> Any:  # noqa: ANN401 - scipy's frozen distributions share no public type
        """Return the frozen scipy distribution of a new value, given the posterior hyperparameters."""

    def levels(self, values: Array) -> Array | None:
        """Return the distinct values that a table of log predictives lists; None for a continuous feature."""
        return np.unique(values[~np.isnan(values)])

    def as_dict(self, hyperparameters: Array) -> dict[str, Any]:
        """Return hyperparameters by name."""
        return dict(zip(self.prior.NAMES, hyperparameters.tolist(), strict=True))

    def from_dict(self, given: dict[str, Any], default: Array) -> Array:
        """Return hyperparameters as an array: those given by name, the others from `default`."""
        return np.array(
            [given.get(name, value) for name, value in zip(self.prior.NAMES, default, strict=True)],
            dtype=np.float64,
        )


def observed_columns(values: Array, *columns: Array | float) -> Array:
    """Stack columns to shape (n, len(columns)), with rows of zeros where the value is missing."""
    stacked = np.column_stack([np.broadcast_to(column, values.shape) for column in columns])
    stacked[np.isnan(values)] = 0.0
    return stacked
