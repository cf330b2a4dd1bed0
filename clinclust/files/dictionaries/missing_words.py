"""The labels by which questionnaires code that there is no answer, in the seven languages of the draft."""

from __future__ import annotations

from clinclust.files.dictionaries.plain_text import words_of

__all__ = ["MISSING_SIGNS", "may_mean_missing", "means_missing", "says_missing"]

_PHRASES = (
    # English
    "unknown; not known; unk; uk; don t know; do not know; dont know; does not know; don t know not sure; missing; na; "
    "n a; n a not applicable; not available; not applicable; not done; nd; not performed; not tested; not measured; "
    "not assessed; not asked; not answered; not recorded; not reported; not stated; not specified; not evaluated; "
    "not examined; not obtained; not collected; no answer; no data; no information; no response; refused; "
    "refused to answer; refusal; declined; declined to answer; patient refused; prefer not to answer; "
    "prefer not to say; missing data; data missing; unknown not reported; unknown or not reported; not documented; "
    "unavailable; could not be assessed; unable to assess; invalid; undetermined; unspecified; "
    # German
    "unbekannt; nicht bekannt; weiss nicht; weiß nicht; verweigert; keine angabe; keine angaben; k a; "
    "keine antwort; nicht erhoben; nicht durchgefuhrt; nicht gemacht; nicht verfugbar; nicht zutreffend; "
    "trifft nicht zu; entfallt; fehlend; fehlt; nicht beantwortet; nicht gemessen; nicht untersucht; "
    "nicht gefragt; nicht beurteilbar; nicht dokumentiert; nicht erfasst; unklar; keine information; "
    # French
    "inconnu; inconnue; non connu; non connue; ne sait pas; nsp; je ne sais pas; refus; refuse; refuse de repondre; "
    "non fait; non faite; non realise; non realisee; non effectue; non disponible; non applicable; sans objet; "
    "non renseigne; non renseignee; manquant; manquante; donnee manquante; valeur manquante; pas de reponse; "
    "sans reponse; non mesure; non evalue; non evaluable; non precise; non documente; "
    # Spanish
    "desconocido; desconocida; no conocido; se desconoce; no sabe; no lo sabe; ns nc; ns; nc; no contesta; "
    "no sabe no contesta; rechazado; rechaza; se nego; no realizado; no realizada; no hecho; no disponible; no aplica; "
    "no aplicable; no procede; sin dato; sin datos; sin informacion; no consta; perdido; valor perdido; no responde; "
    "prefiere no responder; prefiere no contestar; no evaluado; no medido; no registrado; faltante; "
    # Italian
    "non noto; non nota; sconosciuto; sconosciuta; non applicabile; non disponibile; non eseguito; non eseguita; "
    "non valutabile; non valutato; non valutata; non rilevato; non riferito; non risponde; dato mancante; "
    # Dutch
    "onbekend; niet bekend; weet niet; weet ik niet; niet van toepassing; nvt; n v t; niet gedaan; niet uitgevoerd; "
    "niet beschikbaar; niet bepaald; niet gemeten; niet ingevuld; ontbreekt; geen antwoord; wil niet zeggen; "
    # Portuguese
    "desconhecido; desconhecida; nao sabe; nao sei; nao se aplica; nao aplicavel; nao realizado; nao realizada; "
    "nao feito; nao testado; nao testada; non testato; non testata; no testado; niet getest; nicht getestet; "
    "non teste; nao disponivel; nao informado; nao informada; nao respondeu; nao avaliado; sem informacao; sem dados"
)
_SHORT = "dk; d k; dnk; ref; rf; nk; nr; na; n a; nap; inap; iap; skip; skipped; valid skip; miss; ukn; k a; wn; ns; nc"
_ABBREVIATED = frozenset(phrase.strip() for phrase in _SHORT.split(";"))
_MISSING = frozenset(" ".join(words_of(phrase)) for phrase in _PHRASES.split(";"))


_SIGNS = (
    "n/a n.a. nan <na> nat null (null) n.d. k.a. unb. n.b. nr . .. ... ? ?? - -- --- "
    "#n/a #null! #value! #div/0! #ref! #nv #wert! #bezug! #zahl! #num! #name?"
)
MISSING_SIGNS = frozenset([*_SIGNS.split(), "k. a."])
"""How tables write a missing value without a word, and what spreadsheet programs write for an error; in lower case."""


def says_missing(text: str) -> bool:
    """Return whether the text of a cell among numbers says that there is no value.

    Examples
    --------
    >>> from clinclust.files.dictionaries.missing_words import says_missing
    >>> [says_missing(text) for text in ("NA", "n.d.", "-", "", "<5", "0")]
    [True, True, True, True, False, False]
    """
    return not text or text.casefold() in MISSING_SIGNS or means_missing(text)


def means_missing(label: str) -> bool:
    """Return whether a label says that the value is not known, whoever writes it and with whatever signs.

    Examples
    --------
    >>> from clinclust.files.dictionaries.missing_words import means_missing
    >>> [means_missing(label) for label in ("Unknown", "Weiß nicht", "Refus", "No", "None", "Known unknown")]
    [True, True, True, False, False, False]
    """
    words = words_of(label)
    return bool(words) and " ".join(words) in _MISSING


def may_mean_missing(label: str) -> bool:
    """Return whether a label is one of the abbreviations by which surveys code a missing answer, such as dk and ref.

    Examples
    --------
    >>> from clinclust.files.dictionaries.missing_words import may_mean_missing
    >>> [may_mean_missing(label) for label in ("DK", "ref.", "reference", "no")]
    [True, True, False, False]
    """
    return " ".join(words_of(label)) in _ABBREVIATED
