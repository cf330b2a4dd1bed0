"""Cells that hold two numbers are told, or read as the one value that they write; no number of them is taken for it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scored import scored

from clinclust.drafting import draft_schema
from clinclust.drafting.feet_and_inches import heights_of, is_height

N = 150
rng = np.random.default_rng(4)
PRESSURES = [f"{int(a)}/{int(b)}" for a, b in zip(rng.normal(132, 18, N), rng.normal(79, 10, N), strict=True)]


def drafted(cells, name="x"):
    frame = pd.DataFrame({name: cells, "z": rng.normal(size=len(cells))})
    schema = draft_schema(frame)
    return (
        schema[name],
        schema.comments[name],
        schema.validate(frame, warn=False)[name] if schema[name].likelihood else None,
    )


@scored(
    [
        lambda text, place: text,
        lambda text, place: text.replace("/", " / ") + " mmHg",
        lambda text, place: "refused" if place % 25 == 0 else text,
        lambda text, place: f"{int(text[:-2].split('/')[0]) // 10}/{5 + place % 5}",
    ],
)
def test_blood_pressures_in_one_column_are_left_out_with_the_repair(write):
    feature, comment, _ = drafted([write(text, place) for place, text in enumerate(PRESSURES)], "RR")
    assert feature.role == "ignore"
    assert "a systolic and a diastolic blood pressure" in comment
    assert "Text to Columns" in comment


def test_pressures_that_all_differ_identify_nobody():
    different = sorted(set(PRESSURES))[:30]
    assert drafted(different, "BP")[0].role == "ignore"


def test_other_pairs_are_told_and_marks_out_of_a_fixed_number_are_levels():
    feature, comment, _ = drafted(list(rng.choice(["1/0", "2/1", "3/2", "1/1", "2/2", "4/3"], N)))
    assert feature.role == "ignore"
    assert "two numbers" in comment
    assert drafted(list(rng.choice(["3/5", "4/5", "5/5"], N)), "strength")[0].role == "cluster"


def test_numbers_of_cases_with_a_year_are_identifiers():
    assert drafted([f"{k}/{15 + k % 8}" for k in range(N)], "Fallnr")[0].role == "id"


@given(st.lists(st.tuples(st.integers(3, 7), st.integers(0, 11)), min_size=2, max_size=20, unique=True))
def test_feet_and_inches_are_read_as_centimetres(heights):
    from clinclust.drafting.column import observed
    from clinclust.files.column_notes import ColumnNotes

    for write in ("{}'{}\"", "{} ft {} in", "{}’ {}”", "{}′{}″"):
        cells = [write.format(*height) for height in heights]
        assert all(map(is_height, cells))
        read = heights_of(observed("height", pd.Series(cells), ColumnNotes()))
        expected = {write.format(feet, inches): 2.54 * (12 * feet + inches) for feet, inches in heights}
        meant = {text: float(number) for text, number in read.fields["synonyms"].items()}
        assert meant == pytest.approx(expected, abs=0.051)


def test_a_draft_reads_heights_in_feet_and_tells_them_among_others():
    feet = [f"{rng.integers(5, 7)}'{rng.integers(0, 12)}\"" for _ in range(N)]
    feature, _, values = drafted(feet, "height")
    assert (feature.role, feature.unit) == ("cluster", "cm")
    assert values.between(152, 212).all()
    feature, comment, _ = drafted([*feet[:-20], *map(str, range(160, 180))], "height")
    assert feature.role == "ignore"
    assert "feet and inches, and others do not" in comment


def test_durations_in_two_units_are_read_whole_or_told():
    lasting = [f"{rng.integers(1, 5)}h {rng.choice([10, 15, 30, 45])}min" for _ in range(N)]
    feature, _, values = drafted(lasting)
    assert feature.unit == "hours"
    assert values.between(1.1, 4.8).all()
    assert drafted([f"{rng.integers(1, 9)}y {rng.integers(0, 12)}m" for _ in range(N)], "age")[0].unit == "years"
    feature, comment, _ = drafted([*lasting[:-20], *map(str, range(40, 60))])
    assert feature.role == "ignore"
    assert "one number in one unit" in comment
