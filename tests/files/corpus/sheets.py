"""Workbooks of Excel and LibreOffice, new and old."""

import datetime

import openpyxl
from old_and_open_workbooks import ods, xls, xlsb

from corpus.messy_file import MessyFile

LAB = [["id", "age", "crp"], ["001", "61", "3.5"], ["002", "48", "12"], ["003", "55", "0.8"]]
CELLS = [["id", "age", "crp"], ["001", 61, 3.5], ["002", 48, 12], ["003", 55, 0.8]]
DAY = datetime.date(2024, 5, 31)


def xlsx(rows, merged=(), **others):
    """Return what writes a workbook with these rows on its first sheet, and `others` on further ones."""

    def write(path):
        book = openpyxl.Workbook()
        book.active.title = "data"
        for title, cells in {"data": rows, **others}.items():
            sheet = book["data"] if title == "data" else book.create_sheet(title)
            for row in cells:
                sheet.append(row)
        for area in merged:
            book["data"].merge_cells(area)
        with path.open("wb") as file:
            book.save(file)

    return write


BLIND = r"cells with errors such as #N/A are read as empty from an \w+ file"
LOGO = [["University Hospital", None, None], [None, None, None], ["Cohort of 2024"], [None]]
SHEETS = (
    MessyFile("a plain workbook", "lab.xlsx", xlsx(CELLS), LAB),
    MessyFile(
        "a workbook under the name of a csv", "lab.csv", xlsx(CELLS), LAB, (r"Excel workbook \(.xlsx\), although",)
    ),
    MessyFile("a workbook under the old name", "lab.xls", xlsx(CELLS), LAB, (r"Excel workbook \(.xlsx\), although",)),
    MessyFile("an old workbook under the new name", "lab.xlsx", xls(CELLS), LAB, ("old format .* although", BLIND)),
    MessyFile(
        "a logo and titles",
        "lab.xlsx",
        xlsx([*LOGO, *CELLS]),
        LAB,
        (r"the header is row 5: what is above it, in rows 1, 3, is left out \('University Hospital', 'Cohort",),
        numbers=[6, 7, 8],
    ),
    MessyFile(
        "a title merged over the width of the table",
        "lab.xlsx",
        xlsx([["Cohort of 2024"], *CELLS], ["A1:C1"]),
        LAB,
        ("the header is row 2",),
        numbers=[3, 4, 5],
    ),
    MessyFile(
        "a title merged over a part of the table",
        "lab.xlsx",
        xlsx([["Cohort of 2024"], *CELLS], ["A1:B1"]),
        LAB,
        ("the header is row 2",),
    ),
    MessyFile(
        "the table begins in the third column",
        "lab.xlsx",
        xlsx([[None, None, *row] for row in [[None], [None], *CELLS]]),
        LAB,
        numbers=[4, 5, 6],
    ),
    MessyFile(
        "headings merged over groups, and a name over two rows",
        "motor.xlsx",
        xlsx(
            [
                ["id", "Motor", None, "Labs", None],
                [None, "tremor", "rigor", "CRP", "Hb"],
                ["p1", "yes", "no", "low", "low"],
                ["p2", "no", "no", "low", "high"],
            ],
            ["A1:A2", "B1:C1", "D1:E1"],
        ),
        [
            ["id", "Motor - tremor", "Motor - rigor", "Labs - CRP", "Labs - Hb"],
            ["p1", "yes", "no", "low", "low"],
            ["p2", "no", "no", "low", "high"],
        ],
        ("the header has two rows, 1 and 2",),
        numbers=[3, 4],
        notes={"Labs - Hb": {"section": "Labs", "label": "Hb"}},
    ),
    MessyFile(
        "a title, groups, units, a total and a footnote at once",
        "all.xlsx",
        xlsx(
            [
                ["Cohort of 2024"],
                [None],
                [None, "Labs", None, "Motor", None],
                ["id", "CRP", "Hb", "UPDRS", "H&Y"],
                [None, "mg/L", "g/dL", "points", None],
                ["001", 3.5, 13.1, 20, 2],
                ["002", 12, 12.4, 31, 3],
                ["003", 0.8, 14.0, 12, 1],
                [None],
                ["Mean", 5.43, 13.17, 21, 2],
                [None],
                ["* first visit only"],
            ],
            ["B3:C3", "D3:E3"],
        ),
        [
            ["id", "Labs - CRP", "Labs - Hb", "Motor - UPDRS", "Motor - H&Y"],
            ["001", "3.5", "13.1", "20", "2"],
            ["002", "12", "12.4", "31", "3"],
            ["003", "0.8", "14", "12", "1"],
        ],
        (
            "the header is row 3: what is above it, in row 1",
            "two rows, 3 and 4",
            "row 5 explains the columns, and is no subject: it holds units",
            r"row 10 \('Mean'\): totals or means of the rows above, left out",
            r"row 12 \('\* first visit only'\)",
        ),
        numbers=[6, 7, 8],
        notes={"Labs - CRP": {"unit": "mg/L", "section": "Labs"}, "Motor - UPDRS": {"unit": "points"}},
    ),
    MessyFile(
        "the second sheet by its number",
        "two.xlsx",
        xlsx([["what"], ["a list"]], visits=CELLS),
        LAB,
        options={"sheet": "2"},
    ),
    MessyFile(
        "a sheet that is not there",
        "two.xlsx",
        xlsx([["what"], ["a list"]], visits=CELLS),
        refused=r"no sheet 'visit'. Did you mean 'visits'\? It has 1: data, 2: visits",
        options={"sheet": "visit"},
    ),
    MessyFile(
        "dates, times and yes or no",
        "days.xlsx",
        xlsx([["id", "seen", "at", "died"], ["1", DAY, datetime.time(8, 30), True]]),
        [["id", "seen", "at", "died"], ["1", "2024-05-31", "08:30:00", "True"]],
    ),
    MessyFile(
        "merged cells among the subjects",
        "merged.xlsx",
        xlsx([*CELLS[:2], ["002", 48, None]], ["A2:A3"]),
        [*LAB[:2], ["", "48", ""]],
        (r"merged cells \(A2:A3\): the value counts for the first cell only",),
    ),
    MessyFile(
        "a total over a blank row",
        "lab.xlsx",
        xlsx([*CELLS, [None], ["Gesamt", 164, None]]),
        LAB,
        (r"row 6 \('Gesamt'\): totals or means of the rows above, left out",),
    ),
    MessyFile(
        "two tables side by side",
        "both.xlsx",
        xlsx([[*row, None, "drug" if at == 0 else "x"] for at, row in enumerate(CELLS[:3])] + [["003", 55, 0.8]]),
        refused="two tables seem to stand side by side, in columns 1 to 3 and 5 to 5",
        repaired={"drop": ["drug"]},
        rows=LAB,
        told=("3 of 4 columns are kept",),
    ),
    MessyFile(
        "a value far to the right of the table",
        "far.xlsx",
        xlsx([*CELLS, ["004", 1, 2, None, "check!"]]),
        [[*LAB[0], "#5"], *[[*row, ""] for row in LAB[1:]], ["004", "1", "2", "check!"]],
        (r"no name for column 5: read as '#5'\. Write a name .*, or leave it out: drop=\['#5'\]$",),
    ),
    MessyFile(
        "the old format",
        "alt.xls",
        xls([*CELLS[:2], ["002", 48, True]]),
        [*LAB[:2], ["002", "48", "True"]],
        ("read as empty from an xls file",),
    ),
    MessyFile(
        "the old format with a title, groups and dates",
        "alt.xls",
        xls(
            [
                ["Ambulanz"],
                [],
                [None, "Labor", None, "Verlauf", None],
                ["id", "CRP", "Hb", "Besuch", "Stadium"],
                ["001", 3.5, 13, DAY, 2],
                ["002", 12, 12.5, DAY, 3],
            ],
            [(2, 2, 1, 2), (2, 2, 3, 4)],
        ),
        [
            ["id", "Labor - CRP", "Labor - Hb", "Verlauf - Besuch", "Verlauf - Stadium"],
            ["001", "3.5", "13", "2024-05-31", "2"],
            ["002", "12", "12.5", "2024-05-31", "3"],
        ],
        ("read as empty from an xls file", "the header is row 3", "two rows, 3 and 4"),
        numbers=[5, 6],
    ),
    MessyFile(
        "a damaged old workbook", "alt.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 600, refused="cannot be read"
    ),
    MessyFile(
        "a locked workbook",
        "locked.xlsx",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500 + "EncryptedPackage".encode("utf-16-le") + b"\0" * 500,
        refused="locked with a password: open it in Excel, remove the password",
    ),
    MessyFile("a binary workbook", "lab.xlsb", xlsb(CELLS), LAB, ("read as empty from an xlsb file",)),
    MessyFile(
        "a binary workbook under the name of an xlsx, with a title",
        "lab.xlsx",
        xlsb([["Cohort of 2024"], *CELLS]),
        LAB,
        ("read as empty from an xlsb file", r"binary workbook of Excel \(.xlsb\), although", "the header is row 2"),
    ),
    MessyFile("an OpenDocument sheet", "lab.ods", ods(CELLS), LAB, (BLIND,)),
    MessyFile(
        "an OpenDocument sheet with a title, dates and a footnote",
        "lab.ods",
        ods(
            [["Ambulanz"], [None], ["id", "seen", "crp"], ["001", DAY, 3.5], ["002", DAY, 4], [None], ["Quelle: Labor"]]
        ),
        [["id", "seen", "crp"], ["001", "2024-05-31", "3.5"], ["002", "2024-05-31", "4"]],
        (BLIND, "the header is row 3", "row 7 .*: notes below the table"),
        numbers=[4, 5],
    ),
)
