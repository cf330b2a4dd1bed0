"""Plain text of what a dictionary holds: without markup, and in the form in which texts are compared."""

from __future__ import annotations

import html
import re
import unicodedata

from clinclust.control_characters import visible

__all__ = ["folded", "heading_and_rest", "plain_text", "words_of"]

# Only elements that exist: "CRP <5 mg/L" and "age <b> 40" hold no markup worth removing but the second.
_ELEMENTS = (
    "a|abbr|b|big|blockquote|body|br|button|center|code|dd|del|div|dl|dt|em|fieldset|font|form|h[1-6]|head|hr|html|i|"
    "iframe|img|input|ins|label|legend|li|link|mark|meta|object|ol|option|p|pre|q|s|section|select|small|span|strike|"
    "strong|sub|sup|svg|table|tbody|td|textarea|tfoot|th|thead|title|tr|tt|u|ul|var|video"
)
_UNSHOWN = re.compile(r"<(script|style)\b[^>]*>.*?(?:</\1\s*>|$)|<!--.*?(?:-->|$)", re.IGNORECASE | re.DOTALL)
_INLINE = re.compile(r"</?(?:sub|sup|b|i|u|em|strong|span|font|small|a)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_BREAK = re.compile(r"</?(?:p|div|br|h[1-6]|ul|ol|li|table|tr)(?:\s[^<>]*)?/?>|\n", re.IGNORECASE)
_MARKUP = re.compile(rf"</?(?:{_ELEMENTS})(?:\s[^<>]*)?/?>", re.IGNORECASE)


def plain_text(text: str) -> str:
    """Return a text without HTML elements and comments, its entities as characters, with single spaces.

    Examples
    --------
    >>> from clinclust.files.dictionaries.plain_text import plain_text
    >>> plain_text("<div class='rich-text-field-label'><p>CRP &lt;5<br>mg/L</p></div>")
    'CRP <5 mg/L'
    """
    if "<" in text:
        text = _MARKUP.sub(" ", _INLINE.sub("", _UNSHOWN.sub(" ", text)))
    return visible(" ".join(html.unescape(text).split()))


def heading_and_rest(text: str) -> tuple[str, str]:
    """Return the first paragraph of a text and the others, both plain: a question, and what explains it."""
    paragraphs = [plain for part in _BREAK.split(_UNSHOWN.sub(" ", text)) if (plain := plain_text(part))]
    return (paragraphs[0], " ".join(paragraphs[1:])) if paragraphs else ("", "")


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
