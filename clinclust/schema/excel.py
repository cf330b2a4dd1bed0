"""A schema as an Excel workbook: a row for each column of the table, with lists to choose from, and its reading.

The sheet Schema has a column for each field of `Feature`, and grey ones with what a draft saw; the sheet Settings has
what concerns the whole table; the sheet Explanations says what each column and each word means.
"""

from __future__ import annotations

import datetime
import json
import math
import re
import textwrap
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import clinclust.schema.reading as reading
from clinclust.data import data
from clinclust.errors import InputError, SchemaError, did_you_mean, visible
from clinclust.files.cell_text import canonical_text, number_of, quoted, shortened
from clinclust.files.row_choice import RowChoice
from clinclust.files.tables import check_readable, guarded, shown_name
from clinclust.files.writing import atomic_write
from clinclust.schema.feature import CHOICES, SENTENCES, Feature
from clinclust.schema.reading import LOOK, SETTINGS, Entry, Faults, Place, SchemaContent, read_declared, text_cells

if TYPE_CHECKING:
    from openpyxl import Workbook

# The notation of a cell: values between |, pairs with =, "" for an empty text, and || for a | in a value.

_LISTS = ("levels", "missing_codes", "spike", "limit", "marks")
_PAIRS = ("synonyms", "prior")
_NUMBERS = ("trials", "minimum", "maximum")


def _write_value(value: object) -> str:
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return f"[{', '.join(map(canonical_text, value))}]"
    return (value if isinstance(value, str) else canonical_text(value)) or '""'


def write_list(values: Sequence[object]) -> str:
    """Return values as the text of a cell: ``no | yes``; a lone ``|`` is an empty list."""
    return " | ".join(_write_value(value).replace("|", "||") for value in values) or "|"


def _write_field(field: str, value: Any) -> Any:
    """Return the content of a cell; None for a field without a value."""
    if value is None or value is False or value in ((), {}):
        return None
    if field in _LISTS:
        return write_list(value if isinstance(value, tuple) else [value])
    if field in _PAIRS:
        pairs = (f"{_write_value(name)} = {_write_value(item)}" for name, item in value.items())
        return " | ".join(pair.replace("|", "||") for pair in pairs)
    if field in _NUMBERS:
        return value if float(f"{value:.15g}") == value else repr(value)  # a cell has 15 digits
    return "true" if value is True else _write_value(value)


def _read_text(text: str, field: str) -> Any:
    """Return what the text of a cell means as a value of a field; ValueError if it cannot be one."""
    if field in _MAPPINGS:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise ValueError(f"{quoted(text)} is not written as {_MAPPINGS[field]}") from None
    if field not in (*_LISTS, *_PAIRS):
        return text.casefold() if field == "complete" else text.replace('""', "")
    between = _COMMAS if field in _LISTS and _NUMBERS_IN_COMMAS.fullmatch(text) else _BETWEEN
    parts = [part.replace('""', "").replace("||", "|") for part in map(str.strip, between.split(text)) if part]
    if field in _LISTS:
        return parts
    pairs: dict[str, Any] = {}
    for part in parts:
        name, sign, value = map(str.strip, part.rpartition("="))
        if not sign:
            raise ValueError(f"{quoted(part)} is no pair: write pairs as ja = yes | Y = yes")
        if name in pairs:
            raise ValueError(f"{quoted(name)} is given twice")
        is_list = field == "prior" and value.startswith("[") and value.endswith("]")
        pairs[name] = [item.strip() for item in value[1:-1].split(",") if item.strip()] if is_list else value
    return pairs


_BETWEEN, _COMMAS = re.compile(r"(?<!\|)\|(?!\|)"), re.compile("[,;]")
_NUMBERS_IN_COMMAS = re.compile(r"-?\d+(?:(?:, +|; *)-?\d+)+")  # `99, 88`, as people type a list of numbers
_MAPPINGS = {"summarise": '{"egfr": ["mean", "slope"]}', "trends": "clinclust writes it"}


def _read_cell(cell: Any, field: str) -> Any:
    """Return the content of a cell that is not blank as a value of a field; ValueError if it cannot be one."""
    value = cell.value
    if cell.data_type == "f":
        raise ValueError("is a formula: type the value itself")
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
        raise ValueError(SENTENCES["date"])
    if isinstance(value, bool) and field != "complete":
        raise ValueError(f"is the truth value {str(value).upper()}: format the cell as text, and type it again")
    if isinstance(value, bool) or (field in (*_NUMBERS, "order") and not isinstance(value, str)):
        return value
    return _read_text(value.strip() if isinstance(value, str) else canonical_text(value), field)


