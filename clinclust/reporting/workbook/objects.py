"""Charts and Excel tables, which refer to written cells and change with them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from openpyxl.chart import BarChart, Reference, Series
from openpyxl.chart.data_source import AxDataSource, NumDataSource, NumRef, StrRef
from openpyxl.chart.error_bar import ErrorBars
from openpyxl.chart.shapes import GraphicalProperties
from openpyxl.chart.text import RichText, Text
from openpyxl.chart.title import Title
from openpyxl.drawing.line import LineProperties
from openpyxl.drawing.text import (
    CharacterProperties,
    Paragraph,
    ParagraphProperties,
    RegularTextRun,
    RichTextProperties,
)
from openpyxl.utils import get_column_letter as letter
from openpyxl.worksheet.filters import AutoFilter
from openpyxl.worksheet.table import Table as ExcelTable
from openpyxl.worksheet.table import TableColumn
from openpyxl.worksheet.worksheet import Worksheet

from clinclust.control_characters import visible
from clinclust.reporting.layout import Chart, Table
from clinclust.reporting.workbook.cells import BLUE, INK, QUIET, RULE, safe_text

_EMU_PER_POINT, _POINTS_PER_CM = 12_700, 28.35
_WIDTH_CM, _ROW_CM, _AROUND_CM = 22.0, 0.62, 3.4
_MARKER_POINTS, _WHISKER_POINTS = 7.0, 1.5

CHART_WIDTH = _WIDTH_CM * _POINTS_PER_CM


def height_of(chart: Chart, n_rows: int) -> float:
    """Return the height, in points, of a chart with this number of rows."""
    return (_AROUND_CM + _ROW_CM * n_rows) * _POINTS_PER_CM


def add_chart(worksheet: Worksheet, chart: Chart, heading: int, last: int, top: int, column: int) -> None:
    """Add a chart of the rows `heading` + 1 to `last`, with its upper left corner at `top`, `column`.

    Intervals, and numbers compared with what is expected, are error bars of two series of invisible bars.
    """

    def cells(place: int) -> Reference:
        return Reference(worksheet, min_col=place + 1, min_row=heading + 1, max_row=last)

    drawn: Any = BarChart()
    drawn.type, drawn.gapWidth, drawn.legend, drawn.roundedCorners = "bar", 60, None, False
    drawn.width, drawn.height = _WIDTH_CM, height_of(chart, last - heading) / _POINTS_PER_CM
    drawn.title = _title(chart.title, 12, INK)
    names, numbers = drawn.x_axis, drawn.y_axis
    names.delete = numbers.delete = False
    names.scaling.orientation = "maxMin"  # the first row is at the top
    names.tickLblPos, names.majorTickMark = "low", "none"
    names.txPr = numbers.txPr = _text_of_size(9, INK)
    numbers.crosses = "max"  # puts the axis of numbers at the bottom, because the names run from top to bottom
    numbers.title = _title(chart.axis, 10, QUIET)
    numbers.majorGridlines.spPr = GraphicalProperties(ln=_line(RULE, 0.5))
    numbers.number_format, numbers.scaling.min = "General", chart.least
    if chart.kind == "bars":
        drawn.series = [_series(cells(chart.value), BLUE)]
    else:
        drawn.overlap = 100
        middle = chart.value if chart.expected is None else chart.expected
        interval, marker = (_series(cells(place), None) for place in (middle, chart.value))
        interval.errBars = _intervals(cells(chart.below), cells(chart.above))
        marker.errBars = _markers()
        drawn.series = [interval, marker]
    for series in drawn.series:
        series.cat = AxDataSource(strRef=StrRef(f=cells(0)))
    worksheet.add_chart(drawn, f"{letter(column)}{top}")


def _series(values: Reference, colour: str | None) -> Any:
    series: Any = Series(values)
    series.spPr = GraphicalProperties(solidFill=colour) if colour else GraphicalProperties(noFill=True)
    series.spPr.ln = LineProperties(noFill=True)
    return series


def _intervals(below: Reference, above: Reference) -> Any:
    minus, plus = (NumDataSource(numRef=NumRef(f=cells)) for cells in (below, above))
    return _error_bars(_line(INK, _WHISKER_POINTS), errValType="cust", plus=plus, minus=minus)


def _markers() -> Any:
    """Return error bars of almost no length with thick round ends, which look like points."""
    line = _line(BLUE, _MARKER_POINTS)
    line.cap = "rnd"
    return _error_bars(line, errValType="fixedVal", val=0.01)


def _error_bars(line: Any, **lengths: Any) -> Any:
    bars: Any = ErrorBars(errBarType="both", noEndCap=True, spPr=GraphicalProperties(ln=line), **lengths)
    # By default openpyxl writes minus before plus, which the schema of the file format does not allow.
    bars.__elements__ = ("errDir", "errBarType", "errValType", "noEndCap", "plus", "minus", "val", "spPr")
    return bars


def _line(colour: str, points: float) -> Any:
    return LineProperties(solidFill=colour, w=round(points * _EMU_PER_POINT))


def _font(points: int, colour: str) -> Any:
    return CharacterProperties(sz=100 * points, b=False, solidFill=colour)


def _text_of_size(points: int, colour: str) -> Any:
    paragraph = Paragraph(pPr=ParagraphProperties(defRPr=_font(points, colour)), endParaRPr=_font(points, colour))
    return RichText(bodyPr=RichTextProperties(), p=[paragraph])


def _title(text: str, points: int, colour: str) -> Any:
    run = RegularTextRun(rPr=_font(points, colour), t=visible(text))
    paragraph = Paragraph(pPr=ParagraphProperties(defRPr=_font(points, colour)), r=[run])
    return Title(tx=Text(rich=RichText(p=[paragraph])), overlay=False)


_LONGEST_HEADING = 255


def _in_one_line(title: str) -> str:
    """Return a heading in one line, in which a last line of its own, as "n = 96 (40.0%)", is not broken."""
    *first, last = visible(title).split("\n")
    return " ".join([*" ".join(first).split(), ("\N{NO-BREAK SPACE}" if first else " ").join(last.split())])


def unique_headings(table: Table) -> list[str]:
    """Return the headings in one line each, made unique by the heading of their group and, if necessary, a number."""
    titles = [_in_one_line(column.title) or "Column" for column in table.columns]
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
    """Return whether Excel accepts a table: it has rows, no sections, and no heading that is too long."""
    headings = (safe_text(column.title).encode("utf-16-le") for column in table.columns)
    return bool(table.rows) and not table.bands and all(len(title) <= 2 * _LONGEST_HEADING for title in headings)


def add_table(worksheet: Worksheet, where: str, headings: Sequence[str]) -> None:
    """Add an Excel table, which has filters and a name, for a range as "A5:D20" whose first row holds the headings."""
    table = ExcelTable(displayName=re.sub(r"\W+", "_", worksheet.title), ref=where)
    # openpyxl cannot read the headings back from a streamed sheet, so they are given here.
    table.tableColumns = [TableColumn(id=number, name=safe_text(text)) for number, text in enumerate(headings, start=1)]
    table.autoFilter = AutoFilter(ref=where)
    worksheet.tables.add(table)  # Worksheet.add_table would warn that headings are needed, although they are given
