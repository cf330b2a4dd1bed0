"""Read a cohort table from a file of any format, with a choice of rows and columns.

Cells stay text until a schema converts them.
"""

from __future__ import annotations

import csv
import datetime
import importlib
import io
import json
import os
import posixpath
import re
import subprocess
import sys
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast
from xml.etree.ElementTree import Element, iterparse

import numpy as np
import pandas as pd

from clinclust.arguments import Rule, accepting, is_whole, one_of
from clinclust.data import data
from clinclust.errors import InputError, did_you_mean, missing_package, on_one_line, refuse, warn
from clinclust.files import say
from clinclust.files.cell_text import NUMBER, Places, canonical_text, is_blank, limited, number_of, quote_cell, quoted
from clinclust.files.conditions import DateOrder
from clinclust.files.layout import SheetOptions, find_header, sheet_table
from clinclust.files.notation import DecimalMark
from clinclust.files.row_choice import RULES, Keep, RowChoice, choose_rows
from clinclust.files.text_table import TEXT, ColumnNotes, RowRanges, TableRead, name_columns, refuse_many_columns
from clinclust.files.writing import plain_error

# Check that a file can be read, and recognise its kind by content.

_LONGEST_NAME = 500
_SMALL = 100 * 2**20
_MOST_UNPACKED = 250  # times its size: tables reach 3 to 50, and deflate 1032
_KINDS = data("file_kinds")["kinds"]
# a kind, or what a file is instead: by the suffix of its name, by its first bytes, or by a part of a zip archive
_EVERY = [*_KINDS.items(), *((refused["what"], refused) for refused in data("file_kinds")["refused"])]
_NAMED = {suffix: kind for kind, about in _EVERY for suffix in about.get("suffixes", ())}
_SIGNATURES = {sign.encode("latin-1"): kind for kind, about in _EVERY for sign in about.get("signatures", ())}
_PARTS, _ARCHIVE = data("file_kinds")["parts_of_zip"], data("file_kinds")["archive"]
_OLE, _ZIP = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"PK\x03\x04"
# a workbook with a password is an old container with this part
_LOCKED = "EncryptedPackage".encode("utf-16-le")
# hospital systems export web pages that are called `.xls`
_MARKUP = re.compile(rb"\s*<(?:!--|\?xml|(?:!doctype|html|head|meta|table|body|style|(?:\w+:)?workbook)\b)", re.I)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def shown_name(path: Path | str) -> str:
    """Return the name of a file, or a path as text, for a message, without characters that hide or reorder others."""
    text = on_one_line(path if isinstance(path, str) else path.name or str(path))
    return text if len(text) <= _LONGEST_NAME else text[:_LONGEST_NAME] + "…"


def check_readable(path: Path, *, may_be_empty: bool = False) -> int:
    """Return the size of a file in bytes; OSError if it is no regular file, InputError if it is empty."""
    shown = shown_name(str(path))
    try:
        size = path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        names = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
        raise FileNotFoundError(f"there is no file {shown}.{did_you_mean(path.name, names)}") from None
    except OSError as error:
        raise plain_error(error, shown, "opened") from None
    except ValueError as error:  # the path holds a NUL
        raise OSError(f"{shown} cannot be opened: {error}") from None
    if path.is_dir():
        raise IsADirectoryError(f"{shown} is a folder; give the name of a file")
    if not path.is_file():
        raise OSError(f"{shown} is a pipe or a device, not a file; save what it gives to a file, and read that")
    if size == 0 and not may_be_empty:
        raise InputError(f"{shown_name(path)}: the file is empty")
    return size


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Make every error name the file, in a message of bounded length."""
    name = shown_name(path)
    try:
        yield
    except InputError as error:
        raise type(error)(limited(f"{name}: {error}")) from error
    except OSError as error:
        raise plain_error(error, name, "read") from error


def package(name: str, what: str) -> Any:
    """Return an imported package, or raise MissingPackageError with how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise missing_package(f"reading {what}", name.replace("_", "-")) from None


