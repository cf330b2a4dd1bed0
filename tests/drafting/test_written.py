"""How columns write numbers: marks, units, limits, words among them."""

import numpy as np
import pandas as pd
import pytest
from cases import cases_beside, read_beside
from hypothesis import given
from hypothesis import strategies as st
from scored import scored

from clinclust.drafting import draft_schema
from clinclust.files.notation import marks_of, number_as_written
from clinclust.likelihoods import traits_of

rng = np.random.default_rng(0)
NUMBERS = rng.normal(120, 15, 200).round(1)


def drafted(cells, name="x"):
    """Return the feature, its comment, and the table as the draft reads it."""
    frame = pd.DataFrame({name: cells})
    schema = draft_schema(frame, progress=False)
    return schema[name], schema.comments[name], schema.validate(frame, warn=False)


@pytest.mark.parametrize("unit", ["mg/dL", "mmHg", "%", "points", "g/l", "x10^9/L"])
def test_the_unit_of_many_numbers_is_their_unit(unit):
    feature, _, table = drafted([f"{value} {unit}" for value in NUMBERS])
    assert feature.unit == unit
    np.testing.assert_array_equal(table["x"], NUMBERS)


@pytest.mark.parametrize("levels", read_beside(__file__)["behind_numbers"])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_a_text_behind_a_number_that_is_no_unit_makes_levels(levels, share):
    n_last = int(share * 120)
    cells = [levels[-1]] * n_last + [levels[place % (len(levels) - 1)] for place in range(120 - n_last)]
    feature, _, _ = drafted(cells)
    assert (feature.role, feature.levels) == ("cluster", tuple(levels))
    assert traits_of(feature.likelihood).is_scale or len(levels) == 2


def test_decimal_commas_thousands_and_limits_are_declared():
    feature, _, table = drafted([f"{value:.1f}".replace(".", ",") for value in NUMBERS])
    assert feature.decimal == ","
    np.testing.assert_array_equal(table["x"], NUMBERS)
    costs = [f"{value:,.2f}".translate(str.maketrans(",.", ".,")) for value in rng.normal(5000, 900, 60)]
    feature, _, _ = drafted(costs, "Kosten")
    assert (feature.likelihood, feature.decimal, feature.thousands) == ("gaussian", ",", ".")


@pytest.mark.parametrize("below", ["<85", "less than 85"])
def test_values_beyond_a_limit_are_numbers_of_a_column_of_many(below):
    feature, comment, table = drafted([below if value < 100 else f"{value:.1f}" for value in NUMBERS])
    assert feature.likelihood == "gaussian"
    assert "beyond a limit" in comment
    assert len(table) == 200


def test_decimal_commas_of_the_table_decide_what_three_decimals_and_points_are():
    ferritin = [f"{value:,}".replace(",", ".") for value in rng.integers(150, 3000, 100).tolist()]
    hb, kalium = (
        [f"{value:.{n}f}".replace(".", ",") for value in rng.normal(m, 0.4, 100)] for n, m in ((1, 13), (3, 4))
    )
    frame = pd.DataFrame({"Ferritin": ferritin, "Hb": hb, "kalium": kalium})
    schema = draft_schema(frame)
    assert (schema["Ferritin"].thousands, schema["Ferritin"].decimal) == (".", ",")
    assert schema.validate(frame)["Ferritin"].min() > 100
    assert schema.validate(frame)["kalium"].max() < 10


@given(st.lists(st.tuples(st.integers(0, 9999), st.integers(0, 3), st.sampled_from(".,")), min_size=1, max_size=9))
def test_decimals_in_two_marks_are_read_as_they_are_or_refused(written):
    """Both marks are shown to be decimal marks by numbers below 1; no number then means a thousand times as much."""
    written = [(820, 3, ","), (813, 3, "."), *written]
    values = [digits / 10**decimals for digits, decimals, _ in written]
    cells = [f"{value:.{d}f}".replace(".", mark) for value, (_, d, mark) in zip(values, written, strict=True)]
    marks = marks_of(cells)
    for cell, value in zip(cells, values, strict=True):
        read = number_as_written(cell, marks.decimal, marks.thousands)
        assert float(read) == value if read is not None else marks.is_guess


@pytest.mark.parametrize("n_commas", [10, 60, 110])
def test_a_column_in_two_decimal_marks_is_read_below_one_and_refused_where_nothing_decides(n_commas):
    for low, is_read in ((0.7, True), (1.1, False)):
        values = np.round(np.linspace(low, low + 0.25, 120), 3)
        cells = [f"{x:.3f}".replace(".", "," if place < n_commas else ".") for place, x in enumerate(values)]
        feature, comment, table = drafted(cells, "share")
        assert feature.role == ("cluster" if is_read else "ignore")
        if is_read:
            np.testing.assert_array_equal(table["share"], values)
        else:
            assert "could each be the decimal mark or keep thousands apart" in comment


