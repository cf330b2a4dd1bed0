"""The words of dictionaries and cells: plain text, the form in which texts are compared, and what means missing.

The words that mean missing are `clinclust/data/missing_words.toml`.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence

from clinclust.control_characters import visible
from clinclust.data import data
from clinclust.files.cell_text import shortened

__all__ = [
    "MISSING_SIGNS",
    "divided",
    "folded",
    "heading_and_rest",
    "may_mean_missing",
    "means_missing",
    "plain_text",
    "said_missing",
    "words_of",
]

_UNSHOWN = re.compile(r"<(script|style)\b[^>]*>.*?(?:</\1\s*>|$)|<!--.*?(?:-->|$)", re.IGNORECASE | re.DOTALL)
# Only elements that exist: "CRP <5 mg/L" holds no markup.
_INLINE = re.compile(r"</?(?:a|b|em|font|i|small|span|strong|sub|sup|u)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_BREAK = re.compile(
    r"</?(?:br|center|div|h[1-6]|hr|img|label|li|ol|p|pre|table|tbody|td|th|thead|tr|ul)(?:\s[^<>]*)?/?>|\n",
    re.IGNORECASE,
)
Choices = tuple[tuple[str, str], ...]
_LABELS = frozenset(label for labels in data("missing_words")["labels"].values() for label in labels)
_CODES = frozenset(data("missing_words")["short"]["codes"])
MISSING_SIGNS = frozenset(data("missing_words")["short"]["signs"])
"""How tables write a missing value without a word, and what spreadsheet programs write for an error; in lower case."""


def plain_text(text: str) -> str:
    """Return a text without HTML elements and comments, its entities as characters, with single spaces.

    Examples
    --------
    >>> from clinclust.files.dictionaries.words import plain_text
    >>> plain_text("<div class='rich-text-field-label'><p>CRP &lt;5<br>mg/L</p></div>")
    'CRP <5 mg/L'
    """
    return " ".join(_paragraphs(text))


def heading_and_rest(text: str) -> tuple[str, str]:
    """Return the first paragraph of a text and the others, both plain: a question, and what explains it."""
    first, *others = _paragraphs(text) or [""]
    return first, " ".join(others)


def _paragraphs(text: str) -> list[str]:
    parts = _BREAK.split(_INLINE.sub("", _UNSHOWN.sub(" ", text)))
    return [plain for part in parts if (plain := visible(" ".join(html.unescape(part).split())))]


def folded(text: str) -> str:
    """Return the form in which names and headers are compared: letters and digits, without case and accents."""
    return "_".join(words_of(text))


def words_of(text: str) -> list[str]:
    """Return the words of a text, without case, accents and signs.

    Examples
    --------
    >>> from clinclust.files.dictionaries.words import words_of
    >>> words_of(" Non réalisé (refus) ")
    ['non', 'realise', 'refus']
    """
    apart = unicodedata.normalize("NFKD", text.casefold())
    return re.findall(r"[^\W_]+", "".join(sign for sign in apart if not unicodedata.combining(sign)))


def means_missing(label: str) -> bool:
    """Return whether a label says that the value is not known, in any of seven languages: "Unknown", not "None"."""
    return " ".join(words_of(label)) in _LABELS


def may_mean_missing(label: str) -> bool:
    """Return whether a label is an abbreviation by which surveys code a missing answer, such as dk and ref."""
    return " ".join(words_of(label)) in _CODES


def divided(choices: Sequence[tuple[str, str]]) -> tuple[Choices, Choices]:
    """Return the choices (code, label) that are levels, and those whose label says that the value is missing.

    If one level were left, the question is whether something is known, and all choices are levels.
    """
    levels = tuple(choice for choice in choices if not means_missing(choice[1]))
    missing = tuple(choice for choice in choices if means_missing(choice[1]))
    return (tuple(choices), ()) if len(levels) == 1 and missing else (levels, missing)


def said_missing(missing: Choices) -> str:
    """Return the end of a sentence that says which codes stand for missing values; empty if none do."""
    shown = ", ".join(f"{shortened(code)!r} ({shortened(label)})" for code, label in missing[:10])
    return f"; {shown} stand{'s' * (len(missing) == 1)} for missing" if missing else ""
