"""The rules that the fields of one feature, and the features of one schema, must satisfy together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from clinclust.files.cell_text import NUMBER
from clinclust.files.listed import quoted
from clinclust.files.number_notation import BEYOND_A_LIMIT
from clinclust.files.selection.row_choice import RowChoice
from clinclust.likelihoods import REGISTRY
from clinclust.nearest import did_you_mean
from clinclust.roles import NEEDS_LIKELIHOOD, REASONS
from clinclust.schema.field_types import codes, text

if TYPE_CHECKING:
    from clinclust.schema.feature import Feature

OTHER_COLUMNS = ("error", "ignore")
TWICE = "two features have this name"
_OF_A_SCALE = ("levels", "trials", "minimum", "maximum", "transform")
_OF_NUMBERS = ("decimal", "thousands", "censored", "spike", "limit", "marks")
_OF_A_LIKELIHOOD = ("likelihood", *_OF_A_SCALE, *_OF_NUMBERS, "synonyms", "contrast", "prior", "complete")

Problems = Iterator[tuple[str, str]]
"""The field or the feature, and a sentence."""


def broken_rules(feature: Feature) -> Problems:
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


def _rules_of_levels(feature: Feature) -> Problems:
    levels, traits = feature.levels, feature.traits
    if levels is None:
        if traits.takes == {"levels"} and not traits.is_yes_no:
            yield "levels", f"{feature.likelihood} needs the list of its levels"
        return
    if "levels" not in traits.takes:
        yield "levels", f"{feature.likelihood} takes numbers, not levels (only {_that_take('levels')} levels)"
    elif traits.is_yes_no and len(levels) != 2:
        needed = "exactly two levels, the second one meaning yes"
        yield "levels", f"{feature.likelihood} needs {needed}; there are {len(levels)}"
    elif len(levels) < 2:
        yield "levels", f"{feature.likelihood} needs at least two levels"
    for code in feature.missing_codes:
        if code in levels:
            yield "missing_codes", f"{quoted(code)} is also one of the levels"


def _rules_of_numbers(feature: Feature) -> Problems:
    traits, low, high = feature.traits, feature.minimum, feature.maximum
    for field in ("transform", "trials", "minimum", "maximum"):
        if field not in traits.takes and getattr(feature, field) is not None:
            yield field, f"{feature.likelihood} has no {field} (only {_that_take(field)})"
    if low is not None and high is not None and low >= high:
        yield "maximum", f"must be greater than the minimum, {low:g}"
    if traits.is_scale:
        yield from _rules_of_a_scale(feature)
    most, steps = traits.most_steps, feature.n_trials
    if most is not None and steps is not None and steps > most:
        yield (
            "trials",
            f"{feature.likelihood} has at most {most:,} steps, not {steps:,}; declare a longer scale gaussian",
        )


def _rules_of_a_scale(feature: Feature) -> Problems:
    bounds = {"minimum": feature.minimum, "maximum": feature.maximum}
    has_bounds = any(bound is not None for bound in bounds.values())
    if (feature.trials is not None) + (feature.levels is not None) + has_bounds != 1:
        yield (
            "trials",
            f"{feature.likelihood} needs exactly one of `trials` (values 0 to trials), `levels` (in order, lowest "
            "first) or whole `minimum` and `maximum`",
        )
    elif has_bounds:
        for field, bound in bounds.items():
            if bound is None:
                yield field, f"{feature.likelihood} needs both `minimum` and `maximum`, or `trials`"
            elif bound != math.floor(bound):
                yield field, f"{feature.likelihood} needs a whole number, not {bound:g}"


def _rules_of_point_masses(feature: Feature) -> Problems:
    for field in ("spike", "limit"):
        if getattr(feature, field) and feature.levels is None and "spike" not in feature.traits.takes:
            yield field, f"{feature.likelihood} has no {field} (only {_that_take('spike')})"
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


def _rules_of_texts(feature: Feature) -> Problems:
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
    limit = BEYOND_A_LIMIT.fullmatch(meant) if feature.censored is not None or feature.limit else None
    return NUMBER.fullmatch(limit[2] if limit else meant) is not None


def _that_take(field: str) -> str:
    """Return the likelihoods that accept the field, and their verb: ``binomial and ordinal have``."""
    *first, last = [name for name, likelihood in REGISTRY.items() if field in likelihood.takes]
    return f"{', '.join(first)} and {last} have" if first else f"{last} has"


def _rules_of_prior(feature: Feature) -> Problems:
    lengths = feature.traits.hyperparameter_lengths(feature)
    lengths |= {name: lengths[scale] for name, (_, scale) in feature.traits.known.items()}
    for name, value in (feature.prior or {}).items():
        twice = [other for other in feature.traits.known.get(name, ()) if other in (feature.prior or {})]
        if twice:
            yield "prior", f"{name} says {' and '.join(feature.traits.known[name])} as well; leave out {twice[0]}"
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


def _out_of_bounds(feature: Feature, name: str, value: float | list[float]) -> Problems:
    """Yield the problem of a hyperparameter out of its bounds; those with a unit must only be positive here."""
    low, high = feature.traits.bounds.get(name, feature.traits.usual_bounds)
    values = (value if isinstance(value, list) else [value]) or [1.0]
    if name in feature.traits.with_unit:
        if low > 0 and not values[-1] > 0:  # of a list, the last is the feature's own
            yield "prior", f"{name} must be greater than 0, not {values[-1]:g}"
        return
    outside = [number for number in values if not low <= number <= high]
    if outside:
        yield "prior", f"{name} must lie between {low:g} and {high:g}, not {outside[0]:g}"


def problems_of_settings(title: object, missing_codes: object, other_columns: object, rows: object) -> list[str]:
    """Return one sentence for each argument of a schema, other than features, that cannot be used."""
    problems = []
    checks: tuple[tuple[str, Callable[[object], object], object], ...] = (
        ("title", text, title),
        ("missing_codes", codes, missing_codes),
        ("rows", rows_of, rows),
    )
    for name, check, value in checks:
        try:
            if value is not None or name == "missing_codes":
                check(value)
        except ValueError as error:
            problems.append(f"{name}: {error}")
    if other_columns not in OTHER_COLUMNS:
        hint = did_you_mean(str(other_columns), OTHER_COLUMNS)
        problems.append(f"other_columns: must be error or ignore, not {quoted(other_columns)}.{hint}")
    return problems


def rows_of(value: object) -> RowChoice:
    """Return the choice of rows of a schema; raise InputError for any other value."""
    if value is None or isinstance(value, RowChoice):
        return value or RowChoice()
    return RowChoice.from_dict(value)


def problems_among(features: Sequence[Feature], missing_codes: object) -> Problems:
    """Yield (feature name, sentence) for each broken rule between features, and of missing codes."""
    known = missing_codes if isinstance(missing_codes, (list, tuple)) else ()
    for feature in features:
        for code in known:
            if feature.levels is not None and code in feature.levels:
                yield feature.name, f"level {quoted(code)} is also one of the missing_codes of the schema"
    of_parts = {part.name: feature.name for feature in features for part in feature.parts if part.is_part}
    for feature in features:
        if feature.name in of_parts:
            of = quoted(of_parts[feature.name])
            yield feature.name, f"has the name of a part of {of}, which has a spike; rename it"
    yield from _blocks_alike(features)
    yield from _mixed_blocks(features)


def _blocks_alike(features: Sequence[Feature]) -> Problems:
    """Yield each feature whose block differs from an earlier one by case and spaces only."""
    first: dict[str, str] = {}
    for feature in features:
        known = None if feature.block is None else first.setdefault(block_key(feature.block), feature.block)
        if known != feature.block:
            yield (
                feature.name,
                f"block: {quoted(feature.block)} differs from the block {quoted(known)} above by case or spaces "
                "only, and would be another block; write both in the same way, or give one of them another name",
            )


def _mixed_blocks(features: Sequence[Feature]) -> Problems:
    clustered = [feature for feature in features if feature.block is not None and feature.is_clustered]
    chained = {feature.block: feature for feature in clustered if feature.traits.is_chained}
    for feature in clustered:
        if feature.block in chained and not feature.traits.is_chained:
            yield (
                feature.name,
                f"block: {quoted(feature.block)} is a block of {chained[feature.block].likelihood} features, and "
                f"{feature.likelihood} cannot be among them; give it another block, or none",
            )


def block_key(block: str) -> str:
    """Return what names of blocks share that differ by case and spaces only."""
    return "".join(block.casefold().split())
