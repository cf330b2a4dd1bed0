"""compare_outcomes: from a fitted model and a table to a frame."""

import numpy as np
import pandas as pd
import pytest
from scored import few

import clinclust as cc
from clinclust.errors import InputError
from clinclust.outcomes import survival_curves

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
    "pain": ({}, "ordered", "odds ratio", np.e),
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


def test_the_subtype_compared_with_changes_what_it_should(cohort, model):
    frame, _ = cohort
    found = cc.compare_outcomes(model, frame, "visits", covariates=["age"])
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
    assert found.query("method in ('bch', 'ml')")["estimate"].isna().all()
    assert not (found["method"] == "features").any()


def test_small_subtypes_are_left_out_and_named(cohort):
    frame, frail = cohort
    labels = np.where(np.arange(400) < 3, 2, frail.astype(int))
    found = cc.compare_outcomes(cc.Partition(labels, SCHEMA, made_by="a clinician"), frame, "crp")
    assert found.iloc[-1]["remark"] == "left out: too few subjects"
    assert found.iloc[-1]["subtype"] == 3
    assert set(found["n"]) == {397}


def test_an_event_of_one_subject_has_shares_and_no_ratio(cohort, model):
    frame = cohort[0].assign(rare=np.where(np.arange(400) == 3, "yes", "no"))
    found = cc.compare_outcomes(model, frame, "rare")
    assert found["remark"].str.startswith("no ratio").any()
    assert found.loc[found["measure"] == "odds ratio", "estimate"].isna().all()
    assert (found["measure"] == "share").sum() == 4


