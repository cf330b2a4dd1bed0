"""The copula inside clusters: bounds of scores, draws between them, correlations, and what is drawn given the rest."""

import numpy as np
import pytest
from scipy import stats

from clinclust import Feature
from clinclust.estimators.imputation import Column, Copula, between, shrunk_correlation
from clinclust.likelihoods import REGISTRY

N = 4000


@pytest.mark.parametrize(("low", "high"), [(-np.inf, np.inf), (-np.inf, -7.5), (7.5, np.inf), (0.2, 0.3), (9.0, 9.01)])
def test_draws_between_bounds_are_truncated_normal(low, high):
    rng = np.random.default_rng(0)
    drawn = between(np.full(N, 0.5), 2.0, np.full(N, low), np.full(N, high), rng)
    exact = stats.truncnorm((low - 0.5) / 2.0, (high - 0.5) / 2.0, 0.5, 2.0)
    assert stats.kstest(drawn, exact.cdf).pvalue > 1e-3
    assert ((drawn >= low) & (drawn <= high)).all()


def test_correlations_are_those_of_numpy_with_weights_drawn_towards_0():
    rng = np.random.default_rng(1)
    scores = rng.multivariate_normal([0, 0, 0], [[1, 0.6, 0], [0.6, 1, 0.3], [0, 0.3, 1]], size=500)
    weights, n_both = rng.exponential(size=500), np.full((3, 3), 500.0)
    centred = scores - np.average(scores, axis=0, weights=weights)
    covariance = np.cov(centred.T, aweights=weights)
    exact = covariance / np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    found = shrunk_correlation(scores, weights, n_both, np.eye(3))
    away = ~np.eye(3, dtype=bool)
    ratio = found[away] / exact[away]
    assert ratio == pytest.approx(np.full(6, ratio[0]))
    assert 0.97 < ratio[0] < 1.0
    n_both[0, 1] = n_both[1, 0] = 0.0
    assert shrunk_correlation(scores, weights, n_both, np.eye(3))[0, 1] == pytest.approx(0.0, abs=1e-12)
    assert (
        shrunk_correlation(rng.normal(size=(20, 40)), np.ones(20), np.full((40, 40), 20.0), np.eye(40))[
            ~np.eye(40, dtype=bool)
        ]
        < 0.5
    ).all()


def column_of(likelihood, values, **fields):
    """Return the only margin of a column, with the weak prior of a draft."""
    known = REGISTRY[likelihood].of(Feature(name="x", likelihood=likelihood, **fields))
    missing = np.isnan(values)
    theta = known.default_hyperparameters(values)
    return Column(known, theta, values.copy(), missing, np.ones(values.size, dtype=bool), 1)


@pytest.mark.parametrize(
    ("likelihood", "fields", "values_of"),
    [
        ("gaussian", {}, lambda z: 3.0 * z + 1.0),
        ("bernoulli", {}, lambda z: (z > 0.4) * 1.0),
        ("categorical", {"levels": ("a", "b", "c")}, lambda z: np.searchsorted([-0.5, 0.8], z) * 1.0),
        ("ordinal", {"trials": 4}, lambda z: np.searchsorted([-1.0, 0.0, 0.5, 1.5], z) * 1.0),
        ("poisson", {}, lambda z: stats.poisson.ppf(stats.norm.cdf(z), 2.5)),
    ],
)
def test_a_missing_value_is_drawn_given_the_other_feature(likelihood, fields, values_of):
    """A factor that is missing more often when the other is high has the joint distribution of the whole cohort."""
    rng = np.random.default_rng(2)
    other = rng.normal(size=N)
    whole = values_of(0.8 * other + 0.6 * rng.normal(size=N))
    seen = np.where(rng.random(N) < stats.norm.cdf(other), np.nan, whole)
    columns = [column_of(likelihood, seen, **fields), column_of("gaussian", other)]
    copula = Copula(columns, {}, np.zeros(N, dtype=np.int64), rng)
    missing, drawn = np.isnan(seen), []
    for number in range(30):
        copula.round()
        if number >= 10:
            np.testing.assert_array_equal(columns[0].completed[~missing], whole[~missing])
            drawn.append(columns[0].completed.copy())
    assert abs(np.nanmean(seen) - whole.mean()) > 5 * whole.std() / np.sqrt(N)
    above = missing & (other > 1.0)
    for rows in (missing, above):
        shares = [np.mean([(one[rows] <= level).mean() for one in drawn]) for level in np.unique(whole)[::20]]
        exact = [(whole[rows] <= level).mean() for level in np.unique(whole)[::20]]
        np.testing.assert_allclose(shares, exact, atol=0.08)
