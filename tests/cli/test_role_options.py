"""`--cluster`, `--describe` and `--ignore`: what columns are for, on every command that drafts or takes a schema."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from command_line import SCHEMA, cohort, refused

from clinclust import MAPDP, FeatureSchema
from clinclust.cli import main
from clinclust.cli.check import RoleOptions
from clinclust.cli.inputs import TableOptions
from clinclust.cli.options import add_options, next_command, read_options

REASONED = SCHEMA.replace("features:", "features:\n  - {name: trt, role: arm}\n  - {name: seen, role: time}")
UNUSED = "Not used to form subtypes: trt (arm), seen (time), age (describe). Use one with --cluster NAME."


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = cohort().assign(trt=["drug", "placebo"] * 20, seen=[f"2024-01-{day % 28 + 1:02}" for day in range(40)])
    frame.to_csv("cohort.csv", index=False)
    Path("schema.yaml").write_text(REASONED, encoding="utf-8")


def said(capsys, *arguments):
    assert main([*map(str, arguments)]) == 0
    return " ".join(capsys.readouterr().out.split())


def roles(path):
    return {feature.name: feature.role for feature in FeatureSchema.from_yaml(path)}


def test_check_says_first_what_forms_no_subtypes(capsys):
    assert said(capsys, "check", "cohort.csv", "--schema", "schema.yaml").startswith(UNUSED)


@pytest.mark.filterwarnings("ignore::clinclust.CohortWarning")
def test_fit_uses_what_is_asked_for_and_says_what_forms_no_subtypes(capsys):
    asked = ["--cluster", "trt,age", "--ignore", "crp", "--ignore", "stage"]
    out = said(capsys, "fit", "cohort.csv", "--schema", "schema.yaml", *asked, "--out", "found", "--quiet")
    assert out == ""
    fitted = MAPDP.load("found").schema_
    used = FeatureSchema.from_yaml("schema.yaml").with_roles(age="cluster", crp="ignore", stage="ignore")
    assert {feature.name: feature.role for feature in fitted} == {
        **roles("schema.yaml"),
        **{"trt": "cluster", "age": "cluster", "crp": "ignore", "stage": "ignore"},
    }
    assert fitted["trt"].levels == ("drug", "placebo")
    assert [one for one in fitted if one.name != "trt"] == [one for one in used if one.name != "trt"]
    page = Path("found/subtypes.html").read_text("utf-8")
    assert "Not used to form subtypes: seen (time), stage (ignore), crp (ignore). To use one, give it" in page
    new = pd.read_csv("cohort.csv").drop(columns=["seen", "stage", "crp"])
    new.to_csv("new.csv", index=False)
    assert said(capsys, "assign", "new.csv", "--model", "found").startswith("who,subtype")


def test_check_takes_the_same_options_and_passes_them_on(capsys):
    asked = ["--cluster", "trt", "--describe", "falls,crp"]
    assert main(["check", "cohort.csv", "--schema", "schema.yaml", *asked]) == 0
    out, err = capsys.readouterr()
    out = " ".join(out.split())
    assert "falls (describe), crp (describe)" in out
    assert "drafted by its values: - {name: trt, likelihood: bernoulli, levels: [drug, placebo]}" in err
    assert "--cluster trt --describe falls,crp --schema schema.yaml" in out.partition("next:")[2]


def test_a_draft_has_the_roles_and_begins_with_what_forms_no_subtypes(capsys):
    asked = ["--ignore", "falls", "--describe", "tremor", "--cluster", "trt"]
    out = said(capsys, "draft", "cohort.csv", *asked, "--out", "drafted.yaml")
    drafted = roles("drafted.yaml")
    assert (drafted["falls"], drafted["tremor"], drafted["trt"]) == ("ignore", "describe", "cluster")
    first = Path("drafted.yaml").read_text("utf-8").splitlines()[0]
    assert first.startswith("# Not used to form subtypes: seen (time), tremor (describe)")
    assert first.removeprefix("# ").partition(".")[0] in out
    assert "--ignore" not in out.partition("next:")[2]  # the schema says it now


def test_a_draft_on_standard_output_begins_with_what_forms_no_subtypes(capsys):
    assert main(["draft", "cohort.csv", "--ignore", "falls"]) == 0
    assert capsys.readouterr().out.startswith("# Not used to form subtypes: ")


def test_start_drafts_with_the_roles(capsys):
    said(capsys, "start", "cohort.csv", "--ignore", "age", "--yes", "--quiet", "--associations", "none")
    assert roles("cohort.yaml")["age"] == "ignore"
    assert MAPDP.load("cohort-subtypes").schema_["age"].role == "ignore"


def test_start_changes_the_roles_of_a_schema_that_stands_beside_the_table(capsys):
    Path("cohort.yaml").write_text(REASONED, encoding="utf-8")
    said(capsys, "start", "cohort.csv", "--describe", "crp", "--yes", "--quiet", "--associations", "none")
    assert Path("cohort.yaml").read_text("utf-8") == REASONED
    assert MAPDP.load("cohort-subtypes").schema_["crp"].role == "describe"


@pytest.mark.parametrize("command", [["draft", "cohort.csv"], ["check", "cohort.csv", "--schema", "schema.yaml"]])
def test_all_that_is_wrong_with_roles_is_one_message(capsys, command):
    message = refused(capsys, *command, "--cluster", "tremr,seen", "--describe", "agee")
    assert "tremr: there is no such column. Did you mean 'tremor'?" in message
    assert "agee: there is no such column. Did you mean 'age'?" in message


def test_values_that_give_no_likelihood_are_told_with_what_to_write(capsys):
    message = refused(capsys, "check", "cohort.csv", "--schema", "schema.yaml", "--cluster", "seen")
    assert "seen: role cluster needs a likelihood, and its values give none (" in message
    assert "`likelihood: gaussian`" in message


def test_one_column_has_one_role(capsys):
    message = refused(capsys, "draft", "cohort.csv", "--cluster", "age", "--ignore", "age", "--out", "s.yaml")
    assert "age is named after --cluster and --ignore" in message


def test_a_model_keeps_its_roles(capsys):
    message = refused(capsys, "check", "cohort.csv", "--model", "found", "--cluster", "age")
    assert "--cluster can be used only together with --schema" in message


@dataclass(kw_only=True)
class TableAndRoles(TableOptions, RoleOptions):
    """A table, and what its columns are for."""


def test_names_are_passed_on_as_they_were_given():
    import argparse

    parser = argparse.ArgumentParser()
    add_options(parser, TableAndRoles)
    options = read_options(TableAndRoles, parser.parse_args(["t.csv", "--cluster", '"CRP, mg/L",age', "--ignore", "x"]))
    command = next_command("fit", options, repeated=(TableOptions, RoleOptions))
    assert command == """clinclust fit t.csv --cluster '"CRP, mg/L",age' --ignore x"""
