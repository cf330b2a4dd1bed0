"""A warning points to the line of the caller's own code, whatever layers lie between."""

import warnings

import numpy as np
import pandas as pd
import pytest

import clinclust as cc

GROUPS = np.random.default_rng(0).integers(2, size=60)
FRAME = pd.DataFrame(
    {
        "gait": np.random.default_rng(1).normal(5.0 * GROUPS),
        "grip": np.random.default_rng(2).normal(4.0 * GROUPS),
        "constant": 1.0,
    }
)
SCHEMA = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in FRAME])
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
