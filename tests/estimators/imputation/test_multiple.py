"""Multiple imputations: what is drawn, and that analyses of it are right."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from cohorts import EVERY_LIKELIHOOD, mixed_cohort, quick_fit, schema_of
from scipy import stats
from scipy.special import expit

import clinclust as cc
from clinclust.errors import CohortError, CohortWarning, InputError


def gaussian(name, **more):
    return cc.Feature(name=name, likelihood="gaussian", **more)


def draws_of(frame, features, m, **more):
    model = quick_fit(frame, cc.FeatureSchema(features))
    return model, model.multiple_imputations(frame, m=m, random_state=0, **more)


@pytest.fixture(scope="module")
def cohort():
    frame, schema, _, _ = mixed_cohort(7, n=60, likelihoods=EVERY_LIKELIHOOD, missing=0.25)
    return frame, schema, quick_fit(frame, schema)


def test_observed_values_stay_and_all_others_are_valid(cohort):
    frame, schema, model = cohort
    frame = frame.set_axis([i // 2 for i in range(60)], axis="index")  # labels of rows may repeat
    seen = schema.validate(frame, warn=False)
    tables = model.multiple_imputations(frame, m=3, n_sweeps=1, random_state=0)
    assert len(tables) == 3
    for table in tables:
        assert not table.isna().any(axis=None)
        pd.testing.assert_frame_equal(schema.validate(table, warn=False), table)
        pd.testing.assert_frame_equal(table.where(seen.notna().to_numpy()), seen)
        assert table.index.equals(frame.index)
    missing = seen.isna()
    for name in schema.names:
        drawn = pd.concat([table.loc[missing[name].to_numpy(), name] for table in tables], axis=1)
        assert any(len(set(row)) > 1 for row in drawn.to_numpy()), name


def test_draws_repeat_with_their_seed(cohort):
    frame, _, model = cohort
    first = model.multiple_imputations(frame, m=2, n_sweeps=1, random_state=3)
    again = model.multiple_imputations(frame, m=2, n_sweeps=1, random_state=np.random.default_rng(3))
    other = model.multiple_imputations(frame, m=2, n_sweeps=1, random_state=4)
    for one, two, three in zip(first, again, other, strict=True):
        pd.testing.assert_frame_equal(one, two, check_exact=True)
        assert not one.equals(three)


def test_outlying_values_stay_and_described_columns_are_drawn():
    rng = np.random.default_rng(9)
    X = rng.normal(np.repeat([0.0, 6.0], 40)[:, None], 1.0, (80, 4))
    X[3, 0], X[::4, 1], X[::7, 2] = 300.0, np.nan, np.nan
    frame = pd.DataFrame(X, columns=list("abcd")).assign(age=np.where(np.arange(80) % 3, 50.0 + X[:, 3], np.nan))
    model = quick_fit(frame, schema_of(frame, age={"role": "describe"}), outlying_share=0.01)
    assert model.outliers_[3, 0]
    for table in model.multiple_imputations(frame, m=3, n_sweeps=2, random_state=0):
        assert table.loc[3, "a"] == 300.0
        assert not table.isna().any(axis=None)
        assert (table["age"] - 50.0 - table["d"]).abs().max() < 2.0
        assert table[list("bc")].abs().to_numpy().max() < 20.0


def test_features_that_were_not_selected_are_drawn_from_all_subjects():
    rng = np.random.default_rng(10)
    groups = np.repeat([0.0, 8.0], 40)
    spread = rng.permutation(np.linspace(98.0, 102.0, 80))
    frame = pd.DataFrame({"a": rng.normal(groups), "b": rng.normal(groups), "c": spread})
    frame.loc[::3, "c"] = np.nan
    model = quick_fit(frame, select_features=True)
    assert model.n_clusters_ == 2
    assert model.selected_features_ == ["a", "b"]
    tables = model.multiple_imputations(frame, m=20, n_sweeps=1, random_state=0)
    drawn = np.array([table["c"].to_numpy()[::3] for table in tables])
    assert drawn.mean() == pytest.approx(frame["c"].mean(), abs=0.15)
    assert drawn.std() == pytest.approx(frame["c"].std(), rel=0.15)


def test_only_the_cohort_of_the_fit_is_imputed(cohort):
    frame, _, model = cohort
    with pytest.raises(CohortError, match="gaussian_8"):
        model.multiple_imputations(frame.drop(columns="gaussian_8"), m=2)
    with pytest.raises(InputError, match=r"m must be at least 1, not 0; n_sweeps must be at least 1, not -1"):
        model.multiple_imputations(frame, m=0, n_sweeps=-1)
    with pytest.raises(InputError, match="m must be a whole number"):
        model.multiple_imputations(frame, m=2.5)


@pytest.mark.simulation
def test_a_regression_is_found_again_where_its_regressor_is_missing_by_the_outcome():
    """Draws that are independent given the cluster gave .28, and .23 where the outcome was only described."""
    rng = np.random.default_rng(11)
    x0, x1 = rng.normal(size=(2, 2000))
    x0 += 0.3 * x1
    whole = pd.DataFrame({"x0": x0, "x1": x1, "y": 0.5 * x0 + 0.3 * x1 + rng.normal(size=2000)})
    frame = whole.assign(x0=whole["x0"].where(rng.random(2000) > 1 / (1 + np.exp(1.0 - 1.2 * whole["y"]))))
    frame.loc[frame["x0"].notna() & (np.arange(2000) % 5 == 0), "x1"] = np.nan
    assert abs(frame["x0"].mean() - whole["x0"].mean()) > 0.1
    _, tables = draws_of(frame, [gaussian("x0"), gaussian("x1"), gaussian("y", role="describe")], m=3)
    fits = [sm.OLS(table["y"], sm.add_constant(table[["x0", "x1"]])).fit() for table in tables]
    pooled = cc.pool_estimates([fit.params for fit in fits], [fit.bse**2 for fit in fits])
    assert pooled.loc["x0", "estimate"] == pytest.approx(0.5, abs=0.06)
    assert pooled.loc["x1", "estimate"] == pytest.approx(0.3, abs=0.06)
    assert np.mean([table["x0"].mean() for table in tables]) == pytest.approx(whole["x0"].mean(), abs=0.08)
    assert pooled.loc["x0", "se"] < 1.5 * sm.OLS(whole["y"], sm.add_constant(whole[["x0", "x1"]])).fit().bse["x0"]


@pytest.mark.simulation
def test_slopes_that_differ_between_subtypes_are_kept():
    rng = np.random.default_rng(12)
    second = np.repeat([0, 1], 300)
    x = rng.normal(size=600)
    frame = pd.DataFrame({"x": x, "y": np.where(second, 1.0, -1.0) * x + rng.normal(0, 0.5, 600)})
    for place in range(3):
        frame[f"w{place}"] = rng.normal(5.0 * second)
    frame["y"] = frame["y"].where(rng.random(600) > 1 / (1 + np.exp(0.5 - x)))
    model, tables = draws_of(frame, [gaussian(name) for name in frame], m=3)
    assert model.n_clusters_ == 2
    for group, slope in ((0, -1.0), (1, 1.0)):
        found = [np.polyfit(table["x"][second == group], table["y"][second == group], 1)[0] for table in tables]
        assert np.mean(found) == pytest.approx(slope, abs=0.15)


@pytest.mark.simulation
def test_draws_stay_near_the_data_where_much_is_missing_for_a_reason():
    """A chain whose margins followed single weights once ran away: 1e36 where the largest observed value was 4."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=200)
    frame = pd.DataFrame({"x": x, "log": np.exp(0.6 * x + rng.normal(0, 0.5, 200))})
    for place in range(4):
        frame[f"w{place}"] = 0.8 * x + rng.normal(0, 0.6, 200)
    for name in list(frame)[1:]:
        frame[name] = frame[name].where(rng.random(200) > 1 / (1 + np.exp(0.3 - 2.0 * x)))
    features = [gaussian(name, transform="log" if name == "log" else None) for name in frame]
    _, tables = draws_of(frame, features, m=3)
    assert max(table["log"].max() for table in tables) < frame["log"].max() ** 2
    assert all(table["w0"].std() < 1.5 for table in tables)


