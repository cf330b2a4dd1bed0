"""Texts that would become a formula, a link or a command in a file that a spreadsheet or word processor opens."""

import contextlib
import csv
import io
import re
import shutil
import subprocess
import zipfile

import numpy as np
import openpyxl
import pandas as pd
from hostile_texts import IN_REPORTS

from attack.attempts import Attack, ImpossibleHereError
from clinclust.reporting.assignments import write_inert_csv

_FORMULA = re.compile(r"[=+\-@＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def spreadsheets(count, rng, folder):
    """Open a csv with all payloads in LibreOffice under other separators and quotes, and count formulas."""
    program = shutil.which("soffice")
    if program is None:
        raise ImpossibleHereError("LibreOffice is not installed")
    settings = [(separator, quote) for separator in (44, 59, 9, 124) for quote in (34, 39, 0)]
    ids = [payload.replace("\x00", "") for payload in IN_REPORTS]
    table = pd.DataFrame({"who": ids, "then": ids[::-1], "=n": np.arange(len(ids)) - 5.5})
    write_inert_csv(table, folder / "t.csv")
    for number in range(count):
        separator, quote = settings[number % len(settings)]
        yield _formulas(program, folder, separator, quote)


def _formulas(program, folder, separator, quote):
    arguments = [program, f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", "xlsx"]
    arguments += [f"--infilter=CSV:{separator},{quote},76,1", "--outdir", str(folder), str(folder / "t.csv")]
    subprocess.run(arguments, check=True, capture_output=True)
    with zipfile.ZipFile(folder / "t.xlsx") as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml")
    found = re.findall(rb"<f[ >][^<]*", sheet)
    assert sheet.count(b"<row") > len(IN_REPORTS) // 2
    return f"separator {separator}, quote {quote}: {len(found)} formulas, as {found[0][:60]!r}" if found else None


def fault_in_workbook(path):
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            if not name.startswith("xl/charts/") and re.search(rb"<f[ >/]", content):
                return f"a formula in {name}"
            if b"ddeLink" in content or b'TargetMode="External"' in content or "external" in name.lower():
                return f"a link in {name}"
    with contextlib.closing(openpyxl.load_workbook(path, read_only=True)) as workbook:
        for cell in (cell for sheet in workbook for row in sheet.iter_rows() for cell in row):
            if isinstance(cell.value, str) and cell.data_type != "s":
                return f"{cell.coordinate} is no text"
    return None


def fault_in_document(path):
    with zipfile.ZipFile(path) as archive:
        if b'TargetMode="External"' in archive.read("word/_rels/document.xml.rels"):
            return "a link"
        content = archive.read("word/document.xml")
    found = re.search(rb"<w:(instrText|fldChar|fldSimple|hyperlink|object|altChunk|pict)\b", content)
    return f"the element {found[1]!r}" if found else None


def fault_in_csv(text):
    """Return the first field that begins a formula, however the file is divided."""
    readings = [re.split(f"[{separator}\r\n]", text) for separator in ",;\t|"]
    readings += [[cell for row in csv.reader(io.StringIO(text), delimiter=mark) for cell in row] for mark in ",;\t|"]
    for cell in (cell for reading in readings for cell in reading):
        seen = cell.strip(' \t\r\n\x0b\x0c\xa0\ufeff\u200b"')
        if _FORMULA.match(seen) and not _NUMBER.fullmatch(re.split(r"[,;|\t]", seen)[0]):
            return f"the field {cell[:40]!r}"
    return None


ATTACKS = (Attack("payloads: csv opened by a spreadsheet program", spreadsheets, smoke=1, full=12),)
