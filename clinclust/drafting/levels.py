"""The order of levels: by the number that they begin with, by ordered words, or none."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache

from clinclust.data import data
from clinclust.files.dictionaries.words import words_of
from clinclust.files.number_notation import is_known_unit

_NUMBER = r"[0-9]+(?:[., ']?[0-9]{3})*(?:[.,][0-9]+)?"
_FIRST = re.compile(rf"(?P<before>[^0-9]*?)(?P<number>-?{_NUMBER})(?P<after>.*)", re.DOTALL)
_ROMAN = re.compile(r"(?P<before>.*?)\b(?P<number>i{1,3}|iv|vi{0,3}|ix|x)(?P<after>[a-d]?)", re.IGNORECASE)
_ROMANS = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10}
_CODED = re.compile(r"\s*\(?-?[0-9]{1,4}\)?(?:\s*+[-_=:.)]\s*+|\s++)(?=[^\W\d_])")
_STEP = 1e-6
_SHORTEST_CUT = 3
_LONGEST_LEVEL = 1000  # characters: a sentence of a questionnaire has 300, a note or a signal in a cell up to 131,072


def order_of(texts: Sequence[str]) -> list[int] | None:
    """Return the indices of levels from the lowest to the highest; None if they have no known order.

    Levels are ordered by ordered words, where all of them are of one order (`orders.toml`), and otherwise by the
    number that each begins with; one level without a number may say that there is nothing to grade, and is the lowest.

    >>> from clinclust.drafting.levels import order_of
    >>> order_of(["25_to_29.9", "30_or_more", "18.5_to_24.9"]), order_of(["severe", "None", "mild"])
    ([2, 0, 1], [1, 2, 0])
    >>> order_of(["smallcell", "squamous", "adeno"]) is None
    True
    """
    if len(texts) < 2 or max(map(len, texts)) > _LONGEST_LEVEL:
        return None
    ranks = _by_words(texts) or _by_numbers(texts)
    if ranks is None or len(set(ranks)) < len(texts):
        return None
    return sorted(range(len(texts)), key=lambda place: ranks[place])


def without_number(text: str) -> str:
    """Return a text without the code before its words: `0 - none`, `1_yes` and `(2) Good` are words with a code."""
    return _CODED.sub("", text, count=1) if _CODED.match(text) else text


def _by_words(texts: Sequence[str]) -> list[float] | None:
    """Return the ranks of words that are all of one order; None if there is no such order."""
    phrases = _without_shared([_phrase(text) for text in texts])
    for order in _orders():
        ranks = [_rank(phrase, order) for phrase in phrases]
        if sum(rank is None for rank in ranks) == 0 and len(set(ranks)) == len(ranks):
            return [float(rank) for rank in ranks if rank is not None]
    return None


def _phrase(text: str) -> str:
    """Return a text as words of orders are written; signs such as `++` as they are."""
    if not any(map(str.isalpha, text)):
        return text.strip()
    return " ".join(word for word in words_of(text) if word != "the")


@cache
def _orders() -> list[list[list[str]]]:
    absent = [_phrase(word) for word in data("orders")["absent"]]
    return [[absent, *([_phrase(word) for word in rank] for rank in order)] for order in data("orders")["orders"]]


def _rank(phrase: str, order: list[list[str]]) -> int | None:
    """Return the rank of a phrase: of a listed word, or else of one that it begins or that is cut short."""
    for rank in range(len(order) - 1, -1, -1):  # the absent, which many orders have in a rank of their own, come last
        if phrase in order[rank]:
            return rank
    cut = [
        rank
        for rank, words in enumerate(order)
        if len(phrase) >= _SHORTEST_CUT and any(word.startswith(phrase) for word in words)
    ]
    return cut[-1] if cut else (0 if _says_absent(phrase) else None)


def _without_shared(phrases: list[str]) -> list[str]:
    """Return phrases without the words with which all of them begin or end: `low risk` and `high risk`."""
    split = [phrase.split() for phrase in phrases]
    for _ in range(max(map(len, split), default=0)):
        if all(len(words) > 1 for words in split) and len({words[-1] for words in split}) == 1:
            split = [words[:-1] for words in split]
        if all(len(words) > 1 for words in split) and len({words[0] for words in split}) == 1:
            split = [words[1:] for words in split]
    return [" ".join(words) for words in split]


def _by_numbers(texts: Sequence[str]) -> list[float] | None:
    """Return the ranks of levels by the numbers that they begin with; None if more than one has no number."""
    folded = [" ".join(text.casefold().replace("_", " ").split()) for text in texts]
    found = [_FIRST.fullmatch(text) or _ROMAN.fullmatch(text) for text in folded]
    if sum(one is not None for one in found) < 2:
        return None
    before = {_words_before(one["before"]) for one in found if one is not None}
    if len(before) > 1 or not next(iter(before)) <= set(data("orders")["graded"]):
        return None  # `School 1`, `A1` and `B2`: codes
    after = [re.sub(r"[\W\d_]+", " ", one["after"]).split() for one in found if one is not None]
    units = {" ".join(words).removesuffix("s") for words in after if len("".join(words)) > 1} - {""}
    if len(units) > 1 and all(is_known_unit(unit) for unit in units):
        return None  # `2 weeks`, `6 months`: the numbers alone do not order them
    ranks = [_rank_of_number(one) if one is not None else -math.inf for one in found]
    without = [text for text, one in zip(folded, found, strict=True) if one is None]
    if len(without) > 1 or not all(_says_absent(text) for text in without):
        return None
    return ranks


@cache
def _beyond(end: str) -> re.Pattern[str]:
    """Return the pattern of signs and words for values below or above a number."""
    signs = {"below": "<=?|≤", "above": ">=?|≥"}[end]
    words, links = ("|".join(data("orders")[listed]) for listed in (end, "links"))
    return re.compile(rf"{signs}|\b(?:{words})(?: (?:{links}))?\b")


def _words_before(text: str) -> frozenset[str]:
    return frozenset(words_of(_beyond("above").sub(" ", _beyond("below").sub(" ", text))))


def _rank_of_number(found: re.Match[str]) -> float:
    written = found["number"]
    number = float(_ROMANS[written]) if written in _ROMANS else _decimal(written)
    text = found.string
    ends = text[: found.end("number")] + " " + text[found.end("number") :].split("-")[0]
    if _beyond("below").search(ends) and not _beyond("above").search(ends):
        return number - _STEP * max(1.0, abs(number))
    is_above = _beyond("above").search(ends) is not None or text.rstrip().endswith("+")
    return number + (_STEP * max(1.0, abs(number)) if is_above else 0.0) + _letter(found["after"])


def _letter(after: str) -> float:
    """Return a small number that grows with a lone letter behind the number: `2a` lies below `2b`."""
    return (ord(after) - ord("a") + 1) / 1e4 if len(after) == 1 and "a" <= after <= "z" else 0.0


def _decimal(text: str) -> float:
    """Return the number that a text writes; of a point and a comma the last one is the decimal mark."""
    mark = max(text.rfind(","), text.rfind("."))
    if re.fullmatch(r"-?[1-9][0-9]{0,2}([., '][0-9]{3})+", text):
        mark = -1
    whole, rest = (text, "") if mark < 0 else (text[:mark], text[mark + 1 :])
    return float(f"{re.sub('[., ]', '', whole).replace(chr(39), '')}.{rest or 0}")


def _says_absent(text: str) -> bool:
    phrase = " ".join(words_of(text))
    begins = any(phrase.startswith(f"{words} ") for words in data("orders")["absences"])
    return begins or phrase in data("orders")["absent"]


def no_before_yes(pair: Sequence[str]) -> list[int] | None:
    """Return the indices of two labels, that for no first; None if neither is known to mean one of them.

    >>> from clinclust.drafting.levels import no_before_yes
    >>> no_before_yes(["Ja", "Nein"]), no_before_yes(["1_yes", "2_no"]), no_before_yes(["left", "right"])
    ([1, 0], [1, 0], None)
    """
    first, second = (_phrase(without_number(text)) for text in pair)
    for no, yes in data("answers")["pairs"]:
        if first in no and second in yes:
            return [0, 1]
        if second in no and first in yes:
            return [1, 0]
    for place, (denied, other) in enumerate(((first, second), (second, first))):
        if _denies(denied, other):
            return [place, 1 - place]
    return None


def meaning(words: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return the texts that are one of some words, with or without a number before them."""
    return [text for text in texts if _phrase(without_number(text)) in words]


def _denies(text: str, other: str) -> bool:
    """Return whether a text is the other one with a negation: `nicht tastbar` of `tastbar`."""
    words = text.split()
    left = [word for word in words if word not in data("answers")["denials"]]
    return left != words and " ".join(left) == other


def ordered_pair(pair: Sequence[str]) -> list[str]:
    """Return two levels, of which the second counts as yes: by their words, their order, or else by the alphabet."""
    first, second = sorted(pair)
    places = no_before_yes([first, second])
    if places is None:
        female, male = data("answers")["sexes"]
        words = [_phrase(without_number(text)) for text in (first, second)]
        is_reversed = (words[1] in female and words[0] in male) or words[1] in data("orders")["absent"]
        places = [1, 0] if is_reversed else order_of([first, second])
    return [(first, second)[place] for place in places or [0, 1]]
