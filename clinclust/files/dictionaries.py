"""Data dictionaries and codebooks: labels, levels, units and missing codes of columns."""

from __future__ import annotations

import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from clinclust.data import data
from clinclust.errors import InputError, refuse, warn
from clinclust.files import notation, say
from clinclust.files.cell_text import NUMBER, Places, canonical_text, limited, listed, quoted, shortened, texts_of
from clinclust.files.layout import SheetOptions
from clinclust.files.notation import divided, folded, means_missing, paragraphs, plain_text, words_of
from clinclust.files.tables import check_readable, naming_file, read_table, shown_name
from clinclust.files.text_table import ColumnNotes, add_notes, chosen_columns

# What the rows and cells of a dictionary hold: coded values, lists of values, intervals.

_WORDS = data("dictionaries")
_CODEBOOK, _REDCAP = (
    {folded(header): meaning for meaning, headers in _WORDS[kind].items() for header in headers}
    for kind in ("headers", "redcap_headers")
)
Choice = tuple[str, str]  # a code and its label
Row = dict[str, str]  # the texts of a row by their meaning, empty where nothing is; "#": its row in a spreadsheet
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
    """Return the choices of a REDCap field, ``1, Male | 2, Female``; labels may hold commas, and the first counts."""
    between = r"\|" if "|" in text else r"\\n|\n"
    parts = re.split(rf"(?:^|{between})\s*([^\s,|]{{1,100}})\s*,", text)
    choices: dict[str, str] = {}
    for code, label in zip(parts[1::2], parts[2::2], strict=True):
        choices.setdefault(code, plain_text(label))
    return list(choices.items())


def coded_values(text: str) -> list[Choice]:
    """Return the codes and labels of a cell: ``1=male; 2=female``, ``0: none, 1: mild``, ``male=1, female=2``."""
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


# What the rows of a variable say of it, in a codebook and in a data dictionary of REDCap alike.

_STORED = "how it is stored or asked"
_KIND_OF = {word: kind for kind, words in _WORDS["kinds"].items() for word in words}


def _read_kind(text: str) -> Any:
    """Return the kind that a text names; the way a program stores a column (`varchar`) counts last."""
    words = words_of(text)
    if words[:2] in _WORDS["answers"]["yes_no"]:
        return "yes/no"
    kinds = [_KIND_OF[bare] for word in words if (bare := word.rstrip("0123456789")) in _KIND_OF]
    return next((kind for kind in kinds if kind != _STORED), kinds[0] if kinds else None)


def _read_values(group: Sequence[Row], places: Places) -> tuple[list[Choice], Bounds, Any]:
    """Return the values of a variable with their labels, or else the bounds or the kind that are in their place."""
    row, text, unbounded = group[0], group[0]["code"], (None, None)
    if len(group) > 1:
        # Without a column for the labels of levels, that of labels holds them if they differ between the rows.
        coded = [row for row in group if row["code"]]
        labels = [plain_text(row["code label"]) for row in coded]
        of_rows = [plain_text(row["label"] or row["description"]) for row in coded]
        if not any(labels) and all(of_rows) and len(set(of_rows)) == len(of_rows):
            labels = of_rows
        return [(row["code"], label or row["code"]) for row, label in zip(coded, labels, strict=True)], unbounded, None
    choices = redcap_choices(row["choices"]) or coded_values(text)
    if not choices and (within := interval(text)) is not None:
        return [], within, "number"
    choices = choices or [(value, value) for value in listed_values(text)]
    kind = None if choices else _read_kind(text)
    if (text or row["choices"]) and not choices and kind is None:
        places["its values could not be read; write them as 1=male; 2=female"].append(f"row {row['#']}")
    return choices, unbounded, kind


