"""What levels say of outcomes: who died, and what became of a disease or of a stay, in five languages."""

from __future__ import annotations

from collections.abc import Sequence

from clinclust.drafting.redundancy.names import words, words_of

__all__ = ["are_courses", "are_vital", "say_who_died"]

_ALIVE = words_of(
    """alive living lives lebt lebend lebendig vivant vivante vivo viva vivos survived survivor uberlebt lived
    survives"""
)
_SURELY_DEAD = words_of(
    """died deceased death gestorben verstorben tod exitus letalis deces decede decedee dcd muerte fallecido
    fallecida fallecimiento decesso deceduto deceduta morte obito"""
)
_DEAD = _SURELY_DEAD | words_of("dod dead tot mort morto morta muerto muerta nonsurvivor expired")
_BESIDE_DEAD = words_of("lost to follow up ltfu of from disease other cause causes with without ned awd non not")
_BESIDE_DEATH = words_of(
    """in im hospital hosp krankenhaus hopital icu intensiv of from the disease tumor tumour cancer other cause
    causes related e ee patient patientin durch am an a l al en by early late fruh"""
)
_ENDS = words_of(
    """alive home discharged discharge rehab rehabilitation transfer transferred hospice snf ltach recovered recovery
    cured remission relapse progress progression stable improved worse hause reha verlegung verlegt pflegeheim
    geheilt entlassen domicile domicilio ssr transfert transfere guerison gueri alta traslado curado curacion
    mejoria guarito trasferito dimesso lebt vivo viva vivant vivante favorable desfavorable defavorable recidiva
    recidive rezidiv ruckfall verbessert"""
)
"""Words for other ends of a disease or a stay, beside which `dead`, `tot` and `expired` are said of the patient."""
_COURSES = words_of(
    """acute akut aigu aigue aguda agudo acuta acuto subacute subaigu subaigue subaguda subacuta chronic chronisch
    chronique cronica cronico chronical progressive progresiva progresivo progressiva progressivo rapide rapida
    lente lenta brutale brusque brusca insidieuse insidiosa intermittente intermitente continue continua
    fluctuante paroxystique relapsing remitting secondary primary poussees brotes progressif aigus chroniques
    stationnaire"""
)


def are_vital(levels: Sequence[str]) -> bool:
    """Return whether levels say who is alive and who died, such as ``alive`` and ``dead of disease``."""
    said = [set(words(level)) for level in levels]
    if not 2 <= len(said) <= 6 or not any(one & _DEAD or {"non", "survivor"} <= one for one in said):
        return False
    known = _ALIVE | _DEAD | _BESIDE_DEAD
    return any(one & _ALIVE or one & {"non", "not"} for one in said) and all(one and one <= known for one in said)


def say_who_died(levels: Sequence[str]) -> bool:
    """Return whether one of the levels says that the patient died, whatever the others are: ``home``, ``died``.

    Examples
    --------
    >>> from clinclust.drafting.redundancy.outcome_levels import say_who_died
    >>> [say_who_died(levels) for levels in (["Reha", "verstorben"], ["home", "expired"], ["dead", "slow"])]
    [True, True, False]
    """
    said = [set(words(level)) for level in levels]
    if len(said) < 2:
        return False
    deaths = [one for one in said if one & _DEAD and one <= _DEAD | _BESIDE_DEATH]
    if any(one & _SURELY_DEAD for one in deaths):
        return True
    return bool(deaths) and any(one & _ENDS for one in said if one not in deaths)


def are_courses(levels: Sequence[str]) -> bool:
    """Return whether levels say how a disease began or runs, and not how it ended: ``acute``, ``relapsing``."""
    return any(set(words(level)) & _COURSES for level in levels)
