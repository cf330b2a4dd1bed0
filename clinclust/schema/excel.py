"""A schema as an Excel workbook: a row for each column of the table, with lists to choose from, and its reading.

The sheet Schema has a column for each field of `Feature`, and grey ones with what a draft saw; the sheet Settings has
what concerns the whole table; the sheet Explanations says what each column and each word means.
"""

from __future__ import annotations

import datetime
import json
import re
import textwrap
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from clinclust.data import data
from clinclust.errors import InputError, SchemaError
from clinclust.files.cell_text import canonical_text, number_of, quoted, shortened
from clinclust.files.opening import check_readable, guarded, shown_name
from clinclust.files.row_choice import RowChoice
from clinclust.files.writing import atomic_write
from clinclust.schema.feature import CHOICES, TWICE, Feature, FeatureError, problems_among, problems_of_settings
from clinclust.schema.reading import LOOK, SchemaContent, text_cells
from clinclust.schema.yaml_files import FORMAT_VERSION
from clinclust.texts import did_you_mean, visible

if TYPE_CHECKING:
    from openpyxl import Workbook

# The notation of a cell: values between |, pairs with =. A value in double quotes may hold any sign.

_IN_QUOTES = r'"((?:[^"]|"")*)"'
_QUOTED = re.compile(_IN_QUOTES)
_VALUE = re.compile(rf"\s*(?:{_IN_QUOTES}|([^|]*?))\s*(?:\||$)")
_PAIR = re.compile(rf"\s*(?:{_IN_QUOTES}|([^=|]*?))\s*=\s*(?:{_IN_QUOTES}|([^|]*?))\s*(?:\||$)")
_LISTS = ("levels", "missing_codes", "spike", "limit", "marks")
_PAIRS = ("synonyms", "prior")
_NUMBERS = ("trials", "minimum", "maximum")


def _write_value(value: object, signs: str = "") -> str:
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return f"[{', '.join(map(canonical_text, value))}]"
    text = value if isinstance(value, str) else canonical_text(value)
    is_plain = text and text == text.strip() and text[0] not in "\"'" and not set(signs) & set(text)
    return text if is_plain else '"' + text.replace('"', '""') + '"'


def write_list(values: Sequence[object]) -> str:
    """Return values as the text of a cell: ``no | yes``; a lone ``|`` is an empty list."""
    return " | ".join(_write_value(value, "|") for value in values) or "|"


def read_list(text: str) -> list[str]:
    """Return the values of a cell; blank ones without quotes are left out."""
    matches = [match for match in _VALUE.finditer(text) if match[1] is not None or match[2]]
    return [_unquote(match[1], match[2]) for match in matches]


def _unquote(in_quotes: str | None, plain: str) -> str:
    return plain if in_quotes is None else in_quotes.replace('""', '"')


def _write_field(field: str, value: Any) -> Any:
    """Return the content of a cell; None for a field without a value."""
    if value is None or value is False or value in ((), {}):
        return None
    if field in _LISTS:
        return write_list(value if isinstance(value, tuple) else [value])
    if field in _PAIRS:
        return " | ".join(f"{_write_value(name, '=|')} = {_write_value(item, '|')}" for name, item in value.items())
    if field in _NUMBERS:
        return value if float(f"{value:.15g}") == value else repr(value)  # a cell has 15 digits
    return "true" if value is True else _write_value(value)


def _read_pairs(text: str) -> dict[str, str]:
    pairs, place = dict[str, str](), 0
    while place < len(text):
        match = _PAIR.match(text, place)
        if match is None:
            raise ValueError(f"{quoted(text[place:].strip())} is no pair: write pairs as ja = yes | Y = yes")
        name = _unquote(match[1], match[2])
        if name in pairs:
            raise ValueError(f"{quoted(name)} is given twice")
        pairs[name], place = _unquote(match[3], match[4]), match.end()
    return pairs


def _read_prior(value: str) -> str | list[str]:
    is_list = value.startswith("[") and value.endswith("]")
    return [part.strip() for part in value[1:-1].split(",") if part.strip()] if is_list else value


