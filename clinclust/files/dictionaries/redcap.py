"""What a REDCap data dictionary says of the columns of an export, and the columns that REDCap adds to one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from clinclust.data import data
from clinclust.errors import refuse
from clinclust.files.cell_text import canonical_text, shortened
from clinclust.files.column_notes import ColumnNotes
from clinclust.files.dictionaries.words import (
    SAYS,
    Row,
    divided,
    folded,
    heading_and_rest,
    means_missing,
    number_or_none,
    plain_text,
    redcap_choices,
    said_missing,
)
from clinclust.files.listed import listed, quoted
from clinclust.files.number_notation import is_known_unit

if TYPE_CHECKING:
    import pandas as pd

_LONGEST_SECTION = 60
_NUMBER = re.compile(r"(?:integer|int|number|float)(?:_\w+)?")
_DATE = re.compile(r"(?:date|datetime|time)(?:_\w+)?")
_PERSONAL = re.compile(r"(?:email|phone|zipcode|postalcode|postal_code|ssn|mrn|vmrn)(?:_\w+)?")
_INPUT = re.compile(r"\[([a-zA-Z]\w*)(?:\([^()\[\]]*\))?\]")
_IN_BRACKETS = re.compile(r"\s*[(\[]([^()\[\]]{1,30})[)\]]$")
_BY_VALUES = "drafted by its values"
_TWO_LEVELS = {"yesno": ("No", "Yes"), "truefalse": ("False", "True")}
_NO_MEASUREMENT = "a column that REDCap adds to an export, no measurement"
_ADDED = data("dictionaries")["redcap_columns"]
_STATUSES = frozenset(("0", "1", "2", "incomplete", "unverified", "complete"))
_RECORDS = ("record_id", "study_id", "subject_id", "participant_id", "patient_id")
_SITE = ("redcap_data_access_group", "data_access_group")


def redcap_notes(rows: list[Row]) -> dict[str, ColumnNotes]:
    """Return the notes on each column of an export; InputError if rows have no name, or that of another row."""
    _refuse_names(rows)
    types = {row["name"]: row["validation"].casefold() or _type(row) for row in rows}
    notes: dict[str, ColumnNotes] = {}
    section, form = "", None
    for place, row in enumerate(rows):
        if row["form"] != form:
            section, form = "", row["form"]
        section = heading_and_rest(row["section"])[0] or section
        about = _about(row, section)
        is_personal = row["identifier"].casefold() in ("y", "yes", "true", "1", "x")
        if place == 0:
            own = ColumnNotes(kind="id", reason=f"{SAYS}the first field, which names the record")
        elif is_personal:
            own = ColumnNotes(kind="text", role="ignore", reason=f"{SAYS}flagged as an identifier of a person")
        else:
            own = _of_field(row, types)
        if _type(row) == "checkbox":
            notes |= _boxes(row, about, own if is_personal else None)
        elif _type(row) != "descriptive":  # of which an export has no column
            notes[row["name"]] = _joined(own, about)
    return notes


def _refuse_names(rows: list[Row]) -> None:
    numbers: dict[str, list[int]] = {}
    for row in rows:
        numbers.setdefault(row["name"], []).append(row.number)
    unnamed = numbers.pop("", [])
    twice = [f"{quoted(name)} (rows {', '.join(map(str, at[:5]))})" for name, at in numbers.items() if len(at) > 1]
    problems = [f"no variable is named in row {listed(unnamed)}; write its name, or delete the row"] if unnamed else []
    problems += [f"described more than once: {listed(twice)}; keep one row of each"] if twice else []
    refuse(problems)


def _type(row: Row) -> str:
    return row["type"].casefold()


def _about(row: Row, section: str) -> ColumnNotes:
    """Return the notes that do not depend on the type: label, section, who is asked, and the matrix of the field."""
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


def _joined(own: ColumnNotes, about: ColumnNotes) -> ColumnNotes:
    label, description = about.label, about.description
    if own.unit is not None:  # taken from one of them
        description = None if description == own.unit else description
        label = (label or "").removesuffix(f"({own.unit})").removesuffix(f"[{own.unit}]").rstrip() or label
    is_measured = own.role is None and own.kind not in ("id", "date", "text")
    joined = replace(about, label=label, description=description, block=about.block if is_measured else None)
    said = {name: value for name, value in vars(own).items() if value not in (None, ())}
    return replace(joined, **said)


def _boxes(row: Row, about: ColumnNotes, personal: ColumnNotes | None) -> Iterator[tuple[str, ColumnNotes]]:
    """Yield one yes/no column for each choice of a checkbox. They form a block: subjects tick them together."""
    field = row["name"]
    choices, _ = redcap_choices(row["choices"])
    for code, choice in choices:
        notes = replace(
            about,
            label=f"{about.label or field}: {choice or code}",
            kind="yes/no",
            levels=(("0", "Unchecked"), ("1", "Checked")),
            block=about.block or field,
            reason=f"{SAYS}checkbox, one of {len(choices)} boxes of {shortened(field)}",
        )
        if personal is not None:
            notes = replace(notes, role="ignore", block=None, reason=personal.reason)
        elif means_missing(choice):
            said = f"{notes.reason}: where {shortened(choice)!r} is ticked, the other boxes are not known"
            notes = replace(notes, role="ignore", block=None, reason=f"{said}; empty them there, or drop the rows")
        yield f"{field}___{re.sub('[^a-z0-9_]', '_', code.lower())}", notes  # `signs____9` for the code -9 of `signs`


def _of_field(row: Row, types: Mapping[str, str]) -> ColumnNotes:
    """Return the notes that depend on the type of a field, given the types (of text: the validation) of all."""
    kind = _type(row)
    if kind == "text":
        return _text(row)
    if kind == "file":
        return ColumnNotes(role="ignore", reason=f"{SAYS}an attached file")
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
        notes = _number(row, f"{SAYS}slider")
        low, high = notes.minimum, notes.maximum
        return replace(notes, minimum=0.0 if low is None else low, maximum=100.0 if high is None else high)
    return ColumnNotes(reason=f"{SAYS}a field of a type that is not known here ({shortened(kind)}); {_BY_VALUES}")


def _text(row: Row) -> ColumnNotes:
    validation = row["validation"].casefold()
    said = f"{SAYS}text, validated as {validation}" if validation else f"{SAYS}text, without validation"
    if "@CALCDATE" in row["annotation"] or _DATE.fullmatch(validation):
        return ColumnNotes(kind="date", reason=said)
    if "@CALCTEXT" in row["annotation"]:
        return ColumnNotes(role="describe", reason=f"{SAYS}computed from other columns, so it is not clustered on")
    if _NUMBER.fullmatch(validation):
        return replace(_number(row, said), decimal="," if "comma_decimal" in validation else None)
    if _PERSONAL.fullmatch(validation):
        return ColumnNotes(kind="text", role="ignore", reason=f"{said}, which identifies a person")
    return ColumnNotes(reason=f"{said}; {_BY_VALUES}")


def _number(row: Row, reason: str) -> ColumnNotes:
    """Return the notes on a number, with the unit in brackets at the end of its label, or its note if it is one."""
    bracket = _IN_BRACKETS.search(heading_and_rest(row["label"])[0])
    given = [bracket[1] if bracket else "", plain_text(row["note"])]
    unit = next((text for text in given if is_known_unit(text) and not text[0].isdigit()), None)
    return ColumnNotes(
        kind="number",
        unit=unit,
        minimum=number_or_none(row["minimum"]),
        maximum=number_or_none(row["maximum"]),
        reason=f"{reason}; the unit {unit} is taken from its label or note" if unit else reason,
    )


def _calculated(row: Row, types: Mapping[str, str]) -> ColumnNotes:
    """Describe a result of other columns, unless these are dates: then no other column holds its information."""
    inputs = [name for name in dict.fromkeys(_INPUT.findall(row["choices"])) if name in types]
    notes = _number(row, f"{SAYS}calc")
    if inputs and all(_DATE.fullmatch(types[name]) for name in inputs):
        return replace(notes, reason=f"{notes.reason}; computed from dates ({listed(inputs)})")
    said = f"{notes.reason}; computed from {listed(inputs) or 'other fields'}, so it is not clustered on"
    return replace(notes, role="describe", reason=said)


def _choice(row: Row, kind: str) -> ColumnNotes:
    choices, odd = redcap_choices(row["choices"])
    if not choices:
        return ColumnNotes(reason=f"{SAYS}{kind}, without choices of the form 1, Male | 2, Female; {_BY_VALUES}")
    levels, missing = divided(choices)
    said = f"{SAYS}{kind}, {len(choices)} choice{'s' * (len(choices) != 1)}{said_missing(missing)}"
    negative = [code for code, _ in levels if code.startswith("-")]
    if 0 < len(negative) < len(levels):
        said += f"; {listed(map(quoted, negative))}: a negative code; list it under missing_codes if it is no answer"
    said += f"; not read, because they have no code: {listed(map(quoted, odd))}" if odd else ""
    return ColumnNotes(levels=levels, missing_codes=tuple(code for code, _ in missing), reason=said)


def added_by_redcap(columns: Iterable[str], forms: Iterable[str]) -> dict[str, ColumnNotes]:
    """Return the notes on those of the columns that REDCap adds itself, given the forms of the dictionary."""
    known = dict(_ADDED)
    for form in filter(None, forms):
        known[f"{folded(form)}_complete"] = f"the status of the form {shortened(form)}"
        known[f"{folded(form)}_timestamp"] = f"when the form {shortened(form)} was answered"
    notes = {}
    for column in columns:
        if folded(column) in _SITE:
            reason = "the site (data access group) of the record, which REDCap adds to an export; not clustered on"
            notes[column] = ColumnNotes(label="Site", kind="nominal", role="site", reason=reason)
        elif folded(column) in known:
            notes[column] = ColumnNotes(role="ignore", reason=f"{known[folded(column)]}; {_NO_MEASUREMENT}")
    return notes


def notes_without_dictionary(frame: pd.DataFrame) -> dict[str, ColumnNotes]:
    """Return the notes on the columns that REDCap adds to an export, by column, where no dictionary describes it.

    An export has a column that only REDCap names, or a record in its first column and the status of a form in another.
    """
    columns = [str(name) for name in frame.columns]
    statuses = [name for name in columns if folded(name).endswith("_complete") and _holds_statuses(frame[name])]
    own = [name for name in columns if folded(name).startswith("redcap_")]
    if not own and not (statuses and folded(columns[0]) in _RECORDS):
        return {}
    forms = [folded(name).removesuffix("_complete") for name in statuses]
    times = {f"{form}_timestamp" for form in ("survey", *forms)}
    return added_by_redcap([*own, *statuses, *(name for name in columns if folded(name) in times)], forms)


def _holds_statuses(cells: pd.Series) -> bool:
    texts = {canonical_text(cell).casefold().removesuffix(".0") for cell in cells.dropna().unique()}
    return texts - {""} <= _STATUSES
