"""Read a cohort table from a file, with a choice of rows and columns. Cells stay text until a schema converts them."""

from __future__ import annotations

import csv
import io
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pandas as pd

from clinclust.arguments import Rule, accepting, is_whole, one_of
from clinclust.data import data
from clinclust.errors import InputError, refuse, warn
from clinclust.files import formats, say
from clinclust.files.cell_text import Places, is_blank, limited, quoted
from clinclust.files.conditions import DateOrder
from clinclust.files.layout import SheetOptions, find_header, sheet_table
from clinclust.files.notation import DecimalMark
from clinclust.files.row_choice import RULES, Keep, RowChoice, choose_rows
from clinclust.files.text_table import MOST_COLUMNS, RowRanges, TableRead, name_columns, refuse_many_columns

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
    if splits[best[0]][1] and len(best) > 1:
        called, lines = " and ".join(map(_CALLED.__getitem__, best)), " or ".join(f"sep={mark}" for mark in best)
        raise InputError(say("delimiters_split_alike", delimiters=called, lines=lines))
    return best[0]


def _lines(text: str, delimiter: str, n_before: int) -> Iterator[tuple[int, int, list[str]]]:
    """Yield the number in a spreadsheet, first line and cells of every row; InputError where it cannot be split."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = n_before
    try:
        for number, row in enumerate(reader, start=1):
            first, line = line + 1, reader.line_num + n_before
            if row:
                yield number, first, row
    except csv.Error as error:
        raise InputError(f"line {line + 1} cannot be read ({error}): look for a quote that is not closed") from None


# Read the table of a file of any kind without interpreting it.

_READERS = {
    "text": read_delimited,
    "xlsx": formats.read_xlsx,
    **dict.fromkeys(("xls", "xlsb", "ods"), formats.read_by_calamine),
    "parquet": formats.read_parquet,
}


def read_table(path: Path, options: SheetOptions) -> TableRead:
    """Return the table of a file, with a name for each column; see `clinclust.read_cohort`."""
    kind, remarks = formats.recognise_kind(path)
    stated = vars(options) | {"rows": options.rows and options.rows.text}
    refuse(
        f"{name}={quoted(stated[name])} makes sense for {about['called']} only"
        for name, about in data("file_kinds")["options"].items()
        if stated[name] is not None and kind not in about["kinds"]
    )
    read = name_columns(_READERS.get(kind, formats.read_statistical)(path, kind, options))
    refuse_many_columns(read.frame.shape[1], options.most_columns)
    return replace(read, remarks=remarks + read.remarks)


# Read a table with a choice of its rows and columns.


@accepting(
    header_row=Rule("the number of a row, from 1, or 0 for none", lambda value: is_whole(value, 0) and value < 2**20),
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
    draw: int = 1,
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
    formats.check_readable(path)
    choice = RowChoice(where, one_row_per, keep, by, dates, rows, time, summarise, trends, draw_by, draw, count)
    refuse(choice.problems())
    with formats.naming_file(path):
        most = MOST_COLUMNS if only is None and drop is None else None
        ranges = None if rows is None else RowRanges.parsed(rows)
        whole = read_table(path, SheetOptions(sheet, encoding, header_row, decimal, ranges, most_columns=most))
        frame, remarks = choose_rows(whole, choice, decimal, only, drop)
    for remark in remarks:
        warn(limited(f"{formats.shown_name(path)}: {remark}"))
    return frame
