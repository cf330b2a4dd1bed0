"""Read a REDCap data dictionary: one row a field, of which an export has one column, or one for each box to tick."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from clinclust.files.cell_text import shortened
from clinclust.files.column_notes import ColumnNotes
from clinclust.files.dictionaries.choices import number_or_none, redcap_choices, unlike
from clinclust.files.dictionaries.levels import divided, negative_levels, told_missing
from clinclust.files.dictionaries.missing_words import means_missing
from clinclust.files.dictionaries.plain_text import folded, heading_and_rest, plain_text
from clinclust.files.dictionaries.sheet import SAYS, Entry, Row, Sheet
from clinclust.files.dictionaries.vocabulary import REDCAP_HEADERS, unit_in, without_unit

__all__ = ["is_redcap", "redcap_entries", "redcap_meanings"]

_LONGEST_SECTION = 60
_FLAGGED = ("y", "yes", "true", "1", "x")
_NO_CODE = "; parts of its choices have no code, and are read as parts of labels"
_NUMBER = re.compile(r"(?:integer|int|number|float)(?:_\w+)?")
_DATE = re.compile(r"(?:date|datetime|time)(?:_\w+)?")
_PERSONAL = re.compile(r"(?:email|phone|zipcode|postalcode|postal_code|ssn|mrn|vmrn)(?:_\w+)?")
_INPUT = re.compile(r"\[([a-zA-Z]\w*)(?:\([^)]*\))?\]")
_COMPUTED = re.compile(r"@(CALCTEXT|CALCDATE)\b")
_UNMEASURED = {"file": "an attached file", "signature": "a signature"}
_TWO_LEVELS = {"yesno": ("No", "Yes"), "truefalse": ("False", "True")}
_IDENTIFIES = f"{SAYS}flagged as an identifier of a person"


def redcap_meanings(sheet: Sheet) -> list[str | None]:
    """Return what each column of the sheet holds if it is a REDCap data dictionary."""
    return [REDCAP_HEADERS.get(folded(header)) for header in sheet.headers]


def is_redcap(sheet: Sheet) -> bool:
    """Return whether a sheet has the columns that make a REDCap data dictionary."""
    known = set(redcap_meanings(sheet))
    return {"name", "type"} <= known and bool(known & {"form", "choices", "validation"})


def redcap_entries(rows: list[Row]) -> Iterator[Entry]:
    """Yield what a REDCap data dictionary says of each column that an export has; each row has a name of its own."""
    types = {row["name"]: row["validation"].casefold() or _type(row) for row in rows}
    section, form = "", None
    for place, row in enumerate(rows):
        if row["form"] != form:
            section, form = "", row["form"]
        section = heading_and_rest(row["section"])[0] or section
        if _type(row) == "descriptive":  # of which an export has no column
            continue
        standing = _standing(row, section)
        if _type(row) == "checkbox":
            yield from _boxes(row, standing)
            continue
        notes = _notes_of_field(row, types)
        if place == 0:
            notes = ColumnNotes(kind="id", reason=f"{SAYS}the first field, which names the record")
        elif row["identifier"].casefold() in _FLAGGED:
            notes = ColumnNotes(kind="text", role="ignore", reason=_IDENTIFIES)
        yield Entry(row["name"], _joined(notes, standing), row["name"], (plain_text(row["label"]),))


def _type(row: Row) -> str:
    return row["type"].casefold()


def _standing(row: Row, section: str) -> ColumnNotes:
    """Return the notes on where a field stands: label, section, who is asked, and the matrix that it belongs to."""
    words = " ".join(row["form"].replace("_", " ").split())
    heading = section if 0 < len(section) <= _LONGEST_SECTION else words[:1].upper() + words[1:]
    label, rest = heading_and_rest(row["label"])
    return ColumnNotes(
        label=label or None,
        section=heading or None,
        description="; ".join(filter(None, [rest, plain_text(row["note"])])) or None,
        asked_if=" ".join(row["branching"].split()) or None,
        block=row["matrix"] or None,
    )


def _joined(notes: ColumnNotes, standing: ColumnNotes) -> ColumnNotes:
    about = "; ".join(filter(None, (notes.description, standing.description))) or None
    label = standing.label
    if notes.unit is not None:
        about = None if about == notes.unit else about
        label = label and without_unit(label, notes.unit)
    is_measured = notes.role is None and notes.kind not in ("id", "date", "text")
    block = standing.block if is_measured else None
    return replace(
        notes, label=label, section=standing.section, description=about, asked_if=standing.asked_if, block=block
    )


def _boxes(row: Row, standing: ColumnNotes) -> Iterator[Entry]:
    """Yield one yes/no column for each choice of a checkbox. They form a block: subjects tick them together."""
    field, label, asked = row["name"], standing.label or row["name"], plain_text(row["label"])
    choices, odd = redcap_choices(row["choices"])
    choices = unlike(choices)
    for code, choice in choices:
        notes = replace(
            standing,
            label=f"{label}: {choice or code}",
            kind="yes/no",
            levels=(("0", "Unchecked"), ("1", "Checked")),
            block=standing.block or field,
            reason=f"{SAYS}checkbox, one of {len(choices)} boxes of {shortened(field)}{_NO_CODE if odd else ''}",
        )
        if row["identifier"].casefold() in _FLAGGED:
            notes = replace(notes, role="ignore", block=None, reason=_IDENTIFIES)
        elif means_missing(choice):
            said = (
                f"{SAYS}checkbox, the box {shortened(choice)!r} of {shortened(field)}: where it is ticked, the other "
                "boxes are not known, though the export has them as not ticked; empty those cells, or drop the rows"
            )
            notes = replace(notes, role="ignore", block=None, reason=said)
        column = f"{field}___{re.sub('[^a-z0-9_]', '_', code.lower())}"  # `signs____9` for the code -9 of `signs`
        # Exports with labels call the column by the label of the field and that of the choice.
        yield Entry(column, notes, field, (f"{asked} (choice={choice})", f"{field} (choice={choice})"))


def _notes_of_field(row: Row, types: Mapping[str, str]) -> ColumnNotes:
    """Return what a field that is no checkbox says of its column, apart from where it stands.

    Parameters
    ----------
    row : Row
    types : dict of str to str
        The type of every field of the dictionary; for fields of text, their validation.
    """
    kind = _type(row)
    if kind == "text":
        return _text(row)
    if kind in _UNMEASURED:
        return ColumnNotes(role="ignore", reason=f"{SAYS}{_UNMEASURED[kind]}")
    if kind in ("notes", "textarea"):
        return ColumnNotes(kind="text", reason=f"{SAYS}notes, a text of any length")
    if kind in _TWO_LEVELS:
        levels = tuple(zip("01", _TWO_LEVELS[kind], strict=True))
        return ColumnNotes(kind="yes/no", levels=levels, reason=f"{SAYS}{kind}")
    if kind in ("dropdown", "select", "radio"):
        return _choice(row, kind)
    if kind == "calc":
        return _calculated(row, types)
    if kind == "slider":
        ends = [plain_text(part) for part in row["choices"].split("|") if part.strip()]
        notes = replace(_number(row, f"{SAYS}slider"), description=" ... ".join(ends) or None)
        return replace(
            notes,
            minimum=0.0 if notes.minimum is None else notes.minimum,
            maximum=100.0 if notes.maximum is None else notes.maximum,
        )
    what = "sql, a list that another project holds" if kind == "sql" else "a field of a type that is not known here"
    return ColumnNotes(reason=f"{SAYS}{what}; drafted by its values")


def _text(row: Row) -> ColumnNotes:
    computed = _COMPUTED.search(row["annotation"])
    validation = row["validation"].casefold()
    said = f"{SAYS}text, {validation}"
    if computed and computed[1] == "CALCDATE":
        return ColumnNotes(kind="date", reason=f"{SAYS}a date computed from other columns")
    if computed:
        return ColumnNotes(role="describe", reason=f"{SAYS}computed from other columns, so it is described only")
    if _NUMBER.fullmatch(validation):
        return replace(_number(row, said), decimal="," if "comma_decimal" in validation else None)
    if _DATE.fullmatch(validation):
        return ColumnNotes(kind="date", reason=said)
    if _PERSONAL.fullmatch(validation):
        return ColumnNotes(kind="text", role="ignore", reason=f"{said}, which identifies a person")
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


def _calculated(row: Row, types: Mapping[str, str]) -> ColumnNotes:
    """Describe what is computed from other columns, unless these are dates: then nothing else holds its information."""
    inputs = [name for name in dict.fromkeys(_INPUT.findall(row["choices"])) if name in types]
    notes = _number(row, f"{SAYS}calc")
    if inputs and all(_DATE.fullmatch(types[name]) for name in inputs):
        return replace(notes, reason=f"{notes.reason}; computed from dates ({', '.join(inputs[:5])})")
    of = ", ".join(inputs[:5]) + (" and others" if len(inputs) > 5 else "") or "other fields"
    said = f"{notes.reason}; computed from {of}, so it is described, not clustered on a second time"
    return replace(notes, role="describe", reason=said)


def _choice(row: Row, kind: str) -> ColumnNotes:
    given, odd = redcap_choices(row["choices"])
    choices = unlike(given)
    if not choices:
        return ColumnNotes(reason=f"{SAYS}{kind}, without choices; drafted by its values")
    levels, missing = divided(choices)
    said = f"{SAYS}{kind}, {len(choices)} choice{'s' * (len(choices) != 1)}"
    said += told_missing(missing) + negative_levels(levels) + (_NO_CODE if odd else "")
    if len(choices) < len(given):
        said += "; some codes are given twice, of which the first label counts"
    return ColumnNotes(levels=levels, missing_codes=tuple(code for code, _ in missing), reason=said)
