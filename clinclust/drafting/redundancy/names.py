"""What names of columns say: which stand for the same measurement, and what a block of them may be called."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from clinclust.schema.schema_rules import block_key

__all__ = ["block_name", "is_pressure", "related", "stem", "words", "words_of"]


def words_of(text: str) -> frozenset[str]:
    """Return the words of a list that is written as text."""
    return frozenset(text.split())


_WORD = re.compile(r"[^\W\d_]+|\d+")
_REMEMBERED = 1000  # names, each compared with all others
_YEAR = re.compile(r"(?:19|20)\d\d(?:\.0)?")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
# Words that tell repetitions of one measurement apart: side, time, position, summary.
_VARIANTS = words_of("""l r left right li re links rechts gauche droite izquierda derecha sinister dexter os od
    visit v t time week wk w month mo m day d year yr y baseline base bl pre post before after follow up followup fu
    first second third last initial final admission discharge morning evening am pm am standing lying sitting supine
    mean min max minimum maximum worst best error se sd avg average median low high highest lowest
    systolic diastolic sys dia syst diast rep repeat repeated replicate measurement reading trial run
    vorher nachher beginn ende woche monat tag jahr besuch avant apres semaine mois jour visite
    antes despues semana mes dia ano""")
# Words that say nothing of what was measured.
_EMPTY = words_of("""var variable col column item feature question score gene marker probe block
    cm mm kg mg dl ml mmhg mmol umol nmol ng pg iu bpm""")
_PRESSURES = frozenset({"sbp", "dbp", "systolic", "diastolic", "syst", "diast", "sys", "pas", "pad", "rrsys", "rrdia"})
_PRESSURE = "blood pressure"


def words(name: str) -> list[str]:
    """Return the words of a name in lower case, without accents: letters and numbers apart, camelCase divided."""
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    return _WORD.findall(_HUMP.sub(" ", plain).casefold())


@lru_cache(_REMEMBERED)
def stem(name: str) -> tuple[str, ...]:
    """Return the words of a name without numbers, sides, times and summaries; empty if nothing telling is left."""
    left = tuple(word for word in words(name) if not word.isdigit() and word not in _VARIANTS)
    return () if _is_empty(left) else left


def _is_empty(said: Sequence[str]) -> bool:
    return all(word in _EMPTY or len(word) == 1 for word in said)


@lru_cache(_REMEMBERED)
def is_pressure(name: str) -> bool:
    """Return whether a name is that of a systolic or diastolic blood pressure."""
    return bool(_PRESSURES.intersection(words(name)))


def related(one: str, other: str) -> bool:
    """Return whether two names stand for one measurement, at other times, sides or phases."""
    if stem(one) == stem(other) != () or (is_pressure(one) and is_pressure(other)):
        return True
    return _YEAR.fullmatch(one) is not None and _YEAR.fullmatch(other) is not None


def block_name(names: Sequence[str], taken: Iterable[str]) -> str:
    """Return a name for a block: what the names have in common, else ``block 1``, ...; none that is taken."""
    used = set(map(block_key, taken))
    name = _PRESSURE if all(map(is_pressure, names)) else _common(names)
    if name and block_key(name) not in used:
        return name
    base, number = name or "block", 2 if name else 1
    while block_key(f"{base} {number}") in used:
        number += 1
    return f"{base} {number}"


def _common(names: Sequence[str]) -> str:
    """Return the words that all names share, in the order of the first name."""
    shared = set.intersection(*(set(words(name)) for name in names))
    kept = [word for word in words(names[0]) if word in shared and not word.isdigit() and word not in _VARIANTS]
    return "" if _is_empty(kept) else " ".join(dict.fromkeys(kept))
