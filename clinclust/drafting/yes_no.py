"""The words for no and yes, and for other pairs of two answers, in the languages of the vocabulary of orders."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clinclust.files.dictionaries.plain_text import words_of

__all__ = ["PAIRS", "denies", "folded_answer", "no_before_yes", "ranked_pair"]

_ANSWERS = (
    (
        "no n nein non nao nee false falsch faux falso unchecked f 0",
        "yes y ja j oui o si s sim true wahr vrai vero verdadero verdadeiro waar checked t 1 x",
    ),
    (
        "neg negative negativ negatif negativo negatief non reactive nonreactive -",
        "pos positive positiv positif positivo positief reactive +",
    ),
    (
        "absent absente ausente assente abwesend afwezig none kein keine not_present nicht_vorhanden fehlend fehlt "
        "missing erloschen aboli abolida abolito",
        "present presente vorhanden aanwezig any",
    ),
    (
        "alive living lebend lebt vivant vivante vivo viva levend",
        "dead died deceased tot verstorben gestorben decede decedee mort muerto muerta fallecido fallecida deceduto "
        "morto overleden obito falecido exitus",
    ),
    ("control controls kontrolle temoin controle controllo", "case cases fall patient cas caso"),
    (
        "normal unauffallig normale normaal",
        "abnormal pathologic pathological pathologisch auffallig anormal anomalo anormale afwijkend alterado",
    ),
    ("never nie jamais nunca mai nooit", "ever"),
    ("off aus", "on an"),
)
_SEXES = (
    "f female w weiblich frau woman femme feminin femenino femenina feminino femmina femminile mujer vrouw vrouwelijk "
    "fille girl nina madchen meisje d donna mulher",
    "m male mannlich mann man homme h hombre masculin masculino maschio maschile mannelijk garcon boy nino junge "
    "jongen v varon u uomo homem",
)


def _words(listed: str) -> frozenset[str]:
    return frozenset(word.replace("_", " ") for word in listed.split())


PAIRS = tuple((_words(no), _words(yes)) for no, yes in (*_ANSWERS, _SEXES))
"""Pairs of words for no and words for yes; a pair holds what people write in one column. The last is for sexes."""
_NO = frozenset[str]().union(*(no for no, _ in PAIRS[:-1]))
_YES = frozenset[str]().union(*(yes for _, yes in PAIRS[:-1]))


def folded_answer(text: str) -> str:
    """Return the form in which answers are compared: words without case, accents and points; signs as they are."""
    return " ".join(words_of(text)) or text.strip()


_DENIALS = frozenset(
    (
        *(
            "no",
            "not",
            "non",
            "nicht",
            "niet",
            "nao",
            "pas",
            "sin",
            "sans",
            "sem",
            "ohne",
            "zonder",
            "senza",
            "without",
        ),
        *("kein", "keine", "geen"),
    )
)
_PREFIXES = re.compile(r"(?:un|in|im|ir|il|non|on|nicht|niet)(?=\w{4})")


def denies(text: str, other: str) -> bool:
    """Return whether a text is the other with a negation: `nicht tastbar` of `tastbar`, `unfit` of `fit`.

    Examples
    --------
    >>> from clinclust.drafting.yes_no import denies
    >>> denies("niet verdacht", "verdacht"), denies("unstable", "stable"), denies("verdacht", "niet verdacht")
    (True, True, False)
    """
    words, denied = words_of(text), words_of(other)
    if not denied or words == denied:
        return False
    if [word for word in words if word not in _DENIALS] == denied and len(words) == len(denied) + 1:
        return True
    last, base = words[-1:], denied[-1:]
    begun = _PREFIXES.match(last[0]) if last and words[:-1] == denied[:-1] else None
    return begun is not None and last[0][begun.end() :] == base[0]


def no_before_yes(pair: Sequence[str]) -> list[int] | None:
    """Return the indices of two labels, that for no first; None if neither is known to mean one of them.

    Examples
    --------
    >>> from clinclust.drafting.yes_no import no_before_yes
    >>> no_before_yes(["Ja", "Nein"]), no_before_yes(["male", "female"])
    ([1, 0], None)
    """
    first, second = map(folded_answer, pair)
    if first in _NO and second in _YES:
        return [0, 1]
    return [1, 0] if second in _NO and first in _YES else None


def ranked_pair(pair: Sequence[str]) -> list[str] | None:
    """Return two texts of one of the `PAIRS`, or of which one denies the other, that for no (or female) first, or None.

    Examples
    --------
    >>> from clinclust.drafting.yes_no import ranked_pair
    >>> ranked_pair(["Sí", "No"]), ranked_pair(["male", "female"]), ranked_pair(["left", "right"])
    (['No', 'Sí'], ['female', 'male'], None)
    """
    for no, yes in PAIRS:
        for first, second in (pair, pair[::-1]):
            if folded_answer(first) in no and folded_answer(second) in yes:
                return [first, second]
    for first, second in (pair, pair[::-1]):
        if denies(first, second):
            return [first, second]
    return None
