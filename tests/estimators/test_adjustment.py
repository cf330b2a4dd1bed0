"""Columns with the role ``adjust``: subtypes that are not just these."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from cohorts import schema_of

import clinclust as cc
from clinclust.errors import InputError, refuse
from clinclust.estimators.adjustment import Adjustment, within_clusters
from clinclust.estimators.partitioned import Site
from clinclust.estimators.saving import Reader, written_fields

QUICK = {"random_state": 0, "progress": False, "n_jobs": 1, "n_restarts": 2, "calibrate": False}


def cohort(n=200, seed=0):
    """Return a table and the disease of each person: more frequent in men, whose measurements are higher anyway."""
    rng = np.random.default_rng(seed)
    male, age = rng.random(n) < 0.5, rng.normal(60.0, 10.0, n)
    ill = rng.random(n) < np.where(male, 0.7, 0.3)
    values = rng.normal(size=(n, 7)) + 2.0 * ill[:, None] * (np.arange(7) < 4) + 1.5 * male[:, None]
    table = pd.DataFrame(values, columns=list("abcdefg")).assign(
        age=age, sex=np.where(male, "male", "female"), wait=rng.exponential(np.exp(1.0 + 0.8 * male))
    )
    table["b"] += 0.002 * (age - 60.0) ** 2
    return table, ill


def adjusting(sex="adjust", age="adjust"):
    of_sex = {"likelihood": "bernoulli", "levels": ("female", "male"), "role": sex}
    return schema_of("abcdefg", wait="exponential", age={"role": age}, sex=of_sex)


@pytest.fixture(scope="module")
def fitted():
    table, ill = cohort()
    return cc.MAPDP(adjusting(), **QUICK).fit(table), table, ill


def test_the_subtypes_are_the_disease_and_not_the_sex(fitted):
    model, table, ill = fitted
    unadjusted = cc.MAPDP(adjusting("describe", "describe"), **QUICK | {"n_clusters": None}).fit(table)

    def right(labels, truth):
        return max(np.mean(labels == truth), np.mean(labels != truth))

    assert model.n_clusters_ == 2
    assert right(model.labels_, ill) > 0.93
    assert unadjusted.n_clusters_ != 2 or right(unadjusted.labels_, ill) < right(model.labels_, ill)


def test_effects_are_those_of_a_regression_within_clusters():
    table, ill = cohort(n=2_000)
    schema = adjusting()
    frame = schema.validate(table)
    adjustment = within_clusters(Adjustment.of(frame, schema), frame, schema, ill.astype(np.int64))
    design = np.column_stack([adjustment.design(frame, schema), ill, np.ones(len(ill))])
    oracles = {name: sm.OLS(table[name].to_numpy(), design).fit().params for name in "abg"}
    gamma = sm.families.Gamma(sm.families.links.Log())
    oracles["wait"] = sm.GLM(table["wait"], design, family=gamma).fit().params
    for name, oracle in oracles.items():  # the terms of a spline depend on each other: effects are compared
        off = design[:, :-2] @ (np.array(adjustment.coefficients[name]) - oracle[:-2])
        assert np.sqrt((off**2).mean()) < 0.05


def test_the_spread_of_a_site_is_that_of_its_assay():
    """The assay of site B reads 10 + 1.5 y: within a disease, the adjusted values have one mean and one SD."""
    rng = np.random.default_rng(2)
    ill, site = rng.random(2_000) < 0.3, rng.random(2_000) < 0.5
    values = 20.0 + 4.0 * ill + rng.normal(size=2_000)
    table = pd.DataFrame({"assay": np.where(site, 10.0 + 1.5 * values, values), "site": np.where(site, "B", "A")})
    schema = schema_of(["assay"], site={"likelihood": "bernoulli", "levels": ("A", "B"), "role": "adjust"})
    table = schema.validate(table)
    adjustment = within_clusters(Adjustment.of(table, schema), table, schema, ill.astype(np.int64))
    adjusted = adjustment.remove(table, schema)["assay"]
    for group in (ill, ~ill):
        one, other = adjusted[group & site], adjusted[group & ~site]
        assert one.mean() == pytest.approx(other.mean(), abs=0.15)
        assert one.std() == pytest.approx(other.std(), rel=0.06)
    assert adjusted.mean() == pytest.approx(table["assay"].mean())
    holes = table.assign(assay=np.nan)
    assert np.allclose(adjustment.restore(holes.assign(assay=adjusted), holes, schema)["assay"], table["assay"])
    spread = np.log(adjusted[ill & site].std() / table["assay"][ill & site].std())
    jacobian = adjustment.log_jacobian(table, schema)
    assert jacobian[site] == pytest.approx(spread, abs=0.05)  # the derivative of what is fitted by what is measured
    assert adjustment.log_jacobian(holes, schema) == pytest.approx(0.0)


def test_a_column_of_one_value_changes_no_bit():
    table, plain = cohort(50)[0].assign(sex="male", age=50.0), {**QUICK, "n_clusters": None}
    adjusted = cc.MAPDP(adjusting(), **plain).fit(table)
    described = cc.MAPDP(adjusting("describe", "describe"), **plain).fit(table)
    assert adjusted.fit_.adjustment_ is None
    assert adjusted.log_joint_ == described.log_joint_
    assert np.array_equal(adjusted.membership_, described.membership_)


def test_the_adjusted_table_keeps_averages_missing_values_and_other_columns(fitted):
    model, table, _ = fitted
    table = table.copy()
    table.loc[::9, "a"] = np.nan
    frame = model.schema_.validate(table)
    adjusted = model.fit_.adjusted(frame)
    assert adjusted["a"].isna().equals(frame["a"].isna())
    assert adjusted[["age", "sex"]].equals(frame[["age", "sex"]])
    assert adjusted["c"].mean() == pytest.approx(frame["c"].mean())
    assert model.fit_.restored(adjusted, frame)["c"].equals(frame["c"])
    men = (table["sex"] == "male").to_numpy()
    assert abs(adjusted["g"][men].mean() - adjusted["g"][~men].mean()) < 0.3


def test_new_subjects_are_adjusted_as_the_cohort(fitted):
    model, table, _ = fitted
    assert np.mean(model.predict(table) == model.labels_) > 0.98
    with pytest.raises(cc.CohortError, match="sex"):
        model.predict(table.drop(columns="sex"))


def test_imputed_values_depend_on_what_is_adjusted_for(fitted):
    model, table, _ = fitted
    holes = table.copy()
    holes["g"] = np.nan
    filled = model.impute(holes)
    men = (table["sex"] == "male").to_numpy()
    assert filled["g"][men].mean() - filled["g"][~men].mean() > 0.8
    assert filled["a"].equals(model.schema_.validate(table)["a"])


@pytest.mark.filterwarnings("ignore:.*lie beyond:clinclust.CohortWarning")
def test_densities_integrate_to_one_over_durations(fitted):
    model, table, _ = fitted
    row = table.iloc[[5]]
    grid = np.geomspace(1e-5, 1e7, 4_000)
    rows = pd.DataFrame(np.repeat(row.to_numpy(), grid.size, axis=0), columns=row.columns).assign(wait=grid)
    missing = model.score_samples(row.assign(wait=np.nan))[0]
    assert np.trapezoid(np.exp(model.score_samples(rows)), grid) == pytest.approx(np.exp(missing), rel=0.01)


@pytest.mark.parametrize(
    "forged",
    [
        lambda adjustment: adjustment["coefficients"].update(a=["1"]),
        lambda adjustment: adjustment["coefficients"].update(nobody=[0.0]),
        lambda adjustment: adjustment["spreads"].pop("a"),
        lambda adjustment: adjustment["middles"].update(a=[0.0]),
        lambda adjustment: adjustment["coefficients"]["a"].pop(),
        lambda adjustment: adjustment["terms"]["sex"].update(scales=[0.0]),
        lambda adjustment: adjustment["terms"]["sex"].update(levels="x"),
        lambda adjustment: adjustment["terms"]["age"].pop("knots"),
        lambda adjustment: adjustment["terms"]["age"]["knots"].pop(),
    ],
)
def test_an_adjustment_that_is_not_of_the_schema_is_refused(fitted, forged):
    model, _, _ = fitted
    fit = model.fit_
    assert fit.adjustment_.problems(fit.schema_) == []
    changed = deepcopy(written_fields(fit.adjustment_, {}))
    forged(changed)
    with pytest.raises(InputError):
        refuse(Reader({}).read_fields(Adjustment, changed, "adjustment_.").problems(fit.schema_))


def test_a_report_says_what_it_adjusts_for(fitted, tmp_path):
    model, table, _ = fitted
    page = tmp_path / "report.html"
    text = cc.write_report(model, table, page, associations=None).read_text(encoding="utf-8")
    assert "adjusted for age and sex" in text
    assert "First axis between the subtypes" in text  # the figures are of the adjusted table


def test_what_cannot_adjust_says_so():
    table, _ = cohort(60)
    with pytest.raises(InputError, match="GibbsDP"):
        cc.GibbsDP(adjusting(), random_state=0, progress=False).fit(table)
    with pytest.raises(InputError, match="sites"):
        Site(table, adjusting())
