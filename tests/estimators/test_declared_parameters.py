"""A parameter is declared once: the constructor, the checks, the help, the docstring and the documents follow."""

import os
import shutil
import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest

from clinclust import MAPDP, GibbsDP
from clinclust.estimators.parameters import (
    MAPDPParameters,
    PublishedParameters,
    SamplerParameters,
    check_estimator,
    declarations,
    rules_of,
)
from clinclust.methods import PublishedMAPDP

ESTIMATORS = {MAPDP: MAPDPParameters, PublishedMAPDP: PublishedParameters, GibbsDP: SamplerParameters}
ROOT = Path(__file__).parents[2]

CHANGED = """
import inspect, io, contextlib
from clinclust import MAPDP
from clinclust.cli import main
from clinclust.estimators.settings import Settings

print("constructor", inspect.signature(MAPDP).parameters["n_restarts"].default)
print("checks", Settings.of(MAPDP()).n_restarts)
print("docstring", "n_restarts : a whole number of at least 1; default 7" in MAPDP.__doc__)
with contextlib.redirect_stdout(io.StringIO()) as help, contextlib.suppress(SystemExit):
    main(["fit", "--help"])
print("help", "default: 7" in " ".join(help.getvalue().split()))
"""


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_constructor_and_the_docstring_are_those_of_the_declarations(estimator):
    declared = declarations(ESTIMATORS[estimator])
    constructor = signature(estimator).parameters
    assert {name: each.default for name, each in constructor.items()} == {
        name: each.default for name, each in declared.items()
    }
    assert estimator().get_params() == {name: each.default for name, each in declared.items()}
    for name, each in declared.items():
        assert f"\n{name} : {each.rule.allowed}" in estimator.__doc__
    assert "{parameters}" not in estimator.__doc__


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_default_can_be_used(estimator):
    check_estimator(estimator, estimator().get_params())
    for name, each in declarations(ESTIMATORS[estimator]).items():
        assert each.rule.problems(name, each.default) == []


def test_words_of_options_are_values_of_the_parameter():
    for estimator in (MAPDPParameters, PublishedParameters):
        for name, each in declarations(estimator).items():
            for word in each.option.words if each.option else ():
                value = {"none": None, "yes": True, "no": False}.get(word, word)
                assert rules_of(estimator)[name].accepts(value), (name, word)


def test_a_default_is_changed_in_one_place(tmp_path):
    shutil.copytree(ROOT / "clinclust", tmp_path / "clinclust", ignore=shutil.ignore_patterns("__pycache__", "*.nb*"))
    declared = tmp_path / "clinclust" / "estimators" / "parameters.py"
    text = declared.read_text(encoding="utf-8")
    changed = text.replace("n_restarts: int = parameter(\n        10,", "n_restarts: int = parameter(\n        7,")
    assert changed != text
    declared.write_text(changed, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", CHANGED],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["constructor 7", "checks 7", "docstring True", "help True"]
