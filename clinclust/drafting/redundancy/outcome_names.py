"""What names say of outcomes: death, relapse, readmission, discharge, and the times to them, in five languages."""

from __future__ import annotations

from collections.abc import Collection

from clinclust.drafting.redundancy.names import words, words_of

__all__ = [
    "is_course_name",
    "is_label_name",
    "is_of_another",
    "is_outcome_name",
    "is_paired",
    "is_surely_outcome_name",
    "is_time_name",
]

_SURE = words_of(
    """outcome died dead death deaths deceased mortality survived survivor survival alive mace relapse recurrence
    readmission readmitted rehospitalisation rehospitalization rehospitalised rehospitalized gestorben verstorben
    verstarb tod todesfall todesursache todesdatum todeszeitpunkt mortalitat letalitat sterblichkeit uberlebt
    uberleben rezidiv ruckfall wiederaufnahme wiederaufgenommen rehospitalisierung rehospitalisiert vitalstatus
    fatal letal letalis dcd mortalita riospedalizzazione deces decede decedee mort mortalite survie rechute
    recidive exitus fallecimiento fallecido fallecida muerte muerto mortalidad supervivencia desenlace recaida
    defuncion reingreso decesso deceduto deceduta morte sopravvivenza ricaduta recidiva riammissione decedat"""
)
_PERHAPS = words_of("diagnosis dx target diagnose zielgrosse vital progression diagnostic issue diagnostico")
_LABELS = words_of(
    """class label cluster group subtype phenotype klasse gruppe etikett subtyp classe groupe etiquette clase grupo
    etiqueta subtipo"""
)
_BESIDE = words_of("true known final primary main clinical patient disease real actual is has the")
_ALONE = words_of(
    """tot lebt lebend alive vivant vivante vivo viva esito progress progression progresion progressione progrediert
    krankheitsprogress tumorprogress"""
)
"""Words of outcomes that mean something else beside others: `lebt allein`, `bilirubin tot`, `esito biopsia`."""
_BESIDE_ALONE = words_of(
    """patient pat ja nein yn status stato at bei im of last letzt final finale clinical clinico clinica klinisch
    disease tumor tumour local lokal systemic radiological follow up followup fu verlauf discharge entlassung day
    days d tage month months m monate mois meses mesi year years y jahre giorni dias jours ricovero krankheit
    event icu hospital"""
)
_COURSES = words_of("evolution evolucion evoluzione")
_BESIDE_COURSE = words_of(
    "clinique clinica final finale favorable hospitaliere hospitalaria j a al alta sortie mois dias"
)
_LEAVING = words_of("discharge discharged entlassung sortie alta egreso dimissione ontslag")
_WHERE_TO = words_of(
    """disposition destination status to location mode type modalite art ziel nach wohin tipo motivo destino modalita
    condition etat estado stato bestemming"""
)
_OF_LEAVING = words_of("de del di d of at a al alla la patient pat hospital hospitalaria medica home")
_LEAVING_COMPOUNDS = tuple(
    f"entlass{middle}{end}" for middle in ("", "ungs") for end in ("art", "status", "ziel", "ort")
)
_COMPOUND_ENDINGS = ("sterblichkeit", "mortalitat", "letalitat")
_PERIODS = words_of("day days year years jahr jahre jahres an ans annee ano anos anno anni tag tage tages j d")
_OTHERS = words_of(
    """family familial familiar familiare familie famille familia famiglia father mother parent parents sibling
    brother sister vater vaters mutter eltern geschwister bruder schwester pere mere frere soeur padre madre
    hermano hermana fratello sorella partner spouse husband wife ehemann ehefrau witwe relative verwandte donor
    spender donneur donante donatore spendertyp fear angst peur miedo paura life lebensereignis tooth zahn dent"""
)
"""Words that say that somebody or something else died, or might: a donor, the father, a tooth, the fear of death."""
_OTHERWISE = _OTHERS | words_of(
    """age at since before time date year years jahr ano annee family history father mother parent sibling alter bei
    seit vor familie delai avant depuis pere mere famille edad desde antes padre madre familia blood treatment
    previous prior prev past hx anamnese vorherig fruher fruhere antecedent antecedents antecedente antecedentes
    familial familiar familiare count anzahl nombre numero number pensees ideas gedanken peur miedo paura index
    risk risiko risque riesgo score predicted pred prob probability expected rate fear angst"""
)
_EVENTS = words_of("event events ereignis evento evenement censor censored cens censoring zensiert fustat")
_BESIDE_EVENTS = words_of("os pfs dfs rfs efs mfs css dss mace death cv primary secondary status indicator d day days")
_ABBREVIATED = words_of("os pfs dfs rfs efs mfs css dss lfs ttp ttf tte")
_UNMISTAKABLE = words_of("pfs dfs rfs efs")
"""Abbreviations of survival times that mean nothing else: `os` is also the left eye and a bone."""
_SURVIVAL = words_of(
    """survival surv survie supervivencia sopravvivenza uberleben uberlebenszeit uberleb ueberleb ueberleben
    ueberlebenszeit ueberlebt survtime survivaltime futime stime
    timetoevent"""
)
_FOLLOWED = words_of(
    "followup fu fup suivi seguimiento nachbeobachtung nachbeobachtungszeit beobachtungszeit nachsorge nachsorgezeit"
)
_TIMES = words_of(
    """time times month months mo mon day days d year years yrs y m week weeks wk wks duration length zeit dauer
    monate monaten tage tagen jahre jahren wochen mois jours ans annees semaines duree temps delai meses dias anos
    semanas tiempo mesi giorni anni tempo settimane"""
)
_SMALL = words_of(
    """in of the to until till bis hasta jusqu a au al fino de del di la el il overall free total max letzte letzter
    last ultimo ultima derniere dernier"""
)
_OF_SURVIVAL = words_of("progression disease event relapse recurrence failure specific cancer metastasis status cens")
_ENDPOINTS = words_of(
    """progress progresion progressione ruckfall rezidiv recidive recidiva event death relapse progression recurrence
    failure readmission mace exitus tod todesfall verstorben deces rechute muerte fallecimiento recaida morte
    decesso evento ereignis evenement last censoring censor"""
)
_TOWARDS = words_of("to until till bis hasta jusqu al fino")
_TIME_OF_PAIR = words_of("time futime stime t days months")
_EVENT_OF_PAIR = words_of("status event cens censor censored fustat died death")


