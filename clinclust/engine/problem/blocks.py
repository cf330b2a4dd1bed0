"""Blocks: named groups of features that depend on each other even within subtypes, and the power of each.

The likelihood of every feature of a block is raised to the same power. At the power w, p features count for w p.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.files.listed import listed

if TYPE_CHECKING:
    from clinclust.schema import Feature

__all__ = ["members_of_blocks", "powers_of_blocks", "powers_of_features", "refuse_unknown_blocks"]

Array = NDArray[np.float64]


def members_of_blocks(features: Sequence[Feature]) -> dict[str, NDArray[np.int64]]:
    """Return the indices of the features of each block, int64 (p,), by its name."""
    members: dict[str, list[int]] = {}
    for place, feature in enumerate(features):
        if feature.block is not None:
            members.setdefault(feature.block, []).append(place)
    return {block: np.array(places, dtype=np.int64) for block, places in members.items()}


def powers_of_features(features: Sequence[Feature], powers: Mapping[str, float]) -> Array:
    """Return the power of each feature, float64 (D,), from the powers of blocks: 1 for blocks that are not named."""
    found = [1.0 if feature.block is None else float(powers.get(feature.block, 1.0)) for feature in features]
    return np.array(found, dtype=np.float64)


def powers_of_blocks(features: Sequence[Feature], powers: Array) -> dict[str, float]:
    """Return the power of each block by its name, from the powers of its features, float64 (D,)."""
    return {block: float(powers[places[0]]) for block, places in members_of_blocks(features).items()}


def refuse_unknown_blocks(named: Iterable[str], features: Iterable[Feature]) -> None:
    """Raise InputError if a block is named to which no clustered feature belongs."""
    known = dict.fromkeys(feature.block for feature in features if feature.block is not None)
    unknown = [str(block) for block in named if block not in known]
    if unknown:
        has = f"it has {listed(list(known))}" if known else "no clustered feature of it has a block"
        raise InputError(f"block_powers: the schema has no block {listed(unknown)}; {has}")