_MAPPINGS = {"summarise": '{"egfr": ["mean", "slope"]}', "trends": "clinclust writes it"}


def _read_cell(cell: Any, field: str) -> Any:
    """Return the content of a cell as a value of a field; None if it is blank, ValueError if it cannot be one."""
    value = cell.value
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if cell.data_type == "f":
        raise ValueError("is a formula: type the value itself")
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
        raise ValueError(
            "is a date, which Excel makes of texts such as 1-2: format the cell as text, and type it again"
        )
    if isinstance(value, bool):
        if field == "complete":
            return value
        raise ValueError(f"is the truth value {str(value).upper()}: format the cell as text, and type it again")
    if field in _NUMBERS and not isinstance(value, str):
        return value
    text = _UNESCAPED.sub(lambda match: chr(int(match[1], 16)), canonical_text(value))
    if field in _MAPPINGS:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise ValueError(f"{quoted(text)} is not written as {_MAPPINGS[field]}") from None
    if field in _LISTS:
        return read_list(text)
    if field in _PAIRS:
        pairs = _read_pairs(text)
        return {name: _read_prior(item) for name, item in pairs.items()} if field == "prior" else pairs
    match = _QUOTED.fullmatch(text)
    return text.casefold() if field == "complete" else text if match is None else _unquote(match[1], "")


# Control characters are written as Excel does (ECMA-376, 22.4.2.4).

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")
_UNESCAPED = re.compile("_x(00[01][0-9A-F]|FFF[EF])_", re.IGNORECASE)
_LONGEST = 32_767  # characters of a cell


def _escape(text: str) -> str:
    return _CONTROL.sub(lambda match: f"_x{ord(match[0]):04X}_", text)


def _problems_of_texts(schema: SchemaContent) -> Iterator[str]:
    """Yield what a workbook cannot hold: openpyxl drops ``x005F_``, which would mark an underscore before an x."""
    for feature in schema:
        for field, value in feature.content().items():
            text = _write_field(field, value)
            if not isinstance(text, str):
                continue
            if len(_escape(text)) > _LONGEST:
                yield f"{shortened(feature.name)}: {field}: a cell holds {_LONGEST:,} characters only; write YAML"
            elif "x005F_" in text or _UNESCAPED.search(text):
                yield f"{shortened(feature.name)}: {field}: {quoted(text)} means another text in Excel; write YAML"


# Write a schema. What the draft saw is in grey, and what a person should decide is on top.

_SCHEMA, _SETTINGS, _EXPLANATIONS = "Schema", "Settings", "Explanations"
_USUAL = (
    *("order", "name", "look at", "label", "role", "likelihood", "levels", "trials", "minimum", "maximum"),
    *("transform", "unit", "missing_codes", "block"),
)
_OF_DRAFT = ("n", "missing", "examples", "probability", "reason")
_UNUSABLE = "unusable"  # the field of a column of the sheet with a problem in its name
_NOT_READ = ("look at", *_OF_DRAFT, _UNUSABLE)
_OF_ROWS = tuple(RowChoice.__dataclass_fields__)
_KEYS = ("clinclust", "title", "missing_codes", "other_columns", *_OF_ROWS)
_WORDS = {**CHOICES, "limit": ("below", "above", "below | above"), "complete": ("true", "false")}
_ON_TOP = 10
_SPARE_ROWS = 100  # rows for further columns that have the lists to choose from
_MOST_EXAMPLES = 5
_WIDTHS = {"name": 24, "look at": 44, "label": 26, "likelihood": 20, "levels": 34, "examples": 30, "reason": 44}
_HEADING, _COLOUR, _GREY = "D9E1F2", "FFF2CC", "7F7F7F"


def write_excel(schema: SchemaContent, path: Path, frame: pd.DataFrame | None = None) -> None:
    """Write a schema as a workbook (see `FeatureSchema.to_excel`)."""
    from openpyxl import Workbook
    from openpyxl.writer.excel import ExcelWriter

    if problems := [*_problems_of_texts(schema)]:
        raise SchemaError(problems)
    workbook = Workbook()
    workbook.properties.creator = "clinclust"
    workbook.properties.created = workbook.properties.modified = datetime.datetime(1980, 1, 1)
    _add_styles(workbook)
    lists = _write_explanations(workbook)
    _write_settings(workbook, schema)
    _write_features(workbook, schema, frame, lists)
    with atomic_write(path) as target, _UndatedArchive(target, "w", zipfile.ZIP_DEFLATED) as archive:
        ExcelWriter(workbook, archive).save()  # Workbook.save would write the time


