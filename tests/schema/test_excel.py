"""A schema in Excel: what is written comes back, and what a person types is read as strictly as YAML."""

import datetime
import re
import tempfile
import zipfile
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from cases import cases_beside
from hypothesis import given
from schema_strategies import schemas
from scored import scored

import clinclust as cc
from clinclust.data import data
from clinclust.errors import InputError, SchemaError
from clinclust.likelihoods import REGISTRY
from clinclust.roles import ROLES
from clinclust.schema import Feature, FeatureSchema
from clinclust.schema.feature_schema import instruments, schema_of_instrument
from schemas import stored_schema

_TEMPORARY = tempfile.TemporaryDirectory()
FOLDER = Path(_TEMPORARY.name)
SCHEMA = stored_schema("in_excel")


def edited(cells, sheet="Schema"):
    """Return the path of `SCHEMA` with other cells."""
    SCHEMA.to_excel(FOLDER / "edited.xlsx")
    book = openpyxl.load_workbook(FOLDER / "edited.xlsx")
    for place, value in cells.items():
        book[sheet][place] = value
    book.save(FOLDER / "edited.xlsx")
    return FOLDER / "edited.xlsx"


def problems_of(path):
    with pytest.raises(SchemaError) as caught:
        FeatureSchema.from_excel(path)
    return caught.value.problems


@given(schemas())
def test_a_workbook_is_lossless_or_refused_whatever_the_text(schema):
    try:
        schema.to_excel(FOLDER / "drawn.xlsx")
    except SchemaError:
        return
    again = FeatureSchema.from_excel(FOLDER / "drawn.xlsx")
    assert again == schema
    assert again.to_yaml() == schema.to_yaml()


@scored([*Path("schemas").glob("*.yaml"), *Path("clinclust/data/instruments").glob("*.yaml")])
def test_yaml_is_the_same_after_a_workbook(path):
    schema = FeatureSchema.from_yaml(path)
    schema.to_excel(FOLDER / "of_yaml.xlsx")
    assert FeatureSchema.from_excel(FOLDER / "of_yaml.xlsx").to_yaml() == schema.to_yaml()


def test_no_text_is_a_formula():
    schema = FeatureSchema([Feature(name="=1+1", likelihood="bernoulli", levels=["-2", "@a"], label="+SUM(A1)")])
    schema.to_excel(FOLDER / "a.xlsx")
    with zipfile.ZipFile(FOLDER / "a.xlsx") as archive:
        assert not any(b"<f>" in archive.read(name) for name in archive.namelist())
    assert FeatureSchema.from_excel(FOLDER / "a.xlsx") == schema


def test_numbers_that_excel_makes_of_texts_are_texts_again():
    # Columns: A order, B name, E role, F likelihood, G levels, H trials, M missing_codes.
    path = edited({"B2": 2019.0, "E2": "  describe ", "F2": "ordinal", "G2": " ", "H2": 4.0, "M2": 9.0})
    feature = FeatureSchema.from_excel(path).features[0]
    assert (feature.name, feature.role, feature.trials, feature.missing_codes) == ("2019", "describe", 4, ("9",))
    assert FeatureSchema.from_excel(edited({"G3": "0 | 1", "O3": None})).features[1].levels == ("0", "1")
    assert FeatureSchema.from_excel(edited({"M2": "99, 88"})).features[0].missing_codes == ("99", "88")


def test_sorted_added_and_blank_rows_are_read_in_the_order_of_the_table():
    path = edited({"A2": 7, "A5": None, "A7": 2.5, "B7": "age", "F7": "gaussian"})
    assert FeatureSchema.from_excel(path).names == ["sex", "age", "crp", "patient", "pain"]


FAULTS = [
    *cases_beside(__file__, "workbook"),
    ({"G3": datetime.date(2024, 2, 1)}, ["row 3, cell G3: sex: levels: is a date", "format the cell as text"]),
    ({"G3": "f, m", "O3": None}, ["row 3, cell G3: sex: levels:", "there are 1", "write |"]),
    ({"B4": None}, ["row 4, cell B4: name is missing"]),
    ({"G3": "f | -9", "O3": None}, ["row 3, cell B3: sex: level '-9' is also one of the missing_codes of the schema"]),
]


@scored(FAULTS)
def test_a_fault_is_told_with_its_row_and_cell(cells, words):
    told = problems_of(edited(cells))
    assert len(told) == 1
    for word in words:
        assert word in told[0]


def test_all_faults_are_told_at_once_in_the_order_of_rows():
    told = problems_of(edited({"F5": "x", "H4": 3, "G3": "=1", "E2": "nobody"}))
    assert [problem.split(", ")[0] for problem in told] == ["row 2", "row 3", "row 4", "row 5"]


SETTINGS = cases_beside(__file__, "settings_sheet")


@scored(SETTINGS)
def test_a_fault_of_the_settings_is_told_with_its_cell(cells, words):
    (told,) = problems_of(edited(cells, "Settings"))
    assert told.startswith(words)


