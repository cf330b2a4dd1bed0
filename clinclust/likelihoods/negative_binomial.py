"""Negative binomial likelihood with a Beta(a, b) prior, for counts that vary more than Poisson counts.

A count is the number of failures before the `dispersion`-th success, with mean m and variance m + m^2 / dispersion.
Given the dispersion, which need not be whole, the predictive is beta negative binomial.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from clinclust.arrays import Array
from clinclust.likelihoods.likelihood import LARGEST_COUNT, Example, Likelihood, first_count, observed_columns
from clinclust.priors.conjugate import BetaWithDispersion, log_beta

_LEAST, _MOST = 0.01, 1000.0
"""Bounds of the default dispersion: longer tails than any clinical count has, and practically Poisson."""
_QUANTILES = 4_000
_SUMMED = 2_048
"""Counts below it have distribution functions that are sums of probabilities."""
_DISPERSIONS = (0.1, 0.2, 0.4, 0.7, 1.5, 3.0, 6.0, 12.0)
"""Dispersions that `draft_schema` tries, below and above that of the geometric distribution."""

_COMPARED = (_LEAST, _MOST, 40)
"""Bounds and number of the dispersions of which the best is taken in clusters, each a third above the last."""


_SMALLEST = 1e-300
"""Least probability of success."""


@dataclass(frozen=True)
class NegativeBinomial(Likelihood):
    """Counts with one unknown mean, and a known dispersion, which is a hyperparameter."""

    name = "negative_binomial"
    title = "negative binomial (counts that vary more than Poisson’s)"
    also_called = ("count", "counts", "counting", "integer", "nb", "nbinom", "overdispersed")
    alternatives = ("poisson", "geometric")
    prior = BetaWithDispersion
    kernel = 3
    base_depends_on_prior = True
    is_whole = True
    is_count = True
    is_skewed = True
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"dispersion": (1e-6, 1e6)}
    takes = frozenset({"minimum", "maximum", "spike"})
    drafted_for = frozenset({"scale", "count"})
    effect_sizes = "rates"
    n_statistics = 2

    def statistics(self, values: Array) -> Array:
        """Return T(x) = (1, x), float64 (n, 2)."""
        return observed_columns(values, 1.0, values)

    def from_dict(self, given: Mapping[str, Any], default: Array) -> Array:
        """Return the hyperparameters given, the others from the default; a follows a dispersion that is given alone."""
        theta = super().from_dict(given, default)
        if "dispersion" in given and "a" not in given:
            theta[0] = 1.0 + theta[2]
        return theta

    def log_base_measure(self, values: Array, hyperparameters: Array) -> Array:
        """Return ln [Gamma(x + r) / (Gamma(r) x!)], with r the dispersion; hyperparameters may be of many (..., 3)."""
        return np.where(np.isnan(values), 0.0, _log_ways(values, hyperparameters[..., 2]))

    def default_hyperparameters(self, values: Array) -> Array:
        """Return (1 + r, m, r), where m is the observed mean and r the dispersion with the highest likelihood.

        The predictive mean r b / (a - 1) is m. The likelihood of r is that of all subjects together, so that
        differences between subtypes count as dispersion, which is conservative. If only such counts distinguish the
        subtypes, state the dispersion as `prior`.
        """
        mean = float(np.nanmean(values))
        dispersion = _most_likely_dispersion(values[~np.isnan(values)])
        return np.array([1.0 + dispersion, mean, dispersion])

    def compared_hyperparameters(self, values: Array) -> Array:
        """Return the default at each of many dispersions (P, 3)."""
        dispersions = np.geomspace(*_COMPARED)
        mean = np.full(dispersions.size, float(np.nanmean(values)))
        return np.column_stack([1.0 + dispersions, mean, dispersions])

    def evidence(self, values: Array) -> float:
        """Return the log of the mean of the marginals at several dispersions, because the dispersion is not known."""
        from scipy.special import logsumexp

        marginals = [self.log_marginal(values, np.array([1.0, 1.0, dispersion])) for dispersion in _DISPERSIONS]
        return float(logsumexp(marginals)) - math.log(len(_DISPERSIONS))

    def predictive(self, posterior: Array) -> Any:
        """Return the beta negative binomial distribution of scipy, for a dispersion that need not be a whole number."""
        from scipy import stats

        of_whole: Any = type(stats.betanbinom)

        class BetaNegativeBinomial(of_whole):  # type: ignore[misc]
            def _argcheck(self, n: Any, a: Any, b: Any) -> Any:
                return (n > 0) & (a > 0) & (b > 0)

        a, b, dispersion = posterior
        return BetaNegativeBinomial(a=0, name="beta negative binomial")(dispersion, a, b)

    def quantile(self, posterior: Array, share: float) -> float:
        """Return a quantile of a new value.

        Probabilities of small counts are summed. That of larger ones is the mean of negative binomial ones over
        quantiles of their beta distributed probability: sums would take minutes.
        """
        from scipy.special import betainc, betaincinv

        sums = self.predictive(posterior).pmf(np.arange(float(_SUMMED))).cumsum()
        if sums[-1] >= share:
            return float(np.searchsorted(sums, share))
        a, b, dispersion = posterior
        chances = betaincinv(a, b, (np.arange(_QUANTILES) + 0.5) / _QUANTILES)  # of success
        return first_count(lambda count: float(betainc(dispersion, count + 1.0, chances).mean()) >= share)

    def mode(self, posterior: Array) -> float:
        """Return the count with the highest predictive probability."""
        a, b, dispersion = posterior
        # p(x + 1) / p(x) = (b + x) (r + x) / [(a + b + r + x) (x + 1)] is below 1 beyond it.
        last_rise = (b * dispersion - a - b - dispersion) / (a + 1.0)
        return max(0.0, float(np.floor(last_rise)) + 1.0)

    def draw_parameters(self, posteriors: Array, rng: np.random.Generator) -> Array:
        """Return probabilities of success and dispersions, (R, 2), from beta posteriors."""
        a, b, dispersion = posteriors.T
        return np.column_stack([rng.beta(a, b), dispersion])

    def parameters(self, posteriors: Array) -> dict[str, Any]:
        """Return the mean, (1 - p) / p of the probability p of success times the dispersion, which is known."""
        from scipy.stats import betaprime

        first, second, dispersion = posteriors.T
        return {"mean": betaprime(second, first, scale=dispersion)}

    def draw_given(self, parameters: Array, n: int, rng: np.random.Generator) -> Array:
        """Return n counts for each set of parameters, float64 (R, n)."""
        return _failures(parameters[:, :1], parameters[:, 1:], (len(parameters), n), rng)

    def given(self, parameters: Array) -> Any:
        """Return the negative binomial distribution."""
        from scipy.stats import nbinom

        return nbinom(parameters[..., 1], np.maximum(parameters[..., 0], _SMALLEST))

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return examples of counts with a long tail, and of counts with a shorter one."""
        return tuple(_example(dispersion) for dispersion in (0.7, 3.0))


