"""Texts of cells and names of columns: numbers, plain words, which of them mean missing, and how messages show them.

The words are in `clinclust/data/`: `missing_words.toml`, `roles.toml` and `tables.toml`.
"""

from __future__ import annotations

import datetime
import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from clinclust.data import data
from clinclust.errors import show_cells, visible

# Canonical texts of cells, and the numbers that texts write.

# A float written in full has 25 characters, with groups of thousands, a unit and flags 50. A cell may have 131,072.
LONGEST_NUMBER = 64


def compile_short(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern that matches no text of more than 64 characters, such as a signal or a genotype in a cell.

    The work of most patterns of numbers grows with the square or the cube of the length. Use it with `match` and
    `fullmatch`.
    """
    return re.compile(rf"(?=(?s:.{{0,{LONGEST_NUMBER}}})\Z)(?:{pattern})", flags)


NUMBER = compile_short(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""The texts that are numbers: ASCII digits with an optional sign, decimal point and exponent."""

_LONGEST_SHOWN = 60
_INFINITY = compile_short(r"[+-]?inf(?:inity)?", re.IGNORECASE)

_CHARACTERS = frozenset("0123456789.+-eE")
_LARGEST_WHOLE_FLOAT = 2.0**53  # a float64 cannot represent every whole number above it


def number_of(text: str) -> float:
    """Return the number that `text` writes, or NaN if it writes none. ``1e400`` and ``inf`` are infinite."""
    return float(text) if NUMBER.fullmatch(text) or _INFINITY.fullmatch(text) else float("nan")


def without_letters(texts: list[str]) -> bool:
    """Return whether the texts are as short as numbers, and hold only their characters."""
    return max(map(len, texts), default=0) <= LONGEST_NUMBER and _CHARACTERS.issuperset("".join(texts))


def numbers_of(texts: list[str]) -> NDArray[np.float64]:
    """Return `number_of` each text, float64 (len(texts),)."""
    if without_letters(texts):  # of these characters float() accepts exactly what NUMBER matches
        try:
            return np.array(texts, dtype=object).astype(np.float64)
        except ValueError:
            pass
    return np.array([number_of(text) for text in texts], dtype=np.float64)


# Spaces that look like the plain one, of no break or another width; and what has no width: soft hyphen, zero-width
# space, word joiner, byte-order mark, marks of direction. Joiners between letters of Persian and Indic words stay.
_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)


def canonical_text(value: object) -> str:
    """Return the canonical text of one cell.

    Text is stripped, without characters that cannot be seen: ``m`` and ``m`` with a zero-width space are one level. A
    whole float below 2^53 has no decimals (1.0 is ``1``), a date and time is in ISO form, without the time if it is
    midnight.
    """
    if isinstance(value, str):
        return value.strip() if value.isascii() else _UNSEEN.sub("", _SPACES.sub(" ", value)).strip()
    if isinstance(value, (float, np.floating)):
        is_whole = abs(float(value)) < _LARGEST_WHOLE_FLOAT and float(value).is_integer()
        return str(int(value) if is_whole else value)
    if isinstance(value, datetime.datetime):
        at_midnight = value.time() == datetime.time() and value.tzinfo is None
        return value.date().isoformat() if at_midnight else value.isoformat()
    text = str(value)
    return text.removesuffix("T00:00:00") if isinstance(value, np.datetime64) else text.strip()


def shortened(text: str) -> str:
    """Return `text` for a message: unchanged if it has at most 60 characters, otherwise its beginning."""
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."


# Words without markup, case and accents: which mean missing, and which name subjects.

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
_MISSING_LABELS = frozenset(label for labels in data("missing_words")["labels"].values() for label in labels)
_CODES = frozenset(data("missing_words")["short"]["codes"])
MISSING_SIGNS = frozenset(data("missing_words")["short"]["signs"])
"""How tables write a missing value without a word, and what spreadsheet programs write for an error; in lower case."""


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text without HTML elements and comments, its entities as characters."""
    parts = _BREAK.split(_INLINE.sub("", _UNSHOWN.sub(" ", text)))
    return [plain for part in parts if (plain := visible(" ".join(html.unescape(part).split())))]


def plain_text(text: str) -> str:
    """Return all paragraphs of a text on one line.

    >>> from clinclust.files.cell_text import plain_text
    >>> plain_text("<div class='rich-text-field-label'><p>CRP &lt;5<br>mg/L</p></div>")
    'CRP <5 mg/L'
    """
    return " ".join(paragraphs(text))


def words_of(text: str) -> list[str]:
    """Return the words of a text, without case, accents and signs.

    >>> from clinclust.files.cell_text import words_of
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
    return len(label) <= LONGEST_NUMBER and " ".join(words_of(label)) in _MISSING_LABELS


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


@cache
def _every_word() -> frozenset[str]:
    lists = [words for concept in data("roles").values() for words in concept.values()]
    lists.append(data("tables")["subjects"]["words"])
    return frozenset(part for words in lists for word in words for part in word.split())


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


# What a message names: many things, of which only the first are shown.

_SHOWN = 5
_LONGEST_MESSAGE = 3500


def listed(items: Iterable[object], count: int | None = None) -> str:
    """Return the first five items, shortened, and how many more of `count` (by default, of the items) there are."""
    given = list(items)
    count = len(given) if count is None else count
    shown = [shortened(str(item)) for item in given[:_SHOWN]]
    more = f" and {count - len(shown):,} more" if count > len(shown) else ""
    return ", ".join(shown) + more


def rows_named(numbers: Sequence[int]) -> str:
    """Return the words for some rows: ``row 4``, or ``rows 4, 9``, or ``rows 4 to 9``."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"rows {numbers[0]} to {numbers[-1]}"
    return f"row{'s' * (len(numbers) > 1)} {listed(numbers)}"


def quoted(value: object) -> str:
    """Return the value as Python writes it, in quotes if it is text, and shortened."""
    if isinstance(value, (list, tuple, dict)):
        return shortened(repr(list(islice(value.items() if isinstance(value, dict) else value, _SHOWN))))
    return repr(shortened(value)) if isinstance(value, str) else shortened(repr(value))


def quote_cell(text: str) -> str:
    """Return the text of a cell for a message, in quotes and shortened; a summary for programs masks it."""
    return show_cells(repr(shortened(text)))


def limited(message: str) -> str:
    """Return a message, cut after 3,500 characters."""
    return message if len(message) <= _LONGEST_MESSAGE else message[:_LONGEST_MESSAGE] + " ... (cut)"


class Places:
    """Findings by kind, each with the first places where it was found, and how many there are."""

    def __init__(self) -> None:
        self._first: dict[str, list[str]] = {}
        self._count: Counter[str] = Counter()

    def add(self, finding: str, place: str) -> None:
        """Add a place to a finding, a sentence that can follow a list of places and a colon."""
        self._count[finding] += 1
        if self._count[finding] <= _SHOWN:
            self._first.setdefault(finding, []).append(place)

    def sentences(self) -> list[str]:
        """Return one sentence for each finding, with its places, in the order of the first of them."""
        return [f"{listed(first, self._count[finding])}: {finding}" for finding, first in self._first.items()]
