"""Filling in: only what is missing, only what the schema allows, and as the posterior predictive says."""

import numpy as np
import oracles
import pandas as pd
import pytest
from cohorts import LEVELS, LIKELIHOODS, mixed_cohort, quick_fit, schema_of

from clinclust import CohortWarning, Feature, FeatureSchema
from clinclust.estimators.mapdp import NONE_OF_THESE

INVERSE = {"log": np.exp, "log1p": np.expm1, "sqrt": np.square}


@pytest.fixture(scope="module")
def cohort():
    frame, schema, columns, _ = mixed_cohort(13, n=60, likelihoods=(*LIKELIHOODS, "gaussian"), missing=0.2)
    return frame, schema, columns, quick_fit(frame, schema, n_restarts=6)


def scored(frame, schema):
    """Return a validated frame as numbers."""
    return pd.DataFrame({feature.name: feature.scores(frame[feature.name]) for feature in schema}, index=frame.index)


def test_only_what_is_missing_is_filled_and_validly(cohort):
    frame, schema, _, model = cohort
    frame = frame.set_axis([i // 2 for i in range(60)], axis="index")  # labels of rows may repeat
    before = schema.validate(frame)
    filled = model.impute(frame)
    assert not filled.isna().any(axis=None)
    pd.testing.assert_frame_equal(schema.validate(filled, warn=False), filled)
    pd.testing.assert_frame_equal(filled.where(before.notna().to_numpy()), before)
    assert filled.index.equals(frame.index)
    assert (model.impute(filled).to_numpy() == filled.to_numpy()).all()  # nothing left to do
    pd.testing.assert_frame_equal(schema.validate(frame), before)  # the table given is not changed


@pytest.mark.parametrize("name", [f"{likelihood}_{index}" for index, likelihood in enumerate(LIKELIHOODS)])
def test_the_mean_is_that_of_all_clusters_by_their_probabilities(name, cohort):
    frame, schema, columns, model = cohort
    likelihood, trials, values = columns[name]
    subjects = frame.iloc[:4].assign(**{name: None})
    filled = scored(model.impute(subjects)[[name]], [schema[name]])[name].to_numpy()
    groups = [values[(model.labels_ == k) & ~np.isnan(values)] for k in range(model.n_clusters_)]
    parts = [oracles.predictive(likelihood, model.hyperparameters_[name], group, trials) for group in [*groups, []]]
    weights = model.predict_proba(subjects)
    if likelihood == "categorical":
        expected = (weights @ np.array([part.pmf(np.arange(len(LEVELS))) for part in parts])).argmax(axis=1)
    else:
        means = [part.mean() if np.isfinite(part.mean()) else part.median() for part in parts]
        expected = weights @ means if likelihood in ("exponential", "gaussian") else np.rint(weights @ means)
    np.testing.assert_allclose(filled, expected, rtol=1e-6)


def test_who_is_none_of_these_gets_the_prior(cohort):
    frame, _, _, model = cohort
    stranger = frame.head(1).assign(gaussian_6=1e9, gaussian_7=None)
    assert model.predict(stranger).tolist() == [NONE_OF_THESE]
    prior = model.hyperparameters_["gaussian_7"]
    assert model.impute(stranger)["gaussian_7"].iloc[0] == pytest.approx(prior["mean"], rel=1e-9)


@pytest.mark.parametrize("transform", INVERSE)
@pytest.mark.parametrize("likelihood", ["gaussian", "exponential"])
def test_transforms_are_undone(transform, likelihood):
    rng = np.random.default_rng(1)
    z = rng.gamma(3.0, 1.0, 40)
    x = INVERSE[transform](z)
    schema = schema_of([], x={"likelihood": likelihood, "transform": transform}, y="gaussian")
    frame = pd.DataFrame({"x": np.append(x, np.nan), "y": rng.normal(size=41)})
    model = quick_fit(frame, schema, n_restarts=1, init=np.zeros(41), concentration=1e-9)
    assert model.n_clusters_ == 1
    predictive = oracles.predictive(likelihood, model.hyperparameters_["x"], z)
    assert model.impute(frame)["x"].iloc[40] == pytest.approx(INVERSE[transform](predictive.mean()), rel=1e-6)


@pytest.mark.filterwarnings("ignore:.*no observed value in any feature", "ignore:.*values lie beyond")
def test_every_value_respects_the_limits_of_the_schema():
    rng = np.random.default_rng(3)
    n, levels = 30, ("0", "1", "1.5", "2")
    columns = {
        "count": ({"likelihood": "poisson", "minimum": 2, "maximum": 6}, rng.integers(2, 7, n)),
        "failures": ({"likelihood": "geometric", "maximum": 3, "prior": {"a": 0.05, "b": 3.0}}, rng.integers(0, 4, n)),
        "years": ({"likelihood": "exponential", "minimum": 0.5, "maximum": 4}, rng.uniform(0.5, 4, n)),
        "crp": ({"likelihood": "gaussian", "transform": "log", "maximum": 9}, rng.uniform(0.1, 9, n)),
        "area": ({"likelihood": "gaussian", "transform": "sqrt"}, rng.uniform(0, 0.5, n)),
        "delta": ({"likelihood": "gaussian", "minimum": -1, "maximum": 1}, rng.uniform(-1, 1, n)),
        "heavy": ({"likelihood": "gaussian", "transform": "log", "prior": {"shape": 0.02}}, rng.lognormal(0, 1, n)),
        "scale": ({"likelihood": "binomial", "minimum": 1, "maximum": 5}, rng.integers(1, 6, n)),
        "stage": ({"likelihood": "binomial", "levels": levels}, rng.choice(levels, n)),
        "sex": ({"likelihood": "bernoulli", "levels": ("no", "yes")}, rng.choice(["no", "yes"], n)),
    }
    schema = FeatureSchema([Feature(name=name, **fields) for name, (fields, _) in columns.items()])
    frame = pd.DataFrame({name: values for name, (_, values) in columns.items()})
    model = quick_fit(frame, schema, concentration=20.0)
    filled = model.impute(pd.DataFrame({name: [None] * 2 for name in frame}, dtype=object))
    pd.testing.assert_frame_equal(schema.validate(filled, warn=False), filled)


def test_described_columns_and_identifiers_stay_as_they_are():
    frame, schema, _, _ = mixed_cohort(2, n=40, missing=0.3)
    schema = FeatureSchema(
        [
            Feature(name="who", role="id"),
            Feature(name="age", role="describe", likelihood="gaussian"),
            *schema,
            Feature(name="note", role="ignore"),
            Feature(name="same", likelihood="gaussian"),
        ]
    )
    whole = frame.assign(who=[f"s{i}" for i in range(40)], age=np.where(np.arange(40) % 3, 50.0, np.nan), note="x")
    whole["same"] = np.where(np.arange(40) % 2, 1.0, np.nan)
    with pytest.warns(UserWarning, match="same"):
        model = quick_fit(whole, schema, n_restarts=3)
    with pytest.warns(CohortWarning, match=r"stay missing in age \(14\), same \(20\)") as warned:
        filled = model.impute(whole)
    assert warned[0].filename == __file__
    validated = schema.validate(whole, warn=False)
    pd.testing.assert_frame_equal(filled[["who", "age", "same"]], validated[["who", "age", "same"]])
    assert list(filled) == [name for name in schema.names if name != "note"]
    pd.testing.assert_frame_equal(model.impute(frame), filled[list(frame)])
    assert not filled[list(frame)].isna().any(axis=None)
