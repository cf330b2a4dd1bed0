"""Imputed values of a cut, and distribution functions of every discrete likelihood."""

import numpy as np
import pytest
from cohorts import mixed_cohort

from clinclust import Feature
from clinclust.likelihoods import REGISTRY
from clinclust.methods import PublishedMAPDP


@pytest.mark.parametrize("name", [name for name, likelihood in REGISTRY.items() if not likelihood.is_continuous])
def test_the_distribution_function_adds_up_the_probabilities(name):
    example = REGISTRY[name].examples()[0]
    likelihood = REGISTRY[name].of(Feature(name="x", likelihood=name, **example.fields))
    prior = likelihood.from_dict(example.prior, np.full(likelihood.n_hyperparameters, np.nan))
    values = example.column(np.random.default_rng(0), np.zeros(12, dtype=int), 1)
    posterior = likelihood.prior.posterior(prior, likelihood.statistics(values).sum(axis=0))
    levels = likelihood.levels(np.arange(60.0))
    expected = likelihood.predictive(posterior).pmf(levels).cumsum()
    np.testing.assert_allclose(likelihood.predictive(posterior).cdf(levels), expected, atol=2e-4)


# --- imputed values of a cut ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    frame, schema, _, _ = mixed_cohort(3, n=120, n_groups=4, missing=0.2)
    model = PublishedMAPDP(schema, n_restarts=3, random_state=0, progress=False).fit(frame)
    assert model.n_clusters_ >= 4
    return model, frame


def test_a_cut_imputes_what_its_fit_imputes(fitted):
    model, frame = fitted
    cut = model.cut(2)
    assert cut.impute(frame).equals(model.impute(frame))
