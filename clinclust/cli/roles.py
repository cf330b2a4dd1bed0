"""The options that change roles, and the lines on columns that form no subtypes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from clinclust.cli.options import Options, called, columns_between_commas, option
from clinclust.cli.streams import say
from clinclust.cli.summary import note
from clinclust.errors import InputError, refuse

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema import FeatureSchema


def _columns(what: str) -> tuple[str, ...]:
    names: tuple[str, ...] = option(what, (), action="extend", type=columns_between_commas, metavar="NAME")
    return names


@dataclass(kw_only=True)
class RoleOptions(Options):
    """The options that change roles; their names are those of the roles."""

    TITLE = "what columns are for"
    cluster: tuple[str, ...] = _columns("form subtypes from these columns, whatever the schema or the draft says")
    describe: tuple[str, ...] = _columns("report and test these columns, and form no subtypes from them")
    ignore: tuple[str, ...] = _columns("leave these columns out of subtypes and reports")


_ROLES = ("cluster", "describe", "ignore")
Given = TypeVar("Given", bound=RoleOptions)


def roles_asked_for(options: RoleOptions) -> dict[str, str]:
    """Return the role of each column that the options name; a column has one role."""
    roles: dict[str, str] = {}
    problems = []
    for role in _ROLES:
        for name in getattr(options, role):
            if roles.setdefault(name, role) != role:
                problems.append(f"{name} is named after {called(roles[name])} and {called(role)}: give one of them")
    refuse(problems)
    return roles


def without_roles_of(options: Given, names: Collection[object]) -> Given:
    """Return the options without the roles of these columns."""
    left = {role: tuple(name for name in getattr(options, role) if name not in names) for role in _ROLES}
    return replace(options, **left)


def refuse_roles_of_model(options: RoleOptions) -> None:
    """Raise InputError if roles are given for a fitted model."""
    given = [called(role) for role in _ROLES if getattr(options, role)]
    if given:
        raise InputError(f"{', '.join(given)} can be used only together with --schema: fit again to change roles")


def with_roles_asked(options: RoleOptions, schema: FeatureSchema, table: pd.DataFrame) -> FeatureSchema:
    """Return the schema with the roles of the options; note what was drafted from the values of the table."""
    roles = roles_asked_for(options)
    if not roles:
        return schema
    from clinclust.drafting.draft import with_wanted_roles
    from clinclust.schema.yaml_writer import yaml_line

    changed = with_wanted_roles(schema, table, roles)
    for before, after in zip(schema, changed, strict=True):
        if before.likelihood is None and after.likelihood is not None:
            note(f"drafted by its values: {yaml_line(after)}")
    return changed


def say_unused(schema: FeatureSchema) -> None:
    """Print which columns form no subtypes, and why."""
    from clinclust.cli.check_report import unused_lines

    for line in unused_lines(schema):
        say(line)
