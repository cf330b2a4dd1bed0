"""Texts that have an order: words of severity, Roman numerals, numbered grades, intervals, crosses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from clinclust.drafting.names import looks_coded

__all__ = ["in_order"]

_WORDS = (
    # Each entry is a scale from low to high; words between bars mean the same.
    "no|none|absent|normal|nil|not at all|nein|keine|kein|normal|aucun|aucune|absente|non|ninguno|"
    "ninguna|nessuno|nessuna < trace|minimal|very mild|slight|questionable|doubtful|a little|gering|"
    "sehr leicht|minime|minimo|trivial < mild|light|a bit|leicht|léger|légère|leve|lieve|ligero < "
    "moderate|medium|mittel|mäßig|mässig|mittelschwer|modéré|modérée|moderado|moderada|moderato|moyen|"
    "somewhat < marked|considerable|quite a bit|deutlich|important|importante < severe|schwer|stark|sévère|"
    "grave|severo|severa|a lot|extensive < very severe|extreme|extremely|sehr schwer|sehr stark|"
    "très sévère|muy grave|life-threatening|complete",
    "never|nie|niemals|jamais|nunca|mai < rarely|seldom|almost never|selten|rarement|raramente|rara vez|"
    "casi nunca < sometimes|occasionally|manchmal|gelegentlich|parfois|a veces|algunas veces|qualche volta < "
    "often|frequently|oft|häufig|souvent|a menudo|frecuentemente|spesso < very often|usually|"
    "almost always|sehr oft|meistens|très souvent|casi siempre < always|daily|immer|toujours|siempre|"
    "sempre",
    "very low|sehr niedrig|très bas|muy bajo < low|niedrig|gering|bas|basse|bajo|baja|faible|reduced|"
    "decreased < normal|medium|intermediate|average|mittel|moderate|moyen|moyenne|medio|media|unchanged < "
    "high|elevated|increased|hoch|erhöht|élevé|élevée|alto|alta|haut|haute < very high|sehr hoch|"
    "très élevé|très haut|muy alto",
    "very poor|very bad|sehr schlecht|très mauvais|muy malo < poor|bad|schlecht|mauvais|mauvaise|malo|"
    "mala < fair|average|moderate|mittelmäßig|moyen|moyenne|passable|regular|neither < good|gut|bon|"
    "bonne|bueno|buena < very good|sehr gut|très bon|très bonne|muy bueno|muy buena < excellent|"
    "ausgezeichnet|excelente|eccellente",
    "strongly disagree|stimme gar nicht zu|pas du tout d'accord|muy en desacuerdo < disagree|somewhat disagree|"
    "stimme nicht zu|pas d'accord|en desacuerdo < neutral|neither|undecided|neither agree nor disagree|"
    "neither agree or disagree|weder noch|teils teils|ni d'accord < agree|somewhat agree|stimme zu|d'accord|"
    "de acuerdo < strongly agree|stimme voll zu|stimme völlig zu|tout à fait d'accord|muy de acuerdo",
    "very dissatisfied|sehr unzufrieden < dissatisfied|unzufrieden < neutral|neither < satisfied|zufrieden < "
    "very satisfied|sehr zufrieden",
    "very unlikely < unlikely < possible|neutral < likely|probable < very likely|definite|certain",
    "much worse|viel schlechter < worse|slightly worse|schlechter|progression < unchanged|same|no change|"
    "stable|unverändert|gleich < better|slightly better|improved|besser < much better|viel besser",
    "none|no response|progression|nonresponder < poor|stable < partial|moderate|fair|partial response < "
    "good|complete|complete response",
    "none|no schooling|no education|ohne|aucune|ninguna|illiterate < primary|elementary|primaire|primaria|"
    "basic < middle|lower secondary|some high school < secondary|high school|secondaire|secundaria|"
    "upper secondary|vocational < some college|college < tertiary|university|higher|bachelor|graduate|"
    "supérieur|universitaria|universität < postgraduate|master|doctorate",
    "never|never smoker|nie|jamais|nunca < former|ex|past|ex-smoker|former smoker|früher|ancien|"
    "exfumador < current|current smoker|aktuell|actuel|actual|active",
    "tiny|very small < small|klein|petit|pequeño < medium|mittel|moyen|mediano < large|big|groß|grand|"
    "grande < very large|huge",
    "early|früh|précoce < intermediate|middle|mittel < late|advanced|spät|tardif|fortgeschritten",
    "underweight|untergewicht < normal|normal weight|healthy weight|normalgewicht < overweight|übergewicht < "
    "obese|obesity|adipositas < morbidly obese|severely obese",
    "robust|fit|non-frail|not frail < prefrail|pre-frail|vulnerable < frail",
    "child|infant|children|kind < adolescent|teenager|young|jugendlich < adult|middle-aged|erwachsen < "
    "elderly|old|senior|older",
    "asymptomatic|asymptomatisch < symptomatic|mild symptoms|symptomatisch < severe symptoms|critical|kritisch",
    "independent|selbständig < needs help|partially dependent|partly dependent < dependent|fully dependent|bedridden",
    "well differentiated|well < moderately differentiated|moderately|moderate < poorly differentiated|poorly|"
    "poor < undifferentiated",
    "negative|neg|- < trace|borderline|equivocal|weak|weakly positive|indeterminate|grenzwertig < positive|"
    "pos|+ < strongly positive|strong|high positive",
)
_SCALES = tuple(
    {word: rank for rank, words in enumerate(line.split(" < ")) for word in words.strip().split("|")} for line in _WORDS
)
_ROMAN = {"0": 0, "I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8, "IX": 9, "X": 10}
_GRADED = re.compile(r"(?P<prefix>[^\W\d_]*?[ ._-]*)(?P<grade>[0-9]{1,2}|[IVX]{1,4})(?P<part>[a-eA-E]?)")
_LABELLED = re.compile(r"(?P<grade>[+-]?[0-9]{1,3})\s*(?:[-=:.)(]\s*|\s)\D.*")
_CROSSES = {"-": 0.0, "0": 0.0, "neg": 0.0, "negative": 0.0, "(+)": 0.5, "+/-": 0.5, "±": 0.5, "trace": 0.5}
_CROSSES |= {"+": 1.0, "1+": 1.0, "++": 2.0, "2+": 2.0, "+++": 3.0, "3+": 3.0, "++++": 4.0, "4+": 4.0}
_NUMBER = r"[0-9]+(?:[.,][0-9]+)?"
_WITHIN = re.compile(rf"({_NUMBER})\s*(?:-|–|to|bis|à|a|until)\s*<?\s*({_NUMBER})\D{{0,9}}")
_BELOW = re.compile(rf"(?:<|<=|≤|under|below|less than|unter|moins de|menos de|up to|bis)\s*=?\s*({_NUMBER})\D{{0,9}}")
_ABOVE = re.compile(
    rf"(?:(?:>|>=|≥|over|above|more than|at least|über|ab|plus de|más de)\s*=?\s*({_NUMBER})\D{{0,9}}"
    rf"|({_NUMBER})\s*(?:\+|and over|and older|or more|years and over|und mehr|et plus|y más))"
)

Ranks = dict[str, float]


def in_order(texts: list[str], name: str) -> tuple[list[str], str] | None:
    """Return the texts from low to high, and what orders them; None if nothing does, or several texts tie.

    Parameters
    ----------
    texts : list of str
        At least three distinct texts.
    name : str
        The name of the column. Numbered texts of a column of codes (`School 3` of `school`) have no order.
    """
    ways: tuple[tuple[Callable[[list[str], str], Ranks | None], str], ...] = (
        (_by_words, "words that have an order"),
        (_by_crosses, "crosses"),
        (_by_intervals, "intervals"),
        (_by_grades, "numbered grades"),
        (_by_labels, "texts that begin with a number"),
    )
    for ranks_of, what in ways:
        ranks = ranks_of(texts, name)
        if ranks is not None and len(set(ranks.values())) == len(texts):
            return sorted(texts, key=ranks.__getitem__), what
    return None


def _by_words(texts: list[str], name: str) -> Ranks | None:
    folded = [" ".join(text.casefold().split()) for text in texts]
    for scale in _SCALES:
        if all(text in scale for text in folded):
            return {text: float(scale[key]) for text, key in zip(texts, folded, strict=True)}
    return None


def _by_crosses(texts: list[str], name: str) -> Ranks | None:
    folded = {text: text.casefold().replace(" ", "") for text in texts}
    if not all(key in _CROSSES for key in folded.values()) or not any("+" in text for text in texts):
        return None
    return {text: _CROSSES[key] for text, key in folded.items()}


def _by_grades(texts: list[str], name: str) -> Ranks | None:
    """Return ranks of `Stage IIa`, `T1`, `grade 2`, `I` or `3b`: one prefix for all, then a number, then a letter."""
    found = [_GRADED.fullmatch(text) for text in texts]
    graded = [match for match in found if match is not None]
    prefixes = {match["prefix"].strip(" ._-").casefold() for match in graded}
    if len(graded) < len(texts) or len(prefixes) > 1 or looks_coded(name) or looks_coded("".join(prefixes)):
        return None
    are_roman = [match["grade"] in _ROMAN and match["grade"] != "0" for match in graded]
    if any(are_roman) and not all(match["grade"] in _ROMAN for match in graded):
        return None
    grades = [_ROMAN[match["grade"]] if any(are_roman) else int(match["grade"]) for match in graded]
    parts = [(ord(match["part"].casefold()) - 96) / 10 if match["part"] else 0.0 for match in graded]
    return {text: grade + part for text, grade, part in zip(texts, grades, parts, strict=True)}


def _by_labels(texts: list[str], name: str) -> Ranks | None:
    """Return ranks of `0 - none`, `1: mild` or `2 (moderate)`."""
    found = [_LABELLED.fullmatch(text) for text in texts]
    if looks_coded(name) or not all(found):
        return None
    return {text: float(match["grade"]) for text, match in zip(texts, found, strict=True) if match is not None}


def _by_intervals(texts: list[str], name: str) -> Ranks | None:
    """Return ranks of `<30`, `30-39` and `>=40`, by their lower ends; at least one must have two ends."""
    ranks: Ranks = {}
    for text in texts:
        folded = " ".join(text.casefold().split())
        if within := _WITHIN.fullmatch(folded):
            ranks[text] = _decimal(within[1])
        elif below := _BELOW.fullmatch(folded):
            ranks[text] = _decimal(below[1]) - 1e9
        elif above := _ABOVE.fullmatch(folded):
            ranks[text] = _decimal(above[1] or above[2]) + 1e-6
        else:
            return None
    return ranks if _any_within(texts) else None


def _any_within(texts: Iterable[str]) -> bool:
    return any(_WITHIN.fullmatch(" ".join(text.casefold().split())) for text in texts)


def _decimal(text: str) -> float:
    return float(text.replace(",", "."))