@contextmanager
def guarded(what: str, repair: str) -> Iterator[None]:
    """Turn the errors that damaged files end in, which have many types, into InputError."""
    try:
        yield
    except (InputError, MemoryError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic of a compiled reader is no Exception
        message = quoted(next(iter(str(error).splitlines()), ""))
        raise InputError(f"this {what} cannot be read ({type(error).__name__}: {message}): {repair}") from None


def recognise_kind(path: Path) -> tuple[str, list[str]]:
    """Return the kind of a table, such as ``text``, and a remark if its name says another; InputError without one."""
    suffix, names = path.suffix.lower(), set[str]()
    with path.open("rb") as file:
        start, named = file.read(4000), _NAMED.get(suffix)
    kind = next((kind for signature, kind in _SIGNATURES.items() if start.startswith(signature)), None)
    if start.startswith(_OLE):
        if _LOCKED in path.read_bytes():
            raise InputError(say("locked_workbook"))
        kind = "xls"
    elif start.startswith(_ZIP):  # an archive has parts that only its kind has; one that is damaged is xlsx
        damage = (zipfile.BadZipFile, NotImplementedError, ValueError, IndexError)
        with suppress(*damage), zipfile.ZipFile(path) as archive:
            names = {name.replace("\\", "/").lstrip("/").casefold() for name in archive.namelist()}
        other = "xlsx" if named in _KINDS or not names else _ARCHIVE
        kind = next((kind for part, kind in _PARTS.items() if part in names), other)
    elif kind is None and (named is None or named in _KINDS):
        plain = re.sub(rb"^\xef\xbb\xbf|^\xff\xfe|^\xfe\xff|\0", b"", start)  # text in UTF-16 too
        if _MARKUP.match(plain):
            raise InputError(say("web_page"))
        if named is None:
            readable = ", ".join(suffix for suffix, kind in _NAMED.items() if kind in _KINDS)
            raise InputError(f"tables are read from {readable}, not from {quoted(suffix) if suffix else 'no suffix'}")
        if not _CONTROL.search(plain):  # hospital systems call their texts `.xls`
            kind = "text"
    kind = kind or str(named)
    if kind not in _KINDS:  # data of R are packed with gzip
        raise InputError(f"this is {kind if named is None or named in _KINDS else named}")
    return kind, [] if kind == named else [say("another_kind", kind=_KINDS[kind], name=path.name)]


# Read a table of text whose cells are separated by a delimiter.

_SEPARATOR = re.compile(r"sep=([^\w\r\n\"])\r?[\r\n]", re.IGNORECASE)  # the first line as Excel writes and reads it
# The byte order mark of utf-32-le begins with that of utf-16-le, so it is looked for first.
_MARKED = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_CALLED = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
# a text with semicolons splits the first rows of a table with commas in different ways
_LINES_TRIED = 50


def read_delimited(path: Path, kind: str, options: SheetOptions) -> TableRead:
    """Read a delimited text file; InputError lists the subjects that have not as many fields as the header."""
    text, remarks = _decoded(path.read_bytes(), options.encoding)
    stated = _SEPARATOR.match(text)
    delimiter = stated[1] if stated else _delimiter_of(text)
    lines = _lines(text[stated.end() :] if stated else text, delimiter, 1 if stated else 0)
    rows = options.empty_sheet
    first = list(islice(lines, rows.n_first))
    widths = {len(fields) for _, _, fields in first[1:]}
    if len(first) > 2 and widths == {len(first[0][2]) + 1} and any(fields[-1] for _, _, fields in first[1:]):
        first[0] = (*first[0][:2], ["", *first[0][2]])  # `write.table` of R gives the names of rows no header
    filled = {number: fields for number, _, fields in first if not is_blank("".join(fields))}
    if not filled:
        raise InputError("the file is empty")
    n_filled = max(sum(not is_blank(field) for field in fields) for fields in filled.values())
    refuse_many_columns(n_filled, options.most_columns)  # at once: what follows looks at each column
    header = find_header([*filled.items()], (), options)
    subjects = (fields for number, fields in filled.items() if options.rows is None or number in options.rows)
    names = filled[header.rows[-1][0]] if header.rows else next(subjects, [])
    width, places = len(names), Places()
    if width == 1 and re.search(r"[,;\t|]|\S {2,}\S", names[0]):
        remarks.append(say("one_column", name=names[0]))
    for number, line, fields in chain(first, lines):
        rows.add(number, fields)
        if len(fields) != width:
            rows.misfits[number] = f"line {line} has {len(fields)} field{'s' * (len(fields) != 1)}"
        inner = (part for text in fields if "\n" in text for part in text.splitlines()[1:-1])
        if any(part.count(delimiter) == width - 1 > 0 for part in inner):
            places[say("rows_in_quotes")].append(f"line {line}")
    read = sheet_table(rows, options, header=header)
    if wrong := [rows.misfits[row] for row in (read.frame.index + 2).tolist() if row in rows.misfits]:
        raise InputError(say("misfitting_lines", lines=wrong, width=width, delimiter=delimiter))
    return replace(read, remarks=remarks + read.remarks + places.sentences())


def _decoded(content: bytes, encoding: str | None) -> tuple[str, list[str]]:
    """Return the text of a file, by its byte order mark or in UTF-8, else in Windows-1252, and remarks on that."""
    sure = encoding or next((name for name in _MARKED if content.startswith("\ufeff".encode(name))), None)
    tried, line = [sure] if sure else ["utf-8", "cp1252"], 1
    for used in tried:
        try:
            # Letters and their accents are one sign: programs of macOS write two.
            text = unicodedata.normalize("NFC", content.decode(used).lstrip("\ufeff"))
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            continue
        except (LookupError, ValueError):  # ValueError: a name with a NUL, or an encoding of host names
            raise InputError(f"there is no encoding {quoted(encoding)} of text; utf-8 and cp1252 are usual") from None
        before, nul, _ = text.partition("\0")
        if nul:
            raise InputError(say("nul_character", line=before.count("\n") + 1, encoding=used))
        guessed = "the file is not UTF-8 text: read as cp1252. If letters look wrong, give `encoding`"
        return text, [guessed] if used != tried[0] else []
    raise InputError(f"line {line} is not {' or '.join(tried)} text; give its encoding (`encoding`)")


def _delimiter_of(text: str) -> str:
    """Return the delimiter that splits most rows alike, and among several into most fields; a comma if none does."""
    splits = dict[str, tuple[float, int]]()  # the share of the first rows that it splits alike, and into how many
    for mark in _CALLED:
        numbers: Counter[int] = Counter()
        with suppress(csv.Error):
            rows = filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=mark))
            numbers.update(map(len, islice(rows, _LINES_TRIED)))
        n_fields, n_rows = numbers.most_common(1)[0] if numbers else (1, 0)
        splits[mark] = (n_rows / numbers.total(), n_fields) if n_fields > 1 else (0.0, 0)
    best = [mark for mark in _CALLED if splits[mark] == max(splits.values())]
    if not splits[best[0]][1]:  # runs of blanks, as `write.table` of R writes
        rows = filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=" ", skipinitialspace=True))
        with suppress(csv.Error, ValueError):
            header, *others = map(len, islice(rows, _LINES_TRIED))
            if len({*others}) == 1 and others[0] > _FEW_COLUMNS and others[0] - header in (0, 1):
                return " "
    if splits[best[0]][1] and len(best) > 1:
        called, lines = " and ".join(map(_CALLED.__getitem__, best)), " or ".join(f"sep={mark}" for mark in best)
        raise InputError(say("delimiters_split_alike", delimiters=called, lines=lines))
    return best[0]


