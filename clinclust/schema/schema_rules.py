"""The rules that the features of one schema and its settings must satisfy together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, cast

from clinclust.errors import SchemaError
from clinclust.files.cell_text import shortened
from clinclust.files.listed import quoted
from clinclust.nearest import did_you_mean
from clinclust.schema.feature import Feature
from clinclust.schema.field_types import codes, text

__all__ = ["TWICE", "Settings", "clashes", "problems_of_settings", "settings_of"]

OTHER_COLUMNS = ("error", "ignore")
TWICE = "two features have this name"


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
    problems = problems_of_settings(title, missing_codes, other_columns)
    strangers = [feature for feature in features if not isinstance(feature, Feature)]
    problems += [f"features: must be Feature objects, not {quoted(stranger)}" for stranger in strangers[:5]]
    if not features:
        problems.append("features: there is none")
    if not strangers:
        at_fault = any(problem.startswith("missing_codes:") for problem in problems)
        of_table = () if at_fault else codes(missing_codes)
        problems += [f"{shortened(name)}: {problem}" for name, problem in clashes(features, of_table)]
        problems += [f"{shortened(name)}: {TWICE}" for name in repeated_names(features)]
    if problems:
        raise SchemaError(problems)
    sound_title = None if title is None else text(title)
    return Settings(sound_title, codes(missing_codes), cast("Literal['error', 'ignore']", other_columns))


def problems_of_settings(title: object, missing_codes: object, other_columns: object) -> list[str]:
    """Return one sentence for each argument of a schema that cannot be used; it begins with the name of the argument.

    They are found apart from those of the features, so that both can be listed at once.
    """
    problems = []
    checks = (("title", text, title), ("missing_codes", codes, missing_codes))
    for name, check, value in checks:
        try:
            if value is not None or name != "title":
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


def repeated_names(features: Iterable[Feature]) -> list[str]:
    """Return the names that more than one feature has, once for each feature after the first."""
    seen: set[str] = set()
    repeated = []
    for feature in features:
        if feature.name in seen:
            repeated.append(feature.name)
        seen.add(feature.name)
    return repeated
