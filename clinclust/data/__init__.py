"""Words, units and codes as data: TOML files in this folder, all read by `data`; in `instruments/`, ready schemas."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["data"]


@cache
def data(name: str) -> dict[str, Any]:
    """Return what the file `name`.toml of this folder holds. It is read once, and never changed.

    Examples
    --------
    >>> from clinclust.data import data
    >>> "placebo" in data("roles")["arm"]["levels"]
    True
    """
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))
