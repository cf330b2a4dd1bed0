"""Workbooks of the old format of Excel, and OpenDocument sheets."""

import datetime
import io
import zipfile


def xls(rows, merged=()):
    """Return what writes a workbook of the old format."""

    def write(path):
        import xlwt

        book = xlwt.Workbook()
        sheet = book.add_sheet("Tabelle1")
        day = xlwt.easyxf(num_format_str="DD.MM.YYYY")
        covered = {(top, at) for top, _, left, right in merged for at in range(left, right + 1)}
        for top, bottom, left, right in merged:
            sheet.write_merge(top, bottom, left, right, rows[top][left])
        for number, row in enumerate(rows):
            for at, cell in enumerate(row):
                if cell is not None and (number, at) not in covered:
                    sheet.write(number, at, cell, *([day] if isinstance(cell, datetime.date) else []))
        book.save(str(path))

    return write


def ods(rows):
    """Return the bytes of an OpenDocument sheet."""
    names = ("office", "table", "text")
    spaces = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in names)

    def cell(value):
        if value is None:
            return "<table:table-cell/>"
        if isinstance(value, datetime.date):
            kind = f'office:value-type="date" office:date-value="{value.isoformat()}"'
        elif isinstance(value, (int, float)):
            kind = f'office:value-type="float" office:value="{value}"'
        else:
            kind = 'office:value-type="string"'
        return f"<table:table-cell {kind}><text:p>{value}</text:p></table:table-cell>"

    lines = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    sheet = f'<table:table table:name="Tabelle1">{lines}</table:table>'
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {spaces} office:version="1.3"><office:body>'
        f"<office:spreadsheet>{sheet}</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr(
            "META-INF/manifest.xml",
            f'<manifest:manifest xmlns:manifest="{manifest}"><manifest:file-entry manifest:full-path="/" '
            f'manifest:media-type="{kind}"/></manifest:manifest>',
        )
        archive.writestr("content.xml", content)
    return buffer.getvalue()
