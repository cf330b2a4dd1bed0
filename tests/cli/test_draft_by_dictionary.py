"""`clinclust draft --dictionary`: the drafted schema fits the export, as a clinician runs it."""

import pytest
from command_line import refused
from dictionary_corpus import CASES
from dictionary_corpus.case import SEX, Case, asked, project

from clinclust.cli import main
from clinclust.schema import FeatureSchema


@pytest.mark.parametrize("name", CASES)
def test_the_draft_fits_the_export(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    case = CASES[name]
    case.write_export(tmp_path)
    assert main(["draft", "export.csv", "--dictionary", str(case.write(tmp_path)), "--out", "schema.yaml"]) == 0
    said = capsys.readouterr().err
    schema = FeatureSchema.from_yaml(tmp_path / "schema.yaml")
    assert sorted(schema.names) == sorted(case.export)
    for column, fields in case.drafted.items():
        assert {field: getattr(schema[column], field) for field in fields} == fields
    for column, notes in case.notes.items():
        if "label" in notes:
            assert schema[column].label == notes["label"]
    for words in case.remarks:
        assert words in said
    assert "Traceback" not in said
    if len(schema.clustered) > 1:
        assert main(["check", "export.csv", "--schema", "schema.yaml"]) == 0, capsys.readouterr().err


def test_every_column_has_a_reason(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    case = CASES["every other type"]
    case.write_export(tmp_path)
    assert main(["draft", "export.csv", "--dictionary", str(case.write(tmp_path))]) == 0
    out = capsys.readouterr().out
    assert out.count("  # the dictionary says: ") == len(case.notes)


def test_a_dictionary_that_cannot_be_used_is_refused(here, capsys):
    Case(project(SEX, SEX), {}, {}).write(here)
    message = refused(capsys, "draft", "cohort.csv", "--dictionary", "dictionary.csv", "--out", "x.yaml")
    assert "'sex' (rows 2, 3)" in message
    assert "dictionary.csv" in message
    assert "missing.csv" in refused(capsys, "draft", "cohort.csv", "--dictionary", "missing.csv")
    assert "give both" in refused(capsys, "draft", "cohort.csv", "--dictionary-sheet", "A")
    Case(project(asked("weight")), {}, {}).write(here)
    assert "of this table" in refused(capsys, "draft", "cohort.csv", "--dictionary", "dictionary.csv")
