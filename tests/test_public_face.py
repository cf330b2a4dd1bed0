"""What other programs rely on: names, versions, docstrings, and how little an import costs."""

import importlib
import importlib.metadata
import inspect
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import clinclust

ROOT = Path(__file__).parents[1]
HEAVY = ("sklearn", "statsmodels", "scipy.stats", "matplotlib", "openpyxl", "tqdm")


def modules_after(code):
    listing = "import sys; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{code}\n{listing}"], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return set(done.stdout.split())


def test_every_public_name_is_there_and_shown():
    for name in clinclust.__all__:
        assert getattr(clinclust, name).__name__ == name
        assert name in dir(clinclust)
    assert "__version__" in dir(clinclust)
    assert sorted(clinclust.__all__, key=str.lower) == sorted(set(clinclust.__all__), key=str.lower)
    namespace = {}
    exec("from clinclust import *", namespace)
    assert set(clinclust.__all__) <= set(namespace)
    with pytest.raises(AttributeError, match="no attribute 'KMeans'"):
        clinclust.KMeans  # noqa: B018


def test_the_version_is_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert clinclust.__version__ == project["version"]
    try:
        installed = importlib.metadata.version("clinclust")
    except importlib.metadata.PackageNotFoundError:
        return  # used from its folder
    assert installed == clinclust.__version__


def test_importing_the_package_or_its_schemas_costs_little():
    assert not modules_after("import clinclust") & {"numpy", "pandas", "numba", "pandera", "scipy", *HEAVY}
    heavy = {"pandera.pandas", "openpyxl", "scipy", "pyarrow.parquet", "numba", "matplotlib"}
    assert not modules_after("import clinclust.schema") & heavy


def test_heavy_packages_wait_until_they_are_used():
    names = "[getattr(clinclust, name) for name in clinclust.__all__]"
    assert not modules_after(f"import clinclust.cli; {names}; clinclust.MAPDP().get_params()") & set(HEAVY)


@pytest.mark.simulation
def test_a_fit_that_nobody_watches_needs_no_scikit_learn_and_writes_nothing():
    fit = "clinclust.methods.PublishedMAPDP(random_state=0, n_restarts=2).fit([[0.5, 1], [2, 3.5], [9, 8], [8, 7.5]])"
    code = f"import clinclust\ntry: clinclust.MAPDP().predict([[1]])\nexcept ValueError as e: assert str(e)\n{fit}"
    assert "sklearn" not in modules_after(code)


def public_objects():
    names = [info.name for info in pkgutil.walk_packages(clinclust.__path__, "clinclust.")]
    for name in ["clinclust", *names]:
        module = importlib.import_module(name)
        yield name, module
        own = [key for key, value in vars(module).items() if key[0] != "_" and getattr(value, "__module__", "") == name]
        for public in getattr(module, "__all__", own):
            value = getattr(module, public)
            if not getattr(value, "__module__", "").startswith("clinclust"):
                continue
            yield f"{name}.{public}", value
            for attribute, member in vars(value).items() if inspect.isclass(value) else ():
                member = member.__func__ if isinstance(member, classmethod | staticmethod) else member
                if not attribute.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
                    yield f"{name}.{public}.{attribute}", member


def test_everything_public_says_what_it_is():
    seen = dict(public_objects())
    assert len(seen) > 150
    assert {"clinclust.estimators.mapdp.MAPDP.predict_proba", "clinclust.MAPDP", "clinclust.cli.main"} <= set(seen)
    silent = [name for name, value in seen.items() if not (getattr(value, "__doc__", None) or "").strip()]
    assert silent == []
