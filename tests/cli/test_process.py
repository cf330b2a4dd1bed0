"""The command as a process of its own: its imports, its output, its defaults."""

import json
import os
import shlex
import subprocess
import sys

import pandas as pd
import pytest
from command_line import SCHEMA, SCHEMA_OPTION, cohort, run

from clinclust import MAPDP, FeatureSchema, __version__
from clinclust.cli import main


def test_as_a_process(here):
    done = run("check", "cohort.csv", *SCHEMA_OPTION)
    assert done.returncode == 0
    assert "clinclust: note" not in done.stderr
    following = shlex.split(done.stdout.splitlines()[-1].removeprefix("next: "))
    assert following == ["clinclust", "fit", "cohort.csv", *SCHEMA_OPTION, "--out", "cohort-subtypes"]
    done = run("check", "missing.csv", *SCHEMA_OPTION)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("clinclust: there is no file missing.csv")
    assert run("fit").returncode == 2
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"clinclust {__version__}\n")


@pytest.mark.simulation
@pytest.mark.skipif(os.name == "nt", reason="pipes break differently there")
def test_a_closed_output_is_no_error(here, fitted):
    long = pd.concat([cohort()] * 100, ignore_index=True)
    long.assign(who=long.index).to_csv("long.csv", index=False)
    for arguments in (["assign", "long.csv", "--model", fitted], ["check", "cohort.csv", *SCHEMA_OPTION]):
        reader, writer = os.pipe()
        os.close(reader)
        done = run(*arguments, capture_output=False, stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        assert (done.returncode, done.stderr) == (141, "")


def test_help_needs_nothing_heavy():
    code = (
        "import sys\nfrom clinclust.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit as end:\n"
        "    assert end.code == 0\nprint(sorted({'pandas', 'numpy', 'numba', 'pandera', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "clinclust fit cohort.csv" in done.stdout


def test_the_defaults_of_the_command_are_the_recommended_ones(here):
    assert main(["fit", "cohort.csv", *SCHEMA_OPTION, "--associations", "none", "--out", "out"]) == 0
    model = MAPDP.load("out")
    expected = {**MAPDP().get_params(), "random_state": 0, "schema": model.schema_}
    assert model.get_params() == expected


def test_the_model_file_says_what_was_run(fitted):
    text = json.loads((fitted / "model.json").read_text(encoding="utf-8"))
    assert text["clinclust_version"] == __version__
    assert text["parameters"]["n_restarts"] == 4
    assert FeatureSchema.from_yaml(text["fit"]["schema_"]) == FeatureSchema.from_yaml(SCHEMA)


def test_ctrl_c_while_the_command_is_imported_ends_it_without_a_traceback():
    stopping = """
import sys
class Stopping:
    def find_spec(self, name, path=None, target=None):
        if name == "clinclust.cli.entry":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Stopping())
from clinclust.cli import main
sys.exit(main(["--version"]))
"""
    done = subprocess.run([sys.executable, "-c", stopping], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "clinclust: stopped\n")
