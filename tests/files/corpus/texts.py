"""Text tables: exports of hospital systems, of German and French Excel, of data capture and of laboratories."""

import gzip

from raw_workbook import zipped

from corpus.messy_file import MessyFile

LAB = [["id", "age", "crp"], ["001", "61", "3.5"], ["002", "48", "12"], ["003", "55", "0.8"]]
GERMAN = [["id", "alter", "crp"], ["001", "61", "3,5"], ["002", "48", "12,0"], ["003", "55", "0,8"]]
DECIMAL = r"decimal comma in crp \('3,5'\)"


def joined(rows, mark=",", end="\n"):
    return end.join(mark.join(row) for row in rows) + end


LAB_TEXT = joined(LAB)

TEXTS = (
    MessyFile("a plain table with leading zeros", "lab.csv", LAB_TEXT, LAB),
    MessyFile("tabs in a csv", "lab.csv", joined(LAB, "\t"), LAB),
    MessyFile("bars", "lab.txt", joined(LAB, "|"), LAB),
    MessyFile(
        "text under the name of the old Excel", "lab.xls", joined(LAB, "\t"), LAB, ("the file is text, although",)
    ),
    MessyFile(
        "tabs in UTF-16 under that name",
        "lab.xls",
        joined(LAB, "\t", "\r\n").encode("utf-16"),
        LAB,
        ("the file is text, although",),
    ),
    MessyFile(
        "a French table in Windows-1252",
        "e.csv",
        "n°;âge\n1;61\n".encode("cp1252"),
        [["n°", "âge"], ["1", "61"]],
        ("read as cp1252",),
    ),
    MessyFile(
        "a German export with decimal commas",
        "labor.csv",
        joined(GERMAN, ";", "\r\n"),
        GERMAN,
        (DECIMAL,),
        notes={"crp": {"decimal": ","}},
    ),
    MessyFile(
        "a comma that may keep thousands apart",
        "cells.csv",
        "id;cells\n1;1,234\n2;5,678\n",
        [["id", "cells"], ["1", "1,234"], ["2", "5,678"]],
        (r"the comma in cells \('1,234'\) may be a decimal mark or keep thousands apart: say decimal=",),
        notes={},
    ),
    MessyFile(
        "the same, said to keep thousands apart",
        "cells.csv",
        "id;cells\n1;1,234\n2;5,678\n",
        [["id", "cells"], ["1", "1,234"], ["2", "5,678"]],
        options={"decimal": "."},
    ),
    MessyFile(
        "thousands with points and decimal commas",
        "cost.csv",
        "id;cost\n1;1.234,50\n2;980,25\n",
        [["id", "cost"], ["1", "1.234,50"], ["2", "980,25"]],
        (r"decimal comma in cost \('1.234,50'\)",),
        notes={"cost": {"decimal": ","}},
    ),
    MessyFile(
        "commas and points in one column",
        "crp.csv",
        "id;crp\n1;3,5\n2;3.5\n",
        [["id", "crp"], ["1", "3,5"], ["2", "3.5"]],
        (r"one column has numbers with a comma and others with a point: crp \(3,5 and 3.5\)",),
    ),
    MessyFile(
        "below the limit of detection, mixed units, dates in three forms",
        "lab.csv",
        "id,crp,creatinine,seen\n1,<5,1.1 mg/dl,31.05.2024\n2,7,88 µmol/l,2024-05-31\n3,NA,1.0,05/31/24\n",
        [
            ["id", "crp", "creatinine", "seen"],
            ["1", "<5", "1.1 mg/dl", "31.05.2024"],
            ["2", "7", "88 µmol/l", "2024-05-31"],
            ["3", "NA", "1.0", "05/31/24"],
        ],
    ),
    MessyFile("empty columns at the end", "lab.csv", joined([[*row, "", ""] for row in LAB]), LAB),
    MessyFile("an empty column inside", "lab.csv", joined([[*row[:2], "", row[2]] for row in LAB]), LAB),
    MessyFile(
        "rows of delimiters",
        "lab.csv",
        joined([*LAB[:2], ["", "", ""], *LAB[2:], ["", "", ""]]),
        LAB,
        numbers=[2, 4, 5],
    ),
    MessyFile(
        "two names over several columns",
        "twice.csv",
        "id,score,score\n1,2,3\n",
        refused=r"'score' over columns 2, 3; rename them in the file, or leave it out: drop=.'#3'.",
        repaired={"drop": ["#3"]},
        rows=[["id", "score"], ["1", "2"]],
        told=("2 of 3 columns are kept",),
    ),
    MessyFile(
        "a column with values and no name",
        "unnamed.csv",
        "id,,score\n1,x,3\n2,y,4\n",
        [["id", "#2", "score"], ["1", "x", "3"], ["2", "y", "4"]],
        ("no name for column 2: read as '#2'",),
    ),
    MessyFile(
        "several names over several columns",
        "twice.csv",
        'id,job,"a,b",job,"a,b",job\n1,2,3,4,5,6\n',
        refused=r"'job' over columns 2, 4, 6, 'a,b' over columns 3, 5; .*: drop=\['#4', '#6', '#5'\]$",
        repaired={"drop": ["#4", "#6", "#5"]},
        rows=[["id", "job", "a,b"], ["1", "2", "3"]],
        told=("3 of 6 columns are kept",),
    ),
    MessyFile(
        "two tables side by side",
        "both.csv",
        "id;age;;drug;dose\n1;61;;a;5\n2;48;;b;7\n3;50;;;\n",
        refused=r"side by side, in columns 1 to 2 and 4 to 5, .*, only=\['#1', '#2'\] or only=\['#4', '#5'\]",
        repaired={"only": ["id", "age"]},
        rows=[["id", "age"], ["1", "61"], ["2", "48"], ["3", "50"]],
        told=("2 of 4 columns are kept",),
    ),
    MessyFile(
        "a header that cannot be told from titles",
        "numbers.csv",
        "Cohort 7,,,\n2021,2022,2023,2024\n1,2,3,4\n",
        refused="no name for columns 2, 3, 4 of 4: .* drop=.'#2', '#3', '#4'.*: header_row=N",
        repaired={"header_row": 2},
        rows=[["2021", "2022", "2023", "2024"], ["1", "2", "3", "4"]],
        told=("the header is row 2: what is above it, in row 1, is left out",),
    ),
    MessyFile(
        "a row of a header that is empty",
        "lab.csv",
        LAB_TEXT,
        options={"header_row": 9},
        refused=r"row 9 holds nothing that could be a header; the first rows with content are 1, 2, 3",
    ),
    MessyFile(
        "an export of data capture with labels that repeat",
        "REDCap.csv",
        "Record ID,Date of visit,Complete?,Date of visit,Pain,Complete?\n"
        "1,a,Complete,b,3,Complete\n2,c,Complete,d,4,Complete\n",
        [
            ["Record ID", "Date of visit", "Complete?", "Date of visit (2)", "Pain", "Complete? (2)"],
            ["1", "a", "Complete", "b", "3", "Complete"],
            ["2", "c", "Complete", "d", "4", "Complete"],
        ],
        (r"REDCap with labels, in which 2 names are those of several .* the second is called 'Date of visit \(2\)'",),
    ),
    MessyFile(
        "an export of data capture",
        "REDCap.csv",
        '"record_id","redcap_event_name","sex","meds___1","meds___2"\n"1","baseline_arm_1","1","0","1"\n'
        '"1","month_6_arm_1","","",""\n"2","baseline_arm_1","2","1","1"\n',
        [["record_id", "sex", "meds___1", "meds___2"], ["1", "1", "0", "1"], ["2", "2", "1", "1"]],
        (r"2 of 3 rows are kept, as `where` says", "4 of 5 columns are kept"),
        options={"where": "redcap_event_name == 'baseline_arm_1'", "drop": ["redcap_event_name"]},
        numbers=[2, 4],
    ),
    MessyFile(
        "an export of a laboratory system",
        "LabVantage.txt",
        "Sample Report\t\t\t\nPrinted: 2024-05-31 10:12\t\t\t\n\nSample ID\tPatient\tAnalyte CRP (mg/L)\tReleased\n"
        "S-001\t0007\t<0.6\t2024-05-30 08:00\nS-002\t0008\t4.1\t2024-05-30 09:10\n\nEnd of report\n",
        [
            ["Sample ID", "Patient", "Analyte CRP (mg/L)", "Released"],
            ["S-001", "0007", "<0.6", "2024-05-30 08:00"],
            ["S-002", "0008", "4.1", "2024-05-30 09:10"],
        ],
        ("the header is row 4", r"row 8 \('End of report'\): notes below the table, left out"),
        numbers=[5, 6],
        notes={"Analyte CRP (mg/L)": {"unit": "mg/L", "label": "Analyte CRP"}},
    ),
    MessyFile(
        "a web page under the name of a workbook",
        "export.xls",
        "<html><body><table><tr><td>id</td></tr></table></body></html>",
        refused="web page .HTML. or XML, .* save it as an Excel workbook",
    ),
    MessyFile(
        "XML of Excel 2003",
        "export.xls",
        '<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"></Workbook>',
        refused="web page .HTML. or XML, .* save it as an Excel workbook",
    ),
    MessyFile("a PDF under the name of a csv", "report.csv", b"%PDF-1.7 ...", refused="a PDF document"),
    MessyFile(
        "text under the name of an OpenDocument", "lab.ods", LAB_TEXT, refused="not an OpenDocument .*, but text"
    ),
    MessyFile(
        "data of R",
        "cohort.rds",
        gzip.compress(b"X\n\0\0\0\3"),
        refused=r"data of R: export .*readRDS\(file.choose\(\)\)",
    ),
    MessyFile("gzip", "lab.csv.gz", gzip.compress(LAB_TEXT.encode()), refused="packed with gzip: unpack it"),
    MessyFile("gzip that is not said", "lab.csv", gzip.compress(LAB_TEXT.encode()), refused="packed with gzip"),
    MessyFile("zip", "lab.zip", zipped({"lab.csv": LAB_TEXT}), refused="this is a zip archive: unpack it"),
    MessyFile("text under the name of gzip", "lab.csv.gz", LAB_TEXT, refused="not from '.gz'"),
    MessyFile("a table of no known format", "cohort.xyz", "a,b\n", refused="not from '.xyz'"),
    MessyFile("a comma and a semicolon", "ab.csv", "a;b,c\n1;2,5\n", refused="split the rows alike: .* sep=, or sep=;"),
    MessyFile("a row too short", "lab.csv", LAB_TEXT + "004,61\n", refused="line 5 has 2 fields, the header has 3"),
    MessyFile(
        "a note between subjects",
        "lab.csv",
        joined(LAB[:3]) + "measured again in May\n" + joined(LAB[3:]),
        refused=r"row 4 .*: one text, unlike those of other rows.*\n.*say rows='2-3,5'",
    ),
    MessyFile(
        "a note above a row too short",
        "lab.csv",
        joined(LAB[:3]) + "measured again in May\n003,55\n004,61,2\n",
        refused=r"row 4 .*\n  say with `rows` which rows are subjects, or delete",
    ),
)
