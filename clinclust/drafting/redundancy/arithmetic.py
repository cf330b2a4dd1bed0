"""Columns that are computed from others: totals, means, differences, ratios, indices; and parts of a whole."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.redundancy.columns import Columns
from clinclust.drafting.redundancy.finding import Redundancy
from clinclust.drafting.redundancy.formula import Formula, formula_of, needed
from clinclust.drafting.redundancy.names import block_name, words, words_of
from clinclust.drafting.redundancy.relations import explained_by
from clinclust.files.cell_text import shortened
from clinclust.files.listed import listed

__all__ = ["computed_columns"]

Array = NDArray[np.float64]

_MOST_ADDED = 30
_MOST_MULTIPLIED = 3
_FEWEST_VALUES = 5
_EQUAL = 0.03
_RESULTS = words_of(
    """total sum score mean average avg index ratio rate bmi bsa homa egfr gfr difference diff delta change percent
    gesamt summe mittel mittelwert differenz quotient anteil somme moyenne rapport suma media diferencia cociente whr
    map pulse cumulative overall net"""
)
_BY_FRIEDEWALD = words_of("ldl ldlc vldl")
"""What laboratories compute from the other lipids, and the reverse never."""


class _Computed(NamedTuple):
    result: int
    sources: tuple[int, ...]
    formula: Formula
    logs: bool

    @property
    def is_whole_of_parts(self) -> bool:
        """Whether all columns together add to a constant."""
        return not self.logs and all(abs(weight + 1.0) < _EQUAL for weight in self.formula.weights)


def computed_columns(columns: Columns, active: NDArray[np.int64], taken: set[str]) -> list[Redundancy]:
    """Return one finding for each column that is computed from others, and for each set of parts of a whole.

    Parameters
    ----------
    active : int64 (C,)
        The columns to look at.
    taken : set of str
        Names of blocks; it gets the names of new ones.
    """
    found: list[_Computed] = []
    results: set[int] = set()
    ordered = columns.ordered(active)
    for logs in (False, True):
        usable = ordered[[_is_positive(columns, index) for index in ordered]] if logs else ordered
        for members in _sets(columns, usable, logs):
            best = None if results & set(members) else _computed(columns, members, logs)
            if best is not None:
                found.append(best)
                results.add(best.result)
    return [_finding(columns, computed, taken) for computed in found]


def _is_positive(columns: Columns, index: int) -> bool:
    column = columns.sample[:, index]
    is_number = columns.features[index].levels is None and columns.n_levels[index] > _FEWEST_VALUES
    return bool(is_number and np.nanmin(column) > 0)


def _sets(columns: Columns, usable: NDArray[np.int64], logs: bool) -> list[tuple[int, ...]]:
    """Return sets of columns that may have a formula, the smallest first."""
    targets = [place for place, index in enumerate(usable) if columns.n_levels[index] >= _FEWEST_VALUES]
    if usable.size < 3 or not targets:
        return []
    table = columns.sample[:, usable]
    found = explained_by(np.log(table) if logs else table, targets, _MOST_MULTIPLIED if logs else _MOST_ADDED)
    sets = set()
    for target, others in found:
        places = [others[place] for place in needed(table[:, target], table[:, others], logs=logs)]
        if len(places) > 1:  # one alone is another unit or scale of the target
            sets.add(tuple(sorted(int(usable[place]) for place in (target, *places))))
    return sorted(sets, key=lambda members: (len(members), members))


def _computed(columns: Columns, members: tuple[int, ...], logs: bool) -> _Computed | None:
    """Return the likeliest result among columns that have a formula: by its name, its rounding, its weights."""
    found = []
    for result in members:
        sources = tuple(index for index in members if index != result)
        if columns.n_levels[result] < _FEWEST_VALUES:
            continue
        formula = formula_of(columns.sample[:, result], columns.sample[:, list(sources)], logs=logs)
        if formula is not None:
            found.append(_Computed(result, sources, formula, logs))
    if not found:
        return None
    return max(found, key=lambda computed: _likelihood_of_result(columns, computed))


def _likelihood_of_result(columns: Columns, computed: _Computed) -> tuple[bool, bool, int, bool, int]:
    said = words(columns.names[computed.result])
    is_lipid = not computed.logs and bool(_BY_FRIEDEWALD.intersection(said))
    named = bool(_RESULTS.intersection(said))
    weights = np.array(computed.formula.weights)
    added = bool(weights.min() > 0 and np.ptp(weights) < _EQUAL * weights.max())
    added &= weights.size > 2  # of three columns, each is the sum or the difference of the others
    return is_lipid, named, -computed.formula.exactness, added, computed.result


def _finding(columns: Columns, computed: _Computed, taken: set[str]) -> Redundancy:
    members = sorted((computed.result, *computed.sources))
    names = tuple(columns.names[index] for index in members)
    formula = computed.formula
    among = f"all {formula.n:,}" if formula.holds == formula.n else f"{formula.holds:,} of {formula.n:,}"
    who = "subjects" if columns.n_subjects == len(columns.sample) else "subjects of a random sample"
    strength = formula.holds / formula.n
    if computed.is_whole_of_parts:
        block = block_name(names, taken)
        taken.add(block)
        reason = f"{listed(names)} add to the same number in {among} {who}: each follows from the others"
        return Redundancy(names, "composition", "block", reason, strength, block=block)
    result = columns.names[computed.result]
    sources = [columns.names[index] for index in computed.sources]
    reason = f"{shortened(result)} is {_said(computed)} {listed(sources)} in {among} {who}"
    return Redundancy(names, "arithmetic", "describe", reason, strength, described=(result,))


def _said(computed: _Computed) -> str:
    """Return what kind of formula it is, in words that names of columns can follow."""
    weights = np.array(computed.formula.weights)
    if np.ptp(np.abs(weights)) < _EQUAL * np.abs(weights).max():
        signs = sorted(np.sign(weights).tolist())
        if computed.logs:
            return "a product of" if signs[0] > 0 else "a ratio of"
        if signs[0] > 0:
            near_mean = abs(float(weights.mean()) * weights.size - 1.0) < _EQUAL
            return "the mean of" if near_mean else "the sum of" if abs(weights.mean() - 1.0) < _EQUAL else "a sum of"
        return "a difference of"
    return "computed from" if computed.logs else "a weighted sum of"
