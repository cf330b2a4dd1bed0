"""What options change in a search, what columns are for, which options are refused, and how a command repeats them."""

import argparse
import shlex
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest
from cases import cases_beside
from command_line import ARGUMENTS, FIT, QUICK, SCHEMA, cohort, fail_with, refused_lines
from hypothesis import given
from hypothesis import strategies as st
from scored import scored

from clinclust import MAPDP, FeatureSchema
from clinclust.cli.commands import (
    COMMANDS,
    TEXTS,
    TableOptions,
    add_options,
    in_options,
    join_names,
    next_command,
    number_or_share,
    option,
)
from clinclust.cli.entry import main  # noqa: F401 - it declares every option
from clinclust.errors import InputError
from clinclust.methods import PublishedMAPDP

# --- what the options of the search change ----------------------------------------------------------------------------

PUBLISHED = {"coarsening": 1.0, "n_clusters": None, "block_weights": None, "calibrate": False}


@pytest.fixture
def parameters(here, run, monkeypatch):
    """Return a function from options to the parameters of the search that `fit` would begin."""

    def stop(model, cohort):
        begun.append(model.get_params())
        raise InputError("this is enough")

    begun = []
    monkeypatch.setattr(MAPDP, "fit_prepared", stop)

    def of(options):
        run(f"fit cohort.csv --schema schema.yaml --out out --quiet {options}", code=2)
        return begun.pop() | {"schema": None}

    return of


@pytest.mark.simulation
@scored(cases_beside(__file__, "search_options"))
def test_options_change_the_recommended_parameters_and_nothing_else(options, changes, parameters):
    is_published = "--as-published" in options
    expected = (PublishedMAPDP() if is_published else MAPDP()).get_params() | {"random_state": 0, "progress": False}
    expected |= PUBLISHED if is_published else {}
    expected |= {name: None if value == "none" else value for name, value in changes.items()}
    assert parameters(options) == expected


@given(percent=st.decimals("0.01", "50", places=2), number=st.integers(-10, 10**6))
def test_floors_are_shares_with_the_same_digits_or_whole_numbers_of_subjects(percent, number):
    share, subjects = number_or_share(f"{percent}%"), number_or_share(str(number))
    assert share == number_or_share(f"{percent} %") == float(percent / Decimal(100))
    assert subjects == number
    assert (type(share), type(subjects)) == (float, int)


# --- options that cannot be used --------------------------------------------------------------------------------------

REFUSED = refused_lines("options")


@pytest.mark.parametrize("line", REFUSED)
def test_options_that_cannot_be_used_are_named_before_the_work(line, fit, must_refuse, monkeypatch):
    monkeypatch.setattr("clinclust.estimators.fitting.search", fail_with(AssertionError("a search began")))
    cohort(12).to_csv("few.csv", index=False)
    fit.rename("model") if line == FIT else None
    messages = {options: must_refuse(f"{line} {options}") for options in REFUSED[line]}
    wrong = {options: messages[options].lacks(words) for options, words in REFUSED[line].items()}
    assert {options: messages[options] for options in wrong if wrong[options]} == {}


# --- what columns are for ---------------------------------------------------------------------------------------------

WITH_ARMS = SCHEMA.replace("features:", "features:\n  - {name: trt, role: arm}\n  - {name: seen, role: time}")


@pytest.fixture
def arms(here):
    """Stand beside a table with an arm of treatment and a date, and its schema."""
    seen = [f"2024-01-{day % 28 + 1:02}" for day in range(40)]
    cohort().assign(trt=["drug", "placebo"] * 20, seen=seen).to_csv("cohort.csv", index=False)
    Path("schema.yaml").write_text(WITH_ARMS, encoding="utf-8")


def roles_in(schema):
    return {feature.name: feature.role for feature in schema}


@pytest.mark.filterwarnings("ignore::clinclust.CohortWarning")
def test_fit_uses_what_is_asked_for_and_its_page_names_what_forms_no_subtypes(arms, run, whole_reports):
    assert run(f"{FIT} --cluster trt,age --ignore crp --ignore stage --quiet").out == ""
    fitted, schema = MAPDP.load("out").schema_, FeatureSchema.from_yaml("schema.yaml")
    changed = {"trt": "cluster", "age": "cluster", "crp": "ignore", "stage": "ignore"}
    assert roles_in(fitted) == roles_in(schema) | changed
    assert fitted["trt"].levels == ("drug", "placebo")
    used = schema.with_roles(age="cluster", crp="ignore", stage="ignore")
    assert [one for one in fitted if one.name != "trt"] == [one for one in used if one.name != "trt"]
    assert "seen (time), stage (ignore), crp (ignore)" in Path("out/subtypes.html").read_text("utf-8")
    pd.read_csv("cohort.csv").drop(columns=["seen", "stage", "crp"]).to_csv("new.csv", index=False)
    assert run("assign new.csv --model out").out.startswith("who,subtype")


