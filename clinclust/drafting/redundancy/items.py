"""Items of one instrument: columns of one numbered stem and one scale whose answers rise together.

Nine items of a depression scale measure one severity. Their single correlations are often below those of repeated
measurements, and lie on both sides of any limit for pairs, so that pairs would divide one instrument into pieces. Here
the items are judged together, by their mean correlation, turned so that reversed items agree. They form one block,
unless two parts of at least three items hardly depend on each other: these are subscales, and a block each. Where the
table holds the total of items of one stem, no evidence from correlations is needed.

Nor is the dependence within groups of similar subjects asked for: a quick division cannot tell the slices of one strong
severity from subtypes. If subtypes alone make items dependent, their block does little harm, because the power of a
block is estimated from what depends within clusters (benchmarks/blocks.py, items).
"""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.redundancy.columns import Columns
from clinclust.drafting.redundancy.finding import Redundancy
from clinclust.drafting.redundancy.names import block_name, words_of
from clinclust.files.cell_text import shortened
from clinclust.files.listed import listed
from clinclust.graded import mid_ranks, paired_moments

__all__ = ["items_of_instruments"]

Array = NDArray[np.float64]

_FEWEST_ITEMS, _MOST_ANSWERS = 3, 12
_FEWEST_SUBJECTS = 30
_RISE, _ERRORS = 0.12, 2.0  # the least mean correlation, also in standard errors of one correlation
_APART = 0.5  # the mean correlation between subscales, relative to the lesser one within them
_LONGER = 1  # by how many steps the scale of one item may seem longer than that of another
_NUMBERED = re.compile(r"(?P<stem>.*?)[\s_.:\-]*(?P<number>\d{1,3})[a-z]?", re.IGNORECASE | re.DOTALL)
_NUMBERED_AND_NAMED = re.compile(r"(?P<stem>[^\W\d_]+[\s_.\-]?)(?P<number>\d{1,2})[\s_.\-]+[^\W\d_].*", re.DOTALL)
_NO_INSTRUMENT = words_of("""var variable v x y z col column feature f gene marker probe block visit t time week wk w
    month mo m day d year yr rep repeat snp rs dim pc factor component single noise spalte merkmal variante""")
"""Stems of numbered columns that are no items, or of which nobody knows."""


def items_of_instruments(
    columns: Columns, active: NDArray[np.int64], taken: set[str], found: list[Redundancy]
) -> list[Redundancy]:
    """Return one finding for each instrument, or each of its subscales, whose items should form one block.

    Parameters
    ----------
    active : int64 (C,)
        The columns to look at.
    taken : set of str
        Names of blocks; it gets the names of new ones.
    found : list of Redundancy
        What is known already: totals make their items certain.
    """
    findings = []
    for group in _numbered(columns, active):
        total = _total_of(columns, group, found)
        if total is not None:
            findings.append(_finding(columns, group, f"their total is {shortened(total)}", 1.0, taken))
            continue
        for part, mean in _parts(columns, group):
            findings.append(_finding(columns, part, f"mean rank correlation {mean:.2f}", mean, taken))
    return findings


def _numbered(columns: Columns, active: NDArray[np.int64]) -> list[list[int]]:
    """Return groups of columns with one numbered stem and one scale, in the order of the table."""
    by_stem: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for index in active[columns.n_levels[active] <= _MOST_ANSWERS].tolist():
        stem = _stem(columns.names[index])
        if stem and _is_scored(columns, index) and not _is_ticked(columns, index):
            by_stem[stem, columns.features[index].levels].append(index)
    groups = (_of_one_scale(columns, group) for group in by_stem.values())
    return [group for group in groups if len(group) >= _FEWEST_ITEMS]


