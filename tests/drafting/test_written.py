"""Numbers, levels and codes that a table writes in its own way."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scored import scored

from clinclust.drafting import draft_schema
from clinclust.files.number_notation import Marks, marks_of, number_as_written
from clinclust.likelihoods import traits_of

rng = np.random.default_rng(2)
NUMBERS = rng.normal(120, 20, 200)


def drafted(cells, name="x"):
    frame = pd.DataFrame({name: cells})
    schema = draft_schema(frame)
    return schema[name], schema.comments[name], schema.validate(frame, warn=False)


@scored(
    [
        (lambda value: f"{value:.1f}".replace(".", ","), {"decimal": ","}),
        (lambda value: f"{value:.1f} mg/dL", {"unit": "mg/dL"}),
        (lambda value: f"{value:.0f}%", {"unit": "%"}),
        (lambda value: f"{10 * value:,.2f}", {"thousands": ","}),
        (lambda value: f"{10 * value:,.2f}".translate(str.maketrans(",.", ".,")), {"thousands": ".", "decimal": ","}),
        (lambda value: f"{10 * value:,.0f}".replace(",", "'"), {"thousands": "'"}),
        (lambda value: f"{value:.2f}".replace(".", ",") + " ng/ml", {"decimal": ",", "unit": "ng/ml"}),
        (lambda value: "<85" if value < 85 else f"{value:.1f}", {"censored": "half"}),
        (lambda value: "> 160" if value > 160 else f"{value:.1f}", {"censored": "half"}),
    ],
)
def test_numbers_are_read_as_the_table_writes_them(write, fields):
    feature, comment, table = drafted([write(value) for value in NUMBERS])
    assert feature.likelihood in ("gaussian", "negative_binomial", "poisson")
    assert {key: getattr(feature, key) for key in fields} == fields
    assert table["x"].notna().all()
    assert comment


def test_two_units_in_the_cells_are_not_mixed():
    feature, comment, _ = drafted(
        [f"{value:.1f} mg/dL" if value > 120 else f"{value / 18:.1f} mmol/L" for value in NUMBERS]
    )
    assert feature.role == "ignore"
    assert comment


@scored(
    [
        (
            "glucose",
            np.where(rng.random(200) < 0.1, 5.1, 92) * rng.normal(1, 0.1, 200),
            "look like mmol/L, and 1",
        ),
        ("height", np.where(rng.random(200) < 0.2, 1.71, 171) * rng.normal(1, 0.05, 200), "look like m, and"),
        ("age", np.append(rng.normal(50, 9, 100), 540), "outside 0 to 120"),
        ("bmi", np.append(rng.normal(27, 4, 100), 270.5), "outside 7 to 120"),
        ("temperature", np.append(rng.normal(37, 0.5, 100), 3.75), "outside 24 to 45"),
        ("marker", np.append(rng.normal(100, 1, 100), 10_000), "far from all others"),
    ],
)
def test_numbers_that_contradict_themselves_deserve_a_look(name, numbers, words):
    assert words in drafted(np.round(numbers, 2), name)[1]


@scored(range(20))
def test_plain_measurements_deserve_no_look(seed):
    rng = np.random.default_rng(seed)
    table = {
        "normal": rng.normal(100, 15, 300),
        "skewed": np.exp(rng.normal(0, 1, 300)),
        "two groups": np.where(rng.random(300) < 0.4, rng.normal(0, 1, 300), rng.normal(6, 1, 300)) + 20,
        "bounded": rng.uniform(20, 30, 300),
        "few": np.append(np.full(285, np.nan), rng.normal(0, 1, 15)),
    }
    comments = draft_schema(pd.DataFrame(table)).comments
    assert not [name for name, comment in comments.items() if "LOOK" in comment]


def test_spellings_of_one_level_are_one_level():
    feature, comment, table = drafted(["Yes", "yes", "YES", "Y", "ja", "no", "No", "nein"] * 10)
    assert feature.likelihood == "bernoulli"
    assert len(feature.levels) == 2
    assert set(feature.synonyms) | set(feature.levels) == {"Yes", "yes", "YES", "Y", "ja", "no", "No", "nein"}
    assert "spellings" in comment
    assert table["x"].value_counts().tolist() == [50, 30]


def test_spellings_are_told_and_kept_in_an_ordered_scale():
    feature, _, _ = drafted(["none", "None", "mild", "MILD", "severe"] * 10)
    assert feature.likelihood in ("ordinal", "binomial")
    assert [level.casefold() for level in feature.levels] == ["none", "mild", "severe"]


@scored(
    [
        ("patient_id", np.repeat(np.arange(60), 3), "ignore"),
        ("date", [20200101 + day for day in range(20)], "ignore"),
        ("visit date", rng.integers(40_000, 45_000, 50), "ignore"),
        ("time", [f"{hour:02}:30" for hour in range(20)], "ignore"),
        ("born", [f"{day} Jan 1980" for day in range(1, 29)], "ignore"),
        ("spot", ["x"] * 30, "ignore"),
    ],
)
def test_what_is_no_feature_is_not_modelled(name, cells, role):
    assert drafted(cells, name)[0].role == role


def test_repeated_visits_are_told_with_the_option_that_chooses_one():
    assert "--one-row-per patient_id" in drafted(np.repeat(np.arange(60), 3), "patient_id")[1]


def test_a_spike_at_a_limit_is_described_and_not_clustered_on():
    feature, comment, _ = drafted(np.where(rng.random(300) < 0.3, 0, rng.gamma(2, 10, 300)).round(2))
    assert (feature.role, feature.likelihood) == ("describe", "gaussian")
    assert "are exactly 0" in comment


def test_what_deserves_a_look_comes_first_and_what_is_not_modelled_last():
    table = {
        "note": ["a"] * 200,
        "fine": NUMBERS[::-1],
        "odd": ["<85" if value < 85 else f"{value:.1f}" for value in NUMBERS],
    }
    assert draft_schema(pd.DataFrame(table)).names == ("odd", "fine", "note")


def test_columns_whose_names_begin_alike_are_a_section():
    schema = draft_schema(
        pd.DataFrame({name: rng.normal(size=50) for name in ("lab_a", "lab_b", "lab_c", "age", "bmi")})
    )
    assert [schema[name].section for name in ("lab_a", "lab_b", "lab_c", "age")] == ["lab", "lab", "lab", None]


def test_tails_that_may_become_subtypes_are_told():
    values = 60 - np.exp(np.random.default_rng(0).normal(1, 0.9, 300))
    assert "its lower tail is longer than that of a Gaussian" in drafted(values, "ejection")[1]
    assert "LOOK" not in drafted(np.random.default_rng(0).normal(60, 5, 300), "ejection")[1]


@scored(
    [
        ([-3, -2, -1, 0, 1, 2], None),
        ([-2, -1, 0, 1, 2], None),
        ([-9, -4, -2, -1, 0, 1, 3], None),
        ([0, 2, 4, 6, 8], ("0", "2", "4", "6", "8")),
        ([0, 1, 2, 3, 4, 5, 7], None),
    ],
)
def test_values_of_a_scale_are_no_missing_codes(cells, levels):
    feature, _, table = drafted(np.repeat(cells, 12))
    assert feature.missing_codes == ()
    assert table["x"].notna().all()
    assert levels is None or feature.levels == levels


def test_points_are_thousands_in_a_table_of_decimal_commas():
    rng = np.random.default_rng(0)
    ferritin = [f"{value:,}".replace(",", ".") for value in rng.integers(150, 3000, 100).tolist()]
    hb = [f"{value:.1f}".replace(".", ",") for value in rng.normal(13, 1.5, 100)]
    frame = pd.DataFrame({"Ferritin": ferritin, "Hb": hb})
    schema = draft_schema(frame)
    assert (schema["Ferritin"].thousands, schema["Ferritin"].decimal) == (".", ",")
    assert schema.validate(frame)["Ferritin"].min() > 100
    assert "other columns have decimal commas" in schema.comments["Ferritin"]


@scored([",", "'", " ", "\u202f", "\u00a0"])
def test_numbers_with_thousands_are_no_identifiers(mark):
    values = np.random.default_rng(0).choice(np.arange(150_000, 400_000), 80, replace=False)
    feature, _, table = drafted([f"{value:,}".replace(",", mark) for value in values.tolist()], "Plaquettes")
    assert feature.role == "cluster"
    assert sorted(table["Plaquettes"]) == sorted(values)


def test_numbers_with_marks_are_no_identifiers():
    costs = [
        f"{value:,.2f}".translate(str.maketrans(",.", ".,")) for value in np.random.default_rng(0).normal(5000, 900, 60)
    ]
    assert drafted(costs, "Kosten")[0].likelihood == "gaussian"


@pytest.mark.parametrize("flagged", ["5.2 H", "3½"])
def test_flags_and_fractions_are_no_units(flagged):
    assert drafted([*(f"{value:.1f}" for value in np.linspace(3, 5, 60)), *[flagged] * 10])[0].unit is None


def test_a_comma_behind_a_zero_is_a_decimal_comma():
    assert drafted([f"0,{value}" for value in range(110, 190)])[0].decimal == ","


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
            assert "write all numbers with one decimal mark" in comment


@scored(
    [
        ["0_no", "1_yes"],
        ["0 No", "1 Yes"],
        ["0 None", "1 Yes"],
        ["0", "1 Yes"],
        ["1_female", "2_male"],
        ["1_Good", "2_Fair", "3_Poor"],
        ["18.5_to_24.9", "25_to_29.9", "30_or_more"],
        ["1 cup", "2 cups", "3 cups"],
    ],
)
@scored([0.1, 0.5])
def test_a_text_behind_a_number_that_is_no_unit_makes_levels(levels, share):
    n_last = int(share * 120)
    feature, _, _ = drafted(
        [levels[-1]] * n_last + [levels[place % (len(levels) - 1)] for place in range(120 - n_last)]
    )
    assert (feature.role, feature.levels) == ("cluster", tuple(levels))
    assert traits_of(feature.likelihood).is_scale or len(levels) == 2 or "cups" in levels[1]


def test_an_unknown_text_behind_many_numbers_is_their_unit():
    assert drafted([f"{value:.0f} points" for value in NUMBERS])[0].unit == "points"


@scored(["visit", "Untersuchung", "recruited"])
def test_compact_dates_are_dates_whatever_their_name(name):
    days = pd.date_range("2018-01-01", periods=60, freq="17D").strftime("%Y%m%d")
    assert drafted(days, name)[0].role == "ignore"


def test_a_limit_in_words_with_a_unit_of_its_own_is_no_number_and_stops_no_draft():
    cells = ["menos de 1x/dia"] * 12 + ["1x/dia"] * 40 + ["2x/dia"] * 80 + ["3x ou mais"] * 40
    feature, _, _ = drafted(cells)
    assert feature.synonyms is None
    assert drafted(["less than 5 mg"] * 5 + [f"{n} mg" for n in range(10, 90)])[0].synonyms == {"less than 5 mg": "<5"}


@scored([(",", "36,400"), (".", "36.400,5"), ("", "36400,5")])
def test_a_limit_in_words_is_written_as_the_column_writes_its_numbers(mark, limit):
    decimals = ",5" if "5" in limit else ""
    numbers = [f"{number:,}".replace(",", mark) + decimals for number in range(2600, 36000, 400)]
    feature, _, table = drafted([*numbers, *[f"Above {limit}"] * 6], "income")
    assert table["income"].iloc[-1] == (36400.5 if decimals else 36400)
    assert feature.likelihood is not None


def test_incomes_with_ends_in_words_are_levels_in_their_order():
    levels = ["Under 2,600", "2,600 to 5,200", "5,200 to 10,400", "10,400 to 36,400", "Above 36,400"]
    assert drafted(levels * 30, "gross_income")[0].levels == tuple(levels)


@pytest.mark.parametrize("digits", [(1, 3), (2, 3), (3, 1), (3, 2), (3, 3), (1, 2)])
@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([0.5, 5.0, 50.0]), n_commas=st.integers(1, 29))
def test_decimals_of_which_some_have_a_comma_are_read_right_or_not_at_all(digits, seed, size, n_commas):
    values = np.random.default_rng(seed).uniform(size, 2 * size, 30)
    with_comma, with_point = digits
    written = [
        f"{value:.{with_comma}f}".replace(".", ",") if place < n_commas else f"{value:.{with_point}f}"
        for place, value in enumerate(values)
    ]
    marks = marks_of(written)
    if marks != Marks() and not marks.is_guess:
        read = [float(number_as_written(text, marks.decimal, marks.thousands)) for text in written]
        np.testing.assert_allclose(read, values, atol=0.1)


def test_thousands_beside_decimals_are_known_by_numbers_between_them():
    assert marks_of(["1.289", "850,2", "9,5"]) == Marks(",", ".")
    assert marks_of(["1,234", "812.5", "12.5"]) == Marks(None, ",")
    assert marks_of(["1,234.5", "0.5"]) == Marks(None, ",")
    assert marks_of(["1,234", "7.58", "3.2"]).is_guess
