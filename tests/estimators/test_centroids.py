"""The parameters of subtypes are the textbook's posteriors of the values in them, in the unit of the column."""

import numpy as np
import pandas as pd
import pytest
from cohorts import quick_fit, schema_of
from scipy import stats

import clinclust as cc
from schemas import stored_schema

RNG = np.random.default_rng(8)
N = 60
GROUPS = np.arange(N) % 3
SCHEMA = stored_schema("centroids")
FRAME = pd.DataFrame(
    {
        "gäit": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(5.0 * GROUPS)),
        "crp": np.exp(RNG.normal(2.0 * GROUPS)),
        "falls": RNG.poisson(1 + 6 * GROUPS),
        "stay": RNG.exponential(1.0 + 5 * GROUPS),
        "visits": RNG.poisson(1 + 3 * GROUPS),
        "sex": np.where(RNG.random(N) < 0.2 + 0.3 * GROUPS, "female", "male"),
        "pain": 1 + RNG.binomial(4, 0.2 + 0.3 * GROUPS),
        "class": np.array(["NYHA I", "NYHA II", "NYHA III"])[RNG.binomial(2, 0.2 + 0.3 * GROUPS)],
        "stage": RNG.binomial(2, 0.2 + 0.3 * GROUPS),
        "kind": np.array(["a", "b, c", "d"])[GROUPS],
        "drinks": np.where(RNG.random(N) < 0.3, 0, RNG.poisson(2 + 6 * GROUPS) + 1),
        "nothing": np.nan,
    },
    index=["x", *range(N - 1)],
)


@pytest.fixture(scope="module")
def model():
    with pytest.warns(cc.CohortWarning, match="nothing"):
        return quick_fit(FRAME, SCHEMA, init=GROUPS, max_sweeps=200, n_restarts=1)


def rows(model, feature, subtype, parameter=None):
    found = model.cluster_parameters_
    found = found[(found["feature"] == feature) & (found["subtype"] == subtype)]
    return found if parameter is None else found[found["parameter"] == parameter]


def expected(name, h, x):
    """Return scipy's posterior of the centre of values of one subtype, its name, and the way back to the unit."""
    n, total = len(x), x.sum()
    if name in ("gäit", "crp"):
        for value in x:
            h = {
                "mean": (h["kappa"] * h["mean"] + value) / (h["kappa"] + 1),
                "kappa": h["kappa"] + 1,
                "shape": h["shape"] + 0.5,
                "rate": h["rate"] + h["kappa"] * (value - h["mean"]) ** 2 / (2 * (h["kappa"] + 1)),
            }
        return stats.t(2 * h["shape"], h["mean"], np.sqrt(h["rate"] / (h["shape"] * h["kappa"])))
    if name == "falls":
        return stats.gamma(h["shape"] + total, scale=1 / (h["rate"] + n))
    if name == "stay":
        return stats.invgamma(h["shape"] + n, scale=h["rate"] + total)
    if name == "visits":
        return stats.betaprime(h["b"] + total, h["a"] + n)
    trials = {"sex": 1, "pain": 4, "class": 2}[name]
    return stats.beta(h["a"] + total, h["b"] + n * trials - total, scale=trials)


