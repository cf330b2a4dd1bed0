"""Every messy file is understood exactly, with everything told that was guessed or left out; or it is refused."""

import re
import warnings

import pytest
from corpus import CORPUS

from clinclust import read_cohort
from clinclust.errors import CohortWarning, InputError


def read(path, options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = read_cohort(path, **options)
    assert {warning.category for warning in caught} <= {CohortWarning}
    return frame, [str(warning.message) for warning in caught]


def check(found, file, path):
    frame, told = found
    assert [frame.columns.tolist(), *frame.to_numpy().tolist()] == file.rows
    missing = [words for words in file.told if not any(re.search(words, text) for text in told)]
    more = [text for text in told if not any(re.search(words, text) for words in file.told)]
    assert (missing, more) == ([], [])
    assert all(text.startswith(f"{path.name}: ") and len(text) < 4000 for text in told)
    if file.numbers is not None:
        assert (frame.index + 2).tolist() == file.numbers
    notes = frame.attrs.get("column_notes", {})
    for name, expected in file.notes.items():
        assert {key: notes[name].get(key) for key in expected} == expected


@pytest.mark.parametrize("file", [file for file in CORPUS if file.refused is None], ids=lambda file: file.trap)
def test_a_messy_file_is_understood_and_what_was_guessed_is_told(tmp_path, file):
    path = file.write(tmp_path)
    check(read(path, file.options), file, path)


@pytest.mark.parametrize("file", [file for file in CORPUS if file.refused is not None], ids=lambda file: file.trap)
def test_what_cannot_be_understood_is_refused_with_its_repair(tmp_path, file):
    path = file.write(tmp_path)
    with pytest.raises(InputError, match=file.refused) as caught:
        read_cohort(path, **file.options)
    assert str(caught.value).startswith(f"{path.name}: ")
    assert len(str(caught.value)) < 4000
    if file.repaired is not None:
        check(read(path, file.repaired), file, path)
