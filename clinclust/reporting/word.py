"""The table as a Word document: one native table, which repeats its heading on every page."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import docx
from docx.document import Document
from docx.enum.section import WD_ORIENT
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.table import WD_TABLE_ALIGNMENT
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Cm, Pt, RGBColor
from docx.table import _Cell, _Row
from docx.text.paragraph import Paragraph

from clinclust.errors import shortened
from clinclust.files.writing import atomic_write
from clinclust.reporting.documents import is_wide, measure_columns
from clinclust.reporting.layout import WORDS, Marked, Table
from clinclust.reporting.workbook import NO_DATE, copy_without_times

_FONT = "Calibri"
_LONGEST_PROPERTY = 255
_A4 = (21.0, 29.7)  # width and height in cm
_MARGIN = 1.8
_TEXT, _INDENTED = "Subtype table text", 0.4
_CHARACTER = 0.165  # cm, slightly more than the width of a digit at 8.5 points
_NARROWEST_LABEL = 4.5


def write_word(table: Table, path: Path) -> None:
    """Write the table to `path`; the same table gives the same bytes."""
    document = docx.Document()
    _set_up(document, table)
    document.add_paragraph(table.caption, style="Caption").paragraph_format.keep_with_next = True
    _add_table(document, table)
    for note in table.notes:
        paragraph = document.add_paragraph(style="Subtype table note")
        _write(paragraph, "", note.marks)
        paragraph.add_run(note.text)
    written = io.BytesIO()  # a table of a paper is small, and a file for temporary data could outlive a killed process
    document.save(written)
    with atomic_write(path) as target:
        copy_without_times(written, target)


def _set_up(document: Document, table: Table) -> None:
    section = document.sections[0]
    width, height = reversed(_A4) if is_wide(table) else _A4
    section.orientation = WD_ORIENT.LANDSCAPE if is_wide(table) else WD_ORIENT.PORTRAIT
    section.page_width, section.page_height = Cm(width), Cm(height)
    section.left_margin = section.right_margin = section.top_margin = section.bottom_margin = Cm(_MARGIN)

    styles = document.styles
    note, text = (styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH) for name in ("Subtype table note", _TEXT))
    for style, size, above, below in ((styles["Caption"], 11, 0, 4), (note, 8.5, 2, 0), (text, 8.5, 1, 1)):
        style.font.name, style.font.size, style.font.color.rgb = _FONT, Pt(size), RGBColor(0, 0, 0)
        # A font of the theme would take precedence over the name.
        fonts = style.element.rPr.rFonts
        for attribute in ("asciiTheme", "hAnsiTheme", "eastAsiaTheme", "cstheme"):
            fonts.attrib.pop(qn(f"w:{attribute}"), None)
        fonts.set(qn("w:cs"), _FONT)
        style.paragraph_format.space_before, style.paragraph_format.space_after = Pt(above), Pt(below)
        style.paragraph_format.line_spacing = 1.0

    properties = document.core_properties
    properties.title = shortened(table.caption, _LONGEST_PROPERTY)
    properties.author = properties.last_modified_by = "clinclust"
    properties.comments, properties.subject = "", WORDS["page"]["subject"]
    properties.created = properties.modified = NO_DATE.replace(tzinfo=None)
    properties.revision, properties.language = 1, WORDS["page"]["language"]


def _add_table(document: Document, table: Table) -> None:
    written = document.add_table(rows=0, cols=len(table.columns))
    written.alignment = WD_TABLE_ALIGNMENT.LEFT
    written.autofit = False
    # For screen readers.
    for name, text in (("w:tblCaption", table.caption), ("w:tblDescription", table.notes[0].text)):
        written._tbl.tblPr.append(_element(name, **{"w:val": text}))
    widths = _widths(table)
    for column, width in zip(written.columns, widths, strict=True):
        column.width = width

    heading = written.add_row()
    _mark_row(heading, "w:tblHeader")
    for place, (cell, column) in enumerate(zip(heading.cells, table.columns, strict=True)):
        first, *others = column.lines or column.title.split("\n")
        _fill(cell, first, bold=True, right=place > 0)
        for line in others:
            _fill(cell, line, right=True, new=True)
    _rule(heading, "top", 12)
    _rule(heading, "bottom", 6)

    for number in range(len(table.rows)):
        if table.starts_band(number):
            line = written.add_row()
            paragraph = _fill(line.cells[0].merge(line.cells[-1]), table.bands[number], bold=True)
            paragraph.paragraph_format.keep_with_next = True
            _mark_row(line, "w:cantSplit")
        line = written.add_row()
        _mark_row(line, "w:cantSplit")
        for place, (cell, text) in enumerate(zip(line.cells, table.texts(number), strict=True)):
            _fill(cell, text, right=place > 0)
    for row in written.rows:
        for cell, width in zip(row.cells, widths, strict=True):
            if cell._tc.grid_span == 1:
                cell.width = width
    _rule(written.rows[-1], "bottom", 12)


def _widths(table: Table) -> list[int]:
    """Return the width of each column in EMU, that of the labels first; together at most the width of the page."""
    page = (_A4[1] if is_wide(table) else _A4[0]) - 2 * _MARGIN
    for are_tight in (False, True):
        needed = [max(characters, 4) * _CHARACTER + 0.4 for characters in measure_columns(table, are_tight=are_tight)]
        shrunk = min(1.0, (page - _NARROWEST_LABEL) / sum(needed))
        if shrunk == 1.0:
            break
    needed = [width * shrunk for width in needed]
    first = [table.texts(row)[0] for row in range(len(table.rows))]
    labels = [len(label.text) * _CHARACTER + _INDENTED * label.is_level + 0.6 for label in first]
    label = min(page - sum(needed), max([*labels, _NARROWEST_LABEL]))
    return [Cm(width) for width in (label, *needed)]


def _fill(cell: _Cell, content: str, *, bold: bool = False, right: bool = False, new: bool = False) -> Paragraph:
    paragraph: Paragraph = cell.add_paragraph() if new else cell.paragraphs[0]
    # The style is set by its id, because python-docx would search all styles for every cell.
    paragraph._p.style = _TEXT.replace(" ", "")
    marked = content if isinstance(content, Marked) else Marked(content)
    if right:
        paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
    if marked.is_level:
        paragraph.paragraph_format.left_indent = Cm(_INDENTED)
    _write(paragraph, marked.text, marked.marks, bold=bold)
    return paragraph


def _write(paragraph: Paragraph, text: str, marks: str, *, bold: bool = False) -> None:
    if text:
        paragraph.add_run(text).bold = bold or None
    if marks:
        paragraph.add_run(marks).font.superscript = True


def _mark_row(row: _Row, name: str) -> None:
    row._tr.get_or_add_trPr().append(_element(name))


def _rule(row: _Row, side: str, eighths: int) -> None:
    """Draw a line above or below a row; its thickness is in eighths of a point."""
    for cell in row._tr.tc_lst:
        properties = cell.get_or_add_tcPr()
        borders = properties.find(_element("w:tcBorders").tag)
        if borders is None:
            borders = _element("w:tcBorders")
            properties.append(borders)
        line = {"w:val": "single", "w:sz": str(eighths), "w:space": "0", "w:color": "000000"}
        borders.append(_element(f"w:{side}", **line))


def _element(name: str, **attributes: str) -> Any:
    element = OxmlElement(name)
    for attribute, value in attributes.items():
        element.set(qn(attribute), value)
    return element
