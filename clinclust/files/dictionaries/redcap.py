"""Read a REDCap data dictionary: one row a field, of which an export has one column, or one for each box to tick."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from clinclust.files.cell_text import shortened
from clinclust.files.column_notes import ColumnNotes
from clinclust.files.dictionaries.choices import redcap_choices, unlike
from clinclust.files.dictionaries.headers import REDCAP_HEADERS
from clinclust.files.dictionaries.missing_words import means_missing
from clinclust.files.dictionaries.plain_text import folded, heading_and_rest, plain_text
from clinclust.files.dictionaries.redcap_types import NO_CODE, SAYS, is_of_no_column, notes_of_field, validation_of
from clinclust.files.dictionaries.sheet import Entry, Row, Sheet
from clinclust.files.dictionaries.units import without_unit

__all__ = ["checkbox_column", "is_redcap", "redcap_entries", "redcap_meanings", "said_of_a_form"]

_LONGEST_SECTION = 60
_FLAGGED = ("y", "yes", "true", "1", "x")


def redcap_meanings(sheet: Sheet) -> list[str | None]:
    """Return what each column of the sheet holds if it is a REDCap data dictionary."""
    return [REDCAP_HEADERS.get(folded(header)) for header in sheet.headers]


def is_redcap(sheet: Sheet) -> bool:
    """Return whether a sheet has the columns that make a REDCap data dictionary."""
    known = set(redcap_meanings(sheet))
    return {"name", "type"} <= known and bool(known & {"form", "choices", "validation"})


def redcap_entries(rows: list[Row]) -> Iterator[Entry]:
    """Yield what a REDCap data dictionary says of each column that an export has.

    Parameters
    ----------
    rows : list of Row
        The rows of the dictionary in order. Each has a name of its own.
    """
    types = {row["name"]: validation_of(row) for row in rows}
    section, form = "", None
    for place, row in enumerate(rows):
        if row["form"] != form:
            section, form = "", row["form"]
        section = heading_and_rest(row["section"])[0] or section
        if is_of_no_column(row):
            continue
        standing = _standing(row, section)
        if row["type"].casefold() == "checkbox":
            yield from _boxes(row, standing)
            continue
        notes = notes_of_field(row, types)
        if place == 0:
            notes = ColumnNotes(kind="id", reason=f"{SAYS}the first field, which names the record")
        elif row["identifier"].casefold() in _FLAGGED:
            notes = ColumnNotes(kind="text", role="ignore", reason=f"{SAYS}flagged as an identifier of a person")
        yield Entry(row["name"], _joined(notes, standing), row["name"], (plain_text(row["label"]),))


def said_of_a_form(form: str) -> str:
    """Return the name of a form for readers: ``baseline_visit`` as ``Baseline visit``."""
    words = " ".join(form.replace("_", " ").split())
    return words[:1].upper() + words[1:]


def _standing(row: Row, section: str) -> ColumnNotes:
    """Return the notes on where a field stands: label, section, who is asked, and the matrix that it belongs to."""
    heading = section if 0 < len(section) <= _LONGEST_SECTION else said_of_a_form(row["form"])
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
    if notes.unit is not None and about == notes.unit:
        about = None
    label = standing.label
    if label is not None and notes.unit is not None:
        label = without_unit(label, notes.unit)
    is_measured = notes.role is None and notes.kind not in ("id", "date", "text")
    return replace(
        notes,
        label=label,
        section=standing.section,
        description=about,
        asked_if=standing.asked_if,
        block=standing.block if is_measured else None,
    )


def checkbox_column(field: str, code: str) -> str:
    """Return the column of an export for one choice of a checkbox: ``signs____9`` for the code -9 of ``signs``."""
    return f"{field}___{re.sub('[^a-z0-9_]', '_', code.lower())}"


def _boxes(row: Row, standing: ColumnNotes) -> Iterator[Entry]:
    """Yield one yes/no column for each choice of a checkbox. They form a block: subjects tick them together."""
    field, label, asked = row["name"], standing.label or row["name"], plain_text(row["label"])
    choices, odd = redcap_choices(row["choices"])
    choices, _ = unlike(choices)
    for code, choice in choices:
        column = checkbox_column(field, code)
        notes = replace(
            standing,
            label=f"{label}: {choice or code}",
            kind="yes/no",
            levels=(("0", "Unchecked"), ("1", "Checked")),
            block=standing.block or field,
            reason=f"{SAYS}checkbox, one of {len(choices)} boxes of {shortened(field)}{NO_CODE if odd else ''}",
        )
        if row["identifier"].casefold() in _FLAGGED:
            notes = replace(notes, role="ignore", block=None, reason=f"{SAYS}flagged as an identifier of a person")
        elif means_missing(choice):
            said = (
                f"{SAYS}checkbox, the box {shortened(choice)!r} of {shortened(field)}: where it is ticked, the other "
                "boxes are not known, though the export has them as not ticked; empty those cells, or drop the rows"
            )
            notes = replace(notes, role="ignore", block=None, reason=said)
        # Exports with labels call the column by the label of the field and that of the choice.
        yield Entry(column, notes, field, (f"{asked} (choice={choice})", f"{field} (choice={choice})"))
