"""Workbooks of Excel and LibreOffice, new and old."""

from corpus.messy_file import MessyFile, stored

OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
LOCKED = OLD + b"\0" * 500 + "EncryptedPackage".encode("utf-16-le") + b"\0" * 500
FILES, SHARED = stored("sheets")
CELLS = SHARED["CELLS"]
SHEETS = (
    *FILES,
    MessyFile("a damaged old workbook", "alt.xls", OLD + b"x" * 600, refused="cannot be read"),
    MessyFile(
        "a locked workbook",
        "locked.xlsx",
        LOCKED,
        refused="locked with a password: open it in Excel, remove the password",
    ),
)