def _note_variable(group: Sequence[Row], places: Places) -> ColumnNotes:
    """Return the notes on a variable of one row, or one for each level."""
    row, place = group[0], f"row {group[0]['#']}"
    label, *rest = paragraphs(row["label"]) or [""]
    description = "; ".join(filter(None, [" ".join(rest), plain_text(row["description"])]))
    choices, bounds, kind = _read_values(group, places)
    if len(group) > 1 and (row["code"], label) in choices:  # the label of a level
        label = ""
    validation, stated = row["validation"], row["kind"] or _read_kind(row["validation"] or row["type"])
    role: Any = row["role"] or None
    if row["type"] and not (validation or role or stated):
        places[f"the type {quoted(row['type'])} is not known here, and not used"].append(place)
    # the columns of minimum and maximum count before that of the range
    within, low, high = interval(row["range"]), _number_or_none(row["minimum"]), _number_or_none(row["maximum"])
    for what, read in (("range", within), ("minimum", low), ("maximum", high)):
        if row[what] and read is None and stated != "date":
            places[f"its {what} could not be read; write a number, or 0-120 for a range"].append(place)
    least, most = within or bounds
    bounds = (least if low is None else low, most if high is None else high)
    codes, text = list[str](), plain_text(row["missing"].replace("\n", " ; "))
    if text and text.casefold() not in _WORDS["answers"]["none"]:
        words = text.split()
        alone = words if all(_number_or_none(word) is not None for word in words) else [text]
        codes = [code for code, _ in coded_values(text)] or listed_values(text) or alone
    levels, among = divided(choices)
    missing = tuple(dict.fromkeys([*(code for code, _ in among), *codes]))
    kind = next((name for name in (stated, kind) if name not in (None, _STORED)), None)
    if levels and kind in ("number", "text", "date"):  # how the codes are stored; what they are, the labels say
        kind = None
    if kind is None and not levels and bounds != (None, None):
        kind = "number"
    reason = f"the dictionary says: {row['says'] or shortened(row['type']) or kind or 'a column of this name'}"
    if among:
        shown = ", ".join(f"{shortened(code)!r} ({shortened(label)})" for code, label in among[:10])
        reason += f"; {shown} mean{'s' * (len(among) == 1)} missing"
    unit = plain_text(row["unit"])
    if kind == "number" and not unit:  # in brackets at the end of the label, or all of the description
        label, unit = notation.split_unit(label)
        if not unit and notation.is_known_unit(description):
            unit, description = description, ""
        reason += f"; the unit {unit} is taken from its label or note" * bool(unit)
    return ColumnNotes(
        label=label or description or None,
        unit=unit or None,
        section=plain_text(row["section"]) or None,
        description=(label and description) or None,
        levels=tuple(choice for choice in levels if choice[0] not in missing),
        kind=kind,
        missing_codes=missing,
        minimum=bounds[0],
        maximum=bounds[1],
        decimal="," if "comma_decimal" in validation else None,
        asked_if=" ".join(row["asked if"].split()) or None,
        block=row["block"] or None if role is None and kind not in ("id", "date", "text") else None,
        role=role,
        reason=reason if kind or levels or role else f"{reason}; drafted by its values",
    )


# A data dictionary of REDCap as a codebook, and the columns that REDCap adds to an export.

_OF_REDCAP, _TYPES = _WORDS["redcap_words"], _WORDS["redcap_types"]
# the fields of a formula: `round([weight]/[height(2)])` has weight and height
_INPUT = re.compile(r"\[([a-zA-Z]\w*)(?:\([^()\[\]]*\))?\]")


