"""Check the contrasts that a caller has chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, get_args

from clinclust.errors import InputError
from clinclust.likelihoods.likelihood import ContrastKind
from clinclust.nearest import did_you_mean

if TYPE_CHECKING:
    from clinclust.schema import FeatureSchema

__all__ = ["checked_choice"]


def checked_choice(choice: Mapping[str, ContrastKind] | None, schema: FeatureSchema) -> Mapping[str, ContrastKind]:
    """Return the chosen contrasts by feature name; raise a ValueError that lists all that cannot be used."""
    if choice is None:
        return {}
    if not isinstance(choice, Mapping):
        raise InputError(f"contrasts must name a contrast for each feature, such as {{'age': 'rank'}}, not {choice!r}")
    features = {feature.name: feature for feature in schema.reported}
    problems = []
    for name, kind in choice.items():
        feature = features.get(name)
        if feature is None:
            in_schema = any(other.name == name for other in schema)
            hint = "" if in_schema or not isinstance(name, str) else did_you_mean(name, features)
            problems.append(f"{name}: {'is not compared (its role)' if in_schema else 'no such feature.'}{hint}")
        elif kind not in get_args(ContrastKind):
            problems.append(f"{name}: must be one of {', '.join(get_args(ContrastKind))}, not {kind!r}")
        elif kind not in feature.traits.contrasts:
            fitting = ", ".join(feature.traits.contrasts)
            problems.append(f"{name}: {feature.likelihood} cannot be contrasted by {kind} (only by {fitting})")
    if problems:
        raise InputError("\n".join(["contrasts cannot be used:", *(f"  - {problem}" for problem in problems)]))
    return choice
