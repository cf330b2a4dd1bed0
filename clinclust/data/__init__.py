"""Words, units and codes as data: TOML files in this folder, all read by `data`; in `instruments/`, ready schemas.

Reports are English in `report.toml`. Their other languages are catalogues of gettext in `locale/`, which
`benchmarks/catalogues.py` keeps in step: the context of a sentence is its place in `report.toml`, as "answer.kinds".
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import NullTranslations, translation
from pathlib import Path
from string import Formatter
from typing import Any, Literal

__all__ = ["WORDS", "Language", "Style", "catalogue", "counted", "data", "print_number", "speaking"]

Language = Literal["en", "de", "es", "fr", "pt"]
Style = Literal["jama", "lancet", "nejm", "bmj"]
_SPOKEN: ContextVar[tuple[Language, Style | None, str | None]] = ContextVar("spoken", default=("en", None, None))


@cache
def data(name: str) -> dict[str, Any]:
    """Return what the file `name`.toml of this folder holds. It is read once, and never changed."""
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))


@contextmanager
def speaking(language: Language, style: Style | None = None, decimal: str | None = None) -> Iterator[None]:
    """Let reports be in a language, with its marks in numbers, those of a journal, or another decimal mark."""
    before = _SPOKEN.set((language, style, decimal))
    try:
        yield
    finally:
        _SPOKEN.reset(before)


def catalogue() -> dict[str, Any]:
    """Return the sentences and headings of all reports in the language that is spoken, and how its numbers look."""
    return _translate_catalogue(*_SPOKEN.get())


@cache
def _translations(language: Language) -> NullTranslations:
    return translation("clinclust", Path(__file__).parent / "locale", [language], fallback=language == "en")


@cache
def _translate_catalogue(language: Language, style: Style | None, decimal: str | None) -> dict[str, Any]:
    def translate(held: Any, *path: str) -> Any:
        if isinstance(held, dict):
            return {key: translate(part, *path, key) for key, part in held.items()}
        if isinstance(held, list):
            return [translate(part, *path, str(place)) for place, part in enumerate(held)]
        is_empty = not isinstance(held, str) or not held
        return held if is_empty else _Sentence(_translations(language).pgettext(".".join(path), held))

    report, styles = data("report") if language == "en" else translate(data("report")), data("styles")
    marks = report["numbers"] if style is None else styles["journals"][style]
    return report | {"numbers": styles["usual"] | marks | styles["decimals"].get(decimal, {})}


def counted(number: int, noun: str) -> str:
    """Return a number of things: "1 subtype", "2 subtypes"."""
    (singular, plural), translations = data("report")["counted"][noun], _translations(_SPOKEN.get()[0])
    return _Sentence(translations.npgettext(f"counted.{noun}", singular, plural, number)).format(n=number)


def print_number(text: str) -> str:
    """Return a number that Python printed with the marks of the language: 1,042.5% is 1.042,5 % in German."""
    marks = catalogue()["numbers"]
    if marks["closed_up"]:
        text = re.sub(r"(?<![\d,])(\d),(\d{3})(?![\d,])", r"\1\2", text)
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
