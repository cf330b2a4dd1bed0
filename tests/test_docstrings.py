"""The examples in docstrings are true, and every public name has one."""

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import clinclust

PACKAGE = Path(clinclust.__file__).parent
# Found in the text of the files, so that collecting the tests imports nothing.
MODULES = [
    ".".join(["clinclust", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.usefixtures("fits_once")
@pytest.mark.parametrize("module", MODULES)
def test_the_examples_are_true(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where examples write their files
    for test in doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(module)):
        test.globs.clear()  # an example imports what it uses, as its reader must
        said = []
        results = doctest.DocTestRunner().run(test, out=said.append)
        assert results.failed == 0, "".join(said)


@pytest.mark.parametrize("name", clinclust.__all__)
def test_every_public_name_has_an_example(name):
    value = getattr(clinclust, name)
    section = inspect.getdoc(value).partition("\nExamples\n--------\n")[2]
    sources = [example.source for example in doctest.DocTestParser().get_examples(section)]
    assert any(f"cc.{name}" in source for source in sources), f"{name} is not used in an example of its own"
    assert value.__module__ in MODULES
