"""Headers, kinds of values and units in dictionaries; the words are `clinclust/data/dictionaries.toml`."""

from __future__ import annotations

import re
from typing import Literal

from clinclust.data import data
from clinclust.files.column_notes import ColumnKind
from clinclust.files.dictionaries.plain_text import folded, words_of

__all__ = ["REDCAP_HEADERS", "holds", "kind_said", "unit_in", "without_unit"]

_WORDS = data("dictionaries")
_HOLDS = {folded(header): meaning for meaning, headers in _WORDS["headers"].items() for header in headers}
REDCAP_HEADERS = {folded(header): field for field, headers in _WORDS["redcap_headers"].items() for header in headers}
"""What the columns of a REDCap data dictionary hold, by folded header."""
_KIND_OF = {word: kind for kind, words in _WORDS["kinds"].items() for word in words}
_PART = rf"(?:{'|'.join(_WORDS['units']['parts'])})(?:\^?[23]|²|³)?"
_UNIT = re.compile(rf"/?\s?{_PART}(?:\s?(?:/|per|pro|par|por)\s?(?:1[.,]73\s?)?{_PART})*", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"[(\[]\s*(?:in|en)?\s*([^()\[\]]{1,30}?)\s*[)\]]\s*[:?]?$")


def holds(header: str) -> str | None:
    """Return what a column of a codebook with this header holds; None if the header is not known.

    Examples
    --------
    >>> from clinclust.files.dictionaries.vocabulary import holds
    >>> [holds(header) for header in ("Variable Name", "Ausprägungen", "Unité", "Código", "Owner")]
    ['name', 'values', 'unit', 'code', None]
    """
    return _HOLDS.get(folded(header))


def kind_said(text: str) -> ColumnKind | Literal["stored as text"] | None:
    """Return the kind of values that a text names, by its first word that names one; None if none does.

    Examples
    --------
    >>> from clinclust.files.dictionaries.vocabulary import kind_said
    >>> [kind_said(text) for text in ("Integer(3)", "kategorial", "free text", "Oui/Non", "varchar(20)", "blob")]
    ['number', 'nominal', 'text', 'yes/no', 'stored as text', None]
    """
    words = words_of(text)
    if words[:2] in (["yes", "no"], ["no", "yes"], ["ja", "nein"], ["oui", "non"], ["si", "no"]):
        return "yes/no"
    kinds = [_KIND_OF[bare] for word in words if (bare := word.rstrip("0123456789")) in _KIND_OF]
    return next((kind for kind in kinds if kind != "stored as text"), kinds[0] if kinds else None)


def unit_in(label: str, note: str) -> str | None:
    """Return the unit in brackets at the end of a label, or the note if it is nothing but a unit; otherwise None.

    Examples
    --------
    >>> from clinclust.files.dictionaries.vocabulary import unit_in
    >>> unit_in("Weight (kg)", ""), unit_in("eGFR", "mL/min/1.73m2"), unit_in("Falls (last year)", "ask twice")
    ('kg', 'mL/min/1.73m2', None)
    """
    found = _IN_BRACKETS.search(label)
    texts = (found[1] if found else "", note.strip())
    return next((text for text in texts if text and _UNIT.fullmatch(text)), None)


def without_unit(label: str, unit: str) -> str:
    """Return a label without this unit in brackets at its end."""
    found = _IN_BRACKETS.search(label)
    return (label[: found.start()].rstrip() if found and found[1] == unit else "") or label
