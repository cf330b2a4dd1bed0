"""What the name of a column says of it, in English, German, French and Spanish.

A name decides only where the values leave two possibilities: numbers that could be codes or a scale, counts or
measurements.
"""

from __future__ import annotations

import re

__all__ = ["looks_coded", "looks_counted", "looks_dated", "looks_identifying", "looks_measured", "words_of"]

_CODED = (
    "race ethnic ethnicity ethnie ethnia region regio centre center site hospital clinic ward school country nation "
    "land pays pais state province county district city zip postcode postal plz religion occupation job profession "
    "beruf marital civil familienstand type typ tipo kind code arm group gruppe groupe grupo treatment therapy drug "
    "cause reason grund diagnosis diagnose icd category kategorie categorie mode species department insurance "
    "provider physician doctor nurse interviewer batch plate lab machine device scanner cluster target phenotype "
    "histology language sprache genotype serotype team bed vertebra lumbar nerve cohort cohorte study studie etude "
    "protocol"
)
_COUNTED = (
    "n no num number anzahl nombre numero count counts total visits visites besuche arztbesuche children kinder "
    "enfants siblings births parity gravidity pregnancies pregnancy falls episodes attacks seizures admissions "
    "hospitalisations hospitalizations readmissions nodes lesions joints metastases polyps stents teeth exacerbations "
    "infections relapses cigarettes drinks consultations medications medikamente drugs drogues operations surgeries "
    "events times doctor mdvis executions bills"
)
_MEASURED = (
    "age alter edad weight gewicht poids peso height groesse größe taille talla bmi imc waist hip pressure blutdruck "
    "tension sbp dbp systolic diastolic bp pulse puls heart rate frequency temperature temp fieber glucose "
    "cholesterol hdl ldl triglycerides creatinine kreatinin urea sodium potassium calcium hemoglobin haemoglobin hb "
    "hba1c crp esr platelets leukocytes wbc rbc gfr egfr income einkommen revenu salary price cost kosten dose dosis "
    "duration dauer time zeit temps year years jahr jahre année ans año años months monate weeks wochen days tage "
    "hours stunden minutes percent prozent percentage ratio index level volume volumen mass length size area distance "
    "speed score thickness ml mg kg cm mm survival bmd spo2 saturation ph lactate sleep"
)
_NEVER_COUNTED = "cost costs kosten price duration dauer age rate score scale percent ratio"
_SCALED = "score scale bracket band quintile quartile decile tertile grade stage rating likert vas nrs category"
_DATED = "date datum fecha day time timestamp dob geburtsdatum birthdate admission admitted discharge visit_date"
_IDENTIFYING = (
    "id ids pid mrn uuid guid identifier identifiant identificador key fallnr seqn caseno patnr aktenzeichen nhc "
    "historia dossier ipp nhs hhid ssn chart folio expediente phone telefon telefono téléphone barcode"
)
_NUMBERED = re.compile(
    r"(?:.* )?(?:patient|pat|subject|participant|proband|record|case|fall|person|individual|study|sample|stay)"
    r"(?: (?:id|nr|no|number|nummer|code|num))?|(?:nr|no|n|nº|number|nummer|numero|número|numéro)|.*nummer"
    r"|(?:hospital|hosp|nhs|file|folder|unit) (?:no|nr|number)"
)
_WORD = re.compile(r"[A-ZÄÖÜÀ-Þ]+(?![a-zß-ÿ])|[A-ZÄÖÜÀ-Þ]?[a-zß-ÿ]+|[0-9]+")


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case: `LeftHand_size2` holds left, hand, size and 2."""
    return [word.casefold() for word in _WORD.findall(name)]


def _names(listed: str, name: str) -> bool:
    return not set(listed.split()).isdisjoint(words_of(name))


def looks_coded(name: str) -> bool:
    """Return whether the name is one of codes without an order, such as `region` or `treatment_arm`."""
    return _names(_CODED, name) and not _names("severity grade stage score stadium schweregrad", name)


def looks_counted(name: str) -> bool:
    """Return whether the name is one of counts, such as `n_falls`, `Anzahl Medikamente` or `visits_last_year`."""
    return _names(_COUNTED, name) and not _names(_NEVER_COUNTED, name)


def looks_measured(name: str) -> bool:
    """Return whether the name is one of measurements, such as `age` or `heart_rate`."""
    return _names(_MEASURED, name) and not looks_counted(name) and not _names(_SCALED, name)


def looks_dated(name: str) -> bool:
    """Return whether the name is one of dates."""
    return _names(_DATED, name)


def looks_identifying(name: str) -> bool:
    """Return whether the name is one of identifiers, such as `patient_id` or `CaseNo`."""
    return _names(_IDENTIFYING, name) or _NUMBERED.fullmatch(" ".join(words_of(name))) is not None
