"""Ranks of levels that are written in words: by the vocabulary, adverbs, and what all levels have in common.

A phrase has the rank of the vocabulary, whatever its gender and number. An adverb multiplies the rank behind it (`very
mild`), a range of two phrases lies between them (`mild to moderate`), and words that all levels share say nothing of
their order (`low risk`, `high risk`), so that an unknown word is ordered by its adverbs (`a little sore`, `very sore`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from clinclust.drafting.orders.doubtful_ranks import RANGES, ZONES
from clinclust.drafting.orders.vocabulary import (
    ABSENT,
    ADVERBS,
    COMPLAINTS,
    NEGATIONS,
    ORDERS,
    SOUND,
    UNABLE,
    UNIPOLAR,
    UNMOVED,
)
from clinclust.files.dictionaries.plain_text import words_of

__all__ = ["begins_absent", "is_absent", "level_in_doubt", "rank_in", "ranks_of_words", "stems_of"]

Phrase = tuple[str, ...]
Ranks = list[float]

_ENDINGS = re.compile(r"(?:es|en|er|em|as|os|a|e|o|i|s)$")
_SHORTEST_STEM = 3
_REMARK = re.compile(r"[,;:(\[]|\s[-–—]\s")
_JOINERS = frozenset(
    (
        "to",
        "bis",
        "a",
        "tot",
        "or",
        "oder",
        "ou",
        "o",
        "of",
        "and",
        "und",
        "et",
        "y",
        "e",
        "till",
        "until",
        "hasta",
        "fino",
    )
)
_NUMERALS = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "1": 1, "2": 2, "3": 3, "4": 4}
_BELOW_ALL = -20.0
_NOT_AT_ALL = -2.0


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    """Return a word without the endings of its gender, number or case, as far as three letters are left."""
    bare = _ENDINGS.sub("", word)
    if bare == word or len(bare) < _SHORTEST_STEM:
        return _stem(word[:-1]) if len(word) > _SHORTEST_STEM and word[-1] == word[-2] else word
    return _stem(bare)


def stems_of(text: str) -> Phrase:
    """Return the stems of the words of a text.

    Examples
    --------
    >>> from clinclust.drafting.orders.words import stems_of
    >>> stems_of("Pequeñas"), stems_of("pequeño"), stems_of("très élevée")
    (('pequ',), ('pequ',), ('tres', 'elev'))
    """
    return tuple(_stem(word) for word in words_of(text))


def _table(ranked: dict[float, str]) -> dict[Phrase, float]:
    """Return the rank of each phrase; where endings make two phrases one, the first keeps it."""
    table: dict[Phrase, float] = {}
    for rank, phrases in ranked.items():
        for phrase in phrases.split(";"):
            table.setdefault(stems_of(phrase), rank)
    return table


@cache
def _tables() -> tuple[tuple[str, dict[Phrase, float]], ...]:
    return tuple((kind, _table(ranked)) for kind, ranked in ORDERS)


@cache
def _modifiers() -> dict[Phrase, float]:
    return _table(NEGATIONS) | _table(ADVERBS)


def _modifier(phrase: Phrase) -> float | None:
    """Return how far an adverb moves what stands behind it: `very`, or `very much`, an adverb behind another."""
    found = _modifiers().get(phrase)
    if found is not None or len(phrase) != 2:
        return found
    first, second = (_modifiers().get((word,)) for word in phrase)
    return second**first if first and second and min(first, second) > 0 else None


@cache
def _of(phrases: str) -> frozenset[Phrase]:
    return frozenset(stems_of(phrase) for phrase in phrases.split(";"))


def is_absent(text: str) -> bool:
    """Return whether a text says that what is graded is absent: `none`, `keine`, `aucune`."""
    return stems_of(text) in _of(ABSENT)


def begins_absent(text: str) -> bool:
    """Return whether a text without numbers begins with a word for absence: `no alcohol`, `kein Sport`."""
    return stems_of(text)[:1] in _of(ABSENT) and not any(sign.isdigit() for sign in text)


def ranks_of_words(labels: Sequence[str]) -> Ranks | None:
    """Return ranks of levels in words, in the order of `labels`; None if the vocabulary does not order them all."""
    for phrases in _ways_to_read(labels):
        _, ranks = _by_vocabulary(phrases)
        ranks = ranks or _by_adverbs(phrases)
        if ranks is not None:
            return ranks
    return None


def level_in_doubt(labels: Sequence[str]) -> str | None:
    """Return a level whose place among the others is not certain, though the vocabulary would order them; or None.

    Examples
    --------
    >>> from clinclust.drafting.orders.words import level_in_doubt
    >>> level_in_doubt(["assente", "lieve", "discreta", "notevole"])
    'discreta'
    """
    for phrases in _ways_to_read(labels):
        kind, ranks = _by_vocabulary(phrases)
        if ranks is not None:
            doubted = [place for place in range(len(ranks)) if _is_in_doubt(kind, phrases[place], ranks[place], ranks)]
            return labels[doubted[0]] if doubted else None
        if _by_adverbs(phrases) is not None:
            return None
    return None


def _ways_to_read(labels: Sequence[str]) -> Iterator[Sequence[Phrase]]:
    """Yield the labels as phrases: whole, without remarks, without what they share; as far as they stay distinct."""
    whole = [stems_of(label) for label in labels]
    heads = [stems_of(_REMARK.split(label, maxsplit=1)[0]) for label in labels]
    for phrases in (whole, heads, _without_shared(whole), _without_shared(heads), _without_head(whole)):
        if len(set(phrases)) == len(phrases):
            yield phrases


def _by_vocabulary(phrases: Sequence[Phrase]) -> tuple[str, Ranks | None]:
    """Return the first kind of order that ranks all phrases, and their ranks in it; None if there is none."""
    for kind, table in _tables():
        ranks = [_rank(phrase, table, kind in UNIPOLAR) for phrase in phrases]
        if None not in ranks and len(set(ranks)) == len(ranks):
            return kind, [rank for rank in ranks if rank is not None]
    return "", None


def _is_in_doubt(kind: str, phrase: Phrase, own: float, ranks: Ranks) -> bool:
    """Return whether another level lies where this one may lie, or so near that nobody can tell which is more."""
    others = [rank for rank in ranks if rank != own]
    spans = [(low, high) for low, high, words in RANGES.get(kind, ()) if phrase in _of(words)]
    spans += [(low, high) for low, high in ZONES.get(kind, ()) if low <= own <= high]
    return any(low <= rank <= high for low, high in spans for rank in others)


def rank_in(kind: str, phrase: Phrase) -> float | None:
    """Return the rank of a phrase of stems in one kind of order; None if it has none."""
    return _rank(phrase, dict(_tables())[kind], False)


def _rank(phrase: Phrase, table: dict[Phrase, float], is_unipolar: bool) -> float | None:
    """Return the rank of a phrase in one order: its own, moved by an adverb or a numeral, or between two."""
    if phrase in table:
        return table[phrase]
    if is_unipolar and phrase in _of(ABSENT):
        return _BELOW_ALL
    for cut in range(len(phrase) - 1, 0, -1):
        by, base = _modifier(phrase[:cut]), table.get(phrase[cut:])
        if by is not None and base is not None and is_unipolar and by <= _NOT_AT_ALL:
            return _BELOW_ALL  # what is not there at all has no opposite in this order
        if by is not None and base and not (is_unipolar and phrase[cut:] in _of(UNMOVED)):
            return by * base  # an adverb moves nothing at the middle
    if len(phrase) > 1 and phrase[-1] in _NUMERALS:  # `obese class II`
        base = table.get(phrase[:-1], table.get(phrase[:-2]))
        return None if base is None else base + 0.1 * _NUMERALS[phrase[-1]]
    for cut in range(1, len(phrase)):
        is_joined = phrase[cut] in _JOINERS and cut + 1 < len(phrase)
        if not is_joined and len(phrase) > 2:  # `mild/moderate` lies between two; `quite a bit limited` does not
            continue
        rest = phrase[cut + 1 :] if is_joined else phrase[cut:]
        if phrase[:cut] in table and rest in table:
            return (table[phrase[:cut]] + table[rest]) / 2
    return None


def _without_shared(phrases: Sequence[Phrase]) -> list[Phrase]:
    """Return the phrases without the words at their beginning and end that all share but those that mean absence."""
    phrases = [_absence(phrase, phrases) for phrase in phrases]
    graded = [phrase for phrase in phrases if phrase not in _of(ABSENT)]
    if len(graded) < 2:
        return phrases
    first = _n_shared(graded)
    last = _n_shared([phrase[first:][::-1] for phrase in graded])
    return [
        phrase if phrase in _of(ABSENT) else phrase[first : len(phrase) - last] if last else phrase[first:]
        for phrase in phrases
    ]


def _absence(phrase: Phrase, phrases: Sequence[Phrase]) -> Phrase:
    """Return the word for absence alone, if what is absent is what the other phrases grade: `no symptoms`."""
    if phrase[:1] not in _of(ABSENT) or not phrase[1:]:
        return phrase
    is_graded = any(set(phrase[1:]) <= set(other) for other in phrases if other != phrase)
    return phrase[:1] if is_graded or phrase[-1:] in _of(COMPLAINTS) else phrase


def _n_shared(phrases: Sequence[Phrase]) -> int:
    """Return how many first words all phrases share."""
    shared = 0
    for words in zip(*phrases, strict=False):
        if len(set(words)) > 1:
            break
        shared += 1
    return shared


def _without_head(phrases: Sequence[Phrase]) -> list[Phrase]:
    """Return the phrases without the last word that most of them share: `mild loss` beside `normal` is `mild`."""
    head = _head(phrases)
    if head is None or head in phrases:
        return list(phrases)
    return [phrase[: -len(head)] if phrase[-len(head) :] == head else phrase for phrase in phrases]


def _by_adverbs(phrases: Sequence[Phrase]) -> Ranks | None:
    """Return ranks of an unknown word with several adverbs, above levels that say it is absent or not impaired."""
    head = _head(phrases)
    if head is None:
        return None
    table = dict(_tables())["amount"]
    ranks: Ranks = []
    others = [phrase for phrase in phrases if phrase[-len(head) :] != head or not head]
    for phrase in phrases:
        if head and phrase[-len(head) :] == head:
            rest = phrase[: -len(head)]
            by = 1.0 if not rest else _modifier(rest)
        elif phrase in _of(ABSENT) or (phrase in _of(SOUND) and len(others) == 1):
            by = _BELOW_ALL
        elif phrase in _of(UNABLE):
            by = -_BELOW_ALL
        elif phrase in table and table[phrase] < 0:
            by = table[phrase] - 5.0
        else:
            by = None
        if by is None:
            return None
        ranks.append(by)
    return ranks if len(set(ranks)) == len(ranks) else None


def _head(phrases: Sequence[Phrase]) -> Phrase | None:
    """Return the last word that at least two phrases share, if one does and most phrases end with it."""
    counted = Counter(phrase[-1:] for phrase in phrases if phrase)
    (head, count), *others = counted.most_common() or [((), 0)]
    if count < 2 or any(n > 1 for _, n in others):
        return None
    return head