def test_two_units_in_one_column_are_refused_with_the_repair():
    cells = [f"{value / 18:.1f} mmol/l" if place % 2 else f"{value:.0f} mg/dl" for place, value in enumerate(NUMBERS)]
    feature, comment, _ = drafted(cells, "glucose")
    assert feature.role == "ignore"
    assert "give all values in one unit" in comment


@pytest.mark.parametrize(("written", "mark"), [("{} H", "H"), ("ca. {}", "ca."), ("~{}", "~"), ("{}*", "*")])
def test_flags_and_approximations_are_marks(written, mark):
    feature, _, table = drafted([written.format(value) if value > 140 else str(value) for value in NUMBERS])
    assert feature.marks == (mark,)
    np.testing.assert_array_equal(table["x"], NUMBERS)


@pytest.mark.parametrize(
    ("often", "rare"), [("I-II", "I\u2013II"), (">=5 mm", "\u22655 mm"), ("grade 1", "grade \uff11")]
)
def test_signs_of_other_keyboards_are_spellings_of_one_level(often, rare):
    feature, _, _ = drafted([often] * 40 + ["III-IV"] * 30 + [rare] * 6)
    assert len(feature.levels) == 2
    assert feature.synonyms == {rare: often}


@pytest.mark.parametrize("written", ["\u2212{}", "'{}", "\uff0d{}"])
@pytest.mark.parametrize("zero", ["0", "\uff10", "\u0660"])  # of ASCII, full width, Arabic
def test_numbers_in_other_digits_and_signs_are_numbers(written, zero):
    digits = {ord("0") + digit: chr(ord(zero) + digit) for digit in range(10)}
    _, _, table = drafted([written.format(value).translate(digits) for value in NUMBERS])
    np.testing.assert_array_equal(table["x"].abs(), NUMBERS)
    assert (table["x"] < 0).all() == ("'" not in written)


def test_spellings_of_one_level_are_one_level():
    feature, comment, table = drafted(["Yes", "yes", "YES", "Y", "ja", "no", "No", "nein"] * 10)
    assert feature.likelihood == "bernoulli"
    assert set(feature.synonyms) | set(feature.levels) == {"Yes", "yes", "YES", "Y", "ja", "no", "No", "nein"}
    assert "spellings" in comment
    assert table["x"].value_counts().tolist() == [50, 30]


@pytest.mark.parametrize(
    "cells",
    [
        [*[f"{value / 9:.1f}" for value in NUMBERS[:60]], "131 g/L", "124 g/L"],
        [*[f"{value} years" for value in range(2, 60)], "5 months", "11 months"],
    ],
)
def test_a_unit_of_few_cells_is_refused_and_neither_given_to_all_nor_lost(cells):
    feature, comment, _ = drafted(cells)
    assert feature.role == "ignore"
    assert "several units" in comment


@pytest.mark.parametrize("slip", ["72kg", "12,x"])
def test_one_cell_with_a_unit_among_hundreds_without_costs_no_column(slip):
    feature, comment, _ = drafted([*map(str, np.random.default_rng(0).normal(150, 20, 200).round(1)), slip])
    assert (feature.role, feature.missing_codes) == ("cluster", (slip,))
    assert f"LOOK: {slip!r}: no numbers" in comment


@pytest.mark.parametrize("other", ["n.n.", "not detected", "6.1 10*9/L"])
def test_texts_beside_many_numbers_are_named_with_the_repair(other):
    feature, comment, _ = drafted([*[f"{value}" for value in NUMBERS[:60]], *[other] * 20])
    assert feature.role == "ignore"
    assert repr(other) in comment
    assert "limits such as <5" in comment


def test_two_numbers_in_each_cell_are_no_identifier():
    feature, comment, _ = drafted([f"{value:.0f}/{value - 40:.0f}" for value in NUMBERS])
    assert feature.role == "ignore"
    assert "a column of its own" in comment


@scored(
    [
        *(
            (f"{name} {factor}", share)
            for name, factor in (("hb", 10.0), ("Krea", 88.42), ("Ca", 4.008))
            for share in (0.1, 0.5)
        ),
        *((f"hb {factor}", 0.3) for factor in (1.0, 1.4, 5.0, 45.0, 88.42, 4.008)),
    ]
)
def test_two_units_in_one_column_deserve_a_look_whose_line_repairs_them(measured, share):
    rng = np.random.default_rng(6)
    name, factor = measured.split()[0], float(measured.split()[1])
    values = rng.normal(13, 1, 300).round(2)
    is_other = rng.random(300) < share
    frame = pd.DataFrame({name: np.where(is_other, (values * factor).round(3), values)})
    schema = draft_schema(frame)
    is_seen = measured in ("hb 10.0", "Krea 88.42", "Ca 4.008")  # by another ratio, groups of patients differ
    assert (schema[name].role == "describe") == is_seen
    if is_seen:
        repair = schema.comments[name].split("convert them, with ")[1].split("; or, if both")[0]
        local = {"frame": frame.copy(), "pd": pd}
        exec(repair, local)
        assert np.ptp(local["frame"][name]) < 12 * max(1.0, factor if share == 0.5 else 1.0)


