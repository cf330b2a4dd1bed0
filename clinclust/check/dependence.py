"""Which features depend on each other inside the subtypes, and which of them are advised to be one block."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from clinclust.arrays import Array
from clinclust.graded import graded, mid_ranks

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit
    from clinclust.schema import FeatureSchema

_CLEAR = 0.01
_REPORTED, _BLOCKED = 0.3, 0.5
"""Least residual correlations of a pair that is reported, and of features that are advised to be one block, which says
that they measure the same thing: blocks from .3 on made the cultivars of the wines less clear (ARI .95 -> .90).
"""
_BLOCK = "depends_{}"
_EVERYWHERE = 4  # a group of at least so many features and more than half of all is no block, but dependence everywhere


class Dependent(NamedTuple):
    """A feature that depends on others; the block that it should be in, or None."""

    feature: str
    others: list[str]
    block: str | None
    evidence: str


def dependent_pairs(pairs: pd.DataFrame, schema: FeatureSchema) -> pd.DataFrame:
    """Return the pairs of no common block that clearly depend on each other, the strongest first."""
    strong = pairs[_is_dependent(pairs, _REPORTED)]
    blocks = [(schema[first].block, schema[second].block) for first, second in _names(strong)]
    return strong[np.array([first is None or first != second for first, second in blocks], dtype=np.bool_)]


def dependence(schema: FeatureSchema, pairs: pd.DataFrame) -> list[Dependent]:
    """Return the features that depend on others by `residual_pairs`, those that are advised to be one block first."""
    found: dict[str, Dependent] = {}
    taken = {feature.block for feature in schema}
    for members in _groups(pairs):
        is_block = len(members) < _EVERYWHERE or 2 * len(members) <= len(schema.clustered)
        block = _block_of(schema, members, taken)
        inside = pairs[pairs["first"].isin(members) & pairs["second"].isin(members)]
        for name in members:
            if schema[name].block != block:
                others = [other for other in members if other != name]
                found[name] = Dependent(name, others, block if is_block else None, _evidence(inside))
                taken.add(block)
    rest = dependent_pairs(pairs, schema)
    blocks = {feature.name: feature.block for feature in schema} | {name: each.block for name, each in found.items()}
    is_known = [
        {first, second} <= set(found) or (blocks[first] is not None and blocks[first] == blocks[second])
        for first, second in _names(rest)
    ]
    rest = rest[~np.array(is_known, dtype=np.bool_)]
    for name in dict.fromkeys(name for pair in _names(rest) for name in pair):
        if name not in found:
            own = rest[(rest["first"] == name) | (rest["second"] == name)]
            others = [second if first == name else first for first, second in _names(own)]
            found[name] = Dependent(name, others, None, _evidence(own))
    return list(found.values())


def _is_dependent(pairs: pd.DataFrame, least: float) -> pd.Series[bool]:
    return (pairs["p_of_largest"] <= _CLEAR) & (pairs["correlation"].abs() >= least)


def _names(pairs: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(pairs["first"].tolist(), pairs["second"].tolist(), strict=True))


def _evidence(pairs: pd.DataFrame) -> str:
    strongest = pairs.iloc[0]
    return f"r = {strongest['correlation']:.2f} of {strongest['first']} and {strongest['second']}"


def _groups(pairs: pd.DataFrame) -> list[list[str]]:
    """Return groups of features that all clearly depend on each other, the strongest group first.

    Linkage is complete: in a chain of features that depend on their neighbours only, the ends are in no common group.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    strong = pairs[_is_dependent(pairs, _BLOCKED)]
    names = list(dict.fromkeys(strong[["first", "second"]].to_numpy().ravel().tolist()))
    if not names:
        return []
    place = {name: at for at, name in enumerate(names)}
    distance = np.ones((len(names), len(names)))
    for first, second, r in strong[["first", "second", "correlation"]].itertuples(index=False):
        distance[place[first], place[second]] = distance[place[second], place[first]] = 1.0 - abs(r)
    upper = distance[np.triu_indices(len(names), 1)]
    group = fcluster(linkage(upper, "complete"), 1.0 - _BLOCKED + 1e-9, "distance")
    found = [sorted(names[at] for at in np.flatnonzero(group == number)) for number in dict.fromkeys(group.tolist())]
    return [members for members in found if len(members) > 1]


