"""Data dictionaries and codebooks: labels, levels, units and missing codes of columns."""

from __future__ import annotations

import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from clinclust.data import data
from clinclust.errors import InputError, refuse
from clinclust.files import say
from clinclust.files.cell_text import NUMBER, Places, canonical_text, limited, listed, quoted, shortened
from clinclust.files.formats import check_readable, naming_file, shown_name
from clinclust.files.layout import BRACKETED, SheetOptions
from clinclust.files.notation import divided, folded, is_known_unit, means_missing, paragraphs, plain_text, words_of
from clinclust.files.tables import read_table, warn_of_file
from clinclust.files.text_table import ColumnNotes, add_notes, chosen_columns

# What the rows and cells of a dictionary hold: coded values, lists of values, intervals.

_SAYS = "the dictionary says: "
_BY_VALUES = "drafted by its values"
_WORDS = data("dictionaries")
_CODEBOOK, _REDCAP = (
    {folded(header): meaning for meaning, headers in _WORDS[kind].items() for header in headers}
    for kind in ("headers", "redcap_headers")
)
Choice = tuple[str, str]  # a code and its label
Row = Mapping[str, str]  # the texts of a row by their meaning, empty where there is none; "#": its row in a spreadsheet
Bounds = tuple[float | None, float | None]
_NUMBER = r"[+-]?\d+(?:[.,]\d+)?"
_INTERVALS = (
    re.compile(rf"[\[(]\s*(?P<low>{_NUMBER})\s*[,;]\s*(?P<high>{_NUMBER})\s*[\])]"),
    re.compile(rf"(?P<low>{_NUMBER})\s*(?:-|–|—|\.\.|to|bis|à|a|hasta)\s*(?P<high>{_NUMBER})"),
    re.compile(rf"(?:>=?|≥)\s*(?P<low>{_NUMBER})(?P<high>)"),
    re.compile(rf"(?P<low>)(?:<=?|≤)\s*(?P<high>{_NUMBER})"),
)
_SIGNS = ("=", ":", r"\)", r"\s[-–—]", r"\.\s")  # between a code and its label, the surest first
_LONGEST_LISTED = 80


def redcap_choices(text: str) -> list[Choice]:
    """Return the choices of a REDCap field, such as ``1, Male | 2, Female``.

    A label may hold commas, and bars before what is no code. Of a repeated code, the first label counts.
    """
    between = r"\|" if "|" in text else r"\\n|\n"
    parts = re.split(rf"(?:^|{between})\s*([^\s,|]{{1,100}})\s*,", text)
    choices: dict[str, str] = {}
    for code, label in zip(parts[1::2], parts[2::2], strict=True):
        choices.setdefault(code, plain_text(label))
    return list(choices.items())


def coded_values(text: str) -> list[Choice]:
    """Return the codes and labels of a cell such as ``1=male; 2=female`` or ``0: none, 1: mild``; none if it has none.

    Labels may hold commas and semicolons. ``male=1, female=2`` is read too.
    """
    text = _on_one_line(text)
    for sign in _SIGNS:
        code = r"[^=;|,]{1,80}?" if sign == "=" else r"[+-]?\w[\w.+-]{0,19}?"
        begin = re.compile(rf"(?:^|[;|,/]|\s(?=\(?[+-]?\d+\s*{sign}))\s*[\"'(]?({code})[\"']?\s*{sign}\s*")
        starts = list(begin.finditer(text))
        if not starts or starts[0].start() != 0 or (len(starts) == 1 and sign != "="):
            continue
        choices: dict[str, str] = {}
        for start, end in zip(starts, [*(start.start() for start in starts[1:]), len(text)], strict=True):
            choices.setdefault(start[1].strip(), text[start.end() : end].strip(" ;,|/\"'"))
        is_turned = all(NUMBER.fullmatch(label) and not NUMBER.fullmatch(code) for code, label in choices.items())
        return [(label, code) for code, label in choices.items()] if is_turned else list(choices.items())
    return []


def listed_values(text: str) -> list[str]:
    """Return the values of a cell that only lists them, such as ``male; female`` or ``0/1``; none if it lists none."""
    text = _on_one_line(text)
    mark = next((mark for mark in "|;,/" if mark in text), None)
    values = [value.strip(" \"'") for value in text.split(mark)] if mark else []
    sound = all(0 < len(value) <= _LONGEST_LISTED for value in values) and len(set(values)) == len(values)
    return values if sound else []


