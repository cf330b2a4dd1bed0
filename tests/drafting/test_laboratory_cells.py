# ruff: noqa: E501 - tables of cases read best with one case a line
"""What laboratories write into columns of numbers: flags, approximations, words, negative results, ranges, titres."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scored import scored

from clinclust.drafting import draft_schema
from clinclust.drafting.marks import without_flags
from clinclust.files.column_notes import ColumnNotes, add_notes
from clinclust.schema import Feature, FeatureSchema

N = 200
EXACT = np.random.default_rng(0).normal(138, 4, N).round(1)


def drafted(cells, name="sodium"):
    """Return the drafted feature, its comment, and the validated values."""
    frame = pd.DataFrame({name: cells})
    schema = draft_schema(frame)
    table = schema.validate(frame, warn=False)
    return schema[name], schema.comments[name], table.get(name)


def written(form, every):
    """Return the numbers as text, every so many of them in this form."""
    return [form.format(number) if place % every == 0 else f"{number}" for place, number in enumerate(EXACT)]


@scored([1, 2, 15])
@scored(["~{}", "ca. {}", "ca.{}", "approx {}", "{}*", "{} (H)", "{}?", "{} ↑", "{} high"])
def test_a_number_with_a_mark_is_that_number(every, form):
    feature, comment, values = drafted(written(form, every))
    assert values.tolist() == EXACT.tolist()
    assert len(feature.marks) == 1
    n = len(range(0, N, every))
    assert f"LOOK: {n} cells hold more than the number" in comment
    assert "the first in row" in comment or "(row 0)" in comment
    assert "`marks`" in comment


@scored(["{} H", "{}H", "H {}", "{}+"])
def test_letters_beside_some_numbers_are_flags(form):
    assert drafted(written(form, 3))[2].tolist() == EXACT.tolist()


def test_letters_beside_all_numbers_are_flags_only_if_they_differ():
    assert drafted([f"{number} L" for number in EXACT])[0].unit == "L"
    several = [f"{number} {flag}" for number, flag in zip(EXACT, "HLN" * N, strict=False)]
    assert drafted(several)[0].marks == ("H", "L", "N")
    vertebrae = np.random.default_rng(0).choice(["L 1", "L 2", "L 3", "L 4"], N)
    assert drafted(vertebrae, "vertebra")[0].likelihood == "categorical"


@given(st.floats(-1e6, 1e6, allow_nan=False), st.sampled_from(["~{}", "≈ {}", "{} *", "{} [L]", "( {}", "{}§"]))
def test_a_schema_with_marks_reads_the_number_between_them(number, form):
    schema = FeatureSchema([Feature(name="x", likelihood="gaussian", marks=["~", "≈", "*", "[L]", "(", "§"])])
    cell = form.format(repr(float(number)))
    assert schema.validate(pd.DataFrame({"x": [cell, "7"]}), warn=False)["x"][0] == number


@given(st.lists(st.text(max_size=12), min_size=1, max_size=20, unique=True))
@example(["0# B"])
def test_marks_are_taken_off_whole_texts_only(texts):
    marked = without_flags(texts, np.ones(len(texts), dtype=np.int64))
    assert len(marked.texts) == len(texts)
    for text, body, is_marked in zip(texts, marked.texts, marked.is_marked, strict=True):
        left = iter(text)  # a mark may also stand between a number and its unit, as in `5# ml`
        assert all(character in left for character in body)
        assert is_marked or body == text


@scored(["pending", "haemolysed", "nicht messbar", "zu wenig Material", "hémolysé", "see note"])
@scored([3, 20])
def test_words_for_no_result_are_missing_and_told_whatever_their_share(word, every):
    cells = [word if place % every == 0 else f"{number}" for place, number in enumerate(EXACT)]
    feature, comment, values = drafted(cells)
    n = len(range(0, N, every))
    assert feature.likelihood == "gaussian"
    assert feature.missing_codes == (word,)
    assert values.isna().sum() == n
    assert f"LOOK: {n} cells are not numbers and are taken for missing (`missing_codes`): '{word}'" in comment


def test_many_different_remarks_are_listed_and_do_not_cost_the_column():
    cells = [f"{number} remark {place}" if place % 15 == 0 else f"{number}" for place, number in enumerate(EXACT)]
    feature, comment, values = drafted(cells)
    assert feature.likelihood == "gaussian"
    assert values.isna().sum() == len(feature.missing_codes) == 14
    assert "(row 0)" in comment
    assert "and 11 more" in comment


def test_a_column_with_too_many_words_names_them():
    cells = [f"odd {place % 4}" if place % 4 == 0 else f"{number}" for place, number in enumerate(EXACT)]
    feature, comment, _ = drafted(cells)
    assert feature.role == "ignore"
    assert "75% of the cells are numbers, and 50 are not: 'odd 0' (50 cells, the first in row 0)" in comment
    assert "`missing_codes`" in comment


def test_several_units_are_named_with_their_cells():
    cells = [f"{number} mg/L" if place % 4 else f"{number / 10:.2f} mg/dL" for place, number in enumerate(EXACT)]
    feature, comment, _ = drafted(cells)
    assert feature.role == "ignore"
    assert "several units: 'mg/l' (150 cells), 'mg/dl' (50 cells)" in comment
    few = [f"{number} mg/L" if place % 40 else "1.4 g/L" for place, number in enumerate(EXACT)]
    feature, comment, _ = drafted(few)
    assert (feature.unit, feature.missing_codes) == ("mg/L", ("1.4 g/L",))
    assert "5 cells are not numbers" in comment


@scored(["€ {}", "{} €", "${}", "{} x10^9/L", "{} µmol/l"])
def test_units_before_and_after_the_number_are_read(form):
    feature, comment, values = drafted([form.format(number) for number in EXACT])
    assert values.tolist() == EXACT.tolist()
    assert feature.unit in form
    assert "the cells hold the unit" in comment


def test_numbers_without_the_unit_of_the_others_are_told():
    assert (
        "50 numbers have no unit, and are read as 'mg/L'"
        in drafted([f"{number} mg/L" if place % 4 else f"{number}" for place, number in enumerate(EXACT)])[1]
    )


CONCENTRATIONS = np.exp(np.random.default_rng(1).normal(2, 1.2, N)).round(1) + 0.5


@pytest.mark.parametrize(
    ("cells", "limit"),
    [
        (["neg." if place % 20 == 0 else f"{value}" for place, value in enumerate(CONCENTRATIONS)], CONCENTRATIONS.min()),
        (["n.n." if place % 3 == 0 else f"{value}" for place, value in enumerate(CONCENTRATIONS)], None),
        (["neg" if place % 9 == 0 else "<2" if value < 2 else f"{value}" for place, value in enumerate(CONCENTRATIONS)], 2),
    ],
)  # fmt: skip
def test_a_negative_result_beside_numbers_is_below_the_limit(cells, limit):
    feature, comment, values = drafted(cells, "antibody")
    assert feature.censored == "half"
    ((word, meant),) = feature.synonyms.items()
    assert limit is None or meant == f"<{limit:g}"
    assert values[[cell == word for cell in cells]].tolist() == [float(meant[1:]) / 2] * cells.count(word)
    assert f"below the limit {float(meant[1:]):g}" in comment
    assert "list them under `missing_codes` instead" in comment


def test_negative_beside_grades_is_a_grade():
    feature, _, _ = drafted(np.random.default_rng(0).choice(["neg", "1+", "2+", "3+"], N), "protein_urine")
    assert feature.levels == ("neg", "1+", "2+", "3+")


def test_titres_are_steps_with_negative_as_the_lowest():
    cells = np.random.default_rng(0).choice(["neg.", "1:20", "1:40", "1:80", "1:160", "<1:20"], N)
    feature, comment, _ = drafted(cells, "ana")
    assert feature.likelihood in ("ordinal", "binomial")
    assert feature.levels == ("neg.", "<1:20", "1:20", "1:40", "1:80", "1:160")
    assert "titre" in comment


def test_a_range_is_missing_with_the_line_that_repairs_it():
    cells = ["0,5-1,0" if place % 25 == 0 else f"{value:.1f}".replace(".", ",") for place, value in enumerate(EXACT)]
    feature, comment, _ = drafted(cells)
    assert (feature.decimal, feature.missing_codes) == (",", ("0,5-1,0",))
    assert 'such as `synonyms: {"0,5-1,0": 0.75}`' in comment


def test_what_a_file_declares_a_number_keeps_its_marks():
    frame = pd.DataFrame({"sodium": written("{} (H)", 20)})
    add_notes(frame, {"sodium": ColumnNotes(label="Sodium", kind="number")})
    schema = draft_schema(frame)
    assert schema["sodium"].marks == ("(H)",)
    assert schema["sodium"].label == "Sodium"
    assert schema.validate(frame, warn=False)["sodium"].tolist() == EXACT.tolist()


def test_the_drafted_schema_says_the_same_after_it_was_written_and_read(tmp_path):
    frame = pd.DataFrame({"a": written("{} (H)", 3), "b": ["neg." if place % 9 == 0 else f"{x}" for place, x in enumerate(CONCENTRATIONS)]})  # fmt: skip
    schema = draft_schema(frame)
    (tmp_path / "schema.yaml").write_text(schema.to_yaml(), encoding="utf-8")
    again = FeatureSchema.from_yaml(tmp_path / "schema.yaml")
    pd.testing.assert_frame_equal(again.validate(frame, warn=False), schema.validate(frame, warn=False))


def test_a_plus_behind_a_unit_is_a_flag():
    rng = np.random.default_rng(0)
    numbers = rng.gamma(3, 4, 150).round(1)
    cells = [f"{number} mg/l +" if number > 15 else f"{number} mg/l" for number in numbers]
    frame = pd.DataFrame({"crp": cells})
    schema = draft_schema(frame, progress=False)
    assert (schema["crp"].unit, schema["crp"].marks) == ("mg/l", ("+",))
    np.testing.assert_array_equal(schema.validate(frame)["crp"], numbers)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_a_number_of_ten_is_read_as_the_number(share):
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 11, 150)
    frame = pd.DataFrame({"nrs": [f"{number}/10" if rng.random() < share else f"{number}" for number in numbers]})
    schema = draft_schema(frame, progress=False)
    assert schema["nrs"].marks == ("/10",)
    assert schema["nrs"].role == "cluster"
    np.testing.assert_array_equal(schema.validate(frame)["nrs"].astype(int), numbers)
    assert "/10" in schema.comments["nrs"]


def test_fractions_of_several_wholes_or_above_the_whole_are_no_such_numbers():
    for cells in (["6/10", "3/4", "5", "7/10"], ["12/10", "6/10", "8", "9/10"]):
        schema = draft_schema(pd.DataFrame({"x": cells * 40}), progress=False)
        assert not schema["x"].marks


@scored([("{}* mg/l", "*"), ("{} H mg/l", "H"), ("{}↑ mg/l", "↑")])
def test_a_flag_between_number_and_unit_is_taken_off(flagged, mark):
    numbers = np.random.default_rng(0).gamma(3, 4, 150).round(1)
    frame = pd.DataFrame({"crp": [(flagged if number > 15 else "{} mg/l").format(number) for number in numbers]})
    schema = draft_schema(frame, progress=False)
    assert (schema["crp"].unit, schema["crp"].marks) == ("mg/l", (mark,))
    np.testing.assert_array_equal(schema.validate(frame)["crp"], numbers)


def test_degrees_without_a_letter_are_those_of_the_other_cells():
    rng = np.random.default_rng(0)
    numbers = rng.normal(37.5, 0.7, 150).round(1)
    frame = pd.DataFrame({"temp": [f"{number}°" if rng.random() < 0.3 else f"{number} °C" for number in numbers]})
    schema = draft_schema(frame, progress=False)
    assert schema["temp"].unit == "°C"
    assert "'°' is read as '°C'" in schema.comments["temp"]
    np.testing.assert_array_equal(schema.validate(frame)["temp"], numbers)
