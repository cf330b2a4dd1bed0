"""Write the sheets of a report as an Excel workbook."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from clinclust.reporting.archive import copy_without_times
from clinclust.reporting.layout import Sheet, visible
from clinclust.reporting.worksheet import register_styles, write_worksheet
from clinclust.writing import atomic_write

__all__ = ["write_workbook"]


def write_workbook(sheets: Sequence[Sheet], path: Path, *, title: str, generated: datetime) -> None:
    """Write the sheets to `path`; the same sheets and date give the same bytes.

    Raises
    ------
    ValueError
        If a sheet has more rows, or a cell more text, than a workbook can hold; the message names it.
    """
    from openpyxl import Workbook
    from openpyxl.writer.excel import ExcelWriter

    workbook = Workbook(write_only=True)
    register_styles(workbook)
    try:
        for sheet in sheets:
            write_worksheet(workbook, sheet)
    except BaseException:
        # Streamed sheets that are dropped half-written fail once more, noisily, when they are collected.
        for worksheet in workbook.worksheets:
            worksheet.close()
        raise
    moment = generated.astimezone(UTC).replace(tzinfo=None, microsecond=0)
    workbook.properties.creator = "clinclust"
    workbook.properties.title = visible(title)
    workbook.properties.subject = "Disease subtypes found by clinclust"
    workbook.properties.created = workbook.properties.modified = moment
    with tempfile.TemporaryFile() as written, atomic_write(path) as target:
        # Workbook.save would put the time of saving in place of `modified`.
        ExcelWriter(workbook, zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, allowZip64=True)).save()
        copy_without_times(written, target)