def is_surely_outcome_name(name: str) -> bool:
    """Return whether a name is that of an outcome whatever the column holds, such as ``death_30d`` or ``Rezidiv``.

    Examples
    --------
    >>> from clinclust.drafting.redundancy.outcome_names import is_surely_outcome_name
    >>> [is_surely_outcome_name(name) for name in ("1-year mortality", "Lebt", "Lebt allein", "risk of death")]
    [True, True, False, False]
    """
    said = _without_periods(words(name))
    if said & _EVENTS and said <= _EVENTS | _BESIDE_EVENTS:
        return True
    if said & _OTHERWISE:
        return bool(said & _ALONE) and said <= _ALONE | _BESIDE_ALONE
    if said & _ALONE and said <= _ALONE | _BESIDE_ALONE:
        return True
    is_status = "vital" in said and bool(said & words_of("status statut stat etat estado stato"))
    ends = any(word.endswith(_COMPOUND_ENDINGS) for word in said)
    return bool((said - _ALONE) & _SURE) or ends or is_status or _is_leaving(said)


def _without_periods(listed: list[str]) -> set[str]:
    """Return the words of a name without numbers, and without the period that a number counts: `1-year mortality`."""
    counted = {place + 1 for place, word in enumerate(listed) if word.isdigit()}
    return {
        word
        for place, word in enumerate(listed)
        if not word.isdigit() and not (place in counted and word in _PERIODS) and len(word) > 1
    }


def _is_leaving(said: set[str]) -> bool:
    """Return whether words say how, or where to, a patient left the hospital."""
    if any(word in _LEAVING_COMPOUNDS for word in said) or said == {"entlassung"}:
        return True
    return bool(said & _LEAVING and said & _WHERE_TO) and said <= _LEAVING | _WHERE_TO | _OF_LEAVING


def is_course_name(name: str) -> bool:
    """Return whether a name is that of what became of a disease, or of its course: ``évolution``, ``evolución``.

    The time that it has lasted is neither: ``durée d'évolution``.
    """
    said = _without_periods(words(name))
    return bool(said & _COURSES) and said <= _COURSES | _BESIDE_COURSE


def is_of_another(name: str) -> bool:
    """Return whether a name says that somebody or something else died, such as a donor or the father."""
    return bool(set(words(name)) & _OTHERS)


def is_outcome_name(name: str) -> bool:
    """Return whether a name may be that of an outcome or a diagnosis."""
    said = set(words(name))
    return is_surely_outcome_name(name) or (bool(said & _PERHAPS) and not said & _OTHERWISE)


def is_label_name(name: str) -> bool:
    """Return whether a name says label, class, group and nothing else: a blood group or a risk class is a feature."""
    said = {word for word in words(name) if not word.isdigit()}
    return bool(said & _LABELS) and said <= _LABELS | _BESIDE


def is_time_name(name: str) -> bool:
    """Return whether a name is that of the time to an outcome, such as ``os_months`` or ``time_to_event``.

    A delay such as ``time_to_treatment`` is none, and neither is what was measured at follow-up.

    Examples
    --------
    >>> from clinclust.drafting.redundancy.outcome_names import is_time_name
    >>> [is_time_name(name) for name in ("os_months", "follow_up_days", "time_to_treatment", "iop_os", "bmi_follow_up")]
    [True, True, False, False, False]
    """
    listed = [word for word in words(name) if not word.isdigit()]
    said = set(listed)
    if len(listed) > 2 and listed[0] in _TIMES and listed[1] in _TOWARDS and said & _ENDPOINTS:
        return True
    if {"follow", "up"} <= said or said & _FOLLOWED:
        timed = bool(said & _TIMES) or any(word.endswith("zeit") for word in said)
        return timed and said <= {"follow", "up"} | _FOLLOWED | _TIMES | _SMALL
    if not said & (_ABBREVIATED | _SURVIVAL) or not said <= (
        _ABBREVIATED | _SURVIVAL | _TIMES | _SMALL | _OF_SURVIVAL | {"status"}
    ):
        return False
    return bool(said & (_SURVIVAL | _TIMES | _OF_SURVIVAL)) or said <= _UNMISTAKABLE


def is_paired(name: str, others: Collection[str]) -> bool:
    """Return whether a name such as ``time`` stands beside one such as ``status``: the two columns of a survival.

    And whether ``OS`` stands beside other survival times, and not beside ``OD``, the other eye.
    """
    said = " ".join(words(name))
    beside = {" ".join(words(other)) for other in others}
    if said == "os":
        survivals = {word for other in beside for word in other.split()} & _UNMISTAKABLE
        return bool(survivals) and "od" not in beside
    if said in _TIME_OF_PAIR:
        return bool(_EVENT_OF_PAIR & beside)
    return said in _EVENT_OF_PAIR and bool(_TIME_OF_PAIR & beside)
