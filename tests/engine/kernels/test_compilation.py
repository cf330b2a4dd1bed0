"""The kernels are compiled once and announced, also where nothing can be kept, and never leave their arrays.

Plain kernels, compiled or not, find what the others find, and each kind is kept apart from the others.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cohorts import EVERY_LIKELIHOOD

import clinclust
from clinclust.engine.kernels import compiled
from clinclust.engine.kernels.sweep import sweep

_FIT = """
import logging, sys
import pandas as pd
import clinclust
logging.basicConfig(level="INFO", format="%(message)s", stream=sys.stdout)
frame = pd.DataFrame({"x": [0, 1] * 20, "y": [0.5, 2.0, 1.0, 7.5] * 10})
schema = clinclust.FeatureSchema([
    clinclust.Feature(name="x", likelihood="bernoulli"), clinclust.Feature(name="y", likelihood="gaussian"),
])
print(clinclust.methods.PublishedMAPDP(schema, random_state=0).fit(frame).n_clusters_, "found by", clinclust.__file__)
"""
_CHECKED_FITS = """
from cohorts import EVERY_LIKELIHOOD, mixed_cohort
from clinclust.methods import PublishedMAPDP
from clinclust.engine.search import settle
settle.LARGE, settle.N_SAMPLED = 100, 60
for n, kinds in ((70, EVERY_LIKELIHOOD * 2), (150, EVERY_LIKELIHOOD), (40, ("bernoulli",)), (40, ("gaussian",))):
    frame, schema, _, _ = mixed_cohort(0, n, likelihoods=kinds, missing=0.2)
    model = PublishedMAPDP(schema, random_state=0, n_restarts=8, progress=False).fit(frame)
    model.predict_proba(frame)
"""

# What a kernel reads from a module is compiled into it, as what it calls is: the variants must not share a cached one.
_KERNELS = """
from clinclust.engine.kernels.compiled import PLAIN, flat, kernel

@kernel
def is_plain():
    return PLAIN

@kernel
def element(array, index):
    return flat(array, 0)[index]
"""
_VARIANT = """
import json
import numpy as np
from variant import element, is_plain
plain, beyond = is_plain(), "read"
try:
    element(np.arange(8.0)[:2], 5)
except IndexError:
    beyond = "refused"
