"""Wide tables: the features that differ, and the strength of the priors, are found before the search."""

import numpy as np
import pandas as pd
import pytest
from attack.joint_law import joint_with
from cohorts import EVERY_LIKELIHOOD, gaussian_schema, mixed_cohort
from partitioned_tables import cut, in_partitions
from scored import few
from sklearn.metrics import adjusted_rand_score

import clinclust as cc
from clinclust.engine.joint_estimates.resolution import log_inclusion
from clinclust.engine.problem.problem import log_crp

QUICK = {"n_clusters": None, "calibrate": False, "n_restarts": 3, "n_jobs": 1, "random_state": 0, "progress": False}
STRENGTHS = "clinclust.engine.joint_estimates.resolution._STRENGTHS"


def measurements(values):
    frame = pd.DataFrame(values).rename(columns="x{}".format)
    return frame, gaussian_schema(frame)


def three_groups(n=300, n_features=60, n_telling=10, apart=4.5):
    """Three groups, each as far from the others, along two random directions of the first features."""
    rng, groups = np.random.default_rng(0), np.arange(n) % 3
    values = rng.normal(size=(n, n_features))
    corners = np.array([[1.0, 0.0], [-0.5, 0.75**0.5], [-0.5, -(0.75**0.5)]]) * apart / 3**0.5
    directions = np.linalg.qr(rng.normal(size=(n_telling, 2)))[0]
    values[:, :n_telling] += (corners @ directions.T)[groups]
    return *measurements(values), groups


def fitted(frame, schema, **options):
    return cc.MAPDP(schema, **{**QUICK, **options}).fit(frame)


@pytest.fixture(scope="module", params=few([None, 4.0], 1), ids=["strength found", "strength 4"])
def wide(request):
    frame, schema, groups = three_groups()
    with pytest.MonkeyPatch.context() as patch:
        if request.param is not None:
            patch.setattr(STRENGTHS, (request.param,))
        model = fitted(frame, schema)
    assert request.param in (None, model.prior_strength_)
    return model, frame, groups


def test_groups_that_the_other_features_hide_are_found(wide):
    model, frame, groups = wide
    assert adjusted_rand_score(groups, model.labels_) >= 0.8
    is_telling = frame.columns.isin(model.selected_features_)
    assert is_telling[:10].sum() >= 7
    assert is_telling[10:].sum() <= 3
    assert fitted(frame, model.schema_, select_features=False).n_clusters_ == 1


@pytest.mark.simulation
def test_differences_that_are_small_in_every_feature_are_found():
    rng, groups = np.random.default_rng(0), np.arange(90) % 3
    frame, schema = measurements(rng.normal(size=(90, 200)) + (0.4 * rng.normal(size=(3, 200)))[groups])
    assert adjusted_rand_score(groups, fitted(frame, schema).labels_) >= 0.9


@pytest.mark.simulation
def test_noise_is_one_subtype():
    model = cc.MAPDP(n_restarts=3, n_jobs=1, random_state=0, progress=False).fit(
        np.random.default_rng(0).normal(size=(60, 200))
    )
    assert model.n_clusters_ == 1
    assert model.prior_strength_ == 0.0
    assert len(model.selected_features_) == 200


def test_a_table_of_few_features_is_searched_as_without_selection():
    frame, schema, _ = three_groups(n=90, n_features=20, apart=8.0)
    one, other = (fitted(frame, schema, select_features=value) for value in ("auto", False))
    assert one.n_clusters_ > 1
    assert one.log_joint_.hex() == other.log_joint_.hex()
    assert one.log_joint_trace_.tobytes() == other.log_joint_trace_.tobytes()
    assert one.membership_.tobytes() == other.membership_.tobytes()
    assert one.hyperparameters_ == other.hyperparameters_
    pd.testing.assert_frame_equal(one.restarts_, other.restarts_, check_exact=True)