def test_start_drafts_with_the_roles_and_changes_those_of_a_schema_next_to_the_table(arms, run):
    start = f"start cohort.csv --yes --quiet {QUICK}"
    run(f"{start} --ignore age")
    drafted = Path("cohort.yaml").read_text("utf-8")
    assert roles_in(FeatureSchema.from_yaml(drafted))["age"] == "ignore"
    assert MAPDP.load("cohort-subtypes").schema_["age"].role == "ignore"
    run(f"{start} --describe crp --out again")
    assert Path("cohort.yaml").read_text("utf-8") == drafted
    assert MAPDP.load("again").schema_["crp"].role == "describe"


# --- options in messages and in commands to copy ----------------------------------------------------------------------
@pytest.mark.parametrize(("text", "shown"), cases_beside(__file__, "as_options"))
def test_parameters_are_shown_as_options(text, shown):
    assert in_options(text) == shown


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1))
def test_a_value_can_be_pasted(text):
    words = shlex.split(in_options(f"where={text!r}"))
    assert words in (["--where", text], [f"--where={text}"])


def test_names_with_commas_are_quoted_in_lists(here, run):
    assert join_names("a", "b, c", 'd"') == 'a,"b, c","d"""'
    cohort().rename(columns={"crp": "CRP, mg/L"}).to_csv("cohort.csv", index=False)
    Path("schema.yaml").write_text(SCHEMA.replace("name: crp", 'name: "CRP, mg/L"'), encoding="utf-8")
    options = """--describe '"CRP, mg/L",falls' --ignore age"""
    assert options in run(f"{ARGUMENTS['check']} {options}").out.commands[-1]


def test_every_option_has_a_help_and_every_help_an_option():
    lineages = {kind for command in COMMANDS.values() for kind in command.__mro__}
    declared = {(kind.__name__, name) for kind in lineages for name in vars(kind)}
    assert {(kind, name) for kind, helps in TEXTS["options"].items() for name in helps} <= declared
    for command in COMMANDS.values():
        add_options(parser := argparse.ArgumentParser(), command)
        assert [action.dest for action in parser._actions if not action.help] == []


class EveryKind(TableOptions):
    """A table, and one option of each kind."""

    word: tuple[str, ...] = option((), action="append")
    flag: bool = option(False)
    number: int = option(3, type=int)


@given(
    table=st.text("abc-= '", min_size=1).filter(str.strip),
    sheet=st.text("a-= $", min_size=1).filter("--".__ne__),  # which argparse takes for the end of the options
    names=st.lists(st.text('ab,"-', min_size=1).filter("--".__ne__), max_size=3),
    words=st.lists(st.text("ab=-", min_size=1).filter("--".__ne__), max_size=3),
    is_given=st.booleans(),
    number=st.integers(-9, 9),
)
def test_options_of_every_kind_are_repeated_exactly(table, sheet, names, words, is_given, number):
    options = EveryKind(
        table=Path(table), sheet=sheet, only=tuple(names), word=tuple(words), flag=is_given, number=number
    )
    parser = argparse.ArgumentParser()
    add_options(parser, EveryKind)
    line = next_command("fit", options, repeated=(EveryKind,))
    again = EveryKind.read(parser.parse_args(shlex.split(line)[2:]))
    assert replace(again, table=again.table.absolute()) == replace(options, table=options.table.absolute())


@pytest.mark.parametrize(
    "names", ["'Na, serum' age cohort.csv", "age , 'Na, serum' cohort.csv", "'Na, serum',age cohort.csv"]
)
def test_names_stand_between_blanks_or_commas_and_the_table_after_them(names, here, run):
    cohort().assign(**{"Na, serum": 140}).to_csv("cohort.csv", index=False)
    run(f"draft --out s.yaml --drop {names}")
    assert {"age", "Na, serum"}.isdisjoint(FeatureSchema.from_yaml("s.yaml").names)
