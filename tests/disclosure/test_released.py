"""What stands beside the counts of a shared frame is a function of the numbers that the frame shows."""

import numpy as np
import pandas as pd
import pytest
from cohorts import mixed_cohort, schema_of
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control
from true_names import true_levels

from clinclust import Feature, FeatureSchema, compare_subtypes, suppress_small_cells
from clinclust.disclosure import audit_disclosure, withhold_associations
from clinclust.disclosure.counts import rounded

N = 120
GROUPS = np.repeat([0, 1], [70, 50])


def yes_no(*counts):
    """A column with these numbers of yes in the two groups."""
    return np.concatenate([np.arange(size) < count for size, count in zip((70, 50), counts, strict=True)]).astype(int)


def whole_of(**columns):
    schema = schema_of([], **dict.fromkeys(columns, "bernoulli"))
    return compare_subtypes(pd.DataFrame(columns), GROUPS, schema)


def shared_of(**columns):
    return suppress_small_cells(whole_of(**columns))


COMMON = {f"common{place}": yes_no(20 + 2 * place, 20 + place) for place in range(10)}


def of_tests(frame, name):
    return frame[(frame["test"] == name) & frame["p"].notna() & (frame["kind"] == "test")]


def test_q_does_not_know_the_tests_that_are_withheld():
    alike, apart = shared_of(**COMMON, rare=yes_no(4, 3)), shared_of(**COMMON, rare=yes_no(0, 9))
    for name in ("mid_p", "welch"):
        first, second = of_tests(alike, name), of_tests(apart, name)
        assert len(first) == len(COMMON)
        np.testing.assert_allclose(first["q"], false_discovery_control(first["p"]))
        np.testing.assert_array_equal(first["q"], second["q"])


@pytest.mark.parametrize(("first", "second"), [((4, 3), (1, 2)), ((8, 9), (9, 8)), ((9, 4), (6, 7)), ((1, 1), (5, 4))])
def test_frames_that_differ_in_withheld_counts_only_are_the_same(first, second):
    common = {f"common{place}": yes_no(20 + 3 * place, 20 + place) for place in range(4)}
    pd.testing.assert_frame_equal(shared_of(rare=yes_no(*first), **common), shared_of(rare=yes_no(*second), **common))


def test_a_frame_of_many_kinds_names_no_test_that_it_withholds():
    frame, schema, _, groups = mixed_cohort(3, 200, ("bernoulli", "categorical", "poisson", "gaussian"), 3, 0.03)
    shared = suppress_small_cells(compare_subtypes(frame, groups, schema))
    contrasts = shared[shared["kind"] == "contrast"]
    withheld = contrasts["suppressed"].to_numpy(dtype=bool)
    assert withheld.any()
    assert contrasts.loc[withheld, "test"].isna().all()
    assert contrasts.loc[~withheld, "test"].notna().all()


def test_withheld_associations_leave_no_rank_and_no_name():
    associations = pd.DataFrame(
        {
            "feature": ["a", "b", "rare"],
            "test": ["chi-squared", "chi-squared", "Fisher's exact"],
            "n": [250, 262, 262],
            "statistic": [3.0, 4.0, np.nan],
            "p": [0.01, 0.03, 0.02],
            "q": [0.03, 0.03, 0.03],
            "grade": pd.array(["differs", "not shown", "differs"], dtype="string"),
            "remark": ["", "", "few"],
        }
    )
    suppressed = pd.DataFrame({"feature": ["a", "b", "rare"], "suppressed": [False, False, True]})
    shared = withhold_associations(associations, suppressed)
    assert shared["q"].tolist()[:2] == [0.02, 0.03]
    assert shared.loc[2, ["test", "n", "statistic", "p", "q", "grade", "remark"]].isna().all()
    assert shared.loc[:1, ["n", "statistic"]].to_numpy().tolist() == [[250, 3.0], [262, 4.0]]
    assert shared["suppressed"].tolist() == [False, False, True]
    assert associations["p"].tolist() == [0.01, 0.03, 0.02]


def test_quartiles_are_no_value_of_one_subject():
    rng = np.random.default_rng(1)
    values = np.round(rng.normal(130, 20, N), 3)
    shared = suppress_small_cells(compare_subtypes(pd.DataFrame({"x": values}), GROUPS, schema_of(["x"])))
    of_order = shared.loc[shared["kind"] == "summary", ["median", "q1", "q3"]].to_numpy()
    assert np.isfinite(of_order).all()
    assert not np.isin(of_order, values).any()
    # A quarter of the distance between the quartiles (about 27) is about 7: they are rounded to fives.
    np.testing.assert_array_equal(of_order % 5, 0.0)


def shared_events(per_group, likelihood="poisson", **more):
    """The frame of a feature whose subjects have one event each, so many in each group, and the frame before."""
    schema = FeatureSchema([Feature(name="events", likelihood=likelihood, **more)])
    whole = compare_subtypes(pd.DataFrame({"events": yes_no(*per_group)}), GROUPS, schema)
    return whole, suppress_small_cells(whole)


@pytest.mark.parametrize("likelihood", [{"likelihood": "poisson"}, {"likelihood": "binomial", "trials": 3}])
@pytest.mark.parametrize("per_group", [(1, 12), (12, 1), (4, 3), (9, 20)])
def test_few_events_do_not_follow_from_mean_and_n(per_group, likelihood):
    whole, shared = shared_events(per_group, **likelihood)
    found = audit_disclosure(whole)
    assert set(found.loc[found["cell"] == "total", "reason"]) == {"shown"}
    audited = audit_disclosure(shared, truth=whole)
    assert (audited["cell"] == "total").any()
    assert not audited["disclosed"].any()
    summaries = shared[shared["kind"] == "summary"].set_index("subtype")
    assert summaries["mean"].isna().to_dict() == {0: True, 1: per_group[0] < 10, 2: per_group[1] < 10}
    # Somebody who shows the mean of all subjects beside gives the small total away by subtraction.
    if min(per_group) < 10 <= max(per_group):
        shared.loc[(shared["kind"] == "summary") & (shared["subtype"] == 0), "mean"] = sum(per_group) / N
        assert set(audit_disclosure(shared, truth=whole)["reason"].dropna()) == {"interval"}


