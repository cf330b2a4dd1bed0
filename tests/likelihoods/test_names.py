"""Nothing but the likelihoods themselves knows them by name."""

import ast
from pathlib import Path

import clinclust
from clinclust.likelihoods import REGISTRY

PACKAGE = Path(clinclust.__file__).parent


def named_outside():
    """Yield where a text of the code, other than a docstring, is the name of a likelihood."""
    for path in sorted(PACKAGE.rglob("*.py")):
        # Files stand below the likelihoods and know none: the words there are those of statistical programs.
        if path.is_relative_to(PACKAGE / "likelihoods") or path.is_relative_to(PACKAGE / "files"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and node.value in tuple(REGISTRY):
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.value}"


def test_nobody_else_compares_names_of_likelihoods():
    assert list(named_outside()) == []


def test_alternatives_are_other_likelihoods():
    for name, likelihood in REGISTRY.items():
        assert set(likelihood.alternatives) <= set(REGISTRY) - {name}
