"""Probabilities of numbers on the grid on which they are written."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from clinclust.drafting.kinds import log_probabilities, numbers_on_grid
from clinclust.likelihoods import REGISTRY
from clinclust.schema import Feature

rng = np.random.default_rng(0)


def on_grid(values):
    distinct, counts = np.unique(values, return_counts=True)
    return numbers_on_grid(distinct, counts.astype(float))


@given(st.lists(st.integers(-500, 500), min_size=2, max_size=40, unique=True), st.integers(0, 4))
def test_the_step_is_the_largest_of_which_all_numbers_are_multiples_apart(whole, decimals):
    values = np.array(sorted(whole)) / 10**decimals
    step = on_grid(values).step
    steps = (values - values[0]) / step
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-6)
    assert np.gcd.reduce(np.rint(np.diff(steps)).astype(int)) == 1


def test_every_kind_has_the_probability_of_the_intervals_and_pays_for_its_parameters():
    values = np.array([3.0, 4.0, 4.0, 5.0, 7.0, 9.0, 12.0])
    found, n = log_probabilities(on_grid(values)), values.size
    mean, deviation = values.mean(), values.std()
    normal = stats.norm(mean, deviation)
    interval = np.log(normal.cdf(values + 0.5) - normal.cdf(values - 0.5)).sum()
    assert found["gaussian"] == pytest.approx(interval - np.log(n))
    logs = stats.norm(np.log(values).mean(), np.log(values).std())
    interval = np.log(logs.cdf(np.log(values + 0.5)) - logs.cdf(np.log(values - 0.5))).sum()
    assert found["log"] == pytest.approx(interval - np.log(n))
    geometric = stats.geom(1 / (1 + mean)).logpmf(values + 1).sum()  # of steps of the grid
    assert found["exponential"] == pytest.approx(geometric - np.log(n) / 2)
    assert found["poisson"] == REGISTRY["poisson"].of(Feature(name="x", likelihood="poisson")).evidence(values)
    shares = np.array([1, 2, 1, 1, 1, 1]) / n
    assert found["levels"] == pytest.approx((shares * n * np.log(shares)).sum() - 5 / 2 * np.log(n))


@pytest.mark.parametrize("scale", [0.001, 1000.0])
def test_the_unit_of_a_measurement_changes_nothing(scale):
    values = rng.normal(50, 5, 100).round(1)
    one, other = log_probabilities(on_grid(values)), log_probabilities(on_grid(np.round(values * scale, 4)))
    assert one["gaussian"] == pytest.approx(other["gaussian"], abs=1e-3)
    assert one["log"] == pytest.approx(other["log"], abs=1e-3)


def test_numbers_are_most_probable_under_their_own_kind():
    n = 200
    drawn = {
        "gaussian": rng.normal(120, 15, n).round(),
        "log": np.exp(rng.normal(3, 1, n)).round(1),
        "exponential": rng.exponential(20, n).round(2),
        "poisson": rng.poisson(4, n),
        "negative_binomial": rng.negative_binomial(0.4, 0.05, n),
        "levels": rng.choice([1, 2, 3, 4, 5], n, p=[0.45, 0.05, 0.1, 0.05, 0.35]),
        "spike_low_log": np.where(rng.random(n) < 0.4, 0, np.exp(rng.normal(3, 1, n)).round(1)),
        "spike_high_gaussian": np.minimum(rng.normal(27, 3, n).round(1), 30.0),
    }
    for kind, values in drawn.items():
        found = log_probabilities(on_grid(np.asarray(values, dtype=float)))
        assert max(found, key=found.get) == kind, found
