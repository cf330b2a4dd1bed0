"""What the tests of the command line share: a small cohort, ways to run a command, and ways to read what it printed.

The names of options that many tests use, and the forms of messages that they read, are written here alone.
"""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from clinclust.cli import fit, fitted, main
from schemas import stored_text

JOBS, RESTARTS, SEED = "--n-jobs", "--n-restarts", "--random-state"
COMMANDS = "start|draft|check|fit|report|table|outcomes|impute|compare|assign|validate|schemas"
QUICK = f"{RESTARTS} 2 --associations none --as-published"
CHECK = "check cohort.csv --schema schema.yaml"
FIT = f"fit cohort.csv --schema schema.yaml --out out {QUICK}"
ARGUMENTS = {
    "start": f"start cohort.csv {QUICK}",
    "draft": "draft cohort.csv --out new.yaml",
    "check": CHECK,
    "fit": f"fit cohort.csv --schema schema.yaml --out new {QUICK}",
    "report": "report cohort.csv --model out --out new --associations none",
    "table": "table cohort.csv --model out --out new.docx",
    "assign": "assign cohort.csv --model out --out new.csv",
}
"""The commands that most people use, in a folder with cohort.csv, schema.yaml, and the folder `out` of a fit."""

SCHEMA = stored_text("command_line")
WIDE_SCHEMA = SCHEMA.replace("features:", "other_columns: ignore\nfeatures:")
REPORTS = ["subtypes.html", "subtypes.json", "subtypes.xlsx"]
FILES_OF_A_MODEL = ["assignments.csv", "manifest.json", "model.json", "model.npz"]
FILES = [*FILES_OF_A_MODEL, *REPORTS]


def refused_lines(part):
    """Return the command lines of a part of `cli/refused.toml`, each with the words that its message has."""
    names = {"FIT": FIT, "CHECK": CHECK, "QUICK": QUICK, "JOBS": JOBS, "RESTARTS": RESTARTS, "SEED": SEED}
    text = Path(__file__).with_name("cli").joinpath("refused.toml").read_text(encoding="utf-8")

    def meant(value):
        if isinstance(value, str):
            return value.format_map(names)
        return {meant(line): meant(words) for line, words in value.items()}

    return meant(tomllib.loads(text)[part])


def cohort(n=40):
    rng = np.random.default_rng(0)
    groups = (np.arange(n) >= 0.6 * n).astype(int)
    frame = pd.DataFrame(
        {
            "who": [f"p{i:03d}" for i in range(n)],
            "age": rng.integers(40, 90, n),
            "falls": rng.poisson(1 + 12 * groups),
            "tremor": np.where(rng.random(n) < 0.1 + 0.8 * groups, "yes", "no"),
            "stage": rng.binomial(4, 0.15 + 0.7 * groups),
            "crp": rng.normal(40 + 20 * groups, 2).round(2),
        }
    ).astype(object)
    frame.loc[[2, 11], "crp"] = "NA"
    frame.loc[0, "who"] = '=HYPERLINK("http://x")'
    frame.loc[1, "who"] = "-12"
    return frame


def new_subjects(**odd):
    """Return 30 new subjects; some have another value in a column, stated by position."""
    frame = cohort(70).iloc[40:].reset_index(drop=True)
    for column, (place, value) in odd.items():
        frame.loc[place, column] = value
    return frame


def severities():
    """Return 200 subjects who differ in degree only."""
    rng = np.random.default_rng(0)
    degree = rng.normal(size=(200, 1))
    return pd.DataFrame((degree + 0.7 * rng.normal(size=(200, 6))).round(3), columns=list("abcdef"))


def pressures():
    """Return 120 subjects in two groups; `crp` is skewed, and two pressures measure the same thing."""
    rng = np.random.default_rng(0)
    groups = np.repeat([0.0, 4.0], [70, 50])
    frame = pd.DataFrame({name: rng.normal(groups, 1.0) for name in "abc"})
    common = rng.normal(size=120)
    return frame.assign(
        crp=rng.lognormal(0.3 * groups, 0.8),
        systolic=common + 0.4 * rng.normal(size=120),
        diastolic=common + 0.4 * rng.normal(size=120),
    )


