"""The answers of questionnaires that have an order, or that mean no and yes, in four languages."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from clinclust.files.cell_text import number_of
from clinclust.files.dictionaries.plain_text import words_of

__all__ = ["GRADED", "no_before_yes", "order_of", "steps_of_scale"]

# Each scale from its low to its high end. A step may be written in several ways, separated by a bar.
_SCALES = (
    "none|no|absent|normal|not present|not at all; questionable|minimal|trace|borderline; slight|very mild|a little|"
    "a little bit; mild|mildly; moderate|moderately|medium; marked|moderately severe|quite a bit|considerable; "
    "severe|severely|strong|a lot|very much; very severe|extreme|extremely|profound|critical",
    "none; some; most; all",
    "very low; low; medium|moderate|intermediate|normal|average; high; very high",
    "never|not at all|none of the time; rarely|seldom|hardly ever|almost never|a little of the time; "
    "sometimes|occasionally|some of the time|several days; often|frequently|more than half the days|most of the time; "
    "very often|usually|nearly every day|almost always; always|constantly|daily|every day|all of the time",
    "never; less than monthly|yearly; monthly; weekly; daily|daily or almost daily",
    "very poor; poor; fair; good; very good; excellent",
    "very bad; bad; moderate|fair|neither good nor bad|average; good; very good",
    "very dissatisfied; dissatisfied; neutral|neither satisfied nor dissatisfied; satisfied; very satisfied",
    "strongly disagree|completely disagree; disagree|somewhat disagree; slightly disagree; "
    "neutral|neither agree nor disagree|undecided; slightly agree; agree|somewhat agree; "
    "strongly agree|completely agree",
    "much worse|very much worse; worse|somewhat worse; slightly worse; unchanged|no change|same|stable; "
    "slightly better; better|somewhat better|improved; much better|very much better",
    "never|never smoker|never smoked; former|ex|past|former smoker|ex smoker|past smoker; "
    "current|present|current smoker|active smoker",
    "small; medium; large",
    "none|no schooling|no formal education; primary|primary school|elementary school; "
    "lower secondary|middle school; secondary|high school|secondary school|upper secondary; "
    "vocational|college|some college; tertiary|university|higher education|bachelor; postgraduate|master; doctorate",
    "independent; needs some help|partially dependent|partly dependent; dependent|fully dependent",
    "keine|kein|keiner|nicht vorhanden|gar nicht|uberhaupt nicht|normal; minimal|fraglich; gering|leicht|etwas|wenig; "
    "mittel|mittelgradig|massig|massig stark|moderat; stark|schwer|ziemlich|ausgepragt; sehr stark|sehr schwer|sehr",
    "nie|niemals; selten; manchmal|gelegentlich; oft|haufig; sehr oft|sehr haufig|meistens; immer|taglich",
    "sehr niedrig; niedrig; mittel|normal; hoch; sehr hoch",
    "sehr schlecht; schlecht; mittelmassig|mittel|weniger gut|zufriedenstellend|befriedigend; gut; sehr gut; "
    "ausgezeichnet",
    "stimme gar nicht zu|trifft gar nicht zu|trifft uberhaupt nicht zu; stimme nicht zu|trifft eher nicht zu; "
    "neutral|teils teils|weder noch; stimme zu|trifft eher zu; stimme voll zu|stimme vollig zu|trifft voll zu|"
    "trifft vollig zu",
    "nie|nieraucher; ehemals|fruher|exraucher|ex raucher|ehemalig; aktuell|raucher|aktiv",
    "aucun|aucune|absent|absente|pas du tout|normal; minime|douteux; leger|legere|un peu|faible; "
    "modere|moderee|moyen|moyenne; marque|important|severe|beaucoup|fort|forte; tres severe|extreme|"
    "enormement|tres fort",
    "jamais; rarement; parfois|quelquefois; souvent; tres souvent; toujours|tous les jours|quotidien",
    "tres faible|tres bas; faible|bas; moyen|modere; eleve|haut; tres eleve",
    "tres mauvais|tres mauvaise; mauvais|mauvaise; moyen|moyenne|passable; bon|bonne; tres bon|tres bonne; excellent",
    "pas du tout d accord; pas d accord|plutot pas d accord; neutre|ni d accord ni pas d accord; "
    "d accord|plutot d accord; tout a fait d accord",
    "jamais|non fumeur; ancien|ancien fumeur|ex fumeur; actuel|fumeur|fumeur actif",
    "ninguno|ninguna|ausente|nada|en absoluto|normal|no; minimo|dudoso; leve|ligero|ligera|poco|un poco; "
    "moderado|moderada|medio; "
    "marcado|importante|grave|severo|severa|mucho|intenso; muy grave|muy severo|extremo|muchisimo",
    "nunca; raramente|rara vez|casi nunca; a veces|algunas veces; a menudo|frecuentemente|con frecuencia; "
    "muy a menudo|casi siempre|muy frecuentemente; siempre|diariamente|todos los dias",
    "muy bajo|muy baja; bajo|baja; medio|media; alto|alta; muy alto|muy alta",
    "muy malo|muy mala|muy mal; malo|mala|mal; regular; bueno|buena|bien; muy bueno|muy buena|muy bien; excelente",
    "totalmente en desacuerdo|muy en desacuerdo; en desacuerdo; neutral|ni de acuerdo ni en desacuerdo|indiferente; "
    "de acuerdo; totalmente de acuerdo|muy de acuerdo",
    "nunca|nunca fumador; exfumador|ex fumador|antiguo; actual|fumador|fumador actual",
    "underweight|untergewicht; normal|normal weight|healthy weight|normalgewicht; overweight|ubergewicht; "
    "obese|obesity|adipositas; morbidly obese|severely obese",
    "robust|fit|non frail|not frail; prefrail|pre frail|vulnerable; frail",
    "early; intermediate|middle; late|advanced",
    "none|no response; poor|stable; partial|moderate|partial response; good|complete|complete response",
    "well differentiated|well; moderately differentiated|moderately; poorly differentiated|poorly; undifferentiated",
    "child|children; adolescent|young; adult|middle aged; elderly|old|senior|older",
    "negative|neg; trace|borderline|equivocal|weak; positive|pos; strongly positive|strong",
    "very unlikely; unlikely; possible|neutral; likely|probable; very likely|definite|certain",
    "none; primary|basic; secondary; university|tertiary",
    "ninguno|ninguna|no; leve|ligero; moderado; grave|severo",
    "nada|en absoluto; poco|un poco; bastante; mucho; muchisimo",
    "nie; seltener; monatlich; wochentlich; taglich",
)
_NO = (
    "no; n; false; unchecked; absent; negative; neg; never; control; normal; alive; off; none; not present; "
    "nein; falsch; nicht vorhanden; negativ; nie; lebend; aus; kein; keine; non; faux; absente; negatif; jamais; "
    "vivant; falso; ausente; negativo; nunca; vivo"
)
_YES = (
    "yes; y; true; checked; present; positive; pos; ever; case; abnormal; pathologisch; anormal; dead; on; deceased; "
    "any; ja; j; wahr; vorhanden; positiv; verstorben; tot; an; oui; o; vrai; presente; positif; decede; mort; "
    "si; s; verdadero; cierto; positivo; muerto; fallecido"
)


def _phrases(text: str, mark: str = ";") -> list[str]:
    return [" ".join(words_of(phrase)) for phrase in text.split(mark)]


_STEPS: tuple[dict[str, int], ...] = tuple(
    {phrase: step for step, phrases in enumerate(scale.split(";")) for phrase in _phrases(phrases, "|")}
    for scale in _SCALES
)
_NO_WORDS, _YES_WORDS = frozenset(_phrases(_NO)), frozenset(_phrases(_YES))
_ROMAN = {"0": 0, "i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10}
_REMARK = re.compile(r"[,;:(\[]|\s[-–—]\s")
_BEGINS = re.compile(r"\(?([0-9]+(?:\.[0-9]+)?)\)?\s*(?:[-–=:.]\s*\D|\s)")
_BELOW = r"(?:<=?|≤|under|below|less than|younger than|up to|unter|weniger als|jünger als|bis|moins de|menos de|hasta)"
_ABOVE = r"(?:>=?|≥|over|above|more than|older than|at least|from|über|mehr als|älter als|ab|plus de|mas de|más de)"
_MORE = r"(?:\+|(?:and|or) (?:over|older|above|more)|und (?:mehr|älter)|oder (?:mehr|älter)|(?:et|ou) plus|[oy] m[aá]s)"
_UPPER = r"(?:-|–|to|bis|a|à|and|und|et|y)\s*<?\s*[0-9]+(?:\.[0-9]+)?"
_RANGE = re.compile(
    rf"(?:(?P<below>{_BELOW})\s*|(?P<above>{_ABOVE})\s*)?(?P<from>[0-9]+(?:\.[0-9]+)?)\s*"
    rf"(?P<to>{_UPPER}|{_MORE})?\s*[^\d]{{0,15}}",
    re.IGNORECASE,
)
_COUNTED = (
    "|grade|grad|a|stage|class|level|score|step|degree|quartile|tertile|quintile|decile|nyha|nyha class|ckd|ckd stage|"
    "asa|ecog|gold|isup|gleason|birads|bi-rads|who|who grade|hoehn|t|n|pt|ct|pn|cn|g|q|stadium|stufe|klasse|stade|"
    "classe|niveau|grado|estadio|clase|nivel|cuartil|quartil|terzil"
)
GRADED = frozenset(_COUNTED.split("|"))


def order_of(labels: Sequence[str]) -> list[int] | None:
    """Return the indices of the labels from the low to the high end of their scale; None if no scale is known.

    The labels are steps of a known scale; are or begin with numbers (``2 - mild``); count grades or stages
    (``NYHA II``); or are ranges that rise (``18-29``, ``30+``).

    Examples
    --------
    >>> from clinclust.drafting.ordered_answers import order_of
    >>> order_of(["severe", "mild", "none"])
    [2, 1, 0]
    >>> order_of(["Stage I", "Stage II", "Stage IV"])
    [0, 1, 2]
    >>> order_of(["tremor", "rigid", "mixed"]) is None
    True
    """
    if len(labels) < 3:
        return None
    for scores in (steps_of_scale(labels), _of_numbers(labels), _of_numerals(labels), _of_ranges(labels)):
        if scores is not None and len(set(scores)) == len(labels):
            return sorted(range(len(labels)), key=lambda index: scores[index])
    return None


def no_before_yes(pair: Sequence[str]) -> list[int] | None:
    """Return the indices of two labels, that for no first; None if neither is known to mean one of them.

    Examples
    --------
    >>> from clinclust.drafting.ordered_answers import no_before_yes
    >>> no_before_yes(["Ja", "Nein"]), no_before_yes(["male", "female"])
    ([1, 0], None)
    """
    first, second = (" ".join(words_of(label)) or label.strip() for label in pair)
    for no, yes, order in ((first, second, [0, 1]), (second, first, [1, 0])):
        if (no in _NO_WORDS and yes in _YES_WORDS) or (no, yes) in (("0", "1"), ("-", "+")):
            return order
    return None


def steps_of_scale(labels: Sequence[str]) -> list[float] | None:
    """Return the steps of the labels on a known scale, by the whole label or by what stands before a further remark."""
    whole = [" ".join(words_of(label)) for label in labels]
    heads = [" ".join(words_of(_REMARK.split(label, maxsplit=1)[0])) for label in labels]
    for steps in _STEPS:
        said = [label if label in steps else head for label, head in zip(whole, heads, strict=True)]
        if all(label in steps for label in said):
            return [float(steps[label]) for label in said]
    return None


def _of_numbers(labels: Sequence[str]) -> list[float] | None:
    """Return the numbers that the labels are, or begin with."""
    begun = [_BEGINS.match(label) for label in labels]
    numbers = [number_of(label.strip()) for label in labels]
    scores = [float(match[1]) if match else number for match, number in zip(begun, numbers, strict=True)]
    return None if any(math.isnan(score) for score in scores) else scores


def _of_numerals(labels: Sequence[str]) -> list[float] | None:
    """Return what the labels count at their end after the same beginning: ``Grade 2``, ``NYHA III``, ``T1``."""
    counted = [re.fullmatch(r"(.*?)[\s_.-]*([0-9]+|[ivxIVX]+)([abcABC]?)", label.strip()) for label in labels]
    if not all(counted):
        return None
    found = [match for match in counted if match is not None]
    beginnings = {match[1].strip(" _.-").casefold() for match in found}
    if len(beginnings) != 1 or not beginnings <= GRADED:
        return None
    numbers = [_counted(match[2].casefold()) for match in found]
    letters = [(ord(match[3].casefold()) - 96) / 10 if match[3] else 0.0 for match in found]
    scores = [number + letter for number, letter in zip(numbers, letters, strict=True)]
    return None if any(math.isnan(score) for score in scores) else scores


def _counted(numeral: str) -> float:
    return float(numeral) if numeral.isdecimal() else float(_ROMAN.get(numeral, math.nan))


def _of_ranges(labels: Sequence[str]) -> list[float] | None:
    """Return where ranges such as ``<18``, ``18-29``, ``30+`` begin, if they rise in the order that is given."""
    found = [_RANGE.fullmatch(label.strip()) for label in labels]
    if not all(found):
        return None
    ranges = [match for match in found if match is not None]
    if any(not (match["below"] or match["above"] or match["to"]) for match in ranges[1:-1]):
        return None
    starts = [float(match["from"]) + 0.25 * (bool(match["above"]) - bool(match["below"])) for match in ranges]
    return starts if starts == sorted(starts) else None
