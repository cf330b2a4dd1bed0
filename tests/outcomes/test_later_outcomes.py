"""Outcomes that came after the fit: columns that the schema does not name, and the order of levels."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from cohorts import gaussian_schema

import clinclust as cc
from clinclust.cli.fitted import summarise_outcomes
from clinclust.errors import InputError
from clinclust.outcomes import survival_curves

NAMES = list("abcd")


@pytest.fixture(scope="module")
def later():
    rng = np.random.default_rng(0)
    group = np.arange(160) % 2
    frame = pd.DataFrame(rng.normal(4.0 * group[:, None], 1.0, (160, 4)), columns=NAMES)
    model = cc.MAPDP(gaussian_schema(NAMES), n_clusters=2, random_state=0, progress=False).fit(frame)
    frame["died"] = np.where(rng.random(160) < 0.2 + 0.4 * group, "yes", "no")
    frame["days"], frame["age"] = rng.exponential(300.0, 160).round() + 1, rng.normal(60, 8, 160).round()
    good = [0.1, 0.3, 0.6]
    draws = [rng.choice(["PD", "PR", "CR"], 160, p=p) for p in (good[::-1], good)]
    frame["response"] = np.where(group == 1, draws[1], draws[0])
    return model, frame, group


def test_columns_that_the_schema_does_not_name_are_outcomes_times_and_covariates(later):
    model, frame, _ = later
    found = cc.compare_outcomes(model, frame, "died", time="days", covariates=["age"])
    assert set(found["event"]) == {"yes"}
    assert found.query("method == 'bch' and versus == 1")["estimate"].notna().all()
    assert cc.subtype_predictors(model, frame, ["age"])["estimate"].notna().all()
    assert set(survival_curves(model, frame, "died", "days")["subtype"]) == {1, 2}
    with pytest.raises(InputError, match="no column 'dead'"):
        cc.compare_outcomes(model, frame, "dead")


def test_a_table_of_other_subjects_or_columns_is_refused_with_a_repair(later):
    model, frame, _ = later
    with pytest.raises(InputError, match=r"has 100 rows.*join outcomes that came later to that table as columns"):
        cc.compare_outcomes(model, frame[:100], "died")
    with pytest.raises(cc.CohortError, match=r"There is no such column\. Did you mean 'dd'"):
        cc.compare_outcomes(model, frame.rename(columns={"d": "dd"}), "died")


def test_an_ordered_outcome_names_its_order_in_frame_and_sentence(later):
    model, frame, group = later
    found = cc.compare_outcomes(model, frame, "response")
    assert set(found["order"]) == {"PD < PR < CR"}
    better = 1 + int(model.labels_[group == 1].mean() > 0.5)
    row = cc.compare_outcomes(model, frame, "response", versus=3 - better).query("method == 'bch' and versus.notna()")
    assert row["estimate"].iloc[0] > 1.0  # a higher level is a better response
    assert "of a higher level (PD < PR < CR)" in summarise_outcomes(found)[0]
    assert cc.compare_outcomes(model, frame, "died")["order"].isna().all()


@pytest.mark.parametrize("n_clusters", [None, 2])
def test_slices_of_a_continuum_have_the_ratio_of_the_score_first(n_clusters):
    rng = np.random.default_rng(3)
    severity = rng.normal(size=240)
    frame = pd.DataFrame(severity[:, None] + 0.7 * rng.normal(size=(240, 6)), columns=list("abcdef"))
    model = cc.MAPDP(gaussian_schema(frame), n_clusters=n_clusters, random_state=0, progress=False).fit(frame)
    frame["died"] = np.where(rng.random(240) < 1.0 / (1.0 + np.exp(1.0 - severity)), "yes", "no")
    found = cc.compare_outcomes(model, frame, "died")
    first = found.iloc[0]
    assert first["method"] == "score"
    score = cc.continuum_score(model, frame.drop(columns="died"))
    fitted = sm.Logit((frame["died"] == "yes").astype(float), sm.add_constant(score)).fit(disp=False)
    assert first["estimate"] == pytest.approx(np.exp(fitted.params["continuum_score"]), rel=1e-4)
    assert "slices of a continuum" in first["remark"]
    first, *others = summarise_outcomes(found)
    assert "for 1 SD of the continuum score" in first
    assert ("unless they are slices, " in " ".join(others)) == (model.n_clusters_ > 1)
    assert found["versus"].isna().all() == (model.n_clusters_ == 1)


def test_distinct_subtypes_have_no_score(later):
    model, frame, _ = later
    tested = cc.MAPDP(model.schema_, random_state=0, progress=False).fit(frame[NAMES])
    assert tested.codes_ == [1, 2]
    assert not (cc.compare_outcomes(tested, frame, "died")["method"] == "score").any()
