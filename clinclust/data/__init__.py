"""Words, units and codes as data: TOML files in this folder, all read by `data`; in `instruments/`, ready schemas."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["WORDS", "catalogue", "data"]


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


def catalogue() -> dict[str, Any]:
    """Return the sentences and headings of all reports: the one place where those of another language take theirs."""
    return data("report")


class _Words(Mapping[str, Any]):
    """A part of the `catalogue`, read whenever a sentence is said: `WORDS["trust"]["doubts"]` is such a part too."""

    def __init__(self, *path: str) -> None:
        self._path = path

    def __getitem__(self, key: str) -> Any:
        held = self._held[key]
        return _Words(*self._path, key) if isinstance(held, dict) else held

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    @property
    def _held(self) -> dict[str, Any]:
        held: Any = catalogue()
        for key in self._path:
            held = held[key]
        return dict(held)


WORDS = _Words()
