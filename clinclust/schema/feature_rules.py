"""What the fields of one feature must have to do with each other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clinclust.nearest import did_you_mean

if TYPE_CHECKING:
    from clinclust.schema.feature import Feature

__all__ = ["HYPERPARAMETERS", "broken_rules", "contrasts_for"]

HYPERPARAMETERS: dict[str, tuple[str, ...]] = {
    "bernoulli": ("a", "b"),
    "binomial": ("a", "b"),
    "categorical": ("concentrations",),
    "poisson": ("shape", "rate"),
    "geometric": ("a", "b"),
    "exponential": ("shape", "rate"),
    "gaussian": ("mean", "kappa", "shape", "rate"),
}
"""The names that the prior of each likelihood may set; any part of them may be left to the data."""

_TAKES_LEVELS = ("bernoulli", "binomial", "categorical")
_TAKES_RANGE = ("binomial", "poisson", "geometric", "exponential", "gaussian")
_TAKES_TRANSFORM = ("exponential", "gaussian")
_OF_A_SCALE = ("levels", "trials", "minimum", "maximum", "transform")
_OF_A_LIKELIHOOD = ("likelihood", *_OF_A_SCALE, "contrast", "prior", "complete")


def contrasts_for(likelihood: str) -> tuple[str, ...]:
    """Return the contrasts of subtypes that a likelihood allows, the plainest one first."""
    if likelihood == "categorical":
        return ("counts",)  # its levels have no order, so no means and no ranks
    means_and_ranks = ("student", "welch", "rank")
    return ("counts", *means_and_ranks) if likelihood == "bernoulli" else means_and_ranks


def broken_rules(feature: Feature) -> Iterator[tuple[str, str]]:
    """Yield (field, sentence) for every rule between its fields that `feature` breaks."""
    if feature.role == "id":
        for field in _OF_A_LIKELIHOOD:
            if getattr(feature, field):
                yield field, "an id is not modelled; leave this out or give another role"
        return
    if feature.likelihood is None:
        if feature.role != "ignore":
            known = ", ".join(HYPERPARAMETERS)
            yield "likelihood", f"a feature with role {feature.role} needs one of: {known}"
        return
    yield from _rules_of_levels(feature)
    yield from _rules_of_numbers(feature)
    if feature.contrast is not None and feature.contrast not in contrasts_for(feature.likelihood):
        fitting = ", ".join(contrasts_for(feature.likelihood))
        yield "contrast", f"{feature.likelihood} cannot be contrasted by {feature.contrast} (only by {fitting})"
    yield from _rules_of_prior(feature)


def _rules_of_levels(feature: Feature) -> Iterator[tuple[str, str]]:
    levels = feature.levels
    if levels is None:
        if feature.likelihood == "categorical":
            yield "levels", "categorical needs the list of its levels"
        return
    if feature.likelihood not in _TAKES_LEVELS:
        yield (
            "levels",
            f"{feature.likelihood} takes numbers, not levels (only {', '.join(_TAKES_LEVELS)} have levels)",
        )
    elif feature.likelihood == "bernoulli" and len(levels) != 2:
        yield (
            "levels",
            f"bernoulli needs exactly two levels, the second one meaning yes; there are {len(levels)}",
        )
    elif len(levels) < 2:
        yield "levels", f"{feature.likelihood} needs at least two levels"
    for code in feature.missing_codes:
        if code in levels:
            yield "missing_codes", f"{code!r} is also one of the levels"


def _rules_of_numbers(feature: Feature) -> Iterator[tuple[str, str]]:
    likelihood, low, high = feature.likelihood, feature.minimum, feature.maximum
    if feature.transform is not None and likelihood not in _TAKES_TRANSFORM:
        yield "transform", f"{likelihood} has no transform (only {' and '.join(_TAKES_TRANSFORM)} have one)"
    if feature.trials is not None and likelihood != "binomial":
        yield "trials", f"{likelihood} has no trials (only binomial has)"
    if low is not None and high is not None and low >= high:
        yield "maximum", f"must be greater than the minimum, {low:g}"
    if likelihood not in _TAKES_RANGE:
        for field in ("minimum", "maximum"):
            if getattr(feature, field) is not None:
                yield field, f"{likelihood} has no {field} (only {', '.join(_TAKES_RANGE)} have one)"
    if likelihood == "binomial":
        yield from _rules_of_a_binomial(feature)


def _rules_of_a_binomial(feature: Feature) -> Iterator[tuple[str, str]]:
    low, high = feature.minimum, feature.maximum
    given = [feature.trials is not None, feature.levels is not None, low is not None or high is not None]
    if sum(given) != 1:
        yield (
            "trials",
            "binomial needs exactly one of `trials` (values 0 to trials), `levels` (in order, lowest first) "
            "or whole `minimum` and `maximum`",
        )
    elif low is not None or high is not None:
        for field, bound in (("minimum", low), ("maximum", high)):
            if bound is None:
                yield field, "binomial needs both `minimum` and `maximum`, or `trials`"
            elif bound != math.floor(bound):
                yield field, f"binomial needs a whole number, not {bound:g}"


def _rules_of_prior(feature: Feature) -> Iterator[tuple[str, str]]:
    assert feature.likelihood is not None
    names = HYPERPARAMETERS[feature.likelihood]
    for name, value in (feature.prior or {}).items():
        if name not in names:
            known = ", ".join(names)
            yield (
                "prior",
                f"{feature.likelihood} has no hyperparameter {name!r} ({known}).{did_you_mean(name, names)}",
            )
        elif isinstance(value, list) != (name == "concentrations"):
            yield (
                "prior",
                f"{name} must be {'a list of numbers' if name == 'concentrations' else 'one number'}",
            )
        elif isinstance(value, list):
            if feature.levels is not None and len(value) != len(feature.levels):
                yield (
                    "prior",
                    f"concentrations must be {len(feature.levels)} numbers, one for each level in order",
                )
            if not all(number > 0 for number in value):
                yield "prior", "concentrations must be greater than 0"
        elif name != "mean" and value <= 0:
            yield "prior", f"{name} must be greater than 0, not {value:g}"
