"""Texts that write numbers or levels in other ways than the program does."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinclust.errors import CohortError, SchemaError
from clinclust.schema import Feature, FeatureSchema


def read(cells, **fields):
    schema = FeatureSchema([Feature(name="x", **{"likelihood": "gaussian", **fields})])
    return schema.validate(pd.DataFrame({"x": cells}), warn=False)["x"].tolist()


@pytest.mark.parametrize(
    ("fields", "cell", "number"),
    [
        ({"decimal": ","}, "3,5", 3.5),
        ({"decimal": ","}, "3.5", 3.5),  # how a spreadsheet stores a number beside texts
        ({"decimal": ",", "thousands": "."}, "1.234,5", 1234.5),
        ({"decimal": ",", "thousands": "."}, "-1.234.567", -1234567.0),
        ({"decimal": ",", "thousands": " "}, "1\u202f234,5", 1234.5),
        ({"thousands": ","}, "12,345.25", 12345.25),
        ({"thousands": "'"}, "1’234", 1234.0),
        ({"unit": "mg/dL"}, "5.2 mg/dL", 5.2),
        ({"unit": "mg/dL"}, "5.2MG/DL", 5.2),
        ({"unit": "%"}, "45%", 45.0),
        ({"unit": "1"}, "11", 11.0),  # what is a number already stays that number
        ({"decimal": ",", "unit": "µmol/l"}, "88,4 µmol/l", 88.4),
        ({"censored": "limit"}, "<5", 5.0),
        ({"censored": "half"}, "< 5", 2.5),
        ({"censored": "half"}, ">200", 200.0),
        ({"censored": "half"}, "≤0.4", 0.2),
        ({"censored": "half"}, "<= 0.4", 0.2),
        ({"censored": "limit", "decimal": ","}, ">=80,5", 80.5),
        ({"censored": "half", "likelihood": "poisson"}, "<5", 2),
        ({"censored": "half", "decimal": ",", "unit": "ng/l"}, "<0,5 ng/l", 0.25),
        ({"synonyms": {"none": "0"}}, "none", 0.0),
        ({"synonyms": {"neg.": "<5"}, "censored": "half"}, "neg.", 2.5),
        ({"unit": "€"}, "€ 5.20", 5.2),
        ({"marks": ["H", "~"]}, "~137 H", 137.0),
        ({"marks": ["H"]}, "137H", 137.0),
        ({"marks": ["+"]}, "137+", 137.0),
        ({"marks": ["1:"], "likelihood": "poisson"}, "1:160", 160),
        ({"marks": ["H"], "unit": "mmHg", "censored": "half"}, "<130 mmHg H", 65.0),
    ],
)
def test_a_declared_way_of_writing_is_read(fields, cell, number):
    assert read([cell, "7"], **fields) == [number, 7.0]


@pytest.mark.parametrize("cell", ["<5", "> 1"])
def test_a_censored_value_can_be_missing(cell):
    assert pd.isna(read([cell, "7"], censored="missing")[0])


@pytest.mark.parametrize(
    ("fields", "cell", "repair"),
    [
        ({}, "3,5", 'decimal: ","'),
        ({}, "1,234.5", 'thousands: ","'),
        ({}, "<5", "censored: half"),
        ({}, "5.2 mg/dL", "'mg/dL' is the unit"),
        ({"unit": "mmol/l"}, "5.2 mg/dL", "'mg/dL' is the unit"),
        ({"decimal": ","}, "1.500", "number"),  # 1.5, or 1500?
        ({"decimal": ","}, "1.500,5", "number"),
        ({"thousands": ","}, "12,34", "number"),
        ({"thousands": ","}, "1234,567", "number"),
        ({"censored": "limit"}, "<low", "number"),
        ({}, "137*", "`marks`"),
        ({}, "~137", "`marks`"),
        ({"marks": ["H"]}, "137 mmHgH", "unit"),
        ({"likelihood": "bernoulli", "levels": ["no", "yes"]}, "ja", "synonyms"),
    ],
)
def test_what_is_not_declared_is_an_error_that_says_what_to_declare(fields, cell, repair):
    with pytest.raises(CohortError) as error:
        read([cell, "7"], **fields)
    assert repair in str(error.value)


def test_synonyms_are_other_texts_of_a_level():
    found = read(
        ["ja", "no", "Y", ""], likelihood="bernoulli", levels=["no", "yes"], synonyms={"ja": "yes", "Y": "yes"}
    )
    assert found[:3] == ["yes", "no", "yes"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"synonyms": {"ja": "Yes"}, "likelihood": "bernoulli", "levels": ["no", "yes"]},
            "must mean a level, not 'Yes'",
        ),
        ({"synonyms": {"no": "yes"}, "likelihood": "bernoulli", "levels": ["no", "yes"]}, "'no' is itself a level"),
        ({"synonyms": {"-": "0"}, "missing_codes": ["-"]}, "'-' is also a missing code"),
        ({"synonyms": {"none": "nil"}}, "must mean a number, not 'nil'"),
        ({"synonyms": ["ja"]}, "must give what other texts mean"),
        ({"synonyms": {"neg.": "<5"}}, "must mean a number"),  # unless something stands for it
        ({"marks": ["*"], "likelihood": "bernoulli", "levels": ["no", "yes"]}, "a feature with levels has no numbers"),
        ({"decimal": ",", "thousands": ","}, "they must differ"),
        ({"thousands": "."}, "they must differ"),
        ({"decimal": ";"}, "must be one of ., ,"),
        (
            {"censored": "half", "likelihood": "categorical", "levels": ["a", "b"]},
            "a feature with levels has no numbers",
        ),
        ({"decimal": ",", "role": "id", "likelihood": None}, "an id is not modelled"),
    ],
)
def test_declarations_that_contradict_each_other_are_refused(fields, words):
    with pytest.raises(SchemaError, match="x: ") as error:
        Feature(name="x", **{"likelihood": "gaussian", **fields})
    assert words in str(error.value)


@given(st.floats(-1e9, 1e9), st.sampled_from([",", "."]), st.sampled_from([None, " ", "'"]))
def test_a_number_written_with_marks_is_read_back(number, decimal, thousands):
    number = round(number, 2)
    text = f"{number:,.2f}" if thousands else f"{number:.2f}"
    text = text.replace(",", "t").replace(".", decimal).replace("t", thousands or "")
    assert read([text, "7"], decimal=decimal, thousands=thousands)[0] == number


@pytest.mark.parametrize("mark", ["1", "-", ".", "<", "10.5", "", " ", 3])
def test_a_mark_cannot_be_a_part_of_a_number(mark):
    with pytest.raises(SchemaError, match="marks: "):
        Feature(name="x", likelihood="gaussian", marks=[mark])