def _failures(chance: Array, dispersion: float | Array, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """Return counts of a shape, given the probability of success: a gamma rate is drawn, then a Poisson count."""
    chance = np.maximum(chance, 1e-300)
    rate = rng.gamma(dispersion, 1.0, size=shape) * ((1.0 - chance) / chance)
    # For larger rates, a Poisson count is practically equal to its rate.
    small = np.minimum(rate, 1e15)
    counts = np.where(rate > small, np.minimum(np.floor(rate), LARGEST_COUNT), rng.poisson(small))
    return np.asarray(counts, dtype=np.float64)


def _log_ways(counts: Any, dispersion: Any) -> Any:
    """Return ln [Gamma(x + r) / (Gamma(r) x!)] = -ln x - ln B(x, r), and 0 for x = 0."""
    positive = np.maximum(counts, 1)
    return np.where(counts > 0, -np.log(positive) - log_beta(positive, dispersion), 0.0)


def _most_likely_dispersion(values: Array) -> float:
    """Return the dispersion r with the highest likelihood for counts with their observed mean m, p = r / (r + m)."""
    from scipy.optimize import minimize_scalar
    from scipy.special import gammaln

    counts, times = np.unique(values, return_counts=True)
    mean = float(values.mean())

    def minus_log_likelihood(log_dispersion: float) -> float:
        r = math.exp(log_dispersion)
        terms = gammaln(counts + r) - gammaln(r) + r * math.log(r / (r + mean)) + counts * math.log(mean / (r + mean))
        return -float((times * terms).sum())

    if mean == 0.0:
        return 1.0
    optimum = minimize_scalar(
        minus_log_likelihood, bounds=(math.log(_LEAST), math.log(_MOST)), method="bounded", options={"xatol": 1e-8}
    )
    return math.exp(float(optimum.x))


def _example(dispersion: float) -> Example:
    def column(rng: np.random.Generator, groups: Any, n_groups: int) -> Array:
        means = rng.gamma(1.0, 5.0, n_groups)[groups]
        return np.asarray(rng.negative_binomial(dispersion, dispersion / (dispersion + means)), dtype=np.float64)

    return Example(
        prior={"a": 4.2, "b": 3.5, "dispersion": dispersion},
        draw=lambda rng, prior, n: rng.negative_binomial(prior[2], rng.beta(prior[0], prior[1], n)).astype(float),
        column=column,
        random_prior=lambda rng, values: {"a": rng.gamma(2), "b": rng.gamma(2), "dispersion": rng.gamma(2)},
        edge_cases=((0.0, 1.0), (0.0, 40.0, 41.0), (1e4, 0.0, np.nan)),
    )
