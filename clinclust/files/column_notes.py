"""What a file knows of its columns beside their cells: labels, units, coded values, user-missing codes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

from clinclust.errors import InputError
from clinclust.files.listed import listed, quoted
from clinclust.roles import ROLES, Role

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COLUMN_NOTES", "ORDERED", "ColumnKind", "ColumnNotes", "add_notes", "notes_of"]

COLUMN_NOTES = "column_notes"
"""The key of ``frame.attrs`` under which the notes of a table are kept: a plain dictionary from column to notes."""

ColumnKind = Literal["nominal", "ordinal", "number", "yes/no", "date", "text", "id"]
ORDERED: ColumnKind = "ordinal"
"""The kind of levels that have an order."""


@dataclass(frozen=True)
class ColumnNotes:
    """What a file says of one column. None, or an empty tuple, is what it does not say.

    Attributes
    ----------
    label, unit, section, description : str or None
        The name for readers, the unit of measurement, the heading above the column, and more text.
    levels : tuple of (str, str)
        The code of each value and its label, in the order of the file.
    kind : {"nominal", "ordinal", "number", "yes/no", "date", "text", "id"} or None
    missing_codes : tuple of str
    minimum, maximum : float or None
        The range of possible values.
    decimal : {","} or None
        The decimal mark, if it is not the point.
    asked_if, block : str or None
        The condition under which the question was asked; the instrument that the column belongs to.
    role : {"arm", "outcome", "time", "site", "describe", "ignore"} or None
    reason : str or None
        What the file says of the column, in words, such as ``the dictionary says: radio, 4 choices``.
    """

    label: str | None = None
    unit: str | None = None
    section: str | None = None
    description: str | None = None
    levels: tuple[tuple[str, str], ...] = ()
    kind: ColumnKind | None = None
    missing_codes: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    decimal: Literal[","] | None = None
    asked_if: str | None = None
    block: str | None = None
    role: Role | None = None
    reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return what is said, as lists, texts and numbers that JSON can hold."""
        said = {name: getattr(self, name) for name in _NAMES}
        return {name: _as_lists(value) for name, value in said.items() if value not in (None, ())}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> ColumnNotes:
        """Return the notes that `as_dict` wrote.

        Raises
        ------
        InputError
            If a key is unknown, or a value is of another type.
        """
        problems = [
            f"{quoted(key)} is {quoted(value)}"
            for key, value in given.items()
            if key not in _NAMES or (value is not None and not _IS_POSSIBLE[key](value))
        ]
        if problems:
            raise InputError(
                f"these are no notes on a column: {listed(problems)}; expected are {', '.join(_NAMES)}, as "
                "ColumnNotes.as_dict writes them"
            )
        return cls(**{key: _as_tuples(value) for key, value in given.items() if value is not None})


_NAMES = tuple(field.name for field in fields(ColumnNotes))


def _as_lists(value: Any) -> Any:
    return [_as_lists(part) for part in value] if isinstance(value, tuple) else value


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)


def _is_pair(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and [type(text) for text in value] == [str, str]


_IS_POSSIBLE: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(_NAMES, _is_text),
    "kind": get_args(ColumnKind).__contains__,
    "role": tuple(role for role in ROLES if role not in ("cluster", "id")).__contains__,
    "decimal": (",",).__contains__,
    "minimum": _is_number,
    "maximum": _is_number,
    "missing_codes": lambda value: isinstance(value, (list, tuple)) and all(map(_is_text, value)),
    "levels": lambda value: isinstance(value, (list, tuple)) and all(map(_is_pair, value)),
}


def notes_of(frame: pd.DataFrame) -> dict[str, ColumnNotes]:
    """Return the notes on the columns of a table that are still in it; none if its file said nothing.

    Raises
    ------
    InputError
        If ``frame.attrs`` holds under this key what no reader of this package wrote.
    """
    kept = frame.attrs.get(COLUMN_NOTES, {})
    if not isinstance(kept, Mapping) or not all(isinstance(given, Mapping) for given in kept.values()):
        raise InputError(
            f"frame.attrs[{COLUMN_NOTES!r}] is not a dictionary from columns to notes; remove it, or read the file "
            "again with clinclust.read_cohort"
        )
    present = set(frame.columns)
    return {str(column): ColumnNotes.from_dict(given) for column, given in kept.items() if column in present}


def add_notes(frame: pd.DataFrame, notes: Mapping[str, ColumnNotes]) -> None:
    """Put the notes that say anything into ``frame.attrs``, in the place of earlier notes on these columns."""
    said = {column: given.as_dict() for column, given in notes.items()}
    said = {column: given for column, given in said.items() if given}
    if said:
        frame.attrs[COLUMN_NOTES] = {**frame.attrs.get(COLUMN_NOTES, {}), **said}
