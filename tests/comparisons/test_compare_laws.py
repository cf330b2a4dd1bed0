"""Laws that hold for every kind of feature and any values: of sides, units, missing values, order and the rest."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from clinclust.comparisons import compare_subtypes
from clinclust.schema import FeatureSchema
from schemas import stored_schema

ENDS = ["estimate", "lower", "upper"]
CLOSE = {"rtol": 1e-8, "atol": 1e-10}
MIRROR = {
    "difference": lambda ends: -ends,
    "standardised_difference": lambda ends: -ends,
    "ratio": lambda ends: 1 / ends,
}
SCHEMA = stored_schema("compared")
DRAWN = {"yes": 2, "level": 3, "scale": 11, "count": 31, "long": 4, "duration": 4000, "measured": 4000}


def subjects(number):
    """Raw whole numbers of this many subjects, one column a feature; those below 0 are missing."""
    columns = [arrays(np.int64, number, elements=st.integers(-1, size - 1)) for size in DRAWN.values()]
    return st.tuples(*columns).map(np.column_stack)


@st.composite
def cohorts(draw, n_groups):
    """Values of every kind, some of them missing, in groups of 2 to 12 subjects."""
    sizes = [draw(st.integers(2, 12)) for _ in range(n_groups)]
    raw = draw(subjects(sum(sizes)))
    frame = pd.DataFrame(raw, columns=list(DRAWN)).astype(float).where(raw >= 0)
    frame["duration"] = (frame["duration"] + 1) / 8
    frame["measured"] = (frame["measured"] - 2000) / 8
    return frame, np.repeat(np.arange(n_groups), sizes)


def compared(frame, labels, schema=SCHEMA):
    return compare_subtypes(frame, labels, schema, min_size=1)


def effects_of(result, **where):
    """Effect sizes by feature, level and measure."""
    result = result[result.kind == "effect"]
    for column, value in where.items():
        result = result[result[column] == value]
    return result.set_index(["feature", "level", "measure"])[["n", "missing", *ENDS]].astype(float)


def assert_mirrored(one, other):
    assert one.index.equals(other.index)
    np.testing.assert_array_equal(one[["n", "missing"]], other[["n", "missing"]])
    for measure, mirrored in MIRROR.items():
        rows = one.index.get_level_values("measure") == measure
        assert rows.any()
        with np.errstate(divide="ignore"):
            there = mirrored(other[rows][["estimate", "upper", "lower"]].to_numpy())
        np.testing.assert_allclose(one[rows][ENDS], there, err_msg=measure, **CLOSE)


@given(cohorts(2))
def test_swapping_sides_mirrors_every_effect(cohort):
    frame, labels = cohort
    result = compared(frame, labels)
    pair = effects_of(result, versus=2)
    assert_mirrored(pair, effects_of(compared(frame, 1 - labels), versus=2))
    # With two subtypes everybody else is the other one.
    pd.testing.assert_frame_equal(effects_of(result, subtype=1, versus=0), pair, rtol=1e-8, atol=1e-10)
    assert_mirrored(pair, effects_of(result, subtype=2, versus=0))


@given(cohorts(4), st.integers(0, 3))
def test_everybody_else_is_one_group(cohort, chosen):
    frame, labels = cohort
    rest = effects_of(compared(frame, labels), subtype=chosen + 1, versus=0)
    pair = effects_of(compared(frame, (labels != chosen).astype(int)), versus=2)
    pd.testing.assert_frame_equal(rest, pair, rtol=1e-8, atol=1e-10)


@given(cohorts(3), st.sampled_from([1e-60, 0.01, 37.0, 1e60]))
def test_the_unit_changes_the_difference_only(cohort, factor):
    frame, labels = cohort
    # Whether a duration counts as skewed does not depend on the unit either: both have the same rows.
    frame[[name for name in DRAWN if name not in ("duration", "measured")]] = np.nan
    scaled = frame.assign(**{name: factor * frame[name] for name in ("duration", "measured")})
    one, other = effects_of(compared(frame, labels)), effects_of(compared(scaled, labels))
    assert one.index.equals(other.index)
    in_units = one.index.get_level_values("measure") == "difference"
    other.loc[in_units, ENDS] /= factor
    pd.testing.assert_frame_equal(one, other, rtol=1e-8, atol=1e-8)


@given(cohorts(3), st.integers(1, 5), st.randoms(use_true_random=False))
def test_missing_values_and_the_order_change_nothing(cohort, more, random):
    frame, labels = cohort
    order = random.sample(range(len(frame) + more), len(frame) + more)
    longer = frame.reindex(range(len(frame) + more)).iloc[order].reset_index(drop=True)
    one, other = compared(frame, labels), compared(longer, np.concatenate([labels, np.arange(more) % 3])[order])
    numbers = ["n", "mean", "sd", "median", "count", "statistic", "df", "df2", "p", "q", *ENDS]
    np.testing.assert_allclose(one[numbers].astype(float), other[numbers].astype(float), **CLOSE)


@given(cohorts(2), st.sampled_from([0, 2.0**33]))
def test_the_contrast_of_two_subtypes_is_the_pairwise_test(cohort, offset):
    frame, labels = cohort
    frame["measured"] += offset
    names = [name for name in DRAWN if name != "level"]
    for test in ("student", "welch"):
        features = [it.model_copy(update={"contrast": test if it.name in names else None}) for it in SCHEMA]
        result = compared(frame, labels, FeatureSchema(features))
        contrasts, pairs = (
            result[(result.kind == "contrast") & (result.feature != "level")],
            result[result.test == test],
        )
        pairs = pairs[pairs.feature != "level"]
        for column in ("statistic", "df", "p", "n", "missing"):
            np.testing.assert_allclose(contrasts[column].astype(float), pairs[column].astype(float), **CLOSE)


@given(cohorts(3))
def test_an_interval_holds_its_estimate(cohort):
    effects = effects_of(compared(*cohort)).dropna()
    slack = 1e-12 * (1 + effects.estimate.abs())
    infinite = np.isinf(effects.estimate)
    assert ((effects.lower <= effects.estimate + slack) | infinite).all()
    assert ((effects.upper >= effects.estimate - slack) | infinite).all()
