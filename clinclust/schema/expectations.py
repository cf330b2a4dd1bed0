"""The expectations of a feature for the cells of its column, in words and numbers."""

from __future__ import annotations

import math
from typing import Literal

from clinclust.schema.feature import Feature

Kind = Literal["observed", "level", "number", "finite", "whole", "range", "size", "transform"]

_LEVELS_SHOWN = 12


def limits(feature: Feature) -> tuple[float, float]:
    """Return the smallest and the largest allowed value of a feature without levels, in its own unit."""
    if feature.n_trials is not None:
        return feature.lowest, feature.lowest + feature.n_trials
    low, high = feature.traits.support()
    return (
        low if feature.minimum is None else max(feature.minimum, low),
        high if feature.maximum is None else min(feature.maximum, high),
    )


def largest(feature: Feature) -> float:
    """Return the largest absolute value that the likelihood can model; infinite for a scale."""
    return math.inf if feature.n_trials is not None else feature.traits.largest


def transform_limit(feature: Feature) -> tuple[float, bool]:
    """Return the lower limit of values that the transform accepts, and whether it is included."""
    if feature.transform == "log":
        return (0.0, False) if feature.traits.is_real else (1.0, True)
    if feature.transform == "log1p":
        return (-1.0, False) if feature.traits.is_real else (0.0, True)
    return (0.0, True) if feature.transform == "sqrt" else (-math.inf, True)


def expectations(feature: Feature) -> dict[Kind, str]:
    """Return the conditions on every cell, in words; a cell is reported for the first that it fails."""
    if feature.is_ignored:
        return {}
    if feature.is_id:
        return {"observed": "an identifier in every row"}
    asked: dict[Kind, str] = {"observed": "a value in every row (complete: true)"} if feature.complete else {}
    if feature.levels is not None:
        return asked | {"level": f"one of the levels {listed(feature.levels)}"}
    asked |= {"number": "a number", "finite": "a finite number"}
    if feature.traits.is_whole:
        asked["whole"] = "a whole number"
    if limits(feature) != (-math.inf, math.inf):
        asked["range"] = _range_in_words(feature) + _or_at_a_spike(feature)
    if not math.isinf(largest(feature)):
        sign = " in absolute value" if feature.traits.is_real else ""
        asked["size"] = f"at most {largest(feature):,.15g}{sign} ({feature.likelihood})"
    if feature.transform is not None:
        limit, usable = transform_limit(feature)
        relation = "at least" if usable else "greater than"
        asked["transform"] = f"{relation} {limit:g} (transform {feature.transform}){_or_at_a_spike(feature)}"
    return asked


def _or_at_a_spike(feature: Feature) -> str:
    return f", or {' or '.join(f'{value:.15g}' for value in feature.spike)} (spike)" if feature.spike else ""


def listed(levels: tuple[str, ...]) -> str:
    """Return the levels in quotes; of a long list the first ones and their number."""
    shown = ", ".join(map(repr, levels[:_LEVELS_SHOWN]))
    return shown if len(levels) <= _LEVELS_SHOWN else f"{shown}, ... ({len(levels)} in all)"


def _range_in_words(feature: Feature) -> str:
    low, high = limits(feature)
    kind = f"{feature.likelihood} with {feature.trials} trials" if feature.trials else f"{feature.likelihood}"
    if high == math.inf:
        words = f"at least {low:.15g}"
    elif low == -math.inf:
        words = f"at most {high:.15g}"
    else:
        words = f"{low:.15g} to {high:.15g}"
    return f"{words} ({kind})"