@pytest.mark.parametrize(
    ("outcome", "options", "said"),
    [
        ("a", {}, "the subtypes were found from 'a'"),
        ("site", {}, "has levels without order"),
        ("site", {"event": "east"}, "no cell of 'site' is 'east'; it has north, south, west"),
        ("cause", {"time": "days"}, "say which value of 'cause' is the event: it has alive, cancer, heart"),
        ("died", {"time": "sex", "event": "dead"}, "'sex' holds levels, not numbers"),
        ("died", {"time": "days", "entry": "age", "event": "dead"}, "is below 'age', where follow-up begins"),
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


# --- what a reviewer attacks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", few(["crp", "died", "falls", "visits"], 1))
@pytest.mark.parametrize("times", [pytest.param(1e-6, marks=pytest.mark.simulation), 1e6])
def test_units_decide_nothing(cohort, model, outcome, times):
    frame, options = cohort[0], OUTCOMES[outcome][0]
    found = cc.compare_outcomes(model, frame, outcome, covariates=["age"], **options)
    changed = frame.assign(age=times * (frame["age"] - 1e4))
    if outcome == "crp":
        changed["crp"] = times * (frame["crp"] + 1e4)
    if outcome == "died":
        changed["days"] = times * frame["days"]
    other = cc.compare_outcomes(model, changed, outcome, covariates=["age"], **options)
    factor = times if outcome == "crp" else 1.0
    of = found["versus"].notna()
    np.testing.assert_allclose(other.loc[of, "estimate"], factor * found.loc[of, "estimate"], rtol=1e-5)
    np.testing.assert_allclose(other.loc[of, "se"], factor * found.loc[of, "se"], rtol=1e-4)
    np.testing.assert_allclose(other["p"], found["p"], rtol=1e-3)


@pytest.mark.parametrize("outcome", few(["falls", "died", "visits", "pain"], 2))
def test_a_covariate_that_separates_has_no_estimate(cohort, model, outcome):
    frame, options = cohort[0].copy(), OUTCOMES[outcome][0]
    few = np.arange(400) < 12
    frame.loc[few, outcome] = {"falls": "no", "visits": 0, "pain": 0, "died": "alive"}[outcome]
    frame["centre"] = np.where(few, "small", "large")
    found = cc.compare_outcomes(model, frame, outcome, covariates=["centre"], **options)
    of_centre = found["term"].notna()
    assert not (found.loc[of_centre, "estimate"] < 1e-4).any()
    assert not (found.loc[of_centre, "p"] == 0.0).any()
    assert found["remark"].str.startswith("not estimated").any() or found.loc[of_centre, "estimate"].notna().all()


@pytest.mark.parametrize("seed", few(range(2), 1))
def test_counts_without_overdispersion_have_an_answer(cohort, model, seed):
    found = cc.compare_outcomes(model, cohort[0].assign(n=np.random.default_rng(seed).poisson(3, 400)), "n")
    found = found[found["method"].isin(["bch", "ml", "naive"])]
    assert found["remark"].isna().all()
    assert set(found["measure"].dropna()) == {"rate ratio", "mean", "all subtypes alike"}


def test_the_event_is_named_and_asked_for_where_it_is_not_plain(cohort):
    frame, died = cohort[0].iloc[:80], (cohort[0]["died"] == "dead")[:80]
    groups = cc.Partition(np.arange(80) % 2, SCHEMA, made_by="hand")

    def n_events(column, event):
        table = frame.assign(died=column)
        return survival_curves(groups, table, "died", "days", event=event)["events"].sum()

    assert set(cc.compare_outcomes(groups, frame, "falls")["event"]) == {"yes"}
    assert set(cc.compare_outcomes(groups, frame, "died", time="days")["event"]) == {"dead"}
    with pytest.raises(InputError, match="say which value of 'sex' is the event: it has f, m"):
        survival_curves(groups, frame, "sex", "days")
    assert {n_events(died.astype(float), event) for event in (None, "1.0", 1, 1.0, True, np.True_)} == {died.sum()}
    assert {n_events(died, event) for event in (None, True, 1, "True")} == {died.sum()}
    for event, value in ((True, "yes"), (1, "yes"), (False, "no"), (0, "no")):
        assert set(cc.compare_outcomes(groups, frame, "falls", event=event)["event"]) == {value}
    rounded = frame.assign(x=np.where(np.arange(80) % 2, -0.0, np.where(np.arange(80) % 3, 0.0, 1.5)))
    assert cc.compare_outcomes(groups, rounded, "x", event="0")["n_events"].iloc[0] == (rounded["x"] == 0).sum()


def test_missing_codes_are_those_of_the_schema_and_others_are_told(cohort):
    frame = cohort[0].copy()
    schema = cc.FeatureSchema(list(SCHEMA), other_columns="ignore", missing_codes=("", "555"))
    model = cc.MAPDP(schema, n_clusters=2, random_state=0, progress=False).fit(frame)
    frame["score"] = np.random.default_rng(1).normal(50, 10, 400).round()
    frame.loc[:39, "score"] = 555
    assert set(cc.compare_outcomes(model, frame, "score")["n"]) == {360}
    frame["score"] = np.random.default_rng(1).integers(0, 4, 400)
    frame.loc[:9, "score"] = 9
    with pytest.warns(cc.CohortWarning, match=r"score: 10 cells \(it has 9\) are taken for missing"):
        cc.compare_outcomes(model, frame, "score")


def test_few_different_times_and_nothing_but_events_are_no_obstacle(cohort, model):
    frame = cohort[0].assign(year=1 + np.arange(400) % 7, all=1, start=np.where(np.arange(400) % 2, 0.0, 0.5))
    found = cc.compare_outcomes(model, frame, "all", time="year", entry="start", event="1")
    assert found.query("method == 'bch' and versus.notna()")["estimate"].notna().all()


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        ({"k": 1}, {"covariates": ["k", "nope"], "versus": 9}, ["'k' has one value only", "'nope'", "versus must be"]),
        ({"k": np.nan}, {"covariates": ["k"]}, ["'k' has no values"]),
        ({"k": pd.date_range("2020-01-01", periods=400).astype(str)}, {"covariates": ["k"]}, ["of dates, take days"]),
        ({"k": ["<5"] * 100 + [str(n / 10) for n in range(51, 351)]}, {"covariates": ["k"]}, ["'k' has values beyond"]),
        ({}, {"covariates": ["crp"]}, ["leave out the outcome"]),
        ({"crp": 1.0}, {}, ["'crp' has one value only"]),
    ],
)
def test_columns_that_cannot_be_used_are_named_with_the_reason(cohort, model, columns, options, said):
    with pytest.raises(InputError) as error:
        cc.compare_outcomes(model, cohort[0].assign(**columns), "crp", **options)
    for part in said:
        assert part in str(error.value)


def test_covariates_that_others_determine_are_named(cohort, model):
    frame = cohort[0].assign(months=12 * cohort[0]["age"])
    with pytest.raises(InputError, match="leave out 'months': of the subjects with all values, others determine it"):
        cc.compare_outcomes(model, frame, "crp", covariates=["age", "months"])


def test_one_level_left_among_complete_subjects_is_told(cohort, model):
    half = np.arange(400) < 200
    frame = cohort[0].assign(
        pain=np.where(half, 1, cohort[0]["pain"]), z=np.where(half, np.random.default_rng(0).normal(size=400), np.nan)
    )
    with pytest.raises(InputError, match="'pain' is the same in all subjects with all values"):
        cc.compare_outcomes(model, frame, "pain", covariates=["z"])


def test_as_many_parameters_as_subjects_give_no_p():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(12, 6)), columns=NAMES).assign(y=rng.normal(size=12))
    covariates = [f"z{place}" for place in range(8)]
    frame[covariates] = rng.normal(size=(12, 8))
    found = cc.compare_outcomes(cc.Partition([0, 1] * 6, SCHEMA, made_by="x"), frame, "y", covariates=covariates)
    assert found["p"].isna().all()
    assert found["remark"].str.startswith("not estimated").any()
