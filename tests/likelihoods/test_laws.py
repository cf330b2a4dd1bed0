"""Laws that every likelihood of the registry obeys, whatever its family."""

import numpy as np
import pytest
from oracles import log_predictive
from oracles import predictive as scipy_predictive
from scipy import integrate, stats

from clinclust.likelihoods import REGISTRY
from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.binomial import Binomial
from clinclust.likelihoods.categorical import Categorical
from clinclust.likelihoods.exponential import Exponential
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.likelihoods.geometric import Geometric
from clinclust.likelihoods.poisson import Poisson

# One row for each family: an instance, hyperparameters, and how to draw the parameter and then the value.
CASES = [
    (Bernoulli(), [0.7, 1.9], lambda r, h: r.binomial(1, r.beta(*h))),
    (Binomial(5), [1.3, 0.4], lambda r, h: r.binomial(5, r.beta(*h))),
    (Categorical(4), [0.5, 2.0, 1.1, 0.2], lambda r, h: r.choice(4, p=r.dirichlet(h))),
    (Poisson(), [2.5, 0.8], lambda r, h: r.poisson(r.gamma(h[0], 1 / h[1]))),
    (Geometric(), [3.2, 4.5], lambda r, h: r.geometric(r.beta(*h)) - 1),
    (Exponential(), [3.1, 5.0], lambda r, h: r.exponential(1 / r.gamma(h[0], 1 / h[1]))),
    (Gaussian(), [-1.0, 0.6, 2.2, 3.0], lambda r, h: _gaussian(r, *h)),
]
IDS = [case[0].name for case in CASES]
law = pytest.mark.parametrize(("likelihood", "prior", "draw"), CASES, ids=IDS)


def _gaussian(rng, mean, kappa, shape, rate):
    precision = rng.gamma(shape, 1 / rate)
    return rng.normal(rng.normal(mean, 1 / np.sqrt(kappa * precision)), 1 / np.sqrt(precision))


def _values(draw, prior, n, seed=0):
    rng = np.random.default_rng(seed)
    return np.array([draw(rng, prior) for _ in range(n)], dtype=float)


def _log_marginal(likelihood, prior, values):
    prior = np.asarray(prior, dtype=float)
    total = likelihood.statistics(values).sum(axis=0)
    normalizer = likelihood.prior.log_normalizer
    gain = normalizer(likelihood.prior.posterior(prior, total)) - normalizer(prior)
    return float(gain + likelihood.log_base_measure(values).sum())


def _named(likelihood, prior):
    return likelihood.as_dict(np.asarray(prior, dtype=float))


def test_every_registered_likelihood_is_held_to_the_laws():
    assert set(IDS) == set(REGISTRY)


@law
def test_the_predictive_sums_to_one(likelihood, prior, draw):
    history = _values(draw, prior, 6)
    before = _log_marginal(likelihood, prior, history)

    def density(x):
        return np.exp(_log_marginal(likelihood, prior, np.append(history, x)) - before)

    if likelihood.name == "gaussian":
        total = integrate.quad(density, -np.inf, np.inf, epsabs=1e-10)[0]
    elif likelihood.name == "exponential":
        total = integrate.quad(density, 0, np.inf, epsabs=1e-10)[0]
    else:
        support = likelihood.levels(np.arange(3000.0))
        total = sum(density(float(x)) for x in support)
    assert total == pytest.approx(1.0, abs=2e-6 if likelihood.name == "geometric" else 1e-8)


@law
def test_chained_predictives_equal_the_marginal(likelihood, prior, draw):
    values = _values(draw, prior, 12)
    chain = sum(
        log_predictive(
            likelihood.name, _named(likelihood, prior), values[:i], value, getattr(likelihood, "trials", None)
        )
        for i, value in enumerate(values)
    )
    assert _log_marginal(likelihood, prior, values) == pytest.approx(chain, rel=1e-11)