def test_the_joint_is_that_of_all_features_and_of_the_selection(wide):
    model, frame, _ = wide
    selected = frame.columns.isin(model.selected_features_)
    assert 0 < selected.sum() < selected.size

    def joint(chosen, labels):
        schema = cc.FeatureSchema([model.schema_[name] for name in frame.columns[chosen]])
        named = {name: model.hyperparameters_[name] for name in schema.names}
        settings = {"coarsening": model.coarsening_, "outlying_share": model.outlying_share_}
        aside = model.outliers_[:, chosen]
        return joint_with(frame.loc[:, chosen], labels, schema, named, **settings, outlying=aside)

    together = np.zeros(len(frame), dtype=int)
    of_the_others = joint(~selected, together) - log_crp(np.array([float(len(frame))]), 3.0)
    prior = log_inclusion(int(selected.sum()), selected.size)
    assert model.log_joint_ == pytest.approx(joint(selected, model.labels_) + of_the_others + prior, rel=1e-10)
    assert model.log_joint_ == model.restarts_["log_joint"].max() == model.log_joint_trace_[-1]
    assert model.tuning_["log_joint"].tolist() == [pytest.approx(model.log_joint_)]


@pytest.mark.simulation
def test_the_priors_weigh_as_many_subjects_more(wide):
    model, frame, _ = wide
    default = fitted(frame, model.schema_, select_features=False, coarsening=1.0, n_restarts=1).hyperparameters_
    for name, named in model.hyperparameters_.items():
        assert named["kappa"] == pytest.approx(default[name]["kappa"] + model.prior_strength_)
        assert named["shape"] == pytest.approx(default[name]["shape"] + model.prior_strength_ / 2.0)


def test_stated_hyperparameters_stay(monkeypatch):
    monkeypatch.setattr(STRENGTHS, (4.0,))
    frame, schema, _ = three_groups()
    of_schema, in_code = {"mean": 0.1}, {"kappa": 0.5, "shape": 2.0}
    features = [cc.Feature(name="x0", likelihood="gaussian", prior=of_schema), *list(schema)[1:]]
    model = fitted(frame, cc.FeatureSchema(features), hyperparameters={"x1": in_code})
    assert model.prior_strength_ == 4.0
    assert model.hyperparameters_["x0"]["mean"] == 0.1
    assert model.hyperparameters_["x0"]["kappa"] < 1.0
    assert {name: model.hyperparameters_["x1"][name] for name in in_code} == pytest.approx(in_code)
    assert model.hyperparameters_["x2"]["kappa"] > 4.0


def test_every_likelihood_is_searched_so(monkeypatch):
    monkeypatch.setattr(STRENGTHS, (1.0,))
    likelihoods = [name for name in EVERY_LIKELIHOOD if name != "multivariate_gaussian"]
    frame, schema, _, _ = mixed_cohort(1, 60, likelihoods * 3)
    model = fitted(frame, schema, coarsening=1.0, outlying_share=0.0)
    assert model.prior_strength_ == 1.0
    expected = joint_with(frame, model.labels_, schema, model.hyperparameters_, select_features=True)
    assert model.log_joint_ <= expected + 1e-6


@pytest.mark.simulation
def test_associations_are_validated_without_each_feature():
    frame, schema, _ = three_groups(n=90, n_features=24, apart=7.0)
    model = fitted(frame, schema)
    assert len(model.selected_features_) < 24
    found = cc.validated_associations(model, frame, n_restarts=1, n_jobs=1, progress=False).set_index("feature")
    assert (found.loc[model.feature_relevance_.index[:3], "p"] < 0.01).all()


@pytest.mark.simulation
def test_partitions_select_nothing():
    frame, schema, _ = three_groups(n=90, n_features=22, apart=8.0)
    table = in_partitions(*cut(frame, 2))
    one, other = (fitted(table, schema, select_features=value) for value in ("auto", False))
    assert one.n_clusters_ > 1
    assert one.log_joint_.hex() == other.log_joint_.hex()
    assert one.labels_.compute().tolist() == other.labels_.compute().tolist()