def _lines(text: str, delimiter: str, n_before: int) -> Iterator[tuple[int, int, list[str]]]:
    """Yield the number in a spreadsheet, first line and cells of every row; InputError where it cannot be split."""
    skips = delimiter == " " or f'{delimiter} "' in text.partition("\n")[0]  # `"id", "age"`
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=skips, strict=True)
    line = n_before
    try:
        for number, row in enumerate(reader, start=1):
            first, line = line + 1, reader.line_num + n_before
            if row:
                yield number, first, row
    except csv.Error as error:
        raise InputError(f"line {line + 1} cannot be read ({error}): look for a quote that is not closed") from None


# Choose the sheet of a workbook that is the table.

_FEW_COLUMNS, _FEW_ROWS = 2, 20  # a sheet of no more columns and fewer rows may be a cover, if another has more of both
_REPAIR = "open it in Excel or LibreOffice, check it, and save it as an Excel workbook (.xlsx) without a password"


def read_sheet_of_table(
    sheets: list[tuple[str, bool]], options: SheetOptions, read: Callable[[int], TableRead]
) -> TableRead:
    """Return the table of the sheet that was asked for, by name or number, or else of the first that is one.

    `sheets` are names, and whether each is hidden. With the place of the table, or of a codebook, the first is read.
    """
    names, sheet = [name for name, _ in sheets], options.sheet
    if not sheets:
        raise InputError("the file has no sheet with cells")
    if sheet is not None:
        places = {str(at): at - 1 for at in range(1, len(names) + 1)} | {name: at for at, name in enumerate(names)}
        if sheet in places:
            return read(places[sheet])
        raise InputError(say("no_such_sheet", sheet=sheet, hint=did_you_mean(sheet, names), sheets=names))
    visible = [at for at, (_, is_hidden) in enumerate(sheets) if not is_hidden] or [0]
    first = names[visible[0]]
    others = [f"{other} (hidden)" if is_hidden else other for other, is_hidden in sheets if other != first]
    try:
        table, remark = read(visible[0]), say("other_sheets", first=first, others=others)
    except InputError as error:
        hint = say("sheet_at_fault", first=first, others=others) if others else ""
        raise InputError(f"{error.at_command_line}{hint}") from error
    is_free = options.header_row is None and options.rows is None and options.of_subjects
    if is_free and table.frame.shape[1] <= _FEW_COLUMNS and len(table.frame) < _FEW_ROWS:
        large: dict[str, TableRead] = {}
        for at in visible[1:13]:
            with suppress(InputError):
                other = read(at)
                if other.frame.shape[1] > _FEW_COLUMNS and len(other.frame) >= _FEW_ROWS:
                    large[names[at]] = other
        if len(large) > 1:
            raise InputError(say("several_sheets_of_subjects", first=first, others=large))
        for name in large:
            table, remark = large[name], say("other_sheet", sheet=name, first=first)
    return replace(table, remarks=[remark, *table.remarks]) if others else table


# Read a workbook in XML: parts in a zip archive, unpacked within bounds, and cells by their type and format.

_LARGE = ("row", "si")  # emptied when they are read, because a part may have a million of them
_BUILT_IN = {str(at): shown for shown, numbers in data("file_kinds")["formats_of_xlsx"].items() for at in numbers}
_ESCAPED = re.compile("_x((?![dD][89a-fA-F])[0-9a-fA-F]{4})_")  # halves of characters stay as they are
_TRUTH = {"0": "False", "1": "True", "false": "False", "true": "True"}
_YES = ("1", "true", "on")
_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384  # of Excel
_NUMBER_OF_ROW = re.compile(r"[0-9]{1,7}")
_MISPLACED = "rows and cells that do not follow those before them, or have an impossible place"


def _text_of(element: Element) -> str:
    """Return the text of a rich or plain text, without phonetic hints."""
    runs = element.findall("t") + element.findall("r/t")
    return unicodedata.normalize("NFC", _unescaped("".join(run.text or "" for run in runs)))


