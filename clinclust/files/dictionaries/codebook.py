"""Read a codebook: any table with a column of variable names and columns whose headers say what they hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from clinclust.errors import InputError
from clinclust.files.cell_text import shortened
from clinclust.files.column_notes import ColumnNotes
from clinclust.files.dictionaries.choices import (
    Choice,
    coded_values,
    interval,
    listed_values,
    number_or_none,
    unlike,
)
from clinclust.files.dictionaries.levels import divided, told_missing
from clinclust.files.dictionaries.plain_text import folded, plain_text
from clinclust.files.dictionaries.sheet import SAYS, Entry, Row, Sheet
from clinclust.files.dictionaries.vocabulary import holds, kind_said
from clinclust.files.listed import Places, listed, quoted

__all__ = ["codebook_entries", "codebook_meanings"]

_NONE = ("none", "keine", "aucun", "aucune", "ninguno", "ninguna", "-", "–", "—", "/")
_FEWEST_KNOWN = 2  # column names of the table that make a column of a codebook the one of the names


def codebook_meanings(sheet: Sheet, columns: Collection[str]) -> tuple[list[str | None], list[str]]:
    """Return what each column of a codebook holds, by its header or, for the names, by its cells; and remarks.

    Parameters
    ----------
    sheet : Sheet
    columns : collection of str
        The columns of the table that the codebook describes.

    Raises
    ------
    InputError
        If no column holds the names of variables.
    """
    meanings = [holds(header) for header in sheet.headers]
    known = {folded(column) for column in columns}
    matches = [len(known & {folded(text) for text in texts if text}) for texts in sheet.columns]
    named = [place for place, meaning in enumerate(meanings) if meaning == "name"]
    best = max(range(len(matches)), key=lambda place: (matches[place], place in named, -place), default=None)
    remarks = []
    if best is not None and matches[best] >= _FEWEST_KNOWN and best not in named:
        remarks.append(f"its column {quoted(sheet.headers[best])} holds the names of columns, and is read as such")
    elif named:
        best = max(named, key=lambda place: (matches[place], -place))
    else:
        raise InputError(
            "no column holds the names of variables; its headers are "
            f"{listed(map(quoted, sheet.headers))}. Call the column of the names 'variable', in the first row of the "
            "sheet; if the dictionary is on another sheet, give --dictionary-sheet"
        )
    meanings = [None if meaning == "name" else meaning for meaning in meanings]
    meanings[best] = "name"
    unread = [header for header, meaning in zip(sheet.headers, meanings, strict=True) if meaning is None and header]
    if unread:
        remarks.append(f"not read, because its headers are not known here: {listed(map(quoted, unread))}")
    return meanings, remarks


def codebook_entries(rows: list[Row], places: Places) -> Iterator[Entry]:
    """Yield what a codebook says of each variable; findings about rows are added to `places`.

    Raises
    ------
    InputError
        If rows describe one variable twice.
    """
    for name, group in _variables(rows, places).items():
        notes = _notes(group, places)
        yield Entry(name, notes, name, tuple(filter(None, [notes.label])))


def _variables(rows: list[Row], places: Places) -> dict[str, list[Row]]:
    """Return each variable with its rows: one, or one for each level (a codebook in long form)."""
    groups: dict[str, list[Row]] = {}
    current = ""
    for row in rows:
        current = row["name"] or current
        if not row["name"] and not _code(row):
            places.add("no variable is named there, and the row is not read", f"row {row.number}")
        elif current:
            groups.setdefault(current, []).append(row)
    twice = [
        f"{quoted(name)} (rows {', '.join(str(row.number) for row in group[:5])})"
        for name, group in groups.items()
        if len(group) > 1 and not _is_long(group)
    ]
    if twice:
        raise InputError(
            f"these variables are described more than once: {listed(twice)}. Keep one row of each, or give "
            "each row of a variable another code in a column 'value', with its meaning in a column 'value label'"
        )
    return groups


def _is_long(group: list[Row]) -> bool:
    """Return whether the rows of a variable give one code each, all different."""
    codes = [_code(row) for row in group]
    later = codes[1:] if not codes[0] else codes  # the first row may hold the variable itself
    single = all(code and not coded_values(code) and interval(code) is None for code in later)
    return single and len(set(later)) == len(later)


def _code(row: Row) -> str:
    return row["code"] or row["values"]


def _notes(group: list[Row], places: Places) -> ColumnNotes:
    first = group[0]
    said: dict[str, Any] = {
        what: plain_text(first[what]) or None for what in ("label", "unit", "section", "description")
    }
    if len(group) > 1:
        choices, said["label"] = _long_levels(group)
        values = _of_choices(choices)
    else:
        read = _read_values(first["values"] or first["code"])
        if read is None:
            places.add("its values could not be read; write them as 1=male; 2=female", f"row {first.number}")
        values = read or {}
    if said["label"] is None:
        said["label"], said["description"] = said["description"], None
    told = values.pop("reason", "")
    notes = replace(ColumnNotes(**_range(first, places)), **values)
    missing = _missing(first, notes, places)
    kind, reason = _kind(first, notes, places)
    levels = tuple(choice for choice in notes.levels if choice[0] not in missing)
    asked = " ".join(first["asked if"].split()) or None
    return replace(notes, **said, kind=kind, asked_if=asked, levels=levels, missing_codes=missing, reason=reason + told)


def _long_levels(group: list[Row]) -> tuple[list[Choice], str | None]:
    """Return the levels of a variable in long form, and its label.

    Without a column for the labels of levels, that of labels holds them if they differ between the rows.
    """
    rows = [row for row in group if _code(row)]
    labels = [plain_text(row["code label"]) for row in rows]
    own = [plain_text(row["label"]) for row in group]
    if not any(labels):
        varying = [plain_text(row["label"]) or plain_text(row["description"]) for row in rows]
        if len(set(varying)) == len(varying):
            first = own[0] if rows[0]["label"] and group[0] is not rows[0] else ""
            return [(_code(row), label) for row, label in zip(rows, varying, strict=True)], first or None
    return [(_code(row), label or _code(row)) for row, label in zip(rows, labels, strict=True)], own[0] or None


def _read_values(text: str) -> dict[str, Any] | None:
    """Return the notes that a cell of values makes: levels, bounds or a kind; None if it cannot be read."""
    choices = coded_values(text)
    if choices or not text:
        return _of_choices(choices) if text else {}
    bounds = interval(text)
    if bounds is not None:
        return {"minimum": bounds[0], "maximum": bounds[1], "kind": "number"}
    values = listed_values(text)
    if values:
        return _of_choices([(value, value) for value in values])
    kind = kind_said(text)
    return None if kind is None else {} if kind == "stored as text" else {"kind": kind}


def _of_choices(choices: list[Choice]) -> dict[str, Any]:
    levels, missing = divided(unlike(choices))
    return {"levels": levels, "missing_codes": tuple(code for code, _ in missing), "reason": told_missing(missing)}


def _range(row: Row, places: Places) -> dict[str, Any]:
    found = interval(row["range"]) if row["range"] else (None, None)
    if found is None:
        places.add("its range could not be read; write it as 0-120", f"row {row.number}")
    bounds: dict[str, Any] = dict(zip(("minimum", "maximum"), found or (None, None), strict=True))
    for what in bounds:
        if row[what]:
            bounds[what] = number_or_none(row[what])
            if bounds[what] is None:
                places.add(f"its {what} is no number, and is not read", f"row {row.number}")
    return bounds


def _missing(row: Row, notes: ColumnNotes, places: Places) -> tuple[str, ...]:
    """Return the codes of missing values: those among the levels, and those of a column of their own."""
    codes = list(notes.missing_codes)
    text = plain_text(row["missing"].replace("\n", " ; "))
    if text and text.casefold() not in _NONE:
        words = text.split()
        alone = words if all(number_or_none(word) is not None for word in words) else [text]
        given = [code for code, _ in coded_values(text)] or listed_values(text) or alone
        if all(len(code) <= 30 for code in given):
            codes += given
        else:
            places.add("its missing codes could not be read; write them as -9; -8", f"row {row.number}")
    return tuple(dict.fromkeys(code for code in codes if code))


def _kind(row: Row, notes: ColumnNotes, places: Places) -> tuple[Any, str]:
    """Return the kind of a variable, and the sentence on what the codebook says of it."""
    given = row.all("type")
    said = [kind for kind in map(kind_said, given) if kind is not None]
    if given and not said:
        places.add(f"the type {quoted(given[0])} is not known here, and not used", f"row {row.number}")
    count = len(notes.levels) + (len(notes.missing_codes) if notes.levels else 0)
    parts = [shortened(given[0])] if said else []
    if count:
        parts.append(f"{count} value{'s' * (count != 1)}")
    kind = next((kind for kind in said if kind != "stored as text"), notes.kind)
    if notes.levels and kind in ("number", "text", "date"):  # how the codes are stored; what they are, the labels say
        kind = None
    if kind is None and not notes.levels and (notes.minimum is not None or notes.maximum is not None):
        kind = "number"
    if not parts:
        parts.append(kind or "a column of this name")
    return kind, f"{SAYS}{', '.join(parts)}" + ("" if kind or notes.levels else "; drafted by its values")
