"""The JSON summary of a command says to a program what the command did, and nothing else is on standard output."""

import json

import pandas as pd
import pytest
from cases import read_beside
from command_line import QUICK, cohort

from clinclust import MAPDP
from clinclust.cli import main

FIT = ["fit", "cohort.csv", "--schema", "schema.yaml", "--out", "fit", *QUICK.split(), "--json"]


def summary(capsys, *arguments, code=0):
    assert main([*map(str, arguments)]) == code
    out, err = capsys.readouterr()
    found = json.loads(out, parse_constant=pytest.fail)
    assert found["exit_code"] == code
    assert found["command"] == arguments[0]
    assert list(found)[:5] == ["clinclust", "command", "exit_code", "warnings", "problems"]
    return found, err


def test_a_draft_says_what_each_column_is(here, capsys):
    found, _ = summary(capsys, "draft", "cohort.csv", "--out", "draft.yaml", "--json")
    assert {one["column"]: one["role"] for one in found["columns"]} == {
        "who": "id",
        **dict.fromkeys(["age", "falls", "tremor", "stage", "crp"], "cluster"),
    }
    assert (found["schema"], found["subjects"]) == ("draft.yaml", 40)
    assert (here / "draft.yaml").exists()


def test_what_is_refused_is_said_by_column_without_values(here, capsys):
    cohort().assign(stage="late").drop(columns="falls").to_csv("bad.csv", index=False)
    found, err = summary(capsys, "check", "bad.csv", "--schema", "schema.yaml", "--json", code=2)
    (problem,) = found["problems"]
    failures = {one["column"]: one for one in problem["failures"]}
    assert (failures["stage"]["rows"], failures["falls"]["rows"]) == (40, 0)
    pd.concat([cohort(), cohort().head(1)]).to_csv("twice.csv", index=False)
    found, _ = summary(capsys, "check", "twice.csv", "--schema", "schema.yaml", "--json", code=2)
    assert "--one-row-per who" in found["problems"][0]["failures"][0]["repair"]
    assert "stage: expected" in err
    found, _ = summary(capsys, "fit", "bad.csv", "--schema", "absent.yaml", "--out", "fit", "--json", code=2)
    assert "absent.yaml" in found["problems"][0]["message"]
    assert not (here / "fit").exists()


@pytest.mark.simulation
def test_a_fit_gives_sizes_and_the_p_of_every_division_and_notes_as_records(here, capsys, monkeypatch):
    monkeypatch.setattr("clinclust.cli.fit.REPORTS", ())  # they take longer than the search
    (here / "fit").mkdir()
    (here / "fit" / "mine.txt").write_text("x")
    frame = cohort().assign(gap="NA")
    frame.to_csv("cohort.csv", index=False)
    schema = (here / "schema.yaml").read_text() + "  - {name: gap, likelihood: gaussian}\n"
    (here / "schema.yaml").write_text(schema)
    arguments = [one for one in FIT if one != "--as-published"]
    found, err = summary(capsys, *arguments)
    model = MAPDP.load("fit")
    assert found["n_subtypes"] == model.n_clusters_
    assert [one["n"] for one in found["subtypes"]] == model.cluster_sizes_.tolist()
    assert [one["p"] for one in found["divisions"]] == model.tree_test_.joins["p"].tolist()
    assert found["uninformative"] == {"gap": "no observed value"}
    kinds = {one["kind"] for one in found["warnings"]}
    assert kinds == {"note", "CohortWarning"}
    assert any("mine.txt" in one["message"] for one in found["warnings"])
    assert all(one["message"] in err for one in found["warnings"])
    assert set(found["files"]) == {path.name for path in (here / "fit").iterdir()} - {"mine.txt"}


