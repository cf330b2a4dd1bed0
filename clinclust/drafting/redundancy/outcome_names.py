"""What names and levels say of outcomes: death, relapse, readmission, and the times to them, in five languages."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from clinclust.drafting.redundancy.names import words, words_of

__all__ = ["are_vital", "is_label_name", "is_outcome_name", "is_paired", "is_surely_outcome_name", "is_time_name"]

_SURE = words_of(
    """outcome died dead death deaths deceased mortality survived survivor survival alive mace relapse recurrence
    readmission readmitted rehospitalisation rehospitalization rehospitalised rehospitalized
    gestorben verstorben verstarb tod todesfall mortalitat letalitat uberlebt uberleben rezidiv wiederaufnahme
    rehospitalisierung vitalstatus
    deces decede decedee mort mortalite survie rechute recidive
    exitus fallecimiento fallecido fallecida muerte muerto mortalidad supervivencia desenlace recaida defuncion
    reingreso decesso deceduto deceduta morte sopravvivenza ricaduta recidiva riammissione decedat"""
)
_PERHAPS = words_of("diagnosis dx target diagnose zielgrosse vital progression diagnostic issue diagnostico")
_LABELS = words_of(
    """class label cluster group subtype phenotype klasse gruppe etikett subtyp classe groupe etiquette
    clase grupo etiqueta subtipo"""
)
_BESIDE = words_of("true known final primary main clinical patient disease real actual is has the")
_OTHERWISE = words_of(
    """age at since before time date year years jahr ano annee family history father mother parent sibling alter bei
    seit vor familie delai avant depuis pere mere famille edad desde antes padre madre familia blood treatment
    previous prior prev past hx anamnese vorherig fruher fruhere antecedent antecedents antecedente antecedentes
    risk risiko risque riesgo score predicted pred prob probability expected rate fear angst"""
)
_EVENTS = words_of("event events ereignis evento evenement censor censored cens censoring zensiert fustat")
_BESIDE_EVENTS = words_of("os pfs dfs rfs efs mfs css dss mace death cv primary secondary status indicator d day days")
_ABBREVIATED = words_of("os pfs dfs rfs efs mfs css dss lfs ttp ttf tte")
_SURVIVAL = words_of(
    """survival surv survie supervivencia sopravvivenza uberleben uberlebenszeit survtime survivaltime futime stime
    timetoevent"""
)
_FOLLOWED = words_of("followup fu fup suivi seguimiento nachbeobachtung nachbeobachtungszeit beobachtungszeit")
_TIMES = words_of(
    """time times month months mo mon day days d year years yrs y m week weeks wk wks duration length zeit dauer monate
    monaten tage tagen jahre jahren wochen mois jours ans annees semaines duree temps delai meses dias anos semanas
    tiempo mesi giorni anni tempo settimane"""
)
_SMALL = words_of("in of the to until till bis hasta jusqu a au al fino de del di la el il overall free total max")
_OF_SURVIVAL = words_of("progression disease event relapse recurrence failure specific cancer metastasis status cens")
_ENDPOINTS = words_of(
    """event death relapse progression recurrence failure readmission mace exitus tod todesfall verstorben deces rechute
    muerte fallecimiento recaida morte decesso evento ereignis evenement last censoring censor"""
)
_TOWARDS = words_of("to until till bis hasta jusqu al fino")
_TIME_OF_PAIR = words_of("time futime stime t days months")
_EVENT_OF_PAIR = words_of("status event cens censor censored fustat died death")
_ALIVE = words_of(
    """alive living lives lebt lebend lebendig vivant vivante vivo viva vivos survived survivor uberlebt lived
    survives"""
)
_DEAD = words_of(
    """dead died deceased death tot gestorben verstorben decede decedee mort morte muerto muerta fallecido fallecida
    exitus deceduto deceduta morto nonsurvivor"""
)
_BESIDE_DEAD = words_of("lost to follow up ltfu of from disease other cause causes with without ned awd dod non not")


def is_surely_outcome_name(name: str) -> bool:
    """Return whether a name is that of an outcome whatever the column holds, such as ``death_30d`` or ``Rezidiv``."""
    said = {word for word in words(name) if not word.isdigit()}
    if said & _EVENTS and said <= _EVENTS | _BESIDE_EVENTS:
        return True
    is_status = {"vital"} < said and bool(said & words_of("status stat etat estado stato"))
    return (bool(said & _SURE) or is_status) and not said & _OTHERWISE


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
    return bool(said & (_SURVIVAL | _TIMES | _OF_SURVIVAL)) or said == {"pfs"}


def is_paired(name: str, others: Collection[str]) -> bool:
    """Return whether a name such as ``time`` stands beside one such as ``status``: the two columns of a survival."""
    said = " ".join(words(name))
    beside = {" ".join(words(other)) for other in others}
    if said in _TIME_OF_PAIR:
        return bool(_EVENT_OF_PAIR & beside)
    return said in _EVENT_OF_PAIR and bool(_TIME_OF_PAIR & beside)


def are_vital(levels: Sequence[str]) -> bool:
    """Return whether levels say who is alive and who died, such as ``alive`` and ``dead of disease``."""
    said = [set(words(level)) for level in levels]
    if not 2 <= len(said) <= 6 or not any(one & _DEAD or {"non", "survivor"} <= one for one in said):
        return False
    known = _ALIVE | _DEAD | _BESIDE_DEAD
    return any(one & _ALIVE or one & {"non", "not"} for one in said) and all(one and one <= known for one in said)
