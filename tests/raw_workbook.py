"""Workbooks made of raw XML: whatever a program may write into an xlsx file, sound or not."""

import io
import zipfile

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/spreadsheetml/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_CONTENT = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PACKAGE_CONTENT = "application/vnd.openxmlformats-package.relationships+xml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

# Styles by number: 0 general, 1 date, 2 date and time, 3 duration, 4 percent, 5 date in words of its own.
_STYLES = (
    f'<styleSheet xmlns="{MAIN}"><numFmts count="1"><numFmt numFmtId="170" formatCode="[$-407]d\\.\\ mmm\\ yyyy"/>'
    '</numFmts><cellStyleXfs count="1"><xf numFmtId="0"/></cellStyleXfs><cellXfs count="6"><xf numFmtId="0"/>'
    '<xf numFmtId="14"/><xf numFmtId="22"/><xf numFmtId="46"/><xf numFmtId="9"/><xf numFmtId="170"/></cellXfs>'
    "</styleSheet>"
)


def sheet_xml(rows, before="", after="", namespace=MAIN):
    """Return the XML of a worksheet; `rows` is the XML of its rows, `before` and `after` stand around the data."""
    return f'<worksheet xmlns="{namespace}">{before}<sheetData>{rows}</sheetData>{after}</worksheet>'


def row_xml(number, *cells, attributes=""):
    """Return the XML of a row of cells, each as the inside of `<c r="..."` and its end: ``t="b"><v>1</v>``."""
    inside = "".join(f'<c r="{"ABCDEFGHIJ"[place]}{number}" {cell}</c>' for place, cell in enumerate(cells) if cell)
    return f'<row r="{number}" {attributes}>{inside}</row>'


def text(value):
    """Return a cell (see `row_xml`) that holds text."""
    escaped = str(value).replace("&", "&amp;").replace("<", "&lt;")
    return f't="inlineStr"><is><t xml:space="preserve">{escaped}</t></is>'


def number(value, style=0):
    """Return a cell (see `row_xml`) that holds a number."""
    return f's="{style}"><v>{value}</v>'


def shared_strings_xml(*items):
    """Return the XML of the shared strings; each item is the inside of `<si>`."""
    return f'<sst xmlns="{MAIN}">{"".join(f"<si>{item}</si>" for item in items)}</sst>'


def workbook_parts(*sheets, shared=None, workbook="", styles=_STYLES):
    """Return the parts of a workbook by name; a sheet is its XML, or its name, its state and its XML.

    `shared` is the XML of the shared strings, `workbook` what stands before the sheets: ``<workbookPr date1904="1"/>``.
    """
    named = [sheet if isinstance(sheet, tuple) else (f"s{k}", "visible", sheet) for k, sheet in enumerate(sheets, 1)]
    listed = "".join(
        f'<sheet name="{name}" sheetId="{k}" state="{state}" r:id="rId{k}"/>'
        for k, (name, state, _) in enumerate(named, 1)
    )
    related = [(f"rId{k}", "worksheet", f"worksheets/sheet{k}.xml") for k in range(1, len(named) + 1)]
    related += [("rIdStyles", "styles", "styles.xml")] * (styles is not None)
    related += [("rIdShared", "sharedStrings", "sharedStrings.xml")] * (shared is not None)
    parts = {
        "[Content_Types].xml": _content_types(len(named)),
        "_rels/.rels": _related([("rId1", "officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": (
            f'<workbook xmlns="{MAIN}" xmlns:r="{_RELATIONS}">{workbook}<sheets>{listed}</sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": _related(related),
        **{f"xl/worksheets/sheet{k}.xml": xml for k, (_, _, xml) in enumerate(named, 1)},
    }
    if styles is not None:
        parts["xl/styles.xml"] = styles
    if shared is not None:
        parts["xl/sharedStrings.xml"] = shared
    return {name: content if isinstance(content, bytes) else _HEAD + content for name, content in parts.items()}


def _content_types(n_sheets):
    kinds = {"workbook.xml": "sheet.main", "styles.xml": "styles", "sharedStrings.xml": "sharedStrings"}
    kinds |= {f"worksheets/sheet{k}.xml": "worksheet" for k in range(1, n_sheets + 1)}
    each = "".join(
        f'<Override PartName="/xl/{part}" ContentType="{_CONTENT}.{kind}+xml"/>' for part, kind in kinds.items()
    )
    return (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType="{_PACKAGE_CONTENT}"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{each}</Types>'
    )


def _related(relations):
    each = "".join(f'<Relationship Id="{k}" Type="{_RELATIONS}/{kind}" Target="{to}"/>' for k, kind, to in relations)
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{each}</Relationships>'


def zipped(parts):
    """Return the bytes of a zip archive of these parts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def workbook_bytes(*sheets, **more):
    """Return the bytes of a workbook; see `workbook_parts`."""
    return zipped(workbook_parts(*sheets, **more))