def _on_one_line(text: str) -> str:
    return plain_text(text.replace("\n", " | ")).strip(" ;,|{}")


def interval(text: str) -> Bounds | None:
    """Return the least and the largest value of a cell such as ``0-120`` or ``≥ 18``; None if it is no interval."""
    match = next(filter(None, (form.fullmatch(plain_text(text)) for form in _INTERVALS)), None)
    if match is None:
        return None
    low, high = _number_or_none(match["low"]), _number_or_none(match["high"])
    return None if low is not None and high is not None and low >= high else (low, high)


def _number_or_none(text: str) -> float | None:
    text = text.strip().replace(",", ".", 1)
    return number if NUMBER.fullmatch(text) and math.isfinite(number := float(text)) else None


def _name_rows(groups: Mapping[str, Sequence[Row]]) -> str:
    """Return variables with their rows, for a message: ``'age' (rows 3, 9)``."""
    return listed(f"{quoted(name)} (rows {', '.join(row['#'] for row in rows[:5])})" for name, rows in groups.items())


def _say_missing(missing: Sequence[Choice]) -> str:
    shown = ", ".join(f"{shortened(code)!r} ({shortened(label)})" for code, label in missing[:10])
    return f"; {shown} mean{'s' * (len(missing) == 1)} missing" if missing else ""


# What a REDCap data dictionary says of the columns of an export, and the columns that REDCap adds to one.

# `integer`, `number_1dp_comma_decimal`
_NUMBER_OF_REDCAP = re.compile(r"(?:integer|int|number|float)(?:_\w+)?")
_DATE = re.compile(r"(?:date|datetime|time)(?:_\w+)?")
_PERSONAL = re.compile(r"(?:email|phone|zipcode|postalcode|postal_code|ssn|mrn|vmrn)(?:_\w+)?")
# the fields of a formula: `round([weight]/[height(2)])` has weight and height
_INPUT = re.compile(r"\[([a-zA-Z]\w*)(?:\([^()\[\]]*\))?\]")
_BOXES = (("0", "Unchecked"), ("1", "Checked"))
_OF_REDCAP, _TYPES = _WORDS["redcap_words"], _WORDS["redcap_types"]


