"""The words by which laboratories say why a number is not there, in English, German, French, Spanish and Italian."""

from __future__ import annotations

from collections.abc import Sequence

from clinclust.files.dictionaries.missing_words import means_missing
from clinclust.files.dictionaries.plain_text import words_of

__all__ = ["without_result"]

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
_NO_RESULT = frozenset(" ".join(words_of(phrase)) for phrase in _PHRASES.split(";"))


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
