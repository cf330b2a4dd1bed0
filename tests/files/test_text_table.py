"""Notes on columns survive what keeps a table: a dictionary, JSON, a parquet file, and operations of pandas."""

import ast
import json
import re
from pathlib import Path

import pandas as pd
import pytest
from cases import read_beside
from hypothesis import given, settings
from hypothesis import strategies as st

from clinclust import files
from clinclust.data import data
from clinclust.errors import InputError
from clinclust.files.text_table import COLUMN_NOTES, ColumnNotes, add_notes, notes_of

texts = st.none() | st.text(max_size=5)
numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False)
some_notes = st.builds(
    ColumnNotes,
    label=texts,
    unit=texts,
    section=texts,
    description=texts,
    levels=st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=3).map(tuple),
    kind=st.sampled_from([None, "nominal", "ordinal", "number", "yes/no", "date", "text", "id"]),
    missing_codes=st.lists(st.text(max_size=3), max_size=3).map(tuple),
    minimum=numbers,
    maximum=numbers,
    decimal=st.sampled_from([None, ","]),
    asked_if=texts,
    block=texts,
    role=st.sampled_from([None, "describe", "ignore", "arm", "outcome", "time", "site"]),
    reason=texts,
)


@settings(max_examples=20)
@given(some_notes)
def test_notes_are_what_their_json_says(notes):
    frame = pd.DataFrame({"a": ["1"]})
    add_notes(frame, {"a": notes})
    frame.attrs = json.loads(json.dumps(frame.attrs))
    assert notes_of(frame).get("a", ColumnNotes()) == notes


def test_what_is_not_said_is_not_kept():
    frame = pd.DataFrame({"a": ["1"]})
    add_notes(frame, {"a": ColumnNotes()})
    assert frame.attrs == {}
    assert notes_of(frame) == {}


def test_notes_follow_their_columns():
    frame = pd.DataFrame({"a": ["1", "2"], "b": ["3", "4"]})
    add_notes(frame, {"a": ColumnNotes(unit="cm")})
    add_notes(frame, {"b": ColumnNotes(label="B", levels=(("3", "three"),))})
    assert notes_of(frame.iloc[:1][["b"]]) == {"b": ColumnNotes(label="B", levels=(("3", "three"),))}
    assert set(notes_of(frame)) == {"a", "b"}


NO_NOTES = read_beside(__file__)["no_notes"] + [{"minimum": float("nan")}]


@pytest.mark.parametrize("given", NO_NOTES)
def test_what_is_no_note_is_refused_with_its_key(given):
    frame = pd.DataFrame({"a": ["1"]})
    frame.attrs[COLUMN_NOTES] = {"a": given}
    with pytest.raises(InputError, match=rf"not a dictionary from columns .* look at a\.{next(iter(given))}"):
        notes_of(frame)


def test_other_attributes_under_the_key_are_refused():
    frame = pd.DataFrame({"a": ["1"]})
    for strange in ("x", {"a": "x"}, ["a"]):
        frame.attrs[COLUMN_NOTES] = strange
        with pytest.raises(InputError, match="is not a dictionary from columns to notes"):
            notes_of(frame)


def test_every_sentence_of_messages_gets_the_fields_that_it_has():
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in Path(files.__file__).parent.glob("*.py")]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    said = [(call.args[0], {word.arg for word in call.keywords}) for call in calls if ast.unparse(call.func) == "say"]
    fields = {name.value: given for name, given in said if isinstance(name, ast.Constant)}
    assert fields == {name: set(re.findall(r"(?<!{){(\w+)", data("file_messages")[name])) for name in fields}
