"""The rules that the fields of one feature must satisfy together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clinclust.files.cell_text import NUMBER
from clinclust.files.listed import quoted
from clinclust.files.number_notation import BEYOND_A_LIMIT
from clinclust.likelihoods import REGISTRY
from clinclust.nearest import did_you_mean
from clinclust.roles import NEEDS_LIKELIHOOD, REASONS

if TYPE_CHECKING:
    from clinclust.schema.feature import Feature

__all__ = ["broken_rules"]

_OF_A_SCALE = ("levels", "trials", "minimum", "maximum", "transform")
_OF_NUMBERS = ("decimal", "thousands", "censored", "spike", "limit", "marks")
_OF_A_LIKELIHOOD = ("likelihood", *_OF_A_SCALE, *_OF_NUMBERS, "synonyms", "contrast", "prior", "complete")


def broken_rules(feature: Feature) -> Iterator[tuple[str, str]]:
    """Yield (field, sentence) for every rule between fields that `feature` breaks."""
    if feature.is_id:
        for field in _OF_A_LIKELIHOOD:
            if getattr(feature, field):
                yield field, "an id is not modelled; leave this out or give another role"
        return
    if feature.likelihood is None:
        if feature.role in NEEDS_LIKELIHOOD:
            known = ", ".join(REGISTRY)
            yield "likelihood", f"a feature with role {feature.role} needs one of: {known}"
        if feature.role in REASONS:
            for field in _OF_A_LIKELIHOOD:
                if getattr(feature, field):
                    yield field, "says nothing without a likelihood; give one, or leave this out"
        return
    yield from _rules_of_levels(feature)
    yield from _rules_of_numbers(feature)
    yield from _rules_of_point_masses(feature)
    yield from _rules_of_texts(feature)
    if feature.contrast is not None and feature.contrast not in feature.traits.contrasts:
        fitting = ", ".join(feature.traits.contrasts)
        yield "contrast", f"{feature.likelihood} cannot be contrasted by {feature.contrast} (only by {fitting})"
    yield from _rules_of_prior(feature)


def _rules_of_levels(feature: Feature) -> Iterator[tuple[str, str]]:
    levels, traits = feature.levels, feature.traits
    if levels is None:
        if traits.takes == {"levels"} and not traits.is_yes_no:
            yield "levels", f"{feature.likelihood} needs the list of its levels"
        return
    if "levels" not in traits.takes:
        with_levels = ", ".join(_that_take("levels"))
        yield "levels", f"{feature.likelihood} takes numbers, not levels (only {with_levels} have levels)"
    elif traits.is_yes_no and len(levels) != 2:
        yield (
            "levels",
            f"{feature.likelihood} needs exactly two levels, the second one meaning yes; there are {len(levels)}",
        )
    elif len(levels) < 2:
        yield "levels", f"{feature.likelihood} needs at least two levels"
    for code in feature.missing_codes:
        if code in levels:
            yield "missing_codes", f"{quoted(code)} is also one of the levels"


def _rules_of_numbers(feature: Feature) -> Iterator[tuple[str, str]]:
    likelihood, takes, low, high = feature.likelihood, feature.traits.takes, feature.minimum, feature.maximum
    if feature.transform is not None and "transform" not in takes:
        yield "transform", f"{likelihood} has no transform (only {' and '.join(_that_take('transform'))} have one)"
    if feature.trials is not None and "trials" not in takes:
        with_trials = _that_take("trials")
        have = "has" if len(with_trials) == 1 else "have"
        yield "trials", f"{likelihood} has no trials (only {' and '.join(with_trials)} {have})"
    if low is not None and high is not None and low >= high:
        yield "maximum", f"must be greater than the minimum, {low:g}"
    for field in ("minimum", "maximum"):
        if field not in takes and getattr(feature, field) is not None:
            yield field, f"{likelihood} has no {field} (only {', '.join(_that_take(field))} have one)"
    if feature.traits.is_scale:
        yield from _rules_of_a_scale(feature)
    most, steps = feature.traits.most_steps, feature.n_trials
    if most is not None and steps is not None and steps > most:
        yield "trials", f"{likelihood} has at most {most:,} steps, not {steps:,}; declare a longer scale gaussian"


def _rules_of_point_masses(feature: Feature) -> Iterator[tuple[str, str]]:
    for field in ("spike", "limit"):
        if getattr(feature, field) and feature.levels is None and "spike" not in feature.traits.takes:
            yield field, f"{feature.likelihood} has no {field} (only {', '.join(_that_take('spike'))} have one)"
    if feature.limit and feature.censored is not None:
        yield (
            "limit",
            "a value beyond a limit is either modelled as not detected (limit) or replaced (censored); leave one out",
        )
    for value in feature.spike:
        if feature.traits.is_whole and value != math.floor(value):
            yield "spike", f"{feature.likelihood} has whole numbers only, not {value:g}"
        if f"{value:.15g}" in feature.missing_codes:
            yield "spike", f"{value:.15g} is also a missing code"


def _rules_of_texts(feature: Feature) -> Iterator[tuple[str, str]]:
    """Yield the problems of what the feature declares about the texts of its cells."""
    for field in _OF_NUMBERS:
        if feature.levels is not None and getattr(feature, field):
            yield field, "a feature with levels has no numbers; leave this out"
    if feature.thousands is not None and feature.thousands == (feature.decimal or "."):
        mark, other = feature.decimal or ".", "." if feature.decimal == "," else ","
        needed = f'they must differ: write `decimal: "{other}"` as well'
        yield "thousands", f"the decimal mark is {quoted(mark)} too; {needed}"
    for given, meant in (feature.synonyms or {}).items():
        if given in (feature.levels or ()):
            yield "synonyms", f"{quoted(given)} is itself a level"
        elif given in feature.missing_codes:
            yield "synonyms", f"{quoted(given)} is also a missing code"
        elif feature.levels is not None and meant not in feature.levels:
            yield "synonyms", f"{quoted(given)} must mean a level, not {quoted(meant)}"
        elif feature.levels is None and not _means_number(feature, meant):
            yield "synonyms", f"{quoted(given)} must mean a number, not {quoted(meant)}"


def _means_number(feature: Feature, meant: str) -> bool:
    """Return whether a text is a number, or beyond a limit if the feature says what stands for such values."""
    limit = BEYOND_A_LIMIT.fullmatch(meant) if feature.censored is not None or feature.limit else None
    return NUMBER.fullmatch(limit[2] if limit else meant) is not None


def _that_take(field: str) -> list[str]:
    """Return the names of the likelihoods that accept the field."""
    return [name for name, likelihood in REGISTRY.items() if field in likelihood.takes]


def _rules_of_a_scale(feature: Feature) -> Iterator[tuple[str, str]]:
    low, high = feature.minimum, feature.maximum
    given = [feature.trials is not None, feature.levels is not None, low is not None or high is not None]
    if sum(given) != 1:
        yield (
            "trials",
            f"{feature.likelihood} needs exactly one of `trials` (values 0 to trials), `levels` (in order, lowest "
            "first) or whole `minimum` and `maximum`",
        )
    elif low is not None or high is not None:
        for field, bound in (("minimum", low), ("maximum", high)):
            if bound is None:
                yield field, f"{feature.likelihood} needs both `minimum` and `maximum`, or `trials`"
            elif bound != math.floor(bound):
                yield field, f"{feature.likelihood} needs a whole number, not {bound:g}"


def _rules_of_prior(feature: Feature) -> Iterator[tuple[str, str]]:
    lengths = feature.traits.hyperparameter_lengths(feature)
    for name, value in (feature.prior or {}).items():
        if name not in lengths:
            known = ", ".join(lengths)
            hint = did_you_mean(name, lengths)
            yield "prior", f"{feature.likelihood} has no hyperparameter {quoted(name)} ({known}).{hint}"
            continue
        length = lengths[name]
        if isinstance(value, list) != (length is not None):
            yield "prior", f"{name} must be {'one number' if length is None else 'a list of numbers'}"
        elif isinstance(value, list) and length and len(value) != length:
            yield "prior", f"{name} must be {length} numbers, {feature.traits.listed_by} in order"
        yield from _out_of_bounds(feature, name, value)


def _out_of_bounds(feature: Feature, name: str, value: float | list[float]) -> Iterator[tuple[str, str]]:
    """Yield the problem of a hyperparameter out of its bounds.

    Those with a unit must be positive here, and are compared with the values of the column when there is one
    (`clinclust.engine.problem.hyperparameters`).
    """
    low, high = feature.traits.bounds.get(name, feature.traits.usual_bounds)
    values = (value if isinstance(value, list) else [value]) or [1.0]
    if name in feature.traits.with_unit:
        if low > 0 and not values[-1] > 0:  # of a list, the last is the feature's own
            yield "prior", f"{name} must be greater than 0, not {values[-1]:g}"
        return
    outside = [number for number in values if not low <= number <= high]
    if outside:
        yield "prior", f"{name} must lie between {low:g} and {high:g}, not {outside[0]:g}"