def _unescaped(text: str) -> str:
    """Replace ``_x000D_`` and the like by the characters that they encode (ST_Xstring)."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


class _Workbook:
    """The sheets of an xlsx file, each a name, whether it is hidden, and its part; its parts by name in any case."""

    def __init__(self, file: BinaryIO) -> None:
        with guarded("xlsx file", _REPAIR):
            self._zip = zipfile.ZipFile(file)
        self._parts = {self._key(part.filename): part for part in self._zip.infolist()}
        top = self._related("").values()
        book = next((target for kind, target in top if kind == "officeDocument"), "xl/workbook.xml")
        related = self._related(book)
        self.sheets: list[tuple[str, bool, str]] = []
        self._excel = package("openpyxl", "an xlsx file")
        self._dates, self._letter_of = self._excel.utils.datetime, self._excel.utils.get_column_letter
        self._columns = {self._letter_of(number): number for number in range(1, _MOST_COLUMNS + 1)}
        self._epoch = self._dates.WINDOWS_EPOCH
        for tag, element in self._elements(book, "sheet", "workbookPr"):
            if tag == "workbookPr" and element.get("date1904") in _YES:
                self._epoch = self._dates.MAC_EPOCH
            elif tag == "sheet":
                relation = next((value for name, value in element.items() if name.endswith("/relationships}id")), "")
                kind, part = related.get(relation, ("", ""))
                if kind == "worksheet":  # the others hold charts, dialogues or macros
                    self.sheets.append((element.get("name", ""), element.get("state", "visible") != "visible", part))
        parts = dict(related.values())
        texts = self._elements(parts["sharedStrings"], "si") if "sharedStrings" in parts else ()
        self._shared = [_text_of(element) for _, element in texts]
        shown, self._shown, formats = dict(_BUILT_IN), {0: "number"}, self._excel.styles.numbers
        for tag, element in self._elements(parts["styles"], "numFmt", "cellXfs") if "styles" in parts else ():
            if tag == "numFmt":
                code = element.get("formatCode", "")
                other = "date" if formats.is_date_format(code) else "number"
                shown[element.get("numFmtId", "")] = "duration" if formats.is_timedelta_format(code) else other
            elif numbers := [style.get("numFmtId", "0") for style in element.findall("xf")]:
                self._shown = {at: shown.get(number, "number") for at, number in enumerate(numbers)}

    def _elements(self, name: str, *wanted: str) -> Iterator[tuple[str, Element]]:
        """Yield the wanted elements of a part, without namespaces, and their names; InputError if it is damaged."""
        part = self._parts.get(self._key(name))
        if part is None:
            raise InputError(f"this xlsx file is damaged, or none: its part {name} is missing; {_REPAIR}")
        if part.file_size > (most := max(_SMALL, _MOST_UNPACKED * part.compress_size)):
            raise InputError(say("unpacks_too_far", part=name, before=part.compress_size / 2**20, after=most / 2**20))
        with guarded(f"xlsx file, in its part {name},", _REPAIR), self._zip.open(part) as stream:
            for _, element in iterparse(stream):  # noqa: S314 - expat bounds what entities expand to
                element.tag = tag = element.tag.rpartition("}")[2]
                if tag in wanted:
                    yield tag, element
                if tag in _LARGE:
                    element.clear()

    @staticmethod
    def _key(name: str) -> str:
        return posixpath.normpath("/" + name.replace("\\", "/").lstrip("/")).casefold()

    def _related(self, part: str) -> dict[str, tuple[str, str]]:
        """Return the kind and the name of each part that a part is related to, by the id of the relation."""
        folder, name = posixpath.split(part)
        parts = {}
        for _, element in self._elements(posixpath.join(folder, "_rels", f"{name}.rels"), "Relationship"):
            target = posixpath.join("/", folder, element.get("Target", "").replace("\\", "/"))
            parts[element.get("Id", "")] = (element.get("Type", "").rpartition("/")[2], posixpath.normpath(target)[1:])
        return parts

    def read_sheet(self, at: int, options: SheetOptions) -> TableRead:
        """Return the table of a sheet. A cell that could be wrong is refused or reported."""
        rows, last, faults, errors = options.empty_sheet, 0, Places(), Places()
        merged, hidden_rows = list[Any](), set[int]()
        for tag, element in self._elements(self.sheets[at][2], "row", "mergeCell"):
            if tag == "mergeCell":
                with suppress(ValueError, TypeError):  # of whole rows, or nowhere
                    merged.append(self._excel.worksheet.cell_range.CellRange(element.get("ref", "")))
                continue
            stated, texts, column = element.get("r", str(last + 1)), list[str](), 0
            number = int(stated) if _NUMBER_OF_ROW.fullmatch(stated) else 0
            if not last < number <= _MOST_ROWS:
                faults[_MISPLACED].append(f"row {stated} after row {last}")
                continue
            for cell in element.findall("c"):
                place = cell.get("r") or f"{self._letter_of(column + 1)}{number}"
                if (at_cell := self._columns.get(place.removesuffix(stated), 0)) <= column:
                    faults[_MISPLACED].append(place)
                    continue
                column = at_cell
                if len(cell) and (text := self._read_cell(place, cell, faults, errors)):
                    texts += [*[""] * (column - len(texts) - 1), text]
            rows.add(number, texts)
            last = number
            if element.get("hidden") in _YES:
                hidden_rows.add(number)
        if wrong := faults.sentences():
            raise InputError("\n  - ".join([say("unsound_sheet", name=self.sheets[at][0]), *wrong]))
        table = sheet_table(rows, options, merged)
        hidden = [f"row {row}" for row in (table.frame.index + 2).tolist() if row in hidden_rows]
        errors["hidden, and read like the other rows"] += hidden
        return replace(table, remarks=[*errors.sentences(), *table.remarks])

    def _read_cell(self, place: str, cell: Element, faults: Places, errors: Places) -> str:
        """Return the text of the cell at a place such as ``B7``; an empty one after recording a fault."""
        kind, inline = cell.get("t", "n"), cell.find("is")
        value = cell.findtext("v", "") if inline is None else _text_of(inline)
        if cell.find("f") is not None and not value.strip() and not (kind == "str" and len(cell) > 1):
            faults[say("formula_without_value")].append(place)
            return ""
        if kind == "inlineStr" or (not value.strip() and kind != "s"):
            return value
        if kind == "str":
            return _unescaped(value)
        value = value.strip()
        with suppress(ValueError, LookupError):
            if kind == "n":
                return self._read_number(place, value, self._shown[int(cell.get("s", "0"))], errors)
            if kind == "s" and value.isdecimal():
                return self._shared[int(value)]
            if kind == "b":
                return _TRUTH[value]
            if kind == "d":
                return canonical_text(datetime.datetime.fromisoformat(value.removesuffix("Z")))
            if kind == "e":
                errors["spreadsheet errors kept as text"].append(f"{place} ({value})")
                return value
        faults["cells with a value that their type does not have"].append(f"{place} ({quote_cell(value)})")
        return ""

    def _read_number(self, place: str, value: str, shown: str, errors: Places) -> str:
        if not NUMBER.fullmatch(value) or not np.isfinite(days := float(value)):
            raise ValueError(value)
        text = str(int(value)) if value.lstrip("+-").isdecimal() else canonical_text(days)
        if shown == "number":
            return text
        # Excel counts a 29 February 1900 that never was, as day 60.
        is_date = days >= 0 and (self._epoch == self._dates.MAC_EPOCH or not 60 <= days < 61)
        if is_date or shown == "duration":
            with suppress(OverflowError):
                return canonical_text(self._dates.from_excel(days, self._epoch, timedelta=shown == "duration"))
        errors[say("no_date")].append(place)
        return text


def read_xlsx(path: Path, kind: str, options: SheetOptions) -> TableRead:
    """Read a sheet of an xlsx file; see `clinclust.read_cohort`."""
    with path.open("rb") as file:
        book = _Workbook(file)
        sheets = [sheet[:2] for sheet in book.sheets]
        return read_sheet_of_table(sheets, options, lambda at: book.read_sheet(at, options))


# Read other workbooks by calamine.

# Run by a process of its own: a damaged file ends it, or fills its memory, and not the one that reads the table.
_CALAMINE = """
import io, json, sys
from contextlib import suppress
import python_calamine as calamine

