"""A variance or covariance that is stated as known (Raykov et al. 2016, eqs. 14 to 17 and 32)."""

import numpy as np
import pandas as pd
import pytest
from cohorts import quick_fit
from scipy import stats

import clinclust as cc
from clinclust.errors import InputError

KNOWN = np.array([[4.0, 1.5], [1.5, 9.0]])
MEAN, KAPPA = np.array([1.0, -2.0]), 0.2
VALUES = np.random.default_rng(0).multivariate_normal([3.0, 1.0], KNOWN, 30)
FRAME = pd.DataFrame(VALUES, columns=["x", "y"])
ALONE = {
    name: {"mean": MEAN[at], "kappa": KAPPA, "known_variance": KNOWN[at, at]} for at, name in enumerate(FRAME.columns)
}
BLOCK = {
    name: {"mean": MEAN[at], "kappa": KAPPA, "known_covariance": KNOWN[at, : at + 1].tolist()}
    for at, name in enumerate(FRAME.columns)
}
IN_BLOCK = {"likelihood": "multivariate_gaussian", "block": "b"}


def schema_of(priors=None, **fields):
    fields = fields or {"likelihood": "gaussian"}
    return cc.FeatureSchema([cc.Feature(name=name, prior=(priors or {}).get(name), **fields) for name in FRAME])


def one_cluster(schema, **parameters):
    return quick_fit(FRAME, schema, init=[0] * 30, n_restarts=1, **parameters).cut(1)


def posterior(covariance):
    """Return the mean and the covariance of the mean of one cluster (eqs. 14 and 16)."""
    spread = np.linalg.inv((KAPPA + 30) * np.linalg.inv(covariance))
    return spread @ np.linalg.inv(covariance) @ (VALUES.sum(axis=0) + KAPPA * MEAN), spread


@pytest.mark.parametrize(
    ("fields", "priors", "covariance"),
    [({"likelihood": "gaussian"}, ALONE, np.diag(np.diag(KNOWN))), (IN_BLOCK, BLOCK, KNOWN)],
    ids=["variance", "covariance"],
)
def test_new_values_are_normal_around_the_posterior_mean(fields, priors, covariance):
    model = one_cluster(schema_of(priors, **fields))
    mean, spread = posterior(covariance)
    new = pd.DataFrame([[0.0, 0.0], [5.0, -3.0]], columns=["x", "y"])
    of_clusters = [
        np.log(30 / 33) + stats.multivariate_normal(mean, spread + covariance).logpdf(new),
        np.log(3 / 33) + stats.multivariate_normal(MEAN, covariance / KAPPA + covariance).logpdf(new),
    ]
    assert model.subtype_of_.size == 1
    np.testing.assert_allclose(model.score_samples(new), np.logaddexp(*of_clusters), rtol=1e-6)
    found = model.cluster_parameters_.set_index(["parameter", "feature"])
    for at, name in enumerate(FRAME.columns):
        exact = stats.norm(mean[at], np.sqrt(spread[at, at]))
        row = found.loc[("mean", name)]
        np.testing.assert_allclose(row[["lower", "upper"]].to_numpy(float), exact.interval(0.95), rtol=1e-6)
        np.testing.assert_allclose(found.loc[("sd", name), "estimate"], np.sqrt(covariance[at, at]), rtol=1e-5)


def test_it_may_be_stated_in_the_schema_in_a_file_or_in_code(tmp_path):
    stated = one_cluster(schema_of(ALONE))
    in_code = one_cluster(schema_of(), hyperparameters=ALONE)
    assert stated.log_joint_ == in_code.log_joint_
    assert stated.hyperparameters_["x"]["rate"] == pytest.approx(stated.hyperparameters_["x"]["shape"] * 4.0)
    schema = cc.FeatureSchema.from_yaml(schema_of(ALONE).to_yaml())
    assert schema == schema_of(ALONE)
    assert schema["x"].prior["known_variance"] == 4.0
    loaded = cc.MAPDP.load(stated.save(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.score_samples(FRAME), stated.score_samples(FRAME))


def test_what_is_known_is_not_chosen():
    schema = schema_of({"x": {"known_variance": 4.0}})
    found = quick_fit(FRAME, schema, hyperparameters="greedy", n_restarts=1).hyperparameters_["x"]
    assert found["rate"] / found["shape"] == pytest.approx(4.0)
    assert found["shape"] == 5e7


@pytest.mark.parametrize(
    ("fields", "prior", "words"),
    [
        ({"likelihood": "gaussian"}, {"known_variance": 4.0, "shape": 1.0}, "says shape and rate as well; leave"),
        ({"likelihood": "gaussian"}, {"known_variance": 0.0}, "known_variance must be greater than 0, not 0"),
        ({"likelihood": "gaussian"}, {"known_variance": [4.0]}, "known_variance must be one number"),
        ({"likelihood": "poisson"}, {"known_variance": 4.0}, "poisson has no hyperparameter 'known_variance'"),
        ({"likelihood": "gaussian"}, {"known_varianc": 4.0}, "Did you mean 'known_variance'"),
        (IN_BLOCK, {"known_covariance": 4.0}, "known_covariance must be a list of numbers"),
    ],
)
def test_what_cannot_be_known_so_is_refused(fields, prior, words):
    with pytest.raises(cc.SchemaError, match=words):
        cc.Feature(name="x", prior=prior, **fields)


def test_a_variance_that_the_values_cannot_have_is_refused_by_its_name():
    with pytest.raises(
        InputError, match=r"x: known_variance 1e[+]20 cannot be used .* and must lie between 2e-14 and 20000"
    ):
        one_cluster(schema_of({"x": {"known_variance": 1e20}}))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"x": BLOCK["x"]}, "y: the covariance of its block is known: give its row of known_covariance too"),
        ({"y": BLOCK["y"]}, "y: degrees 1e[+]08 is not that of its block"),
        ({"x": {"known_covariance": [4.0, 1.0]}}, "x: scatter must hold 1 number"),
        ({"x": {"known_covariance": [1.0]}, "y": {"known_covariance": [3.0, 4.0]}}, "positive definite"),
    ],
)
def test_the_covariance_of_a_block_is_known_of_all_its_features(given, words):
    with pytest.raises(InputError, match=words):
        one_cluster(schema_of(**IN_BLOCK), hyperparameters=given)
