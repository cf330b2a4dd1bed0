"""The base class of all likelihoods. Each subclass has one file and is listed in `clinclust.likelihoods.REGISTRY`.

Everything that differs between likelihoods is an attribute or a method of this class; no other code compares names.
How values far from the others are detected, and examples of a likelihood for tests, are here too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

import numpy as np

from clinclust.arrays import Array, Labels, Mask
from clinclust.priors.conjugate import ConjugatePrior

# Examples of a likelihood, for tests: a prior, random columns, and columns at the limits of the allowed values.

Generator = np.random.Generator


@dataclass(frozen=True)
class Example:
    """A feature that declares the likelihood, and functions that draw its values."""

    prior: Mapping[str, Any]
    """Hyperparameters by name, different from the defaults that would be computed from data."""
    draw: Callable[[Generator, Any, int], Any]
    """From the hyperparameters as an array and n: n values (n,), each with a parameter drawn from the prior."""
    column: Callable[[Generator, Labels, int], Any]
    """From clusters 0 .. K - 1 of the subjects (N,) and K: values (N,), drawn with the parameters of the clusters."""
    random_prior: Callable[[Generator, Array], dict[str, Any]]
    """From a column: random hyperparameters by name."""
    edge_cases: tuple[tuple[float, ...], ...]
    """Columns at the limits of the allowed values."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Fields that the feature declares in addition, such as levels or trials."""


ContrastKind: TypeAlias = Literal["welch", "student", "rank", "counts"]
DraftedFor: TypeAlias = Literal["scale", "levels", "count", "measurement"]

LARGEST_COUNT = 10**9
"""The largest count that is modelled. The sum of nine million such counts is exact in float64."""
KNOWN_DEGREES = 1e8
"""Degrees of freedom of the prior of a variance that is known; 10,000 subjects then change it by a ten thousandth."""
LARGEST_MEASUREMENT = 1e100
"""The largest absolute value of a measurement or duration. Sums of squares of such values do not overflow."""

_MEANS_AND_RANKS: tuple[ContrastKind, ...] = ("welch", "student", "rank")


