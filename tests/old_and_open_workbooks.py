"""Workbooks of the old and of the binary format of Excel, and OpenDocument sheets."""

import datetime
import io
import struct
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


def _record(kind, data=b""):
    """Return a record of a binary workbook: its kind and its length, each in groups of seven bits, and its data."""
    size, length = b"", len(data)
    while True:
        size += bytes([length & 0x7F | (0x80 if length > 0x7F else 0)])
        length >>= 7
        if not length:
            return (bytes([kind & 0x7F | 0x80, kind >> 7]) if kind > 0x7F else bytes([kind])) + size + data


def _wide(value):
    return struct.pack("<I", len(value)) + value.encode("utf-16-le")


def _sheet_records(rows):
    body = (
        _record(129) + _record(148, struct.pack("<IIII", 0, len(rows) - 1, 0, max(map(len, rows)) - 1)) + _record(145)
    )
    for number, row in enumerate(rows):
        body += _record(0, struct.pack("<IIHHBI", number, 0, 300, 0, 0, 0))
        for at, value in enumerate(row):
            place = struct.pack("<II", at, 0)
            if isinstance(value, str):
                body += _record(6, place + _wide(value))
            elif value is not None:
                body += _record(5, place + struct.pack("<d", value))
    return body + _record(146) + _record(130)


def xlsb(rows):
    """Return the bytes of a binary workbook of Excel."""
    sheet = _record(156, struct.pack("<II", 0, 1) + _wide("rId1") + _wide("data"))
    book = _record(131) + _record(143) + sheet + _record(144) + _record(132)
    package = "http://schemas.openxmlformats.org/package/2006"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

    def related(kind, target):
        relation = f'<Relationship Id="rId1" Type="{office}/{kind}" Target="{target}"/>'
        return f'<?xml version="1.0"?><Relationships xmlns="{package}/relationships">{relation}</Relationships>'

    parts = {
        "[Content_Types].xml": f'<?xml version="1.0"?><Types xmlns="{package}/content-types"/>',
        "_rels/.rels": related("officeDocument", "xl/workbook.bin"),
        "xl/workbook.bin": book,
        "xl/_rels/workbook.bin.rels": related("worksheet", "worksheets/sheet1.bin"),
        "xl/worksheets/sheet1.bin": _sheet_records(rows),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()
