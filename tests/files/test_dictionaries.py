"""Dictionaries are understood whole, and what is not understood is said."""

import warnings

import pandas as pd
import pytest
from dictionary_corpus import CASES
from dictionary_corpus.case import RECORD, SEX, Case, asked, project
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


@pytest.mark.parametrize("name", CASES)
def test_a_clean_dictionary_is_read_in_silence(name, tmp_path):
    case = CASES[name]
    _, said = noted_export(case, tmp_path)
    if not case.remarks and "codebook" not in name:
        assert [message for message in said if "decimal comma" not in message] == []


def wide(*rows):
    return [["variable", "label", "values"], *map(list, rows)]


REFUSED = {
    "no variable column": ([["owner", "remark"], ["JS", "x"]], ["'owner'", "Call the column of the names 'variable'"]),
    "names under an unknown header": (
        [["Spreadsheet heading", "What it means"], ["sex", "Sex of the patient"]],
        ["'Spreadsheet heading'", "Call the column of the names 'variable'"],
    ),
    "labels for names": (
        project(asked("no"), asked("sx", label="Sex"), asked("c", label="CRP")),
        ["none of the 3 variables", "export a REDCap project as raw data"],
    ),
    "a variable twice": (project(RECORD, SEX, asked("crp"), SEX), ["'sex' (rows 3, 5)", "Keep one row"]),
    "a row without a name": (project(RECORD, SEX, asked("", label="x")), ["row 4", "write its name"]),
    "both": (project(RECORD, SEX, SEX, asked("", label="x")), ["'sex' (rows 3, 4)", "row 5"]),
    "a variable of a codebook twice": (
        wide(["sex", "Sex", ""], ["crp", "", ""], ["sex", "", ""]),
        ["'sex' (rows 2, 4)"],
    ),
    "two ranges": (wide(["sex", "", "0-1"], ["sex", "", "0-2"]), ["'sex' (rows 2, 3)"]),
    "of another table": (wide(["weight", "", ""], ["height", "", ""]), ["none of the 2 variables", "'sex'"]),
    "the table itself": ([["sex", "crp"], ["1", "2.5"], ["2", "3.5"]], ["its headers are columns of the table"]),
    "no rows": (wide(), ["describes no variable"]),
    "no fields": (project(), ["describes no variable"]),
    "hostile names": (wide(["\x1b]0;owned\x07" * 400, "", ""]), ["none of the 1 variables"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_dictionary_is_refused_in_one_message(name, tmp_path):
    table, words = REFUSED[name]
    path = Case(table, {}, {}).write(tmp_path)
    with pytest.raises(InputError) as refused:
        read_dictionary(path, ["sex", "crp"])
    message = str(refused.value)
    assert "dictionary.csv" in message
    assert all(part in message for part in words), message
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


def test_a_unit_in_the_label_of_a_number_is_taken_in_a_codebook_as_in_redcap(tmp_path):
    path = Case(wide(["crp", "CRP (mg/L)", "0-300"], ["sex", "Sex (m)", "1=m; 2=f"]), {}, {}).write(tmp_path)
    notes = read_dictionary(path, ["sex", "crp"])
    assert (notes["crp"].label, notes["crp"].unit, notes["crp"].maximum) == ("CRP", "mg/L", 300)
    assert (notes["sex"].label, notes["sex"].unit) == ("Sex (m)", None)


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