class _UndatedArchive(zipfile.ZipFile):
    """A ZIP archive without times, so that the same schema gives the same bytes."""

    def writestr(self, name: Any, content: Any, *_: Any) -> None:
        super().writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)

    def write(self, filename: Any, arcname: Any = None, *_: Any) -> None:
        self.writestr(arcname, Path(filename).read_bytes())


def _add_styles(workbook: Workbook) -> None:
    from openpyxl.styles import Alignment, Font, NamedStyle, PatternFill

    wrapped = Alignment(horizontal="left", vertical="top", wrap_text=True)
    fonts = {
        kind: Font(name="Calibri", size=11, bold=kind == "heading", color=_GREY if kind == "seen" else None)
        for kind in ("heading", "field", "seen")
    }
    for kind, font in fonts.items():
        for is_coloured in (False, True):
            colour = _HEADING if kind == "heading" else _COLOUR
            style = NamedStyle(f"{kind}{' to look at' * is_coloured}", font, alignment=wrapped)
            style.fill = PatternFill("solid", fgColor=colour) if is_coloured or kind == "heading" else PatternFill()
            style.number_format = "@" if kind == "field" else "General"  # Excel would make a date of 1-2
            workbook.add_named_style(style)


def _lay_out(sheet: Any, widths: Sequence[float]) -> None:
    from openpyxl.utils import get_column_letter

    for place, width in enumerate(widths, start=1):
        sheet.column_dimensions[get_column_letter(place)].width = width
    sheet.page_setup.orientation, sheet.page_setup.fitToHeight = "landscape", 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True  # one page wide


def _write_row(sheet: Any, row: int, values: Sequence[Any], styles: Sequence[str]) -> None:
    """Write a row; a text is never a formula. The height is set because not all programs fit it."""
    n_lines = 1
    for place, (value, style) in enumerate(zip(values, styles, strict=True), start=1):
        cell = sheet.cell(row, place, _escape(value) if isinstance(value, str) else value)
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


def _write_settings(workbook: Workbook, schema: SchemaContent) -> None:
    texts, sheet = data("schema_workbook")["settings"], workbook.create_sheet(_SETTINGS, 1)
    _lay_out(sheet, (18, 40, 70))
    values = {
        "clinclust": FORMAT_VERSION,
        "title": None if schema.title is None else _write_value(schema.title),
        "missing_codes": write_list(schema.missing_codes),
        "other_columns": schema.other_columns,
        **{name: _write_value(value) for name, value in schema.rows.as_dict().items()},
    }
    _write_row(sheet, 1, ("setting", "value", "meaning"), ["heading"] * 3)
    for row, key in enumerate(_KEYS, start=2):
        _write_row(sheet, row, (key, values.get(key), texts[key]), ("field", "field", "seen"))


