"""Two-part features: exactly two columns of the engine, and one feature for everybody else."""

import numpy as np
import pandas as pd
import pytest
from cohorts import quick_fit, schema_of
from problems import problem_of
from sklearn.metrics import adjusted_rand_score

import clinclust as cc
from clinclust.associations.associate import FeatureTests
from clinclust.engine.continuum.null_cohorts import one_population, smoothed_population
from clinclust.estimators.subtype_model import cohort_of

TRANSFORMS = {"gaussian": "log"}


def amounts(likelihood, rng, level, n):
    """Return values other than 0, float64 (n,)."""
    if likelihood == "gaussian":
        return np.exp(rng.normal(level, 1.0, n))
    if likelihood == "exponential":
        return rng.exponential(np.exp(level), n)
    return 1.0 + rng.poisson(np.exp(level), n)


def cohort(seed, n=200, spike=(0.2, 0.7), level=(1.0, 0.0), likelihoods=("gaussian", "poisson"), missing=0.0, k=2):
    """Return a table, its schema and the groups: features with zeros, and two measurements."""
    rng = np.random.default_rng(seed)
    group = rng.integers(k, size=n)
    frame, features = {}, []
    for place, likelihood in enumerate(likelihoods):
        values = amounts(likelihood, rng, np.array(level)[group], n)
        values[rng.random(n) < np.array(spike)[group]] = 0.0
        values[rng.random(n) < missing] = np.nan
        name = f"{likelihood}{place}"
        frame[name] = values
        transform = TRANSFORMS.get(likelihood)
        features.append(cc.Feature(name=name, likelihood=likelihood, transform=transform, spike=0))
    for name in "ab":
        frame[name] = rng.normal(group, 1.0)
        features.append(cc.Feature(name=name, likelihood="gaussian"))
    return pd.DataFrame(frame), cc.FeatureSchema(features), group


def by_hand(frame, schema):
    """Return the table and the schema with two columns for each feature that has zeros."""
    columns, features = {}, []
    for feature in schema:
        values = frame[feature.name]
        if not feature.spike:
            columns[feature.name] = values
            features.append(feature)
            continue
        rest = values.where(values != 0.0) - (1.0 if feature.traits.is_count else 0.0)
        columns[f"{feature.name} at"] = (values == 0.0).astype(float).where(values.notna())
        columns[f"{feature.name} rest"] = rest
        features.append(cc.Feature(name=f"{feature.name} at", likelihood="bernoulli"))
        content = {**feature.content(), "name": f"{feature.name} rest"}
        del content["spike"]
        features.append(cc.Feature(**content))
    return pd.DataFrame(columns), cc.FeatureSchema(features)


@pytest.fixture(scope="module")
def fitted():
    frame, schema, group = cohort(1, n=240, missing=0.05)
    model = quick_fit(frame, schema, n_restarts=3)
    return model, frame, schema, group


# --- the engine ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("likelihood", ["gaussian", "exponential", "poisson", "geometric", "negative_binomial"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_joint_is_that_of_two_columns(likelihood, missing):
    frame, schema, group = cohort(2, likelihoods=[likelihood], missing=missing)
    two = by_hand(frame, schema)
    for labels in (group, np.zeros_like(group), np.arange(len(group)) % 5):
        assert cc.log_joint(frame, labels, schema) == pytest.approx(cc.log_joint(two[0], labels, two[1]), rel=1e-10)


def test_several_point_masses_are_the_levels_of_one_column():
    rng = np.random.default_rng(3)
    values, group = np.exp(rng.normal(size=150)).round(3), rng.integers(3, size=150)
    cells = values.astype(str).astype(object)
    cells[::3], cells[1::5] = "0", "<0.1"
    schema = cc.FeatureSchema([cc.Feature(name="x", likelihood="gaussian", transform="log", spike=0, limit="below")])
    levels = pd.Series(cells).map({"0": "zero", "<0.1": "below"}).fillna("other")
    table = pd.DataFrame({"at": levels, "rest": np.where(levels == "other", values, np.nan)})
    at = {"likelihood": "categorical", "levels": ["other", "below", "zero"]}
    two = schema_of([], at=at, rest={"transform": "log"})
    one = cc.log_joint(pd.DataFrame({"x": cells}), group, schema)
    assert one == pytest.approx(cc.log_joint(table, group, two), rel=1e-10)