def replace_in_commands(patch, name, value):
    """Replace a function of the package in every command that calls it."""
    for module in (fit, fitted):
        if hasattr(module, name):
            patch.setattr(module, name, value)


def leave_reports_empty(patch):
    replace_in_commands(patch, "write_findings", lambda findings, path, **options: path.touch())


def fail_with(error):
    """Return a function that raises an error, whatever its arguments."""

    def fail(*arguments, **options):
        raise type(error)(*error.args)

    return fail


def contents(folder="."):
    return {str(path): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()}


def names_in(folder="."):
    return sorted(path.name for path in Path(folder).iterdir())


class Text(str):
    """What a command printed, and what it says."""

    def splitlines(self, *arguments):
        return [Text(line) for line in super().splitlines(*arguments)]

    @property
    def notes(self):
        return [line.removeprefix(NOTE) for line in self.splitlines() if line.startswith(NOTE)]

    @property
    def commands(self):
        """The command lines that it offers, without the word `clinclust`."""
        return [Text(line) for line in re.findall(rf"(?:^|: ) *clinclust ((?:{COMMANDS}) .+)$", self, re.M)]

    @property
    def options(self):
        return set(re.findall(r"(?<![\w-])--[a-z][\w-]*", self))

    def lacks(self, words):
        """Return which of these words it does not have."""
        return [word for word in words.split() if word not in self]


class Printed(NamedTuple):
    """What a command printed on standard output, and on standard error."""

    out: Text
    err: Text


NOTE = "clinclust: note: "


# --- running a command ------------------------------------------------------------------------------------------------


def run(capsys, line, *more, code=0):
    """Run a command, which must end with this exit code; return what it printed.

    `line` is written as in a shell; `more` are further arguments, as they are.
    """
    capsys.readouterr()
    result = exit_code(line, *more)
    printed = Printed(*map(Text, capsys.readouterr()))
    assert result == code, printed.err
    return printed


def exit_code(line, *more):
    try:
        return main([*shlex.split(line), *map(str, more)])
    except SystemExit as end:
        return end.code


def refused(capsys, line, *more, naming=""):
    """Run a command that must fail, without leaving a trace; return its one message, which has the words `naming`."""
    before, folders = contents(), {path for path in Path().rglob("*") if path.is_dir()}
    out, err = run(capsys, line, *more, code=2)
    assert out == ""
    assert_is_one_message(err)
    assert contents() == before
    assert {path for path in Path().rglob("*") if path.is_dir()} == folders
    assert err.lacks(naming) == [], err
    return err


def run_json(capsys, line, *more, code=0):
    """Run a command with --json, and return the facts in its summary."""
    return json.loads(run(capsys, line, *more, "--json", code=code).out)


def run_process(*arguments, **options):
    options = {"capture_output": True, "text": True, "timeout": 120, **options}
    done = subprocess.run([sys.executable, "-m", "clinclust", *map(str, arguments)], check=False, **options)
    return done.returncode, Printed(Text(done.stdout), Text(done.stderr))


# --- reading what a command printed -----------------------------------------------------------------------------------


# Names and calls that only help in Python; at the command line a message names an option, a line of the schema, or a
# spreadsheet.
FOR_PYTHON = re.compile(
    r"\b(?:frame|pandas|DataFrame|numpy|None|random_state|n_jobs|n_restarts|MAPDP|read_cohort)\b"
    r"|\.to_|\.loc\b|model\.(?!json|npz)|attribute of this error|=\.\.\."
)


def assert_is_one_message(err):
    assert err.startswith("clinclust: ")
    assert sum(line.startswith("clinclust: ") for line in err.splitlines()) == 1
    assert not re.search(r"Traceback|\[Errno|\.clinclust-", err)
    assert len(err.strip().removeprefix("clinclust: ")) > 10
    assert not FOR_PYTHON.search(err), err


def faults_in(facts):
    """Return the rows at fault of each column, in the summary of a table that was refused."""
    (problem,) = facts["problems"]
    return {failure["column"]: failure["first_rows"] for failure in problem["failures"]}
