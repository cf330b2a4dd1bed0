"""What names say of columns that describe the hospital or the study, and not the patient, in five languages.

Sites, staff, devices, batches, who entered the data, places of living, days of the week, months of visits, sampling
weights and visits. A name counts only if all its words do: ``site`` is a site, ``site of metastasis`` is none.
"""

from __future__ import annotations

import re
from functools import cache

from clinclust.drafting.names import looks_postal, names_a_unit, words_of

__all__ = ["PLACE", "is_comment_name", "is_number_of", "is_weight_name", "looks_dated_in_days", "what_it_describes"]

SITE, STAFF, DEVICE = "the site", "who examined or treated", "the device or the batch"
ENTRY, PLACE, VISIT = "who entered the data", "a place of living, as a postal code", "the visit"
CALENDAR = "a day, a month or a year of the calendar"

_OF = """
SITE: zentrum center centre centro centrum studienzentrum prufzentrum studienort prufstelle site klinik clinic
 clinica clinique hospital krankenhaus spital hopital ospedale institution institut krankenhauskennzeichen ward station
 abteilung reparto facility praxis einrichtung etablissement recruitmentsite studysite siteid centreid centerid
STAFF: arzt arztin prufarzt untersucher untersucherin behandler physician doctor surgeon rater examiner interviewer
 intervieweur interviewerin intw intervistatore intervistatrice encuestador encuestadora entrevistador entrevistadora
 enqueteur enquetrice examinador examinateur examinatrice esaminatore esaminatrice evaluador evaluadora evaluateur
 medecin medico chirurg chirurgin chirurgien chirurgo cirujano operateur operatore anasthesist radiologe radiologist
 pathologist assessor observer investigator sonographer technician nurse infirmiere infermiere infermiera enfermera
 enfermero pflegekraft therapeut therapist
DEVICE: gerat gerate gerateid scanner scannerid machine appareil apparecchio apparecchiatura aparato equipo charge
 chargennummer batch lot lote lotto plate platte kit analyzer analyser
ENTRY: erstellt angelegt eingegeben erfasst created entered creado creata creato saisi inserito modified geandert
 username benutzer usuario utilisateur utente dateneingabe
VISIT: visit visite visita besuch wave welle vague oleada ondata timepoint zeitpunkt messzeitpunkt visitnum visitno
 visitnumber visitid visitcode visitname visitenr session sitzung
"""
_KINDS = {"SITE": SITE, "STAFF": STAFF, "DEVICE": DEVICE, "ENTRY": ENTRY, "VISIT": VISIT}
_BESIDE = """
    id ids nr no n num number nummer numero code codes kode codice codigo cod name names nome nombre nom kennung key
    of the der die das des de del della di du la le study studie studien etude estudio studio recruiting recruitment
    enrolment enrollment participating by von por par da user pruf treating behandelnder time point event index label"""
_NUMBERS = "id ids nr no n num number nummer numero code codes kode codice codigo cod kennung intwnr intnr"
_COMPOUND = re.compile(r"(.{3,}?)(?:nr|nummer|id|kennung|code|name)")
_WEEKDAY = """wochentag weekday dayofweek dow
 day|of|week jour|semaine dia|semana giorno|settimana"""
_CALENDAR = """
    monat month mois mes mese jahr year annee ano anno monats quartal quarter trimestre kw woche week"""
_OF_A_VISIT = """
    visit visite visita besuch aufnahme admission ingreso ricovero entlassung discharge inclusion einschluss
    einschlusses enrolment enrollment recruitment interview erhebung befragung untersuchung measurement reclutamiento
    reclutamento arruolamento examination exam sampling hospitalisation consultation"""
_CALENDAR_COMPOUND = re.compile(
    r"(?:aufnahme|entlassungs?|besuchs?|einschluss|erhebungs|befragungs|untersuchungs|interview)(?:monat|jahr|quartal|woche)"
)
_WEIGHTS = "weight weights wt wgt wght gewicht gewichtung poids peso pesos pond ponderation ponderacion ponderazione"
_OF_SAMPLING = """
    design sampling survey poststratification calibration raking psp erhebung
    stichprobe stichproben hochrechnung sondage muestral campionario campionamento diseno expansion normalised"""
_WEIGHT_ALONE = """
    designgewicht stichprobengewicht erhebungsgewicht hochrechnungsfaktor gewichtungsfaktor pspwght pspwgt dweight
    pweight designweight samplingweight surveyweight wtint wtmec finalwt wtfinl"""
