"""One file of the corpus, and those that are stored as data: tables of `<topic>.toml`, named by their traps.

A stored file has the keys of `MessyFile`, and what it is made of instead of `make`: a `text` (with its `newline`,
`encoding` and how it is `packed`), the `cells` of a workbook, in which "" is an empty cell, with `merged` areas and
further `sheets`, or the `columns` of a statistical file, with the options of pyreadstat. It has a `kind` where its
suffix is another. `rows` are lines whose cells are kept apart by bars. What several files share stands above them.
"""

import gzip
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path

import openpyxl
import pandas as pd
from old_and_open_workbooks import ods, xls, xlsb
from raw_workbook import zipped


@dataclass(frozen=True)
class MessyFile:
    """A file, and what must become of it.

    `told` has a pattern for each remark, and there must be no others. `rows` are the header and the rows; `numbers` the
    rows of a spreadsheet that they stand in. `notes` are what must be in the notes on columns. A file with `refused`
    must be refused with these words, and must be read with the options `repaired`.
    """

    trap: str
    name: str
    make: bytes | Callable[[Path], None]
    rows: list[list[str]] = field(default_factory=list)
    told: tuple[str, ...] = ()
    numbers: list[int] | None = None
    notes: dict[str, dict] = field(default_factory=dict)
    refused: str | None = None
    options: dict = field(default_factory=dict)
    repaired: dict | None = None

    def write(self, folder: Path) -> Path:
        path = folder / self.name
        if isinstance(self.make, bytes):
            path.write_bytes(self.make)
        else:
            self.make(path)
        return path


def stored(topic):
    """Return the files of `<topic>.toml`, and what they share."""
    content = tomllib.loads(Path(__file__).with_name(f"{topic}.toml").read_text(encoding="utf-8"))
    shared = {name: value for name, value in content.items() if not isinstance(value, dict)}
    files = [_of_case(trap, case, shared) for trap, case in content.items() if trap not in shared]
    return files, shared


def _of_case(trap, case, shared):
    case = {key: shared.get(value, value) if isinstance(value, str) else value for key, value in case.items()}
    rows = [line.split("|") for line in case.pop("rows", "").splitlines()]
    kind = case.pop("kind", Path(case["name"]).suffix[1:])
    if "text" in case:
        make = _packed_text(case)
    else:
        make = _workbook(kind, case, shared) if "cells" in case else _of_columns(kind, case)
    return MessyFile(trap, make=make, rows=rows, **case)


def _packed_text(case):
    content = case.pop("text").replace("\n", case.pop("newline", "\n")).encode(case.pop("encoding", "utf-8"))
    packed = case.pop("packed", None)
    if packed is None:
        return content
    return gzip.compress(content) if packed == "gzip" else zipped({"lab.csv": content})


def _workbook(kind, case, shared):
    merged = case.pop("merged", ())
    first, *others = [
        [[None if cell == "" else cell for cell in row] for row in (shared[cells] if isinstance(cells, str) else cells)]
        for cells in (case.pop("cells"), *case.get("sheets", {}).values())
    ]
    if kind == "xlsx":
        return xlsx(first, merged, **dict(zip(case.pop("sheets", {}), others, strict=True)))
    return {"xls": partial(xls, merged=merged), "xlsb": xlsb, "ods": ods}[kind](first)


def _of_columns(kind, case):
    expected = {field.name for field in fields(MessyFile)}
    options = {name: case.pop(name) for name in set(case) - expected - {"columns"}}
    if "variable_value_labels" in options:
        options["variable_value_labels"] = {name: dict(v) for name, v in options["variable_value_labels"].items()}
    return spss(case.pop("columns"), {"zsav": "sav", "xpt": "xport"}.get(kind, kind), **options)


def spss(columns, kind="sav", **options):
    """Return what writes a statistical file of these columns."""

    def write(path):
        import pyreadstat

        getattr(pyreadstat, f"write_{kind}")(pd.DataFrame(columns), str(path), **options)

    return write


def xlsx(rows, merged=(), **others):
    """Return what writes a workbook with these rows on its first sheet, and `others` on further ones."""

    def write(path):
        book = openpyxl.Workbook()
        book.active.title = "data"
        for title, cells in {"data": rows, **others}.items():
            sheet = book["data"] if title == "data" else book.create_sheet(title)
            for row in cells:
                sheet.append(row)
        for area in merged:
            book["data"].merge_cells(area)
        with path.open("wb") as file:
            book.save(file)

    return write
