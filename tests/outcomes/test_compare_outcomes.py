"""compare_outcomes: from a fitted model and a table to a frame."""

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from clinclust.errors import InputError

NAMES = list("abcdef")
SCHEMA = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in NAMES], other_columns="ignore")


@pytest.fixture(scope="module")
def cohort():
    rng = np.random.default_rng(0)
    frail = rng.random(400) < 0.4
    frame = pd.DataFrame(rng.normal(1.1 * frail[:, None], 1.0, (400, 6)), columns=NAMES)
    frame["age"], frame["sex"] = rng.normal(60, 10, 400).round(), rng.choice(["f", "m"], 400)
    frame["site"] = rng.choice(["north", "south", "west"], 400)
    frame["falls"] = np.where(rng.random(400) < np.where(frail, 0.5, 0.2), "yes", "no")
    frame["visits"], frame["crp"] = rng.poisson(np.where(frail, 4, 2)), rng.normal(frail, 1.0)
    frame["pain"] = np.digitize(frail + rng.logistic(size=400), [-1, 0, 1, 2])
    time, seen_for = rng.exponential(np.where(frail, 3, 6)), rng.uniform(0.1, 8, 400)
    frame["days"] = (np.minimum(time, seen_for) * 365).round(1) + 1
    frame["died"] = np.where(time <= seen_for, "dead", "alive")
    cause = np.where(rng.random(400) < 0.5, "cancer", "heart")
    frame["cause"] = np.where(time <= seen_for, cause, "alive")
    return frame, frail


@pytest.fixture(scope="module")
def model(cohort):
    return cc.MAPDP(SCHEMA, n_clusters=2, random_state=0, progress=False).fit(cohort[0])


SURVIVAL = {"time": "days", "event": "dead"}
OUTCOMES = {
    "falls": ({}, "binary", "odds ratio", 4.0),
    "visits": ({}, "count", "rate ratio", 2.0),
    "crp": ({}, "continuous", "mean difference", 1.0),
    "pain": ({}, "ordinal", "odds ratio", np.e),
    "died": (SURVIVAL, "survival", "hazard ratio", 2.0),
    "cause": ({"time": "days", "event": "cancer"}, "survival", "hazard ratio", 2.0),
    "site": ({"event": "south"}, "binary", "odds ratio", 1.0),
}


def difference(found, method="bch"):
    return found.query("method == @method and versus == 1").iloc[0]


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_each_kind_of_outcome_is_recognised_and_its_difference_corrected(cohort, model, outcome):
    options, kind, measure, truth = OUTCOMES[outcome]
    found = cc.compare_outcomes(model, cohort[0], outcome, **options)
    assert set(found["kind"]) == {kind}
    corrected, naive = difference(found), difference(found, "naive")
    assert corrected["measure"] == measure
    assert corrected["lower"] < truth < corrected["upper"]
    nothing = 1.0 if "ratio" in measure else 0.0
    assert abs(corrected["estimate"] - nothing) > abs(naive["estimate"] - nothing)
    assert corrected["se"] > naive["se"]
    test = found.query("method == 'bch' and measure == 'all subtypes alike'").iloc[0]
    assert test["p"] == pytest.approx(corrected["p"])  # of two subtypes, both are one test
    assert found["n_events"].isna().all() == (kind not in ("binary", "survival"))


def test_levels_of_the_naive_answer_are_those_of_the_table(cohort, model):
    frame, _ = cohort
    found = cc.compare_outcomes(model, frame, "crp").query("method == 'naive' and versus.isna() and subtype.notna()")
    np.testing.assert_allclose(found["estimate"], frame["crp"].groupby(model.labels_).mean())


def test_covariates_are_adjusted_for_and_told(cohort, model):
    found = cc.compare_outcomes(model, cohort[0], "crp", covariates=["age", "sex", "site"])
    terms = found.query("method == 'bch' and term.notna()")["term"].tolist()
    assert terms[:2] == ["age", "sex: m"]
    assert len(terms) == 4
    assert all(term.startswith("site: ") for term in terms[2:])


