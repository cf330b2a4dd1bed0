"""Read a table from an xlsx workbook: find the sheet, its texts and its styles, and read its cells."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace

from clinclust.errors import InputError
from clinclust.files.cover_sheets import read_sheet
from clinclust.files.layout.sheet_table import SheetOptions
from clinclust.files.listed import quoted
from clinclust.files.source import Source
from clinclust.files.text_table import TableRead
from clinclust.files.xlsx.archive import Archive, Attributes, damaged
from clinclust.files.xlsx.cells import Cells
from clinclust.files.xlsx.names import LOCAL, is_true, relation_id
from clinclust.files.xlsx.rich_text import SharedStrings
from clinclust.files.xlsx.styles import Styles
from clinclust.files.xlsx.worksheet import Worksheet

__all__ = ["read_xlsx"]


def read_xlsx(source: Source, sheet: str | None, options: SheetOptions) -> TableRead:
    """Read a sheet of an xlsx file; see `clinclust.read_cohort`."""
    archive = Archive(source)
    try:
        return _read(archive, sheet, options)
    finally:
        archive.close()


def _read(archive: Archive, sheet: str | None, options: SheetOptions) -> TableRead:
    if "_rels/.rels" not in archive:
        raise InputError("this is not an xlsx file")
    book_part = next((target for kind, target in _relations(archive, "").values() if kind == "officeDocument"), "")
    if not book_part:
        raise InputError("this is not an xlsx file")
    book = _Book()
    archive.read(book_part, book)
    related = _relations(archive, book_part)
    sheets = [entry for entry in book.sheets if _may_have_cells(entry, related)]
    if len({entry.name for entry in sheets}) < len(sheets):
        raise damaged("two of its sheets have one name")
    shared, styles = SharedStrings(), Styles()
    for kind, reader in (("sharedStrings", shared), ("styles", styles)):
        for target in (target for found, target in related.values() if found == kind):
            archive.read(target, reader)

    def read(at: int) -> TableRead:
        cells = Cells(shared.texts, styles.kinds, book.has_1904)
        return _table(archive, related, sheets[at], cells, options, computes_at_load=book.computes_at_load)

    return read_sheet([(entry.name, entry.is_hidden) for entry in sheets], sheet, options, read)


def _table(
    archive: Archive,
    related: dict[str, tuple[str, str]],
    chosen: _Sheet,
    cells: Cells,
    options: SheetOptions,
    *,
    computes_at_load: bool,
) -> TableRead:
    """Return the table of one sheet, and what its reader must know of its formulas."""
    if chosen.relation not in related:
        raise damaged(f"it does not say where its sheet {quoted(chosen.name)} is")
    worksheet = Worksheet(chosen.name, cells, options)
    archive.read(related[chosen.relation][1], worksheet)
    read = worksheet.result()
    if not (computes_at_load and cells.n_formulas):
        return read
    told = (
        f"the program that wrote the file left its {cells.n_formulas:,} formulas to be computed when it is opened: "
        "their values may be out of date; open it in Excel or LibreOffice, save it, and read it again"
    )
    return replace(read, remarks=[told, *read.remarks])


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
