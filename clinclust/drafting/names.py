"""What the name of a column says of it, in English, German, French, Spanish, Italian, Dutch and Portuguese.

A name decides only where the values leave two possibilities: numbers that could be codes or a scale, counts or
measurements.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise

__all__ = [
    "is_called_a_count",
    "looks_coded",
    "looks_counted",
    "looks_dated",
    "looks_felt",
    "looks_identifying",
    "looks_lasting",
    "looks_measured",
    "looks_postal",
    "words_of",
]

_POSTAL = "zip zipcode zip3 zip5 postcode postal postleitzahl plz cp cap postcodes cep"
_CODED = (
    "race ethnic ethnicity ethnie ethnia region regio centre center country nation pays pais province county district "
    "zip postcode postal plz religion occupation profession beruf marital civil familienstand type typ tipo kind code "
    "group gruppe groupe grupo treatment therapy diagnosis diagnose icd category kategorie categorie species "
    "department insurance provider interviewer cluster target phenotype histology genotype serotype vertebra cohort "
    "cohorte protocol"
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
_COUNTED = (
    "n no num number total drinks doctor mdvis joints teeth lesions times count counts cups glasses packs pads "
    "executions bills copies points"
)
"""Words that make a count more likely."""
_CALLED_A_COUNT = (
    "number anzahl zahl nombre nb nbre numero num nro count counts visits visites visitas visite besuche "
    "arztbesuche consultations consultas consulte children kinder enfants hijos figli kinderen filhos siblings "
    "geschwister births geburten parity paritat parite paridad parita pariteit paridade gravidity gravida "
    "gravidade gestaciones gestite gesta embarazos grossesses schwangerschaften pregnancies pregnancy abortions "
    "abortos aborti fehlgeburten falls sturze chutes caidas cadute quedas vallen episodes episoden episodios "
    "episodi attacks anfalle crises crisis ataques seizures hypos hypoglycaemias admissions hospitalisations "
    "hospitalizations hospitalizaciones ingresos ricoveri opnames internacoes aufenthalte readmissions nodes "
    "lk ganglions ganglios linfonodi lymphknoten polyps metastases metastasen stents exacerbations exazerbationen "
    "exacerbaciones infections infektionen infecciones infezioni relapses schube poussees brotes rezidive "
    "recidives ricadute recaidas cigarettes zigaretten cigarrillos cigs sigarette sigaretten medications "
    "medikamente medicaments medicamentos farmaci farmacos medicijnen drugs drogues pills tabletten operations "
    "operationen ops operaciones interventi surgeries events ereignisse evenements eventos eventi comorbidities "
    "komorbiditaten comorbidites comorbilidades comorbidita household haushalt hogar foyer doses dosen attempts "
    "versuche tentatives intentos tentativi partners partner partenaires parejas brothers sisters transfusions "
    "transfusionen transfusiones trasfusioni stools stuhle stuhlgange selles deposiciones scariche tried "
    "procedures eingriffe stays prior_lines infiltrations injections injektionen inyecciones cycles zyklen cicli "
    "ciclos sessions sitzungen seances sesiones sedute awakenings arousals urgencias emergencias notfalle "
    "urgences accessi arztkontakte krankenhausaufenthalte tropfen bottles biologics dmards antihypertensives "
    "antihypertenseurs"
)
"""Words that say that a column is a count, which its values then only shape."""
_MEASURED = (
    "age alter edad weight gewicht poids peso height groesse größe taille talla bmi imc waist hip pressure blutdruck "
    "tension sbp dbp systolic diastolic bp pulse puls heart rate frequency temperature temp fieber glucose "
    "cholesterol hdl ldl triglycerides creatinine kreatinin urea sodium potassium calcium hemoglobin haemoglobin hb "
    "hba1c crp esr platelets leukocytes wbc rbc gfr egfr income einkommen revenu salary price cost kosten dose dosis "
    "duration dauer time zeit temps year years jahr jahre année ans año años months monate weeks wochen days tage "
    "hours stunden minutes percent prozent percentage ratio index level volume volumen mass length size area distance "
    "speed score thickness ml mg kg cm mm survival bmd spo2 saturation ph lactate sleep min mins sec secs hr hrs "
    "umol mmol nmol pmol iu ui kpa mmhg bpm pct prozentsatz pourcentage porcentaje percentuale procent percentagem sat "
    "sao2 fio2 pao2 paco2 pco2 po2 fev1 fvc lvef ef fevg fraction iop iod pio io bsa ki67 gehstrecke distanz distancia "
    "distanza afstand anos eta idade leeftijd edades peso altezza altura lengte gewicht pressione presion tensione "
    "bloeddruk frequenza frequentie frecuencia fc pas pad temperatura temperatuur glucosa glicemia glycemie glukose "
    "colesterolo colesterol cholesterin creatinina creatinine urea harnstoff sodio natrium kalium potasio calcio "
    "hemoglobina hamoglobin emoglobina hemoglobine plaquetas thrombozyten plaquettes piastrine leukozyten leucocitos "
    "leucociti albumin albumina albumine ferritin ferritina bilirubin bilirrubina bilirubina alt ast ggt ldh tsh psa "
    "mcv hct hematocrit giorni mesi settimane ore minuti dias semanas horas minutos jours semaines mois heures uren "
    "dagen weken maanden jaren tempo durata duracion duracao duree duur dosi dosaggio dosis los ct waarde valor"
)
_NEVER_COUNTED = (
    "cost costs kosten price duration dauer duree duracion age rate score scale percent pct ratio severity grade stage "
    "type typ tipo class status size index ratio density efficacy level dose mg ml date reason"
)
_HOUSEHOLD = "household haushalt haushaltsgrosse hogar foyer family familie famille familia famiglia gezin"
"""Words whose size is a count."""
_MEASURED_ENDINGS = (
    "dauer zeit spiegel druck gewicht lange breite hohe dicke strecke prozent konzentration volumen frequenz "
    "temperatur umfang durchmesser grosse wert"
)
_COUNTED_ENDINGS = "anzahl besuche tage aufenthalte medikamente"
"""How German compounds end that name a measurement, or a count."""
_SCALED = "score scale bracket band quintile quartile decile tertile grade stage rating likert vas nrs category"
_FELT = (
    "pain schmerz schmerzen douleur douleurs dolor dolore dor pijn fatigue mudigkeit cansancio stanchezza fadiga "
    "vermoeidheid nausea nauseas nausee ubelkeit misselijkheid dyspnoea dyspnea dyspnee dispnea luftnot atemnot "
    "itch pruritus juckreiz prurit prurito jeuk anxiety angst anxiete ansiedad ansia ansiedade stress stiffness "
    "steifigkeit raideur rigidez rigidita stijfheid sleepiness drowsiness craving wellbeing appetite"
)
"""Symptoms of which people say how much; the numbers are steps of a scale."""
_LASTING = "duration dur dauer duree duracion durata duur duracao length los elapsed sleep schlaf stay tst latency"
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
    if _names("severity grade stage score stadium schweregrad", name):
        return False
    words = {word for word in words_of(name) if not word.isdigit()}
    alone = bool(words & _listed(_CODED_ALONE)) and words <= _listed(f"{_CODED_ALONE} {_BESIDE_CODED}")
    return alone or _names(_CODED, name)


def looks_felt(name: str) -> bool:
    """Return whether the name is one of symptoms, of which people say how much: `pain`, `Fatigue`, `Luftnot`."""
    return _names(_FELT, name)


def looks_counted(name: str) -> bool:
    """Return whether the name is one of counts, such as `n_falls`, `Anzahl Medikamente` or `visits_last_year`."""
    return is_called_a_count(name) or (_names(_COUNTED, name) and not _names(_NEVER_COUNTED, name))


def is_called_a_count(name: str) -> bool:
    """Return whether the name says what is counted, or that something is: `n_falls`, `paridad`, `nb_médicaments`."""
    words = words_of(name)
    begins = len(words) > 1 and words[0] in ("n", "nr", "no") and len(words[1]) > 2
    called = begins or _names(_CALLED_A_COUNT, name) or _ends(_COUNTED_ENDINGS, name)
    return called and (_names(_HOUSEHOLD, name) or not _names(_NEVER_COUNTED, name))


def looks_measured(name: str) -> bool:
    """Return whether the name is one of measurements, such as `age` or `heart_rate`."""
    measured = _names(_MEASURED, name) or _ends(_MEASURED_ENDINGS, name)
    return measured and not looks_counted(name) and not _names(_SCALED, name)


def looks_lasting(name: str) -> bool:
    """Return whether the name says that a time is a duration, and no time of day: `sleep_duration`, `OP-Dauer`."""
    return _names(_LASTING, name) or _ends("dauer", name)


def looks_postal(name: str) -> bool:
    """Return whether the name is one of postal codes."""
    return _names(_POSTAL, name)


def looks_dated(name: str) -> bool:
    """Return whether the name is one of dates."""
    return _names(_DATED, name)


def looks_identifying(name: str) -> bool:
    """Return whether the name is one of identifiers, such as `patient_id` or `CaseNo`."""
    return _names(_IDENTIFYING, name) or _NUMBERED.fullmatch(" ".join(words_of(name))) is not None