@pytest.mark.simulation
def test_a_subtype_without_any_value_has_the_distribution_of_all():
    rng = np.random.default_rng(13)
    second = np.repeat([0, 1], 60)
    frame = pd.DataFrame({name: rng.normal(6.0 * second) for name in "ab"})
    frame["h"] = np.where(second, np.nan, rng.normal(size=120))
    _, tables = draws_of(frame, [gaussian("a"), gaussian("b"), gaussian("h", role="describe")], m=4)
    drawn = np.array([table["h"][second == 1] for table in tables])
    assert np.abs(drawn.mean(axis=1)).max() < 1.0
    assert drawn.std(axis=1).max() < 2.0


@pytest.mark.simulation
def test_counts_are_drawn_between_and_beyond_the_observed_ones_and_measurements_within_reason():
    rng = np.random.default_rng(14)
    x = rng.normal(size=150)
    frame = pd.DataFrame({"x": x, "count": 5.0 * rng.poisson(np.exp(1.0 + 0.3 * x))})
    frame["late"] = np.expm1(np.abs(rng.normal(0.2 * x + 0.4, 0.4)))
    frame["limit"] = np.where(frame["late"] < 0.3, "<0.3", frame["late"].round(3).astype(str))
    for name in ("count", "late", "limit"):
        frame[name] = frame[name].where(rng.random(150) > 0.3)
    features = [gaussian("x"), cc.Feature(name="count", likelihood="negative_binomial")]
    features += [gaussian("late", transform="log1p"), gaussian("limit", transform="log", limit=["below"])]
    _, tables = draws_of(frame, features, m=2)
    counts = pd.concat([table["count"][frame["count"].isna()] for table in tables])
    assert (counts % 5 > 0).any()
    assert min(table["late"].min() for table in tables) >= 0.0
    measured = pd.concat([table["limit"][frame["limit"].isna()] for table in tables])
    assert np.isinf(measured).any()
    assert measured[~np.isinf(measured)].min() >= 0.3


