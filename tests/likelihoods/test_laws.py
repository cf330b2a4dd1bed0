"""Laws that every likelihood of the registry obeys, whatever its family."""

import numpy as np
import pytest
from oracles import log_predictive
from oracles import predictive as scipy_predictive
from scipy import integrate, stats

from clinclust import Feature
from clinclust.likelihoods import REGISTRY
from clinclust.likelihoods.likelihood import winsorised


# Every example that a likelihood brings along: an instance, hyperparameters, and how values come about.
def _case(name, example):
    likelihood = REGISTRY[name].of(Feature(name="x", likelihood=name, **example.fields))
    return likelihood, likelihood.from_dict(example.prior, np.full(likelihood.n_hyperparameters, np.nan)), example.draw


CASES = [_case(name, example) for name, likelihood in REGISTRY.items() for example in likelihood.examples()]
IDS = [f"{name}-{place}" for name, likelihood in REGISTRY.items() for place in range(len(likelihood.examples()))]
law = pytest.mark.parametrize(("likelihood", "prior", "draw"), CASES, ids=IDS)


def _values(draw, prior, n, seed=0):
    return draw(np.random.default_rng(seed), np.asarray(prior, dtype=float), n)


def _log_marginal(likelihood, prior, values):
    return likelihood.log_marginal(values, np.asarray(prior, dtype=float))


def _named(likelihood, prior):
    return likelihood.as_dict(np.asarray(prior, dtype=float))


def test_every_registered_likelihood_is_held_to_the_laws():
    assert {likelihood.name for likelihood, _, _ in CASES} == set(REGISTRY)


@law
def test_the_predictive_sums_to_one(likelihood, prior, draw):
    history = _values(draw, prior, 6)
    before = _log_marginal(likelihood, prior, history)

    def density(x):
        return np.exp(_log_marginal(likelihood, prior, np.append(history, x)) - before)

    if likelihood.name in ("gaussian", "multivariate_gaussian"):
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
    assert not likelihood.log_base_measure(np.full(3, np.nan), prior).any()
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
    expected = (winsorised(values) if likelihood.name.endswith("gaussian") else values).mean()
    if likelihood.counts_levels:  # part of the weight is spread evenly over the levels
        even = 0.25 if likelihood.is_scale else 0.5
        expected = (1.0 - even) * expected + even * likelihood.levels(values).mean()
    assert mean == pytest.approx(expected, rel=1e-9, abs=1e-9)
    posterior = likelihood.prior.posterior(default, likelihood.statistics(values).sum(axis=0))
    moved = likelihood.predictive(posterior).mean()
    assert moved == pytest.approx(values.mean(), rel=5e-3)
