"""What a file says of its columns: labels, units, coded values, user-missing codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError

from clinclust.errors import InputError
from clinclust.files.listed import listed, quoted
from clinclust.roles import Role

if TYPE_CHECKING:
    import pandas as pd

COLUMN_NOTES = "column_notes"
"""The key of ``frame.attrs`` under which the notes of a table are kept: a plain dictionary from column to notes."""

ColumnKind = Literal["nominal", "ordinal", "number", "yes/no", "date", "text", "id"]
ORDERED: ColumnKind = "ordinal"


_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


def _of_no_subject(role: Role) -> Role:
    if role in ("cluster", "id"):
        raise ValueError(role)
    return role


@dataclass(frozen=True)
class ColumnNotes:
    """What a file says of one column. None, or an empty tuple, is what it does not say."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    label: str | None = None  # the name for readers
    unit: str | None = None
    section: str | None = None  # the heading above the column
    description: str | None = None
    levels: tuple[tuple[str, str], ...] = ()  # codes and their labels, in the order of the file
    kind: ColumnKind | None = None
    missing_codes: tuple[str, ...] = ()
    minimum: _Number | None = None  # of possible values
    maximum: _Number | None = None
    decimal: Literal[","] | None = None  # the decimal mark, if it is not the point
    asked_if: str | None = None  # the condition under which the question was asked
    block: str | None = None  # the instrument that the column belongs to
    role: Annotated[Role, AfterValidator(_of_no_subject)] | None = None
    reason: str | None = None  # of kind and role, such as ``the dictionary says: radio, 4 choices``

    def as_dict(self) -> dict[str, Any]:
        """Return what is said, as lists, texts and numbers that JSON can hold."""
        said = {name: getattr(self, name) for name in _NAMES}
        return {name: _as_lists(value) for name, value in said.items() if value not in (None, ())}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> ColumnNotes:
        """Return the notes that `as_dict` wrote; InputError if a key is unknown, or a value of another type."""
        try:
            return _NOTES.validate_python(dict(given))
        except ValidationError as error:
            keys = dict.fromkeys(problem["loc"][0] for problem in error.errors())
            problems = [f"{quoted(key)} is {quoted(given.get(str(key)))}" for key in keys]
            raise InputError(
                f"these are no notes on a column: {listed(problems)}; expected are {', '.join(_NAMES)}, as "
                "ColumnNotes.as_dict writes them"
            ) from None


_NAMES = tuple(field.name for field in fields(ColumnNotes))
_NOTES = TypeAdapter(ColumnNotes)


def _as_lists(value: Any) -> Any:
    return [_as_lists(part) for part in value] if isinstance(value, tuple) else value


def notes_of(frame: pd.DataFrame) -> dict[str, ColumnNotes]:
    """Return the notes on the columns that are in a table; InputError if `read_cohort` did not write them."""
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
