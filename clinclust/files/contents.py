"""Recognise what a file is by its first bytes; its name may say something else."""

from __future__ import annotations

import re
import zipfile

from clinclust.errors import InputError
from clinclust.files.cell_text import shortened
from clinclust.files.source import Source

__all__ = ["READ_FROM", "TEXT_SUFFIXES", "kind_of"]

TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".tab", ".dat", ".asc")
_KINDS = {
    **dict.fromkeys(TEXT_SUFFIXES, "text"),
    **{".xlsx": "xlsx", ".xlsm": "xlsx", ".xls": "xls", ".xlsb": "xlsb", ".ods": "ods", ".parquet": "parquet"},
    **{".sav": "sav", ".zsav": "sav", ".por": "por", ".dta": "dta", ".sas7bdat": "sas7bdat", ".xpt": "xpt"},
}
READ_FROM = ".csv, .tsv, .txt, .xlsx, .xls, .xlsb, .ods, .parquet, .sav, .zsav, .por, .dta, .sas7bdat and .xpt"
_CALLED = {
    "text": "text",
    "xlsx": "an Excel workbook (.xlsx)",
    "xls": "a workbook of the old format of Excel (.xls)",
    "xlsb": "a binary workbook of Excel (.xlsb)",
    "ods": "an OpenDocument sheet (.ods)",
    "parquet": "a parquet file",
    "sav": "an SPSS file (.sav)",
    "por": "a portable SPSS file (.por)",
    "dta": "a Stata file (.dta)",
    "sas7bdat": "a SAS file (.sas7bdat)",
    "xpt": "a SAS transport file (.xpt)",
}
_AS_XLSX = "open it in Excel or LibreOffice, look at it, and save it as an Excel workbook (.xlsx)"
_IN_R = "in R: write.csv({read}, 'cohort.csv', row.names = FALSE, na = '')"
_REFUSED_SUFFIXES = {
    ".rds": f"data of R: export them {_IN_R.format(read='readRDS(file.choose())')}",
    **dict.fromkeys(
        (".rda", ".rdata"), f"data of R: export them {_IN_R.format(read='get(load(file.choose())[1])')}, or give .rds"
    ),
    ".numbers": "a document of Numbers: export it to Excel (.xlsx) or to .csv",
    ".mdb": "a database of Access: export the table to Excel (.xlsx)",
    ".accdb": "a database of Access: export the table to Excel (.xlsx)",
    ".json": "JSON, not a table: export it as .csv",
    ".xml": f"XML, not a table: if a spreadsheet program wrote it, {_AS_XLSX}",
}
_SAS = bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011")
_SIGNATURES = (
    (b"$FL2", "sav"),
    (b"$FL3", "sav"),
    (b"<stata_dta>", "dta"),
    (_SAS, "sas7bdat"),
    (b"HEADER RECORD*******L", "xpt"),
    (b"PAR1", "parquet"),
)
_REFUSED_STARTS = (
    (b"%PDF", "a PDF document: ask for the table as .csv or .xlsx"),
    (b"SQLite format 3", "a database of SQLite: export the table as .csv"),
    (b"ARROW1", "an Arrow file: write it as .parquet or .csv"),
    (b"RDX", _REFUSED_SUFFIXES[".rda"]),
    (b"{\\rtf", f"a text document (RTF): {_AS_XLSX}"),
    (b"7z\xbc\xaf", "a 7z archive: unpack it, and give the file in it"),
    (b"Rar!", "a rar archive: unpack it, and give the file in it"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LOCKED = "EncryptedPackage".encode("utf-16-le")
_PORTABLE = re.compile(rb"SPSS PORT FILE", re.DOTALL)
_WEB = re.compile(rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|meta|table|body|style)\b", re.I | re.S)
_XML = re.compile(rb"\s*<\?xml|\s*<(?:\w+:)?Workbook\b", re.I)
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def kind_of(source: Source) -> tuple[str, list[str]]:
    """Return what a file is, and a remark if its name says something else.

    Returns
    -------
    str
        ``text``, ``xlsx``, ``xls``, ``xlsb``, ``ods``, ``parquet``, ``sav``, ``por``, ``dta``, ``sas7bdat`` or ``xpt``.
    list of str

    Raises
    ------
    InputError
        If it is nothing that is read. The message says what it is, as far as it can be known.
    """
    named = _KINDS.get(source.suffix)
    found = _by_content(source)
    if found is None:
        if source.suffix in _REFUSED_SUFFIXES:
            raise InputError(f"this is {_REFUSED_SUFFIXES[source.suffix]}")
        found = _without_signature(source, named)
    if found == named:
        return found, []
    if source.suffix == ".xls" and found == "text":
        return found, ["the file is text, not a workbook, although its name ends in .xls: read as text"]
    said = (
        f"although its name ends in {shortened(source.suffix)}"
        if source.suffix
        else "although its name does not say so"
    )
    return found, [f"the file is {_CALLED[found]}, {said}: read as such"]


def _by_content(source: Source) -> str | None:
    """Return the kind that the first bytes prove, None if they prove none, or raise InputError."""
    start = source.start(1000)
    for signature, what in _REFUSED_STARTS:
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
    if _PORTABLE.search(start[:250]) and source.suffix not in TEXT_SUFFIXES:
        return "por"
    return next((kind for signature, kind in _SIGNATURES if start.startswith(signature)), None)


def _of_zip(source: Source) -> str | None:
    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            names = {name.replace("\\", "/").lstrip("/").casefold() for name in archive.namelist()}
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, IndexError, EOFError):
        return None
    if "xl/workbook.bin" in names:
        return "xlsb"
    if "word/document.xml" in names:
        raise InputError("this is a document of Word: copy its table to Excel, and save it as .xlsx")
    if "index/document.iwa" in names:
        raise InputError(f"this is {_REFUSED_SUFFIXES['.numbers']}")
    if "content.xml" in names:
        return "ods"
    return "xlsx"


def _without_signature(source: Source, named: str | None) -> str:
    """Return the kind of a file whose first bytes prove none, which is text if its name allows that."""
    start = source.start(4000)
    for mark in _MARKS:
        start = start.removeprefix(mark)
    plain = start.replace(b"\0", b"")  # text in UTF-16
    if named in ("text", "xls") or named is None:
        if _WEB.match(plain):
            raise InputError(
                f"this is a web page with a table (HTML), as hospital systems export it, not a {_expected(source)}: "
                f"{_AS_XLSX}"
            )
        if _XML.match(plain):
            raise InputError(f"this is XML, as spreadsheet programs export it, not a {_expected(source)}: {_AS_XLSX}")
    if named == "xls" and _is_text(plain):
        return "text"
    if named == "dta" and start and start[0] in range(102, 116):  # versions before 117 have no longer signature
        return "dta"
    if named in ("text", "xlsx", "parquet"):
        return named  # whose readers say what is wrong
    if named is None:
        given = shortened(source.suffix) or "no suffix"
        raise InputError(f"tables are read from {READ_FROM}, not from {given}")
    what = "text; if it is a table, let its name end in .csv" if _is_text(start) else "damaged, or something else"
    raise InputError(f"this is not {_CALLED[named]}, but {what}")


def _expected(source: Source) -> str:
    return "workbook" if source.suffix == ".xls" else "text table"


def _is_text(start: bytes) -> bool:
    """Return whether these bytes hold no control characters but those of text."""
    return not re.search(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]", start)
