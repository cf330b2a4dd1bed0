"""Comparisons of features with point masses: two summaries, one test, and small counts withheld in both."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import clinclust as cc


@pytest.fixture(scope="module")
def cohort():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], [120, 80])
    values = np.exp(rng.normal(group, 1.0))
    values[rng.random(200) < np.where(group, 0.1, 0.6)] = 0.0
    values[:4] = np.nan
    frame = pd.DataFrame({"crp": values, "age": rng.normal(size=200)})
    schema = cc.FeatureSchema(
        [
            cc.Feature(name="crp", likelihood="gaussian", transform="log", spike=0, label="CRP", unit="mg/L"),
            cc.Feature(name="age", likelihood="gaussian"),
        ]
    )
    return frame, group, schema, cc.compare_subtypes(frame, group, schema)


def test_the_summaries_are_the_share_at_the_spike_and_the_other_values(cohort):
    frame, group, _, result = cohort
    rows = result[(result["kind"] == "summary") & (result["feature"] == "crp") & (result["subtype"] == 2)]
    own = frame["crp"][group == 1]
    at, rest = (rows[rows["part"] == part].iloc[0] for part in ("spike", "rest"))
    assert (at["level"], at["count"], at["n"]) == ("0", (own == 0).sum(), own.notna().sum())
    other = own[own > 0]
    assert (rest["n"], rest["missing"]) == (len(other), len(own) - len(other))
    assert rest["median"] == pytest.approx(np.median(other))
    assert rest["label"] == "CRP, if not 0"


def test_one_test_combines_both_parts(cohort):
    frame, group, _, result = cohort
    contrast = result[(result["kind"] == "contrast") & (result["feature"] == "crp")]
    assert len(contrast) == 1
    seen = frame["crp"].notna()
    table = pd.crosstab(frame["crp"][seen] == 0, group[seen])
    other = [frame["crp"][(group == g) & (frame["crp"] > 0)] for g in (0, 1)]
    p = [stats.chi2_contingency(table, correction=False).pvalue, stats.mannwhitneyu(*other, method="asymptotic").pvalue]
    assert contrast["p"].iloc[0] == pytest.approx(stats.combine_pvalues(p).pvalue)


def test_the_table_has_a_line_for_each_part_and_one_p(cohort):
    *_, result = cohort
    rows = cc.subtype_table(result).rows
    assert [row.label.text for row in rows] == [
        "CRP: 0, n (%)",
        "CRP, if not 0 (mg/L), median [Q1, Q3]",
        "age, mean (SD)",
    ]
    assert rows[0].cells[-1].text == "<0.001"
    assert rows[1].cells[-1].text == ""


@pytest.mark.parametrize("options", [{"threshold": 10}, {"threshold": 5}, {"rounding": 10}])
def test_a_small_count_at_the_spike_is_withheld_with_all_that_tells_it(cohort, options):
    frame, group, schema, _ = cohort
    few = frame["crp"].where((frame["crp"] > 0) | (np.arange(200) % 9 == 0), 1.5)
    truth = cc.compare_subtypes(frame.assign(crp=few), group, schema)
    shared = cc.suppress_small_cells(truth, **options)
    audit = cc.disclosure.audit_disclosure(shared, truth=truth, **options)
    assert not audit["disclosed"].any()
    rows = shared[(shared["kind"] == "summary") & (shared["feature"] == "crp")]
    at, rest = (rows[rows["part"] == part].set_index("subtype") for part in ("spike", "rest"))
    told = at["n"].astype(float) - at["count"].astype(float)
    shown = rest["n"].notna()
    np.testing.assert_array_equal(rest["n"][shown].astype(float), told[shown])  # a function of what is shown
    assert (told[~shown].isna() | (rest.index[~shown] == 0)).all()


@pytest.mark.simulation
def test_the_test_of_both_parts_holds_its_level():
    rng = np.random.default_rng(1)
    schema = cc.FeatureSchema([cc.Feature(name="x", likelihood="gaussian", spike=0)])
    p = []
    for _ in range(200):
        values = rng.exponential(size=60) * (rng.random(60) < 0.5)
        result = cc.compare_subtypes(pd.DataFrame({"x": values}), rng.integers(3, size=60), schema)
        p.append(result.loc[result["kind"] == "contrast", "p"].iloc[0])
    assert np.mean(np.array(p) < 0.05) < 0.1
