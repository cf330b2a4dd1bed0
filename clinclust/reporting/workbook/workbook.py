"""Write the sheets of a report as an Excel workbook."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO
from xml.sax.saxutils import quoteattr

from openpyxl import Workbook
from openpyxl.writer.excel import ExcelWriter

from clinclust.control_characters import visible
from clinclust.files.writing import atomic_write
from clinclust.reporting.layout import Sheet
from clinclust.reporting.workbook.cells import register_styles
from clinclust.reporting.workbook.worksheet import write_worksheet

NO_DATE = datetime(1980, 1, 1, tzinfo=UTC)
"""Date of documents without a date: the earliest date that a ZIP archive can store."""


def write_workbook(sheets: Sequence[Sheet], path: Path, *, title: str, generated: datetime) -> None:
    """Write the sheets to `path`, reproducibly; ValueError, which names the sheet, if one does not fit."""
    workbook = Workbook(write_only=True)
    register_styles(workbook)
    moment = generated.astimezone(UTC).replace(tzinfo=None, microsecond=0)
    workbook.properties.creator = workbook.properties.lastModifiedBy = "clinclust"
    workbook.properties.title = visible(title)
    workbook.properties.subject = "Disease subtypes found by clinclust"
    workbook.properties.keywords = "disease subtypes, clustering, MAP-DP, clinical cohort"
    workbook.properties.description = f"Sheets: {', '.join(sheet.name for sheet in sheets)}."
    workbook.properties.created = workbook.properties.modified = moment
    # What openpyxl writes on the way holds data of patients too: it is in the private folder of the target.
    with atomic_write(path) as target, (target.parent / "workbook.zip").open("wb+") as written:
        for sheet in sheets:
            write_worksheet(workbook, sheet, target.parent)
        # Workbook.save would replace `modified` by the time of saving.
        with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
            ExcelWriter(workbook, archive).save()
        copy_without_times(written, target, _alt_texts(sheets))


def _alt_texts(sheets: Sequence[Sheet]) -> dict[str, Callable[[bytes], bytes]]:
    """Return, by name of the drawing of a sheet in the archive, the function that describes its charts."""
    drawn = [[chart.description for chart in sheet.charts] for sheet in sheets if sheet.charts]
    return {
        f"xl/drawings/drawing{number}.xml": partial(_described, descriptions=descriptions)
        for number, descriptions in enumerate(drawn, start=1)
    }


def _described(drawing: bytes, descriptions: Sequence[str]) -> bytes:
    """Add the alternative text of each chart to the XML of a drawing: openpyxl has no place for it."""
    text = drawing.decode()
    for place, description in enumerate(descriptions, start=1):
        named = f'name="Chart {place}"'
        text = text.replace(named, f"{named} descr={quoteattr(visible(description))}")
    return text.encode()


def copy_without_times(
    archive: IO[bytes], target: Path, changes: Mapping[str, Callable[[bytes], bytes]] | None = None
) -> None:
    """Copy a ZIP archive, such as an Office document, dating each entry `NO_DATE`; `changes` map old content to new."""
    changes = changes or {}
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            entry = zipfile.ZipInfo(name, NO_DATE.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            with old.open(name) as content, new.open(entry, "w", force_zip64=True) as copy:
                if name in changes:
                    copy.write(changes[name](content.read()))
                else:
                    shutil.copyfileobj(content, copy)
