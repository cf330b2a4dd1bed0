"""A second look at a table and its schema: what fits, but may make subtypes that are none."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.drafting.column import observed
from clinclust.drafting.evidence import candidate
from clinclust.drafting.look import Look
from clinclust.drafting.orders import in_order
from clinclust.drafting.repeated_rows import with_visits
from clinclust.drafting.suspected_codes import suspected_codes
from clinclust.drafting.ties import Spike, spike_of
from clinclust.drafting.units import far_counts, odd_numbers
from clinclust.drafting.unmodelled import unmodelled
from clinclust.files.column_notes import ColumnNotes
from clinclust.likelihoods.binomial import Binomial
from clinclust.likelihoods.ordinal import Ordinal
from clinclust.schema.feature import Feature
from clinclust.schema.feature_schema import FeatureSchema

__all__ = ["looks_of"]

Array = NDArray[np.float64]

_MOSTLY = 0.5
_RARE, _FEWEST_SUBJECTS = 5, 100
_TIED = 0.2
_FEW_EQUAL = 5
_REPAIR = "missing_codes, minimum or maximum, or correct the table"
"""What mends values that cannot be."""
_CLEAR = 20.0
"""By how many nats another likelihood must be better. Subtypes themselves make a binomial scale look less binomial."""


def looks_of(table: pd.DataFrame, frame: pd.DataFrame, schema: FeatureSchema) -> list[Look]:
    """Return what deserves a look before subtypes are searched.

    Parameters
    ----------
    table : pandas.DataFrame, shape (N, any)
        The table as it was read.
    frame : pandas.DataFrame, shape (N, D)
        The table as `FeatureSchema.validate` returned it.
    schema : FeatureSchema
    """
    looks: list[Look] = []
    for feature in schema:
        if feature.role == "ignore" and feature.name in table:
            looks += _about_identifiers(feature.name, table)
        elif feature.role == "cluster":
            looks += _about_feature(feature, frame[feature.name])
    return looks


def _about_identifiers(name: str, table: pd.DataFrame) -> Iterator[Look]:
    proposal = unmodelled(observed(name, table[name], ColumnNotes()))
    for look in with_visits(proposal, table, name).looks if proposal is not None else ():
        yield Look((name,), look, "")


def _about_feature(feature: Feature, column: pd.Series) -> Iterator[Look]:
    """Yield what deserves a look in one feature that is clustered on."""
    name, missing = (feature.name,), float(column.isna().mean())
    if missing > _MOSTLY:
        yield Look(name, f"{missing:.0%} of the values are missing", "role: describe")
    scores = feature.scores(column)
    scores = scores[~np.isnan(scores)]
    if scores.size < 2:
        return
    if feature.levels is not None:
        yield from _about_levels(feature, feature.levels, scores)
    if feature.traits.is_scale:
        yield from _about_scale(feature, scores - (0.0 if feature.levels else feature.lowest))
    elif feature.traits.is_continuous:
        yield from _about_density(feature, scores)
    elif feature.levels is None:
        yield from (Look(name, what, _REPAIR) for what in far_counts(scores))
    if feature.levels is None and not feature.traits.is_scale:
        yield from _about_codes(feature, scores)


def _about_levels(feature: Feature, levels: tuple[str, ...], scores: Array) -> Iterator[Look]:
    counts = np.bincount(scores.astype(np.int64), minlength=len(levels))
    rare = [level for level, count in zip(levels, counts.tolist(), strict=True) if 0 < count < _RARE]
    if rare and feature.level_numbers is None and len(levels) > 2 and scores.size >= _FEWEST_SUBJECTS:
        shown = ", ".join(map(repr, rare[:3])) + (" ..." if len(rare) > 3 else "")
        yield Look((feature.name,), f"fewer than {_RARE} subjects have {shown}", f"synonyms: {{{rare[0]}: ...}}")
    if feature.traits.is_nominal and len(levels) > 2:
        found = in_order(list(levels), feature.name)
        if found is not None:
            repair = f"likelihood: ordinal, levels: [{', '.join(found[0])}]"
            yield Look((feature.name,), f"the levels have an order ({found[1]})", repair)


def _about_scale(feature: Feature, scores: Array) -> Iterator[Look]:
    if feature.likelihood != Binomial.name or feature.n_trials is None or feature.n_trials < 2:
        return
    binomial, ordinal = (
        candidate({"likelihood": name, "trials": feature.n_trials}, scores) for name in (Binomial.name, Ordinal.name)
    )
    if ordinal.evidence - binomial.evidence > _CLEAR:
        yield Look((feature.name,), "the values are not spread as a binomial scale", "likelihood: ordinal")


def _about_codes(feature: Feature, scores: Array) -> Iterator[Look]:
    numbers, counts = np.unique(scores, return_counts=True)
    for one in suspected_codes(numbers, counts.astype(np.int64)):
        yield Look((feature.name,), one.told(), f"{one.repair().strip('`')}, if it stands for a missing value")


def _about_density(feature: Feature, values: Array) -> Iterator[Look]:
    """Yield ties, which a density makes subtypes of, and numbers that contradict themselves."""
    name = (feature.name,)
    numbers, counts = np.unique(values, return_counts=True)
    place = int(np.argmax(counts))
    share, n = float(counts[place] / values.size), int(counts[place])
    tie = Spike(float(numbers[place]), share) if n >= _FEW_EQUAL and share >= _TIED else spike_of(values)
    if tie is not None:
        is_whole = bool((np.floor(numbers) == numbers).all()) and numbers[0] >= 0
        repair = "likelihood: negative_binomial" if is_whole else "role: describe"
        what = f"{tie.share:.0%} of the values are exactly {tie.value:g}; a density makes a subtype of them"
        yield Look(name, what, repair)
    for what in odd_numbers(feature.name, values):
        yield Look(name, what, _REPAIR)
