"""The posteriors of parameters that are reported are those from which parameters are drawn."""

import numpy as np
import pytest
from scipy import stats
from test_joint_draws import known, law

from clinclust import Feature
from clinclust.likelihoods import REGISTRY
from clinclust.priors import dirichlet_tree

N_DRAWS = 4000


def drawn(likelihood, posterior):
    """Return draws of each parameter, by name (n, 1) or (n, L)."""
    found = likelihood.draw_parameters(np.tile(posterior, (N_DRAWS, 1)), np.random.default_rng(3))
    if likelihood.counts_levels or likelihood.is_yes_no:
        return {"probability": found}
    if likelihood.is_real:
        return {"mean": found[:, :1], "sd": found[:, 1:]}
    return {"mean": likelihood.given(found).mean()[:, None]}


@law
def test_draws_of_parameters_follow_the_posteriors_that_are_reported(name, place):
    likelihood, posterior = known(name, place)
    draws = drawn(likelihood, posterior)
    allowed = 0.1 if name == "ordinal" else 0.04  # the product of betas is given by the beta of its moments
    reported = likelihood.parameters(np.stack([posterior, posterior]))
    assert list(reported) == list(draws)
    for parameter, values in draws.items():
        for quantile in (0.025, 0.2, 0.5, 0.8, 0.975):
            first, second = reported[parameter].ppf(quantile)
            np.testing.assert_array_equal(first, second)
            shares = (values <= first).mean(axis=0)
            assert np.abs(shares - quantile).max() < allowed, (parameter, quantile)


def test_the_probability_of_a_level_of_a_tree_has_the_moments_of_its_product_of_betas():
    """With the splits of a Dirichlet distribution, the tree is that distribution."""
    concentrations = np.array([[0.7, 2.0, 1.1, 3.0, 0.4]])
    tree = dirichlet_tree.halves(concentrations)
    expected = stats.beta(concentrations, concentrations.sum() - concentrations)
    likelihood = REGISTRY["ordinal"].of(Feature(name="x", likelihood="ordinal", trials=4))
    found = likelihood.parameters(tree)["probability"]
    np.testing.assert_allclose(found.ppf(0.025), expected.ppf(0.025), rtol=1e-9)
    np.testing.assert_allclose(found.mean(), expected.mean(), rtol=1e-12)
    mean, square = dirichlet_tree.moments(tree)
    np.testing.assert_allclose(mean[0], dirichlet_tree.probabilities(tree[0]), rtol=1e-15)
    np.testing.assert_allclose(square, expected.var() + expected.mean() ** 2, rtol=1e-12)


def test_few_values_leave_no_finite_mean_and_a_median():
    (distribution,) = REGISTRY["exponential"]().parameters(np.array([[0.8, 2.0]])).values()
    assert np.isinf(distribution.mean()).all()
    assert distribution.median() == pytest.approx(2.0 / stats.gamma(0.8).median())