def _stem(name: str) -> str:
    """Return what stands before the number of an item, in lower case; nothing if that names no instrument."""
    match = _NUMBERED.fullmatch(name.strip()) or _NUMBERED_AND_NAMED.fullmatch(name.strip())
    stem = "" if match is None else match["stem"].strip(" _.:-\t").casefold()
    last = re.findall(r"[^\W\d_]+", stem)[-1:]
    return "" if not last or last[0] in _NO_INSTRUMENT else stem


def _is_scored(columns: Columns, index: int) -> bool:
    """Return whether the answers are levels or whole numbers."""
    values = columns.sample[:, index]
    return bool((np.nan_to_num(values) == np.floor(np.nan_to_num(values))).all())


def _is_ticked(columns: Columns, index: int) -> bool:
    """Return whether the column is a line of a ticked list: of findings that need not measure one thing."""
    return "" in (columns.features[index].synonyms or {})


def _of_one_scale(columns: Columns, group: list[int]) -> list[int]:
    """Return those columns whose range is nearly the usual one: few subjects give the highest answer of each item."""
    low = min(float(np.nanmin(columns.sample[:, index])) for index in group)
    spans = np.array([float(np.nanmax(columns.sample[:, index])) - low for index in group])
    usual = float(np.median(spans))
    return [index for index, span in zip(group, spans, strict=True) if abs(span - usual) <= max(_LONGER, usual / 3.0)]


def _total_of(columns: Columns, group: list[int], found: list[Redundancy]) -> str | None:
    """Return the column that is the total of these items, if there is one."""
    names = {columns.names[index] for index in group}
    totals = (one for one in found if one.kind == "arithmetic" and names <= set(one.columns))
    return next((one.described[0] for one in totals if one.described), None)


def _parts(columns: Columns, group: list[int]) -> list[tuple[list[int], float]]:
    """Return the items that depend on each other, divided into subscales, with the mean correlation of each."""
    ranks = np.column_stack([mid_ranks(columns.sample[:, index]) for index in group])
    n, covariance, own, other = paired_moments(ranks, ranks)
    if n.min() < _FEWEST_SUBJECTS:
        return []
    r = covariance / np.sqrt(np.maximum(own * other, 1e-300))
    np.fill_diagonal(r, 0.0)
    sign = np.sign(np.linalg.eigh(r)[1][:, -1])  # reversed items fall where the others rise
    r = r * sign * sign[:, None]
    least = max(_RISE, _ERRORS / float(np.sqrt(n.min())))
    parts = []
    for part in _divided(r, list(range(len(group)))):
        mean = _mean(r, part)
        if len(part) >= _FEWEST_ITEMS and mean >= least:
            parts.append(([group[place] for place in part], mean))
    return parts


def _divided(r: Array, items: list[int]) -> list[list[int]]:
    """Return the items in parts of three or more that depend on each other half as much as within, if there are any."""
    from scipy.cluster.hierarchy import fcluster, linkage

    if len(items) < 2 * _FEWEST_ITEMS:
        return [items]
    distance = 1.0 - r[np.ix_(items, items)]
    label = fcluster(linkage(distance[np.triu_indices(len(items), 1)], "average"), 2, "maxclust")
    one, other = ([item for item, of in zip(items, label, strict=True) if of == part] for part in (1, 2))
    if min(len(one), len(other)) < _FEWEST_ITEMS:
        return [items]
    between = float(r[np.ix_(one, other)].mean())
    if between >= _APART * min(_mean(r, one), _mean(r, other)):
        return [items]
    return sorted([*_divided(r, one), *_divided(r, other)])


def _mean(r: Array, part: list[int]) -> float:
    return float(r[np.ix_(part, part)][np.triu_indices(len(part), 1)].mean()) if len(part) > 1 else 0.0


def _finding(columns: Columns, group: list[int], said: str, strength: float, taken: set[str]) -> Redundancy:
    names = tuple(columns.names[index] for index in group)
    block = block_name(names, taken)
    taken.add(block)
    reason = f"{listed(names)}: items of one instrument by their names and their scale; {said}"
    return Redundancy(names, "items", "block", reason, strength, block=block)
