"""Which texts and numbers of a column stand for missing values."""

import numpy as np
import pandas as pd
import pytest
from scored import scored

from clinclust.drafting import draft_schema

CODES_OF_FEW = [
    (["1.5", "2.5", "3.5", "NA", "n/a"], ("NA", "n/a")),
    (["yes", "no", "unknown", "."], (".", "unknown")),
    ([30, 45, 61, 999], ("999",)),
    ([0.5, 1.25, 2.5, -9], ("-9",)),
    ([0, 1, 2, 3, 99], ("99",)),
    ([-8.5, -9, -10.25, -7], ()),
    ([97, 98, 99, 100], ()),
    ([*map(str, np.arange(1, 20) / 8), "haemolytic"], ("haemolytic",)),
    ([1, 2, 3, 4, 5] * 12 + [9], ("9",)),
    ([0] * 30 + [1] * 25 + [2] * 20 + [3] * 9 + [4] * 3 + [5] * 2 + [8], ()),
    ([0, 1, 2, 3, 7, 8] * 6, ()),
    (["ja", "nein", "k.A."], ("k.A.",)),
]
CODES_OF_MANY = [
    (["trifft voll zu", "trifft eher zu", "trifft eher nicht zu", "trifft nicht zu"], ()),
    (["done", "not done"], ()),
    (["ND", "D"], ()),
    (["4.5", "5.5", "6.1", "#NV", "#WERT!"], ("#NV", "#WERT!")),
    (["low", "moderate", "high", "99"], ("99",)),
    (["0_no", "1_yes", "99_missing"], ("99_missing",)),
    (["0 - nie", "1 - manchmal", "2 - oft", "9 - nicht gefragt"], ("9 - nicht gefragt",)),
    ([0, 1, 2, 3, -9], ("-9",)),
    ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -1], ("-1",)),
    ([-3, -2, -1, 0, 1, 2], ()),
    ([-2, -1, 0, 1, 2], ()),
    ([-9, -4, -2, -1, 0, 1, 3], ()),
    ([0, 2, 4, 6, 8], ()),
]


@scored(
    [*((3 * cells, codes) for cells, codes in CODES_OF_FEW), *((20 * cells, codes) for cells, codes in CODES_OF_MANY)]
)
def test_missing_codes_are_suspected_and_remarked_upon(cells, codes):
    schema = draft_schema(pd.DataFrame({"x": cells}))
    assert set(schema["x"].missing_codes) == set(codes)
    for code in codes:
        assert repr(code) in schema.comments["x"]


def test_a_lone_minus_one_beside_scores_is_a_value():
    feature = draft_schema(pd.DataFrame({"t_score": [-1, 2, 7, 7, 3, 4]}))["t_score"]
    assert feature.missing_codes == ()


def test_minus_is_the_opposite_of_plus():
    feature = draft_schema(pd.DataFrame({"x": ["+", "-", ""] * 5}))["x"]
    assert (feature.levels, feature.missing_codes) == (("-", "+"), ())


@pytest.mark.parametrize("word", ["None", "keine", "absent"])
def test_a_word_for_nothing_is_a_level_and_not_a_missing_value(word):
    assert draft_schema(pd.DataFrame({"x": [word, "mild", "severe"] * 5}))["x"].missing_codes == ()


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


def test_saturations_of_98_and_99_are_values():
    cells = [94] * 3 + [95] * 5 + [96] * 8 + [97] * 12 + [98] * 14 + [99] * 10
    assert draft_schema(pd.DataFrame({"spo2": cells}))["spo2"].missing_codes == ()


@pytest.mark.parametrize("levels", [("CR", "PR", "NR"), ("improved", "stable", "declined"), ("UK", "US", "DE")])
def test_words_that_are_values_as_often_are_levels(levels):
    assert set(draft_schema(pd.DataFrame({"x": list(levels) * 20}))["x"].levels) == set(levels)


def test_a_mark_beside_empty_cells_asks_what_they_mean():
    comment = draft_schema(pd.DataFrame({"diabetes": ["x", "", ""] * 20, "age": range(60)})).comments["diabetes"]
    assert "'x' is in 33% of the cells, and the others are empty" in comment
