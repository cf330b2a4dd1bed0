"""Blocks: named groups of features that depend on each other even within subtypes, and the power of each.

At the power w, p features count for w p. In a multivariate Gaussian block, of power 1, each depends on those before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from clinclust.arrays import Array, Whole
from clinclust.errors import InputError
from clinclust.files.listed import listed
from clinclust.likelihoods import Likelihood
from clinclust.schema import Feature


def likelihoods_of(features: Sequence[Feature]) -> tuple[Likelihood, ...]:
    """Return the likelihood of each feature, in its place in its block where that block has one likelihood."""
    sizes = Counter(feature.block for feature in features if feature.traits.is_chained)
    before: Counter[str | None] = Counter()
    found = []
    for feature in features:
        likelihood = feature.traits.of(feature)
        if likelihood.is_chained and feature.block is not None:
            likelihood = likelihood.in_block(before[feature.block], sizes[feature.block])
            before[feature.block] += 1
        found.append(likelihood)
    return tuple(found)


def members_of_chains(features: Sequence[Feature]) -> list[list[int]]:
    """Return the places of the features of each multivariate Gaussian block of several features, in their order."""
    chains: list[list[int]] = []
    for place, likelihood in enumerate(likelihoods_of(features)):
        if likelihood.n_before:
            chains[-1].append(place)
        elif likelihood.is_chained:
            chains.append([place])
    return [chain for chain in chains if len(chain) > 1]


def most_complete_first(
    features: Sequence[Feature], n_missing: Mapping[str, int], given: Mapping[str, Mapping[str, Any]]
) -> tuple[Feature, ...]:
    """Return the same features, those of each multivariate Gaussian block by their number of missing values.

    A value takes part only where those before it in the block are observed, so the most complete come first. Where the
    rows of a block's scatter matrix are stated, their lengths, 1 to p, give the order. The features of a block are
    adjacent; hyperparameters in `given` take precedence over those of the schema.
    """
    ordered = list(features)
    for members in members_of_chains(features):
        block = [features[place] for place in members]
        rows = [{**feature.stated, **given.get(feature.name, {})}.get("scatter") for feature in block]
        keys = [n_missing[feature.name] for feature in block]
        if any(row is not None for row in rows):
            lengths = [len(row) if isinstance(row, Sequence) else 0 for row in rows]
            is_order = sorted(lengths) == list(range(1, len(block) + 1))
            keys = lengths if is_order else [0] * len(block)
        by_key = sorted(range(len(block)), key=lambda place: keys[place])
        for place, chosen in zip(members, by_key, strict=True):
            ordered[place] = block[chosen]
    return tuple(ordered)


def members_of_blocks(features: Sequence[Feature]) -> dict[str, Whole]:
    """Return the indices of the features of each block that has a power, int64 (p,), by its name."""
    members: dict[str, list[int]] = {}
    for place, feature in enumerate(features):
        if feature.block is not None and not feature.traits.is_chained:
            members.setdefault(feature.block, []).append(place)
    return {block: np.array(places, dtype=np.int64) for block, places in members.items()}


def powers_of_features(features: Sequence[Feature], powers: Mapping[str, float]) -> Array:
    """Return the power of each feature, float64 (D,), from the weights of blocks: 1 for others."""
    found = [1.0 if feature.block is None else float(powers.get(feature.block, 1.0)) for feature in features]
    return np.array(found, dtype=np.float64)


def powers_of_blocks(features: Sequence[Feature], powers: Array) -> dict[str, float]:
    """Return the power of each block by its name, from the powers of its features, float64 (D,)."""
    return {block: float(powers[places[0]]) for block, places in members_of_blocks(features).items()}


def refuse_unknown_blocks(named: Iterable[str], features: Iterable[Feature]) -> None:
    """Raise InputError if a block is named to which no clustered feature belongs."""
    known = dict.fromkeys(
        feature.block for feature in features if feature.block is not None and not feature.traits.is_chained
    )
    unknown = [str(block) for block in named if block not in known]
    if unknown:
        has = f"it has {listed(list(known))}" if known else "no clustered feature of it has a block"
        raise InputError(f"block_weights: the schema has no block {listed(unknown)}; {has}")
