"""Schemas of instruments that many cohorts have, from `clinclust/data/instruments/`."""

from __future__ import annotations

from importlib.resources import files

from clinclust.errors import InputError
from clinclust.nearest import did_you_mean

_FOLDER = files("clinclust.data") / "instruments"


def instruments() -> list[str]:
    """Return the names of the instruments, in alphabetical order."""
    return sorted(file.name.removesuffix(".yaml") for file in _FOLDER.iterdir())


def schema_of_instrument(name: str) -> str:
    """Return the schema of an instrument as YAML text, with its scoring and source as comments; InputError if none."""
    known = instruments()
    if name not in known:
        raise InputError(f"there is no instrument {name!r}.{did_you_mean(str(name), known)} Known: {', '.join(known)}")
    return (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