_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_x[0-9a-f]{4}_", re.IGNORECASE)
"""Control characters, and what Excel writes for them (ECMA-376, 22.4.2.4)."""
_LONGEST = 32_767  # characters of a cell


def _problems_of_texts(schema: SchemaContent) -> Iterator[str]:
    """Yield what a workbook cannot hold, such as a level with the sign | or with white space at an end."""
    for key, value in _texts_of_settings(schema).items():
        meant = {"missing_codes": list(schema.missing_codes), "title": schema.title}.get(key)
        if _UNWRITABLE.search(str(value)) or (meant is not None and _read_text(str(value).strip(), key) != meant):
            yield f"{key}: {quoted(value)} cannot be written in a cell; write YAML"
    for feature in schema:
        content = feature.content()
        for field, value in content.items():
            text = _write_field(field, value)
            if not isinstance(text, str) or field in _NUMBERS:
                continue
            is_longer = len(text) > _LONGEST or _UNWRITABLE.search(text) is not None
            try:
                is_same = not is_longer and Feature(**{**content, field: _read_text(text.strip(), field)}) == feature
            except ValueError:
                is_same = False
            if not is_same:
                yield f"{shortened(feature.name)}: {field}: {quoted(text)} cannot be written in a cell; write YAML"


# Write a schema. What the draft saw is in grey, and what a person should decide is on top.

_SCHEMA, _SETTINGS, _EXPLANATIONS = "Schema", "Settings", "Explanations"
_LAYOUT = data("schema_workbook")["layout"]
_USUAL, _OF_DRAFT = _LAYOUT["usual"], _LAYOUT["of_draft"]
_UNUSABLE = "unusable"  # the field of a column of the sheet with a problem in its name
_NOT_READ = ("look at", *_OF_DRAFT, _UNUSABLE)
_OF_ROWS = tuple(RowChoice.__dataclass_fields__)
_KEYS = ("clinclust", *(key for key in SETTINGS if key != "rows"), *_OF_ROWS)
_WORDS = {**CHOICES, "limit": ("below", "above", "below | above"), "complete": ("true", "false")}
_ON_TOP = 10
_SPARE_ROWS = 100  # rows for further columns that have the lists to choose from
_MOST_EXAMPLES = 5
_HEADING, _COLOUR, _GREY = "D9E1F2", "FFF2CC", "7F7F7F"


def write_excel(schema: SchemaContent, path: Path, frame: pd.DataFrame | None = None) -> None:
    """Write a schema as a workbook (see `FeatureSchema.to_excel`)."""
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font, NamedStyle, PatternFill

    if problems := [*_problems_of_texts(schema)]:
        raise SchemaError(problems)
    workbook = Workbook()
    for kind in ("heading", "field", "seen"):
        for suffix in ("", " to look at"):
            style = NamedStyle(kind + suffix)
            style.alignment = Alignment(horizontal="left", vertical="top", wrap_text=True)
            style.font = Font("Calibri", 11, bold=kind == "heading", color=_GREY if kind == "seen" else None)
            if colour := _HEADING if kind == "heading" else _COLOUR if suffix else None:
                style.fill = PatternFill("solid", fgColor=colour)
            style.number_format = "@" if kind == "field" else "General"  # Excel would make a date of 1-2
            workbook.add_named_style(style)
    lists = _write_explanations(workbook)
    texts, sheet = data("schema_workbook")["settings"], workbook.create_sheet(_SETTINGS, 1)
    values = _texts_of_settings(schema)
    _lay_out(sheet, (18, 40, 70))
    _write_row(sheet, 1, ("setting", "value", "meaning"), ["heading"] * 3)
    for row, key in enumerate(_KEYS, start=2):
        _write_row(sheet, row, (key, values.get(key), texts[key]), ("field", "field", "seen"))
    _write_features(workbook, schema, frame, lists)
    with atomic_write(path) as target:
        workbook.save(target)


def _lay_out(sheet: Any, widths: Sequence[float]) -> None:
    from openpyxl.utils import get_column_letter

    for place, width in enumerate(widths, start=1):
        sheet.column_dimensions[get_column_letter(place)].width = width