_COMMENTS = """
    bemerkung bemerkungen kommentar kommentare comment comments remark remarks anmerkung anmerkungen notiz notizen
    freitext observaciones observacion commentaire commentaires remarque remarques annotazioni annotazione commenti
    commento comentario comentarios freetext opmerking opmerkingen"""
_DATED = """
    datum date data fecha seriell serial aufnahme admission admitted ingreso ricovero admissione entlassung discharge
    egreso dimissione sortie entree geburt geboren birth born naissance nascita nacimiento geburtstag geburtsdatum
    beginn onset visit visite visita besuch op operation erstdiagnose einschluss inclusion tod death decision referral
    diagnosis diagnose diagnostico"""


def what_it_describes(name: str) -> str | None:
    """Return what of the hospital or the study a column describes by its name, in words; None if it is of the patient.

    Examples
    --------
    >>> from clinclust.drafting.administration_names import what_it_describes
    >>> [what_it_describes(name) for name in ("center_no", "Klinik-Nr", "performance status", "site of metastasis")]
    ['the site', 'the site', None, None]
    """
    said = [word for word in words_of(name) if not word.isdigit()]
    if not said or names_a_unit(name):
        return None
    if _is_calendar(said):
        return CALENDAR
    if looks_postal(name) and len([word for word in said if len(word) > 1]) <= 2:
        return PLACE
    if {"time", "point"} <= set(said) <= {"time", "point"} | _listed(_BESIDE):
        return VISIT
    apart = [_without_number(word) for word in said]
    kinds = {kind for word in apart if (kind := _kind_of(word)) is not None}
    if len(kinds) != 1 or not all(_kind_of(word) is not None or word in _listed(_BESIDE) for word in apart):
        return None
    kind = kinds.pop()
    return None if kind == ENTRY and not set(said) & _listed(_ENTERED_BY) else kind


_ENTERED_BY = "by von por par da user username benutzer usuario utilisateur utente dateneingabe"
"""Words of which `created` needs one: `created by` says who entered the data, `created` may be a date."""


def is_number_of(name: str) -> bool:
    """Return whether a name says that its numbers are given out, such as `center_no` and `Arztnr`."""
    said = [word for word in words_of(name) if not word.isdigit()]
    return bool(set(said) & _listed(_NUMBERS)) or any(_without_number(word) != word for word in said)


def _without_number(word: str) -> str:
    """Return a word without `nr`, `id` and the like behind it, where what is left is known: `arztnr`."""
    found = _COMPOUND.fullmatch(word)
    return found[1] if found is not None and _kind_of(found[1]) is not None else word


@cache
def _kinds() -> dict[str, str]:
    lines = _OF.replace("\n ", " ").split("\n")
    pairs = (line.split(": ") for line in lines if line)
    return {word: _KINDS[kind] for kind, words in pairs for word in words.split()}


def _kind_of(word: str) -> str | None:
    return _kinds().get(word)


@cache
def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _is_calendar(said: list[str]) -> bool:
    """Return whether words name the day of a week, or the month of a visit; when a disease began is of the patient."""
    words = set(said)
    if any(set(day.split("|")) <= words for day in _WEEKDAY.split()):
        return True
    of_visit = bool(words & _listed(_OF_A_VISIT)) and words <= _listed(f"{_OF_A_VISIT} {_CALENDAR} {_BESIDE} d a al")
    return (bool(words & _listed(_CALENDAR)) and of_visit) or any(map(_CALENDAR_COMPOUND.fullmatch, said))


def is_weight_name(name: str) -> bool:
    """Return whether a name is that of a weight of sampling; `weight` alone is that of the body.

    Examples
    --------
    >>> from clinclust.drafting.administration_names import is_weight_name
    >>> [is_weight_name(name) for name in ("Design weight", "pspwght", "weight", "weight_kg")]
    [True, True, False, False]
    """
    said = {word for word in words_of(name) if not word.isdigit()}
    if names_a_unit(name):
        return False
    return bool(said & _listed(_WEIGHT_ALONE)) or bool(said & _listed(_WEIGHTS) and said & _listed(_OF_SAMPLING))


def is_comment_name(name: str) -> bool:
    """Return whether a name is that of free text: `Bemerkung`, `comments`."""
    return bool(_listed(_COMMENTS).intersection(words_of(name)))


def looks_dated_in_days(name: str) -> bool:
    """Return whether a name may be that of a date, in a column that holds whole numbers of the size of such days."""
    return bool(_listed(_DATED).intersection(words_of(name))) and not names_a_unit(name)
