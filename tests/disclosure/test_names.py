"""A shared frame names no level and no end of a scale that only few subjects have, and tells nothing by its names."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from true_names import true_levels

from clinclust import Feature, FeatureSchema, compare_subtypes, suppress_small_cells
from clinclust.disclosure.rounding import rounded

N, THRESHOLD = 80, 10
GROUPS = np.arange(N) % 3 // 2
LEVELS = ("level a", "level b", "level c", "level d")


def compared(columns, features):
    return compare_subtypes(pd.DataFrame(columns), GROUPS, FeatureSchema(features))


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    missing=st.sampled_from([0.0, 0.05, 0.3]),
    rounding=st.sampled_from([None, 5]),
)
def test_a_level_is_named_where_a_number_that_is_not_small_is_shown(seed, missing, rounding):
    rng = np.random.default_rng(seed)
    column = rng.choice(LEVELS, N, p=rng.dirichlet(np.full(len(LEVELS), 0.5))).astype(object)
    answer = np.where(rng.random(N) < rng.beta(0.3, 0.3), "level yes", "level no").astype(object)
    for each in (column, answer):
        each[rng.random(N) < missing] = None
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
    scores = np.concatenate([np.zeros(low), np.full(high, 2), np.ones(N - low - high)]).astype(int)
    words = ("none", "some", "all of it")
    declared = {"levels": words} if in_words else {"trials": 2}
    column = np.array(words)[scores] if in_words else scores
    whole = compared({"x": column}, [Feature(name="x", likelihood="binomial", **declared)])
    assert set(whole["at_ends"]) == {min(at_ends)}
    shared = suppress_small_cells(whole, threshold=THRESHOLD, rounding=rounding)
    few = min(at_ends) if rounding is None else rounded(np.float64(min(at_ends)), rounding) - rounding // 2
    is_shown = bool(few > THRESHOLD)
    assert set(shared["maximum"].notna()) == set(shared["minimum"].notna()) == {is_shown}
    assert set(shared["scored"].notna()) == {is_shown and in_words}
    assert shared["at_ends"].isna().all()


def test_a_frame_of_an_earlier_version_keeps_no_end():
    whole = compared({"x": GROUPS}, [Feature(name="x", likelihood="binomial", trials=1)])
    assert suppress_small_cells(whole)["maximum"].eq(1).all()
    assert suppress_small_cells(whole.drop(columns="at_ends"))["maximum"].isna().all()