def _note_redcap(rows: Sequence[Row]) -> dict[str, ColumnNotes]:
    """Return the notes on each column of an export; InputError if rows have no name, or that of another row."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["name"], []).append(row)
    unnamed = listed(row["#"] for row in groups.pop("", []))
    problems = [f"no variable is named in row {unnamed}; write its name, or delete the row"] if unnamed else []
    if twice := {name: group for name, group in groups.items() if len(group) > 1}:
        problems.append(f"described more than once: {_name_rows(twice)}; keep one row of each")
    refuse(problems)
    types = {row["name"]: (row["validation"] or row["type"]).casefold() for row in rows}
    notes: dict[str, ColumnNotes] = {}
    section, form = "", None
    for row in rows:
        if row["form"] != form:
            section, form = "", row["form"]
        section = (paragraphs(row["section"]) or [section])[0]
        words = " ".join(row["form"].replace("_", " ").split())
        heading = section if 0 < len(section) <= 60 else words[:1].upper() + words[1:]
        label, *rest = paragraphs(row["label"]) or [""]
        about = ColumnNotes(
            label=label or None,
            section=heading or None,
            description="; ".join(filter(None, [" ".join(rest), plain_text(row["note"])])) or None,
            asked_if=" ".join(row["branching"].split()) or None,
            block=row["matrix"] or None,
        )
        is_personal = row["identifier"].casefold() in ("y", "yes", "true", "1", "x")
        if row is rows[0]:
            field = ColumnNotes(kind="id", reason=f"{_SAYS}the first field, which names the record")
        elif is_personal:
            field = ColumnNotes(kind="text", role="ignore", reason=f"{_SAYS}flagged as an identifier of a person")
        else:
            field = _note_field(row, label, types)
        if row["type"].casefold() == "checkbox":
            # One yes/no column for each choice. They form a block: subjects tick them together.
            choices = redcap_choices(row["choices"])
            for code, choice in choices:
                reason = f"{_SAYS}checkbox, one of {len(choices)} boxes of {shortened(row['name'])}"
                box = replace(about, label=f"{about.label or row['name']}: {choice or code}", kind="yes/no")
                box = replace(box, levels=_BOXES, block=about.block or row["name"], reason=reason)
                if is_missing := means_missing(choice):
                    reason += say("box_of_missing", choice=shortened(choice))
                if is_personal or is_missing:
                    box = replace(box, role="ignore", block=None, reason=field.reason if is_personal else reason)
                # `signs____9` for the code -9 of `signs`
                notes[f"{row['name']}___{re.sub('[^a-z0-9_]', '_', code.lower())}"] = box
        elif row["type"].casefold() != "descriptive":  # of which an export has no column
            if field.unit is not None:  # taken from one of them
                label = label.removesuffix(f"({field.unit})").removesuffix(f"[{field.unit}]").rstrip() or label
                is_note = about.description == field.unit
                about = replace(about, label=label or None, description=None if is_note else about.description)
            is_measured = field.role is None and field.kind not in ("id", "date", "text")
            of_field = {name: value for name, value in vars(field).items() if value not in (None, ())}
            notes[row["name"]] = replace(about, block=about.block if is_measured else None, **of_field)
    return notes


def _note_field(row: Row, label: str, types: Mapping[str, str]) -> ColumnNotes:
    """Return the notes that depend on the type of a field, given the types (of text: the validation) of all."""
    kind, validation = row["type"].casefold(), row["validation"].casefold()
    if kind in _TYPES:
        decided = {"levels": (), **_TYPES[kind]}
        reason, levels = _SAYS + decided.pop("says"), tuple(map(tuple, decided.pop("levels")))
        return ColumnNotes(reason=reason, levels=levels, **decided)
    # a number has its unit in brackets at the end of its label, or as its note
    bracket = BRACKETED.fullmatch(label)
    candidates = [bracket[2] if bracket and bracket[1] else "", plain_text(row["note"])]
    unit = next((text for text in candidates if is_known_unit(text) and not text[0].isdigit()), None)
    of_unit = f"; the unit {unit} is taken from its label or note" if unit else ""
    low, high = _number_or_none(row["minimum"]), _number_or_none(row["maximum"])
    number = ColumnNotes(kind="number", unit=unit, minimum=low, maximum=high, reason=f"{_SAYS}{kind}{of_unit}")
    if kind == "text":
        why = f"{_SAYS}text, validated as {validation}" if validation else f"{_SAYS}text, without validation"
        if "@CALCDATE" in row["annotation"] or _DATE.fullmatch(validation):
            return ColumnNotes(kind="date", reason=why)
        if "@CALCTEXT" in row["annotation"]:
            return ColumnNotes(role="describe", reason=f"{_SAYS}computed from other columns, so it is not clustered on")
        if _NUMBER_OF_REDCAP.fullmatch(validation):
            return replace(number, decimal="," if "comma_decimal" in validation else None, reason=f"{why}{of_unit}")
        if _PERSONAL.fullmatch(validation):
            return ColumnNotes(kind="text", role="ignore", reason=f"{why}, which identifies a person")
        return ColumnNotes(reason=f"{why}; {_BY_VALUES}")
    if kind in ("dropdown", "select", "radio"):
        choices = redcap_choices(row["choices"])
        if not choices:
            return ColumnNotes(reason=f"{_SAYS}{kind}, without choices of the form 1, Male | 2, Female; {_BY_VALUES}")
        levels, missing = divided(choices)
        why = f"{_SAYS}{kind}, {len(choices)} choice{'s' * (len(choices) != 1)}{_say_missing(missing)}"
        return ColumnNotes(levels=levels, missing_codes=tuple(code for code, _ in missing), reason=why)
    if kind == "calc":  # holds information of its own only if it is computed from dates
        inputs = [name for name in dict.fromkeys(_INPUT.findall(row["choices"])) if name in types]
        if inputs and all(_DATE.fullmatch(types[name]) for name in inputs):
            return replace(number, reason=f"{number.reason}; computed from dates ({listed(inputs)})")
        why = f"{number.reason}; computed from {listed(inputs) or 'other fields'}, so it is not clustered on"
        return replace(number, role="describe", reason=why)
    if kind == "slider":
        return replace(number, minimum=0.0 if low is None else low, maximum=100.0 if high is None else high)
    return ColumnNotes(reason=f"{_SAYS}a field of a type that is not known here ({shortened(kind)}); {_BY_VALUES}")


def _note_added(columns: Iterable[str], forms: Iterable[str]) -> dict[str, ColumnNotes]:
    """Return the notes on those of the columns that REDCap adds itself, given the forms of the dictionary."""
    meanings = dict(_WORDS["redcap_columns"])
    for form in filter(None, forms):
        meanings[f"{folded(form)}_complete"] = f"the status of the form {shortened(form)}"
        meanings[f"{folded(form)}_timestamp"] = f"when the form {shortened(form)} was answered"
    notes = {}
    for column in columns:
        if folded(column) in _OF_REDCAP["site"]:
            reason = "the site (data access group) of the record, which REDCap adds to an export; not clustered on"
            notes[column] = ColumnNotes(label="Site", kind="nominal", role="site", reason=reason)
        elif folded(column) in meanings:
            notes[column] = ColumnNotes(role="ignore", reason=say("added_by_redcap", meaning=meanings[folded(column)]))
    return notes


def notes_without_dictionary(frame: pd.DataFrame) -> dict[str, ColumnNotes]:
    """Return the notes on the columns that REDCap adds to an export, by column, where no dictionary describes it.

    An export has a column that only REDCap names, or a record in its first column and the status of a form in another.
    """
    columns, words = [str(name) for name in frame.columns], set(_OF_REDCAP["statuses"])
    statuses = [
        name
        for name in columns
        if folded(name).endswith("_complete")
        and {canonical_text(cell).casefold().removesuffix(".0") for cell in frame[name].dropna().unique()} <= words
    ]
    of_redcap = [name for name in columns if folded(name).startswith("redcap_")]
    if not of_redcap and not (statuses and folded(columns[0]) in _OF_REDCAP["records"]):
        return {}
    forms = [folded(name).removesuffix("_complete") for name in statuses]
    times = {f"{form}_timestamp" for form in ("survey", *forms)}
    return _note_added([*of_redcap, *statuses, *(name for name in columns if folded(name) in times)], forms)


# Read a codebook: any table with a column of variable names and columns with known headers.

_STORED = "stored as text"
_KIND_OF = {word: kind for kind, words in _WORDS["kinds"].items() for word in words}


def _note_codebook(rows: Sequence[Row], places: Places) -> dict[str, ColumnNotes]:
    """Return the notes on each variable, of one row or one for each level; InputError if rows describe one twice."""
    groups: dict[str, list[Row]] = {}
    name = ""
    for row in rows:
        name = row["name"] or name
        if not row["name"] and not _code(row):
            places.add("no variable is named there, and the row is not read", f"row {row['#']}")
        elif name:
            groups.setdefault(name, []).append(row)
    twice = dict[str, list[Row]]()
    for name, group in groups.items():
        codes = [_code(row) for row in group][not _code(group[0]) :]  # one in each row; the first may hold none
        are_codes = all(code and not coded_values(code) and interval(code) is None for code in codes)
        if len(group) > 1 and not (len(set(codes)) == len(codes) and are_codes):
            twice[name] = group
    if twice:
        raise InputError(say("variables_twice", variables=_name_rows(twice)))
    return {name: _note_variable(group, places) for name, group in groups.items()}


def _code(row: Row) -> str:
    return row["code"] or row["values"]


def _note_variable(group: list[Row], places: Places) -> ColumnNotes:
    row, place = group[0], f"row {group[0]['#']}"
    facts: dict[str, Any] = {key: plain_text(row[key]) or None for key in ("label", "unit", "section", "description")}
    # the columns of minimum and maximum count before that of the range
    within, low, high = interval(row["range"]), _number_or_none(row["minimum"]), _number_or_none(row["maximum"])
    for what, read in (("range", within), ("minimum", low), ("maximum", high)):
        if row[what] and read is None:
            places.add(f"its {what} could not be read; write a number, or 0-120 for a range", place)
    least, most = within or (None, None)
    bounds: Bounds = (least if low is None else low, most if high is None else high)
    text, kind = row["values"] or row["code"], None
    choices = [] if len(group) > 1 else coded_values(text)
    if len(group) > 1:
        # Without a column for the labels of levels, that of labels holds them if they differ between the rows.
        coded = [row for row in group if _code(row)]
        labels = [plain_text(row["code label"]) for row in coded]
        of_rows = [plain_text(row["label"] or row["description"]) for row in coded]
        if not any(labels) and all(of_rows) and len(set(of_rows)) == len(of_rows):
            labels, facts["label"] = of_rows, facts["label"] if row is not coded[0] else None
        choices = [(_code(row), label or _code(row)) for row, label in zip(coded, labels, strict=True)]
    elif text and not choices:
        if (within := interval(text)) is not None:
            bounds, kind = within if bounds == (None, None) else bounds, "number"
        elif values := listed_values(text):
            choices = [(value, value) for value in values]
        elif (kind := _read_kind(text)) is None:
            places.add("its values could not be read; write them as 1=male; 2=female", place)
    if facts["label"] is None:
        facts["label"], facts["description"] = facts["description"], None
    codes, text = list[str](), plain_text(row["missing"].replace("\n", " ; "))
    if text and text.casefold() not in _WORDS["answers"]["none"]:
        words = text.split()
        alone = words if all(_number_or_none(word) is not None for word in words) else [text]
        codes = [code for code, _ in coded_values(text)] or listed_values(text) or alone
        if any(len(code) > 30 for code in codes):
            places.add("its missing codes could not be read; write them as -9; -8", place)
            codes = []
    levels, among = divided(choices)
    missing = tuple(dict.fromkeys([*(code for code, _ in among), *codes]))
    stated = _read_kind(row["type"])
    if row["type"] and stated is None:
        places.add(f"the type {quoted(row['type'])} is not known here, and not used", place)
    kind = next((name for name in (stated, kind) if name not in (None, _STORED)), None)
    if levels and kind in ("number", "text", "date"):  # how the codes are stored; what they are, the labels say
        kind = None
    if kind is None and not levels and bounds != (None, None):
        kind = "number"
    parts = [shortened(row["type"])] if stated else []
    parts += [f"{len(choices)} value{'s' * (len(choices) != 1)}"] if choices else []
    reason = f"{_SAYS}{', '.join(parts) or kind or 'a column of this name'}" + _say_missing(among)
    facts["kind"] = kind
    return ColumnNotes(
        **facts,
        levels=tuple(choice for choice in levels if choice[0] not in missing),
        missing_codes=missing,
        minimum=bounds[0],
        maximum=bounds[1],
        asked_if=" ".join(row["asked if"].split()) or None,
        reason=reason if kind or levels else f"{reason}; {_BY_VALUES}",
    )


def _read_kind(text: str) -> str | None:
    """Return the kind that a text names; the way a program stores a column (`varchar`) counts last."""
    words = words_of(text)
    if words[:2] in _WORDS["answers"]["yes_no"]:
        return "yes/no"
    kinds = [_KIND_OF[bare] for word in words if (bare := word.rstrip("0123456789")) in _KIND_OF]
    return next((kind for kind in kinds if kind != _STORED), kinds[0] if kinds else None)


# What a dictionary, of REDCap or a codebook, says of the columns of a table.


def note_columns(frame: pd.DataFrame, path: str | os.PathLike[str], *, sheet: str | None = None) -> None:
    r"""Add the notes of a dictionary to those of a table, and warn of what is odd: a row for each variable or level.

    A REDCap data dictionary is recognised by its headers. A codebook has a column of the names of variables, and
    columns whose headers say in English, German, French or Spanish what they hold: label, unit, values, type, range,
    .... InputError says which rows describe a variable twice or have no name, or that no column of the table is
    described.

    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from clinclust.files.dictionaries import note_columns
    >>> _ = Path("codebook.csv").write_text("variable,values,unit\nsex,1=male; 2=female,\ncrp,,mg/L\n")
    >>> cohort = pd.DataFrame({"sex": ["1", "2"], "crp": ["3.5", "12"]})
    >>> note_columns(cohort, "codebook.csv")
    >>> cohort.attrs["column_notes"]["sex"]["levels"], cohort.attrs["column_notes"]["crp"]["unit"]
    ([['1', 'male'], ['2', 'female']], 'mg/L')
    """
    path = Path(path)
    check_readable(path)
    with naming_file(path):
        read = read_table(path, SheetOptions(sheet, of_subjects=False))
        table, remarks = chosen_columns(read, None, None)
    warn_of_file(path, [*read.remarks, *remarks])
    try:
        notes, remarks = _read(table, [str(column) for column in frame.columns])
    except InputError as error:
        raise InputError(limited(f"the dictionary {shown_name(path)} cannot be used: {error}")) from error
    warn_of_file(path, remarks)
    add_notes(frame, notes)


def _read(table: pd.DataFrame, columns: list[str]) -> tuple[dict[str, ColumnNotes], list[str]]:
    """Return what a dictionary says of the columns of a table, and remarks on it."""
    headers = [canonical_text(header) for header in table.columns]
    shared = set(headers) & set(columns)
    if len(shared) == len(set(headers)) or (len(shared) > 2 and 2 * len(shared) > len(headers)):
        raise InputError(say("dictionary_of_subjects", headers=listed(map(quoted, sorted(shared)))))
    places, unread = Places(), list[str]()
    folds = {*map(folded, columns)}
    held = [_REDCAP.get(folded(header)) for header in headers]
    is_redcap = {"name", "type"} <= {*held} and not {"form", "choices", "validation"}.isdisjoint(held)
    if not is_redcap:
        held = [_CODEBOOK.get(folded(header)) for header in headers]
        named = [place for place, meaning in enumerate(held) if meaning == "name"]
        if not named:
            raise InputError(say("no_names_of_variables", headers=listed(map(quoted, table.columns))))
        # of several columns for names, the one with most names of columns of the table has them
        best = max(named, key=lambda place: len(folds & {folded(str(cell)) for cell in table.iloc[:, place].dropna()}))
        held = [meaning if meaning != "name" or place == best else None for place, meaning in enumerate(held)]
        unread = [header for header, meaning in zip(headers, held, strict=True) if meaning is None and header]
    rows = list[Row]()
    numbers = table.index if table.index.inferred_type == "integer" else range(len(table))
    for number, values in zip(numbers, table.astype(object).where(table.notna(), "").to_numpy(), strict=True):
        row: defaultdict[str, str] = defaultdict(str, {"#": str(number + 2)})
        for meaning, value in zip(held, values, strict=True):  # of columns of one meaning, the first text counts
            if meaning is not None and (text := canonical_text(value)):
                row.setdefault(meaning, text)
        rows.append(row)
    described, names = dict[str, ColumnNotes](), dict[str, str]()
    n_variables = len({row["name"] for row in rows if row["name"]})
    if not rows or is_redcap or {folded(row["name"]) for row in rows} & folds:
        described = _note_redcap(rows) if is_redcap else _note_codebook(rows, places)
        if not described:
            raise InputError("it describes no variable")
        # a column has the same name in the dictionary, or else the only one but for case and signs
        n_columns, n_names = (Counter(map(folded, texts)) for texts in ({*columns}, described))
        by_fold = {key: name for name in described if n_names[key := folded(name)] == 1}
        pairs = [(column, column if column in described else by_fold.get(folded(column), "")) for column in columns]
        names = {column: name for column, name in pairs if name and (name == column or n_columns[folded(name)] == 1)}
    if not names:  # what the dictionary holds is not shown: it may be of patients
        n_variables = len(described) or n_variables
        raise InputError(say("none_described", n_variables=n_variables, columns=listed(map(quoted, columns))))
    notes = {column: described[name] for column, name in names.items()}
    if is_redcap:
        notes |= _note_added([column for column in columns if column not in notes], [row["form"] for row in rows])
    strangers = [column for column in columns if column not in notes]
    absent = [name for name in described if name not in names.values()]
    differ = [f"{quoted(column)} ({quoted(name)})" for column, name in names.items() if column != name]
    listings = {
        "not read, because its headers are not known here": listed(map(quoted, unread)),
        "taken for the same, though written in another way": listed(differ),
        "columns of the table that are not in it, and are drafted by their values": listed(map(quoted, strangers)),
        "its variables that are no columns of the table": listed(map(quoted, absent)),
    }
    remarks = [f"{what}: {names}" for what, names in listings.items() if names]
    remarks[bool(unread) : bool(unread)] = places.sentences()
    return {column: notes[column] for column in columns if column in notes}, remarks
