"""Columns that are outcomes, diagnoses or labels by their names, and depend on the features: no input for subtypes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.redundancy.columns import Columns
from clinclust.drafting.redundancy.finding import Redundancy
from clinclust.drafting.redundancy.names import words, words_of
from clinclust.drafting.redundancy.within import Within, correlatable, dependence_within
from clinclust.files.cell_text import shortened

__all__ = ["is_outcome_name", "outcome_columns"]

_MOST_LEVELS = 20
_OUTCOMES = words_of(
    """outcome diagnosis dx died dead death deceased mortality survived survivor survival target relapse recurrence
    diagnose gestorben verstorben tod todesfall mortalitat uberlebt zielgrosse rezidiv
    vital exitus fallecimiento decedat verstorben progression
    diagnostic deces decede mort mortalite survie issue rechute
    diagnostico fallecido muerte mortalidad supervivencia desenlace recaida defuncion"""
)
_LABELS = words_of(
    """class label cluster group subtype phenotype klasse gruppe etikett subtyp classe groupe etiquette
    clase grupo etiqueta subtipo"""
)
_BESIDE = words_of("true known final primary main clinical patient disease real actual is has the")
_OTHERWISE = words_of(
    """age at since before time date year years jahr ano annee family history father mother parent sibling alter bei
    seit vor familie delai avant depuis pere mere famille edad desde antes padre madre familia blood treatment"""
)
_CHANCE = 10.0  # n V^2 beyond twice the logarithm of the number of columns
_ASSOCIATED = 0.25  # the share of the columns that a label must depend on


def is_outcome_name(name: str) -> bool:
    """Return whether a name is that of an outcome, wherever it says so."""
    said = set(words(name))
    return bool(said & _OUTCOMES) and not said & _OTHERWISE


def _is_label_name(name: str) -> bool:
    """Return whether a name says label, class, group and nothing else: a blood group or a risk class is a feature."""
    said = {word for word in words(name) if not word.isdigit()}
    return bool(said & _LABELS) and said <= _LABELS | _BESIDE


def outcome_columns(columns: Columns, active: NDArray[np.int64]) -> list[Redundancy]:
    """Return one finding for each column that is an outcome by its name, and that the others tell something of."""
    active = correlatable(columns, active)
    named = [place for place, index in enumerate(active) if _may_be(columns, int(index))]
    if not named or active.size < 2:
        return []
    dependence = dependence_within(columns, active)
    return [finding for place in named if (finding := _finding(columns, active, place, dependence)) is not None]


def _may_be(columns: Columns, index: int) -> bool:
    name = columns.names[index]
    return columns.n_levels[index] <= _MOST_LEVELS and (is_outcome_name(name) or _is_label_name(name))


def _finding(columns: Columns, active: NDArray[np.int64], place: int, dependence: Within) -> Redundancy | None:
    name = columns.names[active[place]]
    evidence = dependence.n[place] * dependence.overall[place] ** 2
    depends = evidence > _CHANCE + 2.0 * np.log(active.size)
    least = 1 if is_outcome_name(name) else max(1, int(np.ceil(_ASSOCIATED * (active.size - 1))))
    if depends.sum() < least:
        return None
    strongest = int(dependence.overall[place].argmax())
    reason = (
        f"{shortened(name)} is an outcome or a label by its name, and depends on {int(depends.sum())} of the other "
        f"{active.size - 1} columns (most on {shortened(columns.names[active[strongest]])}: "
        f"{dependence.overall[place, strongest]:.2f}); subtypes found with it only repeat it"
    )
    return Redundancy(
        (name,), "outcome", "describe", reason, float(dependence.overall[place, strongest]), described=(name,)
    )
