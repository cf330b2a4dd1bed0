"""A schema says which rows are the cohort, and refuses what says nothing of rows; blocks are not told apart by case."""

import pandas as pd
import pytest

from clinclust import Feature, FeatureSchema, SchemaError, draft_schema
from clinclust.files.row_choice import RowChoice
from clinclust.files.text_table import ColumnNotes, add_notes

TEXT = """\
clinclust: 1
rows: {rows}
features:
  - {{name: falls, likelihood: poisson}}
"""
FEATURES = [Feature(name="falls", likelihood="poisson")]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("all", r"line 2: rows: must say which rows are taken, such as \{where: .*\}, not 'all'"),
        (
            "{were: a == 1}",
            r"line 2: rows: 'were' is no part of it. Did you mean 'where'\? Parts are where, one_row_per",
        ),
        ("{where: a ==}", "line 2: rows: `where` cannot be understood at its end"),
        ("{where: [a]}", "rows: where must be a text that is not empty, not"),
        ("{one_row_per: id, keep: best}", "rows: keep must be first or last, not 'best'"),
        (
            "{one_row_per: id, keep: mean, averaged: [a]}",
            "keep must be first or last, not 'mean'; 'averaged' is no part of it",
        ),
        ("{by: date}", "rows: `keep` and `by` choose a row of a subject"),
        ("{rows: 5-2}", "rows: rows='5-2': '5-2' is no range of rows; write the first and the last row"),
        ("{dates: day-first}", "rows: `dates` says how `where`, `by` and `time` read dates"),
        ("{keep: best, dates: x}", "keep must be first or last, not 'best'; dates must be day-first or month-first"),
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
        ({"where": "a in (1,2)"}, {"where": "a in (1, 2)"}, True),
        ({"where": "a == 1 and b == 2"}, {"where": "a == 1 or b == 2"}, False),
    ],
)
def test_choices_agree_if_they_choose_the_same(one, other, agree):
    assert RowChoice(**one).agrees_with(RowChoice(**other)) is agree
    assert RowChoice(**other).agrees_with(RowChoice(**one)) is agree


def test_a_choice_is_said_in_words_that_command_no_terminal():
    choice = RowChoice(one_row_per="id", keep="last", by="seen")
    assert choice.in_words() == "one row for each id, the last by seen"
    assert not {"\x1b", "\n"} & set(RowChoice(one_row_per="a\x1b[31m\nb").in_words())


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