def test_what_was_not_done_is_a_problem_of_code_3(here, capsys):
    found, _ = summary(capsys, *FIT, "--n-clusters", "9", "--name", "7=Rare", code=3)
    assert (found["n_asked"], found["n_subtypes"]) == (9, 2)
    first, second = found["problems"]
    assert "9 subtypes were asked for" in first["message"]
    assert "no subtype 7" in second["message"]
    new = cohort(60).tail(20).assign(stage=lambda frame: [9, *frame["stage"][1:]])
    new.to_csv("new.csv", index=False)
    found, _ = summary(capsys, "assign", "new.csv", "--model", "fit", "--out", "a.csv", "--json", code=3)
    assert (found["subjects"], found["not_assigned"]) == (20, 1)
    sizes = pd.read_csv("a.csv")["subtype"].value_counts()
    assert found["subtypes"] == {str(subtype): int(sizes.get(subtype, 0)) for subtype in range(3)}
    assert found["problems"][0]["failures"][0]["column"] == "stage"


def test_new_subjects_are_compared_with_the_cohort(here, fitted, capsys):
    cohort(60).tail(20).to_csv("new.csv", index=False)
    more = ["--model", fitted, "--cohort", "cohort.csv", "--out", "a.csv", "--json"]
    found, _ = summary(capsys, "assign", "new.csv", *more)
    assert [one["feature"] for one in found["drift"]["features"]]


SECRET = "it's `where` Zwerchfell, 8"
WITH_A_SECRET = {  # and the commands that show it
    "text among numbers": ("draft fit check assign", lambda frame: frame.assign(crp=[SECRET, *frame["crp"][1:]])),
    "its unit": ("check", lambda frame: frame.assign(crp=["8 Zwerchfell", *frame["crp"][1:]])),
    "unknown level": ("where fit check assign", lambda frame: frame.assign(tremor=[SECRET, *frame["tremor"][1:]])),
    "a long text": ("check assign", lambda frame: frame.assign(stage=[SECRET * 30, *frame["stage"][1:]])),
    "the same identifier twice": ("fit check", lambda frame: frame.assign(who=[SECRET, SECRET, *frame["who"][2:]])),
    "one value": ("draft", lambda frame: frame.assign(note=SECRET)),
    "one value or none": ("draft", lambda frame: frame.assign(note=[SECRET] * 20 + [""] * 20)),
    "two values": ("draft", lambda frame: frame.assign(note=[SECRET, "no"] * 20)),
    "not a date": ("where", lambda frame: frame.assign(visit=["2020-01-31", SECRET] * 20)),
    "title": ("draft check", lambda frame: f'"{SECRET}"\n{frame.to_csv(index=False)}'),
    "no header": ("draft", lambda frame: frame.assign(tremor=SECRET).to_csv(index=False, header=False)),
    "total": ("draft fit", lambda frame: f'{frame.to_csv(index=False)}"Total {SECRET}",1,1,,1,1\n'),
    "note": ("draft assign", lambda frame: f'{frame.to_csv(index=False)}"Note: {SECRET}"\n'),
}
COMMANDS = read_beside(__file__)["of_a_secret"]


@pytest.mark.parametrize("held", WITH_A_SECRET)
def test_no_text_of_a_cell_is_in_a_summary(here, fitted, capsys, held):
    commands, with_secret = WITH_A_SECRET[held]
    table = with_secret(cohort().assign(visit="2020-01-31") if "where" in commands else cohort())
    (here / "secret.csv").write_text(table if isinstance(table, str) else table.to_csv(index=False), encoding="utf-8")
    for command in commands.split():
        main([str(fitted) if word == "out" else word for word in [*COMMANDS[command], "--json"]])
        out, err = capsys.readouterr()
        assert json.loads(out)["command"] == COMMANDS[command][0]
        assert "Zwerchfell" not in out
        draft = here / "draft.yaml"
        assert "Zwerchfell" in err + (draft.read_text("utf-8") if draft.exists() else "")
        draft.unlink(missing_ok=True)


@pytest.mark.parametrize("command", [["draft", "cohort.csv"], ["assign", "cohort.csv", "--model", "out"]])
def test_the_result_itself_and_its_summary_cannot_both_be_on_standard_output(here, command, capsys):
    found, err = summary(capsys, *command, "--json", code=2)
    assert "give --out" in found["problems"][0]["message"]
    assert "give --out" in err
