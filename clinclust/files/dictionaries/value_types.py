"""The words by which codebooks say what kind of values a column holds, in English, German, French and Spanish."""

from __future__ import annotations

from typing import Literal

from clinclust.files.column_notes import ColumnKind
from clinclust.files.dictionaries.plain_text import words_of

__all__ = ["kind_said"]

_WORDS: dict[ColumnKind, str] = {
    "number": (
        "numeric numerical number integer int float double decimal continuous quantitative real count discrete "
        "interval ratio measurement metric numerisch zahl ganzzahl stetig kontinuierlich metrisch quantitativ anzahl "
        "numerique nombre entier reel continu continue quantitatif quantitative "
        "numerico numerica numero entero real continuo continua cuantitativo cuantitativa"
    ),
    "nominal": (
        "categorical nominal factor category categories polytomous multinomial coded enum kategorial kategoriell "
        "kategorisch qualitativ qualitative faktor categoriel categorielle categorique nominale qualitatif "
        "categorico categorica cualitativo cualitativa nominales radio dropdown select"
    ),
    "ordinal": (
        "ordinal ordered likert ranked ordinale ordinales ordinalskaliert geordnet rang ordonne ordonnee ordenado "
        "ordenada"
    ),
    "yes/no": (
        "binary boolean bool dichotomous logical logic yesno binar dichotom boolesch wahrheitswert binaire "
        "dichotomique booleen logique binario binaria dicotomico dicotomica booleano logico"
    ),
    "date": (
        "date datetime time timestamp datum uhrzeit zeit zeitpunkt zeitstempel heure horodatage fecha hora yyyy dd"
    ),
    "text": ("free freetext notes memo comment open narrative freitext bemerkung libre commentaire abierto comentario"),
    "id": "id identifier key identifikator kennung schlussel identifiant cle identificador clave",
}
_KIND_OF = {word: kind for kind, words in _WORDS.items() for word in words.split()}
_STORED = (
    "string str char character varchar text texte texto zeichenkette zeichen chaine caractere caracteres cadena "
    "caracter alphanumeric alphanumerisch alphanumerique alfanumerico object plain"
)
"""How a program stores a column: a column of texts may hold levels, an identifier, or remarks."""
_STORAGE = frozenset(_STORED.split())


def kind_said(text: str) -> ColumnKind | Literal["stored as text"] | None:
    """Return the kind of values that a text names; None if it names none.

    The first word that names a kind decides: ``ordinal (1-5)``, ``numeric, integer``. ``yes/no`` and ``ja/nein`` are
    known too.

    Examples
    --------
    >>> from clinclust.files.dictionaries.value_types import kind_said
    >>> [kind_said(text) for text in ("Integer(3)", "kategorial", "free text", "Oui/Non", "varchar(20)", "blob")]
    ['number', 'nominal', 'text', 'yes/no', 'stored as text', None]
    """
    words = words_of(text)
    if words[:2] in (["yes", "no"], ["no", "yes"], ["ja", "nein"], ["oui", "non"], ["si", "no"]):
        return "yes/no"
    for word in words:
        bare = word.rstrip("0123456789")
        if bare in _KIND_OF:
            return _KIND_OF[bare]
    return "stored as text" if any(word.rstrip("0123456789") in _STORAGE for word in words) else None
