"""Write the sheets of a report as an Excel workbook."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO
from xml.sax.saxutils import quoteattr

from clinclust.reporting.layout import Sheet, visible
from clinclust.reporting.styles import register_styles
from clinclust.reporting.worksheet import write_worksheet
from clinclust.writing import atomic_write

__all__ = ["write_workbook"]

_EARLIEST_ZIP_DATE = (1980, 1, 1, 0, 0, 0)


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
    workbook.properties.creator = workbook.properties.lastModifiedBy = "clinclust"
    workbook.properties.title = visible(title)
    workbook.properties.subject = "Disease subtypes found by clinclust"
    workbook.properties.keywords = "disease subtypes, clustering, MAP-DP, clinical cohort"
    workbook.properties.description = f"Sheets: {', '.join(sheet.name for sheet in sheets)}."
    workbook.properties.created = workbook.properties.modified = moment
    with tempfile.TemporaryFile() as written, atomic_write(path) as target:
        # Workbook.save would put the time of saving in place of `modified`.
        ExcelWriter(workbook, zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, allowZip64=True)).save()
        _copy_without_times(written, target, _alt_texts(sheets))


def _alt_texts(sheets: Sequence[Sheet]) -> dict[str, dict[str, str]]:
    """Descriptions of charts by the name of the chart in each drawing; a drawing is what the charts of a sheet are."""
    drawn = [sheet.charts for sheet in sheets if sheet.charts]
    return {
        f"xl/drawings/drawing{number}.xml": {
            f"Chart {place}": visible(chart.description) for place, chart in enumerate(charts, start=1)
        }
        for number, charts in enumerate(drawn, start=1)
    }


def _described(drawing: bytes, descriptions: Mapping[str, str]) -> bytes:
    """Give each chart of a drawing what a screen reader says of it, which openpyxl has no word for."""
    text = drawing.decode()
    for name, description in descriptions.items():
        named = f'name="{name}"'
        text = text.replace(named, f"{named} descr={quoteattr(description)}")
    return text.encode()


def _copy_without_times(archive: IO[bytes], target: Path, alt_texts: Mapping[str, Mapping[str, str]]) -> None:
    """Copy a ZIP archive, giving every entry the same date, and every chart its description."""
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            entry = zipfile.ZipInfo(name, _EARLIEST_ZIP_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            with old.open(name) as content, new.open(entry, "w", force_zip64=True) as copy:
                if name in alt_texts:
                    copy.write(_described(content.read(), alt_texts[name]))
                else:
                    shutil.copyfileobj(content, copy)
