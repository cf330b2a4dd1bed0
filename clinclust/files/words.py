"""Words of cells and of names of columns: plain, without case and accents; which mean missing, which name subjects.

The words are in `clinclust/data/`: `missing_words.toml`, `roles.toml` and `tables.toml`.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache

from clinclust.data import data
from clinclust.errors import visible
from clinclust.files.cell_text import LONGEST_NUMBER

_UNSHOWN = re.compile(
    r"<(script|style)\b[^<>]*>.*?(?:</\1\s*>|$)|<!--.*?(?:-->|$)|&#\d{8,};?",  # no character has so large a number
    re.IGNORECASE | re.DOTALL,
)
# Only elements that exist: "CRP <5 mg/L" holds no markup.
_INLINE = re.compile(r"</?(?:a|b|em|font|i|small|span|strong|sub|sup|u)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_BREAK = re.compile(
    r"</?(?:br|center|div|h[1-6]|hr|img|label|li|ol|p|pre|table|tbody|td|th|thead|tr|ul)(?:\s[^<>]*)?/?>|\n",
    re.IGNORECASE,
)
Choices = tuple[tuple[str, str], ...]  # codes and their labels
_LABELS = frozenset(label for labels in data("missing_words")["labels"].values() for label in labels)
_CODES = frozenset(data("missing_words")["short"]["codes"])
MISSING_SIGNS = frozenset(data("missing_words")["short"]["signs"])
"""How tables write a missing value without a word, and what spreadsheet programs write for an error; in lower case."""


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text without HTML elements and comments, its entities as characters."""
    parts = _BREAK.split(_INLINE.sub("", _UNSHOWN.sub(" ", text)))
    return [plain for part in parts if (plain := visible(" ".join(html.unescape(part).split())))]


def plain_text(text: str) -> str:
    """Return all paragraphs of a text on one line.

    >>> from clinclust.files.words import plain_text
    >>> plain_text("<div class='rich-text-field-label'><p>CRP &lt;5<br>mg/L</p></div>")
    'CRP <5 mg/L'
    """
    return " ".join(paragraphs(text))


def words_of(text: str) -> list[str]:
    """Return the words of a text, without case, accents and signs.

    >>> from clinclust.files.words import words_of
    >>> words_of(" Non réalisé (refus) ")
    ['non', 'realise', 'refus']
    """
    return re.findall(r"[^\W_]+", "".join(map(_without_accents, text.casefold())))


@lru_cache(maxsize=10_000)
def _without_accents(letter: str) -> str:
    """Return a letter without accents; one by one, as a text of accents is sorted in the square of its length."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(sign))


def folded(text: str) -> str:
    """Return the form in which names and headers are compared: letters and digits, without case and accents."""
    return "_".join(words_of(text))


def means_missing(label: str) -> bool:
    """Return whether a label says that the value is not known, in any of seven languages: "Unknown", not "None"."""
    return len(label) <= LONGEST_NUMBER and " ".join(words_of(label)) in _LABELS


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


# Names of columns: their words, whatever joins these, and the lists of words that a name may hold.

_WORD = re.compile(r"[A-ZÄÖÜÀ-Þ]+(?![a-zß-ÿ])|[A-ZÄÖÜÀ-Þ]?[a-zß-ÿ]+|[0-9]+|[^\W\dA-Za-zÀ-ÿ_]+")
_SHORTEST_PART, _SHORT_PARTS = 3, frozenset(["to", "id"])
_SHORTEST_PARTED, _LONGEST_PARTED = 6, 40


def name_words(name: str) -> list[str]:
    """Return the words of a name without case and accents: `LeftHand_größe2` holds left, hand, grosse and 2.

    Listed words that are written together are parted: `survivaltime` holds survival and time.
    """
    words = _WORD.findall(unicodedata.normalize("NFC", name))
    return [part for piece in words for word in words_of(piece) for part in _parted(word)]


@lru_cache(maxsize=20_000)
def _parted(word: str) -> tuple[str, ...]:
    """Return the listed words that make up a word, from the left, the longest first; the word itself if they do not."""
    listed = _every_word()
    if word in listed or word.isdigit() or (word.isascii() and not _SHORTEST_PARTED <= len(word) <= _LONGEST_PARTED):
        return (word,)

    def rest_of(start: int) -> tuple[str, ...] | None:
        if start == len(word):
            return ()
        for end in range(len(word), start, -1):
            part = word[start:end]
            is_part = part in listed and (len(part) >= _SHORTEST_PART or part in _SHORT_PARTS or not part.isascii())
            if is_part and (after := rest_of(end)) is not None:
                return (part, *after)
        return rest_of(start + 1) if not word.isascii() else None  # Chinese names have other characters between words

    return rest_of(0) or (word,)


@cache
def _every_word() -> frozenset[str]:
    lists = [words for concept in data("roles").values() for words in concept.values()]
    lists.append(data("tables")["subjects"]["words"])
    return frozenset(part for words in lists for word in words for part in word.split())


def mentions(words: Sequence[str], listed: frozenset[str]) -> bool:
    """Return whether the words of a name hold a listed word or phrase."""
    padded = f" {' '.join(words)} "
    return not listed.isdisjoint(words) or any(" " in phrase and f" {phrase} " in padded for phrase in listed)


def says_only(words: Sequence[str], listed: frozenset[str], beside: frozenset[str]) -> bool:
    """Return whether a name holds a listed word or phrase, and nothing else but numbers and words `beside` it."""
    words = [word for word in words if not word.isdigit()]
    allowed = listed | beside | {part for phrase in listed if " " in phrase for part in phrase.split()}
    return mentions(words, listed) and allowed.issuperset(words)


def names_subjects(name: str) -> bool:
    """Return whether a name is one of identifiers, such as `patient_id` or `CaseNo`, and says nothing else."""
    subjects = data("tables")["subjects"]
    return says_only(name_words(name), frozenset(subjects["words"]), frozenset(subjects["beside"]))
