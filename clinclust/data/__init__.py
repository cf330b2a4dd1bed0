"""Words, units and codes as data: TOML files in this folder, all read by `data`; in `instruments/`, ready schemas.

Reports are English in `report.toml`. Their other languages are catalogues of gettext in `locale/`, which
`benchmarks/catalogues.py` keeps in step: the context of a sentence is its place in `report.toml`, as "answer.kinds".
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import NullTranslations, translation
from pathlib import Path
from string import Formatter
from typing import Any, Literal, get_args

__all__ = ["LANGUAGES", "WORDS", "Language", "catalogue", "counted", "data", "print_number", "speaking"]

Language = Literal["en", "de", "es", "fr", "pt"]
LANGUAGES = get_args(Language)
"""The languages of reports: English and those in `locale/`."""
_LANGUAGE: ContextVar[Language] = ContextVar("language", default="en")


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


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    """Let reports be in a language, their sentences and the marks in their numbers."""
    before = _LANGUAGE.set(language)
    try:
        yield
    finally:
        _LANGUAGE.reset(before)


def catalogue() -> dict[str, Any]:
    """Return the sentences and headings of all reports in the language that is spoken."""
    return data("report") if _LANGUAGE.get() == "en" else _translate_catalogue(_LANGUAGE.get())


@cache
def _translations(language: Language) -> NullTranslations:
    return translation("clinclust", Path(__file__).parent / "locale", [language], fallback=language == "en")


@cache
def _translate_catalogue(language: Language) -> dict[str, Any]:
    def translate(held: Any, *path: str) -> Any:
        if isinstance(held, dict):
            return {key: translate(part, *path, key) for key, part in held.items()}
        if isinstance(held, list):
            return [translate(part, *path, str(place)) for place, part in enumerate(held)]
        is_empty = not isinstance(held, str) or not held
        return held if is_empty else _Sentence(_translations(language).pgettext(".".join(path), held))

    return dict(translate(data("report")))


def counted(number: int, noun: str) -> str:
    """Return a number of things: "1 subtype", "2 subtypes"."""
    (singular, plural), translations = data("report")["counted"][noun], _translations(_LANGUAGE.get())
    return _Sentence(translations.npgettext(f"counted.{noun}", singular, plural, number)).format(n=number)


def print_number(text: str) -> str:
    """Return a number that Python printed with the marks of the language: 1,042.5% is 1.042,5 % in German."""
    marks = catalogue()["numbers"]
    return text.translate({ord("."): marks["decimal"], ord(","): marks["thousands"], ord("%"): marks["percent"]})


class _PrintedFields(Formatter):
    def format_field(self, value: Any, spec: str) -> str:
        text = str(super().format_field(value, spec))
        return text if isinstance(value, str) else print_number(text)


class _Sentence(str):
    """A sentence of another language, which prints the numbers in its fields as that does."""

    def format(self, *args: object, **fields: object) -> str:
        return _PrintedFields().vformat(self, args, fields)


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