with suppress(ImportError, ValueError):  # on Windows; a lower limit holds
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30,) * 2)  # a damaged file asked for 20 GB

def write_moment(cell):
    return (cell.isoformat() if hasattr(cell, "isoformat") else str(cell)).removesuffix("T00:00:00")

book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(sys.stdin.buffer.read()))
sheets = [sheet for sheet in book.sheets_metadata if sheet.typ == calamine.SheetTypeEnum.WorkSheet]
if len(sys.argv) == 1:
    answer = [(sheet.name, sheet.visible != calamine.SheetVisibleEnum.Visible) for sheet in sheets]
else:
    sheet = book.get_sheet_by_name(sheets[int(sys.argv[1])].name)
    rows = sheet.to_python(skip_empty_area=False)
    for row in rows:
        while row and row[-1] == "":  # a far cell makes 16,000 empty ones in each row
            row.pop()
    # of the first and the last cell of each area, column and row from 1
    merged = [[at + 1 for cell in area for at in reversed(cell)] for area in sheet.merged_cell_ranges or ()]
    answer = [rows, merged]
sys.stdout.write(json.dumps(answer, default=write_moment))  # `dump` writes in many small parts
"""


def read_by_calamine(path: Path, kind: str, options: SheetOptions) -> TableRead:
    """Read a sheet of an old, binary or OpenDocument workbook; see `clinclust.read_cohort`."""
    package("python_calamine", f"an {kind} file")
    content = path.read_bytes()
    lacks = say("lost_of_workbook", kind=kind)

    def ask(*place: str) -> Any:
        command = [sys.executable, "-P", "-c", _CALAMINE, *place]
        run = subprocess.run(command, input=content, capture_output=True, check=False)  # noqa: S603 - all words are ours
        if run.returncode:
            lines = reversed(run.stderr.decode(errors="replace").splitlines())
            why = next((quoted(line) for line in lines if "Error: " in line or "Exception: " in line), "damaged")
            raise InputError(f"this {kind} workbook cannot be read ({why}): {_REPAIR}")
        return json.loads(run.stdout)

    def read(at: int) -> TableRead:
        rows, (cells, ranges) = options.empty_sheet, ask(str(at))
        for number, row in enumerate(cells, 1):
            rows.add(number, [cell if cell == "" or isinstance(cell, str) else canonical_text(cell) for cell in row])
        of_cells = package("openpyxl.worksheet.cell_range", f"an {kind} file")
        with guarded(f"{kind} workbook", _REPAIR):  # merged cells beyond the last
            merged = [of_cells.CellRange(None, *corners) for corners in ranges]
        table = sheet_table(rows, options, merged)
        return replace(table, remarks=[lacks, *table.remarks])

    return read_sheet_of_table(ask(), options, read)


# Read files with declared columns: parquet, and those of SPSS, Stata and SAS.

_SAYS_OF_COLUMNS = data("file_kinds")["statistical"]
_PARQUET = ("parquet file", "write it again with the program that made it, or as .csv or .xlsx")
_MOST_CELLS_IN_A_BYTE = 2000  # of the best compression


def read_parquet(path: Path, kind: str, options: SheetOptions) -> TableRead:
    """Read a parquet file; see `clinclust.read_cohort`."""
    package("pyarrow", "a parquet file")
    from pyarrow import parquet

    with guarded(*_PARQUET), path.open("rb") as file:  # else pyarrow reads a whole folder
        frame = _frame_of_arrow(parquet.read_table(file, page_checksum_verification=True))
    frame.attrs = {}
    return TableRead(frame)


def _frame_of_arrow(table: Any) -> pd.DataFrame:
    """Return what was read of a parquet file, with a named index as a column, and bytes, if they are text, as texts."""
    import pyarrow

    unusable = []
    for place, column in enumerate(table.schema):
        kind = column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
        try:
            if pyarrow.types.is_nested(kind):
                unusable.append(column.name)
            elif "binary" in str(kind):
                table = table.set_column(place, column.name, table.column(place).cast(pyarrow.string()))
        except pyarrow.ArrowException:
            unusable.append(column.name)
    if unusable:
        raise InputError(say("cells_of_several_values", columns=unusable))
    table.validate(full=True)  # else text that is not UTF-8 fails later
    # A float, for the missing values of whole numbers, would change the digits of long ones.
    frame: pd.DataFrame = table.to_pandas(integer_object_nulls=True)
    named = [name for name in frame.index.names if name is not None and name not in frame.columns]
    return frame.reset_index(named) if named else frame


def read_statistical(path: Path, kind: str, options: SheetOptions) -> TableRead:
    """Read a file of SPSS, Stata or SAS; values are their labels if each that occurs has one of its own."""
    about_kind = _KINDS[kind]
    program = about_kind["program"]
    pyreadstat = package("pyreadstat", f"a file of {program}")
    how = {"encoding": options.encoding, **about_kind.get("how", {})}
    with guarded(f"file of {program}", say("repair_statistical", program=program)), path.open("rb") as file:
        read = getattr(pyreadstat, about_kind["reader"])
        about = read(file, metadataonly=True, **how)[1]
        n_cells = (about.number_rows or 0) * (about.number_columns or 0)
        if n_cells > _MOST_CELLS_IN_A_BYTE * path.stat().st_size:  # before memory is taken
            raise InputError(f"the file says that it has {n_cells:,} cells, which it cannot hold: it is damaged")
        file.seek(0)
        frame, about = read(file, **how)
    places, names = Places(), [str(name) for name in frame.columns]
    columns = [_read_column(frame.iloc[:, at], name, about, places) for at, name in enumerate(names)]
    table = pd.DataFrame({at: cells for at, (cells, _) in enumerate(columns)}, index=frame.index, dtype=TEXT)
    table.columns = pd.Index(names, dtype=object)
    return TableRead(table, places.sentences(), [notes for _, notes in columns])


def _read_column(values: pd.Series, name: str, about: Any, places: Places) -> tuple[list[str], ColumnNotes]:
    """Return the cells of a column, and its notes; `about` is the metadata of pyreadstat."""
    stored = about.readstat_variable_types.get(name)
    codes = [_text(value, stored) for value in values.tolist()]
    observed = set(codes) - {""}
    labels = about.variable_value_labels.get(name, {})
    levels = {_text(value, stored): str(label).strip() for value, label in labels.items()}
    missing = {_text(value, stored) for value in about.missing_user_values.get(name, [])}
    for bounds in about.missing_ranges.get(name, []):
        low, high = _text(bounds["lo"], stored), _text(bounds["hi"], stored)
        between = {code for code in observed if number_of(low) <= number_of(code) <= number_of(high)}
        missing |= {low} if low == high else between
    valid, used = observed - missing, [label for code, label in levels.items() if code in observed]
    is_shown = bool(valid) and all(map(levels.get, valid)) and len(set(used)) == len(used)
    shown = {code: label for code, label in levels.items() if label} if is_shown else {}
    if not is_shown and not valid.isdisjoint(levels):
        places[say("read_as_codes")].append(name)
    if missing:
        places[say("missing_values_declared")].append(name)
    shown_as = str(about.original_variable_types.get(name) or "").upper()
    is_date = stored != "string" and shown_as.startswith(tuple(_SAYS_OF_COLUMNS["dates"]))
    notes = ColumnNotes(
        label=str(about.column_names_to_labels.get(name) or "").strip() or None,
        levels=tuple((code, label) for code, label in levels.items() if code and code not in missing),
        kind="date" if is_date else _SAYS_OF_COLUMNS["measures"].get(str(about.variable_measure.get(name))),
        missing_codes=tuple(dict.fromkeys(shown.get(code, code) for code in sorted(missing))),
    )
    return [shown.get(code, code) for code in codes], notes


def _text(value: Any, stored: str) -> str:
    """Return the canonical text of a value; an empty one if it is missing; ``.a`` for a tagged missing value."""
    if pd.isna(value):
        return ""
    if isinstance(value, str):
        return f".{value}" if stored != "string" and len(value) == 1 else value.strip()
    if stored == "float" and isinstance(value, float) and not value.is_integer():
        return str(np.float32(value))
    return canonical_text(value)


# Tables larger than memory: a folder of parquet files, or a parquet file of many rows, read by row groups.

_FILES = "*.[pP][aA][rR][qQ][uU][eE][tT]"
MANY_ROWS = 2_000_000  # number of rows from which on a parquet file is read in partitions, its row groups


class Part(NamedTuple):
    """A row group of a parquet file."""

    file: Path
    group: int
    first: int  # the number of its first row in the file, from 0


def is_in_partitions(table: Path) -> bool:
    """Return whether a table is a folder of parquet files, or a parquet file of many rows."""
    if table.is_dir():
        return any(table.glob(_FILES)) or any(table.glob(f"*/{_FILES}"))
    if table.suffix.lower() == ".parquet" and table.is_file():  # a pipe would be waited for
        with suppress(ImportError, OSError, ValueError, NotImplementedError):  # of which the reader of tables warns
            from pyarrow import parquet

            return bool(parquet.read_metadata(table).num_rows >= MANY_ROWS)
    return False


def table_of_parts(table: Path) -> tuple[Any, list[Part]]:
    """Return a table as a Dask DataFrame, and its partitions; the index is the number of the row in its file, from 0.

    InputError lists all files that cannot be read, and folders in the folder, whose rows would be left out.
    """
    try:
        import dask.dataframe
        from dask.utils import natural_sort_key
        from pyarrow import parquet
    except ImportError:
        raise missing_package(f"{table}, a table in partitions,", "'clinclust[dask]'") from None
    if folders := sorted({file.parent.name for file in table.glob(f"*/{_FILES}")}):
        raise InputError(say("parquet_in_folders", folders=folders))
    parts, problems, empty = list[Part](), list[str](), None
    for file in sorted(table.glob(_FILES), key=lambda path: natural_sort_key(path.name)) or [table]:
        try:
            with naming_file(file), guarded(*_PARQUET):
                about = parquet.read_metadata(file)
                if empty is None:
                    empty = _frame_of_arrow(about.schema.to_arrow_schema().empty_table())
        except InputError as error:
            problems.append(str(error))
            continue
        first = 0
        for group in range(about.num_row_groups):
            parts.append(Part(file, group, first))
            first += about.row_group(group).num_rows
    if problems:
        raise InputError(limited("; ".join(problems)))
    if not parts:
        raise InputError("the table has no rows in any of its files; check how they were written")
    return cast(Any, dask.dataframe.from_map)(rows_of, parts, meta=empty, enforce_metadata=False), parts


def rows_of(part: Part, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Return the rows of a partition, with all columns or these."""
    from pyarrow import parquet

    columns = None if names is None else list(names)
    with naming_file(part.file), guarded(*_PARQUET), part.file.open("rb") as file:
        opened = parquet.ParquetFile(file, page_checksum_verification=True)
        frame = _frame_of_arrow(opened.read_row_group(part.group, columns=columns))
    frame = frame.set_axis(pd.RangeIndex(part.first, part.first + len(frame)), axis="index")
    return frame if columns is None else frame[columns]