def _write_features(
    workbook: Workbook, schema: SchemaContent, frame: pd.DataFrame | None, lists: Mapping[str, str]
) -> None:
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    remarks = {feature.name: _Remarks.of(schema.comments.get(feature.name, "")) for feature in schema}
    in_use = {field for feature in schema for field in feature.content()}
    others = [field for field in Feature.model_fields if field in in_use and field not in _USUAL]
    names = [*_USUAL, *others, *_OF_DRAFT]
    sheet: Any = workbook.active
    sheet.title = _SCHEMA
    _lay_out(sheet, [_WIDTHS.get(name, len(name) + 4) for name in names])
    for place, name in enumerate(names, start=1):
        if name in lists:
            letter = get_column_letter(place)
            choice = DataValidation(type="list", formula1=lists[name], allow_blank=True, showErrorMessage=True)
            choice.add(f"{letter}2:{letter}{len(schema) + 1 + _SPARE_ROWS}")
            sheet.add_data_validation(choice)
    _write_row(sheet, 1, names, ["heading"] * len(names))
    for row, (number, feature) in enumerate(_order(schema, remarks), start=2):
        remark = remarks[feature.name]
        values: dict[str, Any] = {"order": number, "look at": remark.look, "reason": remark.reason}
        values |= {name: _write_field(name, value) for name, value in feature.content().items()}
        values |= {"role": feature.role, "probability": remark.probability}
        values |= {} if frame is None else _summarise_column(schema, feature, frame)
        suffix = " to look at" * bool(remark.look)
        styles = [("seen" if name in _OF_DRAFT else "field") + suffix for name in names]
        _write_row(sheet, row, [values.get(name) for name in names], styles)
    sheet.freeze_panes = "C2"
    sheet.auto_filter.ref = sheet.dimensions
    sheet.print_title_rows = "1:1"


class _Remarks(NamedTuple):
    """What the comment of a draft says of a column."""

    reason: str | None
    look: str | None
    probability: float | None

    @classmethod
    def of(cls, comment: str) -> _Remarks:
        lines = comment.splitlines()
        looks = [line.removeprefix(LOOK) for line in lines if line.startswith(LOOK)]
        reason = "\n".join(line for line in lines if not line.startswith(LOOK))
        number = number_of(reason.rpartition("probability ")[2])
        return cls(visible(reason) or None, visible("\n".join(looks)) or None, number if 0.0 <= number <= 1.0 else None)


def _order(schema: SchemaContent, remarks: Mapping[str, _Remarks]) -> list[tuple[int, Feature]]:
    """Return the features with their numbers: what to look at first, least probable before others, then the rest."""
    numbered = list(enumerate(schema, start=1))

    def weight(item: tuple[int, Feature]) -> tuple[bool, float]:
        probability = remarks[item[1].name].probability
        return not item[1].is_clustered, 1.0 if probability is None else probability

    top = sorted((item for item in numbered if remarks[item[1].name].look), key=weight)[:_ON_TOP]
    return [*top, *(item for item in numbered if item not in top)]


def _summarise_column(schema: SchemaContent, feature: Feature, frame: pd.DataFrame) -> dict[str, Any]:
    """Return n, the share missing and the most frequent values, but no text of a single row, which may identify it."""
    if list(frame.columns).count(feature.name) != 1:
        return {}
    cells, codes = text_cells(frame[feature.name]), {"", *schema.missing_codes_of(feature)}
    counts = pd.Series(cells.codes[cells.codes >= 0]).map(dict(enumerate(cells.texts))).value_counts()
    counts = counts[~counts.index.isin(codes)]
    shown = [text for text, n in counts.items() if n > 1 or number_of(str(text)) == number_of(str(text))]
    examples = visible(", ".join(shortened(str(text)) for text in shown[:_MOST_EXAMPLES]))
    n, n_rows = int(counts.sum()), max(1, len(frame))
    return {"n": n, "missing": f"{1.0 - n / n_rows:.0%}", "examples": None if feature.is_id else examples or None}


# Read a schema. Every fault is told with its row and cell.

_LARGEST = 50 * 2**20  # bytes of all parts, unpacked: tens of thousands of features
_MOST_COLUMNS = 200
_REPAIR = "open it in Excel or LibreOffice, remove a password, and save it as an Excel workbook (.xlsx)"
_NO_LIST = "between values write |, as in no | yes"


class _Problems(list[tuple[int, str]]):
    """The problems of a sheet, each as (row, sentence)."""

    def add(self, row: int, letter: str | None, field: str | None, sentence: str) -> None:
        """Add the problem of a cell, or of a row without a letter."""
        cell = "" if letter is None else f", cell {letter}{row}"
        self.append((row, f"row {row}{cell}{f' ({field})' if field else ''}: {sentence}"))


