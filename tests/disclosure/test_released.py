"""What stands beside the counts of a shared frame is a function of the numbers that the frame shows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from cohorts import mixed_cohort
from scipy.stats import false_discovery_control

from clinclust import Feature, FeatureSchema, audit_disclosure, compare_subtypes, suppress_small_cells
from clinclust.disclosure import withhold_associations

N = 120
GROUPS = np.repeat([0, 1], [70, 50])


def yes_no(*counts):
    """A column with these numbers of yes in the two groups."""
    return np.concatenate([np.arange(size) < count for size, count in zip((70, 50), counts, strict=True)]).astype(int)


def shared_of(**columns):
    frame = pd.DataFrame(columns)
    schema = FeatureSchema([Feature(name=name, likelihood="bernoulli") for name in frame])
    return suppress_small_cells(compare_subtypes(frame, GROUPS, schema))


def of_tests(frame, name):
    return frame[(frame["test"] == name) & frame["p"].notna() & (frame["kind"] == "test")]


def test_q_does_not_know_the_tests_that_are_withheld():
    common = {f"common{place}": yes_no(20 + 2 * place, 20 + place) for place in range(10)}
    alike, apart = shared_of(**common, rare=yes_no(4, 3)), shared_of(**common, rare=yes_no(0, 9))
    for name in ("student", "welch"):
        first, second = of_tests(alike, name), of_tests(apart, name)
        assert len(first) == len(common)
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
            "p": [0.01, 0.03, 0.02],
            "q": [0.03, 0.03, 0.03],
            "doubtful": pd.array([False, False, True], dtype="boolean"),
            "remark": ["", "", "few"],
        }
    )
    suppressed = pd.DataFrame({"feature": ["a", "b", "rare"], "suppressed": [False, False, True]})
    shared = withhold_associations(associations, suppressed)
    assert shared["q"].tolist()[:2] == [0.02, 0.03]
    assert shared.loc[2, ["test", "p", "q", "doubtful", "remark"]].isna().all()


def test_quartiles_are_no_value_of_one_subject():
    rng = np.random.default_rng(1)
    values = np.round(rng.normal(130, 20, N), 3)
    schema = FeatureSchema([Feature(name="x", likelihood="gaussian")])
    shared = suppress_small_cells(compare_subtypes(pd.DataFrame({"x": values}), GROUPS, schema))
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


def with_a_rare_answer():
    common = {f"common{place}": yes_no(20 + 2 * place, 20 + place) for place in range(10)}
    frame = pd.DataFrame({**common, "rare": yes_no(4, 3)})
    schema = FeatureSchema([Feature(name=name, likelihood="bernoulli") for name in frame])
    whole = compare_subtypes(frame, GROUPS, schema)
    return whole, suppress_small_cells(whole)


def test_the_audit_finds_a_q_that_was_adjusted_over_withheld_tests():
    whole, shared = with_a_rare_answer()
    assert not audit_disclosure(shared, truth=whole)["disclosed"].any()
    assert len(shared) == len(whole)
    shared["q"] = whole["q"].where(shared["q"].notna())
    found = audit_disclosure(shared, truth=whole)
    assert set(found.loc[found["disclosed"], "feature"]) == {"rare"}
    assert set(found.loc[found["disclosed"], "reason"]) == {"test"}


def test_the_audit_finds_the_name_of_a_withheld_contrast():
    whole, shared = with_a_rare_answer()
    shared.loc[(shared["kind"] == "contrast") & (shared["feature"] == "rare"), "test"] = "Fisher's exact"
    found = audit_disclosure(shared, truth=whole)
    assert set(found.loc[found["disclosed"], "reason"]) == {"test"}
