"""Recognise an instrument of clinical practice by the name of its column.

A name is evidence beside the values, which must agree with it. Ranges are those of the published instruments, as their
manuals and first descriptions give them; each module beside this one lists those of some specialties, a line each:
names with their words apart, then the lowest total, the highest, and the step. A longer name is tried before a shorter.
"""

from __future__ import annotations

import re
from functools import cache

from clinclust.drafting.instruments import (
    acute_and_cancer,
    childhood_and_senses,
    function,
    joints_and_skin,
    mind,
    nerves,
    organs,
)
from clinclust.drafting.instruments.instrument import Instrument
from clinclust.drafting.names import words_of

__all__ = ["instrument_of"]

_SPECIALTIES = (mind, nerves, function, joints_and_skin, organs, acute_and_cancer, childhood_and_senses)


@cache
def _known() -> dict[tuple[str, ...], Instrument]:
    known: dict[tuple[str, ...], Instrument] = {}
    for line in "".join(specialty.LISTED for specialty in _SPECIALTIES).split("\n"):
        if not line:
            continue
        names, ends = line.rsplit(":", 1)
        low, high, step = map(float, ends.split())
        for name in map(str.strip, names.split("|")):  # one line may hold several instruments with these ends
            known[tuple(words_of(name))] = Instrument(name.upper(), low, high, step)
    return known


_OF_A_TOTAL_WORDS = (
    "total sum summe score skala scale value wert gesamt punkte points index class klasse grade stage at bl "
    "baseline t visit v pre post admission aufnahme ingreso entree discharge entlassung alta sortie day days d "
    "tag month months m mo w week weeks y year min max worst best now today mean current aktuell basal inicial "
    "initial final fu followup follow up before after vor nach avant apres antes despues raw ii 0 rest movement "
    "night gesamtwert gesamtscore puntuacion punteggio totale puntaje escala echelle schaal ruhe belastung "
    "general totaal totaalscore gesamtpunktzahl punktzahl punti punten pontos pontuacao escore scala indice index "
    "stadio stadium stade estadio estagio grado grad graad grau niveau nivel livello questionnaire fragebogen "
    "vragenlijst questionario cuestionario self parent teacher child clinician rated eltern lehrer ouder preop "
    "postop first last erst letzt anxiety angst anxiete ansiedad ansiedade ansia sleepiness fatigue disability "
    "severity frailty handicap rechts links right left droite gauche derecha izquierda destra sinistra direita "
    "esquerda"
)
_OF_A_TOTAL = frozenset(_OF_A_TOTAL_WORDS.split())
"""What may stand beside the name of an instrument whose total the column holds."""
_BESIDE_ANYTHING = frozenset(
    ["apgar", "aldrete", "gcs", "nrs", "vas", "eva", "mrs", "rass", "pain", "schmerz", "esas", "ctcae", "ctc", "ais"]
)
"""Instruments whose name stands beside a symptom, a part of the body, a minute or a visit, and not beside an item."""
_WORD_ALONE = frozenset(
    [
        "act",
        "cage",
        "cars",
        "cat",
        "cows",
        "faced",
        "mayo",
        "must",
        "constant",
        "grace",
        "news",
        "das",
        "fis",
        "heart",
        "aims",
        "dash",
        "push",
        "sara",
        "scared",
    ]
)
_DIGITS = re.compile(r"[0-9]+")


def instrument_of(name: str) -> Instrument | None:
    """Return the instrument whose total a column holds, by its name; None if no name is known, or for one of its items.

    Examples
    --------
    >>> from clinclust.drafting.instruments import instrument_of
    >>> instrument_of("MMSE_baseline")
    Instrument(called='MMSE', low=0.0, high=30.0, step=1.0)
    >>> instrument_of("phq9_3") is None  # an item
    True
    """
    for written in (name, name.casefold()):  # `MoCA` is one word, `PainNRS` are two
        words = words_of(written)
        found = _named(words)
        if found is not None:
            length, start, instrument = found
            rest = words[:start] + words[start + length :]
            return instrument if _is_total(words[start : start + length], rest) else None
    return None


def _named(words: list[str]) -> tuple[int, int, Instrument] | None:
    """Return how many words from which place on name an instrument, and which; the longest name counts."""
    known = _known()
    for length in range(min(max(map(len, known)), len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            found = known.get(tuple(words[start : start + length]))
            if found is not None:
                return length, start, found
    return None


def _is_total(named: list[str], rest: list[str]) -> bool:
    """Return whether what stands beside the name of an instrument belongs to a total: `baseline`, `total`, `90 d`."""
    numbers = [word for word in rest if _DIGITS.fullmatch(word)]
    texts = [word for word in rest if not _DIGITS.fullmatch(word)]
    beside = all(word in _OF_A_TOTAL or len(word) == 1 for word in texts)
    if named[0] in _WORD_ALONE and len(named) == 1:
        return not rest or (beside and not numbers)
    is_item = bool(numbers) and not texts
    return named[0] in _BESIDE_ANYTHING or (beside and not is_item)
