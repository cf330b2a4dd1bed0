"""Texts of data in messages: characters that hide or command others, and the nearest name."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable

# Replace characters of the data that hide, reorder or command others.

# C0 except tab and line feed, DEL, C1, surrogates, non-characters; the line separators of Unicode; what reorders
# (embeddings, overrides, isolates); what has no width and no use in any script (zero-width space, word joiner,
# byte-order mark, annotations, tags). Marks and joiners that Arabic, Hebrew, Persian and Indic texts need are kept.
_HIDING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u2028\u2029\u202a-\u202e\u2066-\u2069"
    "\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
_BREAKING = re.compile("[\t\n]")
# What the scripts of the world need and a name on a terminal may hide behind: soft hyphen, joiners, marks of direction,
# fillers without width.
_UNSEEN = re.compile("[\t\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200c-\u200f\u3164\uffa0]")


def visible(text: str) -> str:
    """Return `text` with a visible sign for each character that XML forbids, or that hides or reorders others."""
    return _HIDING.sub(_sign, text)


def on_one_line(text: str) -> str:
    """Return `visible(text)` with signs for tabs and line feeds too."""
    return _BREAKING.sub(_sign, visible(text))


def visible_to_people(text: str) -> str:
    """Return `visible(text)` with signs for all other invisible characters but the line feed."""
    return _UNSEEN.sub(_sign, visible(text))


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    # U+2400 to U+241F are symbols for the control characters; U+FFFD replaces characters without a symbol.
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"


def shortened(text: str, width: int) -> str:
    """Return `text` on one line, visible, and cut to `width` columns; wide characters (Chinese) take two."""
    text = visible(" ".join(text.split()))
    if _cells(text) <= width:
        return text
    text = text[:width]
    while _cells(text) > width - 1:
        text = text[:-1]
    return text.rstrip() + "…"


def _cells(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


_LONGEST_SHOWN = 200


# Suggest the nearest name for a misspelt word.


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """Return the choice closest to `word` but for case and white space (`difflib` ratio of at least .6), or None."""
    folded: dict[str, str] = {}
    for choice in choices:
        folded.setdefault(choice.strip().casefold(), choice)
    found = difflib.get_close_matches(word.strip().casefold()[:200], folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"``, or an empty text if no choice is close."""
    choice = nearest(word, choices)
    return "" if choice is None else f" Did you mean {choice[:_LONGEST_SHOWN]!r}?"
