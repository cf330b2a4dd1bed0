"""What would mend a model that does not fit: lines of the schema, with the reason for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import yaml
from numpy.typing import NDArray

from clinclust.schema import Feature
from clinclust.schema.yaml_writer import yaml_line

if TYPE_CHECKING:
    from clinclust.schema import FeatureSchema

__all__ = ["COLUMNS", "DEPENDENCE", "LIKELIHOOD", "VALUES", "advice_of", "dependent_pairs", "odd_values"]

COLUMNS = ["feature", "kind", "problem", "line", "evidence"]
LIKELIHOOD, DEPENDENCE, VALUES = "likelihood", "dependence", "values"
"""Kinds of problems."""
_CLEAR = 0.01
_PROBABLE = 5.0
"""Evidence in nats from which on another likelihood is advised where more than the evidence speaks for it."""
_FAR = 5.0
"""Distance of a statistic from its replicates, in their SDs, from which on it is told: of many, some are far by
chance."""
_STRONG = 0.3
"""Residual correlation from which on features are advised to be one block."""
_BLOCK = "depends_{}"
_EVERYWHERE = 4
"""Features from which on a group with more than half of all is no block, but dependence everywhere."""
_NAMED = 5


def advice_of(
    schema: FeatureSchema, likelihoods: pd.DataFrame, checks: pd.DataFrame, pairs: pd.DataFrame
) -> tuple[pd.DataFrame, dict[str, Feature]]:
    """Return the advice, one row for each problem, and the features as the advice would have them.

    Parameters
    ----------
    schema : FeatureSchema
    likelihoods : DataFrame
        From `compared_likelihoods`.
    checks : DataFrame
        From `predictive_checks`.
    pairs : DataFrame
        From `residual_pairs`.
    """
    rows: list[tuple[str, str, str, str | None, str]] = []
    mended: dict[str, Feature] = {}
    for row in likelihoods[_better_otherwise(likelihoods, checks)].to_dict("records"):
        feature = Feature(**yaml.safe_load(str(row["schema_line"]))[0])
        mended[feature.name] = feature
        why = f"{row['better']} describes it better than {row['declared']}"
        rows.append((feature.name, LIKELIHOOD, why, yaml_line(feature), f"{row['evidence']:,.0f} nats"))
    for members in _groups(pairs):
        is_block = len(members) < _EVERYWHERE or 2 * len(members) <= len(likelihoods)
        block = _block_of(schema, members, {feature.block for feature in (*schema, *mended.values())})
        strongest = pairs[pairs["first"].isin(members) & pairs["second"].isin(members)].iloc[0]
        evidence = f"r = {strongest['correlation']:.2f} of {strongest['first']} and {strongest['second']}"
        for name in members:
            feature = mended.get(name, schema[name])
            if feature.block == block:
                continue
            problem = f"depends on {_named([other for other in members if other != name])} inside the subtypes"
            if is_block:
                mended[name] = Feature(**(feature.content() | {"block": block}))
            rows.append((name, DEPENDENCE, problem, yaml_line(mended[name]) if is_block else None, evidence))
    clear = odd_values(checks)
    for row in clear[~clear["feature"].isin(mended)].to_dict("records"):
        problem = f"inside the subtypes, {row['words']}"
        rows.append((str(row["feature"]), VALUES, problem, None, f"{row['distance']:.1f} SD away"))
    return pd.DataFrame(rows, columns=COLUMNS), mended


def odd_values(checks: pd.DataFrame) -> pd.DataFrame:
    """Return the predictive checks that are clearly not as the model says."""
    return checks[(checks["p"] <= _CLEAR) & (checks["distance"] >= _FAR)]


def dependent_pairs(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs that clearly and strongly depend on each other inside the subtypes, the strongest first."""
    return pairs[(pairs["p_of_largest"] <= _CLEAR) & (pairs["correlation"].abs() >= _STRONG)]


def _better_otherwise(likelihoods: pd.DataFrame, checks: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which features another likelihood describes better: clearly, or probably where more speaks for it.

    Clusters that one wrong likelihood has bought serve the other features as well, and hide how wrong theirs are.
    """
    is_clear = likelihoods["is_misfit"].to_numpy(dtype=bool)
    is_supported = likelihoods["feature"].isin(odd_values(checks)["feature"]).to_numpy(dtype=bool) | is_clear.any()
    is_probable = (likelihoods["evidence"] >= _PROBABLE) & likelihoods["schema_line"].notna()
    return np.asarray(is_clear | (is_supported & is_probable.to_numpy(dtype=bool)))


def _groups(pairs: pd.DataFrame) -> list[list[str]]:
    """Return groups of features that all clearly depend on each other, the strongest group first.

    Linkage is complete: in a chain of features that depend on their neighbours only, the ends are in no common group.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    strong = dependent_pairs(pairs)
    names = list(dict.fromkeys(strong[["first", "second"]].to_numpy().ravel().tolist()))
    if not names:
        return []
    place = {name: at for at, name in enumerate(names)}
    distance = np.ones((len(names), len(names)))
    for first, second, r in strong[["first", "second", "correlation"]].itertuples(index=False):
        distance[place[first], place[second]] = distance[place[second], place[first]] = 1.0 - abs(r)
    upper = distance[np.triu_indices(len(names), 1)]
    group = fcluster(linkage(upper, "complete"), 1.0 - _STRONG + 1e-9, "distance")
    found = [sorted(names[at] for at in np.flatnonzero(group == number)) for number in dict.fromkeys(group.tolist())]
    return [members for members in found if len(members) > 1]


def _named(names: list[str]) -> str:
    """Return the names, or the first of them and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _block_of(schema: FeatureSchema, members: list[str], taken: set[str | None]) -> str:
    """Return the block of one of the features, or a name that no block has."""
    named = [block for name in members if (block := schema[name].block) is not None]
    if named:
        return named[0]
    return next(name for number in range(1, len(taken) + 2) if (name := _BLOCK.format(number)) not in taken)