def test_what_says_nothing_is_filled_from_what_is_observed_and_the_rest_is_told():
    rng = np.random.default_rng(15)
    frame = pd.DataFrame({"x": rng.normal(size=40), "same": 3.0, "one": np.nan, "none": np.nan})
    frame.loc[::4, "same"], frame.loc[3, "one"] = np.nan, 7.0
    features = [gaussian("x"), *(gaussian(name, role="describe") for name in ("same", "one", "none"))]
    with pytest.warns(CohortWarning, match="nothing is observed in none"):
        _, (table,) = draws_of(frame, features, m=1)
    assert (table["same"] == 3.0).all()
    assert (table["one"] == 7.0).all()
    assert table["none"].isna().all()


@pytest.fixture(scope="module")
def curved():
    """600 subjects, y by x and its square, x missing in half of them and y in some."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(600, 2)), columns=["x", "z"])
    eta = 0.5 * frame["x"] + 0.5 * frame["x"] ** 2
    frame["y"] = eta + rng.normal(size=600)
    frame["stage"] = pd.Categorical(rng.choice(["i", "ii"], 600))
    whole = frame.copy()
    frame.loc[frame.index % 2 == 0, "x"] = np.nan
    frame.loc[frame.index % 10 == 0, "y"] = np.nan
    stage = cc.Feature(name="stage", likelihood="categorical", levels=("i", "ii"), role="describe")
    schema = cc.FeatureSchema([gaussian("x"), gaussian("z"), gaussian("y", role="describe"), stage])
    return quick_fit(frame, schema), frame, whole


def test_a_square_is_kept_if_the_regression_is_named(curved):
    """Bartlett et al. 2015; without the formula the slope of the square comes out as .28."""
    model, frame, whole = curved
    named = {"n_sweeps": 2, "formula": "y ~ x + I(x ** 2)"}
    tables = model.multiple_imputations(frame, m=2, random_state=0, **named)
    for table in tables:
        fits = (sm.OLS.from_formula(named["formula"], of.astype({"x": float, "y": float})) for of in (table, whole))
        slopes, true = (fit.fit().params.to_numpy() for fit in fits)
        assert slopes == pytest.approx(true, abs=0.15)
        pd.testing.assert_frame_equal(table.where(frame.notna()), model.schema_.validate(frame, warn=False))
        pd.testing.assert_frame_equal(model.schema_.validate(table, warn=False), table)
    assert not tables[0].equals(tables[1])
    again = model.multiple_imputations(frame, m=2, random_state=0, **named)
    pd.testing.assert_frame_equal(tables[0], again[0])


def test_by_a_logistic_regression_values_are_drawn_by_bayes_rule():
    """The density of x given pain is that of x times the share, by quadrature, with the slopes of statsmodels."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=1500)
    is_ill = rng.random(1500) < expit(x + x**2 - 1)
    frame = pd.DataFrame({"x": x, "z": rng.normal(size=1500), "pain": np.where(is_ill, "yes", "no")})
    frame.loc[:499, "x"] = np.nan
    pain = cc.Feature(name="pain", likelihood="bernoulli", levels=("no", "yes"), role="describe")
    features = [gaussian("x"), gaussian("z"), pain]
    _, tables = draws_of(frame, features, m=8, n_sweeps=2, formula="pain ~ x + I(x ** 2)")
    drawn = pd.concat([table["x"][:500] for table in tables]).astype(float)
    x = pd.DataFrame({"x": np.linspace(-6, 6, 2001)})
    fit = sm.Logit.from_formula("y ~ x + I(x ** 2)", frame.assign(y=is_ill * 1.0)).fit(disp=0)
    for level, share in (("yes", fit.predict(x)), ("no", 1 - fit.predict(x))):
        density = stats.norm.pdf(x["x"], frame["x"].mean(), frame["x"].std()) * share
        values = drawn[frame["pain"][drawn.index] == level]
        for power in (1, 2):
            assert (values**power).mean() == pytest.approx(np.average(x["x"] ** power, weights=density), abs=0.12)


def test_values_are_drawn_by_bayes_rule():
    """With x standard normal and y = 2 x + e, x given y is normal with mean .4 y and variance .2."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=1500)
    frame = pd.DataFrame({"x": x, "z": rng.normal(size=1500), "y": 2.0 * x + rng.normal(size=1500)})
    frame.loc[:499, "x"] = np.nan
    features = [gaussian("x"), gaussian("z"), gaussian("y", role="describe")]
    _, (table,) = draws_of(frame, features, m=1, n_sweeps=2, formula="y ~ x")
    off = (table["x"] - 0.4 * table["y"]).astype(float)[:500]
    assert off.mean() == pytest.approx(0.0, abs=0.1)
    assert off.var() == pytest.approx(0.2, abs=0.06)


@pytest.mark.parametrize("formula", ["y", "x ~ z", "stage ~ x", "age ~ x", "y ~ x + age", "y ~ x +* z", "y ~ log(x"])
def test_formulas_that_cannot_be_used_are_refused(formula, curved):
    with pytest.raises(InputError, match="formula"):
        curved[0].multiple_imputations(curved[1], m=2, formula=formula)
