"""Predictors of membership."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import clinclust as cc
from clinclust.errors import InputError
from clinclust.outcomes.estimates import predictors_of_subtype

N = 2000
RNG = np.random.default_rng(11)
X = RNG.normal(size=(N, 2))
ODDS = np.column_stack([np.zeros(N), 0.2 + X[:, 0], -0.5 - 0.7 * X[:, 0] + 0.5 * X[:, 1]])
TRUTH = np.array([0.2, 1.0, 0.0, -0.5, -0.7, 0.5])
SHARES = np.exp(ODDS) / np.exp(ODDS).sum(axis=1, keepdims=True)
ERRORS = np.array([[0.85, 0.10, 0.05], [0.10, 0.80, 0.10], [0.05, 0.05, 0.90]])


def drawn(rng):
    groups = (rng.random((N, 1)) > SHARES.cumsum(axis=1)).sum(axis=1)
    return groups, np.array([rng.choice(3, p=ERRORS[group]) for group in groups])


def test_known_subtypes_have_the_multinomial_regression_of_statsmodels():
    groups, _ = drawn(np.random.default_rng(0))
    found = predictors_of_subtype(X, np.eye(3)[groups], 0)
    fitted = sm.MNLogit(groups, sm.add_constant(X)).fit(disp=False, cov_type="HC0")
    np.testing.assert_allclose(found.parameters, fitted.params.T.ravel(), atol=1e-4)
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance)), fitted.bse.T.ravel(), rtol=0.01)


def test_the_errors_of_assignment_are_carried_through():
    _, assigned = drawn(np.random.default_rng(1))
    found = predictors_of_subtype(X, ERRORS.T[assigned], 0)
    z = (found.parameters - TRUTH) / np.sqrt(np.diag(found.covariance))
    assert np.abs(z).max() < 3.0
    naive = predictors_of_subtype(X, np.eye(3)[assigned], 0)
    assert abs(naive.parameters[1] - 1.0) > 3.0 * np.sqrt(naive.covariance[1, 1])


def test_log_odds_against_another_subtype_are_differences():
    _, assigned = drawn(np.random.default_rng(2))
    first, second = (predictors_of_subtype(X, ERRORS.T[assigned], versus).parameters for versus in (0, 1))
    np.testing.assert_allclose(second[:3], -first[:3], atol=1e-4)
    np.testing.assert_allclose(second[3:], first[3:] - first[:3], atol=1e-4)


@pytest.mark.simulation
def test_intervals_hold_the_truth_as_often_as_they_say():
    held = []
    for seed in range(1000, 1200):
        found = predictors_of_subtype(X, ERRORS.T[drawn(np.random.default_rng(seed))[1]], 0)
        held.append(np.abs(found.parameters - TRUTH) < 1.96 * np.sqrt(np.diag(found.covariance)))
    assert np.abs(np.mean(held, axis=0) - 0.95).max() < 3.5 * np.sqrt(0.95 * 0.05 / 200)


def test_from_a_table_to_odds_ratios():
    rng = np.random.default_rng(0)
    age, sex = rng.normal(60, 10, 500).round(), rng.choice(["f", "m"], 500)
    frail = rng.random(500) < 1 / (1 + np.exp((60 - age) / 10))
    names = list("abcdef")
    frame = pd.DataFrame(rng.normal(1.1 * frail[:, None], 1.0, (500, 6)), columns=names)
    schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in names], other_columns="ignore")
    model = cc.MAPDP(schema, n_clusters=2, random_state=0, progress=False).fit(frame)
    frame = frame.assign(age=age, sex=sex)
    found = cc.subtype_predictors(model, frame, ["age", "sex"])
    assert found["term"].tolist() == ["age", "sex: m"] * 2
    of_age, truth = found.iloc[0], np.exp(0.1) if model.labels_[frail].mean() > 0.5 else np.exp(-0.1)
    assert of_age["lower"] < truth < of_age["upper"]
    assert abs(np.log(of_age["estimate"])) > abs(np.log(found.iloc[2]["estimate"]))
    with pytest.raises(InputError, match="the subtypes were found from 'a'"):
        cc.subtype_predictors(model, frame, ["a"])
    with pytest.raises(InputError, match="at least one column"):
        cc.subtype_predictors(model, frame, [])


def test_predictors_that_separate_or_have_a_tiny_unit_have_no_number():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(np.repeat([0, 3], 100)[:, None], 1.0, (200, 3)), columns=list("abc"))
    schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in "abc"], other_columns="ignore")
    model = cc.MAPDP(schema, n_clusters=2, random_state=0, progress=False).fit(frame)
    labels = model.labels_
    for column in (np.where(labels == 0, "u", "v"), 10 * labels + rng.random(200)):
        found = cc.subtype_predictors(model, frame.assign(z=column), ["z"])
        assert found["estimate"].isna().all()
        assert found["remark"].str.startswith("not estimated").all()
    found = cc.subtype_predictors(model, frame.assign(z=rng.normal(60e-6, 1e-5, 200)), np.array(["z"]))
    assert found["remark"].str.contains("take another unit").all()
    with pytest.raises(InputError, match="at least one column"):
        cc.subtype_predictors(model, frame, np.array([], dtype=object))