def read_excel(path: Path) -> tuple[list[Feature], dict[str, Any]]:
    """Return the features, and the other arguments of `FeatureSchema` (see `FeatureSchema.from_excel`)."""
    from openpyxl import load_workbook

    check_readable(path)
    source = shown_name(path)
    try:
        with (
            guarded("workbook", _REPAIR),
            warnings.catch_warnings(action="ignore"),  # of parts that openpyxl does not keep, such as extensions
            path.open("rb") as file,
            zipfile.ZipFile(file) as archive,
        ):
            if sum(part.file_size for part in archive.infolist()) > _LARGEST:
                raise SchemaError("the workbook is larger than 50 MB, which no schema is; is it the table?", source)
            book = load_workbook(file, read_only=True)
            if _SCHEMA not in book.sheetnames:
                hint = did_you_mean(_SCHEMA, book.sheetnames) or " Is it the table?"
                raise SchemaError(f"there is no sheet {_SCHEMA}, which `clinclust draft` writes.{hint}", source)
            rows = {name: list(_read_rows(book[name])) for name in (_SCHEMA, _SETTINGS) if name in book.sheetnames}
            merged = _merged_cells(book[_SCHEMA])
    except SchemaError:
        raise
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    of_settings, problems = _Problems(), _Problems()
    settings = _read_settings(rows.get(_SETTINGS, []), of_settings)
    for cells in merged:
        problems.append((0, f"cells {cells} are merged: unmerge them, and fill each of them"))
    features = _read_features(rows[_SCHEMA], problems)
    place = {feature.name: row for row, feature in features}
    codes = settings.get("missing_codes", [""])
    for name, sentence in problems_among([feature for _, feature in features], codes):
        problems.add(place[name], None, None, f"{shortened(name)}: {sentence}")
    sentences = [f"sheet {_SETTINGS}, {sentence}" for _, sentence in sorted(of_settings)]
    if sentences := [*sentences, *(sentence for _, sentence in sorted(problems, key=lambda problem: problem[0]))]:
        raise SchemaError(sentences, source)
    return [feature for _, feature in features], settings