def _as_codebook(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the rows of a data dictionary of REDCap as those of a codebook: one for each field, or box to tick."""
    names = {row["name"] for row in rows}
    dates, section, form = {row["name"] for row in rows if _read_kind(row["validation"]) == "date"}, "", ""
    for row in rows:
        kind, text = row["type"].casefold(), row["choices"]
        if row["form"] != form:
            section, form = "", row["form"]
        section = (paragraphs(row["section"]) or [section])[0]
        words = " ".join(form.replace("_", " ").split())
        row["section"] = section if 0 < len(section) <= 60 else words[:1].upper() + words[1:]
        row["choices"] = text if kind in _OF_REDCAP["with_choices"] else ""
        usual = _TYPES.get(kind) or _TYPES.get(row["validation"].casefold().partition("_")[0], {})
        row |= {meaning: value for meaning, value in usual.items() if not row[meaning]}
        if kind == "calc" or "@CALCTEXT" in row["annotation"]:
            inputs = [name for name in dict.fromkeys(_INPUT.findall(text or row["annotation"])) if name in names]
            row["says"] = f"computed from {listed(inputs) or 'other fields'}"
            if not inputs or not dates.issuperset(inputs):  # of dates it holds information of its own, as an age does
                row |= {"role": "describe", "says": row["says"] + ", so it is not clustered on"}
        if is_personal := row["identifier"].casefold() in ("y", "yes", "true", "1", "x"):
            row |= {"kind": "text", "role": "ignore", "choices": "", "says": "flagged as an identifier of a person"}
        if row is rows[0]:
            row |= {"kind": "id", "role": "", "choices": "", "says": "the first field, which names the record"}
        if kind == "checkbox":
            # One yes/no column for each choice. They form a block: subjects tick them together.
            choices = redcap_choices(text)
            of_all = {"kind": "yes/no", "choices": _OF_REDCAP["boxes"], "block": row["block"] or row["name"]}
            label = plain_text(row["label"]) or row["name"]
            for code, choice in choices:
                says = f"checkbox, one of {len(choices)} boxes of {shortened(row['name'])}"
                box = row.copy() | of_all | {"label": f"{label}: {choice or code}", "says": says}
                if means_missing(choice) and not is_personal:
                    box |= {"role": "ignore", "says": says + say("box_of_missing", choice=shortened(choice))}
                # `signs____9` for the code -9 of `signs`
                yield box | {"name": f"{row['name']}___{re.sub('[^a-z0-9_]', '_', code.lower())}"}
        elif kind != "descriptive":  # of which an export has no column
            yield row


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
        elif (name := re.sub("^complete_[0-9]+$", "complete", folded(column))) in meanings:  # `Complete? (2)`
            notes[column] = ColumnNotes(role="ignore", reason=say("added_by_redcap", meaning=meanings[name]))
    return notes


def notes_without_dictionary(frame: pd.DataFrame) -> dict[str, ColumnNotes]:
    """Return the notes on the columns that REDCap adds to an export, by column, where no dictionary describes it."""
    # a column that only REDCap names, or a record in the first column and the status of a form in another
    columns, words = [str(name) for name in frame.columns], set(_OF_REDCAP["statuses"])
    statuses = [
        name
        for name in columns
        if re.fullmatch("(.+_)?complete(_[0-9]+)?", folded(name))
        and {canonical_text(cell).casefold().removesuffix(".0") for cell in frame[name].dropna().unique()} <= words
    ]
    is_record = bool(statuses) and folded(columns[0]) in _OF_REDCAP["records"]
    if not is_record and not any(folded(name).startswith("redcap_") for name in columns):
        return {}
    return _note_added(columns, [folded(name).removesuffix("_complete") for name in statuses])


# Which rows describe which variable.


def _note_rows(rows: Sequence[Row], places: Places, *, is_redcap: bool) -> dict[str, ColumnNotes]:
    """Return the notes on each variable, of one row or one for each level; InputError if rows describe one twice."""
    groups, name = dict[str, list[Row]](), ""
    for row in rows:
        name = row["name"] or ("" if is_redcap else name)
        if not row["name"] and not is_redcap and not row["code"]:
            places["no variable is named there, and the row is not read"].append(f"row {row['#']}")
        elif name or is_redcap:
            groups.setdefault(name, []).append(row)
    unnamed = listed(row["#"] for row in groups.pop("", []))
    problems = [f"no variable is named in row {unnamed}; write its name, or delete the row"] if unnamed else []
    twice = dict[str, list[Row]]()
    for name, group in groups.items():
        codes = [row["code"] for row in group][not group[0]["code"] :]  # one in each row; the first may hold none
        are_codes = all(code and not coded_values(code) and interval(code) is None for code in codes)
        if len(group) > 1 and not (len(set(codes)) == len(codes) and are_codes):
            twice[name] = group
    if twice:
        shown = (f"{quoted(name)} (rows {', '.join(row['#'] for row in group[:5])})" for name, group in twice.items())
        problems.append(say("variables_twice", variables=listed(shown)))
    refuse(problems)
    if is_redcap:
        groups = {row["name"]: [row] for row in _as_codebook([row for row in rows if row["name"]])}
    return {name: _note_variable(group, places) for name, group in groups.items()}


# What a dictionary, of REDCap or a codebook, says of the columns of a table.


def note_columns(frame: pd.DataFrame, path: str | os.PathLike[str], *, sheet: str | None = None) -> None:
    r"""Add the notes of a dictionary to those of a table, and warn of what is odd: a row for each variable or level.

    A REDCap data dictionary is recognised by its headers. A codebook has a column of the names of variables, and others
    whose headers say in English, German, French or Spanish what they hold. InputError says which rows describe a
    variable twice or have no name, or that no column of the table is described.

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
        notes, on_notes = _read(table, [str(column) for column in frame.columns])
    for remark in (*read.remarks, *remarks, *on_notes):
        warn(limited(f"{shown_name(path)}: {remark}"))
    add_notes(frame, notes)


def _read(table: pd.DataFrame, columns: list[str]) -> tuple[dict[str, ColumnNotes], list[str]]:
    headers = [canonical_text(header) for header in table.columns]
    shared = set(headers) & set(columns)
    if len(shared) == len(set(headers)) or (len(shared) > 2 and 2 * len(shared) > len(headers)):
        raise InputError(say("dictionary_of_subjects", headers=sorted(shared)))
    places = Places()
    folds = {*map(folded, columns)}
    held = [_REDCAP.get(folded(header)) for header in headers]
    is_redcap = {"name", "type"} <= {*held} and not {"form", "choices", "validation"}.isdisjoint(held)
    if not is_redcap:
        held = [_CODEBOOK.get(folded(header)) for header in headers]
        named = [place for place, meaning in enumerate(held) if meaning == "name"]
        if not named:
            raise InputError(say("no_names_of_variables", headers=table.columns))
        # of several columns for names, the one with most names of columns of the table has them
        best = max(named, key=lambda place: len(folds & {folded(str(cell)) for cell in table.iloc[:, place].dropna()}))
        held = [meaning if meaning != "name" or place == best else None for place, meaning in enumerate(held)]
        unread = [header for header, meaning in zip(headers, held, strict=True) if meaning is None and header]
        places["not read, because its headers are not known here"] += map(quoted, unread)
    rows = list[Row]()
    numbers = table.index if table.index.inferred_type == "integer" else range(len(table))
    for number, texts in zip(numbers, table.apply(texts_of).to_numpy(), strict=True):
        filled = [(meaning, text) for meaning, text in zip(held, texts, strict=True) if meaning and text]
        row = defaultdict(str, reversed([*filled, ("#", str(number + 2))]))  # of one meaning, the first text counts
        row["code"] = row["code"] or row["values"]
        rows.append(row)
    described, names = dict[str, ColumnNotes](), dict[str, str]()
    if not rows or is_redcap or {folded(row["name"]) for row in rows} & folds:
        described = _note_rows(rows, places, is_redcap=is_redcap)
        if not described:
            raise InputError("it describes no variable")
        # a column has the same name in the dictionary, or else the only one but for case and signs
        n_columns, n_names = (Counter(map(folded, texts)) for texts in ({*columns}, described))
        by_fold = {key: name for name in described if n_names[key := folded(name)] == 1}
        pairs = [(column, column if column in described else by_fold.get(folded(column), "")) for column in columns]
        names = {column: name for column, name in pairs if name and (name == column or n_columns[folded(name)] == 1)}
    if not names:  # what the dictionary holds is not shown: it may be of patients
        n_variables = len(described) or len({row["name"] for row in rows if row["name"]})
        raise InputError(say("none_described", n_variables=n_variables, columns=columns))
    notes = {column: described[name] for column, name in names.items()}
    if is_redcap:
        notes |= _note_added([column for column in columns if column not in notes], [row["form"] for row in rows])
    differ = [f"{quoted(column)} ({quoted(name)})" for column, name in names.items() if column != name]
    places["taken for the same, though written in another way"] += differ
    strangers = [quoted(column) for column in columns if column not in notes]
    places["columns of the table that are not in it, and are drafted by their values"] += strangers
    absent = [quoted(name) for name in described if name not in names.values()]
    places["its variables that are no columns of the table"] += absent
    return {column: notes[column] for column in columns if column in notes}, places.sentences()
