"""BCH and maximum likelihood in three steps, against other packages and closed forms."""

import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from by_method import estimate_by_method
from scipy.special import expit
from statsmodels.miscmodels.ordinal_model import OrderedModel

from clinclust.outcomes.estimates import DENSITIES, assignment_errors, in_intervals, maximise

RNG = np.random.default_rng(7)
N = 600
GROUP = RNG.choice(3, N, p=[0.5, 0.3, 0.2])
AGE = RNG.normal(size=(N, 1))
NOTHING = np.empty((N, 0))
DUMMIES = np.eye(3)[GROUP]
KNOWN = np.eye(3)


def naive(kind, y, covariates=AGE):
    return estimate_by_method(DENSITIES[kind], y, covariates, KNOWN, GROUP, "naive")


def assert_same(found, fitted, n_terms=4, rtol=1e-4):
    np.testing.assert_allclose(found.parameters[:n_terms], np.asarray(fitted.params)[:n_terms], rtol=rtol, atol=1e-5)
    se = np.sqrt(np.diag(found.covariance))[:n_terms]
    np.testing.assert_allclose(se, np.asarray(fitted.bse)[:n_terms], rtol=0.01)


# --- known assignments: the models of statsmodels with robust standard errors -------------------------------------


def test_means_are_those_of_least_squares():
    y = GROUP + AGE[:, 0] + RNG.normal(size=N)
    assert_same(naive("continuous", y), sm.OLS(y, np.hstack([DUMMIES, AGE])).fit(cov_type="HC1"))


def test_shares_are_those_of_logistic_regression():
    y = (RNG.random(N) < expit(GROUP - 1 + 0.5 * AGE[:, 0])).astype(float)
    fitted = sm.GLM(y, np.hstack([DUMMIES, AGE]), family=sm.families.Binomial()).fit(cov_type="HC1")
    assert_same(naive("binary", y), fitted)


def test_rates_are_those_of_negative_binomial_regression():
    mean = np.exp(0.5 + 0.4 * GROUP + 0.3 * AGE[:, 0])
    y = RNG.negative_binomial(2, 2 / (2 + mean)).astype(float)
    fitted = sm.NegativeBinomial(y, np.hstack([DUMMIES, AGE])).fit(disp=False, cov_type="HC1", maxiter=500)
    assert_same(naive("count", y), fitted)


def test_levels_are_those_of_proportional_odds():
    y = np.digitize(GROUP + 0.5 * AGE[:, 0] + RNG.logistic(size=N), [0, 1, 2]).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = OrderedModel(y, np.hstack([DUMMIES[:, 1:], AGE]), distr="logit").fit(method="bfgs", disp=False)
    found = naive("ordered", y).parameters
    np.testing.assert_allclose([found[1] - found[0], found[2] - found[0], found[3]], fitted.params[:3], atol=1e-3)


def test_hazard_ratios_are_close_to_cox_regression():
    hazard = np.exp(0.6 * GROUP + 0.4 * AGE[:, 0])
    event_time, censored = RNG.weibull(1.5, N) / hazard ** (1 / 1.5), RNG.uniform(0.2, 2.0, N)
    entry = RNG.uniform(0.0, 0.15, N)
    time, died = np.minimum(event_time, censored), (event_time <= censored).astype(float)
    seen = time > entry  # left truncation
    y = in_intervals(died[seen], time[seen], entry[seen])
    found = estimate_by_method(DENSITIES["survival"], y, AGE[seen], KNOWN, GROUP[seen], "naive")
    exog = np.hstack([DUMMIES[seen, 1:], AGE[seen]])
    cox = sm.PHReg(time[seen], exog, status=died[seen], entry=entry[seen]).fit()
    log_ratios = np.append(found.parameters[1:3] - found.parameters[0], found.parameters[3])
    np.testing.assert_allclose(log_ratios, cox.params, atol=0.1 * cox.bse.min() + 0.03)


# --- assignments with errors --------------------------------------------------------------------------------------


def noisy(errors, rng):
    return np.array([rng.choice(3, p=errors[one]) for one in GROUP])


ERRORS = np.array([[0.85, 0.10, 0.05], [0.10, 0.80, 0.10], [0.02, 0.08, 0.90]])


def test_bch_means_are_weighted_means_in_closed_form():
    assigned = noisy(ERRORS, RNG)
    y = GROUP + RNG.normal(size=N)
    found = estimate_by_method(DENSITIES["continuous"], y, NOTHING, ERRORS, assigned, "bch")
    weights = np.linalg.inv(ERRORS)[assigned]
    means = weights.T @ y / weights.sum(axis=0)
    np.testing.assert_allclose(found.parameters[:3], means)
    scores = weights * (y[:, None] - means) / weights.sum(axis=0)
    np.testing.assert_allclose(found.covariance[:3, :3], scores.T @ scores * N / (N - 4), rtol=1e-3)


@pytest.mark.parametrize("method", ["bch", "ml"])
@pytest.mark.parametrize("kind", ["continuous", "binary"])
def test_known_assignments_need_no_correction(method, kind):
    y = GROUP + RNG.normal(size=N) if kind == "continuous" else (RNG.random(N) < expit(GROUP - 1)).astype(float)
    found = estimate_by_method(DENSITIES[kind], y, AGE, KNOWN, GROUP, method)
    np.testing.assert_allclose(found.parameters[:4], naive(kind, y).parameters[:4], atol=1e-4)