def _read_rows(sheet: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each row that is not blank: its number, and its cells with a value by letter."""
    from openpyxl.utils import get_column_letter

    sheet.reset_dimensions()  # what the file says of them may be wrong
    for number, row in enumerate(sheet.iter_rows(), start=1):
        if len(row) > _MOST_COLUMNS:
            raise SchemaError(f"row {number}: there is a cell in column {get_column_letter(len(row))}: clear it")
        cells = {get_column_letter(place): cell for place, cell in enumerate(row, start=1) if cell.value is not None}
        cells = {letter: cell for letter, cell in cells.items() if str(cell.value).strip()}
        if cells:
            yield number, cells


def _merged_cells(sheet: Any) -> list[str]:
    """Return the ranges of merged cells, which openpyxl lists only if it makes an object of each of their cells."""
    with sheet._get_source() as source:
        ranges = re.findall(rb'<(?:\w+:)?mergeCell\s[^>]*?\bref="([^"]*)"', source.read())
    return [shortened(cells.decode(errors="replace")) for cells in ranges]


def _read_settings(rows: Sequence[tuple[int, dict[str, Any]]], problems: _Problems) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    places: dict[str, int] = {}
    for row, cells in rows[1:] if rows and rows[0][0] == 1 else rows:
        key = str(cells["A"].value).strip() if "A" in cells else ""
        if key not in _KEYS:
            problems.add(row, "A", None, f"{quoted(key)} is no setting.{did_you_mean(key, _KEYS)}")
            continue
        if key in places:
            problems.add(row, "A", None, f"{key} is given twice")
        places[key] = row
        try:
            value = _read_cell(cells["B"], key) if "B" in cells else None
        except ValueError as error:
            problems.add(row, "B", key, str(error))
            continue
        if value is not None:
            settings[key] = value
    version = settings.pop("clinclust", None)
    if version != str(FORMAT_VERSION) and not problems:
        needed = f"clinclust: this program reads version {FORMAT_VERSION} of the format only"
        problems.add(places.get("clinclust", 1), "B", "clinclust", needed)
    if choice := {key: settings.pop(key) for key in _OF_ROWS if key in settings}:
        settings["rows"] = choice
        places["rows"] = min(places[key] for key in choice)
    for problem in problems_of_settings(settings):
        key, _, sentence = problem.partition(": ")
        problems.add(places.get(key, 1), "B", key, sentence)
    return settings


def _read_features(rows: Sequence[tuple[int, dict[str, Any]]], problems: _Problems) -> list[tuple[int, Feature]]:
    """Return the features in the order of the table, each with its row."""
    if not rows or rows[0][0] != 1:
        problems.add(1, None, None, "must hold the names of the columns: name, role, likelihood and others")
        return []
    fields = _read_heading(rows[0][1], problems)
    features: list[tuple[float, int, Feature]] = []
    rows_of_name: dict[str, int] = {}
    for row, cells in rows[1:]:
        if not any(fields.get(letter, "") not in _NOT_READ for letter in cells):
            continue
        order, feature = _read_feature(row, cells, fields, problems)
        if feature is not None:
            if feature.name in rows_of_name:
                problems.add(row, None, None, f"{shortened(feature.name)}: {TWICE}")
            rows_of_name[feature.name] = row
            features.append((order, row, feature))
    if not features and not problems:
        problems.add(1, None, None, "there is no row with a column of the table below this one")
    return [(row, feature) for _, row, feature in sorted(features, key=lambda item: item[:2])]


def _read_heading(cells: Mapping[str, Any], problems: _Problems) -> dict[str, str]:
    """Return the field of each column of the sheet by letter."""
    known = ("order", *Feature.model_fields, "look at", *_OF_DRAFT)
    fields: dict[str, str] = {}
    for letter, cell in cells.items():
        title = str(cell.value).strip()
        field = title.casefold() if title.casefold() in known else "_".join(title.casefold().split())
        if field not in known:
            hint = did_you_mean(title, known) or " Remove the column, or give it the name of a field."
            problems.add(1, letter, None, f"{quoted(title)} is no column of a schema.{hint}")
            field = _UNUSABLE
        elif field in fields.values():
            problems.add(1, letter, None, f"{field}: the column is given twice")
            field = _UNUSABLE
        fields[letter] = field
    if "name" not in fields.values() and not problems:
        problems.add(1, None, None, "there is no column `name`, which holds the names of the columns of the table")
    return fields


def _read_feature(
    row: int, cells: Mapping[str, Any], fields: Mapping[str, str], problems: _Problems
) -> tuple[float, Feature | None]:
    """Return the place of a feature in the table, and the feature; None if it has problems, which are added."""
    values: dict[str, Any] = {}
    letters = {field: letter for letter, field in fields.items()}
    n_before, faulty = len(problems), {"order"} if "name" in letters else {"order", "name"}
    for letter, cell in cells.items():
        field = fields.get(letter)
        if field is None:
            problems.add(row, letter, None, "the column has no name in row 1: name it, or clear the cell")
        elif field not in _NOT_READ:
            try:
                values[field] = _read_cell(cell, "minimum" if field == "order" else field)
            except ValueError as error:
                problems.add(row, letter, field, str(error))
                faulty.add(field)
                values |= {field: cell} if field != "order" else {}  # no value, so that no rule applies to it
    order = number_of(canonical_text(values.pop("order", None) or "inf"))
    if order != order:
        problems.add(row, letters["order"], "order", "must be a number, the place of the column in the table")
    try:
        feature = Feature(**{field: value for field, value in values.items() if value is not None})
    except FeatureError as error:
        about = f"{shortened(str(values['name']))}: " if isinstance(values.get("name"), str) else ""
        for field, sentence in error.by_field:
            if field in faulty or (field is None and "name" in faulty):
                continue  # once is enough
            hint = _hint_of_list(field, values)
            problems.add(row, letters.get(field or "name"), field, f"{about}{sentence}{hint}")
        return order, None
    return order, feature if len(problems) == n_before else None


def _hint_of_list(field: str | None, values: Mapping[str, Any]) -> str:
    """Return how to write a list, if a single value has signs that people write between values."""
    value = values.get(field or "")
    return f" ({_NO_LIST})" if isinstance(value, list) and len(value) == 1 and re.search("[,;/\n]", value[0]) else ""
