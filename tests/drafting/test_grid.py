"""Probabilities of numbers on the grid on which they are written."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from clinclust.drafting.kinds import kinds_of_numbers, log_probability, numbers_on_grid

rng = np.random.default_rng(0)
GAUSSIAN, LOG, EXPONENTIAL = (
    {"likelihood": "gaussian"},
    {"likelihood": "gaussian", "transform": "log"},
    {"likelihood": "exponential"},
)


@given(st.lists(st.integers(-500, 500), min_size=2, max_size=40, unique=True), st.integers(0, 4))
def test_the_step_is_the_largest_of_which_all_numbers_are_multiples_apart(whole, decimals):
    values = np.array(sorted(whole)) / 10**decimals
    steps = (values - values[0]) / numbers_on_grid(values).step
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-6)
    assert np.gcd.reduce(np.rint(np.diff(steps)).astype(int)) == 1


def test_a_number_has_the_probability_of_its_interval_and_parameters_cost():
    """Of many numbers, the evidence is the log probability of the intervals less half of log(n) for each parameter."""
    values = np.exp(rng.normal(3, 0.4, 3000)).round()
    low, high = values - 0.5, values + 0.5
    for fields, taken in ((GAUSSIAN, np.asarray), (LOG, np.log)):
        normal = stats.norm(taken(values).mean(), taken(values).std())
        interval = np.log(normal.cdf(taken(high)) - normal.cdf(taken(low))).sum()
        assert log_probability(values, 1.0, fields) == pytest.approx(interval - np.log(3000), abs=20)
        assert log_probability(np.repeat([1.0, 2.0, 3.0], [1401, 45, 4]), 1.0, fields) < 0.0
    geometric = stats.geom(1 / (1 + values.mean())).logpmf(values + 1).sum()
    assert log_probability(values, 1.0, EXPONENTIAL) == pytest.approx(geometric - np.log(3000) / 2, abs=10)


@pytest.mark.parametrize("fields", [GAUSSIAN, LOG, EXPONENTIAL, LOG | {"spike": 0.0}])
def test_the_unit_of_a_measurement_changes_nothing(fields):
    values = rng.normal(50, 5, 100).round(1)
    own, other = (log_probability(values * scale, 0.1 * scale, fields) for scale in (1.0, 1000.0))
    assert own == pytest.approx(other, abs=1e-3)


def test_numbers_are_most_probable_under_their_own_kind():
    n = 200
    drawn = [
        (GAUSSIAN, rng.normal(120, 15, n).round()),
        (LOG, np.exp(rng.normal(3, 1, n)).round(1)),
        (EXPONENTIAL, rng.exponential(20, n).round(2)),
        ({"likelihood": "poisson"}, rng.poisson(4, n)),
        ({"likelihood": "negative_binomial"}, rng.negative_binomial(0.4, 0.1, n)),
        (LOG | {"spike": 0.0}, np.where(rng.random(n) < 0.4, 0, np.exp(rng.normal(3, 1, n)).round(1))),
        (GAUSSIAN | {"spike": 30.0}, np.minimum(rng.normal(27, 3, n).round(1), 30.0)),
    ]
    for fields, values in drawn:
        assert kinds_of_numbers(numbers_on_grid(np.asarray(values, dtype=float)))[0].fields == fields
    skewed = rng.choice([1.0, 2, 3, 4, 5], n, p=[0.45, 0.05, 0.1, 0.05, 0.35])
    best = kinds_of_numbers(numbers_on_grid(skewed), "12345")[0]
    assert best.fields == {"likelihood": "ordinal", "levels": list("12345")}
