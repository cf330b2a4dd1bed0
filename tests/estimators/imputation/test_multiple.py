"""Multiple imputations: what is drawn, and that analyses of it are right."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from cohorts import EVERY_LIKELIHOOD, mixed_cohort

import clinclust as cc
from clinclust.errors import CohortError, InputError

QUICK = {"n_restarts": 2, "random_state": 0, "progress": False}


@pytest.fixture(scope="module")
def cohort():
    frame, schema, _, _ = mixed_cohort(7, n=80, likelihoods=EVERY_LIKELIHOOD, missing=0.25)
    return frame, schema, cc.MAPDP.as_published(schema, **QUICK).fit(frame)


def test_observed_values_stay_and_all_others_are_valid(cohort):
    frame, schema, model = cohort
    frame = frame.set_axis([i // 2 for i in range(80)], axis="index")  # labels of rows may repeat
    seen = schema.validate(frame, warn=False)
    tables = model.multiple_imputations(frame, m=4, n_sweeps=2, random_state=0)
    assert len(tables) == 4
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


def test_rows_stay_in_the_order_in_which_they_were_given(cohort):
    frame, _, model = cohort
    mixed = frame.sample(frac=1.0, random_state=1)
    ordered = model.multiple_imputations(frame, m=2, n_sweeps=1, random_state=5)
    for table, other in zip(model.multiple_imputations(mixed, m=2, n_sweeps=1, random_state=5), ordered, strict=True):
        assert table.index.equals(mixed.index)
        pd.testing.assert_frame_equal(table.loc[frame.index], other)


def test_a_whole_table_is_returned_as_it_is():
    frame, schema, _, _ = mixed_cohort(8, n=30, missing=0.0)
    model = cc.MAPDP.as_published(schema, **QUICK).fit(frame)
    for table in model.multiple_imputations(frame, m=2, n_sweeps=1, random_state=0):
        pd.testing.assert_frame_equal(table, schema.validate(frame, warn=False))


def test_outlying_values_stay_and_described_columns_are_drawn():
    rng = np.random.default_rng(9)
    X = rng.normal(np.repeat([0.0, 6.0], 40)[:, None], 1.0, (80, 4))
    X[3, 0], X[::4, 1], X[::7, 2] = 300.0, np.nan, np.nan
    frame = pd.DataFrame(X, columns=list("abcd")).assign(age=np.where(np.arange(80) % 3, 50.0 + X[:, 3], np.nan))
    schema = cc.FeatureSchema(
        [
            cc.Feature(name=name, likelihood="gaussian", role="describe" if name == "age" else "cluster")
            for name in frame
        ]
    )
    model = cc.MAPDP.as_published(schema, outlying_share=0.01, **QUICK).fit(frame)
    assert model.outliers_[3, 0]
    for table in model.multiple_imputations(frame, m=3, n_sweeps=2, random_state=0):
        assert table.loc[3, "a"] == 300.0
        assert not table.isna().any(axis=None)
        assert (table["age"] - 50.0 - table["d"]).abs().max() < 2.0
        assert table[list("bc")].abs().to_numpy().max() < 20.0


def test_features_that_were_not_selected_are_drawn_from_all_subjects():
    rng = np.random.default_rng(10)
    groups = np.repeat([0.0, 8.0], 40)
    X = np.column_stack([rng.normal(groups), rng.normal(groups), rng.permutation(np.linspace(98.0, 102.0, 80))])
    X[::3, 2] = np.nan
    model = cc.MAPDP.as_published(select_features=True, **QUICK).fit(X)
    assert model.n_clusters_ == 2
    assert model.selected_features_ == ["x0", "x1"]
    tables = model.multiple_imputations(X, m=40, n_sweeps=1, random_state=0)
    drawn = np.array([table["x2"].to_numpy()[::3] for table in tables])
    assert drawn.mean() == pytest.approx(np.nanmean(X[:, 2]), abs=0.15)
    assert drawn.std() == pytest.approx(np.nanstd(X[:, 2]), rel=0.15)


def test_only_the_cohort_of_the_fit_is_imputed(cohort):
    frame, _, model = cohort
    with pytest.raises(InputError, match="rows"):
        model.multiple_imputations(frame.head(10), m=2)
    with pytest.raises(InputError, match="other values"):
        model.multiple_imputations(frame.assign(gaussian_8=frame["gaussian_8"] + 1.0), m=2)
    with pytest.raises(CohortError, match="gaussian_8"):
        model.multiple_imputations(frame.drop(columns="gaussian_8"), m=2)
    with pytest.raises(InputError, match=r"m must be at least 1, not 0; n_sweeps must be at least 1, not -1"):
        model.multiple_imputations(frame, m=0, n_sweeps=-1)
    with pytest.raises(InputError, match="m must be a whole number"):
        model.multiple_imputations(frame, m=2.5)


def test_a_saved_model_draws_the_same(cohort, tmp_path):
    frame, _, model = cohort
    again = cc.MAPDP.load(model.save(tmp_path / "model"))
    one, two = (each.multiple_imputations(frame, m=1, n_sweeps=1, random_state=0)[0] for each in (model, again))
    pd.testing.assert_frame_equal(one, two, check_exact=True)


def test_a_mean_has_a_larger_error_after_pooling_than_if_drawn_values_were_observed(cohort):
    frame, schema, model = cohort
    name = next(feature.name for feature in schema if feature.likelihood == "gaussian")
    tables = model.multiple_imputations(frame, m=10, n_sweeps=2, random_state=1)
    n = len(frame)
    pooled = cc.pool_estimates(
        [table[name].mean() for table in tables], [table[name].var() / n for table in tables], df_complete=n - 1
    ).iloc[0]
    assert pooled["between"] > 0.0
    assert pooled["se"] > np.sqrt(pooled["within"])
    assert 0.0 < pooled["fmi"] < 1.0


def test_a_regression_is_found_again_where_its_regressor_is_missing_by_the_outcome():
    """Draws that are independent given the cluster gave .28, and .23 where the outcome was only described."""
    rng = np.random.default_rng(11)
    x0, x1 = rng.normal(size=(2, 2000))
    x0 += 0.3 * x1
    whole = pd.DataFrame({"x0": x0, "x1": x1, "y": 0.5 * x0 + 0.3 * x1 + rng.normal(size=2000)})
    frame = whole.assign(x0=whole["x0"].where(rng.random(2000) > 1 / (1 + np.exp(1.0 - 1.2 * whole["y"]))))
    frame.loc[frame["x0"].notna() & (np.arange(2000) % 5 == 0), "x1"] = np.nan
    assert abs(frame["x0"].mean() - whole["x0"].mean()) > 0.1
    features = [cc.Feature(name=name, likelihood="gaussian") for name in ("x0", "x1")]
    schema = cc.FeatureSchema([*features, cc.Feature(name="y", likelihood="gaussian", role="describe")])
    model = cc.MAPDP.as_published(schema, **QUICK).fit(frame)
    tables = model.multiple_imputations(frame, m=8, random_state=0)
    fits = [sm.OLS(table["y"], sm.add_constant(table[["x0", "x1"]])).fit() for table in tables]
    pooled = cc.pool_estimates([fit.params for fit in fits], [fit.bse**2 for fit in fits])
    assert pooled.loc["x0", "estimate"] == pytest.approx(0.5, abs=0.06)
    assert pooled.loc["x1", "estimate"] == pytest.approx(0.3, abs=0.06)
    assert np.mean([table["x0"].mean() for table in tables]) == pytest.approx(whole["x0"].mean(), abs=0.08)
    assert pooled.loc["x0", "se"] < 1.5 * sm.OLS(whole["y"], sm.add_constant(whole[["x0", "x1"]])).fit().bse["x0"]