class Declaration(Protocol):
    """The fields of a feature that a likelihood reads (`clinclust.Feature`)."""

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

    Values are numbers on the model's scale, to which `Feature` converts a validated column; NaN is missing. The class
    variables are the traits of the likelihood; in the base class, a feature without likelihood, all are off.
    """

    # Names.
    name: ClassVar[str] = ""
    """Its name in a schema."""
    title: ClassVar[str] = ""
    """Its name in the methods paragraph of a report."""
    also_called: ClassVar[tuple[str, ...]] = ()
    """Words that people write for it; the first likelihood with a word is suggested."""
    alternatives: ClassVar[tuple[str, ...]] = ()
    """Names of the likelihoods with which it should be compared."""

    # The model.
    prior: ClassVar[type[ConjugatePrior]]
    """The conjugate prior, a class of `clinclust.priors`."""
    kernel: ClassVar[int] = -1
    """Its code in the compiled functions (`clinclust.engine.kernels.predictives`)."""
    is_continuous: ClassVar[bool] = False
    """Whether its values are continuous, without a table of levels."""
    counts_levels: ClassVar[bool] = False
    """Whether its sufficient statistics are the numbers of subjects at each level."""
    is_chained: ClassVar[bool] = False
    """Whether a feature is distributed given the features before it in its block, which then has no power."""
    shared_in_block: ClassVar[tuple[str, ...]] = ()
    """Names of the hyperparameters that all features of a block share, if it `is_chained`."""
    per_value: ClassVar[frozenset[str]] = frozenset()
    """Names of the hyperparameters whose default is inversely proportional to the number of observed values."""
    base_depends_on_prior: ClassVar[bool] = False
    """Whether the log base measure depends on a hyperparameter."""
    largest: ClassVar[float] = LARGEST_COUNT
    """The largest absolute value that is modelled, of a feature that is no scale."""
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {}
    """The lowest and highest value of a hyperparameter, by name, where it is not `usual_bounds`, for the values of
    `unit_free`. Within them the log joint is accurate to ten digits, but for a Gaussian rate below a thousandth of the
    variance: its error is up to about 1e-16 N² / rate nats."""
    usual_bounds: ClassVar[tuple[float, float]] = (1e-6, 1e9)
    with_unit: ClassVar[frozenset[str]] = frozenset()
    """Names of the hyperparameters that have the unit of the values, or its square."""
    most_steps: ClassVar[int | None] = None
    """The most steps of a scale, where there is a limit."""
    listed_by: ClassVar[str] = "one for each level"
    """Meaning of the elements of a hyperparameter that is a list."""
    known_parameters: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """Parameters that may be stated as known, each with the two hyperparameters that say so (`KNOWN_DEGREES`)."""

    # The meaning of values.
    is_whole: ClassVar[bool] = False
    """Whether values without levels are whole numbers."""
    is_yes_no: ClassVar[bool] = False
    is_share: ClassVar[bool] = False
    """Whether subjects are counted by level, so that means are proportions."""
    is_nominal: ClassVar[bool] = False
    """Whether its levels have no order."""
    is_scale: ClassVar[bool] = False
    """Whether values are steps of an ordered scale with a lowest and a highest step."""
    is_count: ClassVar[bool] = False
    """Whether values count events and have no upper limit."""
    is_skewed: ClassVar[bool] = False
    """Whether the likelihood itself is skewed, so that the median describes any sample better than the mean."""
    is_real: ClassVar[bool] = False
    """Whether values may be any real number, so that their skewness must be judged from the data."""

    # Fields of a feature.
    takes: ClassVar[frozenset[str]] = frozenset()
    """The fields that a feature may declare: `levels`, `trials`, `minimum`, `maximum`, `transform` and `spike`."""
    drafted_for: ClassVar[frozenset[DraftedFor]] = frozenset()
    """The kinds of columns for which `draft_schema` considers it."""

    # Description and comparison of subtypes.
    effect_sizes: ClassVar[Literal["shares", "means", "rates"]] = "means"
    contrasts: ClassVar[tuple[ContrastKind, ...]] = _MEANS_AND_RANKS
    """The tests with which subtypes may be contrasted, the default first. For skewed values, ranks take precedence."""
    summary: ClassVar[Literal["n", "mean", "median"] | None] = None
    """Its summary in the subtype table of a paper; None = that of the contrast."""

    @classmethod
    def of(cls, declaration: Declaration) -> Likelihood:
        """Return the likelihood that a feature declares."""
        return cls()

    @classmethod
    def highest_score(cls, declaration: Declaration) -> int | None:
        """Return the highest score, counted from 0, of a yes/no feature or of a scale; None for other features."""
        return steps_of_scale(declaration) if cls.is_scale else 1 if cls.is_yes_no else None

    @classmethod
    def support(cls) -> tuple[float, float]:
        """Return the smallest and the largest allowed value of a feature that has no levels and states no range."""
        return (-np.inf if cls.is_real else 0.0), np.inf

    @classmethod
    def hyperparameter_lengths(cls, declaration: Declaration) -> dict[str, int | None]:
        """Return the hyperparameters by name, each with its length if it is a list, and None if it is a number."""
        return dict.fromkeys(cls.prior.NAMES)

    @classmethod
    def spelled_out(cls, stated: Mapping[str, Any]) -> dict[str, Any]:
        """Return stated hyperparameters with each parameter that is known as the two that say so.

        A variance is known if its prior has very many degrees of freedom and this mean: half of the degrees as shape,
        and shape times the variance as rate.
        """
        hyperparameters = {name: value for name, value in stated.items() if name not in cls.known_parameters}
        for name in cls.known_parameters.keys() & stated.keys():
            weight, scale = cls.known_parameters[name]
            hyperparameters[weight] = KNOWN_DEGREES if isinstance(stated[name], list) else 0.5 * KNOWN_DEGREES
            hyperparameters[scale] = (hyperparameters[weight] * np.array(stated[name], dtype=np.float64)).tolist()
        return hyperparameters

    def in_block(self, place: int, size: int) -> Likelihood:
        """Return the likelihood of the feature at this place, from 0, of a block of this many features."""
        return self

    @property
    def n_before(self) -> int:
        """Number of features before it in its block on which its distribution depends; 0 unless it `is_chained`."""
        return 0

    @property
    def alone(self) -> Likelihood:
        """The likelihood of the feature when nothing is known of others; another one only if it `is_chained`."""
        return self

    @property
    @abstractmethod
    def n_statistics(self) -> int:
        """Length S of the sufficient statistic T(x)."""

    @property
    def hyperparameter_names(self) -> tuple[str, ...]:
        """The name of each of the H hyperparameters, in order; the name of a list is repeated for each element."""
        return tuple(self.prior.NAMES)

    @property
    def n_hyperparameters(self) -> int:
        """Number H of hyperparameters of the prior."""
        return len(self.hyperparameter_names)

    @abstractmethod
    def statistics(self, values: Array) -> Array:
        """Return the sufficient statistics T(x), float64 (n, S), of values (n,). A missing value has T = 0."""

    def statistics_of_block(self, values: Array) -> Array:
        """Return the sufficient statistics, float64 (n, S), from values (n, l + 1): those before it, then its own."""
        return self.statistics(values[:, -1])

    def log_base_measure(self, values: Array, hyperparameters: Array) -> Array:
        """Return log h(x), float64 (n,), of values (n,), under hyperparameters (H,). A missing value has log h = 0."""
        return np.zeros(values.shape)

    @abstractmethod
    def default_hyperparameters(self, values: Array) -> Array:
        """Return hyperparameters (H,) of a prior around the observed mean that weighs about as one subject."""

    def correlated(self, own: Array, spreads: Array, correlations: Array) -> Array:
        """Return default hyperparameters (H,) with the correlations of its block, where it `is_chained`."""
        return own

    def compared_hyperparameters(self, values: Array) -> Array:
        """Return the hyperparameters (P, H) of which the best is taken where likelihoods are compared in clusters."""
        return self.default_hyperparameters(values)[None]

    def draft_hyperparameters(self, values: Array) -> Array:
        """Return the hyperparameters (H,) of a weak prior, with which likelihoods are compared for one column (n,)."""
        return np.ones(self.n_hyperparameters)

    @abstractmethod
    def predictive(self, posterior: Array) -> Any:
        """Return the frozen scipy distribution of a new value, given the posterior hyperparameters (H,)."""

    @abstractmethod
    def mode(self, posterior: Array) -> float:
        """Return the most probable new value, given the posterior hyperparameters (H,)."""

    def draw(self, posterior: Array, n: int, rng: np.random.Generator) -> Array:
        """Return n draws of a new value, float64 (n,), given the posterior hyperparameters (H,)."""
        return self.draw_jointly(posterior, n, 1, rng)[:, 0]

    @abstractmethod
    def draw_parameters(self, posteriors: Array, rng: np.random.Generator) -> Array:
        """Return the parameters of R clusters, (R, Q), each drawn from its posterior (R, H)."""

    @abstractmethod
    def draw_given(self, parameters: Array, n: int, rng: np.random.Generator) -> Array:
        """Return n values for each set of parameters (R, Q), float64 (R, n)."""

    @abstractmethod
    def given(self, parameters: Array) -> Any:
        """Return the distribution of a value given parameters (..., Q), with `cdf` and `ppf` of arrays (...)."""

    @abstractmethod
    def parameters(self, posteriors: Array) -> dict[str, Any]:
        """Return the posteriors of the parameters of R clusters (R, H) by name, as frozen scipy distributions (R,).

        The first is the centre of the values: their mean, or the probability of yes, or that of each level (R, L).
        """

    def draw_jointly(self, posterior: Array, n_sets: int, n: int, rng: np.random.Generator) -> Array:
        """Return new values of one cluster, float64 (n_sets, n); a set shares one draw of the parameters."""
        return self.draw_given(self.draw_parameters(np.tile(posterior, (n_sets, 1)), rng), n, rng)

    def levels(self, values: Array) -> Array | None:
        """Return the levels (L,) of the table of log predictives, ascending; None for a continuous feature."""
        return None if self.is_continuous else np.unique(values[~np.isnan(values)])

    def standardisation(self, values: Array) -> tuple[float, float]:
        """Return the centre and the scale with which the engine standardises the values: (value - centre) / scale."""
        return 0.0, 1.0

    def encoded(self, values: Array) -> Array:
        """Return standardised continuous values in the form that the compiled functions read."""
        return values

    def encoded_hyperparameters(self, hyperparameters: Array, centre: Any, scale: Any) -> Array:
        """Return the hyperparameters (H,) for the standardised values, from those for the values of the column."""
        return hyperparameters

    def stated_hyperparameters(self, encoded: Array, centre: Any, scale: Any) -> Array:
        """Return the hyperparameters (H,) on the scale of the column: the inverse of `encoded_hyperparameters`."""
        return encoded

    def unit_free(self, hyperparameters: Array, values: Array) -> Array:
        """Return the hyperparameters (H,) for values (n,) in a unit of their own size, in which bounds are stated."""
        return hyperparameters

    def median(self, posterior: Array) -> float:
        """Return the median of a new value, given the posterior hyperparameters (H,)."""
        return self.quantile(posterior, 0.5)

    def quantile(self, posterior: Array, share: float) -> float:
        """Return the smallest value that a new value does not exceed with at least this probability."""
        return float(self.predictive(posterior).ppf(share))

    def log_marginal(self, values: Array, hyperparameters: Array) -> float:
        """Return the log marginal ln m(x_1 .. x_n) = sum log h + A(posterior) - A(prior) of values (n,), in nats."""
        statistics = self.statistics(values).sum(axis=0)
        normalizer = self.prior.log_normalizer
        gain = normalizer(self.prior.posterior(hyperparameters, statistics)) - normalizer(hyperparameters)
        return float(gain + self.log_base_measure(values, hyperparameters).sum())

    def evidence(self, values: Array) -> float:
        """Return the log marginal of a column (n,) under the weak prior of `draft_hyperparameters`, in nats."""
        return self.log_marginal(values, self.draft_hyperparameters(values))

    def after(self, previous: Array, own: Array) -> Array:
        """Return the hyperparameters (H,) of the feature after another one of its block, whose are `previous`."""
        return own

    def without_before(self, hyperparameters: Array, kept: Mask) -> Array:
        """Return the hyperparameters (H,) without those of features before it in its block, bool (l + 1,)."""
        return hyperparameters

    def problems_of(self, given: Mapping[str, Any]) -> list[str]:
        """Return what is wrong with hyperparameters by name because of the place in a block, one sentence each."""
        return []

    def marginal_prior(self, hyperparameters: Array) -> Array:
        """Return the hyperparameters of `alone` from those of the feature (..., H)."""
        return hyperparameters

    def marginal_statistics(self, statistics: Array) -> Array:
        """Return the sufficient statistics of `alone` from those of the feature (..., S)."""
        return statistics

    def problems_of_factor(self, hyperparameters: Array) -> list[str]:
        """Return what is wrong with the hyperparameters (H,) together with those of the features before it."""
        return []

    def as_dict(self, hyperparameters: Array) -> dict[str, Any]:
        """Return the hyperparameters (H,) by name."""
        return dict(zip(self.prior.NAMES, hyperparameters.tolist(), strict=True))

    def from_dict(self, given: Mapping[str, Any], default: Array) -> Array:
        """Return the hyperparameters as an array (H,): those given by name, and the others from `default` (H,)."""
        return np.array(
            [given.get(name, value) for name, value in zip(self.prior.NAMES, default, strict=True)], dtype=np.float64
        )

    @classmethod
    @abstractmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return the examples that tests use; the first is the simplest."""


