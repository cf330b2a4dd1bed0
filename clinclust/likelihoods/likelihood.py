"""What every likelihood can say; one subclass a file, listed in `clinclust.likelihoods.REGISTRY`.

Whatever depends on being one likelihood and not another is asked here, so that nothing else compares names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clinclust.likelihoods.example import Example

__all__ = [
    "LARGEST_COUNT",
    "Array",
    "ContrastKind",
    "Declaration",
    "DraftedFor",
    "Likelihood",
    "observed_columns",
    "steps_of_scale",
]

Array = NDArray[np.float64]
ContrastKind: TypeAlias = Literal["student", "welch", "rank", "counts"]
DraftedFor: TypeAlias = Literal["scale", "levels", "count", "measurement"]

LARGEST_COUNT = 2**53 - 1
"""The largest whole number that a float64 still tells from its neighbours."""

_MEANS_AND_RANKS: tuple[ContrastKind, ...] = ("student", "welch", "rank")


class Declaration(Protocol):
    """What a likelihood reads of the feature that declares it (`clinclust.Feature`)."""

    @property
    def levels(self) -> tuple[str, ...] | None:
        """The levels, if the column has any."""

    @property
    def trials(self) -> int | None:
        """The number of trials, if it is stated."""

    @property
    def minimum(self) -> float | None:
        """The smallest value, if it is stated."""

    @property
    def maximum(self) -> float | None:
        """The largest value, if it is stated."""


@dataclass(frozen=True)
class Likelihood(ABC):
    """The distribution of one feature within a cluster, with its parameters integrated out.

    Values are numbers on the model's scale (`Feature` turns a validated column into them); NaN is missing.

    The class variables are the traits of the likelihood. The base class stands for a feature without likelihood: it
    has none of them.
    """

    # Names.
    name: ClassVar[str] = ""
    """What a schema calls it."""
    title: ClassVar[str] = ""
    """What a reader calls it, in the methods paragraph."""
    alternatives: ClassVar[tuple[str, ...]] = ()
    """Names of the likelihoods that it should be checked against."""

    # The model.
    prior: ClassVar[ModuleType]
    """The conjugate prior, a module of `clinclust.priors`."""
    kernel: ClassVar[int] = -1
    """By which code compiled functions choose it (`clinclust.engine.kernels.likelihood_kernels`)."""
    is_continuous: ClassVar[bool] = False
    """Whether its values have no table of levels."""
    counts_levels: ClassVar[bool] = False
    """Whether its statistics are the numbers of subjects at each level."""
    base_depends_on_prior: ClassVar[bool] = False
    """Whether the log base measure depends on a hyperparameter."""
    listed_by: ClassVar[str] = "one for each level"
    """What the numbers of a hyperparameter that is a list stand for."""

    # What values mean.
    is_whole: ClassVar[bool] = False
    """Whether values without levels are whole numbers."""
    is_yes_no: ClassVar[bool] = False
    is_share: ClassVar[bool] = False
    """Whether subjects are counted by level, so that means are shares."""
    is_nominal: ClassVar[bool] = False
    """Whether its levels have no order."""
    is_scale: ClassVar[bool] = False
    """Whether values are steps of an ordered scale that ends on both sides."""
    is_count: ClassVar[bool] = False
    """Whether values count events and have no upper end."""
    is_skewed: ClassVar[bool] = False
    """Whether the median says more than the mean, whatever the values."""
    is_real: ClassVar[bool] = False
    """Whether values may lie on both sides of 0, and far from it, and their skewness is seen from them alone."""

    # What a feature may declare.
    takes: ClassVar[frozenset[str]] = frozenset()
    """Which of the fields `levels`, `trials`, `minimum`, `maximum` and `transform`."""
    drafted_for: ClassVar[frozenset[DraftedFor]] = frozenset()
    """For which kinds of columns a draft considers it."""

    # How subtypes are described and compared.
    effect_sizes: ClassVar[Literal["shares", "means", "rates"]] = "means"
    contrasts: ClassVar[tuple[ContrastKind, ...]] = _MEANS_AND_RANKS
    """How subtypes may be contrasted in it, the default first (ranks come before it where values are skewed)."""
    summary: ClassVar[Literal["n", "mean", "median", "rate"] | None] = None
    """How a table of a paper summarises it; None = as it was contrasted."""

    @classmethod
    @abstractmethod
    def of(cls, declaration: Declaration) -> Likelihood:
        """Return the likelihood that a feature declares."""

    @classmethod
    def highest_score(cls, declaration: Declaration) -> int | None:
        """Return the highest score, counted from 0, of a yes/no feature or of a scale; None for others."""
        return steps_of_scale(declaration) if cls.is_scale else 1 if cls.is_yes_no else None

    @classmethod
    def support(cls) -> tuple[float, float]:
        """Return the smallest and the largest value, where a feature has no levels and states no range."""
        return (-np.inf if cls.is_real else 0.0), (np.inf if cls.is_continuous else LARGEST_COUNT)

    @classmethod
    def hyperparameter_lengths(cls, declaration: Declaration) -> dict[str, int | None]:
        """Return the names of the hyperparameters; of those that are lists how long they are, None for numbers."""
        return dict.fromkeys(cls.prior.NAMES)

    @property
    @abstractmethod
    def n_statistics(self) -> int:
        """Length S of a sufficient statistic."""

    @property
    def hyperparameter_names(self) -> tuple[str, ...]:
        """The name of each number of the prior, in order; a list has its name once for each element."""
        return tuple(self.prior.NAMES)

    @property
    def n_hyperparameters(self) -> int:
        """Number of hyperparameters of the prior."""
        return len(self.hyperparameter_names)

    @abstractmethod
    def statistics(self, values: Array) -> Array:
        """Return T(x), shape (n, S), of values of shape (n,). A missing value has T = 0."""

    def log_base_measure(self, values: Array, hyperparameters: Array) -> Array:
        """Return log h(x), shape (n,), of values of shape (n,), under a prior (H,). A missing value has log h = 0."""
        return np.zeros(values.shape)

    def log_base_gradient(self, levels: Array, counts: Array, hyperparameters: Array) -> Array:
        """Return the derivatives of counts @ log h(levels), both (L,), by the hyperparameters, float64 (H,)."""
        return np.zeros(hyperparameters.shape)

    @abstractmethod
    def default_hyperparameters(self, values: Array) -> Array:
        """Return a prior about as strong as one subject whose mean is that of the observed values (n,)."""

    @abstractmethod
    def draft_hyperparameters(self, values: Array) -> Array:
        """Return the weak prior under which likelihoods of one column are compared over all subjects together."""

    @abstractmethod
    def predictive(self, posterior: Array) -> Any:
        """Return the frozen scipy distribution of a new value, given the posterior hyperparameters."""

    @abstractmethod
    def mode(self, posterior: Array) -> float:
        """Return the most probable new value."""

    def draw(self, posterior: Array, n: int, rng: np.random.Generator) -> Array:
        """Return n draws of a new value, float64 (n,)."""
        return np.asarray(self.predictive(posterior).rvs(size=n, random_state=rng), dtype=np.float64)

    def levels(self, values: Array) -> Array | None:
        """Return the distinct values that a table of log predictives lists; None for a continuous feature."""
        return None if self.is_continuous else np.unique(values[~np.isnan(values)])

    def standardisation(self, values: Array) -> tuple[float, float]:
        """Return the centre and the scale by which the engine standardises the observed values."""
        return 0.0, 1.0

    def encoded(self, values: Array) -> Array:
        """Return continuous values, standardised, as compiled functions read them."""
        return values

    def encoded_hyperparameters(self, hyperparameters: Array, centre: float, scale: float) -> Array:
        """Return the hyperparameters (H,) of the standardised values."""
        return hyperparameters

    def stated_hyperparameters(self, encoded: Array, centre: float, scale: float) -> Array:
        """Return the hyperparameters (H,) on the scale of the column: the inverse of `encoded_hyperparameters`."""
        return encoded

    def log_marginal(self, values: Array, hyperparameters: Array) -> float:
        """Return ln m(x_1 .. x_n) = sum log h + A(posterior) - A(prior) of the observed values, float64 (n,)."""
        statistics = self.statistics(values).sum(axis=0)
        normalizer = self.prior.log_normalizer
        gain = normalizer(self.prior.posterior(hyperparameters, statistics)) - normalizer(hyperparameters)
        return float(gain + self.log_base_measure(values, hyperparameters).sum())

    def evidence(self, values: Array) -> float:
        """Return the log marginal of a column under the weak prior by which likelihoods of one column are compared."""
        return self.log_marginal(values, self.draft_hyperparameters(values))

    def as_dict(self, hyperparameters: Array) -> dict[str, Any]:
        """Return hyperparameters by name."""
        return dict(zip(self.prior.NAMES, hyperparameters.tolist(), strict=True))

    def from_dict(self, given: Mapping[str, Any], default: Array) -> Array:
        """Return hyperparameters as an array: those given by name, the others from `default`."""
        return np.array(
            [given.get(name, value) for name, value in zip(self.prior.NAMES, default, strict=True)],
            dtype=np.float64,
        )

    @classmethod
    @abstractmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return what tests draw from; the first is the plainest."""


def steps_of_scale(declaration: Declaration) -> int | None:
    """Return how many steps above its lowest value a declared scale has."""
    if declaration.levels is not None:
        return len(declaration.levels) - 1
    if declaration.minimum is not None and declaration.maximum is not None:
        return int(declaration.maximum - declaration.minimum)
    return declaration.trials


def observed_columns(values: Array, *columns: Array | float) -> Array:
    """Stack columns to shape (n, len(columns)), with rows of zeros where the value is missing."""
    stacked = np.column_stack([np.broadcast_to(column, values.shape) for column in columns])
    stacked[np.isnan(values)] = 0.0
    return stacked
