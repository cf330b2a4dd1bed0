"""The counts of `benchmarks/house.py` are those of a small package that was counted by hand."""

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "house.py"
MODULES = {
    "__init__.py": '__all__ = ["fit", "draw"]\n',
    "schema/__init__.py": "",
    "schema/feature.py": "def a():\n    from clinclust.schema import rules\n    import clinclust.cli.entry\n",
    "schema/rules.py": "if True:\n    from clinclust.schema.feature import a\n",
    "cli/entry.py": (
        '"""Two words, beside."""\n'
        "from clinclust.schema.feature import a\n"
        "# It is kept\tout.\n"
        "class C:\n"
        "    def nine(self, a, b, c, d, /, e, f, *g, h, **i): raise ValueError(f'{a} is told')\n"
        "    def eight(self, a, b, c, d, e, f, g, h): return 'beside'\n"
    ),
}
LAYERS = "def all_imports(): return ['up', 'down']\ndef upward(imports): return imports[:1]\n"


@pytest.fixture
def tree(tmp_path):
    for name, text in {
        **{f"clinclust/{name}": text for name, text in MODULES.items()},
        "tests/test_layers.py": LAYERS,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_counts_are_those_by_hand(tree):
    house = runpy.run_path(str(SCRIPT))
    counts = house["counts_of"](tree)
    assert counts[""] == {
        "lines": 12,
        "files": 5,
        "imports upwards": 1,
        "modules in import circles": 3,  # entry, feature and rules import each other
        "modules with one importer": 2,  # entry and rules, both by feature
        "modules under 60 lines": 5,
        "functions of 9 or more parameters": 1,
        "public names": 2,
        "words of docstrings": 3,
        "banned idioms": 3,  # a string of one word is no message
    }
    assert +counts["idiom"] == {"beside": 1, "kept out": 1, "told": 1}
    assert counts["lines of room"] == {"__init__": 1, "schema": 5, "cli": 6}
    assert counts["files of room"] == {"__init__": 1, "schema": 3, "cli": 1}


def test_another_tree_is_compared(tree):
    house = runpy.run_path(str(SCRIPT))
    ours = house["counts_of"](tree)
    (tree / "clinclust" / "cli" / "more.py").write_text("a = 1\nb = 2\n", encoding="utf-8")
    lines = list(house["table"](house["counts_of"](tree), ours))
    assert ["lines", "14", "12", "+2"] in [line.split() for line in lines]
    assert ["cli", "2", "1", "+1"] in [line.split() for line in lines]
