"""The continuum score: what it is, its direction, and what is missing."""

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema, quick_fit, schema_of
from reporting.stand_in import compared
from scipy.special import ndtri
from scipy.stats import rankdata

import clinclust as cc
from clinclust.estimators.explanation import find_continuum
from clinclust.estimators.subtype_model import cohort_of
from clinclust.reporting.sheets.divisions import verdict
from clinclust.reporting.sheets.subjects import on_continuum_score


def severity(seed=0, n=150, loadings=(1, 1, 1, -1, 0.2), noise=0.7):
    rng = np.random.default_rng(seed)
    own = rng.normal(size=n)
    X = own[:, None] * np.array(loadings) + noise * rng.normal(size=(n, len(loadings)))
    return pd.DataFrame(X, columns=list("abcdefgh")[: len(loadings)]), own


def test_without_missing_values_it_is_the_first_principal_component_of_the_normal_scores():
    frame, own = severity()
    score = cc.continuum_score(quick_fit(frame), frame)
    z = ndtri((np.apply_along_axis(rankdata, 0, frame.to_numpy()) - 0.5) / len(frame))
    _, vectors = np.linalg.eigh(np.corrcoef(z.T))
    component = z @ vectors[:, -1]
    component *= np.sign(np.corrcoef(component, own)[0, 1]) / component.std()
    np.testing.assert_allclose(score, component - component.mean(), atol=2e-3)  # normal scores have steps of 1/1024
    assert score.name == "continuum_score"
    assert score.mean() == pytest.approx(0, abs=1e-6)
    assert score.std(ddof=0) == pytest.approx(1, abs=1e-6)


def test_a_missing_value_is_integrated_out():
    """The score is the expected component of a subject whose other values are drawn, given its observed ones."""
    frame, _ = severity(n=400)
    frame.iloc[:60, 1] = np.nan
    frame.iloc[30:60, 0] = np.nan
    model = quick_fit(frame)
    score = cc.continuum_score(model, frame).to_numpy()
    X = frame.to_numpy()
    ranks = np.full(X.shape, np.nan)
    for j in range(X.shape[1]):
        seen = ~np.isnan(X[:, j])
        ranks[seen, j] = ndtri((rankdata(X[seen, j]) - 0.5) / seen.sum())
    R = pd.DataFrame(ranks).corr().to_numpy()
    pairs = (~np.isnan(ranks)).astype(float)
    n = pairs.T @ pairs
    R = np.where(np.eye(len(R)) > 0, 1.0, R * n / (n + 5))
    v = np.linalg.eigh(R)[1][:, -1]
    expected = np.empty(len(X))
    for i, row in enumerate(ranks):
        # E[z | o] feature by feature: the observed value itself, or the regression on the observed ones
        o = ~np.isnan(row)
        filled = row.copy()
        filled[~o] = R[np.ix_(~o, o)] @ np.linalg.inv(R[np.ix_(o, o)]) @ row[o]
        expected[i] = v @ filled
    expected = (expected - expected.mean()) / expected.std()
    expected *= np.sign(np.corrcoef(expected, score)[0, 1])
    np.testing.assert_allclose(score, expected, atol=5e-3)


def test_who_has_no_value_has_no_score_and_little_known_is_near_the_middle():
    frame, _ = severity(n=200)
    frame.iloc[0] = np.nan
    frame.iloc[1, :4] = np.nan
    frame.iloc[1, 4] = 99.0
    with pytest.warns(cc.CohortWarning):
        model = quick_fit(frame)
    score = cc.continuum_score(model, frame)
    assert np.isnan(score.iloc[0])
    assert score.iloc[1:].notna().all()
    assert abs(score.iloc[1]) < 1.5


@pytest.mark.parametrize("loadings", [(1, 1, 1, -1), (-1, -1, -1, 1)])
def test_most_features_increase_with_the_score(loadings):
    frame, _ = severity(loadings=loadings)
    model = quick_fit(frame)
    found = find_continuum(cohort_of(model, frame))
    assert (found.correlations > 0).sum() == 3
    assert found.correlations["d"] < -0.5
    assert (found.correlations.abs().diff().dropna() <= 0).all()
    for name, correlation in found.correlations.items():
        assert correlation == pytest.approx(np.corrcoef(frame[name], found.score)[0, 1], abs=0.05)


@pytest.mark.simulation
def test_the_share_is_that_of_the_variance():
    frame, _ = severity(loadings=(1, 1, 1, 1), noise=0.01)
    model = quick_fit(frame)
    assert find_continuum(cohort_of(model, frame)).share > 0.95
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.normal(size=(800, 4)), columns=list("abcd"))
    model = quick_fit(noise)
    assert find_continuum(cohort_of(model, noise)).share == pytest.approx(0.25, abs=0.04)


@pytest.mark.simulation
def test_units_outlying_values_and_the_order_of_rows_do_not_matter():
    frame, _ = severity()
    score = cc.continuum_score(quick_fit(frame), frame)
    other = frame.assign(a=np.exp(3 * frame["a"]), b=1e6 * frame["b"] - 7)
    schema = schema_of(other, a={"transform": "log"})
    np.testing.assert_allclose(cc.continuum_score(quick_fit(other, schema), other), score, atol=1e-5)
    shuffled = frame.sample(frac=1.0, random_state=3)
    np.testing.assert_allclose(cc.continuum_score(quick_fit(shuffled), shuffled).loc[score.index], score, atol=1e-5)


def test_nominal_levels_are_ordered_along_the_score():
    frame, own = severity(n=300)
    frame["phase"] = np.array(["late", "early", "middle"])[np.digitize(own, [-0.5, 0.5])]  # no alphabetical order
    schema = schema_of("abcde", phase={"likelihood": "categorical", "levels": ["early", "late", "middle"]})
    model = quick_fit(frame, schema)
    found = find_continuum(cohort_of(model, frame))
    assert found.correlations["phase"] > 0.7
    assert np.corrcoef(found.score, own)[0, 1] > 0.9


@pytest.mark.simulation
@pytest.mark.parametrize("severity", [0.0, 1.0])
def test_a_score_of_features_that_do_not_depend_on_each_other_is_told_as_chance(severity):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(severity * rng.normal(size=(300, 1)) + rng.normal(size=(300, 8)), columns=list("abcdefgh"))
    schema = gaussian_schema(frame)
    model = cc.MAPDP(schema, n_restarts=2, random_state=0, progress=False).fit(frame)
    assert model.n_clusters_ == 1
    findings = compared(model, frame)
    (said,) = on_continuum_score(findings)
    assert ("orders subjects by chance" in said) == (severity == 0.0)
    assert ("give about 17%" in said) == (severity == 0.0)
    (tested,) = verdict(findings)
    assert ("use the continuum score" in tested) == (severity == 1.0)
