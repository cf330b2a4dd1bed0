"""Read the cells of one worksheet, and check that each stands where it says that it does."""

from __future__ import annotations

from dataclasses import replace

from clinclust.errors import InputError
from clinclust.files.layout.header_groups import Area
from clinclust.files.layout.sheet_table import SheetOptions, sheet_table
from clinclust.files.listed import Places, quoted
from clinclust.files.text_table import TableRead
from clinclust.files.xlsx.archive import Attributes, damaged
from clinclust.files.xlsx.cells import MISTYPED, Cells
from clinclust.files.xlsx.names import LOCAL, is_true
from clinclust.files.xlsx.references import MOST_COLUMNS, MOST_ROWS, column_of, letters_of, whole
from clinclust.files.xlsx.unseen import Unseen

__all__ = ["Worksheet"]

_MISPLACED_ROW = "rows whose number is not above that of the row before them, or is no row of Excel"
_MISPLACED_CELL = "cells that say another place than the one where they stand"


class Worksheet:
    """Reads the XML of a worksheet; see `PartReader`."""

    def __init__(self, name: str, cells: Cells, options: SheetOptions) -> None:
        self._name, self._cells, self._options = name, cells, options
        self._rows = options.empty_rows()
        self._width = 0
        self._misplaced = Places()
        self._is_worksheet = self._in_data = self._in_row = self._row_is_sound = False
        self._row = 0
        self._row_text = "0"
        self._row_is_hidden = False
        self._texts: list[str] = []
        self._column = 0
        self._last_filled = 0  # the last column of this row that holds text
        self._cell: Attributes | None = None
        self._cell_is_sound = self._has_formula = False
        self._holder = "v"  # the element that holds the value of this cell
        self._value: list[str] | None = None
        self._in_value = False
        self._in_hint = 0
        self._unseen = Unseen()

    def start(self, name: str, attributes: Attributes) -> None:
        """Take the beginning of an element."""
        tag = LOCAL.get(name)
        if tag == "c":
            self._start_cell(attributes)
        elif tag == "v" or tag == "t":
            if self._cell is not None and not self._in_hint:
                self._start_value(tag)
        elif tag == "f":
            self._has_formula = True
        elif tag == "row":
            self._start_row(attributes)
        elif tag == "rPh":
            self._in_hint += 1
        elif tag is not None:
            self._start_other(tag, attributes)

    def end(self, name: str) -> None:
        """Take the end of an element."""
        tag = LOCAL.get(name)
        if tag == "v" or tag == "t":
            self._in_value = False
        elif tag == "c":
            self._end_cell()
        elif tag == "row":
            self._end_row()
        elif tag == "rPh":
            self._in_hint -= 1
        elif tag == "sheetData":
            self._in_data = False

    def text(self, text: str) -> None:
        """Take text between elements."""
        if self._in_value and self._value is not None:
            self._value.append(text)

    def _start_value(self, tag: str) -> None:
        if tag != self._holder or (tag == "v" and self._value is not None):
            self._cells.faults.add(MISTYPED, f"a cell of row {self._row}")
        elif self._value is None:
            self._value = []
        self._in_value = True

    def _start_other(self, tag: str, attributes: Attributes) -> None:
        if tag == "worksheet":
            self._is_worksheet = True
        elif tag == "sheetData":
            self._in_data = True
        elif tag == "col":
            self._unseen.add_columns(attributes)
        elif tag == "mergeCell":
            self._unseen.add_merged(attributes)

    def _start_row(self, attributes: Attributes) -> None:
        if not self._in_data or self._in_row:
            raise damaged("a row stands inside another, or outside of the data")
        given = attributes.get("r")
        number = self._row + 1 if given is None else whole(given)
        self._in_row = True
        self._row_is_sound = self._row < number <= MOST_ROWS
        if not self._row_is_sound:
            self._misplaced.add(_MISPLACED_ROW, f"row {given or number} after row {self._row}")
            return
        self._row, self._row_text = number, str(number)
        self._row_is_hidden = is_true(attributes.get("hidden"))
        self._texts = [""] * self._width
        self._column = self._last_filled = 0

    def _start_cell(self, attributes: Attributes) -> None:
        if not self._in_row or self._cell is not None:
            raise damaged("a cell stands inside another, or outside of a row")
        self._cell, self._value, self._has_formula = attributes, None, False
        self._holder = "t" if attributes.get("t") == "inlineStr" else "v"
        place = attributes.get("r")
        if place is None:
            column = self._column + 1
        else:
            letters = place.rstrip("0123456789")
            column = column_of(letters)
            if place[len(letters) :] != self._row_text:
                column = 0
        self._cell_is_sound = self._row_is_sound and self._column < column <= MOST_COLUMNS
        if self._cell_is_sound:
            self._column = column
        elif self._row_is_sound:
            self._misplaced.add(_MISPLACED_CELL, place or f"column {column} of row {self._row}")

    def _end_cell(self) -> None:
        assert self._cell is not None  # the parser has seen its beginning
        cell, self._cell = self._cell, None
        if (self._value is None and not self._has_formula) or not self._cell_is_sound:
            return
        value = None if self._value is None else "".join(self._value)
        column = self._column
        place = cell.get("r") or f"{letters_of(column)}{self._row}"
        text = self._cells.text(place, cell, value, self._has_formula)
        if not text:
            return
        if column > len(self._texts):
            self._texts += [""] * (column - len(self._texts))
        self._texts[column - 1] = text
        if not text.isspace():
            self._last_filled = column

    def _end_row(self) -> None:
        self._in_row = False
        if not self._row_is_sound or not self._last_filled:
            return
        self._width = self._width or self._last_filled
        self._rows.add(self._row, self._texts)
        if self._row_is_hidden:
            self._unseen.add_row(self._row)

    def result(self) -> TableRead:
        """Return the table, or raise InputError with all that is wrong with the sheet."""
        if not self._is_worksheet:
            raise damaged(f"its sheet {quoted(self._name)} is no worksheet")
        faults = [*self._misplaced.sentences(), *self._cells.faults.sentences()]
        if faults:
            listing = "\n".join(f"  - {fault}" for fault in faults)
            raise InputError(
                f"sheet {quoted(self._name)} cannot be read; open the file in Excel or LibreOffice, check these, and "
                f"save it again:\n{listing}"
            )
        if not self._rows.first:
            raise InputError(f"sheet {quoted(self._name)} is empty")
        merged: list[Area] = self._unseen.merged_areas()
        read = sheet_table(self._rows, self._options, merged)
        unseen = self._unseen.remarks(read)
        return replace(read, remarks=self._cells.remarks.sentences() + unseen + read.remarks)
