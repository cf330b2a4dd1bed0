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

__all__ = ["COLUMNS", "advice_of"]

COLUMNS = ["feature", "problem", "line", "evidence"]
_CLEAR = 0.01
_PROBABLE = 5.0
"""Evidence in nats from which on another likelihood is advised where more than the evidence speaks for it."""
_FAR = 5.0
"""Distance of a statistic from its replicates, in their SDs, from which on it is told: of many, some are far by
chance."""
_STRONG = 0.3
"""Residual correlation from which on features are advised to be one block."""
_BLOCK = "depends_{}"


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
    rows: list[tuple[str, str, str | None, str]] = []
    mended: dict[str, Feature] = {}
    for row in likelihoods[_better_otherwise(likelihoods, checks)].to_dict("records"):
        feature = Feature(**yaml.safe_load(str(row["schema_line"]))[0])
        mended[feature.name] = feature
        why = f"{row['better']} describes it better than {row['declared']}"
        rows.append((feature.name, why, yaml_line(feature), f"{row['evidence']:,.0f} nats"))
    for members in _groups(pairs):
        block = _block_of(schema, members)
        strongest = pairs[pairs["first"].isin(members) & pairs["second"].isin(members)].iloc[0]
        for name in members:
            feature = mended.get(name, schema[name])
            if feature.block == block:
                continue
            mended[name] = Feature(**(feature.content() | {"block": block}))
            others = ", ".join(other for other in members if other != name)
            evidence = f"r = {strongest['correlation']:.2f} ({strongest['first']} and {strongest['second']})"
            rows.append((name, f"depends on {others} inside the subtypes", yaml_line(mended[name]), evidence))
    clear = checks[(checks["p"] <= _CLEAR) & (checks["distance"] >= _FAR) & ~checks["feature"].isin(mended)]
    for row in clear.to_dict("records"):
        rows.append(
            (str(row["feature"]), f"inside the subtypes, {row['words']}", None, f"{row['distance']:.1f} SD away")
        )
    return pd.DataFrame(rows, columns=COLUMNS), mended


def _better_otherwise(likelihoods: pd.DataFrame, checks: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which features another likelihood describes better: clearly, or probably where more speaks for it.

    Clusters that one wrong likelihood has bought serve the other features as well, and hide how wrong theirs are.
    """
    is_clear = likelihoods["is_misfit"].to_numpy(dtype=bool)
    odd = set(checks.loc[(checks["p"] <= _CLEAR) & (checks["distance"] >= _FAR), "feature"])
    is_supported = likelihoods["feature"].isin(odd).to_numpy(dtype=bool) | is_clear.any()
    is_probable = (likelihoods["evidence"] >= _PROBABLE) & likelihoods["schema_line"].notna()
    return np.asarray(is_clear | (is_supported & is_probable.to_numpy(dtype=bool)))


def _groups(pairs: pd.DataFrame) -> list[list[str]]:
    """Return the features that clearly depend on each other, directly or through others, in groups."""
    strong = pairs[(pairs["p_of_largest"] <= _CLEAR) & (pairs["correlation"].abs() >= _STRONG)]
    groups: list[set[str]] = []
    for first, second in zip(strong["first"], strong["second"], strict=True):
        touched = [group for group in groups if first in group or second in group]
        groups = [group for group in groups if group not in touched]
        groups.append({str(first), str(second)}.union(*touched))
    return [sorted(group) for group in groups]


def _block_of(schema: FeatureSchema, members: list[str]) -> str:
    """Return the block of one of the features, or a name that no block has."""
    named = [block for name in members if (block := schema[name].block) is not None]
    if named:
        return named[0]
    taken = {feature.block for feature in schema}
    return next(name for number in range(1, len(taken) + 2) if (name := _BLOCK.format(number)) not in taken)
