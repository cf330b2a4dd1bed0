"""Yes/no columns that are the levels of one question: exactly one, or at most one, is yes in each subject."""

from __future__ import annotations

import math
import re

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.redundancy.columns import Columns, in_all
from clinclust.drafting.redundancy.finding import Redundancy
from clinclust.drafting.redundancy.names import block_name, stem, words
from clinclust.files.listed import listed

__all__ = ["levels_of_one_question"]

Array = NDArray[np.float64]

_FEWEST_LEVELS = 3  # two that are opposites are found as such
_FEWEST_SUBJECTS = 20
_BOX = re.compile(r"(.+?)___.+")  # how a REDCap export names the boxes of one question
_SURPRISE = math.log(1e5)  # nats: expected subjects with two yes, if the columns were independent


def levels_of_one_question(columns: Columns, active: NDArray[np.int64], taken: set[str]) -> list[Redundancy]:
    """Return one finding for each set of yes/no columns that are the levels of one question.

    Parameters
    ----------
    active : int64 (C,)
        The columns to look at.
    taken : set of str
        Names of blocks; it gets the names of new ones.
    """
    binary = [int(index) for index in active if _is_yes_no(columns, int(index))]
    found: list[Redundancy] = []
    used: set[int] = set()
    for group in _neighbours(columns, binary):
        found.append(_finding(columns, group, "exactly one of them is yes", taken))
        used.update(group)
    for group in _of_one_stem(columns, [index for index in binary if index not in used]):
        how = _how(columns, group)
        if how:
            found.append(_finding(columns, group, how, taken))
            used.update(group)
    return found


def _is_yes_no(columns: Columns, index: int) -> bool:
    return columns.n_levels[index] == 2 and set(np.unique(columns.sample[:, index])[:2]) == {0.0, 1.0}


def _neighbours(columns: Columns, binary: list[int]) -> list[list[int]]:
    """Return runs of neighbouring columns of which exactly one is yes in every subject."""
    groups, start = [], 0
    while start < len(binary):
        end = _end_of_run(columns, binary, start)
        if end and _sums(columns, binary[start:end], whole=True) == (1.0, 1.0):
            groups.append(binary[start:end])
            start = end
        else:
            start += 1
    return groups


def _end_of_run(columns: Columns, binary: list[int], start: int) -> int:
    """Return where the run ends that begins here, or 0 if there is none."""
    total = np.zeros(len(columns.sample))
    for end in range(start, len(binary)):
        if end > start and binary[end] != binary[end - 1] + 1:
            return 0
        total = total + columns.sample[:, binary[end]]
        seen = ~np.isnan(total)
        if seen.sum() < _FEWEST_SUBJECTS or total[seen].max() > 1.0:
            return 0
        if total[seen].min() == 1.0:
            return end + 1 if end + 1 - start >= _FEWEST_LEVELS else 0
    return 0


def _sums(columns: Columns, group: list[int], *, whole: bool) -> tuple[float, float]:
    """Return the smallest and the largest number of yes in one subject, among subjects with all answers."""
    total = sum(columns.whole(index) if whole else columns.sample[:, index] for index in group)
    observed = np.asarray(total)[~np.isnan(total)]
    return (float(observed.min()), float(observed.max())) if observed.size >= _FEWEST_SUBJECTS else (0.0, 2.0)


def _of_one_stem(columns: Columns, binary: list[int]) -> list[list[int]]:
    """Return groups of at least two columns whose names begin alike."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for index in binary:
        box = _BOX.fullmatch(columns.names[index])
        first = words(columns.names[index])[:1]
        key = ("box", box[1]) if box else ("stem", *first) if len(words(columns.names[index])) > 1 else ()
        if key and (box or stem(first[0])):
            groups.setdefault(key, []).append(index)
    return [group for group in groups.values() if len(group) > 1]


def _how(columns: Columns, group: list[int]) -> str:
    """Return in words why columns of one stem are one question, or nothing if they need not be."""
    low, high = _sums(columns, group, whole=True)
    if (low, high) == (1.0, 1.0):
        return "exactly one of them is yes"
    if high <= 1.0 and len(group) >= _FEWEST_LEVELS - 1 and _expected_twice(columns, group) > _SURPRISE:
        return "never more than one of them is yes"
    return "boxes of one question by their names" if _BOX.fullmatch(columns.names[group[0]]) else ""


def _expected_twice(columns: Columns, group: list[int]) -> float:
    """Return in how many subjects of the sample two would be yes if the columns were independent."""
    shares = np.nan_to_num([np.nanmean(columns.sample[:, index]) for index in group])
    return float((shares.sum() ** 2 - (shares**2).sum()) / 2.0) * len(columns.sample)


def _finding(columns: Columns, group: list[int], how: str, taken: set[str]) -> Redundancy:
    names = tuple(columns.names[index] for index in group)
    block = block_name(names, taken)
    taken.add(block)
    n = int((~np.isnan(sum(columns.whole(index) for index in group))).sum())
    where = f", {in_all(n, columns)}" if "of them" in how else ""
    return Redundancy(names, "one question", "block", f"{listed(names)}: {how}{where}", 1.0, block=block)
