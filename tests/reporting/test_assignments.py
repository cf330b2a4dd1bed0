"""Assignment tables: who is where, safe to open in a spreadsheet."""

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest
from attack.payloads import fault_in_csv
from hostile_texts import IN_REPORTS
from hypothesis import example, given
from hypothesis import strategies as st
from inert_texts import original_text
from scored import scored

from clinclust import Feature, FeatureSchema
from clinclust.reporting.assignments import assignment_table, inert_text, write_inert_csv

MEMBERSHIP = np.array([[0.7, 0.3], [0.2, 0.8], [0.5, 0.5]])
LABELS = np.array([0, 1, 0])


def table_of(ids, *names, **more):
    schema = FeatureSchema([Feature(name=name, role="id") for name in names or ("who",)])
    return assignment_table(pd.DataFrame(ids), schema, LABELS, MEMBERSHIP, **more)


def written(table):
    stream = io.StringIO()
    write_inert_csv(table, stream)
    return stream.getvalue()


def test_subtypes_count_from_one_and_carry_their_probability():
    table = table_of({"who": ["a", "b", "c"], "site": [1, 2, 3]})
    assert table.to_dict("list") == {
        "who": ["a", "b", "c"],
        "subtype": [1, 2, 1],
        "probability": [0.7, 0.8, 0.5],
        "assigned": ["yes"] * 3,
        "few_subjects": ["no"] * 3,
        "subtype_1": [0.7, 0.2, 0.5],
        "subtype_2": [0.3, 0.8, 0.5],
        "none_of_these": [0.0] * 3,
        "continuum_score": pytest.approx([np.nan] * 3, nan_ok=True),
        "speaks_for_it": [""] * 3,
    }


def test_every_table_has_the_same_columns_of_the_same_types():
    plain = table_of({"who": ["a", "b", "c"]})
    full = assignment_table(
        pd.DataFrame({"who": ["a", "b", "c", "d"]}),
        FeatureSchema([Feature(name="who", role="id")]),
        np.array([0, -1, 1]),
        MEMBERSHIP / 2,
        np.full(3, 0.5),
        np.array([True, False, True, True]),
        np.arange(3.0),
        np.array([False, True]),
        ["x", "y", "z"],
    )
    assert full.dtypes.to_dict() == plain.dtypes.to_dict()
    assert full["assigned"].tolist() == ["yes", "no", "yes", "yes"]
    assert full["few_subjects"].tolist()[2:] == ["no", "yes"]
    assert full.loc[1].drop(["who", "assigned"]).isna().all()
    assert written(full).splitlines()[2].rstrip(",") == "b,,,no"


OTHERS = pd.DataFrame({"other": [4, 5, 6], "more": ["x"] * 3})
TWICE = pd.DataFrame([["a", "b"]] * 3, columns=["who", "who"])


@pytest.mark.parametrize("frame", [OTHERS, OTHERS[["other"]], TWICE], ids=["others", "one other", "twice"])
def test_without_a_column_of_one_identifier_the_row_names_the_subject(frame):
    schema = FeatureSchema([Feature(name="who", role="id")])
    table = assignment_table(frame.set_axis([2, 3, 4], axis=0), schema, LABELS, MEMBERSHIP)
    assert next(iter(table)) == "row"
    assert table["row"].tolist() == [2, 3, 4]


def test_an_identifier_does_not_lose_its_name_to_a_result():
    table = table_of({"subtype": ["a", "b", "c"], "subtype_2": ["d", "e", "f"]}, "subtype", "subtype_2")
    assert list(table)[:4] == ["subtype_id", "subtype_2_id", "subtype", "probability"]
    assert table["subtype"].tolist() == [1, 2, 1]
    assert table["subtype_2_id"].tolist() == ["d", "e", "f"]


@pytest.mark.parametrize(
    "payload",
    ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=", "-inf", "+", "-1-1", "+1_0"],
)
def test_formulas_are_disarmed(payload):
    back = pd.read_csv(io.StringIO(written(table_of({"who": [payload, "b", "c"]})), newline=""), dtype=str)
    formula = payload.lstrip()
    assert back["who"][0] == payload.removesuffix(formula) + f"'{formula}"
    assert original_text(back["who"][0]) == payload
    assert back.shape == (3, 10)


@scored(IN_REPORTS)
def test_payloads_are_disarmed_however_the_file_is_divided_and_come_back(payload):
    text = written(table_of({"who": [payload, "b", "c"]}))
    assert fault_in_csv(text) is None
    assert original_text(list(csv.reader(io.StringIO(text, newline="")))[1][0]) == payload


@pytest.mark.parametrize("number", ["-12", "+7", "-0.5", "12", "-1e-5", "+3.", "0", "-007"])
def test_numbers_stay_numbers(number):
    assert written(table_of({"who": [number, "b", "c"]})).splitlines()[1].startswith(f"{number},1,")


def test_typed_identifiers_and_names_of_columns():
    text = written(table_of({"=who": [-1, 2, 3], "n": [-1.5, None, 0.5]}, "=who", "n"))
    assert text.splitlines()[0].startswith("'=who,n,subtype,probability,assigned,few_subjects,subtype_1,subtype_2,")
    assert text.splitlines()[1].startswith("-1,-1.5,1,0.7")
    assert text.splitlines()[2].startswith("2,,2,0.8")


def test_text_that_csv_must_quote_comes_back():
    ids = ['say "x", y', "line\nbreak", "Ünïcode 日本 é"]
    back = pd.read_csv(io.StringIO(written(table_of({"who": ids}))), dtype=str)
    assert back["who"].tolist() == ids


def test_a_file_is_utf_8_with_plain_line_ends(tmp_path):
    write_inert_csv(table_of({"who": ["é", None, "c"]}), tmp_path / "a.csv")
    content = (tmp_path / "a.csv").read_bytes()
    assert content.decode("utf-8").splitlines()[1:3] == ["é,1,0.7,yes,no,0.7,0.3,0.0,,", ",2,0.8,yes,no,0.2,0.8,0.0,,"]
    assert b"\r" not in content


HOSTILE = st.text(st.sampled_from("=+-@＝＋－＠﹦'\",;|\t\n\r \xa0\ufeff\u200bab1.eE0:"), max_size=12)
FORMULA = re.compile(r"[=+\-@＝＋－＠﹦﹢﹣﹫]")
NUMBER = re.compile(r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?")


@given(st.one_of(HOSTILE, st.text()))
@example("'=1")
@example("''-1")
@example("a;'=1;\"'=2")
def test_every_text_comes_back(text):
    assert original_text(inert_text(text)) == text


@given(HOSTILE, st.sampled_from([",", ";", "|", "\t", "\n", "\r"]), st.booleans())
def test_no_part_begins_a_formula(text, separator, quoted):
    line = f'"{inert_text(text)}"'.replace('""', '"') if quoted else inert_text(text)
    for part in line.split(separator):
        seen = part.strip(' \xa0\ufeff\u200b\t\n\r"')
        assert not FORMULA.match(seen) or all(NUMBER.fullmatch(p) for p in re.split(r"[,;|\t\r\n]", seen)[:1])


@pytest.mark.parametrize("text", ["p001", "p-01", "2026-11-22", "a=b", "x@y.org", "-3.5", "+49", "O'Brien", "A, B - C"])
def test_ordinary_text_is_unchanged(text):
    assert inert_text(text) == text