def test_merged_and_far_cells_and_other_files_are_refused():
    path = edited({})
    book = openpyxl.load_workbook(path)
    book["Schema"].merge_cells("F3:F4")
    book.save(path)
    assert problems_of(path)[0] == "sheet Schema: cells F3:F4 are merged: unmerge them, and fill each"
    assert "XFD" in problems_of(edited({"XFD3": "x"}))[0]
    pd.DataFrame({"a": [1]}).to_excel(FOLDER / "table.xlsx", index=False)
    assert "there is no sheet Schema" in problems_of(FOLDER / "table.xlsx")[0]
    (FOLDER / "text.xlsx").write_text("clinclust: 1")
    with pytest.raises(InputError, match=r"text\.xlsx: this workbook cannot be read"):
        FeatureSchema.from_excel(FOLDER / "text.xlsx")
    with pytest.raises(FileNotFoundError):
        FeatureSchema.from_excel(FOLDER / "nowhere.xlsx")


def test_what_a_cell_cannot_hold_is_refused_before_anything_is_written():
    schema = FeatureSchema(
        [Feature(name="a", role="id", label="_x000D_"), Feature(name="b", role="id", label="x" * 40_000)]
    )
    with pytest.raises(SchemaError) as caught:
        schema.to_excel(FOLDER / "none.xlsx")
    assert len(caught.value.problems) == 2
    assert not (FOLDER / "none.xlsx").exists()


def test_a_draft_shows_what_it_saw_and_what_to_look_at_first():
    frame = pd.DataFrame(
        {
            "patient": [f"P{row}" for row in range(60)],
            "note": [f"saw Mr {row}" for row in range(60)],
            "sex": ["f", "m", ""] * 20,
            "stents": [str(row % 5) for row in range(60)],
        }
    )
    schema = cc.draft_schema(frame, progress=False)
    schema.comments["stents"] = "counts; probability 0.59\nLOOK: otherwise likelihood: ordinal, trials: 4"
    schema.to_excel(FOLDER / "draft.xlsx", frame)
    sheet = openpyxl.load_workbook(FOLDER / "draft.xlsx")["Schema"]
    head, *rows = sheet.values
    seen = {row[1]: dict(zip(head, row, strict=True)) for row in rows}
    assert [*seen] == ["stents", "patient", "note", "sex"]
    assert seen["stents"]["look at"] == "otherwise likelihood: ordinal, trials: 4"
    assert (seen["stents"]["probability"], seen["sex"]["n"], seen["sex"]["missing"]) == (0.59, 40, "33%")
    assert set(seen["sex"]["examples"].split(", ")) == {"f", "m"}
    assert seen["patient"]["examples"] is None
    assert seen["note"]["examples"] is None  # may identify a person
    assert sheet["B2"].fill.fgColor.rgb != sheet["B3"].fill.fgColor.rgb
    assert FeatureSchema.from_excel(FOLDER / "draft.xlsx") == schema


def test_lists_hold_every_word_and_each_word_is_explained():
    SCHEMA.to_excel(FOLDER / "lists.xlsx")
    book = openpyxl.load_workbook(FOLDER / "lists.xlsx")
    ranges = {str(rule.sqref)[0]: rule.formula1 for rule in book["Schema"].data_validations.dataValidation}
    for letter, words in (("E", ROLES), ("F", REGISTRY)):
        name, _, cells = ranges[letter].partition("!")
        assert [cell.value for (cell,) in book[name][cells.replace("$", "")]] == list(words)
    texts_of = data("schema_workbook")
    assert set(Feature.model_fields) <= set(texts_of["columns"])
    assert set(REGISTRY) == set(texts_of["words"]["likelihood"])


# --- ready schemas of instruments, and schemas put together -----------------------------------------------------------


SUMS = {"phq9": 27, "gad7": 21, "hads": 42, "nihss": 42}


@pytest.mark.parametrize("name", instruments())
def test_an_instrument_names_its_source_and_comes_back_from_yaml(name):
    schema = FeatureSchema.of_instrument(name)
    comments = [line for line in schema_of_instrument(name).splitlines() if line.startswith("#")]
    source = re.search(r"\b[12]\d{3}, [\w ]+ \d+, \d+-\d+", comments[-1])[0]  # year, journal, volume, pages
    listed = (Path(__file__).parents[2] / "schemas" / "README.md").read_text(encoding="utf-8")
    assert source in next(line for line in listed.splitlines() if line.startswith(f"| `{name}` |"))
    assert FeatureSchema.from_yaml(schema.to_yaml()) == schema
    assert all(feature.is_clustered and feature.label for feature in schema)


@pytest.mark.parametrize("name", SUMS)
def test_the_sum_of_the_items_has_the_published_range(name):
    assert sum(feature.trials for feature in FeatureSchema.of_instrument(name)) == SUMS[name]


@pytest.mark.parametrize(("name", "words"), [("phq8", "no instrument 'phq8'.*phq9"), (None, "no instrument None")])
def test_an_unknown_instrument_is_refused_with_the_known_ones(name, words):
    with pytest.raises(InputError, match=words):
        FeatureSchema.of_instrument(name)


def test_the_features_of_all_instruments_make_one_schema():
    together = FeatureSchema([feature for name in instruments() for feature in FeatureSchema.of_instrument(name)])
    assert len(together) == sum(len(FeatureSchema.of_instrument(name)) for name in instruments())
