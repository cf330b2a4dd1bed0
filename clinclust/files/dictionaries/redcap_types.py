"""What each type of REDCap field says of its column."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from clinclust.files.column_notes import ColumnNotes
from clinclust.files.dictionaries.choices import number_or_none, redcap_choices, unlike
from clinclust.files.dictionaries.levels import divided, negative_levels, plural, told_missing
from clinclust.files.dictionaries.plain_text import plain_text
from clinclust.files.dictionaries.sheet import Row
from clinclust.files.dictionaries.units import unit_in

__all__ = ["NO_CODE", "SAYS", "is_of_no_column", "notes_of_field", "validation_of"]

SAYS = "the dictionary says: "
NO_CODE = "; parts of its choices have no code, and are read as parts of labels"
_NUMBER = re.compile(r"(?:integer|int|number|float)(?:_\w+)?")
_DATE = re.compile(r"(?:date|datetime|time)(?:_\w+)?")
_PERSONAL = re.compile(r"(?:email|phone|zipcode|postalcode|postal_code|ssn|mrn|vmrn)(?:_\w+)?")
_INPUT = re.compile(r"\[([a-zA-Z]\w*)(?:\([^)]*\))?\]")
_COMPUTED = re.compile(r"@(CALCTEXT|CALCDATE)\b")
_UNMEASURED = {"file": "an attached file", "signature": "a signature"}


def notes_of_field(row: Row, types: Mapping[str, str]) -> ColumnNotes:
    """Return what a field that is no checkbox says of its column, apart from where it stands.

    Parameters
    ----------
    row : Row
        The row of the field in the data dictionary.
    types : dict of str to str
        The type of every field of the dictionary; for fields of text, their validation.
    """
    kind = row["type"].casefold()
    computed = _COMPUTED.search(row["annotation"])
    if kind == "text" and computed:
        if computed[1] == "CALCDATE":
            return ColumnNotes(kind="date", reason=f"{SAYS}a date computed from other columns")
        return ColumnNotes(role="describe", reason=f"{SAYS}computed from other columns, so it is described only")
    if kind in _UNMEASURED:
        return ColumnNotes(role="ignore", reason=f"{SAYS}{_UNMEASURED[kind]}")
    rule = _RULES.get(kind)
    if rule is None:
        return ColumnNotes(reason=f"{SAYS}a field of a type that is not known here; drafted by its values")
    return rule(row, types)


def is_of_no_column(row: Row) -> bool:
    """Return whether an export has no column for a field."""
    return row["type"].casefold() == "descriptive"


def validation_of(row: Row) -> str:
    """Return the type of a field, or how its text is validated if it is a text."""
    kind = row["type"].casefold()
    return row["validation"].casefold() or kind if kind == "text" else kind


def _text(row: Row, _: Mapping[str, str]) -> ColumnNotes:
    validation = row["validation"].casefold()
    if _NUMBER.fullmatch(validation):
        notes = _number(row, f"{SAYS}text, {validation}")
        return replace(notes, decimal="," if "comma_decimal" in validation else None)
    if _DATE.fullmatch(validation):
        return ColumnNotes(kind="date", reason=f"{SAYS}text, {validation}")
    if _PERSONAL.fullmatch(validation):
        return ColumnNotes(kind="text", role="ignore", reason=f"{SAYS}text, {validation}, which identifies a person")
    if validation == "signature":
        return ColumnNotes(role="ignore", reason=f"{SAYS}{_UNMEASURED[validation]}")
    how = f"validated as {validation}" if validation else "without validation"
    return ColumnNotes(reason=f"{SAYS}text, {how}; drafted by its values")


def _number(row: Row, reason: str) -> ColumnNotes:
    unit = unit_in(plain_text(row["label"]), plain_text(row["note"]))
    return ColumnNotes(
        kind="number",
        unit=unit,
        minimum=number_or_none(row["minimum"]),
        maximum=number_or_none(row["maximum"]),
        reason=f"{reason}; the unit {unit} is taken from its label or note" if unit else reason,
    )


def _notes(_: Row, __: Mapping[str, str]) -> ColumnNotes:
    return ColumnNotes(kind="text", reason=f"{SAYS}notes, a text of any length")


def _calculated(row: Row, types: Mapping[str, str]) -> ColumnNotes:
    """Describe what is computed from other columns, unless these are dates: then nothing else holds its information."""
    inputs = [name for name in dict.fromkeys(_INPUT.findall(row["choices"])) if name in types]
    notes = _number(row, f"{SAYS}calc")
    if inputs and all(_DATE.fullmatch(types[name]) for name in inputs):
        return replace(notes, reason=f"{notes.reason}; computed from dates ({', '.join(inputs[:5])})")
    of = ", ".join(inputs[:5]) + (" and others" if len(inputs) > 5 else "") or "other fields"
    said = f"{notes.reason}; computed from {of}, so it is described, not clustered on a second time"
    return replace(notes, role="describe", reason=said)


def _choice(row: Row, _: Mapping[str, str]) -> ColumnNotes:
    choices, odd = redcap_choices(row["choices"])
    choices, again = unlike(choices)
    kind = row["type"].casefold()
    if not choices:
        return ColumnNotes(reason=f"{SAYS}{kind}, without choices; drafted by its values")
    levels, missing = divided(choices)
    said = f"{SAYS}{kind}, {len(choices)} {plural(len(choices), 'choice', 'choices')}"
    said += told_missing(missing) + negative_levels(levels)
    if odd:
        said += NO_CODE
    if again:
        said += "; some codes are given twice, of which the first label counts"
    return ColumnNotes(levels=levels, missing_codes=tuple(code for code, _ in missing), reason=said)


def _slider(row: Row, _: Mapping[str, str]) -> ColumnNotes:
    ends = [plain_text(part) for part in row["choices"].split("|") if part.strip()]
    notes = _number(row, f"{SAYS}slider")
    low = 0.0 if notes.minimum is None else notes.minimum
    high = 100.0 if notes.maximum is None else notes.maximum
    return replace(notes, minimum=low, maximum=high, description=" ... ".join(ends) or None)


def _yes_no(row: Row, _: Mapping[str, str]) -> ColumnNotes:
    return ColumnNotes(kind="yes/no", levels=(("0", "No"), ("1", "Yes")), reason=f"{SAYS}yesno")


def _true_false(row: Row, _: Mapping[str, str]) -> ColumnNotes:
    return ColumnNotes(kind="yes/no", levels=(("0", "False"), ("1", "True")), reason=f"{SAYS}truefalse")


def _looked_up(row: Row, _: Mapping[str, str]) -> ColumnNotes:
    return ColumnNotes(reason=f"{SAYS}sql, a list that another project holds; drafted by its values")


_RULES: dict[str, Callable[[Row, Mapping[str, str]], ColumnNotes]] = {
    "text": _text,
    "notes": _notes,
    "textarea": _notes,
    "calc": _calculated,
    "dropdown": _choice,
    "select": _choice,
    "radio": _choice,
    "yesno": _yes_no,
    "truefalse": _true_false,
    "slider": _slider,
    "sql": _looked_up,
}
