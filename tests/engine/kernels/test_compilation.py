"""The kernels are compiled once and announced, also where nothing can be kept, and never leave their arrays."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import clinclust

_FIT = """
import logging, sys
import pandas as pd
import clinclust
logging.basicConfig(level="INFO", format="%(message)s", stream=sys.stdout)
frame = pd.DataFrame({"x": [0, 1] * 20, "y": [0.5, 2.0, 1.0, 7.5] * 10})
schema = clinclust.FeatureSchema([
    clinclust.Feature(name="x", likelihood="bernoulli"), clinclust.Feature(name="y", likelihood="gaussian"),
])
print(clinclust.MAPDP(schema, random_state=0).fit(frame).n_clusters_, "found by", clinclust.__file__)
"""
_CHECKED_FITS = """
from cohorts import LIKELIHOODS, mixed_cohort
from clinclust import MAPDP
from clinclust.engine.search import sampled
sampled.LARGE, sampled.N_SAMPLED = 100, 60
for n, kinds in ((70, LIKELIHOODS * 2), (150, LIKELIHOODS), (40, ("bernoulli",)), (40, ("gaussian",))):
    frame, schema, _, _ = mixed_cohort(0, n, likelihoods=kinds, missing=0.2)
    model = MAPDP(schema, random_state=0, n_restarts=8, progress=False).fit(frame)
    model.predict_proba(frame)
"""


def _run(program, folder, **environment):
    path = os.pathsep.join([str(Path(clinclust.__file__).parents[1]), str(Path(__file__).parents[2])])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_compiling_is_announced_and_happens_once(tmp_path):
    assert "compiling its numerical kernels" in _run(_FIT, tmp_path, NUMBA_CACHE_DIR=str(tmp_path))
    assert "compiling" not in _run(_FIT, tmp_path, NUMBA_CACHE_DIR=str(tmp_path))


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


def test_no_kernel_leaves_its_arrays(tmp_path):
    _run(_CHECKED_FITS, tmp_path, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path))
