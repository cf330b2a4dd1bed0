"""Which texts and numbers of a column stand for missing values."""

import numpy as np
import pandas as pd
import pytest
from cases import cases_beside
from scored import scored

from clinclust.drafting import draft_schema
from clinclust.files.text_table import ColumnNotes, add_notes

LONG = [
    ([*map(str, np.arange(1, 20) / 8), "haemolytic"], 3, ("haemolytic",)),
    ([1, 2, 3, 4, 5] * 12 + [9], 3, ("9",)),
    ([0] * 30 + [1] * 25 + [2] * 20 + [3] * 9 + [4] * 3 + [5] * 2 + [8], 3, ()),
    ([94] * 3 + [95] * 5 + [96] * 8 + [97] * 12 + [98] * 14 + [99] * 10, 20, ()),  # saturations
]


@scored([*cases_beside(__file__, "missing_codes"), *LONG])
def test_missing_codes_are_suspected_and_remarked_upon(cells, times, codes):
    schema = draft_schema(pd.DataFrame({"x": cells * times}))
    assert set(schema["x"].missing_codes) == set(codes)
    for code in codes:
        assert repr(code) in schema.comments["x"]


def test_a_lone_minus_one_beside_scores_is_a_value_and_minus_the_opposite_of_plus():
    schema = draft_schema(pd.DataFrame({"t_score": [-1, 2, 7, 7, 3, 4] * 3, "x": ["+", "-", ""] * 6}))
    assert (schema["t_score"].missing_codes, schema["x"].missing_codes) == ((), ())
    assert schema["x"].levels == ("-", "+")


@pytest.mark.parametrize(
    ("values", "code"),
    [
        (np.linspace(40, 110, 190).round(1), 999.9),
        (np.linspace(-4, 3, 190).round(1), -9),
        (np.linspace(8, 17, 190).round(1), 99.9),
    ],
)
def test_codes_among_decimals_are_missing_and_no_part_of_the_feature(values, code):
    feature = draft_schema(pd.DataFrame({"x": np.append(values, [code] * 10)}))["x"]
    assert feature.missing_codes == (f"{code:g}",)
    assert feature.spike == ()


def test_a_mark_beside_empty_cells_asks_what_they_mean():
    comment = draft_schema(pd.DataFrame({"diabetes": ["x", "", ""] * 20, "age": range(60)})).comments["diabetes"]
    assert "'x' is in 33% of the cells, and the others are empty" in comment


@scored(
    [
        (np.random.default_rng(0).normal(135, 18, 200).round(), ("0",)),  # pressures
        (np.random.default_rng(1).normal(27, 4, 200).round(1), ("0",)),  # body mass
        (np.random.default_rng(2).exponential(12, 200).round(1), ()),  # pack-years
        (np.random.default_rng(3).poisson(6, 200), ()),
    ]
)
def test_zero_is_missing_where_nobody_can_have_it(values, codes):
    cells = np.where(np.arange(values.size) % 17 == 0, 0, values)
    schema = draft_schema(pd.DataFrame({"x": cells}))
    assert tuple(float(code) for code in schema["x"].missing_codes) == tuple(map(float, codes))
    assert ("LOOK" in schema.comments["x"]) >= bool(codes)


def test_a_code_for_unknown_is_one_in_all_columns_of_the_table():
    rng = np.random.default_rng(4)
    shares = {f"sign{k}": share for k, share in enumerate((0.02, 0.05, 0.2, 0.4))}
    cells = {name: rng.choice([1, 2, 9], 400, p=[0.5, 0.5 - share, share]) for name, share in shares.items()}
    below = {f"cups{k}": rng.choice([-3, -1, *range(8)], 400) for k in range(4)}
    change = {f"change{k}": rng.integers(-1, 2, 400) for k in range(2)}
    schema = draft_schema(pd.DataFrame({**cells, **below, **change, "score": rng.integers(1, 10, 400)}))
    assert {frozenset(schema[name].missing_codes) for name in below} == {frozenset(["-1", "-3"])}
    assert not any(schema[name].missing_codes for name in change)
    assert {(schema[name].likelihood, schema[name].missing_codes) for name in cells} == {("bernoulli", ("9",))}
    assert schema["score"].missing_codes == ()


def test_a_code_without_a_label_means_what_its_label_says_in_other_columns():
    answers, rng = (("1", "oui"), ("2", "non")), np.random.default_rng(4)
    frame = pd.DataFrame({f"S{k}": rng.choice(["1", "2", "9"], 200) for k in range(5)})
    add_notes(frame, {f"S{k}": ColumnNotes(levels=(*answers, *[("9", "NSP")] * (k < 3))) for k in range(5)})
    assert {feature.missing_codes for feature in draft_schema(frame)} == {("9",)}


def form(n=120):
    """Return an export of REDCap in which a quarter of the forms are empty, and which they are."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"record_id": np.arange(1, n + 1), "redcap_event_name": "baseline_arm_1"})
    frame["hb"] = rng.normal(13, 1, n).round(1)
    boxes = [f"comorb___{k}" for k in (1, 2, 3)]
    frame[boxes] = rng.integers(0, 2, (n, 3))
    frame["history_complete"] = 2
    is_empty = rng.random(n) < 0.25
    frame.loc[is_empty, [*boxes, "history_complete"]] = 0
    return frame, boxes, is_empty


@pytest.mark.parametrize("has_state", [True, False])
def test_check_boxes_of_a_form_that_nobody_filled_in_deserve_a_look_whose_line_repairs_them(has_state):
    frame, boxes, is_empty = form()
    if not has_state:  # the other fields of the form tell
        frame["dose"] = frame["since"] = np.where(is_empty, None, np.arange(len(frame)) % 9)
        frame = frame.drop(columns="history_complete")
    schema = draft_schema(frame)
    assert all(f"in {is_empty.sum()} rows" in schema.comments[name] for name in boxes)
    assert "LOOK" not in schema.comments["hb"]
    repair = schema.comments[boxes[0]].split("for missing: ")[1].splitlines()[0]
    local = {"frame": frame.astype(str)}
    exec(repair, local)
    assert local["frame"][boxes].isna().all(axis=1).tolist() == is_empty.tolist()


def test_fields_asked_of_those_who_ticked_a_box_only_say_nothing_of_the_boxes():
    frame, boxes, _ = form()
    frame["dose"] = frame["since"] = np.where((frame[boxes] == 0).all(axis=1), None, np.arange(len(frame)) % 9)
    schema = draft_schema(frame.drop(columns="history_complete"))
    assert not any("no box" in schema.comments[name] for name in boxes)
