"""The tests of two samples hold their level for every likelihood, ties or not, and see what differs."""

import itertools

import numpy as np
import pytest
from scipy import stats

import clinclust as cc
from clinclust.drift.assess import chi_squared, compared_margins
from clinclust.likelihoods import REGISTRY

N_SIMULATED, ALPHA = 400, 0.05
DRAWS = {
    "bernoulli": ({}, lambda rng, n: rng.binomial(1, 0.4, n)),
    "binomial": ({"trials": 4}, lambda rng, n: rng.binomial(4, 0.3, n)),
    "ordinal": ({"trials": 5}, lambda rng, n: rng.choice(6, n, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.1])),
    "categorical": ({"levels": ("a", "b", "c")}, lambda rng, n: rng.choice(3, n, p=[0.5, 0.3, 0.2])),
    "poisson": ({}, lambda rng, n: rng.poisson(1.5, n)),
    "geometric": ({}, lambda rng, n: rng.geometric(0.3, n) - 1),
    "negative_binomial": ({}, lambda rng, n: rng.negative_binomial(1.0, 0.1, n)),
    "exponential": ({}, lambda rng, n: rng.exponential(2.0, n)),
    "gaussian": ({}, lambda rng, n: rng.normal(0.0, 1.0, n)),
    "multivariate_gaussian": ({}, lambda rng, n: rng.normal(0.0, 1.0, n)),
    "gaussian, rounded": ({}, lambda rng, n: rng.normal(60.0, 8.0, n).round()),
}


def likelihood_of(name):
    name, fields = name.partition(",")[0], DRAWS[name][0]
    feature = cc.Feature(name="x", likelihood=name, **fields)
    return feature.traits.of(feature)


def samples(name, rng, n, m):
    draw = DRAWS[name][1]
    return draw(rng, n).astype(float), draw(rng, m).astype(float)


def test_every_likelihood_is_tried():
    assert {name.partition(",")[0] for name in DRAWS} == set(REGISTRY)


@pytest.mark.simulation
@pytest.mark.parametrize("name", DRAWS)
def test_without_drift_p_is_small_as_often_as_it_says(name):
    """400 pairs of samples: p <= .05 in 20 of them on average, in 7 to 36 of them with a probability of .9995.

    Few values make the possible p coarse: a test may then be below its level, never above.
    """
    rng, likelihood = np.random.default_rng(20), likelihood_of(name)
    p = np.array([compared_margins(likelihood, *samples(name, rng, 150, 60), rng).p for _ in range(N_SIMULATED)])
    low, high = stats.binom.ppf([0.0005, 0.9995], N_SIMULATED, ALPHA)
    assert low <= (p <= ALPHA).sum() <= high
    assert ((p > 0.0) & (p <= 1.0)).all()
    assert abs(np.median(p) - 0.5) < 0.12


@pytest.mark.simulation
@pytest.mark.parametrize("name", DRAWS)
def test_a_batch_of_four_never_breaks_the_level(name):
    rng, likelihood = np.random.default_rng(21), likelihood_of(name)
    p = np.array([compared_margins(likelihood, *samples(name, rng, 80, 4), rng).p for _ in range(N_SIMULATED)])
    assert (p <= ALPHA).sum() <= stats.binom.ppf(0.9995, N_SIMULATED, ALPHA)


@pytest.mark.parametrize("name", DRAWS)
def test_a_plain_difference_has_a_small_p(name):
    rng, likelihood = np.random.default_rng(22), likelihood_of(name)
    cohort, batch = samples(name, rng, 200, 100)
    largest = {"bernoulli": 1, "binomial": 4, "ordinal": 5, "categorical": 2}.get(name)
    moved = np.full(100, float(largest)) if largest else 3.0 * batch + 3.0
    found = compared_margins(likelihood, cohort, moved, rng)
    assert found.p < 1e-4, "a small p is computed from more draws"
    assert compared_margins(likelihood, cohort, batch, rng).p > 0.001


def test_permuted_tests_are_those_of_all_permutations():
    cohort, batch = np.array([0.0, 0.0, 1.0, 3.0, 3.0, 4.0]), np.array([1.0, 4.0, 4.0])
    both = np.concatenate([cohort, batch])
    for name, statistic in (("binomial", _distance), ("poisson", _distance), ("categorical", _chi_squared)):
        found = compared_margins(likelihood_of(name), cohort, batch, np.random.default_rng(0))
        chosen = [np.isin(np.arange(9), places) for places in itertools.combinations(range(9), 3)]
        of_all = np.array([statistic(both[~here], both[here]) for here in chosen])
        here = statistic(cohort, batch)
        np.testing.assert_allclose(abs(found.statistic), here)
        exact = (of_all >= here - 1e-9).mean()
        assert abs(found.p - exact) < 4.0 * np.sqrt(exact * (1.0 - exact) / 2000)


def _distance(cohort, batch):
    return stats.ks_2samp(cohort, batch).statistic


def _chi_squared(cohort, batch):
    levels = np.unique(np.concatenate([cohort, batch]))
    table = [[(side == level).sum() for level in levels] for side in (cohort, batch)]
    return stats.chi2_contingency(table, correction=False).statistic


def test_p_by_draws_is_never_0():
    for draw, name in ((np.zeros(300), "bernoulli"), (np.zeros(300), "categorical"), (np.arange(300.0), "poisson")):
        found = compared_margins(likelihood_of(name), draw, np.full(200, draw.max() + 1.0), np.random.default_rng(0))
        assert 0.0 < found.p < 1e-3, name


def test_what_cannot_be_tested_has_no_p():
    rng, some, none = np.random.default_rng(0), np.ones(5), np.empty(0)
    for name in DRAWS:
        assert compared_margins(likelihood_of(name), some, none, rng).test == ""
        assert compared_margins(likelihood_of(name), some, some, rng).test == ""
    assert chi_squared(np.array([3, 0]), np.array([2, 0]), rng).test == ""
    assert chi_squared(np.array([3, 1]), np.array([0, 0]), rng).test == ""
