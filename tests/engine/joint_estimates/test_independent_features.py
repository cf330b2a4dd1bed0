"""The number of independent features that a cohort is worth."""

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from clinclust.engine.joint_estimates.independent_features import independent_features
from clinclust.estimators.preparation import prepared
from clinclust.estimators.settings import Settings

N = 3000


def worth(columns):
    frame = pd.DataFrame(columns, columns=[f"x{j}" for j in range(columns.shape[1])])
    schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    settings = Settings.of(cc.MAPDP.as_published(schema, progress=False).get_params())
    return independent_features(prepared(settings, frame, stacklevel=1).problem)


def test_independent_features_are_worth_their_number():
    assert worth(np.random.default_rng(0).normal(size=(N, 12))) == pytest.approx(12, rel=0.03)


def test_copies_are_worth_one():
    one = np.random.default_rng(1).normal(size=(N, 1))
    assert worth(one * [1.0, 2.0, -3.0, 4.0]) == pytest.approx(1, rel=0.01)


@pytest.mark.parametrize("r", [0.3, 0.6])
def test_equal_correlations_give_the_participation_ratio_of_their_eigenvalues(r):
    rng, n_features = np.random.default_rng(2), 10
    columns = np.sqrt(r) * rng.normal(size=(N, 1)) + np.sqrt(1 - r) * rng.normal(size=(N, n_features))
    eigenvalues = np.linalg.eigvalsh(np.full((n_features, n_features), r) + (1 - r) * np.eye(n_features))
    assert worth(columns) == pytest.approx(eigenvalues.sum() ** 2 / (eigenvalues**2).sum(), rel=0.1)
