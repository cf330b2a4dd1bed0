"""Wrong arguments, for every command: one sentence with the repair, exit code 2, and nothing left behind."""

import shutil
from pathlib import Path

import pytest
from command_line import FOR_PYTHON, SCHEMA_OPTION, contents, refused, run
from scored import scored

from clinclust.cli import main

ARGUMENTS = {
    "start": ["cohort.csv"],
    "draft": ["cohort.csv", "--out", "new.yaml"],
    "check": ["cohort.csv", *SCHEMA_OPTION],
    "fit": ["cohort.csv", *SCHEMA_OPTION, "--out", "new"],
    "report": ["cohort.csv", "--model", "out", "--out", "new"],
    "table": ["cohort.csv", "--model", "out", "--out", "new.docx"],
    "assign": ["cohort.csv", "--model", "out", "--out", "new.csv"],
}
MISSPELT = {"--sheet": "--shet", "--encoding": "--encodign"}
OF_A_COMMAND = {
    "start": {"--no-open": "--noopen", "--n-restarts": "--restart"},
    "draft": {"--overwrite": "--overwite"},
    "check": {"--schema": "--shema"},
    "fit": {"--significance-level": "--significance_level", "--out": "--output"},
    "report": {"--model": "--modl", "--suppress": "--supress"},
    "table": {"--between": "--betwen"},
    "assign": {"--model": "--modell"},
}


@pytest.fixture
def ready(here, fitted):
    """Stand beside a table, its schema and the folder of its fit."""
    shutil.copytree(fitted, "out")
    Path("folder").mkdir()
    return here


def replaced(command, old, new):
    return [command, *(new if argument == old else argument for argument in ARGUMENTS[command])]


@scored(ARGUMENTS)
@scored(
    [
        ("nowhere.csv", "there is no file nowhere.csv"),
        ("cohrt.csv", "cohort.csv"),
        ("folder", "folder"),
        ("no/such/place.csv", "no/such/place.csv"),
        ("schema.yaml", "schema.yaml: tables are read from"),
    ],
)
def test_a_table_that_is_none(command, table, said, ready, capsys):
    assert said in refused(capsys, *replaced(command, "cohort.csv", table))


@scored(["check", "fit"])
@scored(
    [("nowhere.yaml", "nowhere.yaml"), ("folder", "folder is a folder"), ("cohort.csv", "cohort.csv")],
)
def test_a_schema_that_is_none(command, schema, said, ready, capsys):
    assert said in refused(capsys, *replaced(command, "schema.yaml", schema))


@scored(["report", "table", "assign"])
@scored(
    [
        ("nowhere", "there is no folder nowhere; --model takes the folder that `clinclust fit` wrote"),
        ("ot", "there is no folder ot; --model takes the folder that `clinclust fit` wrote. Did you mean 'out'?"),
        ("folder", "folder holds no saved model: model.json is missing"),
        ("cohort.csv", "cohort.csv is a file; --model takes the folder that `clinclust fit` wrote"),
        ("out/model.json", "out/model.json is a file; --model takes the folder that holds it"),
    ],
)
def test_a_model_that_is_none(command, model, said, ready, capsys):
    assert said in refused(capsys, *replaced(command, "out", model))


def misspelt():
    for command in ARGUMENTS:
        for right, wrong in {**MISSPELT, **OF_A_COMMAND[command]}.items():
            if wrong != "--output":  # as near to --out as a name can be, and still another word
                yield command, right, wrong


@scored(list(misspelt()))
@scored([True, False])
def test_the_nearest_option_is_named(command, right, wrong, with_value, ready, capsys):
    before = contents()
    with pytest.raises(SystemExit) as stopped:
        main([command, *ARGUMENTS[command], wrong, *(["x"] if with_value else [])])
    assert stopped.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        f"clinclust: there is no option {wrong}. Did you mean {right}?",
        f"  `clinclust {command} --help` shows how the command is used",
    ]
    assert contents() == before


def test_all_options_that_do_not_exist_are_told_before_what_is_missing(capsys):
    with pytest.raises(SystemExit):
        main(["fit", "cohort.csv", "--shema", "x", "--outt=y", "-s", "--name", "1=--a b", "-3"])
    said = capsys.readouterr().err.splitlines()[0]
    assert said == (
        "clinclust: there is no option --shema. Did you mean --schema?; there is no option --outt. Did you mean "
        "--out?; there is no option -s."
    )


@scored(
    [
        (["fitt", "cohort.csv"], "there is no command fitt. Did you mean 'fit'?"),
        (
            ["fly"],
            "The commands are start, draft, check, fit, report, table, outcomes, impute, compare, assign, validate",
        ),
        (["my cohort.csv"], "To begin with this table: clinclust start 'my cohort.csv'"),
        (["--quiet", "check", "x.csv"], "there is no option --quiet. The options of a command stand after it"),
        (["--debg", "check", "x.csv"], "there is no option --debg. Did you mean --debug?"),
    ],
)
def test_a_command_that_does_not_exist(arguments, said, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


@scored(
    [
        (["--random-state", "1.5"], "argument --seed: invalid whole number value: '1.5'"),
        (["--significance-level", "low"], "argument --significance-level: invalid number value: 'low'"),
        (["--concentration", "mpa"], "argument --concentration: invalid number or map or cross-validation value"),
        (["--associations", "refti"], "argument --associations: invalid choice: 'refti' (choose from"),
    ],
)
def test_a_value_that_is_no_number_or_choice(option, said, capsys):
    with pytest.raises(SystemExit):
        main(["fit", *ARGUMENTS["fit"], *option])
    first = capsys.readouterr().err.splitlines()[0]
    assert said in first
    assert "int" not in first.split(said)[0]


def test_no_command_shows_how_to_begin(here):
    done = run()
    assert (done.returncode, done.stdout) == (2, "")
    assert "\n  clinclust start cohort.csv\n" in done.stderr
    assert len(done.stderr.splitlines()) < 15
    for command in ("draft", "check", "fit", "assign"):
        assert f"\n  clinclust {command} " in done.stderr


def test_the_help_begins_with_the_usual_lines_and_lists_every_command(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    shown = capsys.readouterr().out
    for command in ARGUMENTS:
        assert f"\n    {command} " in shown
        assert f"\n  clinclust {command} " in shown


@pytest.mark.parametrize("command", ARGUMENTS)
def test_every_command_explains_its_options_without_python(capsys, command):
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    assert not FOR_PYTHON.search(capsys.readouterr().out)


@pytest.mark.parametrize("place", ["before", "after"])
def test_tracebacks_can_be_asked_for_before_and_after_the_command(here, capsys, place):
    command = ["check", "nowhere.csv", *SCHEMA_OPTION]
    assert main(["--debug", *command] if place == "before" else [*command, "--debug"]) == 2
    assert capsys.readouterr().err.startswith("Traceback")
