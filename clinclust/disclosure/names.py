"""The names that a shared frame gives: no level and no end of a scale that only few subjects have.

Schemas are drafted from data, so that a level or the end of a scale may be the answer of one person. Who declared it
does not count here; how many subjects have it does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clinclust.comparisons.frame import WITHHELD
from clinclust.disclosure.released import set_missing
from clinclust.disclosure.rounding import rounded, rounding_error

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.disclosure.rule import Rule

__all__ = ["with_names_of_many"]

_ENDS = ("minimum", "maximum", "step", "scored")


def with_names_of_many(shared: pd.DataFrame, rule: Rule) -> pd.DataFrame:
    """Return a frame in which small counts are withheld already, without the names that only few subjects give.

    A level keeps its name where a number of it is shown that is not small: the name then follows from what is shown,
    and tells nothing of the counts that are withheld. All numbers of another level are withheld or 0, and ``[c]``
    stands in the place of its name, numbered where a feature has several.

    The ends of a scale stay where more subjects than the threshold are at each of them. Where they are withheld, 0 to
    `threshold` subjects are there, which is as long as the interval of a protected count.
    """
    keys = list(zip(shared["feature"].tolist(), shared["level"].tolist(), strict=True))
    called = _unnamed_levels(shared, rule)
    shared["level"] = shared["level"].where(shared["level"].isna(), [called.get(key, key[1]) for key in keys])
    if "part" in shared:
        _without_names_in_labels(shared, {feature for feature, _ in called})
    set_missing(shared, ~_many_at_ends(shared, rule), _ENDS)
    set_missing(shared, np.ones(len(shared), dtype=bool), ("at_ends",))
    return shared


def _without_names_in_labels(shared: pd.DataFrame, features: set[str]) -> None:
    """Take the names of point masses out of the labels of the other values of these features, in place."""
    of_rest = shared["feature"].isin(features) & (shared["part"] == "rest").fillna(False)
    labels = shared[shared["kind"] == "contrast"].set_index("feature")["label"].to_dict()
    shared["label"] = shared["label"].mask(of_rest, shared["feature"].map(labels) + ", other values")


def _unnamed_levels(shared: pd.DataFrame, rule: Rule) -> dict[tuple[str, str], str]:
    """Return what stands for each level of which no number is shown that is not small, by feature and level."""
    summaries = shared[(shared["kind"] == "summary") & shared["level"].notna()]
    count, mean = (summaries[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in ("count", "mean"))
    tells = count - rounding_error(rule.rounding)[0] >= rule.threshold
    if rule.rounding is None:
        tells |= mean > 0.0  # where n is withheld a share is shown alone, and only of a count that is not small
    is_named = summaries.assign(tells=tells).groupby(["feature", "level"], sort=False)["tells"].any()
    unnamed: dict[str, list[str]] = {}
    for feature, level in is_named[~is_named].index:
        unnamed.setdefault(feature, []).append(level)
    return {
        (feature, level): WITHHELD if len(levels) == 1 else f"{WITHHELD} {place}"
        for feature, levels in unnamed.items()
        for place, level in enumerate(levels, start=1)
    }


def _many_at_ends(shared: pd.DataFrame, rule: Rule) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return in which rows more subjects than the threshold are at each end of the scale, bool (rows,).

    A frame of an earlier version does not say how many there are.
    """
    if "at_ends" not in shared:
        return np.zeros(len(shared), dtype=bool)
    at_ends = shared["at_ends"].to_numpy(dtype=np.float64, na_value=np.nan)
    if rule.rounding is not None:
        at_ends = rounded(at_ends, rule.rounding) - rounding_error(rule.rounding)[0]
    return np.asarray(at_ends > rule.threshold)