# Read the table of a file of any kind without interpreting it.

_READERS = {
    "text": read_delimited,
    "xlsx": read_xlsx,
    **dict.fromkeys(("xls", "xlsb", "ods"), read_by_calamine),
    "parquet": read_parquet,
}


def read_table(path: Path, options: SheetOptions) -> TableRead:
    """Return the table of a file, with a name for each column; see `clinclust.read_cohort`."""
    kind, remarks = recognise_kind(path)
    stated = vars(options) | {"rows": options.rows and options.rows.text}
    refuse(
        f"{name}={quoted(stated[name])} makes sense for {about['called']} only"
        for name, about in data("file_kinds")["options"].items()
        if stated[name] is not None and kind not in about["kinds"]
    )
    read = name_columns(_READERS.get(kind, read_statistical)(path, kind, options))
    refuse_many_columns(read.frame.shape[1], options.most_columns)
    return replace(read, remarks=remarks + read.remarks)


# Read a table with a choice of its rows and columns.

MOST_COLUMNS = 20_000  # of a table that is read whole: with 200 rows they take 13 CPU seconds


@accepting(
    header_row=Rule(
        "the number of a row, from 1, or 0 for no header", lambda value: is_whole(value, 0) and value < 2**20
    ),
    decimal=one_of(",", "."),
    **RULES,
)
def read_cohort(
    path: str | os.PathLike[str],
    *,
    sheet: str | None = None,
    encoding: str | None = None,
    header_row: int | None = None,
    rows: str | None = None,
    decimal: DecimalMark | None = None,
    where: str | None = None,
    only: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    one_row_per: str | None = None,
    keep: Keep = "first",
    by: str | None = None,
    dates: DateOrder | None = None,
    time: str | None = None,
    summarise: Mapping[str, Sequence[str]] | None = None,
    trends: Mapping[str, Mapping[str, Any]] | None = None,
    draw_by: str | None = None,
    draw: int | str = 1,
    count: str | None = None,
) -> pd.DataFrame:
    """Read a table from a text file, a workbook, or a file of SPSS, Stata or SAS.

    Formats: csv, tsv, txt, xlsx; parquet (pyarrow); xls, xlsb, ods (python-calamine); sav, zsav, dta, sas7bdat,
    xpt (pyreadstat). The format is recognised by the content.

    Parameters
    ----------
    path : str or path
        The file.
    sheet, encoding : str, optional
        Name or number of the sheet of a workbook; encoding of a text or statistical file. By default the first visible
        sheet is read, and the encoding detected.
    header_row : int, optional
        Row of the column names, as a spreadsheet counts it; 0 for none. By default it is detected.
    rows : str, optional
        Rows of the subjects, as a spreadsheet counts them: ``2-61``, ``2-61,66-90`` or ``5-``.
    decimal : {",", "."}, optional
        Decimal mark of ambiguous numbers such as ``1,234``. Cells are unchanged.
    where : str, optional
        Condition on rows, such as ``visit == 'baseline' and 18 <= age < 65``: `and`, `or`, `not`, `in`, `is missing`,
        parentheses, backticks around names with spaces. Numbers and dates may be written as in the column.
    only, drop : list of str, optional
        Columns to keep, or to leave out. ``#7`` is the seventh column of the file.
    one_row_per, by : str, optional
        Keep one row for each value of the first column, in the order of the second, of numbers or dates.
    keep : {"first", "last"}
        Which row to keep, in the order of `by`, else of `time`, else of the file.
    dates : {"day-first", "month-first"}, optional
        How `where`, `by` and `time` read ambiguous dates such as 03/04/2020.
    time : str, optional
        Column of the time of each row, for `summarise`: numbers, or dates, which count in years from the first of the
        subject. It becomes no column of the table.
    summarise : dict, optional
        Columns with a measurement in several rows of a subject, and the summaries that take their place:
        ``{"egfr": ["mean", "slope"]}`` gives ``egfr mean`` and ``egfr slope``. ``mean`` is the level and ``slope`` the
        change per unit of time of the subject's line in a linear mixed model, ``last`` the last value, ``spread`` the
        standard deviation about the subject's own line. See `docs/visits.md`.
    trends : dict, optional
        The mean lines and variances of a cohort, to summarise new subjects by them: ``read_cohort(new,
        **model.schema_.rows.as_dict())``. By default they are estimated.
    draw_by, draw : str, int, optional
        Column of sampling weights: rows are drawn in proportion to them, and represent the population as a simple
        random sample does. Another number is another draw.
    count : str, optional
        Column that says how many people each row represents, as in a table of groups: each is repeated as often.

    Returns
    -------
    pandas.DataFrame, shape (N, D)
        Every cell as text, unchanged (``001``, ``1E5``, ``NA``) but for accents, which are one sign with their letter;
        cells of workbooks as the text of their values, coded values as labels if all have one, parquet columns with
        their types. The label of a row plus 2 is its row in a spreadsheet. Summaries are numbers. ``frame.attrs`` has
        ``"column_notes"`` and ``"rows_taken"``.

    Raises
    ------
    ValueError, OSError, ImportError
        If the file is unreadable or ambiguous, or a choice of rows or columns is invalid or leaves nothing; if the file
        does not exist or may not be read; if the package that reads the format is not installed.

    Warns
    -----
    CohortWarning
        For everything that was guessed, left out or chosen, or that a spreadsheet program shows differently.

    Examples
    --------
    >>> import clinclust as cc
    >>> import pandas as pd
    >>> cohort = pd.DataFrame({"patient": ["001", "002"], "icd": ["1E5", "G20"], "falls": ["NA", 3]})
    >>> cohort.to_csv("cohort.csv", index=False)
    >>> cc.read_cohort("cohort.csv")
      patient  icd falls
    0     001  1E5    NA
    1     002  G20     3
    """
    path = Path(path)
    check_readable(path)
    choice = RowChoice(where, one_row_per, keep, by, dates, rows, time, summarise, trends, draw_by, str(draw), count)
    refuse(choice.problems())
    with naming_file(path):
        most = MOST_COLUMNS if only is None and drop is None else None
        ranges = None if rows is None else RowRanges.parsed(rows)
        whole = read_table(path, SheetOptions(sheet, encoding, header_row, decimal, ranges, most_columns=most))
        frame, remarks = choose_rows(whole, choice, decimal, only, drop)
    for remark in remarks:
        warn(limited(f"{shown_name(path)}: {remark}"))
    return frame
