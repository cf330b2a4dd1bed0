"""Plain text of what a dictionary holds: without markup, and in the form in which texts are compared."""

from __future__ import annotations

import html
import re
import unicodedata

from clinclust.control_characters import visible

__all__ = ["folded", "heading_and_rest", "plain_text", "words_of"]

_UNSHOWN = re.compile(r"<(script|style)\b[^>]*>.*?(?:</\1\s*>|$)|<!--.*?(?:-->|$)", re.IGNORECASE | re.DOTALL)
# Only elements that exist: "CRP <5 mg/L" holds no markup.
_INLINE = re.compile(r"</?(?:a|b|em|font|i|small|span|strong|sub|sup|u)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_BREAK = re.compile(
    r"</?(?:br|center|div|h[1-6]|hr|img|label|li|ol|p|pre|table|tbody|td|th|thead|tr|ul)(?:\s[^<>]*)?/?>|\n",
    re.IGNORECASE,
)


def plain_text(text: str) -> str:
    """Return a text without HTML elements and comments, its entities as characters, with single spaces.

    Examples
    --------
    >>> from clinclust.files.dictionaries.plain_text import plain_text
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
    >>> from clinclust.files.dictionaries.plain_text import words_of
    >>> words_of(" Non réalisé (refus) ")
    ['non', 'realise', 'refus']
    """
    apart = unicodedata.normalize("NFKD", text.casefold())
    return re.findall(r"[^\W_]+", "".join(sign for sign in apart if not unicodedata.combining(sign)))