hits = sum(sum(function.stats.cache_hits.values()) for function in (is_plain, element))
print(json.dumps([plain, beyond, hits]))
"""
_MIXED_FIT = """
import json, sys
from cohorts import EVERY_LIKELIHOOD, mixed_cohort
from clinclust import MAPDP
from clinclust.engine.kernels.compiled import PLAIN
from clinclust.methods import PublishedMAPDP
n, kinds, options = json.loads(sys.argv[1])
frame, schema, _, _ = mixed_cohort(0, n, kinds, missing=0.1)
model = PublishedMAPDP(schema, random_state=0, progress=False, **options).fit(frame)
print(json.dumps({
    "vectors": not PLAIN,
    "labels": model.labels_.tolist(), "joint": model.log_joint_, "membership": model.membership_.tobytes().hex(),
}))
"""


def _run(program, folder, *arguments, **environment):
    path = os.pathsep.join([str(Path(clinclust.__file__).parents[1]), str(Path(__file__).parents[2])])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    command = [sys.executable, "-c", program, *arguments]
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.simulation
def test_compiling_is_announced_and_happens_once(tmp_path):
    assert "compiling its numerical kernels" in _run(_FIT, tmp_path, NUMBA_CACHE_DIR=str(tmp_path))
    assert "compiling" not in _run(_FIT, tmp_path, NUMBA_CACHE_DIR=str(tmp_path))


@pytest.mark.simulation
def test_where_nothing_can_be_kept_every_process_compiles(tmp_path):
    """Neither beside the package nor at home: files stand where the folders would be, which stops root as well."""
    package = tmp_path / "site" / "clinclust"
    shutil.copytree(Path(clinclust.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()
    home = tmp_path / "home"
    home.touch()
    nowhere = {"NUMBA_CACHE_DIR": "", "HOME": str(home), "XDG_CACHE_HOME": str(home), "MPLCONFIGDIR": str(tmp_path)}
    said = _run(_FIT, tmp_path, PYTHONPATH=str(tmp_path / "site"), **nowhere)
    assert "compiling its numerical kernels" in said
    assert str(package) in said


@pytest.mark.simulation
def test_no_kernel_leaves_its_arrays(tmp_path):
    _run(_CHECKED_FITS, tmp_path, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path))


@pytest.mark.simulation
def test_variants_of_the_kernels_are_kept_apart(tmp_path):
    (tmp_path / "variant.py").write_text(_KERNELS)
    variants = [
        ({}, [False, "read"]),
        ({"CLINCLUST_PLAIN_KERNELS": "1"}, [True, "read"]),
        ({"NUMBA_BOUNDSCHECK": "1"}, [False, "refused"]),
        ({"CLINCLUST_PLAIN_KERNELS": "1", "NUMBA_BOUNDSCHECK": "1"}, [True, "refused"]),
    ]
    neither = {"CLINCLUST_PLAIN_KERNELS": "0", "NUMBA_BOUNDSCHECK": "0", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for hits in (0, 2):
        for chosen, expected in variants:
            assert json.loads(_run(_VARIANT, tmp_path, **{**neither, **chosen})) == [*expected, hits]


def _mixed_fit(folder, n, kinds, options, **environment):
    neither = {"CLINCLUST_PLAIN_KERNELS": "0", "NUMBA_DISABLE_JIT": "0"}
    return json.loads(_run(_MIXED_FIT, folder, json.dumps([n, kinds, options]), **{**neither, **environment}))


@pytest.mark.simulation
def test_plain_kernels_find_the_same_bits_without_vectors(tmp_path):
    cohort = (120, EVERY_LIKELIHOOD * 2 + ("binomial",) * 9, {"n_restarts": 4})
    vectors = _mixed_fit(tmp_path, *cohort)
    plain = _mixed_fit(tmp_path, *cohort, CLINCLUST_PLAIN_KERNELS="1")
    assert (vectors.pop("vectors"), plain.pop("vectors")) == (True, False)
    assert len(set(vectors["labels"])) > 1
    assert plain == vectors


@pytest.mark.simulation
def test_kernels_run_without_being_compiled(tmp_path):
    cohort = (20, EVERY_LIKELIHOOD + ("binomial",) * 8, {"n_restarts": 1, "outlying_share": 0.05})
    compiled = _mixed_fit(tmp_path, *cohort)
    plain = _mixed_fit(tmp_path, *cohort, NUMBA_DISABLE_JIT="1")
    assert not plain["vectors"]
    assert plain["labels"] == compiled["labels"]
    assert plain["joint"] == pytest.approx(compiled["joint"], rel=1e-12)  # lgamma is not quite the same
    found, expected = (np.frombuffer(bytes.fromhex(fit["membership"])) for fit in (plain, compiled))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_kernels_of_other_sources_have_other_names(tmp_path, monkeypatch):
    """Numba does not look at the functions that a kernel calls: a cached one would go on with old code."""
    monkeypatch.setenv("CLINCLUST_PLAIN_KERNELS", "1")  # vector registers are defined once in a process
    package = tmp_path / "clinclust"
    shutil.copytree(Path(clinclust.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    spec = importlib.util.spec_from_file_location("copied", package / "engine" / "kernels" / "compiled.py")
    copied = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copied)
    own = compiled._fingerprint()
    assert sweep.py_func.__qualname__ == f"sweep{compiled._SUFFIX}"
    assert compiled._SUFFIX.startswith(f"_{own}")
    assert copied._fingerprint() == own
    callee = package / "engine" / "kernels" / "predictives.py"
    callee.write_text(callee.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    assert copied._fingerprint() != own