@pytest.mark.parametrize("name", ["weight", "crp"])
def test_of_weights_in_kg_and_lb_two_modes_may_nearly_meet(name):
    rng = np.random.default_rng(1)
    kg = rng.normal(72, 9, 300).round()
    schema = draft_schema(pd.DataFrame({name: np.where(rng.random(300) < 0.3, (2.205 * kg).round(), kg)}))
    assert ("as if in another unit" in schema.comments[name]) == (name == "weight")


@pytest.mark.parametrize(("share", "mean", "mark"), [(0.2, 37.2, "."), (0.8, 99.0, "."), (0.2, 37.2, ",")])
def test_degrees_fahrenheit_among_celsius_are_converted_with_their_zero(share, mean, mark):
    rng = np.random.default_rng(3)
    celsius = rng.normal(37.2, 0.7, 300).round(1)
    written = pd.Series(np.where(rng.random(300) < share, (1.8 * celsius + 32.0).round(1), celsius)).astype(str)
    frame = pd.DataFrame({"temp": written.str.replace(".", mark)})
    repair = draft_schema(frame).comments["temp"].split("convert them, with ")[1].split("; or, if both")[0]
    local = {"frame": frame, "pd": pd}
    exec(repair, local)
    assert local["frame"]["temp"].mean() == pytest.approx(mean, abs=0.3)
    assert local["frame"]["temp"].std() < 2.0
    assert draft_schema(local["frame"])["temp"].role == "cluster"


@scored(cases_beside(__file__, "misspelt"))
def test_misspelt_levels_and_dates_among_levels_deserve_a_look(numbers, is_looked_at):
    cells = [cell for cell, number in numbers.items() for _ in range(number)]
    comment = draft_schema(pd.DataFrame({"x": cells})).comments["x"]
    assert ("another spelling" in comment or "dates among" in comment) == is_looked_at


@scored([("maennlich", "männlich"), ("Type2", "type 2"), ("g 2", "G2")])
def test_spellings_of_one_word_are_one_level(rare, often):
    assert drafted([often] * 40 + ["other"] * 30 + [rare] * 2)[0].synonyms == {rare: often}


def test_points_keep_thousands_apart_where_the_numbers_go_on_from_hundreds():
    values = np.random.default_rng(3).integers(200, 3000, 150)
    _, comment, table = drafted([f"{value:,}".replace(",", ".") for value in values])
    assert table["x"].tolist() == values.tolist()
    assert "LOOK" in comment
    assert drafted([f"{value / 1000:.3f}" for value in values])[2]["x"].max() < 3.0


def test_numbers_among_words_for_negative_are_no_levels():
    cells = [f"{value:.1f}" if place % 3 else "neg" for place, value in enumerate(NUMBERS)]
    assert "LOOK" in drafted(cells)[1]
    assert drafted(cells)[0].levels is None


def test_letters_of_two_languages_are_no_spellings_of_one_answer():
    schema = draft_schema(pd.DataFrame({"edema": ["N", "S", "Y", "N"] * 20, "ill": ["Y", "yes", "N", "no"] * 20}))
    assert (schema["edema"].likelihood, schema["ill"].likelihood) == ("categorical", "bernoulli")


def test_what_cannot_be_seen_makes_no_second_level():
    schema = draft_schema(
        pd.DataFrame({"x": ["mild"] * 9 + ["mi\u00adld"] * 2 + ["severe\u200b"] * 5 + ["severe"] * 6})
    )
    assert sorted(schema["x"].levels) == ["mild", "severe"]


def test_one_measurement_in_several_columns_has_one_likelihood_and_others_keep_theirs():
    rng = np.random.default_rng(7)
    hearing = rng.normal(20, 9, 300)
    ears = {f"AC500_{side}": (hearing + rng.normal(0, 4, 300)).round().clip(-5) for side in ("left", "right")}
    ears |= {"AC250_left": np.exp(hearing / 20 + rng.normal(0, 0.1, 300)).round(1) * 5}
    ears |= {"AC1000_left": (hearing + rng.normal(0, 4, 300)).round().clip(1)}
    schema = draft_schema(pd.DataFrame(ears))
    assert len({(schema[name].likelihood, schema[name].transform) for name in ears}) == 1
    apart = {
        "m0x": rng.normal(5, 1, 300).round(2),
        "m1x": rng.poisson(2, 300),
        "m2x": np.exp(rng.normal(1, 1, 300)).round(2),
    }
    schema = draft_schema(pd.DataFrame(apart))
    assert len({(schema[name].likelihood, schema[name].transform) for name in apart}) == 3