CASES = {
    "gäit": ("mean", lambda x: x),
    "crp": ("back-transformed mean", np.exp),
    "falls": ("mean", lambda x: x),
    "stay": ("mean", lambda x: x),
    "visits": ("mean", lambda x: x),
    "sex": ("probability", lambda x: x),
    "pain": ("mean", lambda x: x + 1),
    "class": ("mean", lambda x: x + 1),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_the_posterior_of_the_values_in_the_subtype(model, name):
    parameter, back = CASES[name]
    whole = model.schema_.validate(FRAME, warn=False)[name]
    values = SCHEMA[name].transformed(whole) - SCHEMA[name].lowest
    for subtype in range(1, 4):
        inside = values[(model.labels_ == subtype - 1) & ~np.isnan(values)]
        posterior = expected(name, model.hyperparameters_[name], inside)
        (row,) = rows(model, name, subtype, parameter).to_dict("records")
        assert row["level"] == ("female" if name == "sex" else "")
        found = [row[end] for end in ("estimate", "lower", "upper")]
        centre = posterior.mean() if name != "crp" else posterior.median()
        np.testing.assert_allclose(found, back(np.array([centre, *posterior.interval(0.95)])), rtol=1e-8)
    assert len(rows(model, name, 1)) == (2 if name == "gäit" else 1)  # a measurement has an SD as well


def test_levels_have_a_row_each(model):
    for name, levels in (("kind", ["a", "b, c", "d"]), ("stage", ["0", "1", "2"])):
        found = rows(model, name, 2, "probability")
        assert found["level"].tolist() == levels
        assert found["estimate"].sum() == pytest.approx(1.0)
        assert ((found["lower"] < found["estimate"]) & (found["estimate"] < found["upper"])).all()
    concentrations = np.array(model.hyperparameters_["kind"]["concentrations"])
    counts = (FRAME["kind"][model.labels_ == 1].to_numpy() == np.array([["a"], ["b, c"], ["d"]])).sum(axis=1)
    exact = stats.beta(concentrations + counts, (concentrations + counts).sum() - concentrations - counts)
    np.testing.assert_allclose(rows(model, "kind", 2)["upper"], exact.ppf(0.975), rtol=1e-9)


def test_a_feature_of_two_parts_has_those_of_both(model):
    assert rows(model, "drinks: spike", 1)[["parameter", "level"]].to_numpy().tolist() == [["probability", "0"]]
    rest = FRAME["drinks"][(model.labels_ == 0) & (FRAME["drinks"] > 0).to_numpy()]
    (found,) = rows(model, "drinks: rest", 1)["estimate"]
    prior = model.hyperparameters_["drinks: rest"]
    above_one = (prior["shape"] + (rest - 1).sum()) / (prior["rate"] + rest.size)
    assert found == pytest.approx(1 + above_one, rel=1e-9)


def test_the_rows_are_in_the_order_of_the_schema_and_tell_of_no_uninformative_feature(model):
    found = model.cluster_parameters_
    assert found["feature"].drop_duplicates().tolist() == [
        *(name for name in SCHEMA.names if name not in ("drinks", "nothing")),
        "drinks: spike",
        "drinks: rest",
    ]
    assert found.loc[found["feature"] == "gäit", "subtype"].tolist() == [1, 2, 3] * 2
    assert np.isfinite(found[["estimate", "lower", "upper"]]).all(axis=None)


def test_a_subtype_of_several_clusters_is_one_sample_and_a_saved_model_keeps_it(model, tmp_path):
    one = model.cut(1)
    (found,) = rows(one, "falls", 1).to_dict("records")
    posterior = expected("falls", model.hyperparameters_["falls"], FRAME["falls"].to_numpy())
    np.testing.assert_allclose([found["lower"], found["upper"]], posterior.interval(0.95), rtol=1e-9)
    loaded = cc.MAPDP.load(model.save(tmp_path / "model"))
    pd.testing.assert_frame_equal(loaded.cluster_parameters_, model.cluster_parameters_)


def test_a_block_has_the_parameters_of_each_measurement_alone():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"a": rng.normal(0, 1, 40), "b": rng.normal(50, 9, 40)})
    fields = {"likelihood": "multivariate_gaussian", "block": "size"}
    model = quick_fit(frame, schema_of([], a=fields, b=fields), init="single", n_restarts=1).cut(1)
    found = rows(model, "b", 1, "mean").iloc[0]
    assert found["estimate"] == pytest.approx(frame["b"].mean(), abs=1e-6)
    assert found["upper"] - found["lower"] == pytest.approx(2 * 2.02 * frame["b"].std() / np.sqrt(40), rel=0.2)