def test_the_order_of_rows_and_the_subtype_compared_with_change_what_they_should(cohort, model):
    frame, _ = cohort
    found = cc.compare_outcomes(model, frame, "visits", covariates=["age"])
    with pytest.warns(cc.CohortWarning, match="another order"):
        shuffled = cc.compare_outcomes(model, frame.sample(frac=1.0, random_state=1), "visits", covariates=["age"])
    pd.testing.assert_frame_equal(found, shuffled)
    other = cc.compare_outcomes(model, frame, "visits", covariates=["age"], versus=2)
    inverse = other.query("method == 'bch' and versus == 2").iloc[0]
    assert inverse["estimate"] == pytest.approx(1.0 / difference(found)["estimate"])


def test_subjects_without_a_value_are_left_out(cohort, model):
    frame = cohort[0].copy()
    frame.loc[:49, "crp"], frame.loc[30:69, "age"] = np.nan, np.nan
    assert set(cc.compare_outcomes(model, frame, "crp", covariates=["age"])["n"]) == {330}


def test_without_probabilities_the_naive_answer_stands_alone(cohort):
    frame, frail = cohort
    given = cc.Partition(frail.astype(int), SCHEMA, made_by="a clinician")
    found = cc.compare_outcomes(given, frame, "crp")
    assert found.query("remark.notna()")["method"].tolist() == ["bch", "ml"]
    assert set(found["remark"].dropna()) == {"these subtypes have no probabilities"}
    assert found.query("method == 'naive'")["estimate"].notna().all()


def test_subtypes_that_are_hardly_told_apart_have_a_reason_instead_of_a_number(cohort, model):
    import copy

    vague = copy.copy(model)
    membership = 0.6 * model.membership_.round() + 0.2
    vague.fit_ = copy.copy(model.fit_)
    object.__setattr__(vague.fit_, "cluster_membership_", membership)
    object.__delattr__(vague.fit_, "membership_") if "membership_" in vars(vague.fit_) else None
    found = cc.compare_outcomes(vague, cohort[0], "crp")
    assert found.query("method == 'bch'")["remark"].str.contains("too hard to tell apart").all()
    assert found.query("method != 'naive'")["estimate"].isna().all()


def test_small_subtypes_are_left_out_and_named(cohort):
    frame, frail = cohort
    labels = np.where(np.arange(400) < 3, 2, frail.astype(int))
    found = cc.compare_outcomes(cc.Partition(labels, SCHEMA, made_by="a clinician"), frame, "crp")
    assert found.iloc[-1]["remark"] == "left out: too few subjects"
    assert found.iloc[-1]["subtype"] == 3
    assert set(found["n"]) == {397}


def test_what_cannot_be_estimated_says_so(cohort, model):
    frame = cohort[0].assign(rare=np.where(np.arange(400) == 3, "yes", "no"))
    found = cc.compare_outcomes(model, frame, "rare")
    assert found["remark"].str.contains("did not converge").any()


def test_all_that_is_wrong_is_said_at_once(cohort, model):
    with pytest.raises(InputError) as error:
        cc.compare_outcomes(model, cohort[0], "fals", covariates=["agee"], versus=3, level=1.5)
    parts = ("no column 'fals'", "'falls'", "no column 'agee'", "versus must be a subtype from 1 to 2", "level must")
    for part in parts:
        assert part in str(error.value)


@pytest.mark.parametrize(
    ("outcome", "options", "said"),
    [
        ("a", {}, "the subtypes were found from 'a'"),
        ("site", {}, "has levels without order; name one as the event: "),
        ("site", {"event": "east"}, "has no level 'east'; it has "),
        ("cause", {"time": "days"}, "say which level of 'cause' is the event"),
        ("died", {"time": "sex", "event": "dead"}, "'sex' holds levels, not numbers"),
        ("died", {"time": "days", "entry": "age", "event": "dead"}, "are not above 'age', where follow-up begins"),
        ("died", {"entry": "age"}, "entry needs time"),
    ],
)
def test_what_cannot_be_used_is_refused(cohort, model, outcome, options, said):
    with pytest.raises(InputError, match=said):
        cc.compare_outcomes(model, cohort[0], outcome, **options)


def test_one_subtype_is_nothing_to_compare(cohort):
    frame, _ = cohort
    one = cc.Partition(np.zeros(400, dtype=int), SCHEMA, made_by="nobody")
    with pytest.raises(InputError, match="there is one subtype"):
        cc.compare_outcomes(one, frame, "crp")
