"""A schema says which rows are the cohort, and refuses what says nothing of rows; blocks are not told apart by case."""

import pandas as pd
import pytest

from clinclust import Feature, FeatureSchema, SchemaError, draft_schema
from clinclust.files.column_notes import ColumnNotes, add_notes
from clinclust.files.selection.row_choice import RowChoice

TEXT = """\
clinclust: 1
rows: {rows}
features:
  - {{name: falls, likelihood: poisson}}
"""
MEAN = {"one_row_per": "a", "keep": "mean"}
FEATURES = [Feature(name="falls", likelihood="poisson")]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("all", r"line 2: rows: must say which rows are taken, such as \{where: .*\}, not 'all'"),
        (
            "{were: a == 1}",
            r"line 2: rows: 'were' is no part of it. Did you mean 'where'\? Parts are where, one_row_per",
        ),
        ("{where: a ==}", "line 2: rows: --where cannot be understood at its end"),
        ("{where: [a]}", "rows: where must be a text that is not empty, not"),
        ("{one_row_per: id, keep: best}", "rows: keep must be first or last or mean, not 'best'"),
        ("{by: date}", "rows: --by says which row of a subject stays"),
        ("{rows: 5-2}", "rows: rows '5-2': '5-2' is no range of rows; write the first and the last row"),
        ("{dates: day-first}", "rows: --dates says how --where and --by read dates"),
        (
            "{keep: best, dates: x}",
            "keep must be first or last or mean, not 'best'; dates must be day-first or month-first",
        ),
    ],
)
def test_what_chooses_no_rows_is_refused_with_its_line(rows, problem):
    with pytest.raises(SchemaError, match=problem):
        FeatureSchema.from_yaml(TEXT.format(rows=rows))


def test_rows_are_given_as_a_dictionary_too():
    choice = RowChoice(where="visit == 'a'", one_row_per="Record ID", by="date", dates="day-first")
    schema = FeatureSchema(FEATURES, rows=choice.as_dict())
    assert schema.rows == choice
    assert FeatureSchema.from_yaml(schema.to_yaml()) == schema != FeatureSchema(FEATURES)
    assert schema.fingerprint != FeatureSchema(FEATURES).fingerprint
    with pytest.raises(SchemaError, match="rows: must say which rows"):
        FeatureSchema(FEATURES, rows=["visit"])


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ({"where": "a == 1"}, {"where": "a  =  1"}, True),
        ({"where": "a == 1"}, {"where": "a == 2"}, False),
        ({"where": "a == 1"}, {"where": "a == 1", "dates": "day-first"}, True),
        ({"where": "a == 1", "dates": "month-first"}, {"where": "a == 1", "dates": "day-first"}, False),
        ({"one_row_per": "a"}, {"one_row_per": "a", "keep": "last"}, False),
        ({}, {"where": "a == 1"}, False),
        ({"rows": "2-9,11"}, {"rows": "2 - 9, 11-11"}, True),
        ({"rows": "2-9"}, {"rows": "2-"}, False),
        ({"rows": "2-9"}, {}, False),
        (MEAN, MEAN | {"averaged": ("crp", "sbp")}, True),
        (MEAN | {"averaged": ("sbp", "crp")}, MEAN | {"averaged": ("crp", "sbp")}, True),
        (MEAN | {"averaged": ("sbp",)}, MEAN | {"averaged": ("crp", "sbp")}, False),
        (MEAN, {"one_row_per": "a"}, False),
    ],
)
def test_choices_agree_if_they_choose_the_same(one, other, agree):
    assert RowChoice(**one).agrees_with(RowChoice(**other)) is agree
    assert RowChoice(**other).agrees_with(RowChoice(**one)) is agree


def test_averaged_columns_are_written_and_read_and_said_shortly():
    choice = RowChoice(one_row_per="id", keep="mean", by="seen", averaged=("sbp", "CRP, mg/L"))
    schema = FeatureSchema(FEATURES, rows=choice)
    assert FeatureSchema.from_yaml(schema.to_yaml()) == schema
    assert hash(schema) == hash(FeatureSchema(FEATURES, rows=choice.as_dict()))
    assert choice.in_words() == (
        "one row for each id, the mean of its rows in sbp and CRP, mg/L, and the first by seen otherwise"
    )
    many = RowChoice(one_row_per="id", keep="mean", averaged=tuple(f"laboratory value {k}" * 9 for k in range(99)))
    assert "and 94 more, and the first in the file otherwise" in many.in_words()
    assert len(many.in_words()) < 500
    hidden = RowChoice(one_row_per="id", keep="mean", averaged=("a\x1b[31m\nb",)).in_words()
    assert not {"\x1b", "\n"} & set(hidden)
    asked = RowChoice(one_row_per="id", keep="mean", by="seen")
    assert asked.completed_by(choice) == choice
    assert RowChoice(one_row_per="b", keep="mean").completed_by(choice).averaged is None


def test_blocks_that_differ_by_case_or_spaces_are_refused():
    text = """\
clinclust: 1
features:
  - {name: systolic, likelihood: gaussian, block: RR}
  - {name: diastolic, likelihood: gaussian, block: rr}
  - {name: pulse, likelihood: gaussian, block: r r}
"""
    with pytest.raises(SchemaError) as refused:
        FeatureSchema.from_yaml(text)
    said = "differs from the block 'RR' above by case or spaces only, and would be another block"
    assert [problem.partition(said)[0] for problem in refused.value.problems] == [
        "line 4: diastolic: block: 'rr' ",
        "line 5: pulse: block: 'r r' ",
    ]
    with pytest.raises(SchemaError, match="block: 'rr' differs"):
        FeatureSchema([Feature(name=name, likelihood="gaussian", block=name) for name in ("RR", "rr")])


def test_a_draft_writes_a_block_in_one_way():
    frame = pd.DataFrame({name: [f"{k % 7}.{k % 3}" for k in range(30)] for name in ("one", "two")})
    add_notes(frame, {"one": ColumnNotes(block="RR", kind="number"), "two": ColumnNotes(block="rr", kind="number")})
    assert {feature.block for feature in draft_schema(frame)} == {"RR"}