def _write_row(sheet: Any, row: int, values: Sequence[Any], styles: Sequence[str]) -> None:
    """Write a row; a text is never a formula. The height is set because not all programs fit it."""
    n_lines = 1
    for place, (value, style) in enumerate(zip(values, styles, strict=True), start=1):
        cell = sheet.cell(row, place, value)
        cell.style = style
        if isinstance(value, str):
            cell.data_type, cell.quotePrefix = "s", value[:1] in tuple("=+-@")
            width = max(1, int(sheet.column_dimensions[cell.column_letter].width) - 1)
            n_lines = max(n_lines, sum(max(1, len(textwrap.wrap(line, width))) for line in value.splitlines()))
        elif value is not None:
            cell.number_format = "General"
    sheet.row_dimensions[row].height = min(15.0 * n_lines, 150.0)


def _write_explanations(workbook: Workbook) -> dict[str, str]:
    """Write the sheet that explains, and return the range of the words of each field."""
    texts, sheet = data("schema_workbook"), workbook.create_sheet(_EXPLANATIONS)
    _lay_out(sheet, (18, 24, 100))
    rows, ranges = [("", "", note) for note in texts["notes"]], dict[str, str]()
    rows += [("column", "word", "meaning")]
    for field in (*_USUAL, *(field for field in texts["columns"] if field not in _USUAL)):
        first = len(rows) + 2
        rows += [(field, "", texts["columns"][field])]
        rows += [("", _write_value(word), texts["words"][field][word]) for word in _WORDS.get(field, ())]
        if field in _WORDS:
            ranges[field] = f"{_EXPLANATIONS}!$B${first}:$B${len(rows)}"
    for number, row in enumerate(rows, start=1):
        _write_row(sheet, number, row, ["heading" if row[0] else "field"] * 3)
    return ranges


def _texts_of_settings(schema: SchemaContent) -> dict[str, Any]:
    stated = {"title": schema.title, **schema.rows.as_dict()}
    values: dict[str, Any] = {key: _write_value(value) for key, value in stated.items() if value is not None}
    values |= {"clinclust": reading.FORMAT_VERSION, "missing_codes": write_list(schema.missing_codes)}
    return values | {"other_columns": schema.other_columns}


def _write_features(
    workbook: Workbook, schema: SchemaContent, frame: pd.DataFrame | None, lists: Mapping[str, str]
) -> None:
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    remarks = {feature.name: _read_remarks(schema.comments.get(feature.name, "")) for feature in schema}
    in_use = {field for feature in schema for field in feature.content()}
    others = [field for field in Feature.model_fields if field in in_use and field not in _USUAL]
    names = [*_USUAL, *others, *_OF_DRAFT]
    sheet: Any = workbook.active
    sheet.title = _SCHEMA
    _lay_out(sheet, [_LAYOUT["widths"].get(name, len(name) + 4) for name in names])
    for place, name in enumerate(names, start=1):
        if name in lists:
            letter = get_column_letter(place)
            choice = DataValidation(type="list", formula1=lists[name], allow_blank=True, showErrorMessage=True)
            choice.add(f"{letter}2:{letter}{len(schema) + 1 + _SPARE_ROWS}")
            sheet.add_data_validation(choice)
    _write_row(sheet, 1, names, ["heading"] * len(names))
    numbered = list(enumerate(schema, start=1))
    at_top = [item for item in numbered if remarks[item[1].name]["look at"]]
    at_top.sort(key=lambda item: (not item[1].is_clustered, remarks[item[1].name]["probability"] or 1.0))
    at_top = at_top[:_ON_TOP]  # the least probable first
    numbered = [*at_top, *(item for item in numbered if item not in at_top)]
    for row, (number, feature) in enumerate(numbered, start=2):
        values = {name: _write_field(name, value) for name, value in feature.content().items()}
        values |= {"order": number, "role": feature.role, **remarks[feature.name]}
        values |= {} if frame is None else _summarise_column(schema, feature, frame)
        suffix = " to look at" * bool(values["look at"])
        styles = [("seen" if name in _OF_DRAFT else "field") + suffix for name in names]
        _write_row(sheet, row, [values.get(name) for name in names], styles)
    sheet.freeze_panes = "C2"
    sheet.auto_filter.ref = sheet.dimensions


