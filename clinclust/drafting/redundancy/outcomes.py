"""Columns that are outcomes, diagnoses or labels: results of a disease, and no input for its subtypes.

Death, relapse and the times to them are outcomes by their names or levels alone. A diagnosis, a class or a group may be
a feature as well; it is taken for a label only if the other columns tell something of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.redundancy.columns import Columns
from clinclust.drafting.redundancy.finding import Redundancy
from clinclust.drafting.redundancy.outcome_levels import are_courses, are_vital, say_who_died
from clinclust.drafting.redundancy.outcome_names import (
    is_course_name,
    is_label_name,
    is_of_another,
    is_outcome_name,
    is_paired,
    is_surely_outcome_name,
    is_time_name,
)
from clinclust.drafting.redundancy.within import Within, correlatable, dependence_within
from clinclust.files.cell_text import shortened

__all__ = ["outcome_columns"]

_MOST_LEVELS = 20
_CHANCE = 10.0  # n V^2 beyond twice the logarithm of the number of columns
_ASSOCIATED = 0.25  # the share of the columns that a label must depend on
_NO_INPUT = "an outcome is a result of the disease: subtypes found with it only repeat it"


def outcome_columns(columns: Columns, active: NDArray[np.int64]) -> list[Redundancy]:
    """Return one finding for each column that is an outcome, or a label that the others tell something of."""
    how = {int(index): said for index in active if (said := _sure(columns, int(index))) is not None}
    found = [_sure_finding(columns, index, said) for index, said in how.items()]
    active = correlatable(columns, active)
    named = [place for place, index in enumerate(active) if int(index) not in how and _may_be(columns, int(index))]
    if not named or active.size < 2:
        return found
    dependence = dependence_within(columns, active)
    return found + [one for place in named if (one := _finding(columns, active, place, dependence)) is not None]


def _sure(columns: Columns, index: int) -> str | None:
    """Return how it is known that a column is an outcome, in words; None if it is not."""
    name, levels = columns.names[index], columns.features[index].levels
    if levels is not None and not is_of_another(name):
        if are_vital(levels):
            return "its values say who is alive and who died"
        if say_who_died(levels):
            return "its values say who died"
        if is_course_name(name) and not are_courses(levels) and not all(map(str.isdigit, levels)):
            return "what became of the disease, by its name"
    if is_time_name(name):
        return "the time to an outcome, or of follow-up, by its name"
    if is_paired(name, columns.names):
        return "one of the two columns of a survival time, by their names"
    if columns.n_levels[index] <= _MOST_LEVELS and is_surely_outcome_name(name):
        return "an outcome by its name"
    return None


def _sure_finding(columns: Columns, index: int, said: str) -> Redundancy:
    name = columns.names[index]
    return Redundancy((name,), "outcome", "describe", f"{shortened(name)}: {said}; {_NO_INPUT}", 1.0, described=(name,))


def _may_be(columns: Columns, index: int) -> bool:
    name = columns.names[index]
    return columns.n_levels[index] <= _MOST_LEVELS and (is_outcome_name(name) or is_label_name(name))


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
    strength = float(dependence.overall[place, strongest])
    return Redundancy((name,), "outcome", "describe", reason, strength, described=(name,))
