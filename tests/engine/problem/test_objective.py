"""The log joint against an independent computation, and what follows from it."""

import numpy as np
import oracles
import pandas as pd
import pytest
from cohorts import mixed_cohort, quick_fit, random_hyperparameters
from scipy.special import gammaln
from scored import few

from clinclust import Feature, FeatureSchema, log_joint
from clinclust.engine.problem.problem import log_crp


@pytest.mark.parametrize("seed", few(range(12), 4))
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_any_partition_agrees_with_seating_the_subjects_one_by_one(seed, missing):
    frame, schema, columns, _ = mixed_cohort(seed, n=40, missing=missing)
    rng = np.random.default_rng(seed)
    labels = rng.integers(1 + seed % 7, size=40)
    hyperparameters = random_hyperparameters(rng, columns)
    numbers = {"concentration": rng.gamma(1.0, 3.0)}
    if seed % 2:
        numbers.update(coarsening=rng.uniform(0.1, 1.0))
    expected = oracles.log_joint(columns, labels, hyperparameters, **numbers)
    assert log_joint(frame, labels, schema, hyperparameters, **numbers) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("shift", [0.0, 1e6, -1e9])
def test_a_gaussian_far_from_zero_keeps_its_digits(shift):
    """The marginal likelihood does not change when values and prior mean move together."""
    values = np.random.default_rng(2).integers(0, 64, size=50) / 8.0  # exact in floating point, shifted or not
    schema = FeatureSchema([Feature(name="x", likelihood="gaussian")])
    labels = np.arange(50) % 3

    def at(shift):
        prior = {"x": {"mean": 1.0 + shift, "kappa": 0.5, "shape": 1.0, "rate": 4.0}}
        return log_joint(pd.DataFrame({"x": values + shift}), labels, schema, prior)

    assert at(shift) == pytest.approx(at(0.0), rel=1e-9)


def test_the_seating_probabilities_of_all_partitions_sum_to_one():
    for concentration in (0.2, 1.0, 7.5):
        logs = [log_crp(np.bincount(labels).astype(float), concentration) for labels in oracles.partitions(7)]
        assert np.exp(logs).sum() == pytest.approx(1.0, rel=1e-12)


def test_relevance_is_the_gain_over_one_cluster_feature_by_feature():
    frame, schema, _, _ = mixed_cohort(3, n=50)
    model = quick_fit(frame, schema, n_restarts=4)
    together = log_joint(frame, np.zeros(50), schema, model.hyperparameters_)
    crp = log_crp(model.cluster_sizes_.astype(float), 3.0) - log_crp(np.array([50.0]), 3.0)
    assert model.feature_relevance_.sum() + crp == pytest.approx(model.log_joint_ - together, rel=1e-9)
    assert set(model.feature_relevance_.index) == set(schema.names)


def test_the_papers_quantity_is_a_sum_of_leave_one_out_predictives():
    frame, schema, columns, _ = mixed_cohort(1, n=25)
    model = quick_fit(frame, schema, n_restarts=3)
    labels, sizes = model.labels_, model.cluster_sizes_.astype(float)
    expected = 0.0
    for i in range(25):
        others = np.flatnonzero((labels == labels[i]) & (np.arange(25) != i))
        for name, (likelihood, trials, values) in columns.items():
            if not np.isnan(values[i]):
                before = values[others][~np.isnan(values[others])]
                expected -= oracles.log_predictive(likelihood, model.hyperparameters_[name], before, values[i], trials)
    expected -= sizes.size * np.log(3.0) + gammaln(sizes).sum() + gammaln(3.0) - gammaln(28.0)
    assert model.leave_one_out_nll_ == pytest.approx(expected, rel=1e-10)
    assert abs(model.leave_one_out_nll_ + model.log_joint_) > 1.0  # and so is not the joint
