"""Data dictionaries and codebooks: labels, levels, units and missing codes of columns."""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinclust.data import data
from clinclust.errors import CohortWarning, InputError, refuse
from clinclust.files.cell_text import Places, canonical_text, limited, listed, quoted, shortened
from clinclust.files.dictionaries.words import (
    CODEBOOK,
    REDCAP,
    SAYS,
    Choice,
    Row,
    coded_values,
    divided,
    folded,
    heading_and_rest,
    interval,
    listed_values,
    meanings,
    means_missing,
    number_or_none,
    plain_text,
    redcap_choices,
    rows_of,
    said_missing,
    words_of,
)
from clinclust.files.number_notation import is_known_unit
from clinclust.files.opening import shown_name
from clinclust.files.text_table import ColumnNotes, add_notes
from clinclust.texts import nearest

if TYPE_CHECKING:
    import pandas as pd

# Data dictionaries: what a REDCap project or a codebook says of the columns of a table.

__all__ = ["Dictionary", "note_columns", "read_dictionary"]


# What a REDCap data dictionary says of the columns of an export, and the columns that REDCap adds to one.

_LONGEST_SECTION = 60
_NUMBER_OF_REDCAP = re.compile(r"(?:integer|int|number|float)(?:_\w+)?")
_DATE = re.compile(r"(?:date|datetime|time)(?:_\w+)?")
_PERSONAL = re.compile(r"(?:email|phone|zipcode|postalcode|postal_code|ssn|mrn|vmrn)(?:_\w+)?")
_INPUT = re.compile(r"\[([a-zA-Z]\w*)(?:\([^()\[\]]*\))?\]")
_IN_BRACKETS = re.compile(r"\s*[(\[]([^()\[\]]{1,30})[)\]]$")
_BY_VALUES = "drafted by its values"
_TWO_LEVELS = {"yesno": ("No", "Yes"), "truefalse": ("False", "True")}
_NO_MEASUREMENT = "a column that REDCap adds to an export, no measurement"
_ADDED = data("dictionaries")["redcap_columns"]
_STATUSES = frozenset(("", "0", "1", "2", "incomplete", "unverified", "complete"))
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
    if _NUMBER_OF_REDCAP.fullmatch(validation):
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
    statuses = [
        name
        for name in columns
        if folded(name).endswith("_complete")
        and {canonical_text(cell).casefold().removesuffix(".0") for cell in frame[name].dropna().unique()} <= _STATUSES
    ]
    own = [name for name in columns if folded(name).startswith("redcap_")]
    if not own and not (statuses and folded(columns[0]) in _RECORDS):
        return {}
    forms = [folded(name).removesuffix("_complete") for name in statuses]
    times = {f"{form}_timestamp" for form in ("survey", *forms)}
    return added_by_redcap([*own, *statuses, *(name for name in columns if folded(name) in times)], forms)


# Read a codebook: any table with a column of variable names and columns with known headers.

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


_MOST_HINTS = 5  # as many as a message shows; a search among many names takes time


@dataclass(frozen=True)
class Dictionary:
    """What a data dictionary says of a table: notes by column, and remarks, each a sentence."""

    notes: dict[str, ColumnNotes]
    remarks: tuple[str, ...] = ()


def read_dictionary(path: str | os.PathLike[str], columns: Sequence[str], *, sheet: str | None = None) -> Dictionary:
    r"""Read a REDCap data dictionary, or a codebook: a table with a row for each variable, or for each of its levels.

    A REDCap data dictionary is recognised by its headers. A codebook has a column of the names of variables, and
    columns whose headers say in English, German, French or Spanish what they hold: label, unit, values, type, range,
    .... InputError says which rows describe a variable twice or have no name, or that none of the `columns` of the
    table is described.

    >>> from pathlib import Path
    >>> from clinclust.files.dictionaries import read_dictionary
    >>> _ = Path("codebook.csv").write_text("variable,values,unit\nsex,1=male; 2=female,\ncrp,,mg/L\n")
    >>> dictionary = read_dictionary("codebook.csv", ["sex", "crp"])
    >>> dictionary.notes["sex"].levels, dictionary.notes["crp"].unit
    ((('1', 'male'), ('2', 'female')), 'mg/L')
    """
    from clinclust.files.tables import read_codebook

    table = read_codebook(path, sheet)
    try:
        return _read(table, [str(column) for column in columns])
    except InputError as error:
        raise InputError(limited(f"the dictionary {shown_name(Path(path))} cannot be used: {error}")) from error


def note_columns(frame: pd.DataFrame, path: str | os.PathLike[str], *, sheet: str | None = None) -> Dictionary:
    """Read a dictionary (see `read_dictionary`) and add its notes to those of a table; warn of each remark."""
    dictionary = read_dictionary(path, list(frame.columns), sheet=sheet)
    for remark in dictionary.remarks:
        warnings.warn(limited(f"{shown_name(Path(path))}: {remark}"), CohortWarning, stacklevel=2)
    add_notes(frame, dictionary.notes)
    return dictionary


