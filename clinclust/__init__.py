"""Find and describe disease subtypes in a clinical cohort; public names are imported when first used."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

__version__ = "0.1.0"

# The public names stand once, in the imports that type checkers read.
_PUBLIC = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_HOME = {name.name: node.module for node in _PUBLIC.body if isinstance(node, ast.ImportFrom) for name in node.names}
__all__ = [name for name, module in _HOME.items() if module != __name__]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'clinclust' has no attribute {name!r}")
    home = f"{_HOME[name]}"
    value = import_module(f"{home}.{name}") if home == __name__ else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_HOME, "__version__"])
