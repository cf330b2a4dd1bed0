"""`clinclust check` and `clinclust fit` give the same verdict in the same words."""

from pathlib import Path

import pytest
from command_line import cohort

from clinclust.cli import main

NOTHING_TO_FIND = {
    "all constant": {"falls": 3, "tremor": "no", "stage": 1, "crp": 2.5},
    "all missing": dict.fromkeys(("falls", "tremor", "stage", "crp"), "NA"),
    "one value each": {"falls": ["", *["2"] * 39], "tremor": "yes", "stage": "", "crp": "NA"},
}


def both_say(capsys, *more):
    """Return the exit code and the text of `check` and `fit`, which must agree."""
    verdicts = []
    for command in (["check"], ["fit", "--out", "out", "--n-restarts", "1", "--random-state", "0"]):
        code = main([command[0], "cohort.csv", "--schema", "schema.yaml", *command[1:], *more])
        verdicts.append((code, capsys.readouterr().err))
    assert verdicts[0] == verdicts[1]
    return verdicts[0]


@pytest.mark.parametrize("what", NOTHING_TO_FIND)
def test_check_refuses_what_fit_refuses(here, capsys, what):
    cohort().assign(**NOTHING_TO_FIND[what]).to_csv("cohort.csv", index=False)
    code, said = both_say(capsys)
    assert code == 2
    assert "No feature is left to cluster on" in said
    assert not Path("out").exists()


def test_check_refuses_one_subject_and_a_schema_without_features_to_cluster_on(here, capsys):
    cohort().head(1).to_csv("cohort.csv", index=False)
    code, said = both_say(capsys)
    assert (code, "one subject" in said) == (2, True)
    cohort().to_csv("cohort.csv", index=False)
    Path("schema.yaml").write_text(
        "clinclust: 1\nother_columns: ignore\nfeatures:\n  - {name: who, role: id}\n", encoding="utf-8"
    )
    code, said = both_say(capsys)
    assert code == 2
    assert "the schema has none with role cluster" in said


def test_check_tells_what_the_fit_will_need(here, capsys, monkeypatch):
    monkeypatch.setattr("clinclust.estimators.cost.machine_memory", lambda: 1e4)
    code, said = both_say(capsys)
    assert code == 2
    assert "memory" in said
