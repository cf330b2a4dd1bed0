"""The other likelihoods that a declared feature could have for its values, in the order in which they are preferred."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clinclust.errors import SchemaError
from clinclust.likelihoods import REGISTRY
from clinclust.likelihoods.exponential import Exponential
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.likelihoods.ordinal import Ordinal
from clinclust.schema.feature import Feature

__all__ = ["alternatives_of"]

Array = NDArray[np.float64]

_FEW_COUNTS = 10
"""The largest count up to which counts may be declared as the levels of a scale."""
_AT_LOWEST, _MOST_TIED, _LEAST_SPREAD = 0.1, 0.2, 2.0
_COUNTS = [name for name, traits in REGISTRY.items() if "count" in traits.drafted_for and traits.is_count]
_OF_VALUES = ("levels", "trials", "minimum", "maximum")


def alternatives_of(feature: Feature, scores: Array) -> list[Feature]:
    """Return the feature with each other likelihood, or transform, that the schema accepts for its values.

    A likelihood that gives every level a probability of its own (Bernoulli, ordinal, categorical) has no alternative,
    because it can have any distribution. The levels of a scale keep their order.

    Parameters
    ----------
    feature : Feature
        A feature that is clustered on.
    scores : float64 (n,)
        The observed values before any transform, as `Feature.scores` returns them.
    """
    traits = feature.traits
    if traits.is_share or traits.counts_levels or not scores.size:
        return []
    if traits.is_scale:
        fields = _of_a_scale(feature, scores)
    elif traits.is_count:
        fields = _of_a_count(scores)
    else:
        fields = _of_a_measurement(scores)
    declared = (feature.likelihood, feature.transform)
    found = [_changed(feature, of) for of in fields if (of["likelihood"], of.get("transform")) != declared]
    return [other for other in found if other is not None]


def _of_a_scale(feature: Feature, scores: Array) -> Iterator[dict[str, Any]]:
    """Yield the ordinal likelihood, or a density for a scale of too many steps, if its values are spread widely."""
    steps = feature.n_trials or 0
    if Ordinal.most_steps is None or steps <= Ordinal.most_steps:
        yield {"likelihood": Ordinal.name, **{name: getattr(feature, name) for name in _OF_VALUES}}
    elif feature.levels is None and _are_dense(scores):
        yield {"likelihood": Gaussian.name, "minimum": feature.lowest, "maximum": feature.lowest + steps}


def _of_a_count(scores: Array) -> Iterator[dict[str, Any]]:
    highest = int(scores.max())
    yield from ({"likelihood": name} for name in _COUNTS if highest <= REGISTRY[name].largest)
    if 1 < highest <= _FEW_COUNTS:
        yield {"likelihood": Ordinal.name, "trials": highest}


def _of_a_measurement(scores: Array) -> Iterator[dict[str, Any]]:
    yield {"likelihood": Gaussian.name}
    low = float(scores.min())
    if _has_logarithm(scores):
        yield {"likelihood": Gaussian.name, "transform": "log"}
        yield {"likelihood": Gaussian.name, "transform": "sqrt"}
    elif low == 0.0 and _has_logarithm(scores + 1.0):
        yield {"likelihood": Gaussian.name, "transform": "log1p"}
    if low >= 0.0:
        yield {"likelihood": Exponential.name}


def _has_logarithm(values: Array) -> bool:
    """Return whether a logarithm suits values (n,): all are positive, and few of them are the lowest one."""
    low = float(values.min())
    return low > 0 and bool(np.mean(values == low) <= max(_AT_LOWEST, 2.0 / values.size))


def _are_dense(values: Array) -> bool:
    """Return whether whole numbers (n,) are spread so widely that a density describes them."""
    shares = np.unique(values, return_counts=True)[1] / values.size
    return bool(values.std() >= _LEAST_SPREAD and shares.max() < _MOST_TIED)


def _changed(feature: Feature, fields: dict[str, Any]) -> Feature | None:
    """Return the feature with another likelihood; None if the schema does not accept it.

    What it says of its cells and for readers stays; what only the likelihood before can have is left out.
    """
    traits = REGISTRY[fields["likelihood"]]
    kept = {name: value for name, value in feature.content().items() if name not in ("prior", "transform")}
    if kept.get("contrast") not in traits.contrasts:
        kept.pop("contrast", None)
    for name in _OF_VALUES:
        if name not in traits.takes or fields["likelihood"] == Ordinal.name:
            kept.pop(name, None)
    stated = {name: value for name, value in fields.items() if value is not None}
    try:
        return Feature(**{**kept, **stated})
    except SchemaError:
        return None
