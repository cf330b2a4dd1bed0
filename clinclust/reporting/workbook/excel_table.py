"""Excel tables: ranges with filters, which a pivot table can refer to by name.

The names of the columns of an Excel table must equal the cells of its headings and be unique, and the table must have
rows. Excel repairs a file that breaks these rules by removing the table, so such a table is not made.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from clinclust.control_characters import visible
from clinclust.reporting.layout import Table
from clinclust.reporting.workbook.cells import safe_text

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

__all__ = ["add_table", "can_be_a_table", "unique_headings"]

_LONGEST_HEADING = 255


def unique_headings(table: Table) -> list[str]:
    """Return the headings of the columns, each in one line and unique.

    A heading that several columns share gets the heading of its group as a prefix; if it is still not unique, it gets
    a number.
    """
    titles = [" ".join(visible(column.title).split()) or "Column" for column in table.columns]
    folded = [title.casefold() for title in titles]
    headings: list[str] = []
    taken: set[str] = set()
    for column, title in zip(table.columns, titles, strict=True):
        group = " ".join(visible(column.group[0]).split())
        wanted = f"{group}: {title}" if group and folded.count(title.casefold()) > 1 else title
        heading, number = wanted, 1
        while heading.casefold() in taken:
            number += 1
            heading = f"{wanted} ({number})"
        taken.add(heading.casefold())
        headings.append(heading)
    return headings


def can_be_a_table(table: Table) -> bool:
    """Return whether a table can be an Excel table: it has rows, no sections, and no heading that is too long."""
    return bool(table.rows) and not table.bands and all(_is_short(column.title) for column in table.columns)


def _is_short(heading: str) -> bool:
    return len(safe_text(heading).encode("utf-16-le")) <= 2 * _LONGEST_HEADING


def add_table(worksheet: Worksheet, where: str, headings: Sequence[str]) -> None:
    """Add an Excel table for the range `where` (as "A5:D20"), whose first row holds these headings."""
    from openpyxl.worksheet.filters import AutoFilter
    from openpyxl.worksheet.table import Table as ExcelTable
    from openpyxl.worksheet.table import TableColumn

    table = ExcelTable(displayName=re.sub(r"\W+", "_", worksheet.title), ref=where)
    # openpyxl cannot read the headings back from a streamed sheet, so they are given here.
    table.tableColumns = [TableColumn(id=number, name=safe_text(text)) for number, text in enumerate(headings, start=1)]
    table.autoFilter = AutoFilter(ref=where)
    worksheet.tables.add(table)  # Worksheet.add_table would warn that headings are needed, although they are given