def steps_of_scale(declaration: Declaration) -> int | None:
    """Return the number of steps of a declared scale above its lowest value, or None if it is not declared."""
    if declaration.levels is not None:
        return len(declaration.levels) - 1
    if declaration.minimum is not None and declaration.maximum is not None:
        return int(declaration.maximum - declaration.minimum)
    return declaration.trials


def observed_columns(values: Array, *columns: Array | float) -> Array:
    """Return the columns stacked to float64 (n, len(columns)), with rows of zeros where the value is missing."""
    stacked = np.column_stack([np.broadcast_to(column, values.shape) for column in columns])
    stacked[np.isnan(values)] = 0.0
    return stacked


def first_count(reached: Callable[[float], bool]) -> float:
    """Return the smallest count, of 0 .. LARGEST_COUNT, that has reached a quantile; the largest if none has."""
    low, high = 0, LARGEST_COUNT
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(float(middle)) else (middle + 1, high)
    return float(low)


# Outliers of a column, such as slips of the pen: what is typical of a column is judged without them.

_FACTOR = 30.0
"""A far value is this many times as far from the median as any value that is not, as in at most 1% of lognormal columns
with sigma = 2 and 3% of Cauchy columns (`benchmarks/far_values.py`)."""
_ONE_IN = 200
"""At most one value in so many is far, rounded up. More are a group of subjects, and no slips."""
_FEWEST = 20
"""Of fewer values, nothing is called far."""
_QUARTILE_RANGE = 1.3489795003921634
"""Distance between the quartiles of the standard normal distribution."""
_REACH = 6.0
"""Half the width, in standard deviations, outside of which values are a tail: one in 5e8 normal values is."""