def test_totals_of_ten_events_are_exact():
    _, shared = shared_events((31, 17))
    summaries = shared[shared["kind"] == "summary"]
    assert (summaries["mean"] * summaries["n"]).tolist() == pytest.approx([48, 31, 17], abs=1e-9)


def test_few_subjects_below_the_highest_score_are_as_sensitive():
    schema = FeatureSchema([Feature(name="score", likelihood="binomial", trials=1)])
    shared = suppress_small_cells(compare_subtypes(pd.DataFrame({"score": 1 - yes_no(3, 40)}), GROUPS, schema))
    means = shared[shared["kind"] == "summary"].set_index("subtype")["mean"]
    assert means.isna().to_dict() == {0: True, 1: True, 2: False}


def test_the_audit_finds_the_name_of_a_withheld_contrast_and_a_q_adjusted_over_withheld_tests():
    whole = whole_of(**COMMON, rare=yes_no(4, 3))
    shared = suppress_small_cells(whole)
    assert not audit_disclosure(shared, truth=whole)["disclosed"].any()
    assert len(shared) == len(whole)
    found = audit_disclosure(shared.assign(q=whole["q"].where(shared["q"].notna())), truth=whole)
    assert set(found.loc[found["disclosed"], "feature"]) == {"rare"}
    assert set(found.loc[found["disclosed"], "reason"]) == {"test"}
    shared.loc[(shared["kind"] == "contrast") & (shared["feature"] == "rare"), "test"] = "Fisher's exact"
    found = audit_disclosure(shared, truth=whole)
    assert set(found.loc[found["disclosed"], "reason"]) == {"test"}


N_NAMED, THRESHOLD = 80, 10
GROUPS_NAMED = np.arange(N_NAMED) % 3 // 2
LEVELS = ("level a", "level b", "level c", "level d")


def compared(columns, features):
    return compare_subtypes(pd.DataFrame(columns), GROUPS_NAMED, FeatureSchema(features))


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), missing=st.sampled_from([0.0, 0.05, 0.3]), rounding=st.sampled_from([None, 5]))
def test_a_level_is_named_where_a_number_that_is_not_small_is_shown(seed, missing, rounding):
    rng = np.random.default_rng(seed)
    column = rng.choice(LEVELS, N_NAMED, p=rng.dirichlet(np.full(len(LEVELS), 0.5))).astype(object)
    answer = np.where(rng.random(N_NAMED) < rng.beta(0.3, 0.3), "level yes", "level no").astype(object)
    for each in (column, answer):
        each[rng.random(N_NAMED) < missing] = None
    features = [
        Feature(name="kind", likelihood="categorical", levels=LEVELS),
        Feature(name="answer", likelihood="bernoulli", levels=("level no", "level yes")),
    ]
    whole = compared({"kind": column, "answer": answer}, features)
    shared = suppress_small_cells(whole, threshold=THRESHOLD, rounding=rounding)
    summaries = shared[shared["kind"] == "summary"]
    values = {"kind": column, "answer": answer}
    for (feature, called), level in true_levels(shared, whole).items():
        own = summaries[(summaries["feature"] == feature) & (summaries["level"] == called)]
        if called == level:
            assert (values[feature] == level).sum() >= THRESHOLD
            assert (own["mean"] > 0).any()
        else:
            assert called.startswith("[c]")
            least = 0 if rounding is None else THRESHOLD + rounding // 2 - 1
            assert not (own["count"].dropna() > least).any()
    assert not any(level in row for row in shared["level"].dropna() for level in LEVELS if (column == level).sum() < 10)


@settings(max_examples=15, deadline=None)
@given(
    at_ends=st.tuples(st.integers(0, 16), st.integers(0, 16)),
    rounding=st.sampled_from([None, 5]),
    in_words=st.booleans(),
)
def test_the_ends_of_a_scale_stay_where_many_are_at_both(at_ends, rounding, in_words):
    low, high = at_ends
    scores = np.concatenate([np.zeros(low), np.full(high, 2), np.ones(N_NAMED - low - high)]).astype(int)
    words = ("none", "some", "all of it")
    declared = {"levels": words} if in_words else {"trials": 2}
    column = np.array(words)[scores] if in_words else scores
    whole = compared({"x": column}, [Feature(name="x", likelihood="binomial", **declared)])
    assert set(whole["at_ends"].dropna()) == {min(at_ends)}
    shared = suppress_small_cells(whole, threshold=THRESHOLD, rounding=rounding)
    few = min(at_ends) if rounding is None else rounded(np.float64(min(at_ends)), rounding) - rounding // 2
    is_shown = bool(few > THRESHOLD)
    assert set(shared["maximum"].notna()) == set(shared["minimum"].notna()) == {is_shown}
    assert set(shared["scored"].notna()) == {is_shown and in_words}
    assert shared["at_ends"].isna().all()


def test_a_frame_without_the_numbers_at_the_ends_is_refused():
    whole = compared({"x": GROUPS_NAMED}, [Feature(name="x", likelihood="binomial", trials=1)])
    assert suppress_small_cells(whole)["maximum"].eq(1).all()
    with pytest.raises(ValueError, match="comparisons must be a DataFrame that compare_subtypes returned"):
        suppress_small_cells(whole.drop(columns="at_ends"))
