"""Read a table from an xlsx workbook: find the sheet, its texts and its styles, and read its cells."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from pathlib import Path

from clinclust.errors import InputError
from clinclust.files.listed import listed, quoted
from clinclust.files.text_table import TableRead
from clinclust.files.xlsx.archive import Archive, Attributes, damaged
from clinclust.files.xlsx.cells import Cells
from clinclust.files.xlsx.names import LOCAL, is_true, relation_id
from clinclust.files.xlsx.rich_text import SharedStrings
from clinclust.files.xlsx.styles import Styles
from clinclust.files.xlsx.worksheet import Worksheet
from clinclust.nearest import did_you_mean

__all__ = ["read_xlsx"]

_SAVE_AS = "open it there and save it as .xlsx"
_OTHER_FORMATS = {
    "xl/workbook.bin": f"this is a binary workbook (.xlsb) of Excel: {_SAVE_AS}",
    "content.xml": f"this is a document of LibreOffice (.ods): {_SAVE_AS}",
    "index/document.iwa": f"this is a document of Numbers: {_SAVE_AS}",
}


def read_xlsx(path: Path, sheet: str | None) -> TableRead:
    """Read a sheet of an xlsx file; see `clinclust.files.tables.read_cohort`."""
    archive = Archive(path)
    try:
        return _read(archive, sheet)
    finally:
        archive.close()


def _read(archive: Archive, sheet: str | None) -> TableRead:
    for part, what in _OTHER_FORMATS.items():
        if part in archive:
            raise InputError(what)
    if "_rels/.rels" not in archive:
        raise InputError("this is not an xlsx file")
    book_part = next((target for kind, target in _relations(archive, "").values() if kind == "officeDocument"), "")
    if not book_part:
        raise InputError("this is not an xlsx file")
    book = _Book()
    archive.read(book_part, book)
    related = _relations(archive, book_part)
    chosen, remarks = _chosen([entry for entry in book.sheets if _may_have_cells(entry, related)], sheet)
    if chosen.relation not in related:
        raise damaged(f"it does not say where its sheet {quoted(chosen.name)} is")
    shared, styles = SharedStrings(), Styles()
    for kind, reader in (("sharedStrings", shared), ("styles", styles)):
        for target in (target for found, target in related.values() if found == kind):
            archive.read(target, reader)
    cells = Cells(shared.texts, styles.kinds, book.has_1904)
    worksheet = Worksheet(chosen.name, cells)
    archive.read(related[chosen.relation][1], worksheet)
    read = worksheet.result()
    if book.computes_at_load and cells.n_formulas:
        remarks.append(
            f"the program that wrote the file left its {cells.n_formulas:,} formulas to be computed when it is opened: "
            "their values may be out of date; open it in Excel or LibreOffice, save it, and read it again"
        )
    return TableRead(read.frame, remarks + read.remarks)


@dataclass(frozen=True)
class _Sheet:
    """A sheet as the workbook lists it: its name, whether it is hidden, and the id of its relation to a part."""

    name: str
    is_hidden: bool
    relation: str


class _Book:
    """Reads the list of sheets; see `PartReader`."""

    def __init__(self) -> None:
        self.sheets: list[_Sheet] = []
        self.has_1904 = self.computes_at_load = False

    def start(self, name: str, attributes: Attributes) -> None:
        """Take the beginning of an element."""
        tag = LOCAL.get(name)
        if tag == "sheet":
            is_hidden = attributes.get("state", "visible") != "visible"
            self.sheets.append(_Sheet(attributes.get("name", ""), is_hidden, relation_id(attributes)))
        elif tag == "workbookPr":
            self.has_1904 = is_true(attributes.get("date1904"))
        elif tag == "calcPr":
            self.computes_at_load = is_true(attributes.get("fullCalcOnLoad"))

    def end(self, name: str) -> None:
        """Take the end of an element."""

    def text(self, text: str) -> None:
        """Take text between elements: a workbook has none."""


class _Related:
    """Reads the relations of a part: the kind and the target of each by its id; see `PartReader`."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.by_id: dict[str, tuple[str, str]] = {}

    def start(self, name: str, attributes: Attributes) -> None:
        """Take the beginning of an element."""
        if LOCAL.get(name) == "Relationship" and attributes.get("TargetMode") != "External":
            target = posixpath.join("/", self._folder, attributes.get("Target", "").replace("\\", "/"))
            kind = attributes.get("Type", "").rpartition("/")[2]
            self.by_id[attributes.get("Id", "")] = (kind, posixpath.normpath(target).lstrip("/"))

    def end(self, name: str) -> None:
        """Take the end of an element."""

    def text(self, text: str) -> None:
        """Take text between elements: relations have none."""


def _relations(archive: Archive, part: str) -> dict[str, tuple[str, str]]:
    folder, name = posixpath.split(part)
    related = _Related(folder)
    archive.read(posixpath.join(folder, "_rels", f"{name}.rels"), related)
    return related.by_id


def _may_have_cells(entry: _Sheet, related: dict[str, tuple[str, str]]) -> bool:
    """Return whether the sheet is a worksheet: not one of charts, dialogues or macros."""
    return related.get(entry.relation, ("worksheet", ""))[0] == "worksheet"


def _chosen(sheets: list[_Sheet], name: str | None) -> tuple[_Sheet, list[str]]:
    """Return the sheet to read, and what the reader must know of the others if no name was given."""
    if not sheets:
        raise InputError("the file has no sheet with cells")
    by_name = {entry.name: entry for entry in sheets}
    if len(by_name) < len(sheets):
        raise damaged("two of its sheets have one name")
    if name is not None:
        if name not in by_name:
            hint = did_you_mean(name, by_name)
            raise InputError(f"there is no sheet {quoted(name)}.{hint} It has {listed(by_name)}")
        return by_name[name], []
    first = next((entry for entry in sheets if not entry.is_hidden), sheets[0])
    others = [f"{entry.name} (hidden)" if entry.is_hidden else entry.name for entry in sheets if entry is not first]
    what = "read the first sheet" if not first.is_hidden else "all sheets are hidden; read the first"
    return first, [f"{what}, {quoted(first.name)}; give sheet= for ({listed(others)})"] if others else []