def _read_remarks(comment: str) -> dict[str, Any]:
    """Return what the comment of a draft says of a column, by the columns of the sheet."""
    lines = comment.splitlines()
    looks = "\n".join(line.removeprefix(LOOK) for line in lines if line.startswith(LOOK))
    reason = "\n".join(line for line in lines if not line.startswith(LOOK))
    number = number_of(reason.rpartition("probability ")[2])
    probability = number if 0.0 <= number <= 1.0 else None
    return {"look at": visible(looks) or None, "reason": visible(reason) or None, "probability": probability}


def _summarise_column(schema: SchemaContent, feature: Feature, frame: pd.DataFrame) -> dict[str, Any]:
    """Return n, the share missing and the most frequent values, but no text of a single row, which may identify it."""
    if list(frame.columns).count(feature.name) != 1:
        return {}
    cells, codes = text_cells(frame[feature.name]), ["", *schema.missing_codes_of(feature)]
    column = pd.Series(np.array([*cells.texts, ""], dtype=object)[cells.codes])
    counts = column.value_counts().drop(codes, errors="ignore")
    texts = [str(text) for text, n in counts.items() if n > 1 or not math.isnan(number_of(str(text)))]
    shown = map(shortened, texts[:_MOST_EXAMPLES])
    n, n_rows = int(counts.sum()), max(1, len(frame))
    examples = None if feature.is_id else visible(", ".join(shown)) or None
    return {"n": n, "missing": f"{1.0 - n / n_rows:.0%}", "examples": examples}


# Read a schema. Every fault has its row and cell.

_LARGEST = 50 * 2**20  # bytes of all parts, unpacked: tens of thousands of features
_MOST_COLUMNS = 200
_REPAIR = "open it in Excel or LibreOffice, remove a password, and save it as an Excel workbook (.xlsx)"
_NO_LIST = "between values write |, as in no | yes"
Cells = dict[str, Any]
"""The cells of a row with a value, by the letter of their column."""


def read_excel(path: Path) -> tuple[list[Feature], dict[str, Any]]:
    """Return the features, and the other arguments of `FeatureSchema` (see `FeatureSchema.from_excel`)."""
    from openpyxl import load_workbook

    check_readable(path)
    faults = Faults()
    try:
        with (
            guarded("workbook", _REPAIR),
            warnings.catch_warnings(action="ignore"),  # of parts that openpyxl does not keep, such as extensions
            path.open("rb") as file,
            zipfile.ZipFile(file) as archive,
        ):
            if sum(part.file_size for part in archive.infolist()) > _LARGEST:
                raise SchemaError("the workbook is larger than 50 MB, which no schema is; is it the table?")
            book = load_workbook(file, read_only=True)
            if _SCHEMA not in book.sheetnames:
                hint = did_you_mean(_SCHEMA, book.sheetnames) or " Is it the table?"
                raise SchemaError(f"there is no sheet {_SCHEMA}, which `clinclust draft` writes.{hint}")
            rows = {name: dict(_read_rows(book[name])) for name in (_SCHEMA, _SETTINGS) if name in book.sheetnames}
            sheet: Any = book[_SCHEMA]  # openpyxl lists merged cells only if it makes an object of each cell
            with sheet._get_source() as source:
                merged = re.findall(rb'<(?:\w+:)?mergeCell\s[^>]*?\bref="([^"]*)"', source.read())
        for cells in merged:
            sentence = f"cells {shortened(cells.decode(errors='replace'))} are merged: unmerge them, and fill each"
            faults.append((Place((1, 0), f"sheet {_SCHEMA}"), sentence))
        settings = _read_settings(rows.get(_SETTINGS, {}), faults)
        top = Place((0, 0), f"sheet {_SETTINGS}")
        return read_declared(settings, _read_features(rows[_SCHEMA], faults), top, faults)
    except SchemaError as error:
        raise SchemaError(list(error.problems), shown_name(path)) from None
    except InputError as error:
        raise InputError(f"{shown_name(path)}: {error}") from None


def _read_rows(sheet: Any) -> Iterator[tuple[int, Cells]]:
    """Yield each row that is not blank: its number, and its cells with a value by letter."""
    from openpyxl.utils import get_column_letter

    sheet.reset_dimensions()  # what the file says of them may be wrong
    for number, row in enumerate(sheet.iter_rows(), start=1):
        if len(row) > _MOST_COLUMNS:
            raise SchemaError(f"row {number}: there is a cell in column {get_column_letter(len(row))}: clear it")
        is_blank = (cell.value is None or not str(cell.value).strip() for cell in row)
        cells = {get_column_letter(place): row[place - 1] for place, blank in enumerate(is_blank, start=1) if not blank}
        if cells:
            yield number, cells


