"""What a file says of its columns comes before what their values show; nothing in a column is lost."""

import warnings

import numpy as np
import pandas as pd
import pytest
from cases import cases_beside, read_beside
from hypothesis import given
from hypothesis import strategies as st
from schema_strategies import messy_frames
from scored import scored

from clinclust.drafting import draft_schema
from clinclust.errors import CohortWarning
from clinclust.files.text_table import ColumnNotes, add_notes
from clinclust.schema import FeatureSchema

rng = np.random.default_rng(0)


def drafted(cells, **notes):
    """Return the feature that is drafted for a column of these cells, each three times, and the comment on it."""
    frame = pd.DataFrame({"x": [str(cell) for cell in cells for _ in range(3)]})
    add_notes(frame, {"x": ColumnNotes(**notes)})
    schema = draft_schema(frame)
    schema.validate(frame, warn=False)
    return schema["x"], schema.comments["x"]


@scored([(name, *case) for name, case in read_beside(__file__)["listed_levels"].items()])
def test_the_values_that_a_file_lists_are_the_levels(name, levels, cells, fields):
    feature, _ = drafted(cells, levels=tuple(map(tuple, levels)))
    for field, value in fields.items():
        assert getattr(feature, field) == (tuple(value) if isinstance(value, list) else value), name


@scored(cases_beside(__file__, "called_ordered"))
def test_levels_that_a_file_calls_ordered_have_the_order_of_their_codes_or_of_the_file(levels, cells, expected):
    feature, _ = drafted(cells, levels=tuple(map(tuple, levels)), kind="ordinal")
    assert feature.levels == tuple(expected)
    assert feature.traits.is_scale


@scored(
    [
        ({"minimum": 0.0, "maximum": 10.0}, list("1234567"), {"trials": 10}),
        ({"minimum": 1.0, "maximum": 5.0}, list("234"), {"minimum": 1.0, "maximum": 5.0}),
        ({"minimum": 0.0, "maximum": 300.0}, rng.normal(120, 15, 40).round(1), {"minimum": 0.0, "maximum": 300.0}),
        ({"minimum": 0.0, "maximum": 100.0}, rng.normal(120, 15, 40).round(1), {"minimum": 0.0, "maximum": None}),
        ({"missing_codes": ("-9",)}, [*rng.normal(0, 3, 40).round(1), "-9.0"], {"missing_codes": ("-9", "-9.0")}),
        ({"unit": "mg"}, [f"{value} mg" for value in range(20, 60)], {"unit": "mg"}),
        ({"role": "describe"}, rng.normal(0, 3, 40).round(1), {"role": "describe", "likelihood": "gaussian"}),
    ]
)
def test_ranges_codes_and_units_of_numbers_are_kept(notes, cells, fields):
    feature, _ = drafted(cells, kind="number", **notes)
    assert {field: getattr(feature, field) for field in fields} == fields


def test_labels_of_some_values_do_not_make_levels():
    feature, comment = drafted(range(40), levels=(("0", "never"), ("98", "too many")), missing_codes=("99",))
    assert feature.levels is None
    assert "other values are in the column" in comment


@scored([("id", [f"p{place}" for place in range(9)], "ignore"), ("date", "12", "ignore"), ("text", "12", "ignore")])
def test_what_a_file_calls_no_feature_is_none(kind, cells, role):
    feature, _ = drafted(cells, kind=kind, label="L", block="b")
    assert (feature.role, feature.label, feature.block) == (role, "L", None)


@given(messy_frames(), st.data())
def test_whatever_a_file_says_of_a_column_the_draft_is_valid(frame, data):
    """Notes that fit or contradict the column, in any combination."""
    kinds = st.sampled_from([None, "nominal", "ordinal", "number", "yes/no", "date", "text", "id"])
    texts = st.sampled_from(["0", "1", "2", "-9", "yes", "no", "a", "1.5", ""])
    notes = {}
    for name in frame.columns:
        levels = data.draw(
            st.lists(st.tuples(texts, st.sampled_from(["none", "mild", "No", "Yes", "Unknown", "7"])), max_size=4)
        )
        notes[name] = ColumnNotes(
            label=data.draw(st.sampled_from([None, "A label"])),
            levels=tuple(levels),
            kind=data.draw(kinds),
            missing_codes=tuple(data.draw(st.lists(texts, max_size=2))),
            minimum=data.draw(st.sampled_from([None, 0.0, 1.0])),
            maximum=data.draw(st.sampled_from([None, 1.0, 5.0, 100.0])),
        )
    add_notes(frame, notes)
    schema = draft_schema(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CohortWarning)
        schema.validate(frame)
    assert not any("a fault of clinclust" in comment for comment in schema.comments.values())
    assert FeatureSchema.from_yaml(schema.to_yaml()) == schema


@pytest.mark.parametrize("declared", [{"maximum": 100.0}, {"minimum": 0.0}, {"maximum": 2.0}])
def test_a_declared_range_is_never_a_fault_of_the_draft(declared):
    frame = pd.DataFrame({"falls": ["0"] * 13 + ["1", "2"]})
    add_notes(frame, {"falls": ColumnNotes(**declared)})
    schema = draft_schema(frame)
    assert "a fault of clinclust" not in schema.comments["falls"]
    assert schema["falls"].traits.is_scale != (declared.get("maximum", 0.0) > 2.0)  # 101 steps are no scale of three


@pytest.mark.parametrize("column", [["mild", "mild", "Mild"], ["A", "a", None, "a"]])
def test_one_value_in_several_spellings_is_one_value(column):
    schema = draft_schema(pd.DataFrame({"x": column}))
    assert schema["x"].role == "ignore"
    assert "is read as" in schema.comments["x"]
    assert "fault of clinclust" not in schema.comments["x"]


@scored(
    [
        (np.random.default_rng(0).normal(5, 1, 120).round(2), {"gaussian"}),
        (np.random.default_rng(1).integers(0, 40, 120), {"gaussian", "poisson", "geometric", "negative_binomial"}),
        (np.random.default_rng(2).integers(1, 5, 120), {"categorical"}),
    ]
)
def test_a_file_that_calls_measurements_nominal_is_no_evidence(cells, likelihoods):
    frame = pd.DataFrame({"x": cells})
    add_notes(frame, {"x": ColumnNotes(kind="nominal")})
    assert draft_schema(frame)["x"].likelihood in likelihoods
