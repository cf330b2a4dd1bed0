"""Every messy file is understood exactly, with everything told that was guessed or left out; or it is refused."""

import re

import pytest
from corpus import CORPUS
from test_row_choice import told_of

from clinclust import read_cohort
from clinclust.errors import InputError


def check(path, options, file):
    frame, told = told_of(path, **options)
    assert [frame.columns.tolist(), *frame.to_numpy().tolist()] == file.rows
    missing = [words for words in file.told if not any(re.search(words, text) for text in told)]
    more = [text for text in told if not any(re.search(words, text) for words in file.told)]
    assert (missing, more) == ([], [])
    if file.numbers is not None:
        assert (frame.index + 2).tolist() == file.numbers
    notes = frame.attrs.get("column_notes", {})
    for name, expected in file.notes.items():
        assert {key: notes[name].get(key) for key in expected} == expected


@pytest.mark.parametrize("file", [file for file in CORPUS if file.refused is None], ids=lambda file: file.trap)
def test_a_messy_file_is_understood_and_what_was_guessed_is_told(tmp_path, file):
    path = file.write(tmp_path)
    check(path, file.options, file)


@pytest.mark.parametrize("file", [file for file in CORPUS if file.refused is not None], ids=lambda file: file.trap)
def test_what_cannot_be_understood_is_refused_with_its_repair(tmp_path, file):
    path = file.write(tmp_path)
    with pytest.raises(InputError, match=file.refused) as caught:
        read_cohort(path, **file.options)
    assert str(caught.value).startswith(f"{path.name}: ")
    assert len(str(caught.value)) < 4000
    if file.repaired is not None:
        check(path, file.repaired, file)
