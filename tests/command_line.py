"""What the tests of the command line share: a small cohort, and ways to run a command."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from clinclust.cli import main

SCHEMA = """\
clinclust: 1
title: Test cohort
missing_codes: ["", NA]
features:
  - {name: who, role: id}
  - {name: age, likelihood: gaussian, role: describe, unit: years}
  - {name: falls, likelihood: poisson}
  - {name: tremor, likelihood: bernoulli, levels: ["no", "yes"]}
  - {name: stage, likelihood: binomial, trials: 4}
  - {name: crp, likelihood: gaussian}
"""
FILES = [
    "assignments.csv",
    "manifest.json",
    "model.json",
    "model.npz",
    "subtypes.html",
    "subtypes.json",
    "subtypes.xlsx",
]


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


def contents(folder="."):
    return {str(path): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()}


def run(*arguments, **options):
    options = {"capture_output": True, "text": True, "timeout": 120, **options}
    return subprocess.run([sys.executable, "-m", "clinclust", *map(str, arguments)], check=False, **options)


def refused(capsys, *arguments):
    """Run a command that must fail, without leaving a trace; return its one message."""
    before, folders = contents(), {path for path in Path().rglob("*") if path.is_dir()}
    assert main(list(map(str, arguments))) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("clinclust: ")
    assert sum(line.startswith("clinclust: ") for line in err.splitlines()) == 1
    assert "Traceback" not in err
    assert len(err.strip().removeprefix("clinclust: ")) > 10
    assert not FOR_PYTHON.search(err), err
    assert contents() == before
    assert {path for path in Path().rglob("*") if path.is_dir()} == folders
    return err


# Names and calls that only help in Python; at the command line a message names an option, a line of the schema, or a
# spreadsheet.
FOR_PYTHON = re.compile(
    r"\b(?:frame|pandas|DataFrame|numpy|None|random_state|n_jobs|n_restarts|MAPDP|read_cohort)\b"
    r"|\.to_|\.loc\b|model\.(?!json|npz)|attribute of this error|=\.\.\."
)

SCHEMA_OPTION = ["--schema", "schema.yaml"]
QUICK = ["--restarts", "2", "--associations", "none", "--as-published"]
FIT = ["fit", "cohort.csv", *SCHEMA_OPTION, "--out", "out", *QUICK]
