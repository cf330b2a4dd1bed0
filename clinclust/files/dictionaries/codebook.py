"""Read a codebook: any table with a column of variable names and columns with known headers."""

from __future__ import annotations

from typing import Any

from clinclust.data import data
from clinclust.errors import InputError
from clinclust.files.cell_text import shortened
from clinclust.files.column_notes import ColumnNotes
from clinclust.files.dictionaries.words import (
    SAYS,
    Choice,
    Row,
    coded_values,
    divided,
    interval,
    listed_values,
    number_or_none,
    plain_text,
    said_missing,
    words_of,
)
from clinclust.files.listed import Places, listed, quoted

Bounds = tuple[float | None, float | None]
_NONE = ("none", "keine", "aucun", "aucune", "ninguno", "ninguna", "-", "–", "—", "/")
_LONGEST_CODE = 30
_STORED = "stored as text"
_KIND_OF = {word: kind for kind, words in data("dictionaries")["kinds"].items() for word in words}
_YES_NO = (["yes", "no"], ["no", "yes"], ["ja", "nein"], ["oui", "non"], ["si", "no"])


def codebook_notes(rows: list[Row], places: Places) -> dict[str, ColumnNotes]:
    """Return the notes on each variable, of one row or one for each level; InputError if rows describe one twice."""
    groups: dict[str, list[Row]] = {}
    name = ""
    for row in rows:
        name = row["name"] or name
        if not row["name"] and not _code(row):
            places.add("no variable is named there, and the row is not read", f"row {row.number}")
        elif name:
            groups.setdefault(name, []).append(row)
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
    return {name: _notes(group, places) for name, group in groups.items()}


def _code(row: Row) -> str:
    return row["code"] or row["values"]


def _is_long(group: list[Row]) -> bool:
    """Return whether the rows of a variable give one code each, all different; the first may hold none."""
    codes = [_code(row) for row in group][not _code(group[0]) :]
    return len(set(codes)) == len(codes) and all(
        code and not coded_values(code) and interval(code) is None for code in codes
    )


def _notes(group: list[Row], places: Places) -> ColumnNotes:
    row = group[0]
    said: dict[str, Any] = {what: plain_text(row[what]) or None for what in ("label", "unit", "section", "description")}
    bounds = _bounds(row, places)
    kind: Any = None
    if len(group) > 1:
        choices, said["label"] = _long_levels(group)
    else:
        choices, bounds, kind = _read_values(row, bounds, places)
    if said["label"] is None:
        said["label"], said["description"] = said["description"], None
    levels, among = divided(choices)
    missing = tuple(dict.fromkeys([*(code for code, _ in among), *_missing(row, places)]))
    given = _kind_said(row["type"])
    if row["type"] and given is None:
        places.add(f"the type {quoted(row['type'])} is not known here, and not used", f"row {row.number}")
    kind = given if given not in (None, _STORED) else kind
    if levels and kind in ("number", "text", "date"):  # how the codes are stored; what they are, the labels say
        kind = None
    if kind is None and not levels and bounds != (None, None):
        kind = "number"
    parts = [shortened(row["type"])] if given else []
    parts += [f"{len(choices)} value{'s' * (len(choices) != 1)}"] if choices else []
    reason = f"{SAYS}{', '.join(parts) or kind or 'a column of this name'}" + said_missing(among)
    return ColumnNotes(
        **said,
        levels=tuple(choice for choice in levels if choice[0] not in missing),
        kind=kind,
        missing_codes=missing,
        minimum=bounds[0],
        maximum=bounds[1],
        asked_if=" ".join(row["asked if"].split()) or None,
        reason=reason if kind or levels else f"{reason}; drafted by its values",
    )


def _long_levels(group: list[Row]) -> tuple[list[Choice], str | None]:
    """Return the levels of a variable in long form, and its label.

    Without a column for the labels of levels, that of labels holds them if they differ between the rows.
    """
    rows = [row for row in group if _code(row)]
    label: str | None = plain_text(group[0]["label"]) or None
    labels = [plain_text(row["code label"]) for row in rows]
    own = [plain_text(row["label"] or row["description"]) for row in rows]
    if not any(labels) and all(own) and len(set(own)) == len(own):
        labels, label = own, label if group[0] is not rows[0] else None
    return [(_code(row), meaning or _code(row)) for row, meaning in zip(rows, labels, strict=True)], label


def _read_values(row: Row, bounds: Bounds, places: Places) -> tuple[list[Choice], Bounds, str | None]:
    """Return the choices, the bounds and the kind that the values of a variable say."""
    text = row["values"] or row["code"]
    choices = coded_values(text)
    if choices or not text:
        return choices, bounds, None
    if (within := interval(text)) is not None:
        return [], within if bounds == (None, None) else bounds, "number"
    if values := listed_values(text):
        return [(value, value) for value in values], bounds, None
    kind = _kind_said(text)
    if kind is None:
        places.add("its values could not be read; write them as 1=male; 2=female", f"row {row.number}")
    return [], bounds, None if kind == _STORED else kind


def _bounds(row: Row, places: Places) -> Bounds:
    """Return the range of a variable; the columns of minimum and maximum count before that of the range."""
    within = interval(row["range"])
    low, high = number_or_none(row["minimum"]), number_or_none(row["maximum"])
    for what, read in (("range", within), ("minimum", low), ("maximum", high)):
        if row[what] and read is None:
            places.add(f"its {what} could not be read; write a number, or 0-120 for a range", f"row {row.number}")
    least, most = within or (None, None)
    return least if low is None else low, most if high is None else high


def _missing(row: Row, places: Places) -> list[str]:
    text = plain_text(row["missing"].replace("\n", " ; "))
    if not text or text.casefold() in _NONE:
        return []
    words = text.split()
    alone = words if all(number_or_none(word) is not None for word in words) else [text]
    codes = [code for code, _ in coded_values(text)] or listed_values(text) or alone
    if all(len(code) <= _LONGEST_CODE for code in codes):
        return codes
    places.add("its missing codes could not be read; write them as -9; -8", f"row {row.number}")
    return []


def _kind_said(text: str) -> str | None:
    """Return the kind that a text names; the way a program stores a column (`varchar`) counts last."""
    words = words_of(text)
    if words[:2] in _YES_NO:
        return "yes/no"
    kinds = [_KIND_OF[bare] for word in words if (bare := word.rstrip("0123456789")) in _KIND_OF]
    return next((kind for kind in kinds if kind != _STORED), kinds[0] if kinds else None)
