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
_PARTS = data("file_kinds")["parts_of_zip"]
_OLE, _ZIP = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"PK\x03\x04"
_LOCKED = "EncryptedPackage".encode("utf-16-le")
_MARKUP = re.compile(rb"\s*<(?:!--|\?xml|(?:!doctype|html|head|meta|table|body|style|(?:\w+:)?workbook)\b)", re.I)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def kind_of(source: Source) -> tuple[str, list[str]]:
    """Return what a file is, such as ``text``, and a remark if its name says something else; or raise InputError."""
    named = _NAMED.get(source.suffix)
    found = _by_signature(source) or _by_name(source, named)
    if found == named:
        return found, []
    says = f"ends in {shortened(source.suffix)}" if source.suffix else "does not say so"
    return found, [f"the file is {_KINDS[found]['called']}, although its name {says}: read as such"]


def _by_signature(source: Source) -> str | None:
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
    if start.startswith(_ZIP):
        return _of_zip(source)
    return next((kind for signature, kind in _SIGNATURES.items() if start.startswith(signature)), None)


def _of_zip(source: Source) -> str:
    """Return the kind of a zip archive by a part that only this kind has; xlsx if it has none, or is damaged."""
    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            names = {name.replace("\\", "/").lstrip("/").casefold() for name in archive.namelist()}
    except (zipfile.BadZipFile, NotImplementedError, ValueError, IndexError):
        return "xlsx"
    found = next((kind for part, kind in _PARTS.items() if part in names), "xlsx")
    if found not in _KINDS:
        raise InputError(f"this is {found}")
    return found


def _by_name(source: Source, named: str | None) -> str:
    """Return the kind of a file whose first bytes prove none, which is text if its name allows that."""
    start = source.start(4000)
    plain = re.sub(rb"^\xef\xbb\xbf|^\xff\xfe|^\xfe\xff|\0", b"", start)  # text in UTF-16 too
    is_text = not _CONTROL.search(plain)
    if source.suffix in _REFUSED_SUFFIXES:
        raise InputError(f"this is {_REFUSED_SUFFIXES[source.suffix]}")
    if _MARKUP.match(plain):
        raise InputError(
            "this is a web page (HTML) or XML, as hospital systems and spreadsheet programs export it, not a table or "
            "workbook: open it in Excel or LibreOffice, look at it, and save it as an Excel workbook (.xlsx)"
        )
    if named == "xls" and is_text:
        return "text"
    if named == "dta" and start and start[0] in range(102, 116):  # versions before 117 have no longer signature
        return "dta"
    if named in ("text", "xlsx", "parquet"):
        return named  # whose readers say what is wrong
    if named is None:
        given = shortened(source.suffix) or "no suffix"
        raise InputError(f"tables are read from {_READ_FROM}, not from {given}")
    what = "text; if it is a table, let its name end in .csv" if is_text else "damaged, or something else"
    raise InputError(f"this is not {_KINDS[named]['called']}, but {what}")
