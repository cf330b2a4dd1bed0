"""Recognise what a file is by its first bytes, whatever its name says; kinds are `clinclust/data/file_kinds.toml`."""

from __future__ import annotations

import re
import zipfile

from clinclust.data import data
from clinclust.errors import InputError
from clinclust.files.cell_text import shortened
from clinclust.files.packed import Source

__all__ = ["kind_of"]

_KINDS = data("file_kinds")["kinds"]
_NAMED = {suffix: kind for kind, about in _KINDS.items() for suffix in about["suffixes"]}
_READ_FROM = ", ".join(suffix for suffix in _NAMED if suffix not in (".tab", ".dat", ".asc", ".xlsm"))
_SIGNATURES = {sign.encode("latin-1"): kind for kind, about in _KINDS.items() for sign in about.get("signatures", ())}
_REFUSED = data("file_kinds")["refused"]
_REFUSED_SUFFIXES = {suffix: refused["what"] for refused in _REFUSED for suffix in refused.get("suffixes", ())}
_REFUSED_STARTS = {
    sign.encode("latin-1"): refused["what"] for refused in _REFUSED for sign in refused.get("signatures", ())
}
_AS_XLSX = "open it in Excel or LibreOffice, look at it, and save it as an Excel workbook (.xlsx)"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LOCKED = "EncryptedPackage".encode("utf-16-le")
_WEB = re.compile(rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|meta|table|body|style)\b", re.I | re.S)
_XML = re.compile(rb"\s*<\?xml|\s*<(?:\w+:)?Workbook\b", re.I)
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def kind_of(source: Source) -> tuple[str, list[str]]:
    """Return what a file is, such as ``text`` or ``xlsx``, and a remark if its name says something else.

    Raises
    ------
    InputError
        If it is nothing that is read. The message says what it is, as far as it can be known.
    """
    named = _NAMED.get(source.suffix)
    found = _by_content(source)
    if found is None:
        if source.suffix in _REFUSED_SUFFIXES:
            raise InputError(f"this is {_REFUSED_SUFFIXES[source.suffix]}")
        found = _without_signature(source, named)
    if found == named:
        return found, []
    if source.suffix == ".xls" and found == "text":
        return found, ["the file is text, not a workbook, although its name ends in .xls: read as text"]
    says = f"ends in {shortened(source.suffix)}" if source.suffix else "does not say so"
    return found, [f"the file is {_KINDS[found]['called']}, although its name {says}: read as such"]


def _by_content(source: Source) -> str | None:
    """Return the kind that the first bytes prove, None if they prove none, or raise InputError."""
    start = source.start(1000)
    for signature, what in _REFUSED_STARTS.items():
        if start.startswith(signature):
            raise InputError(f"this is {what}")
    if start.startswith(_OLE):
        if _LOCKED in source.read():
            raise InputError(
                "this workbook is locked with a password: open it in Excel, remove the password, and save it as .xlsx"
            )
        return "xls"
    if start.startswith(b"PK\x03\x04"):
        return _of_zip(source)
    if b"SPSS PORT FILE" in start[:250] and _NAMED.get(source.suffix) != "text":
        return "por"
    return next((kind for signature, kind in _SIGNATURES.items() if start.startswith(signature)), None)


def _of_zip(source: Source) -> str | None:
    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            names = {name.replace("\\", "/").lstrip("/").casefold() for name in archive.namelist()}
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, IndexError, EOFError):
        return None
    if "word/document.xml" in names:
        raise InputError("this is a document of Word: copy its table to Excel, and save it as .xlsx")
    if "index/document.iwa" in names:
        raise InputError(f"this is {_REFUSED_SUFFIXES['.numbers']}")
    return "xlsb" if "xl/workbook.bin" in names else "ods" if "content.xml" in names else "xlsx"


def _without_signature(source: Source, named: str | None) -> str:
    """Return the kind of a file whose first bytes prove none, which is text if its name allows that."""
    start = source.start(4000)
    for mark in _MARKS:
        start = start.removeprefix(mark)
    plain = start.replace(b"\0", b"")  # text in UTF-16
    if named in ("text", "xls", None):
        expected = "workbook" if source.suffix == ".xls" else "text table"
        if _WEB.match(plain):
            raise InputError(
                f"this is a web page with a table (HTML), as hospital systems export it, not a {expected}: {_AS_XLSX}"
            )
        if _XML.match(plain):
            raise InputError(f"this is XML, as spreadsheet programs export it, not a {expected}: {_AS_XLSX}")
    if named == "xls" and _is_text(plain):
        return "text"
    if named == "dta" and start and start[0] in range(102, 116):  # versions before 117 have no longer signature
        return "dta"
    if named in ("text", "xlsx", "parquet"):
        return named  # whose readers say what is wrong
    if named is None:
        given = shortened(source.suffix) or "no suffix"
        raise InputError(f"tables are read from {_READ_FROM}, not from {given}")
    what = "text; if it is a table, let its name end in .csv" if _is_text(start) else "damaged, or something else"
    raise InputError(f"this is not {_KINDS[named]['called']}, but {what}")


def _is_text(start: bytes) -> bool:
    """Return whether these bytes hold no control characters but those of text."""
    return not re.search(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]", start)
