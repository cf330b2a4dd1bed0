"""Text of a csv field cannot begin a formula, however it is divided, and comes back unchanged."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clinclust.files.inert_text import inert_text, original_text

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


@pytest.mark.parametrize(
    ("text", "inert"),
    [
        ("=1+1", "'=1+1"),
        (" =1", " '=1"),
        ("\t=1", "\t'=1"),
        ("\ufeff=1", "\ufeff'=1"),
        ("＝1+1", "'＝1+1"),
        ("a;=cmd|' /C calc'!A0", "a;'=cmd|' /C calc'!A0"),
        ("a\n=1", "a\n'=1"),
        ("-1+cmd", "'-1+cmd"),
        ("'=1", "''=1"),
    ],
)
def test_an_apostrophe_stands_before_what_could_begin_a_formula(text, inert):
    assert inert_text(text) == inert