def _block_of(schema: FeatureSchema, members: list[str], taken: set[str | None]) -> str:
    """Return the block of one of the features, or a name that no block has."""
    named = [block for name in members if (block := schema[name].block) is not None]
    if named:
        return named[0]
    return next(name for number in range(1, len(taken) + 2) if (name := _BLOCK.format(number)) not in taken)


COLUMNS = ["first", "second", "correlation", "p", "p_of_largest", "n"]
_FEWEST = 10  # pairs with fewer subjects with both values are left out


def residual_pairs(fit: Fit, cohort: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each pair of clustered features, the strongest first.

    The measure is the correlation of the residuals of their mid-ranks (of an unordered feature, of the level with the
    strongest one) after regression on the probabilities of the clusters, with p as of n - J pairs of normal values;
    `p_of_largest` is p times the number of correlations.
    """
    features = list(dict.fromkeys(feature.whole for feature in fit.clusters_.encoding.features))
    table = graded(
        ((feature.scores(cohort[feature.name]), feature.traits.is_nominal) for feature in features), mid_ranks
    )
    left, seen = _residuals(table.columns, fit.cluster_membership_)
    n = seen.T @ seen
    squares = (left**2).T @ seen
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (left.T @ left) / np.sqrt(squares * squares.T)
    usable = np.isfinite(r) & (n - fit.cluster_membership_.shape[1] >= _FEWEST)
    r = np.where(usable, np.clip(r, -1.0, 1.0), 0.0)
    names = np.array([feature.name for feature in features], dtype=object)
    tried = np.nonzero(table.owners[:, None] < table.owners)
    n_tried = int(usable[tried].sum())
    pairs = pd.DataFrame(
        {
            "first": names[table.owners[tried[0]]],
            "second": names[table.owners[tried[1]]],
            "correlation": r[tried],
            "n": n[tried],
        }
    )
    strongest = np.lexsort((-np.abs(r[tried]), table.owners[tried[1]], table.owners[tried[0]]))
    found = pairs.iloc[strongest].drop_duplicates(["first", "second"], ignore_index=True)
    found["p"] = _two_sided(found["correlation"].to_numpy(), found["n"].to_numpy() - fit.cluster_membership_.shape[1])
    found["p_of_largest"] = np.minimum(found["p"] * max(n_tried, 1), 1.0)
    order = found["correlation"].abs().sort_values(ascending=False, kind="stable").index
    return found.loc[order, COLUMNS].reset_index(drop=True).astype({"n": "int64"})


def _two_sided(r: Array, df: Array) -> Array:
    from scipy.special import stdtr

    df = np.maximum(df - 1.0, 1.0)
    with np.errstate(divide="ignore"):
        t = np.abs(r) * np.sqrt(df / np.maximum(1.0 - r**2, 1e-300))
    return np.asarray(2.0 * stdtr(df, -t))


def _residuals(columns: Array, membership: Array) -> tuple[Array, Array]:
    """Return the residuals of each column after regression on the membership, 0 where missing, and 1 where observed."""
    seen = (~np.isnan(columns)).astype(np.float64)
    centre = np.nansum(columns, axis=0) / np.maximum(seen.sum(axis=0), 1.0)
    values = np.where(seen > 0.0, columns - centre, 0.0)
    n_subtypes = membership.shape[1]
    products = (membership[:, :, None] * membership[:, None, :]).reshape(-1, n_subtypes**2)
    squares = (seen.T @ products).reshape(-1, n_subtypes, n_subtypes)
    slopes = np.linalg.pinv(squares, hermitian=True) @ (membership.T @ values).T[:, :, None]
    left = seen * (values - membership @ slopes[:, :, 0].T)
    # Residuals that are only rounding errors are set to 0.
    left[:, (left**2).sum(axis=0) <= 1e-18 * (values**2).sum(axis=0)] = 0.0
    return left, seen