def test_the_fit_is_that_of_two_columns_and_relevance_is_their_sum(fitted):
    model, frame, schema, _ = fitted
    table, two = by_hand(frame, schema)
    other = quick_fit(table, two, n_restarts=3)
    assert other.log_joint_ == pytest.approx(model.log_joint_, rel=1e-10)
    np.testing.assert_array_equal(other.labels_, model.labels_)
    relevance = other.feature_relevance_
    for feature in schema:
        parts = [feature.name] if not feature.spike else [f"{feature.name} at", f"{feature.name} rest"]
        assert model.feature_relevance_[feature.name] == pytest.approx(relevance[parts].sum())
    np.testing.assert_allclose(model.predict_proba(frame), other.predict_proba(table), rtol=1e-8)
    np.testing.assert_allclose(model.score_samples(frame), other.score_samples(table), rtol=1e-8)


def test_hyperparameters_are_those_of_the_parts_and_taken_back(fitted):
    model, frame, schema, _ = fitted
    assert set(model.hyperparameters_["gaussian0: spike"]) == {"a", "b"}
    assert set(model.hyperparameters_["gaussian0: rest"]) == {"mean", "kappa", "shape", "rate"}
    joint = cc.log_joint(frame, model.labels_, schema, model.hyperparameters_, model.concentration_)
    assert joint == pytest.approx(model.log_joint_, rel=1e-10)
    stated = {"gaussian0: spike": {"a": 7.0}}
    again = quick_fit(frame, schema, hyperparameters=stated, n_restarts=1)
    assert again.hyperparameters_["gaussian0: spike"]["a"] == 7.0


@pytest.mark.parametrize("any_shape", [False, True])
def test_in_drawn_cohorts_the_amount_is_missing_exactly_at_the_spike(any_shape):
    frame, schema, _ = cohort(4, missing=0.1)
    part = problem_of(frame, schema)
    population = one_population(part, np.random.default_rng(0))
    if any_shape:
        population = smoothed_population(population, np.random.default_rng(0))
    drawn = population.draw(np.random.default_rng(1))[0].cohort
    names = [feature.name for feature in drawn.encoding.features]
    arrays, n_table = drawn.arrays, drawn.arrays.codes.shape[1]
    at = arrays.codes[:, names.index("gaussian0: spike")]
    is_spike = arrays.level_values[at] == 1.0
    amount = arrays.values[:, names.index("gaussian0: rest") - n_table]
    np.testing.assert_array_equal(np.isnan(amount), is_spike | (at == 0))
    if not any_shape:  # there, the draw misses what its subject misses
        np.testing.assert_array_equal(at == 0, part.cohort.arrays.codes[:, names.index("gaussian0: spike")] == 0)
    counts = arrays.codes[:, names.index("poisson1: rest")]
    at = arrays.codes[:, names.index("poisson1: spike")]
    np.testing.assert_array_equal(counts == 0, (arrays.level_values[at] == 1.0) | (at == 0))


# --- one feature for everybody else -------------------------------------------------------------------------------


def test_an_explanation_has_one_row_for_the_feature(fitted):
    model, frame, _, _ = fitted
    told = model.explain(frame.iloc[:3])
    assert set(told["feature"]) <= {*model.schema_.names, "(size of the subtypes)"}
    odds = np.log(model.predict_proba(frame.iloc[:3]))
    for row in range(3):
        own = told[told["subject"] == row]
        expected = odds[row, own["subtype"].iloc[0] - 1] - odds[row, own["against"].iloc[0] - 1]
        assert own["log_odds"].sum() == pytest.approx(expected)


