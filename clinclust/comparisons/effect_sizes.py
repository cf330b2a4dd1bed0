"""Effect sizes with 95% intervals, for each pair of subtypes and for each subtype against all other subjects."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clinclust.comparisons import effects_of_means, effects_of_shares
from clinclust.comparisons.sides import Effect, Floats, Side, everybody_else
from clinclust.comparisons.summaries import Measure
from clinclust.comparisons.superiority import superiority

__all__ = ["effects"]

Groups = NDArray[np.int64]

_LEAST_OBSERVED = 2

_OF_SHARES = {
    "standardised_difference": effects_of_shares.standardised_share,
    "difference": effects_of_shares.risk_difference,
    "ratio": effects_of_shares.odds_ratio,
}
_OF_MEANS = {"standardised_difference": effects_of_means.standardised, "difference": effects_of_means.difference}
_OF_RATES = {"standardised_difference": effects_of_means.standardised, "ratio": effects_of_means.ratio}
_EFFECTS = {"shares": _OF_SHARES, "means": _OF_MEANS, "rates": _OF_RATES}


def effects(
    compared: Sequence[Measure],
    summary: Mapping[str, Floats],
    groups: Groups,
    subtypes: Groups,
    min_size: int,
    ranked: Collection[str],
) -> Iterator[tuple[list[Measure], dict[str, NDArray[Any]]]]:
    """Yield, for each effect size, the measures that have it and their columns, each (measures, comparisons).

    Parameters
    ----------
    compared : list of Measure
    summary : dict of float64 (measures, 1 + G)
        Summaries (see `SUMMARY`) of all subjects, then of each of the G groups.
    groups : int64 (N,)
        The group of each subject, 0, 1, ..., G - 1.
    subtypes : int64 (G,)
        The number of the subtype that each group is.
    min_size : int
        Sides with fewer subjects, observed or not, are not compared.
    ranked : set of str
        Names of the features that also have the probability of superiority.
    """
    sizes = np.bincount(groups, minlength=subtypes.size)
    comparisons = _comparisons(sizes, min_size)
    names = np.concatenate([subtypes, np.zeros_like(subtypes)])
    parts = Side(*(summary[name][:, 1:] for name in ("n", "deviation", "variance")))
    sides = Side(*(np.concatenate(moments, axis=1) for moments in zip(parts, everybody_else(parts), strict=True)))
    a, b = comparisons.T
    n = sides.n[:, a] + sides.n[:, b]
    seen = (sides.n[:, a] >= _LEAST_OBSERVED) & (sides.n[:, b] >= _LEAST_OBSERVED)
    sizes = np.concatenate([sizes, groups.size - sizes])

    def block(rows: list[int], name: str, effect: Effect) -> tuple[list[Measure], dict[str, NDArray[Any]]]:
        columns: dict[str, NDArray[Any]] = {
            "kind": np.array("effect"),
            "subtype": names[a],
            "versus": names[b],
            "n": n[rows],
            "missing": sizes[a] + sizes[b] - n[rows],
            "measure": np.array(name),
        }
        found = {part: np.where(seen[rows], value, np.nan) for part, value in effect._asdict().items()}
        return [compared[row] for row in rows], columns | found

    for name in ("standardised_difference", "difference", "ratio"):
        chosen: dict[Any, list[int]] = {}
        for row, measure in enumerate(compared):
            size = _EFFECTS[measure.feature.traits.effect_sizes].get(name)
            if size is not None:
                chosen.setdefault(size, []).append(row)
        for size, rows in chosen.items():
            of_rows = Side(*(moment[rows] for moment in sides))
            yield block(rows, name, size(*(Side(*(moment[:, side] for moment in of_rows)) for side in (a, b))))
    rows = [row for row, measure in enumerate(compared) if measure.feature.name in ranked]
    if rows:
        found = [superiority(compared[row].scores, groups, comparisons) for row in rows]
        yield block(rows, "superiority", Effect(*(np.array(part) for part in zip(*found, strict=True))))


def _comparisons(sizes: Groups, min_size: int) -> Groups:
    """Return the comparisons, int64 (C, 2): all pairs of groups, then each group g and all others (numbered g + G)."""
    large = np.flatnonzero(sizes >= min_size).tolist()
    against_rest = [(g, g + sizes.size) for g in large if sizes.sum() - sizes[g] >= min_size]
    return np.array([*combinations(large, 2), *against_rest], dtype=np.int64).reshape(-1, 2)
