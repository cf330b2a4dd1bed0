"""The median of a new value is the smallest count that half of the distribution reaches, however large it is."""

import numpy as np
import pytest

from clinclust import Feature
from clinclust.likelihoods import REGISTRY
from clinclust.likelihoods.likelihood import LARGEST_COUNT

DECLARED = Feature(name="x", likelihood="poisson")  # counts declare nothing
COUNTS = [name for name, traits in REGISTRY.items() if traits.is_count]


@pytest.mark.parametrize("name", COUNTS)
def test_half_of_the_distribution_lies_at_or_below_the_median_and_less_than_half_below_it(name, some):
    rng, model = np.random.default_rng(0), REGISTRY[name].of(DECLARED)
    for _ in some(range(20), few=5):
        posterior = rng.gamma(3, 2, size=model.n_hyperparameters) + 0.5
        median = model.median(posterior)
        probabilities = model.predictive(posterior).pmf(np.arange(median + 1))
        assert probabilities[:-1].sum() < 0.5 <= probabilities.sum() + 1e-9, posterior


@pytest.mark.parametrize("name", ["geometric", "negative_binomial"])
@pytest.mark.parametrize("mean", [1e5, 1e8])
def test_the_median_of_large_counts_is_that_of_draws(name, mean):
    model = REGISTRY[name].of(DECLARED)
    posterior = np.array([30.0, 29.0 * mean, 1.0])[: model.n_hyperparameters]

    drawn = np.median(model.draw(posterior, 100_000, np.random.default_rng(0)))

    assert model.median(posterior) == pytest.approx(drawn, rel=0.02)


def test_a_median_beyond_the_largest_count_is_the_largest_count():
    assert REGISTRY["geometric"].of(DECLARED).median(np.array([1e-6, 1e9])) == LARGEST_COUNT


@pytest.mark.parametrize("scale", [1_200.0, 2_000.0, 2_100.0, 4_000.0, 9e4])
def test_medians_of_counts_are_those_of_the_distribution_where_their_computation_changes(scale):
    model, posterior = REGISTRY["negative_binomial"].of(DECLARED), np.array([3.0, 2.0 * scale, 1.7])
    median, distribution = model.median(posterior), model.predictive(posterior)
    below, reached = distribution.cdf([median - 1.0, median])
    assert below < 0.5 + 2e-4
    assert reached > 0.5 - 2e-4