def _place(row: int, letter: str = "", sheet: str = _SCHEMA) -> Place:
    cell = f", cell {letter}{row}" if letter else ""
    return Place((sheet == _SCHEMA, row), f"{'' if sheet == _SCHEMA else f'sheet {sheet}, '}row {row}{cell}")


def _read_entry(cell: Any, field: str, place: Place) -> Entry:
    try:
        value = _read_cell(cell, field)
    except ValueError as error:
        return Entry(place, cell, Faults([(place, str(error))]))  # a cell is no value of any field
    is_joined = isinstance(value, list) and len(value) == 1 and re.search("[,;/\n]", value[0])
    return Entry(place, value, Faults(), f" ({_NO_LIST})" if is_joined else "")


def _read_settings(rows: Mapping[int, Cells], faults: Faults) -> dict[str, Entry]:
    settings: dict[str, Entry] = {}
    for row, cells in rows.items():
        key, place = str(cells["A"].value).strip() if "A" in cells else "", _place(row, "A", _SETTINGS)
        if row > 1 and key not in _KEYS:
            faults.append((place, f"{quoted(key)} is no setting.{did_you_mean(key, _KEYS)}"))
        elif key in settings:
            faults.append((place, f"{key} is given twice"))
        elif row > 1 and "B" in cells:
            settings[key] = _read_entry(cells["B"], key, _place(row, "B", _SETTINGS))
    if choice := {key: settings.pop(key) for key in _OF_ROWS if key in settings}:
        of_choice = Faults((place, f"{key}: {text}") for key in choice for place, text in choice[key].faults)
        values = {key: entry.value for key, entry in choice.items()}
        settings["rows"] = Entry(min(entry.place for entry in choice.values()), values, of_choice)
    return settings


def _read_features(rows: Mapping[int, Cells], faults: Faults) -> list[tuple[Place, dict[str, Entry]]]:
    """Return the entries of each feature in the order of the table, with the place of its name."""
    if 1 not in rows:
        faults.append((_place(1), "must hold the names of the columns: name, role, likelihood and others"))
        return []
    fields = _read_heading(rows[1], faults)
    features: list[tuple[float, Place, dict[str, Entry]]] = []
    for row, cells in rows.items():
        entries: dict[str, Entry] = {}
        for letter, cell in cells.items() if row > 1 else ():
            if letter not in fields:
                faults.append((_place(row, letter), "the column has no name in row 1: name it, or clear the cell"))
            elif fields[letter] not in _NOT_READ:
                entries[fields[letter]] = _read_entry(cell, fields[letter], _place(row, letter))
        if not entries:
            continue
        order = entries.pop("order", Entry(_place(row), "inf", Faults()))
        number = number_of(canonical_text(order.value))
        if math.isnan(number):
            faults += order.faults or [(order.place, "order: must be a number, the place of the column in the table")]
        place = next((_place(row, letter) for letter, field in fields.items() if field == "name"), _place(row))
        if "name" not in fields.values():  # which is a fault of the heading
            entries["name"] = Entry(place, f"row {row}", Faults())
        features.append((number, place, entries))
    if not features and not faults:
        faults.append((_place(1), "there is no row with a column of the table below this one"))
    return [(place, entries) for _, place, entries in sorted(features, key=lambda item: item[:2])]


def _read_heading(cells: Cells, faults: Faults) -> dict[str, str]:
    """Return the field of each column of the sheet by letter."""
    names = ("order", *Feature.model_fields, "look at", *_OF_DRAFT)
    fields: dict[str, str] = {}
    for letter, cell in cells.items():
        title = str(cell.value).strip()
        field = title.casefold() if title.casefold() in names else "_".join(title.casefold().split())
        if field not in names:
            hint = did_you_mean(title, names) or " Remove the column, or give it the name of a field."
            faults.append((_place(1, letter), f"{quoted(title)} is no column of a schema.{hint}"))
        elif field in fields.values():
            faults.append((_place(1, letter), f"{field}: the column is given twice"))
        fields[letter] = field if field in names and field not in fields.values() else _UNUSABLE
    if "name" not in fields.values() and not faults:
        faults.append((_place(1), "there is no column `name`, which holds the names of the columns of the table"))
    return fields
