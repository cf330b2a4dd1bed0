"""The words of the names of columns, and which names are those of subjects."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache

from clinclust.data import data
from clinclust.files.dictionaries.words import words_of

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
