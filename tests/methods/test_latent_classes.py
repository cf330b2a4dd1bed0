"""Latent classes beside a plain EM algorithm on observed values, and the classes that have no likelihood."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import clinclust as cc
from clinclust import methods
from clinclust.methods.latent_classes import measurement_model

from .clear_groups import SCHEMA, cohort

MIXED = cc.FeatureSchema(
    [
        cc.Feature(name="yes", likelihood="bernoulli"),
        cc.Feature(name="level", likelihood="categorical", levels=("a", "b", "c")),
        cc.Feature(name="size", likelihood="gaussian"),
    ]
)


def mixed(seed, n):
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n)
    frame = pd.DataFrame(
        {
            "yes": (rng.random(n) < np.array([0.2, 0.9])[group]).astype(float),
            "level": np.array(["a", "b", "c"], dtype=object)[np.where(rng.random(n) < 0.7, 2 * group, 1)],
            "size": rng.normal(3.0 * group, 1.0),
        }
    )
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    return frame[frame.notna().any(axis="columns")]


def log_likelihood(frame, membership):
    """The log likelihood of the observed values, at the estimates that follow from memberships (the M step)."""
    size = (frame["size"] - frame["size"].mean()) / frame["size"].std(ddof=0)
    shares = membership.mean(axis=0)
    logs = np.tile(np.log(shares), (len(frame), 1))
    for column in (frame["yes"], frame["level"]):
        seen = column.notna().to_numpy()
        for level in column.dropna().unique():
            has = (column == level).to_numpy()
            logs[has] += np.log(membership[has].sum(axis=0) / membership[seen].sum(axis=0))
    seen = size.notna().to_numpy()
    for k, weights in enumerate(membership[seen].T):
        mean = np.average(size[seen], weights=weights)
        spread = np.sqrt(np.average((size[seen] - mean) ** 2, weights=weights))
        logs[seen, k] += stats.norm.logpdf(size[seen], mean, spread)
    return np.logaddexp.reduce(logs, axis=1).sum(), np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, None])


def test_it_is_the_fixed_point_of_a_plain_em_algorithm_on_the_observed_values():
    frame = mixed(0, 150)
    model = methods.LatentClasses(MIXED, n_clusters=2, n_restarts=4, random_state=0).fit(frame)
    plain, membership = log_likelihood(frame, model.membership_)
    assert model.log_likelihood_ == pytest.approx(plain, abs=0.01)
    np.testing.assert_allclose(membership, model.membership_, atol=0.02)
    for _ in range(300):
        best, membership = log_likelihood(frame, membership)
    assert model.log_likelihood_ == pytest.approx(best, abs=0.01)
    # shares: 1; each class: yes 1, levels 2, mean and variance of the size
    assert model.tried_["n_parameters"].item() == 1 + 2 * 5


def test_each_feature_has_its_kind():
    frame, _ = cohort(0, 0.1)
    model = measurement_model(SCHEMA.validate(frame), SCHEMA.clustered)
    assert model.described == {
        "binary": {"model": "binary_nan", "n_columns": 1},
        "levels": {"model": "categorical_nan", "n_columns": 2},
        "numbers": {"model": "continuous_nan", "n_columns": 3},
    }
    assert model.values.shape == (90, 6)
    assert np.isnan(model.values).sum() == frame.isna().to_numpy().sum()
    assert set(np.unique(model.values[:, 0][~np.isnan(model.values[:, 0])])) == {0.0, 1.0}
    np.testing.assert_allclose(np.nanstd(model.values[:, 3:], axis=0), 1.0)


def test_a_level_that_nobody_has_costs_no_parameter():
    frame = mixed(1, 60)
    frame.loc[frame["level"] == "b", "level"] = "c"
    model = measurement_model(MIXED.validate(frame), MIXED.clustered)
    assert model.described["binary"]["n_columns"] == 2
    assert model.n_parameters == 2 + 2


@pytest.mark.simulation
def test_a_class_without_variance_is_told_or_refused():
    rng = np.random.default_rng(0)
    values = np.concatenate([np.zeros(40), rng.normal(50.0, 3.0, 40)])
    schema = cc.FeatureSchema([cc.Feature(name="size", likelihood="gaussian")])
    frame = pd.DataFrame({"size": values})
    with pytest.raises(ValueError, match=r"n_clusters=2: every start ended with a class in which a measurement"):
        methods.LatentClasses(schema, n_clusters=2, n_restarts=3, random_state=0).fit(frame)
    finder = methods.LatentClasses(schema, max_clusters=2, n_restarts=3, random_state=0)
    with pytest.warns(cc.CohortWarning, match=r"LatentClasses: 2 classes: every start .* so BIC chose without"):
        finder.fit(frame)
    assert finder.n_clusters_ == 1
    assert finder.tried_["bic"].isna().tolist() == [False, True]
