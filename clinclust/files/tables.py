"""Read a cohort table from a file without interpreting it: text stays text until a schema converts it."""

from __future__ import annotations

import csv
import io
import os
import re
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from clinclust.arguments import PATH, TEXT, accepting
from clinclust.errors import CohortWarning, InputError, MissingPackageError
from clinclust.files.cell_text import canonical_text
from clinclust.nearest import did_you_mean

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

__all__ = ["read_cohort"]

_SUFFIXES = (".csv", ".tsv", ".txt", ".xlsx", ".parquet")
_TEXT = pd.StringDtype(na_value=np.nan)
_ROWS_AT_ONCE = 50_000  # Python strings need much memory, so rows are converted to a compact table in portions
_CELLS_SHOWN = 5


@accepting(path=PATH, sheet=TEXT, encoding=TEXT)
def read_cohort(path: str | os.PathLike[str], *, sheet: str | None = None, encoding: str | None = None) -> pd.DataFrame:
    """Read a table from a csv, tsv (or txt), xlsx or parquet file.

    Parameters
    ----------
    path : str or path
        The file. Its suffix determines the format. The delimiter of a csv file is the comma or the semicolon, whichever
        splits its header into more names; that of a tsv or txt file is the tab.
    sheet : str, optional
        Name of the sheet of an xlsx file. By default the first sheet is read, with a warning if there are several.
    encoding : str, optional
        Encoding of a text file. The default is UTF-8, or UTF-16 if the file begins with its byte order mark. A file
        that is not UTF-8 is read as Windows-1252, or else as Latin-1, with a warning.

    Returns
    -------
    pandas.DataFrame, shape (N, D)
        Every cell as text, unchanged (``001``, ``1E5`` and ``NA`` too); no cell is missing. A cell of an xlsx file is
        the text of its value (1.0 as ``1``, dates in ISO form). Columns of a parquet file keep their types.
        Empty rows are left out but counted: the label of a row plus 2 is its row number in a spreadsheet.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If the file cannot be read as a table. For a text file the message names the line at fault, if there is one.
    ImportError
        If it is a parquet file and pyarrow is not installed.

    Warns
    -----
    CohortWarning
        If the file is not UTF-8, if the first of several sheets was read, or if cells of an xlsx file hold errors such
        as ``#N/A``.

    Examples
    --------
    Every cell stays the text that it is in the file:

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
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError(f"{path.name}: tables are read from {', '.join(_SUFFIXES)}, not from {suffix or 'no suffix'}")
    if not path.is_file():
        folder = path.parent
        hint = did_you_mean(path.name, [file.name for file in folder.iterdir()]) if folder.is_dir() else ""
        raise FileNotFoundError(f"there is no file {path}.{hint}")
    if sheet is not None and suffix != ".xlsx":
        raise InputError(f"{path.name}: sheet={sheet!r} makes sense for an xlsx file only")
    if encoding is not None and suffix in (".xlsx", ".parquet"):
        raise InputError(f"{path.name}: encoding={encoding!r} makes sense for a text file only")
    if path.stat().st_size == 0:
        raise InputError(f"{path.name}: the file is empty")
    if suffix == ".xlsx":
        return _read_xlsx(path, sheet)
    if suffix == ".parquet":
        return _read_parquet(path)
    return _read_delimited(path, encoding, "," if suffix == ".csv" else "\t")


def _read_delimited(path: Path, encoding: str | None, delimiter: str) -> pd.DataFrame:
    text = _decoded(path, encoding)
    if delimiter == ",":
        delimiter = _delimiter_of(text)
    rows = _rows(path, text, delimiter)
    _, header = next(rows, (0, []))
    if not header:
        raise InputError(f"{path.name}: the file is empty")
    _refuse_empty_names(path, header)
    portions, numbers = [], []
    while portion := list(islice(rows, _ROWS_AT_ONCE)):
        portions.append(pd.DataFrame([row for _, row in portion], dtype=_TEXT))
        numbers += [number for number, _ in portion]
    frame = (
        pd.concat(portions, ignore_index=True) if portions else pd.DataFrame(columns=range(len(header)), dtype=_TEXT)
    )
    return _labelled(frame, header, numbers)


def _labelled(frame: pd.DataFrame, header: list[str], numbers: list[int]) -> pd.DataFrame:
    """Return the frame with column names, and an index whose labels plus 2 are the row numbers in a spreadsheet."""
    frame.columns = pd.Index(header)
    labels = np.array(numbers, dtype=np.int64) - 2
    if not np.array_equal(labels, np.arange(len(frame))):
        frame.index = pd.Index(labels)
    return frame


def _rows(path: Path, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (row number from 1, fields) for the header and every row that is not blank; all have the same length."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    line = 1
    try:
        for number, row in enumerate(reader, start=1):
            if row and header is None:
                header = row
            if row and header is not None and len(row) != len(header):
                raise InputError(
                    f"{path.name}: line {line} has {len(row)} fields, the header has {len(header)}: "
                    f"look for a {delimiter!r} too many or too few, or for a text that needs quotes"
                )
            if row:
                yield number, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{path.name}: line {line} cannot be read ({error}): look for a quote that is not closed"
        ) from None


def _delimiter_of(text: str) -> str:
    """Return the delimiter that splits the header into more names; the comma wins ties."""
    first = re.search(r"[^\r\n]+", text)
    header = [first.group()] if first else []
    counts = {mark: len(next(csv.reader(header, delimiter=mark), [])) for mark in (",", ";")}
    return max(counts, key=lambda mark: counts[mark])


def _decoded(path: Path, encoding: str | None) -> str:
    content = path.read_bytes()
    if encoding is None and content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    try:
        return content.decode(encoding or "utf-8-sig")
    except LookupError:
        raise InputError(f"{path.name}: there is no encoding {encoding!r}") from None
    except UnicodeDecodeError as error:
        if encoding is not None:
            line = content[: error.start].count(b"\n") + 1
            raise InputError(f"{path.name}: line {line} is not {encoding} text") from None
    try:
        text, taken = content.decode("cp1252"), "cp1252"
    except UnicodeDecodeError:
        text, taken = content.decode("latin-1"), "latin-1"
    warnings.warn(
        f"{path.name} is not UTF-8 text: read as {taken}. If letters look wrong, give encoding=...",
        CohortWarning,
        stacklevel=4,
    )
    return text


def _refuse_empty_names(path: Path, header: list[str]) -> None:
    empty = [str(position) for position, name in enumerate(header, start=1) if not name.strip()]
    if empty:
        raise InputError(f"{path.name}: the header has no name for column {', '.join(empty)} of {len(header)}")


def _read_xlsx(path: Path, sheet: str | None) -> pd.DataFrame:
    import zipfile
    import zlib

    import openpyxl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # openpyxl warns of formatting that it does not keep
        try:
            workbook = openpyxl.load_workbook(path, read_only=True, data_only=True)
        # For broken XML, both parsers that openpyxl may use (xml.etree and lxml) raise a SyntaxError.
        except (zipfile.BadZipFile, KeyError, OSError, SyntaxError):
            raise InputError(f"{path.name}: this is not an xlsx file (or it is locked with a password)") from None
        try:
            worksheet, others = _sheet(path, workbook, sheet)
            rows, faulty = _cells(worksheet)
        except (zipfile.BadZipFile, zlib.error, SyntaxError) as error:
            raise InputError(f"{path.name}: this xlsx file is damaged ({error})") from None
        finally:
            workbook.close()
    if others:
        warnings.warn(
            f"{path.name}: read the first sheet, {worksheet.title!r}; give sheet= for ({', '.join(others)})",
            CohortWarning,
            stacklevel=3,
        )
    if faulty:
        more = f" and {len(faulty) - _CELLS_SHOWN} more" if len(faulty) > _CELLS_SHOWN else ""
        warnings.warn(
            f"{path.name}: spreadsheet errors kept as text in {', '.join(faulty[:_CELLS_SHOWN])}{more}",
            CohortWarning,
            stacklevel=3,
        )
    if not rows:
        raise InputError(f"{path.name}: sheet {worksheet.title!r} is empty")
    width = max(len(row) for row in rows.values())
    header, *body = [row + [""] * (width - len(row)) for row in rows.values()]
    _refuse_empty_names(path, header)
    return _labelled(pd.DataFrame(body, columns=range(width), dtype=_TEXT), header, list(rows)[1:])


def _sheet(path: Path, workbook: Workbook, name: str | None) -> tuple[ReadOnlyWorksheet, list[str]]:
    """Return the sheet to read, and, if no name was given, the names of the other sheets."""
    sheets = {worksheet.title: worksheet for worksheet in workbook.worksheets}
    if not sheets:
        raise InputError(f"{path.name}: the file has no sheet with cells")
    if name is not None and name not in sheets:
        raise InputError(
            f"{path.name}: there is no sheet {name!r}.{did_you_mean(name, sheets)} It has {', '.join(sheets)}"
        )
    first, *others = sheets
    return (sheets[name], []) if name is not None else (sheets[first], others)


def _cells(worksheet: ReadOnlyWorksheet) -> tuple[dict[int, list[str]], list[str]]:
    """Return the texts of each row that is not empty, by row number, and the cells with errors as ``A1 (#N/A)``."""
    worksheet.reset_dimensions()  # some programs write wrong dimensions
    rows, faulty = {}, []
    for number, cells in enumerate(worksheet.iter_rows(), start=1):  # type: ignore[misc]
        texts = ["" if cell.value is None else _text_of(cell.value) for cell in cells]
        faulty += [f"{cell.coordinate} ({cell.value})" for cell in cells if cell.data_type == "e"]
        while texts and not texts[-1].strip():
            texts.pop()
        if texts:
            rows[number] = texts
    return rows, faulty


def _text_of(value: object) -> str:
    return value if isinstance(value, str) else canonical_text(value)


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingPackageError("reading a parquet file needs pyarrow: pip install clinclust[parquet]") from None
    try:
        frame: pd.DataFrame = pyarrow.parquet.read_table(path).to_pandas()
    except pyarrow.ArrowException as error:
        raise InputError(f"{path.name}: this parquet file cannot be read: {str(error).splitlines()[0]}") from None
    named = [name for name in frame.index.names if name is not None]
    return frame.reset_index() if named else frame
