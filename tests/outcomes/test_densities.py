"""Densities of outcomes against scipy, and their derivatives."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from clinclust.outcomes.estimates import DENSITIES, in_intervals

RNG = np.random.default_rng(3)
TIME, EVENT = RNG.exponential(2.0, 300), (RNG.random(300) < 0.7).astype(float)
ENTRY = TIME * RNG.uniform(0.0, 0.5, 300)
OUTCOMES = {
    "continuous": RNG.normal(2.0, 3.0, 300),
    "binary": (RNG.random(300) < 0.3).astype(float),
    "count": RNG.negative_binomial(2, 0.3, 300).astype(float),
    "ordered": RNG.integers(4, size=300).astype(float),
    "survival": in_intervals(EVENT, TIME, ENTRY),
}
ETA = RNG.normal(0.3, 0.5, (300, 2))


def shape_of(kind):
    return DENSITIES[kind].start(OUTCOMES[kind])[1] + 0.1


def exact(kind, shape):
    y, eta = OUTCOMES[kind], ETA
    if kind == "continuous":
        return stats.norm.logpdf(y[:, None], eta, np.exp(shape[0])) + 0.5 * np.log(2.0 * np.pi)
    if kind == "binary":
        return stats.bernoulli.logpmf(y[:, None], expit(eta))
    if kind == "count":
        size = np.exp(shape[0])
        return stats.nbinom.logpmf(y[:, None], size, size / (size + np.exp(eta)))
    cuts = np.concatenate([[-np.inf, 0.0], np.cumsum(np.exp(shape)), [np.inf]])
    level = y.astype(int)
    upper, lower = (stats.logistic.cdf(cuts[at][:, None] - eta) for at in (level + 1, level))
    return np.log(upper - lower)


@pytest.mark.parametrize("kind", ["continuous", "binary", "count", "ordered"])
def test_log_densities_are_scipys(kind):
    shape = shape_of(kind)
    np.testing.assert_allclose(DENSITIES[kind].terms(OUTCOMES[kind], ETA, shape)[0], exact(kind, shape))


@pytest.mark.parametrize("kind", OUTCOMES)
def test_derivatives_are_those_of_the_log_density(kind):
    y, shape, terms = OUTCOMES[kind], shape_of(kind), DENSITIES[kind].terms
    (_, of_eta, of_shape), step = terms(y, ETA, shape), 1e-6
    change = terms(y, ETA + step, shape)[0] - terms(y, ETA - step, shape)[0]
    np.testing.assert_allclose(of_eta, change / (2 * step), rtol=1e-5, atol=1e-5)
    assert of_shape.shape == (shape.size, *ETA.shape)
    for place, unit in enumerate(step * np.eye(shape.size)):
        change = terms(y, ETA, shape + unit)[0] - terms(y, ETA, shape - unit)[0]
        np.testing.assert_allclose(of_shape[place], change / (2 * step), rtol=1e-5, atol=1e-5)


def test_times_at_risk_and_events_add_up():
    died, exposed = np.split(OUTCOMES["survival"], 2, axis=1)
    np.testing.assert_array_equal(died.sum(axis=1), EVENT)
    np.testing.assert_allclose(exposed.sum(axis=1), TIME - ENTRY)
    assert died.shape[1] == 12
    assert died.sum(axis=0).min() >= 8
    # A subject has an event in an interval only while at risk in it.
    assert (exposed[died > 0] > 0).all()


def test_few_events_have_few_intervals():
    died, _ = np.split(in_intervals((np.arange(40) < 12).astype(float), TIME[:40], np.zeros(40)), 2, axis=1)
    assert died.shape[1] == 1
    assert np.split(in_intervals(np.zeros(300), TIME, np.zeros(300)), 2, axis=1)[0].shape[1] == 1