@law
def test_order_does_not_matter(likelihood, prior, draw):
    values = _values(draw, prior, 12)
    assert _log_marginal(likelihood, prior, values[::-1]) == pytest.approx(
        _log_marginal(likelihood, prior, values), rel=1e-13
    )


@law
def test_a_missing_value_changes_nothing(likelihood, prior, draw):
    values = _values(draw, prior, 12)
    holes = np.insert(values, [0, 5, 12], np.nan)
    assert not likelihood.statistics(np.full(3, np.nan)).any()
    assert not likelihood.log_base_measure(np.full(3, np.nan)).any()
    assert _log_marginal(likelihood, prior, holes) == pytest.approx(_log_marginal(likelihood, prior, values), rel=1e-14)
    np.testing.assert_allclose(
        likelihood.default_hyperparameters(holes), likelihood.default_hyperparameters(values), rtol=1e-14
    )


@law
def test_merging_two_clusters_equals_pooling_their_values(likelihood, prior, draw):
    first, second = _values(draw, prior, 9, seed=1), _values(draw, prior, 5, seed=2)
    pooled = likelihood.statistics(np.concatenate([first, second])).sum(axis=0)
    merged = likelihood.statistics(first).sum(axis=0) + likelihood.statistics(second).sum(axis=0)
    np.testing.assert_allclose(merged, pooled, rtol=1e-13)


@law
def test_the_posterior_is_the_prior_of_what_follows(likelihood, prior, draw):
    first, second = _values(draw, prior, 9, seed=1), _values(draw, prior, 5, seed=2)
    posterior = likelihood.prior.posterior(np.asarray(prior), likelihood.statistics(first).sum(axis=0))
    both = _log_marginal(likelihood, prior, np.concatenate([first, second]))
    assert both == pytest.approx(
        _log_marginal(likelihood, prior, first) + _log_marginal(likelihood, posterior, second), rel=1e-12
    )


@law
def test_the_frozen_predictive_is_that_of_the_textbook(likelihood, prior, draw):
    values = _values(draw, prior, 12)
    posterior = likelihood.prior.posterior(np.asarray(prior), likelihood.statistics(values).sum(axis=0))
    ours = likelihood.predictive(posterior)
    theirs = scipy_predictive(likelihood.name, _named(likelihood, prior), values, getattr(likelihood, "trials", None))
    points = values[:5]
    np.testing.assert_allclose(ours.cdf(points), theirs.cdf(points), rtol=1e-10)


@law
def test_draws_from_prior_and_likelihood_fit_the_predictive(likelihood, prior, draw):
    values = _values(draw, prior, 4000)
    predictive = likelihood.predictive(np.asarray(prior, dtype=float))
    if likelihood.levels(values) is None:
        assert stats.kstest(values, predictive.cdf).pvalue > 1e-3
        return
    edges = np.unique(np.quantile(values, np.linspace(0, 1, 9)))  # few, well filled cells
    observed = np.bincount(np.searchsorted(edges, values), minlength=edges.size)
    expected = np.diff(np.concatenate([[0.0], predictive.cdf(edges)]))
    expected[-1] += 1.0 - predictive.cdf(edges[-1])
    assert stats.chisquare(observed, expected / expected.sum() * values.size).pvalue > 1e-3


@law
def test_the_default_prior_has_the_mean_of_the_data_and_the_weight_of_a_subject_or_two(likelihood, prior, draw):
    values = _values(draw, prior, 2000)
    default = likelihood.default_hyperparameters(values)
    mean = likelihood.predictive(default).mean()
    tolerance = 0.5 if likelihood.name == "categorical" else 1e-9 * max(1.0, abs(values.mean()))
    assert mean == pytest.approx(values.mean(), abs=tolerance)
    posterior = likelihood.prior.posterior(default, likelihood.statistics(values).sum(axis=0))
    moved = likelihood.predictive(posterior).mean()
    assert moved == pytest.approx(values.mean(), rel=5e-3)