def ends(observed: Array) -> tuple[float, float]:
    """Return the ends of observed values (n,), outside of which a tail does not show their usual spread.

    They are 6 standard deviations from the median, with (upper - lower quartile) / 1.349 as the standard deviation. Of
    fewer than 20 values, or if the quartiles do not differ, they are infinite.
    """
    if observed.size < _FEWEST:
        return -np.inf, np.inf
    lower, median, upper = np.percentile(observed, [25.0, 50.0, 75.0])
    if lower == upper:
        return -np.inf, np.inf
    reach = _REACH * (upper - lower) / _QUARTILE_RANGE
    return float(median - reach), float(median + reach)


def winsorised(observed: Array) -> Array:
    """Return observed values (n,) without absurdly far ones, and those outside of the `ends` of the rest moved to them.

    One value in a hundred that is written ten times too large makes up nearly all of the variance of a column; a prior
    of that scale hides the subtypes.
    """
    usual = without_far_values(observed)
    return np.clip(usual, *ends(usual))


def without_far_values(observed: Array) -> Array:
    """Return observed values (n,) without absurdly far ones; without any, the same array.

    With the distances from the median in increasing order, d_1 <= ... <= d_n, value j is far if there is an i <= j with

        d_i > 30 d_(i-1),   i > n - ceil(n / 200),   n >= 20,

    and if the quartiles differ. A gap, and not a long distance, marks it: values of a heavy tail follow each other.
    """
    n = observed.size
    if n < _FEWEST:
        return observed
    lower, median, upper = np.percentile(observed, [25.0, 50.0, 75.0])
    if lower == upper:
        return observed
    distances = np.abs(observed - median)
    first = n - -(-n // _ONE_IN) - 1
    farthest = np.sort(np.partition(distances, first)[first:])
    gaps = np.flatnonzero(farthest[1:] > _FACTOR * farthest[:-1])
    return observed[distances <= farthest[gaps[0]]] if gaps.size else observed
