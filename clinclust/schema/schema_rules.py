"""The rules that the features of one schema and its settings must satisfy together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, cast

from clinclust.errors import SchemaError
from clinclust.nearest import did_you_mean
from clinclust.schema.feature import Feature
from clinclust.schema.field_types import codes, text

__all__ = ["Settings", "clashes", "settings_of"]

OTHER_COLUMNS = ("error", "ignore")


@dataclass(frozen=True)
class Settings:
    """The settings of a schema that concern the whole table (see `FeatureSchema`)."""

    title: str | None
    missing_codes: tuple[str, ...]
    other_columns: Literal["error", "ignore"]


def settings_of(features: tuple[Feature, ...], title: object, missing_codes: object, other_columns: object) -> Settings:
    """Check the arguments of a schema and return its settings.

    Raises
    ------
    SchemaError
        If the schema cannot be used. The message lists all problems.
    """
    problems = []
    sound_title: str | None = None
    sound_codes: tuple[str, ...] = ()
    try:
        sound_title = None if title is None else text(title)
    except ValueError as error:
        problems.append(f"title: {error}")
    try:
        sound_codes = codes(missing_codes)
    except ValueError as error:
        problems.append(f"missing_codes: {error}")
    if other_columns not in OTHER_COLUMNS:
        hint = did_you_mean(str(other_columns), OTHER_COLUMNS)
        problems.append(f"other_columns: must be error or ignore, not {other_columns!r}.{hint}")
    strangers = [feature for feature in features if not isinstance(feature, Feature)]
    problems += [f"features: must be Feature objects, not {stranger!r}" for stranger in strangers[:5]]
    if not features:
        problems.append("features: there is none")
    if not strangers:
        problems += [f"{name}: {problem}" for name, problem in clashes(features, sound_codes)]
    if problems:
        raise SchemaError(problems)
    return Settings(sound_title, sound_codes, cast("Literal['error', 'ignore']", other_columns))


def clashes(features: Iterable[Feature], missing_codes: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return (feature name, sentence) for each repeated feature name, and for each level that is a missing code."""
    found = []
    seen: set[str] = set()
    for feature in features:
        if feature.name in seen:
            found.append((feature.name, "two features have this name"))
        seen.add(feature.name)
        for code in missing_codes:
            if feature.levels is not None and code in feature.levels:
                found.append((feature.name, f"level {code!r} is also one of the missing_codes of the schema"))
    return found