def test_an_imputed_value_is_the_spike_or_another_possible_value(fitted):
    model, frame, schema, _ = fitted
    filled = model.impute(frame)
    for feature in schema:
        was = frame[feature.name].notna()
        np.testing.assert_array_equal(filled[feature.name][was].to_numpy(float), frame[feature.name][was])
        assert filled[feature.name].notna().all()
    assert (filled["gaussian0"] >= 0.0).all()
    assert filled["poisson1"].isin(range(100)).all()
    for table in model.multiple_imputations(frame, 2, n_sweeps=1, random_state=0):
        assert (table["gaussian0"] >= 0.0).all()
        assert table["poisson1"].notna().all()


@pytest.mark.simulation
def test_drawn_values_are_at_the_spike_as_often_as_the_model_says():
    frame, schema, _ = cohort(5, n=400, spike=(0.6, 0.6), level=(0.0, 0.0))
    frame.loc[300:, "gaussian0"] = np.nan
    model = quick_fit(frame, schema, n_restarts=1)
    drawn = [table["gaussian0"][300:] for table in model.multiple_imputations(frame, 20, n_sweeps=1, random_state=0)]
    assert np.mean([(column == 0.0).mean() for column in drawn]) == pytest.approx(0.6, abs=0.08)
    assert (model.impute(frame)["gaussian0"][300:] == 0.0).all()


def test_both_parts_are_left_out_together_and_have_one_p(fitted):
    model, frame, schema, _ = fitted
    found = cc.validated_associations(model, frame, progress=False, n_restarts=1)
    assert found["feature"].tolist() == list(schema.names)
    assert found["test"].iloc[0].startswith("Fisher's combination of chi-squared, Mann-Whitney")
    assert found["left_out"].isna().all()
    from clinclust.associations.refit import TestRules, refit_plan

    tests = FeatureTests(cohort_of(model, frame), refit_plan(model, 0, 1), TestRules(3))
    assert len(tests.places["gaussian0"]) == 2
    alone = tests.sharing_a_search([schema["gaussian0"], schema["a"]])
    assert [len(group) for group in alone] == [1, 1]


def test_few_amounts_are_described_only_and_the_fit_says_so():
    frame, schema, _ = cohort(6, spike=(0.97, 0.93))
    with pytest.warns(cc.CohortWarning, match=r"gaussian0: rest \(.* of 200 values only"):
        model = quick_fit(frame, schema, n_restarts=1)
    assert "gaussian0: rest" in model.uninformative_
    assert "gaussian0" not in model.uninformative_
    assert "gaussian0" in model.feature_relevance_
    frame.loc[:9, "gaussian0"] = np.nan
    assert model.impute(frame)["gaussian0"].notna().all()


def test_what_would_fill_in_an_amount_is_refused():
    frame, schema, _ = cohort(7)
    with pytest.raises(ValueError, match="spike or a limit"):
        cc.methods.PublishedMAPDP(schema, missing="mode", progress=False).fit(frame)


# --- many cohorts -------------------------------------------------------------------------------------------------


def recommended(frame, schema):
    return cc.MAPDP(schema, random_state=0, progress=False).fit(frame)


@pytest.mark.simulation
@pytest.mark.filterwarnings("ignore::clinclust.errors.CohortWarning")  # of few amounts, and of likelihoods
@pytest.mark.parametrize("share", [0.05, 0.25, 0.5, 0.75, 0.95])
def test_noise_with_spikes_is_one_subtype(share):
    more = 0
    for seed in range(20):
        kinds = ("gaussian", "gaussian", "exponential", "poisson")
        frame, schema, _ = cohort(seed, spike=(share,), level=(0.0,), likelihoods=kinds, k=1)
        more += recommended(frame, schema).n_clusters_ > 1
    assert more <= 2


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("spike", "level", "least"),
    [((0.15, 0.75), (0.0, 0.0), 0.8), ((0.4, 0.4), (0.0, 2.0), 0.85)],
    ids=["share at the spike", "amounts"],
)
def test_subtypes_that_differ_in_one_part_only_are_found(spike, level, least):
    found = []
    for seed in range(8):
        frame, schema, group = cohort(seed, n=300, spike=spike, level=level, likelihoods=("gaussian",) * 8)
        model = recommended(frame.drop(columns=["a", "b"]), schema.restricted_to([f"gaussian{j}" for j in range(8)]))
        found.append(adjusted_rand_score(group, model.labels_))
    assert np.mean(found) >= least
