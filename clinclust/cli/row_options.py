"""The options that choose rows, and what the schema or the model says of them: both may, but must not contradict."""

from __future__ import annotations

import argparse
import warnings
from dataclasses import fields
from typing import TYPE_CHECKING

from clinclust.errors import CohortWarning, InputError

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.files.selection.row_choice import RowChoice
    from clinclust.schema import FeatureSchema

__all__ = [
    "add_all_rows",
    "add_rows",
    "forget_rows",
    "rows_asked_for",
    "rows_of_model",
    "rows_of_schema",
    "tell_of_rows",
]


def add_rows(choosing: argparse._ActionsContainer) -> None:
    """Add the options that choose rows. Their names are those of the fields of `RowChoice`."""
    choosing.add_argument(
        "--where", metavar="CONDITION", help="keep rows that meet it, such as \"visit == 'baseline' and age >= 18\""
    )
    choosing.add_argument("--one-row-per", metavar="COLUMN", help="keep one row for each subject, named by this column")
    choosing.add_argument(
        "--keep",
        choices=("first", "last"),
        default="first",
        help="which one (default: first)",
    )
    choosing.add_argument("--by", metavar="COLUMN", help="numbers or dates that order its rows (default: the file)")
    choosing.add_argument(
        "--dates",
        choices=("day-first", "month-first"),
        help="how --where and --by read 03/04/2020, if no other date of the column tells it",
    )


def add_all_rows(parser: argparse._ActionsContainer) -> None:
    """Add the option of a command on a model that takes rows which the fit left out."""
    parser.add_argument(
        "--all-rows", action="store_true", help="take all rows of the table, also if the model was fitted on some"
    )


def rows_asked_for(options: argparse.Namespace) -> RowChoice:
    """Return the rows that the options choose."""
    from clinclust.files.selection.row_choice import RowChoice

    return RowChoice(**{field.name: getattr(options, field.name) for field in fields(RowChoice)})


def forget_rows(options: argparse.Namespace) -> argparse.Namespace:
    """Return the options without those that choose rows, which a schema says from now on."""
    from clinclust.files.selection.row_choice import RowChoice

    return argparse.Namespace(**{**vars(options), **{field.name: field.default for field in fields(RowChoice)}})


def rows_of_schema(options: argparse.Namespace, schema: FeatureSchema) -> RowChoice:
    """Return the rows that the schema takes, or those of the options if it says nothing of rows.

    Raises
    ------
    InputError
        If both choose rows, and not the same.
    """
    from clinclust.files.listed import limited
    from clinclust.files.opening import shown_name

    asked, name = rows_asked_for(options), shown_name(options.schema)
    if not schema.rows:
        return asked
    taken = asked.completed_by(schema.rows)
    if not taken.follows(schema.rows):
        raise InputError(
            limited(
                f"{name} takes {schema.rows.in_words()}; the command takes {taken.in_words()}. Leave out the options "
                f"that choose rows, or correct the line `rows:` of {name}"
            )
        )
    return taken


def rows_of_model(options: argparse.Namespace, model: MAPDP, *, of_sheet: bool = True) -> RowChoice:
    """Return the rows that the options choose, or if they choose none, those that the model was fitted on.

    Without `of_sheet`, the rows of the sheet of the fit are those of another table, and not taken of this one.

    Raises
    ------
    InputError
        If the options choose some rows and all.
    """
    from clinclust.files.selection.row_choice import RowChoice

    asked, fitted = rows_asked_for(options), model.schema_.rows
    if options.all_rows:
        if set(asked.as_dict()) - {"rows"}:
            raise InputError(f"--all-rows takes all rows, and other options take {asked.in_words()}: give one of them")
        return RowChoice(rows=asked.rows)
    return asked.completed_by(fitted if of_sheet else fitted.by_values or RowChoice())


def tell_of_rows(options: argparse.Namespace, rows: RowChoice, how: str) -> None:
    """Tell which rows are taken, and who says so, if the options do not."""
    from clinclust.files.listed import limited
    from clinclust.files.opening import shown_name

    asked = rows_asked_for(options)
    if rows and any(getattr(asked, name) != getattr(rows, name) for name in rows.as_dict()):
        note = f"{shown_name(options.table)}: rows are taken {how}: {rows.in_words()}"
        warnings.warn(limited(note), CohortWarning, stacklevel=3)
