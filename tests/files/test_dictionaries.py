"""Dictionaries are understood whole, and what is not understood is said."""

import warnings

import pandas as pd
import pytest
from cases import read_beside
from dictionary_corpus import CASES
from dictionary_corpus.case import Case, asked, project
from hypothesis import given
from hypothesis import strategies as st
from test_tables import write_xlsx

from clinclust.errors import CohortWarning, InputError
from clinclust.files import dictionaries
from clinclust.files.dictionaries import coded_values, interval, listed_values, note_columns
from clinclust.files.notation import plain_text
from clinclust.files.tables import read_cohort
from clinclust.files.text_table import notes_of


def read_dictionary(path, columns, **more):
    """Return the notes of a dictionary on an empty table of these columns."""
    frame = pd.DataFrame(columns=columns)
    note_columns(frame, path, **more)
    return notes_of(frame)


def noted_export(case, folder):
    """Return the export of a case with the notes of its dictionary, and everything that was said."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "numbers with a decimal comma|.*decimal comma")
        frame = read_cohort(case.write_export(folder))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CohortWarning)
        note_columns(frame, case.write(folder))
    return frame, [str(warning.message) for warning in caught]


@pytest.mark.parametrize("name", CASES)
def test_a_dictionary_is_understood(name, tmp_path):
    case = CASES[name]
    frame, said = noted_export(case, tmp_path)
    notes = {column: dict(stated) for column, stated in frame.attrs.get("column_notes", {}).items()}
    reasons = {column: given.pop("reason") for column, given in notes.items()}
    assert notes == case.notes
    for column, words in case.reasons.items():
        assert words in reasons[column]
    for words in case.remarks:
        assert any(words in message for message in said), (words, said)
    strangers = set(frame.columns) - set(notes)
    assert all(any(repr(column) in message for message in said) for column in strangers)
    assert all(len(message) < 4000 for message in said)
    if not case.remarks and "codebook" not in name:  # a clean dictionary is read in silence
        assert [message for message in said if "decimal comma" not in message] == []


def wide(*rows):
    return [["variable", "label", "values"], *map(list, rows)]


NO_DICTIONARIES = read_beside(__file__)["no_dictionaries"]


@pytest.mark.parametrize("name", [*NO_DICTIONARIES, "hostile names"])
def test_what_is_no_dictionary_is_refused_in_one_message(name, tmp_path):
    hostile = {"table": wide(["\x1b]0;owned\x07" * 400, "", ""]), "words": ["none of the 1 variables"]}
    case = NO_DICTIONARIES.get(name, hostile)
    table = case["table"] if "table" in case else project(*(asked(**field) for field in case["fields"]))
    path = Case(table, {}, {}).write(tmp_path)
    with pytest.raises(InputError) as refused:
        read_dictionary(path, ["sex", "crp"])
    message = str(refused.value)
    assert "dictionary.csv" in message
    assert all(part in message for part in case["words"]), message
    assert len(message) < 4000
    assert "\x1b" not in message


@pytest.mark.parametrize(("name", "content"), [("x.docx", b"x"), ("x.csv", b""), ("x.xlsx", b"no workbook")])
def test_a_file_that_is_no_table_is_refused(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=name):
        read_dictionary(tmp_path / name, ["sex"])


def test_a_sheet_can_be_chosen(tmp_path):
    rows = [[cell or None for cell in row] for row in wide(["sex", "Sex", "1=male; 2=female"])]
    path = write_xlsx(tmp_path / "book.xlsx", ("Sheet", [["anything"]]), ("Codebook", rows))
    assert read_dictionary(path, ["sex"], sheet="Codebook")["sex"].label == "Sex"


def test_a_parquet_dictionary_is_read_like_text(tmp_path):
    frame = pd.DataFrame({"variable": ["sex", "age"], "min": [None, 18.0], "values": ["1=male; 2=female", None]})
    frame.to_parquet(tmp_path / "codebook.parquet")
    notes = read_dictionary(tmp_path / "codebook.parquet", ["sex", "age"])
    assert (notes["age"].minimum, notes["sex"].minimum) == (18.0, None)
    assert len(notes["sex"].levels) == 2


CODES = st.from_regex(r"-?[0-9]{1,3}", fullmatch=True)
WORDS = st.text(st.characters(categories=["L", "N"], include_characters=", ;()-"), min_size=1, max_size=20)
LABELS = WORDS.map(str.strip).filter(lambda label: any(map(str.isalpha, label)))


@given(st.lists(st.tuples(CODES, LABELS), min_size=1, max_size=6))
def test_choices_are_read_as_they_were_written(choices):
    written = " | ".join(f"{code}, {label}" for code, label in choices)
    first = {code: plain_text(label) for code, label in reversed(choices)}
    codes = dict.fromkeys(code for code, _ in choices)
    assert dictionaries.redcap_choices(written) == [(code, first[code]) for code in codes]


PLAIN = st.from_regex(r"[a-z]{1,8}( [a-z]{1,8})?", fullmatch=True)


@given(
    st.dictionaries(CODES, PLAIN, min_size=2, max_size=6),
    st.sampled_from(["=", " = ", ":", ": ", ") "]),
    st.sampled_from([";", "; ", ", ", " | ", "\n"]),
)
def test_coded_values_are_read_as_they_were_written(values, sign, between):
    written = between.join(f"{code}{sign}{label}" for code, label in values.items())
    assert coded_values(written) == list(values.items())


@given(
    st.integers(-999, 999),
    st.integers(1, 999),
    st.sampled_from(["{}-{}", "{} - {}", "{} to {}", "[{}, {}]", "{} bis {}"]),
)
def test_intervals_are_read_as_they_were_written(low, width, form):
    assert interval(form.format(low, low + width)) == (low, low + width)


def test_texts_that_hold_no_codes_are_not_read_as_such():
    for text in ("see appendix B", "any", "", "male", "time: 10:30", "0-120", "male, female"):
        assert coded_values(text) == []
    assert listed_values("a; a") == []
    assert interval("10-5") is None
    assert interval("2024-01-01") is None


@given(st.text(max_size=60))
def test_plain_text_has_no_markup_and_is_plain_already(text):
    once = plain_text(text)
    assert plain_text(f"<p>{text.replace('<', '').replace('&', '')}</p>") == plain_text(
        text.replace("<", "").replace("&", "")
    )
    assert once == once.strip()
    assert "\n" not in once


def test_no_value_of_a_patient_is_shown_when_a_table_is_given_for_a_dictionary(tmp_path):
    path = Case([["name", "label", "age"], ["Jane Doe", "secret", "54"]], {}, {}).write(tmp_path)
    twice = Case([["name", "visit"], ["Jane Doe", "1"], ["Jane Doe", "54"]], {}, {}, name="twice.csv").write(tmp_path)
    with pytest.raises(InputError, match="none of the 1 variables"):
        read_dictionary(twice, ["sex", "crp"])
    for columns in (["name", "label", "age", "sex"], ["sex", "crp"]):
        with pytest.raises(InputError) as refused:
            read_dictionary(path, columns)
        assert not any(value in str(refused.value) for value in ("Jane", "secret", "54"))
