"""The words by which laboratories say why a number is not there, in English, German, French, Spanish and Italian."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clinclust.files.dictionaries.missing_words import means_missing
from clinclust.files.dictionaries.plain_text import words_of
from clinclust.files.number_notation import parts_of

__all__ = ["normal_words", "without_result"]

_PHRASES = """
    pending; result pending; in progress; outstanding; to follow; ordered; awaited; cancelled; canceled; error; failed;
    invalid; haemolysed; hemolysed; hemolyzed; haemolyzed; haemolytic; hemolytic; haemolysis; hemolysis; clotted; clot;
    lipaemic; lipemic; icteric; insufficient; insufficient sample; sample insufficient; insufficient material; qns;
    quantity not sufficient; no sample; no specimen; no material; sample lost; lost; lost sample; not sent; unreadable;
    not measurable; unmeasurable; not interpretable; indeterminate; see comment; see note; see report; see below;
    contaminated; not received; rejected; repeat; not valid;
    ausstehend; folgt; in arbeit; storniert; fehler; hamolytisch; haemolytisch; hamolyse; geronnen; lipamisch;
    ikterisch; nicht messbar; nicht bestimmbar; nicht auswertbar; nicht verwertbar; nicht moglich; kein material;
    zu wenig material; material fehlt; zu wenig probe; probe fehlt; probe verloren; siehe befund; siehe kommentar;
    s befund; s bem; s u; ungultig; verworfen; kein wert; keine messung;
    en attente; en cours; annule; hemolyse; coagule; insuffisant; quantite insuffisante; non mesurable; illisible;
    voir commentaire; echec; prelevement perdu;
    pendiente; en curso; anulado; hemolizado; hemolizada; hemolisis; coagulado; coagulada; insuficiente;
    muestra insuficiente; no medible; no valorable; no valido; ver comentario; error de muestra;
    in corso; in attesa; annullato; emolizzato; coagulato; insufficiente; campione insufficiente; non misurabile;
    non valutabile; non eseguito; non pervenuto
"""
_NORMAL = """
    normal; norm; within normal limits; wnl; within range; nad; unremarkable; ok; fine; in norm; im normbereich;
    normbereich; normwertig; unauffallig; unauff; o b; ob; ohne befund; ohne pathologischen befund; i o; io;
    in ordnung; normale; normaux; sans particularite; ras; sin alteraciones; sin hallazgos; nella norma; nei limiti;
    normaal; niet afwijkend
"""
_NO_RESULT = frozenset(" ".join(words_of(phrase)) for phrase in _PHRASES.split(";"))
_IS_NORMAL = frozenset(" ".join(words_of(phrase)) for phrase in _NORMAL.split(";"))
_MOST_NORMAL, _FEWEST_NUMBERS = 0.5, 10
"""The most cells that say `normal` in a column of numbers, and the fewest different numbers; of fewer it is a grade."""


def normal_words(texts: Sequence[str], counts: NDArray[np.int64]) -> list[str]:
    """Return the texts of a column of numbers that only say that a result is normal.

    Parameters
    ----------
    texts : sequence of str
        The distinct texts of a column.
    counts : int64 (len(texts),)
        The number of cells that hold each.
    """
    found = [text for text in texts if text[:1].isalpha() and " ".join(words_of(text)) in _IS_NORMAL]
    if not found:
        return []
    n = sum(int(count) for text, count in zip(texts, counts, strict=True) if text in found)
    n_numbers = sum(parts_of(text) is not None for text in texts)
    return found if n <= _MOST_NORMAL * counts.sum() and n_numbers >= _FEWEST_NUMBERS else []


def without_result(texts: Sequence[str]) -> list[int]:
    """Return the places of the texts that say, beside numbers, that there is no result, or why.

    Examples
    --------
    >>> from clinclust.drafting.no_results import without_result
    >>> without_result(["4.1", "Pending", "hämolytisch", "mild"])
    [1, 2]
    """
    return [
        place
        for place, text in enumerate(texts)
        if text[:1].isalpha() and (" ".join(words_of(text)) in _NO_RESULT or means_missing(text))
    ]