def test_errors_of_assignment_are_the_averages_of_memberships():
    membership = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.0, 1.0]])
    found = assignment_errors(membership, np.array([0, 0, 1, 1]))
    np.testing.assert_allclose(found, [[1.7 / 2.0, 0.3 / 2.0], [0.3 / 2.0, 1.7 / 2.0]])


def test_errors_and_weights_are_those_that_mplus_prints():
    """Mplus 8.11, four classes of five answers of 2,675 pupils: the example of Nylund-Gibson, Grimm and Masyn (2019).

    *Prediction from latent classes*, Structural Equation Modeling 26, 967-985; its replication prints the output,
    mixture-modeling.netlify.app/distal-outcomes-nylund-gibson-grimm-masyn-2019: the counts of the most likely classes,
    their average probabilities (given), the classification probabilities and the saved BCH weights (held to).
    """
    averages = [
        [0.808, 0.037, 0.041, 0.114],
        [0.063, 0.855, 0.080, 0.001],
        [0.047, 0.124, 0.777, 0.052],
        [0.062, 0.001, 0.040, 0.898],
    ]
    assigned = np.repeat(np.arange(4), [770, 432, 285, 1188])
    errors = assignment_errors(np.array(averages)[assigned], assigned)
    classification = [
        [0.845, 0.037, 0.018, 0.099],
        [0.066, 0.851, 0.081, 0.002],
        [0.094, 0.104, 0.661, 0.141],
        [0.075, 0.000, 0.013, 0.912],
    ]
    np.testing.assert_allclose(errors, classification, atol=0.0015)  # all are printed with three decimals
    weights = [
        [1.201, -0.049, -0.025, -0.127],
        [-0.079, 1.196, -0.146, 0.028],
        [-0.138, -0.182, 1.544, -0.224],
        [-0.097, 0.006, -0.019, 1.110],
    ]
    np.testing.assert_allclose(np.linalg.inv(errors), weights, atol=0.0015)


@pytest.mark.parametrize(("kind", "structural"), [("continuous", "gaussian_unit"), ("binary", "binary")])
def test_bch_is_that_of_stepmix(kind, structural):
    stepmix = pytest.importorskip("stepmix.stepmix")
    rng = np.random.default_rng(0)
    groups = rng.random(500) < 0.4
    signs = (rng.random((500, 6)) < np.where(groups[:, None], 0.75, 0.25)).astype(float)
    y = groups + rng.normal(size=500) if kind == "continuous" else (rng.random(500) < 0.3 + 0.3 * groups).astype(float)
    shared = {"n_components": 2, "measurement": "binary", "random_state": 0, "progress_bar": 0, "n_init": 3}
    shared |= {"abs_tol": 1e-10, "max_iter": 3000}
    methods = ["BCH"] if kind == "continuous" else ["BCH", "ML"]  # the other's ML has a fixed variance
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        membership = stepmix.StepMix(n_steps=1, **shared).fit(signs).predict_proba(signs)
        assigned = membership.argmax(axis=1)
        for method in methods:
            other = stepmix.StepMix(n_steps=3, structural=structural, correction=method, assignment="modal", **shared)
            (levels,) = other.fit(signs, y[:, None]).get_parameters()["structural"].values()
            errors = assignment_errors(membership, assigned)
            density = DENSITIES[kind]
            found = estimate_by_method(density, y, np.empty((500, 0)), errors, assigned, method.lower())
            np.testing.assert_allclose(density.on_scale(found.parameters[:2]), np.ravel(levels), atol=1e-5)


@pytest.mark.simulation
@pytest.mark.parametrize("method", ["bch", "ml"])
@pytest.mark.parametrize("kind", ["continuous", "binary", "count", "ordered", "survival"])
def test_intervals_hold_the_truth_as_often_as_they_say(kind, method):
    held, found = [], []
    for seed in range(1000, 1300):
        rng = np.random.default_rng(seed)
        effect = GROUP == 2
        if kind == "continuous":
            y = effect + rng.normal(size=N)
        elif kind == "binary":
            y = (rng.random(N) < expit(effect - 0.5)).astype(float)
        elif kind == "count":
            y = rng.negative_binomial(2, 2 / (2 + np.exp(0.5 + effect))).astype(float)
        elif kind == "ordered":
            y = np.digitize(effect + rng.logistic(size=N), [-0.5, 0.5, 1.5]).astype(float)
        else:
            time, end = rng.exponential(np.exp(-1.0 * effect)), rng.uniform(0.3, 3.0, N)
            y = in_intervals((time <= end).astype(float), np.minimum(time, end), np.zeros(N))
        one = estimate_by_method(DENSITIES[kind], y, NOTHING, ERRORS, noisy(ERRORS, rng), method)
        if one is None:  # weights below 0 may leave the last interval of a subtype without time at risk
            continue
        contrast = np.zeros(one.parameters.size)
        contrast[[0, 2]] = -1.0, 1.0
        difference, se = contrast @ one.parameters, np.sqrt(contrast @ one.covariance @ contrast)
        found.append(difference)
        held.append(abs(difference - 1.0) < 1.96 * se)
    assert len(found) >= 294
    assert abs(np.mean(held) - 0.95) < 3.0 * np.sqrt(0.95 * 0.05 / 300)
    assert abs(np.mean(found) - 1.0) < 0.02 + 3.0 * np.std(found) / np.sqrt(300)


def test_what_has_no_maximum_has_no_estimate():
    y = (GROUP == 2).astype(float)  # all of one subtype, and none of others
    assert naive("binary", y, NOTHING) is None
    assert maximise(lambda at: (float(at.sum()), np.ones((5, 1))), np.zeros(1)) is None
