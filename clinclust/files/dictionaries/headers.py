"""The headers of dictionaries: what a column of a codebook holds, recognised in four languages."""

from __future__ import annotations

from typing import Literal, get_args

from clinclust.files.dictionaries.plain_text import folded

__all__ = ["REDCAP_HEADERS", "Holds", "holds"]

Holds = Literal[
    "name",
    "label",
    "description",
    "unit",
    "values",
    "code",
    "code label",
    "type",
    "minimum",
    "maximum",
    "range",
    "missing",
    "section",
    "asked if",
]
"""What a column of a codebook holds."""

_SYNONYMS: dict[Holds, str] = {
    "name": (
        "variable; variable name; variables; var; varname; var name; name; field; field name; variable field name; "
        "column; column name; item; item name; feature; feature name; data element; "
        "variablenname; variablen name; variablenbezeichnung; feldname; feld; spalte; spaltenname; merkmal; "
        "nom; nom de la variable; nom de variable; nom variable; nom du champ; champ; colonne; nom de colonne; "
        "nombre; nombre de la variable; nombre de variable; nombre variable; campo; nombre del campo; columna"
    ),
    "label": (
        "label; variable label; field label; labels; title; long name; display name; caption; question; question text; "
        "text; bezeichnung; beschriftung; etikett; variablenlabel; frage; fragetext; titel; "
        "libelle; libelle de la variable; intitule; etiquette; titre; "
        "etiqueta; etiqueta de la variable; etiqueta de variable; rotulo; pregunta; titulo; denominacion"
    ),
    "description": (
        "description; variable description; definition; details; explanation; comment; comments; note; notes; remark; "
        "remarks; field note; beschreibung; variablenbeschreibung; erlauterung; erklarung; bemerkung; bemerkungen; "
        "kommentar; anmerkung; "
        "remarque; remarques; commentaire; commentaires; descriptif; "
        "descripcion; definicion; comentario; comentarios; nota; notas; observaciones"
    ),
    "unit": (
        "unit; units; unit of measure; unit of measurement; measurement unit; uom; einheit; einheiten; masseinheit; "
        "unite; unites; unite de mesure; unidad; unidades; unidad de medida; unidades de medida"
    ),
    "values": (
        "values; value labels; codes; coding; codings; encoding; code list; codelist; levels; categories; choices; "
        "options; allowed values; possible values; permissible values; permitted values; valid values; value set; "
        "coded values; response options; responses; answers; answer options; factor levels; values labels; "
        "werte; wertelabels; kodierung; codierung; auspragungen; kategorien; antworten; antwortoptionen; "
        "antwortmoglichkeiten; mogliche werte; valeurs; valeurs possibles; modalites; codage; reponses; "
        "valores; valores posibles; valores permitidos; codigos; codificacion; categorias; opciones; respuestas; "
        "etiquetas de valor; etiquetas de valores"
    ),
    "code": "code; value; level; coded value; wert; auspragung; valeur; modalite; valor; codigo; nivel",
    "code label": (
        "value label; level label; code label; meaning; value description; value meaning; code description; "
        "code meaning; category label; label of value; wertelabel; wertebezeichnung; wertbeschriftung; bedeutung; "
        "libelle de la modalite; libelle modalite; libelle du code; signification; "
        "etiqueta de valor; etiqueta del valor; significado; descripcion del valor"
    ),
    "type": (
        "type; data type; datatype; variable type; field type; class; format; measure; measurement level; "
        "level of measurement; scale; scale type; typ; datentyp; variablentyp; skalenniveau; messniveau; skala; "
        "type de donnees; type de donnee; type de variable; nature; tipo; tipo de dato; tipo de datos; "
        "tipo de variable; escala; nivel de medida; echelle"
    ),
    "minimum": (
        "min; minimum; lowest; lower limit; lower bound; range min; min value; minimum value; lowest value; "
        "untergrenze; minimalwert; kleinster wert; borne inferieure; valeur minimale; valeur min; "
        "minimo; valor minimo; limite inferior"
    ),
    "maximum": (
        "max; maximum; highest; upper limit; upper bound; range max; max value; maximum value; highest value; "
        "obergrenze; maximalwert; grosster wert; borne superieure; valeur maximale; valeur max; "
        "maximo; valor maximo; limite superior"
    ),
    "range": (
        "range; valid range; allowed range; value range; limits; wertebereich; gultiger bereich; plage; "
        "plage de valeurs; intervalle; etendue; rango; intervalo; rango de valores"
    ),
    "missing": (
        "missing; missing code; missing codes; missing value; missing values; missing data code; missing data codes; "
        "na values; na code; user missing; fehlend; fehlwert; fehlwerte; fehlende werte; code fur fehlend; "
        "valeur manquante; valeurs manquantes; code manquant; codes manquants; manquant; manquants; "
        "donnees manquantes; "
        "valores perdidos; valor perdido; perdidos; valores faltantes; codigo perdido; codigos perdidos; faltantes; "
        "datos faltantes"
    ),
    "section": (
        "section; section header; group; category; domain; module; form; form name; instrument; topic; theme; table; "
        "abschnitt; gruppe; bereich; formular; modul; kategorie; thema; instrument; fragebogen; "
        "rubrique; groupe; domaine; formulaire; categorie; questionnaire; "
        "seccion; grupo; dominio; modulo; formulario; tema; apartado; categoria; cuestionario"
    ),
    "asked if": (
        "asked if; asked of; branching logic; condition; skip logic; filter; universe; routing; "
        "bedingung; filterbedingung; filterfrage; filtre; condicion; filtro"
    ),
}
_HOLDS: dict[str, Holds] = {}
for _meaning in get_args(Holds):
    for _synonym in _SYNONYMS[_meaning].split(";"):
        _HOLDS.setdefault(folded(_synonym), _meaning)

REDCAP_HEADERS: dict[str, str] = {
    folded(header): field
    for field, headers in {
        "name": "variable field name; field name",
        "form": "form name",
        "section": "section header",
        "type": "field type",
        "label": "field label",
        "choices": (
            "choices calculations or slider labels; choices or calculations; select choices or calculations; "
            "choices calculations"
        ),
        "note": "field note",
        "validation": "text validation type or show slider number; text validation type; text validation",
        "minimum": "text validation min",
        "maximum": "text validation max",
        "identifier": "identifier",
        "branching": "branching logic show field only if; branching logic",
        "required": "required field",
        "alignment": "custom alignment",
        "question": "question number surveys only; question number",
        "matrix": "matrix group name",
        "ranking": "matrix ranking",
        "annotation": "field annotation",
    }.items()
    for header in headers.split(";")
}
"""What the columns of a REDCap data dictionary hold, by folded header: as downloaded, and as its API names them."""


def holds(header: str) -> Holds | None:
    """Return what a column with this header holds; None if the header is not recognised.

    Examples
    --------
    >>> from clinclust.files.dictionaries.headers import holds
    >>> [holds(header) for header in ("Variable Name", "Ausprägungen", "Unité", "Código", "Owner")]
    ['name', 'values', 'unit', 'code', None]
    """
    return _HOLDS.get(folded(header))
