"""Errors come whole out of other processes, such as those of joblib and Dask; no text shown hides or commands."""

import pickle
import sys
import unicodedata
import warnings

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema

import clinclust as cc
from clinclust import errors

EVERY = "".join(map(chr, range(sys.maxunicode + 1)))
# Signs of Arabic, Syriac, Kaithi and Egyptian that Unicode calls formats, but that have a picture.
DRAWN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)}


def raised(kind, call):
    with pytest.raises(kind) as caught:
        call()
    return caught.value


def no_schema():
    cc.FeatureSchema([cc.Feature(name="tremor", likelihood="binomial", trial=4)])


def no_cohort():
    schema = cc.FeatureSchema([cc.Feature(name="tremor", likelihood="binomial", trials=4)])
    schema.validate(pd.DataFrame({"tremor": ["0", "3", "7", "7"]}))


@pytest.mark.parametrize(
    "error",
    [
        raised(cc.SchemaError, no_schema),
        raised(cc.CohortError, no_cohort),
        raised(errors.NotFittedError, lambda: cc.MAPDP().predict(pd.DataFrame({"a": [1.0]}))),
        errors.InputError("no such column", in_python="; see `columns`"),
        errors.missing_package("the figure", "matplotlib"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_of_another_process_says_the_same(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    if not isinstance(error, errors.MissingPackageError):
        assert again.at_command_line == error.at_command_line
    for name in ("problems", "source"):
        assert getattr(again, name, None) == getattr(error, name, None)
    if isinstance(error, cc.CohortError):
        pd.testing.assert_frame_equal(again.failures, error.failures)


def hiding(text):
    return {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and ord(c) not in DRAWN}


def test_people_see_every_character_but_the_line_feed():
    assert hiding(errors.visible_to_people(EVERY)) == {"\n"}
    assert len(errors.visible_to_people(EVERY)) == len(EVERY)


def test_documents_keep_what_scripts_need():
    assert hiding(errors.visible(EVERY)) == set("\t\n\xad\u061c\u200c\u200d\u200e\u200f")


def test_one_line_has_no_line_feed():
    assert errors.on_one_line("a\nb\tc\r\x1b") == "a␊b␉c␍␛"


def test_messages_to_python_users_are_visible():
    name = "x\x1b]0;owned\x07\u202e\nclinclust: note: forged"
    row = {"column": name, "expected": "a", "rows": 1, "first_rows": [name], "examples": [name], "repair": "b"}
    schema, table = str(cc.SchemaError([name])), str(cc.CohortError(pd.DataFrame([row])))
    for text in (str(errors.InputError(name)), schema, table, str(cc.CohortWarning(name))):
        assert hiding(text) <= {"\n"}
    assert not any(line.startswith("clinclust") for line in schema.splitlines())
    assert len(table.splitlines()) == 2


# --- a warning points to the line of the caller's own code, whatever layers lie between -------------------------------


GROUPS = np.random.default_rng(0).integers(2, size=60)
FRAME = pd.DataFrame(
    {
        "gait": np.random.default_rng(1).normal(5.0 * GROUPS),
        "grip": np.random.default_rng(2).normal(4.0 * GROUPS),
        "constant": 1.0,
    }
)
SCHEMA = gaussian_schema(FRAME)
SHUFFLED = FRAME.sample(frac=1, random_state=1)


@pytest.fixture(scope="module")
def model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.CohortWarning)
        return cc.methods.PublishedMAPDP(SCHEMA, random_state=0).fit(FRAME)


CALLS = {
    "validate": lambda model: SCHEMA.validate(FRAME),
    "fit": lambda model: cc.methods.PublishedMAPDP(SCHEMA, random_state=0).fit(FRAME),
    "fit without a schema": lambda model: cc.methods.PublishedMAPDP(random_state=0).fit(FRAME),
    "write_report": lambda model: cc.write_report(model, SHUFFLED, "report.html", associations=None),
    "validated_associations": lambda model: cc.validated_associations(model, SHUFFLED),
    "subtype_table": lambda model: cc.subtype_table(model, SHUFFLED),
    "read_cohort": lambda model: cc.read_cohort("latin.csv"),
    "load": lambda model: cc.MAPDP.load("model"),
    "predict": lambda model: model.predict(FRAME.assign(gait=None, grip=None)),
    "explain": lambda model: model.explain(FRAME.assign(gait="fast"), unseen="missing"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_points_to_the_caller(name, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.csv").write_bytes("name\né\n".encode("latin-1"))
    model.save("model")
    (tmp_path / "model" / "assignments.csv").write_text("row,subtype\n", encoding="utf-8")
    cc.files.writing.write_manifest(tmp_path / "model", ["model.json", "model.npz", "assignments.csv"])
    (tmp_path / "model" / "assignments.csv").write_text("row,subtype\n1,2\n", encoding="utf-8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CALLS[name](model)
    assert caught
    assert {warning.filename for warning in caught} == {__file__}
