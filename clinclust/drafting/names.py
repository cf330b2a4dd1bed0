"""What the name of a column says of it, in English, German, French, Spanish, Italian, Dutch and Portuguese.

A name decides only where the values leave two possibilities: numbers that could be codes or a scale, counts or
measurements.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise

from clinclust.drafting.count_names import CALLED_COUNTS, COUNTED_ENDINGS, PERIODS

__all__ = [
    "ends_as_a_number",
    "is_called_a_count",
    "is_counted_a_period",
    "looks_classified",
    "looks_coded",
    "looks_counted",
    "looks_dated",
    "looks_felt",
    "looks_graded",
    "looks_identifying",
    "looks_lasting",
    "looks_measured",
    "looks_postal",
    "looks_scored",
    "names_a_code",
    "names_a_unit",
    "names_somebody",
    "words_of",
]

_POSTAL = "zip zipcode zip3 zip5 postcode postal postleitzahl plz cap postcodes cep"
_CODED = (
    "raca raza razza ras rasse icd ichd atc ops cid codice codigo codes loinc snomed cpt drg etnia herkunft origine "
    "origin herkomst race ethnic ethnicity ethnie ethnia region regio centre center country nation pays pais province "
    "county district religion occupation profession beruf marital civil familienstand type typ "
    "tipo kind code group gruppe groupe grupo treatment therapy diagnosis diagnose category kategorie categorie "
    "species department insurance provider interviewer cluster target phenotype histology genotype serotype vertebra "
    "cohort cohorte protocol"
)
_CODED_ALONE = (
    "site hospital clinic ward school land state city job arm drug cause reason grund mode physician doctor nurse "
    "batch plate lab machine device scanner language sprache team bed lumbar nerve study studie etude"
)
"""Words that name codes where no other word says what is meant: `arm`, but not `rigidity_left_arm`."""
_BESIDE_CODED = (
    "study trial treatment treated treating randomised randomized allocated assigned code codes id nr no number num "
    "name of at for the birth residence home death admission admitting admitted referring recruiting recruitment "
    "enrolment enrollment main primary first second level native spoken mother treated attending family"
)
_SKIN = "skin haut hauttyp piel pelle peau huid huidtype pele fototipo phototype phototyp fitzpatrick"
_COUNTED = (
    "n no num number total drinks doctor mdvis joints teeth lesions times count counts cups glasses packs pads "
    "executions bills copies points"
)
"""Words that make a count more likely."""
_MEASURED = (
    "age alter edad weight gewicht poids peso height groesse größe taille talla bmi imc waist hip pressure blutdruck "
    "tension sbp dbp systolic diastolic bp pulse puls heart rate frequency temperature temp fieber glucose "
    "cholesterol hdl ldl triglycerides creatinine kreatinin urea sodium potassium calcium hemoglobin haemoglobin hb "
    "hba1c crp esr platelets leukocytes wbc rbc gfr egfr income einkommen revenu salary price cost kosten dose dosis "
    "duration dauer time zeit temps year years jahr jahre année ans año años months monate weeks wochen days tage "
    "hours stunden minutes percent prozent percentage ratio index level volume volumen mass length size area distance "
    "speed score thickness ml mg kg cm mm survival bmd spo2 saturation ph lactate sleep min mins sec secs hr hrs umol "
    "mmol nmol pmol iu ui kpa mmhg bpm pct prozentsatz pourcentage porcentaje percentuale procent percentagem sat "
    "resp breaths respiration atemfrequenz af rr fr sao2 fio2 pao2 paco2 pco2 po2 fev1 fvc lvef ef fevg fraction iop "
    "iod pio io bsa ki67 gehstrecke distanz distancia distanza afstand anos eta idade leeftijd edades altezza altura "
    "lengte pressione presion tensione bloeddruk frequenza frequentie frecuencia fc pas pad temperatura temperatuur "
    "glucosa glicemia glycemie glukose colesterolo colesterol cholesterin creatinina harnstoff sodio natrium kalium "
    "potasio calcio hemoglobina hamoglobin emoglobina hemoglobine plaquetas thrombozyten plaquettes piastrine "
    "leukozyten leucocitos leucociti albumin albumina albumine ferritin ferritina bilirubin bilirrubina bilirubina "
    "alt ast ggt ldh tsh psa mcv hct hematocrit giorni mesi settimane ore minuti dias semanas horas minutos jours "
    "semaines mois heures uren dagen weken maanden jaren tempo durata duracion duracao duree duur dosi dosaggio los "
    "ct waarde valor"
)
_NEVER_COUNTED = (
    "cost costs kosten price duration dauer duree duracion age rate score scale percent pct ratio severity grade stage "
    "type typ tipo class status size index ratio density efficacy level dose mg ml date reason"
)
_HOURS = "hours hour hrs h stunden std heures horas ore uren uur minutes minuten minutos minuti min"
_CLASSIFIED = "code codes codice codigo kode icd ichd cid atc ops drg snomed loinc"
"""Words for the codes of a classification, which may hold points: `1.2` of ICHD-3."""
_HOUSEHOLD = "household haushalt haushaltsgrosse hogar foyer family familie famille familia famiglia gezin"
"""Words whose size is a count."""
_MEASURED_ENDINGS = (
    "dauer zeit spiegel druck gewicht lange breite hohe dicke strecke prozent konzentration volumen frequenz "
    "temperatur umfang durchmesser grosse wert"
)
"""How German compounds end that name a measurement."""
_SCALED = (
    "ctcae grado grad grau graad stadio stadium stade estadio estagio score scale bracket band quintile quartile "
    "decile tertile grade stage rating likert vas nrs category"
)
_FELT = (
    "pain schmerz schmerzen douleur douleurs dolor dolore dor pijn fatigue mudigkeit cansancio stanchezza fadiga "
    "vermoeidheid nausea nauseas nausee ubelkeit misselijkheid dyspnoea dyspnea dyspnee dispnea luftnot atemnot "
    "itch pruritus juckreiz prurit prurito jeuk anxiety angst anxiete ansiedad ansia ansiedade stress stiffness "
    "steifigkeit raideur rigidez rigidita stijfheid sleepiness drowsiness craving wellbeing appetite"
)
"""Symptoms of which people say how much; the numbers are steps of a scale."""
_SCORED = (
    "summe sum fragebogen questionnaire vragenlijst cuestionario questionario score scores gesamtscore summenscore "
    "totalscore subscore scale skala scala escala echelle schaal punteggio puntuacion puntaje pontuacao escore "
    "punktzahl punktwert summenwert gesamtpunkte rating likert"
)
"""Words for the total of an instrument."""
_GRADES = (
    "grade grado grad grau graad stage stadium stadio stade estadio estagio ctcae severity schweregrad gravite "
    "gravedad gravidade gravita ernst level niveau nivel livello likert intensity intensite intensidad intensidade "
    "intensita"
)
_LASTING = "duration dur dauer duree duracion durata duur duracao length los elapsed sleep schlaf stay tst latency"
_DATED = "date datum fecha day time timestamp dob geburtsdatum birthdate admission admitted discharge visit_date"
_IDENTIFYING = (
    "id ids pid mrn uuid guid identifier identifiant identificador key fallnr seqn caseno patnr aktenzeichen nhc "
    "historia dossier ipp nhs hhid ssn chart folio expediente phone telefon telefono téléphone barcode matricule "
    "matricula matrikel prontuario ficha cartella notific notificacao registro pseudonym pseudonyme pseudonimo "
    "seudonimo pseudoniem lfdnr laufnummer lfd patientennr patientnr kindnr casenr aktennr fallnummer fascicolo "
    "accession cedula dni nif cpf cns bsn legajo nir nss cip enrolment enrollment patnum idpaz idpat patid subjid "
    "usubjid studyid pseudo versichertennummer pasnr zaaknummer dossiernummer cartao rghc numpac"
)
_NUMBERED = re.compile(
    r"(?:.* )?(?:patient|pat|subject|participant|proband|record|case|fall|person|individual|study|sample|stay)"
    r"(?: (?:id|nr|no|number|nummer|code|num))?|(?:nr|no|n|nº|number|nummer|numero|número|numéro)|.*nummer"
    r"|(?:hospital|hosp|nhs|file|folder|unit) (?:no|nr|number)"
    r"|(?:n|no|nr|num|numero|nummer) (?:de |del |di |do |du |da )?(?:caso|cas|fall|casus|paziente|paciente|"
    r"patient|dossier|historia|registro|cartella|ficha|prontuario|inclusion|ordre|orden|ordem|ordine|sujet|sujeto)"
)
_SUBJECT = (
    r"(?:patient|patients|patientin|pat|subject|participant|proband|teilnehmer|paziente|paciente|soggetto|sujet|sujeto|"
    r"case|person|individual|fall|record)"
)
_CODE_OF_A_SUBJECT = re.compile(
    rf"(?:cod|codice|codigo|code|kode|key|nummer|numero|num|nr|no|n|id) (?:de |del |di |do |du |la |of |le )?{_SUBJECT}"
    rf"|{_SUBJECT} (?:cod|codice|codigo|code|kode|key|id|nr|no|number|nummer|num)"
)
_RATED = (
    "vas nrs eva vrs globalurteil globaleinschatzung gesamturteil score scale skala scala escala echelle pain "
    "schmerz schmerzen dolor dolore douleur rating rated assessment assessed bewertung beurteilung einschatzung urteil "
    "evaluation valutazione evaluacion valoracion giudizio jugement opinion satisfaction zufriedenheit satisfazione "
    "satisfaccion fatigue mudigkeit likert pga ptga pgic thermometer"
)
"""Words for what a patient rates: `VAS Patient` is no identifier."""
_UNIT = re.compile(
    r"%|(?<![^\W\d_])(?:(?:[mµμukdcn]|mc)?(?:g|gr|l|L|mol|m)(?:/[^\W\d_]+|[²³])|[mµμnpkf]g|mcg|ug|[mdcµμu]l|mL|dL|cc|"
    r"[mµμnp]mol|[cm]m|mmHg|cmH2O|cmH₂O|kPa|hPa|bar|ppb|ppm|dB|kHz|Hz|[km]?IU|[km]?IE|[km]?UI|[km]?U/m?[lL]|kU/L|kcal|"
    r"kJ|mSv|mGy|cGy|Gy|mV|µV|mA|[km]W|[wW]att|rpm|bpm|/min|°C|°|ppm|pct|mEq)(?![^\W\d_])"
    r"|(?<![^\W\d_])g (?=per |pro |par |por |al |/)"
)
_WORD = re.compile(r"[A-ZÄÖÜÀ-Þ]+(?![a-zß-ÿ])|[A-ZÄÖÜÀ-Þ]?[a-zß-ÿ]+|[0-9]+")


def words_of(name: str) -> list[str]:
    """Return the words of a name without case and accents: `LeftHand_größe2` holds left, hand, grosse and 2."""
    return [_folded(word) for word in _WORD.findall(unicodedata.normalize("NFC", name))]


def _folded(word: str) -> str:
    apart = unicodedata.normalize("NFKD", word.casefold())
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


@cache
def _listed(words: str) -> frozenset[str]:
    return frozenset(_folded(words).split())


def _names(listed: str, name: str) -> bool:
    """Return whether a word of the name, or a word with the number behind it (`SpO2`), is listed."""
    words = words_of(name)
    pairs = [first + second for first, second in pairwise(words)]
    return not _listed(listed).isdisjoint([*words, *pairs])


def _ends(listed: str, name: str) -> bool:
    return any(word.endswith(ending) and word != ending for word in words_of(name) for ending in _listed(listed))


def looks_coded(name: str) -> bool:
    """Return whether the name is one of codes without an order, such as `region` or `treatment_arm`."""
    if _names(_SKIN, name):
        return False  # the types of skin by Fitzpatrick have an order
    if _names("severity grade stage score stadium schweregrad", name):
        return False
    words = {word for word in words_of(name) if not word.isdigit()}
    alone = bool(words & _listed(_CODED_ALONE)) and words <= _listed(f"{_CODED_ALONE} {_BESIDE_CODED}")
    return alone or _names(_CODED, name)


def looks_felt(name: str) -> bool:
    """Return whether the name is one of symptoms, of which people say how much: `pain`, `Fatigue`, `Luftnot`."""
    return _names(_FELT, name)


def looks_classified(name: str) -> bool:
    """Return whether the name is one of codes of a classification, such as `ICD_code`."""
    return _names(_CLASSIFIED, name)


def looks_counted(name: str) -> bool:
    """Return whether the name is one of counts, such as `n_falls`, `Anzahl Medikamente` or `visits_last_year`."""
    return is_called_a_count(name) or (_names(_COUNTED, name) and not _names(_NEVER_COUNTED, name))


def is_called_a_count(name: str) -> bool:
    """Return whether the name says what is counted, or that something is: `n_falls`, `paridad`, `nb_médicaments`."""
    words = words_of(name)
    begins = len(words) > 1 and words[0] in ("n", "nr", "no") and len(words[1]) > 2
    called = begins or _names(CALLED_COUNTS, name) or _ends(COUNTED_ENDINGS, name)
    if not called or names_a_unit(name):
        return False
    return _names(_HOUSEHOLD, name) or not _names(_NEVER_COUNTED, name)


def is_counted_a_period(name: str) -> bool:
    """Return whether the name says how often in a period: `curas por semana`, `Anfälle/Monat`, `drinks per week`."""
    period = "|".join(sorted(_listed(PERIODS), key=len, reverse=True))
    folded = _folded(unicodedata.normalize("NFC", name)).replace("_", " ")
    if names_a_unit(name) or _names(_HOURS, name) or _names(_NEVER_COUNTED, name):
        return False
    return re.search(rf"(?:\b(?:per|pro|par|por|al|alla|a la|x|je)\s+|/\s*)(?:{period})\b", folded) is not None


def names_a_unit(name: str) -> bool:
    """Return whether the name holds the unit of a measurement: `residual_ml`, `SpO2 (%)`, `FeNO ppb`, `dose mg/day`."""
    return _UNIT.search(unicodedata.normalize("NFC", name)) is not None


def names_a_percentage(name: str) -> bool:
    """Return whether the name says that the numbers are percentages: `ER %`, `Ki67_percent`."""
    return "%" in name or _names("percent percentage pct prozent pourcent pourcentage porcentaje percentuale", name)


def looks_measured(name: str) -> bool:
    """Return whether the name is one of measurements, such as `age` or `heart_rate`."""
    measured = _names(_MEASURED, name) or _ends(_MEASURED_ENDINGS, name)
    if names_a_unit(name) and not _names(_SCALED, name):
        return True
    return measured and not looks_counted(name) and not _names(_SCALED, name)


def looks_graded(name: str) -> bool:
    """Return whether the name is one of grades, stages or scores, which few whole numbers then are."""
    return _names(_GRADES, name) or looks_scored(name)


def looks_scored(name: str) -> bool:
    """Return whether the name is one of totals of an instrument, such as `pain_score` or `punteggio`."""
    return _names(_SCORED, name) and not _names("z t zscore tscore", name)


def looks_lasting(name: str) -> bool:
    """Return whether the name says that a time is a duration, and no time of day: `sleep_duration`, `OP-Dauer`."""
    return _names(_LASTING, name) or _ends("dauer", name)


def looks_postal(name: str) -> bool:
    """Return whether the name may be one of postal codes; the values decide (`clinclust.drafting.unmodelled`)."""
    return _names(_POSTAL, name) and not looks_measured(name)  # `income_zip` is an income


def names_a_year(name: str) -> bool:
    """Return whether the name is one of calendar years: `Year of diagnosis`, `Diagnosi (anno)`, `gebjahr`, `yob`."""
    return _names("year years anno anni annee annees ano anos jahrgang yob birthyear", name) or _ends(
        "year jahr jaar", name
    )


def looks_dated(name: str) -> bool:
    """Return whether the name is one of dates."""
    return _names(_DATED, name)


def ends_as_a_number(name: str) -> bool:
    """Return whether the name ends with a word for number, as those of identifiers do: `kindnr`, `Sample No`."""
    words = words_of(name)
    return (len(words) > 1 and words[-1] in ("nr", "no", "num", "nummer", "numero")) or _ends("nr nummer", name)


def looks_identifying(name: str) -> bool:
    """Return whether the name is one of identifiers, such as `patient_id` or `CaseNo`, and of nothing that is rated."""
    if _names(_RATED, name):
        return False
    return _names(_IDENTIFYING, name) or _NUMBERED.fullmatch(" ".join(words_of(name))) is not None or names_a_code(name)


def names_a_code(name: str) -> bool:
    """Return whether the name is one of the numbers or codes of subjects: `Cod. paziente`, `Pat.-Nr`."""
    return _CODE_OF_A_SUBJECT.fullmatch(" ".join(words_of(name))) is not None


def names_somebody(name: str) -> bool:
    """Return whether the name ends with a word for a subject, and says before it what is meant: `EVA patient`."""
    words = words_of(name)
    return len(words) > 1 and re.fullmatch(_SUBJECT, words[-1]) is not None and not names_a_code(name)
