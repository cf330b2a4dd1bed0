"""The rules that the features of one schema and its settings must satisfy together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, cast

from clinclust.errors import SchemaError
from clinclust.files.cell_text import shortened
from clinclust.files.listed import quoted
from clinclust.files.selection.row_choice import RowChoice
from clinclust.nearest import did_you_mean
from clinclust.schema.feature import Feature
from clinclust.schema.field_types import codes, text

__all__ = [
    "TWICE",
    "Settings",
    "block_key",
    "blocks_alike",
    "clashes",
    "mixed_blocks",
    "names_of_parts",
    "problems_of_settings",
    "settings_of",
]

OTHER_COLUMNS = ("error", "ignore")
TWICE = "two features have this name"


@dataclass(frozen=True)
class Settings:
    """The settings of a schema that concern the whole table (see `FeatureSchema`)."""

    title: str | None
    missing_codes: tuple[str, ...]
    other_columns: Literal["error", "ignore"]
    rows: RowChoice


def settings_of(
    features: tuple[Feature, ...], title: object, missing_codes: object, other_columns: object, rows: object
) -> Settings:
    """Check the arguments of a schema and return its settings.

    Raises
    ------
    SchemaError
        If the schema cannot be used. The message lists all problems.
    """
    problems = problems_of_settings(title, missing_codes, other_columns, rows)
    strangers = [feature for feature in features if not isinstance(feature, Feature)]
    problems += [f"features: must be Feature objects, not {quoted(stranger)}" for stranger in strangers[:5]]
    if not features:
        problems.append("features: there is none")
    if not strangers:
        at_fault = any(problem.startswith("missing_codes:") for problem in problems)
        of_table = () if at_fault else codes(missing_codes)
        problems += [f"{shortened(name)}: {problem}" for name, problem in clashes(features, of_table)]
        problems += [f"{shortened(name)}: {TWICE}" for name in repeated_names(features)]
        of_blocks = (*names_of_parts(features), *blocks_alike(features), *mixed_blocks(features))
        problems += [f"{shortened(name)}: {problem}" for name, problem in of_blocks]
    if problems:
        raise SchemaError(problems)
    sound_title = None if title is None else text(title)
    sound_columns = cast("Literal['error', 'ignore']", other_columns)
    return Settings(sound_title, codes(missing_codes), sound_columns, _rows(rows))


def _rows(value: object) -> RowChoice:
    """Return which rows a schema takes; raise InputError if the value does not say it."""
    if value is None or isinstance(value, RowChoice):
        return value or RowChoice()
    return RowChoice.from_dict(value)


def problems_of_settings(title: object, missing_codes: object, other_columns: object, rows: object) -> list[str]:
    """Return one sentence for each argument of a schema that cannot be used; it begins with the name of the argument.

    They are found apart from those of the features, so that both can be listed at once.
    """
    problems = []
    checks: tuple[tuple[str, Callable[[object], object], object], ...] = (
        ("title", text, title),
        ("missing_codes", codes, missing_codes),
        ("rows", _rows, rows),
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


def clashes(features: Iterable[Feature], missing_codes: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return (feature name, sentence) for each level that is a missing code of the schema."""
    return [
        (feature.name, f"level {quoted(code)} is also one of the missing_codes of the schema")
        for feature in features
        for code in missing_codes
        if feature.levels is not None and code in feature.levels
    ]


def names_of_parts(features: Iterable[Feature]) -> list[tuple[str, str]]:
    """Return (feature name, sentence) for each feature that has the name of a part of another one."""
    features = tuple(features)
    of_parts = {part.name: feature.name for feature in features for part in feature.parts if part.is_part}
    return [
        (feature.name, f"has the name of a part of {quoted(of_parts[feature.name])}, which has a spike; rename it")
        for feature in features
        if feature.name in of_parts
    ]


def blocks_alike(features: Iterable[Feature]) -> list[tuple[str, str]]:
    """Return (feature name, sentence) for each feature whose block has the name of an earlier one but case and spaces.

    They would be two blocks, and each would count in full.
    """
    first: dict[str, str] = {}
    found = []
    for feature in features:
        if feature.block is None:
            continue
        known = first.setdefault(block_key(feature.block), feature.block)
        if known != feature.block:
            found.append(
                (
                    feature.name,
                    f"block: {quoted(feature.block)} differs from the block {quoted(known)} above by case or spaces "
                    "only, and would be another block; write both in the same way, or give one of them another name",
                )
            )
    return found


def mixed_blocks(features: Iterable[Feature]) -> list[tuple[str, str]]:
    """Return (feature name, sentence) for each feature of another likelihood in a multivariate Gaussian block.

    The likelihood of the block says how its features depend on each other, and knows no features of other kinds.
    """
    clustered = [feature for feature in features if feature.block is not None and feature.is_clustered]
    chained = {feature.block: feature for feature in clustered if feature.traits.is_chained}
    return [
        (
            feature.name,
            f"block: {quoted(feature.block)} is a block of {chained[feature.block].likelihood} features, and "
            f"{feature.likelihood} cannot be among them; give it another block, or none",
        )
        for feature in clustered
        if feature.block in chained and not feature.traits.is_chained
    ]


def block_key(block: str) -> str:
    """Return what two names of blocks share if they differ by case and spaces only."""
    return "".join(block.casefold().split())


def repeated_names(features: Iterable[Feature]) -> list[str]:
    """Return the names that more than one feature has, once for each feature after the first."""
    seen: set[str] = set()
    repeated = []
    for feature in features:
        if feature.name in seen:
            repeated.append(feature.name)
        seen.add(feature.name)
    return repeated