def _read(table: pd.DataFrame, columns: list[str]) -> Dictionary:
    headers = [canonical_text(header) for header in table.columns]
    _refuse_the_table(headers, columns)
    places = Places()
    remarks: list[str] = []
    held = meanings(table, REDCAP)
    is_redcap = {"name", "type"} <= {*held} and not {"form", "choices", "validation"}.isdisjoint(held)
    if is_redcap:
        rows = rows_of(table, held)
        said = redcap_notes(rows)
    else:
        held = _columns_of_a_codebook(table, columns)
        unread = [header for header, meaning in zip(headers, held, strict=True) if meaning is None and header]
        remarks += [f"not read, because its headers are not known here: {listed(map(quoted, unread))}"] * bool(unread)
        rows = rows_of(table, held)
        if rows and not {folded(row["name"]) for row in rows} & {*map(folded, columns)}:
            raise _of_another_table(len({row["name"] for row in rows if row["name"]}), columns)
        said = codebook_notes(rows, places)
    if not said:
        raise InputError("it describes no variable")
    names = _matched(said, columns)
    differ = [f"{quoted(column)} ({quoted(name)})" for column, name in names.items() if column != name]
    remarks += places.sentences()
    remarks += [f"taken for the same, though written in another way: {listed(differ)}"] * bool(differ)
    notes = {column: said[name] for column, name in names.items()}
    if is_redcap:
        notes |= added_by_redcap([column for column in columns if column not in notes], [row["form"] for row in rows])
    remarks += _unmatched([name for name in said if name not in names.values()], columns, notes)
    return Dictionary({column: notes[column] for column in columns if column in notes}, tuple(remarks))


def _columns_of_a_codebook(table: pd.DataFrame, columns: list[str]) -> list[str | None]:
    """Return what each column holds; of several for names, the one with most names of columns of the table has them."""
    held = meanings(table, CODEBOOK)
    named = [place for place, meaning in enumerate(held) if meaning == "name"]
    if not named:
        raise InputError(
            f"no column holds the names of variables; its headers are {listed(map(quoted, table.columns))}. Call the "
            "column of the names 'variable', in the first row of the sheet; if the dictionary is on another sheet, "
            "give its `sheet`"
        )
    known = {*map(folded, columns)}
    best = max(named, key=lambda place: len(known & {folded(str(cell)) for cell in table.iloc[:, place].dropna()}))
    return [meaning if meaning != "name" or place == best else None for place, meaning in enumerate(held)]


def _refuse_the_table(headers: list[str], columns: list[str]) -> None:
    """Raise InputError if the headers are those of the table: the cells are then those of patients."""
    shared = set(headers) & set(columns)
    if len(shared) == len(set(headers)) or (len(shared) > 2 and 2 * len(shared) > len(headers)):
        raise InputError(
            f"its headers are columns of the table ({listed(map(quoted, sorted(shared)))}), so it seems "
            "to be a table of subjects; give the file that has a row for each column of the table"
        )


def _matched(said: Collection[str], columns: Sequence[str]) -> dict[str, str]:
    """Return the name in the dictionary of each column: the same, or else the only one but for case and signs."""
    free = [column for column in columns if column not in said]
    left = [name for name in said if name not in set(columns)]
    n_columns, n_names = Counter(map(folded, free)), Counter(map(folded, left))
    name_of = {folded(name): name for name in left if n_names[folded(name)] == 1}
    found = {column: column for column in columns if column in said}
    found |= {column: name_of[key] for column in free if (key := folded(column)) in name_of and n_columns[key] == 1}
    if not found:
        raise _of_another_table(len(said), columns)
    return found


def _of_another_table(count: int, columns: Sequence[str]) -> InputError:
    """Return the error of a dictionary that describes no column; what it holds is not shown: it may be of patients."""
    return InputError(
        f"none of the {count:,} variables that it names is a column of the table, whose columns are "
        f"{listed(map(quoted, columns))}. Give the dictionary of this table, or write the names of the columns into "
        "it; export a REDCap project as raw data, with the names of variables for headers"
    )


def _unmatched(absent: list[str], columns: Sequence[str], noted: Collection[str]) -> list[str]:
    strangers = [column for column in columns if column not in noted]
    shown = [
        quoted(name) + (f" (nearest: {quoted(close)})" if (close := nearest(name, absent)) is not None else "")
        for name in strangers[:_MOST_HINTS]
    ]
    remarks = []
    if strangers:
        listing = listed(shown, len(strangers))
        remarks.append(f"columns of the table that are not in it, and are drafted by their values: {listing}")
    if absent:
        remarks.append(f"its variables that are no columns of the table: {listed(map(quoted, absent))}")
    return remarks
