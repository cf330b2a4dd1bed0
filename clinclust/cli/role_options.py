"""The options that change what columns are for, and what is said of those that form no subtypes."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import TYPE_CHECKING

from clinclust.cli.several_names import all_names, names_between_commas
from clinclust.cli.streams import say, tell
from clinclust.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema import FeatureSchema

__all__ = [
    "add_roles",
    "forget_roles",
    "refuse_roles_of_model",
    "roles_asked_for",
    "say_unused",
    "with_roles_asked",
    "without_roles_of",
]

_OPTIONS = {
    "cluster": "form subtypes from these columns, whatever the schema or the draft says",
    "describe": "report and test these columns, and form no subtypes from them",
    "ignore": "leave these columns out of subtypes and reports",
}


def add_roles(parser: argparse.ArgumentParser) -> None:
    """Add the options that change roles. Their names are those of the roles."""
    group = parser.add_argument_group("what columns are for")
    for role, what in _OPTIONS.items():
        group.add_argument(f"--{role}", action="append", type=names_between_commas, metavar="NAME", help=what)


def roles_asked_for(options: argparse.Namespace) -> dict[str, str]:
    """Return the role of each column that the options name.

    Raises
    ------
    InputError
        If a column is named after several options.
    """
    roles: dict[str, str] = {}
    problems = []
    for role in _OPTIONS:
        for name in all_names(getattr(options, role)) or ():
            if roles.setdefault(name, role) != role:
                problems.append(f"{name} is named after --{roles[name]} and --{role}: give one of them")
    if problems:
        raise InputError("; ".join(problems))
    return roles


def forget_roles(options: argparse.Namespace) -> argparse.Namespace:
    """Return the options without those that change roles, which a schema says from now on."""
    return argparse.Namespace(**{**vars(options), **dict.fromkeys(_OPTIONS)})


def without_roles_of(options: argparse.Namespace, names: Collection[object]) -> argparse.Namespace:
    """Return the options without the roles of these columns."""
    left = {
        role: [[name] for name in all_names(getattr(options, role)) or () if name not in names] or None
        for role in _OPTIONS
    }
    return argparse.Namespace(**{**vars(options), **left})


def refuse_roles_of_model(options: argparse.Namespace) -> None:
    """Raise InputError if roles are given for a model, whose subtypes were formed with those of its schema."""
    given = [f"--{role}" for role in _OPTIONS if getattr(options, role)]
    if given:
        raise InputError(f"{', '.join(given)} can be used only together with --schema: fit again to change roles")


def with_roles_asked(options: argparse.Namespace, schema: FeatureSchema, table: pd.DataFrame) -> FeatureSchema:
    """Return the schema with the roles that the options give; tell what was drafted by the values of the table."""
    roles = roles_asked_for(options)
    if not roles:
        return schema
    from clinclust.drafting.draft import with_wanted_roles
    from clinclust.schema.yaml_writer import yaml_line

    changed = with_wanted_roles(schema, table, roles)
    for before, after in zip(schema, changed, strict=True):
        if before.likelihood is None and after.likelihood is not None:
            tell(f"clinclust: note: drafted by its values: {yaml_line(after)}")
    return changed


def say_unused(schema: FeatureSchema) -> None:
    """Say which columns form no subtypes, and why."""
    from clinclust.cli.check_report import unused_lines

    for line in unused_lines(schema):
        say(line)
