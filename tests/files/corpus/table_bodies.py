"""Tables without a header, and with rows among the subjects that are none: legends, totals, headings, other tables."""

from old_and_open_workbooks import xls

from corpus.messy_file import MessyFile
from corpus.sheets import BLIND, xlsx
from corpus.texts import joined

HEADER = ["id", "age", "crp", "sex"]
SUBJECTS = [
    ["P01", "61", "3.5", "m"],
    ["P02", "48", "12", "f"],
    ["P03", "55", "0.8", "f"],
    ["P04", "72", "4.1", "m"],
    ["P05", "39", "2.2", "m"],
    ["P06", "66", "7.9", "f"],
]
TABLE = [HEADER, *SUBJECTS]
NUMBERED = [f"column {place}" for place in range(1, 5)]
LIKE_A_SUBJECT = (
    r"row 1 is where the names of the columns are expected, but looks like a subject \('P01', '61', '3.5', 'm' are "
    r"like the values below\): .*header_row=0, and the columns are named 'column 1', .* say header_row=1"
)
NO_HEADER = "the file has no header, as header_row=0 says: its 4 columns are named by number"


def typed(rows):
    """Return rows with numbers and empty cells as a spreadsheet holds them."""
    return [[float(text) if text[:1].isdigit() else text or None for text in row] for row in rows]


def headerless(trap, name, make, told=()):
    """Return a file whose first row is a subject: refused, and read with header_row=0."""
    return MessyFile(
        trap,
        name,
        make,
        refused=LIKE_A_SUBJECT,
        repaired={"header_row": 0},
        rows=[NUMBERED, *SUBJECTS],
        told=(*told, NO_HEADER),
        numbers=[1, 2, 3, 4, 5, 6],
    )


def asked(trap, rows, refused, repaired, kept=TABLE, told=(), name="cohort.csv", numbers=None, make=None):
    """Return a file that is asked about, and read with the rows that the question proposes."""
    return MessyFile(
        trap,
        name,
        joined(rows) if make is None else make,
        refused=refused,
        repaired=repaired,
        rows=kept,
        told=(*told, f"rows are read as subjects, as rows={repaired['rows']!r} says"),
        numbers=numbers,
    )


WITHOUT_HEADER = (
    headerless("no header", "cohort.csv", joined(SUBJECTS)),
    headerless("no header in a workbook", "cohort.xlsx", xlsx(typed(SUBJECTS))),
    headerless("no header in an old workbook", "cohort.xls", xls(typed(SUBJECTS)), (BLIND,)),
    MessyFile(
        "no header, and a first subject with missing values",
        "cohort.csv",
        "P01;;NA;m\n" + joined(SUBJECTS[1:], ";"),
        refused=r"row 1 .* looks like a subject \('P01', 'm' are like the values below\)",
        repaired={"header_row": 0},
        rows=[NUMBERED, ["P01", "", "NA", "m"], *SUBJECTS[1:]],
        told=(NO_HEADER,),
    ),
    MessyFile(
        "no header, only dates and numbers",
        "visits.csv",
        "31.05.2024;7\n01.06.2024;3\n02.07.2024;9\n",
        refused=r"row 1 .* \('31.05.2024', '7' are like the values below\)",
        repaired={"header_row": 0},
        rows=[["column 1", "column 2"], ["31.05.2024", "7"], ["01.06.2024", "3"], ["02.07.2024", "9"]],
        told=("its 2 columns are named by number",),
    ),
    MessyFile(
        "no header, only zeros and ones",
        "signs.csv",
        "1,0,0,1\n0,0,1,1\n1,1,0,1\n",
        refused="row 1 .* looks like a subject",
        repaired={"header_row": 0},
        rows=[NUMBERED, ["1", "0", "0", "1"], ["0", "0", "1", "1"], ["1", "1", "0", "1"]],
        told=(NO_HEADER,),
    ),
    MessyFile(
        "a title above a table without a header",
        "cohort.xlsx",
        xlsx([["Cohort of 2024"], [None], *typed(SUBJECTS)]),
        refused="no name for columns 2, 3, 4 of 4: .* if no row holds names, header_row=0; .* rows=FIRST-LAST",
        repaired={"header_row": 0, "rows": "3-"},
        rows=[NUMBERED, *SUBJECTS],
        told=(NO_HEADER, "6 rows are read as subjects, as rows='3-' says"),
        numbers=[3, 4, 5, 6, 7, 8],
    ),
    MessyFile(
        "a title above a text without a header",
        "cohort.csv",
        "Cohort of 2024\n\n" + joined(SUBJECTS),
        refused=r"the header has 1: .*\(header_row=N, or 0 if there is no header\)",
        repaired={"header_row": 0, "rows": "3-"},
        rows=[NUMBERED, *SUBJECTS],
        told=(NO_HEADER, "6 rows are read as subjects, as rows='3-' says"),
    ),
    MessyFile(
        "names that are days",
        "days.csv",
        "id;0;7;14\nP1;13.7;13.3;11.8\nP2;11.3;13.1;12.9\nP3;9.9;10.1;10.4\n",
        refused="row 1 .* looks like a subject .* if the names stand in row 1, say header_row=1",
        repaired={"header_row": 1},
        rows=[
            ["id", "0", "7", "14"],
            ["P1", "13.7", "13.3", "11.8"],
            ["P2", "11.3", "13.1", "12.9"],
            ["P3", "9.9", "10.1", "10.4"],
        ],
    ),
)

BELOW_THE_HEADER = (
    MessyFile(
        "a legend below the header",
        "cohort.csv",
        joined([HEADER, ["", "", "", "m = male; f = female"], *SUBJECTS]),
        TABLE,
        (r"row 2 explains the columns, and is no subject: it holds what codes mean \('m = male; f = female'\)",),
        numbers=[3, 4, 5, 6, 7, 8],
        notes={"sex": {"description": "m = male; f = female"}},
    ),
    MessyFile(
        "units and a legend below the header of a workbook",
        "cohort.xlsx",
        xlsx([HEADER, [None, "years", "mg/L", None], ["code", None, "0=none", "m=male, f=female"], *typed(SUBJECTS)]),
        TABLE,
        ("row 2 explains the columns, and is no subject: it holds units", "row 3 explains the columns"),
        numbers=[4, 5, 6, 7, 8, 9],
        notes={"crp": {"unit": "mg/L", "description": "0=none"}},
    ),
    MessyFile(
        "the types of the columns below the header",
        "cohort.csv",
        joined([HEADER, ["text", "integer", "float", "category"], *SUBJECTS]),
        TABLE,
        ("row 2 explains the columns, and is no subject: it holds the types of the columns",),
    ),
    MessyFile(
        "questions and ids of a survey program",
        "survey.csv",
        "Q1,Q2,Q3\nHow old?,Sex,Anything else?\n"
        '"{""ImportId"":""QID1""}","{""ImportId"":""QID2""}","{""ImportId"":""QID3""}"\n'
        "61,m,no\n48,f,tired\n",
        [["Q1", "Q2", "Q3"], ["61", "m", "no"], ["48", "f", "tired"]],
        ("row 2 explains the columns", "row 3 explains the columns"),
        numbers=[4, 5],
        notes={"Q1": {"description": "How old?"}},
    ),
    asked(
        "a remark below the header in one column",
        [HEADER, ["", "", "", "see the appendix"], *SUBJECTS],
        r"row 2 holds nothing in the first column.* \('see the appendix'\).*\n.* say rows='3-8'; .*'2-8",
        {"rows": "3-8"},
        told=("row 2 explains the columns",),
    ),
    asked(
        "a legend beside a value",
        [HEADER, ["1", "", "", "m = male"], *SUBJECTS],
        "row 2 holds what codes mean",
        {"rows": "2-"},
        kept=[HEADER, ["1", "", "", "m = male"], *SUBJECTS],
    ),
    MessyFile(
        "a first subject with words for what is not known",
        "cohort.csv",
        joined([HEADER, ["P00", "unknown", "not done", "m"], *SUBJECTS]),
        [HEADER, ["P00", "unknown", "not done", "m"], *SUBJECTS],
    ),
)

WARDS = [["ward", *HEADER], *[["A", *row] for row in SUBJECTS[:3]], *[["B", *row] for row in SUBJECTS[3:]]]
SUMS = [["Summe A", "", "164", "16.3", ""], ["Summe B", "", "177", "14.2", ""]]
WRONG = [["Summe A", "", "999", "99", ""], ["Summe B", "", "999", "99", ""]]
BLANK = [["", "", "", "", ""]]


def by_ward(totals, more=()):
    """Return a table of two wards with a row of totals and an empty row below each."""
    return [*WARDS[:4], totals[0], *BLANK, *WARDS[4:], totals[1], *more]


MORE = [[f"P{number}", f"{number}", "1", "m"] for number in range(10, 30)]
INITIALS = [[name, *row[1:]] for name, row in zip(["GK", "SD", "MW", "LF", "N", "MAX"], SUBJECTS, strict=True)]
NAMED = [
    [name, *row[1:]]
    for name, row in zip(
        ["Total B.", "Maier C.", "Eva Media", "Huber A.", "Summer N.", "Alle Maier"], SUBJECTS, strict=True
    )
]
RESPONSES = [
    [f"P{at:02}", ["total", "partial", "none"][at % 3], "" if at == 9 else f"{40 + at}", f"{at}"] for at in range(60)
]
BETWEEN = (
    MessyFile(
        "sums below each ward, and of all of them",
        "wards.xlsx",
        xlsx(
            [
                [None if text == "" else text for text in row]
                for row in by_ward(SUMS, [["Gesamt", "", "341", "30.5", ""]])
            ]
        ),
        WARDS,
        (r"rows 5, 10, 11 .*: totals",),
        numbers=[2, 3, 4, 7, 8, 9],
    ),
    MessyFile(
        "means without a name between subjects",
        "wards.csv",
        joined([*TABLE[:4], ["", "54.7", "5.43", ""], *TABLE[4:], *MORE]),
        [*TABLE, *MORE],
        (r"row 5 \('54.7'\): totals or means of the rows above, left out",),
    ),
    MessyFile(
        "means, their scatter and quartiles below, by short words",
        "cohort.csv",
        joined(
            [
                *TABLE,
                ["Média", "56.8", "5.1", ""],
                ["DP", "12.1", "4.1", ""],
                ["P25", "49.8", "2.5", ""],
                ["IQR", "15.0", "4.4", ""],
                ["SEM", "4.9", "1.7", ""],
            ]
        ),
        TABLE,
        (r"rows 8 to 12 .*: totals or means",),
    ),
    asked(
        "sums that do not add up",
        by_ward(WRONG),
        r"rows 5, 10 \('Summe A', 'Summe B'\): the word of a total .* no sums.*\n.*rows='2-4,7-9';",
        {"rows": "2-4,7-9"},
        kept=WARDS,
    ),
    MessyFile(
        "counts and means of groups, with their word last",
        "cohort.csv",
        joined(
            [
                *TABLE[:4],
                ["Station 1 gesamt", "3", "", ""],
                ["Surgery: mean", "54.7", "", ""],
                *TABLE[4:],
                ["Ward 2 total", "", "3", ""],
                ["Alle Patienten", "6", "", ""],
                ["N. pazienti", "", "6", ""],
                ["Ø", "56.8", "", ""],
            ]
        ),
        TABLE,
        (
            r"rows 5, 6, 10, 11, 12 and 1 more "
            r"\('Station 1 gesamt', 'Surgery: mean', 'Ward 2 total', 'Alle Patienten', 'N. pazienti' and 1 more\)",
        ),
        numbers=[2, 3, 4, 7, 8, 9],
    ),
    asked(
        "norms among the subjects",
        [HEADER, ["Normwert", "", "<5", ""], *SUBJECTS],
        r"row 2 \('Normwert'\): the word of a total.*\n.*rows='3-8'; .*'2-8",
        {"rows": "3-8"},
        numbers=[3, 4, 5, 6, 7, 8],
    ),
    asked(
        "a count of a group that is wrong",
        [*TABLE[:4], ["Surgery total", "31", "", ""], *TABLE[4:]],
        r"row 5 \('Surgery total'\): the word of a total.*\n.*rows='2-4,6-8';",
        {"rows": "2-4,6-8"},
    ),
    MessyFile(
        "subjects whose names begin or end with the words of totals",
        "cohort.csv",
        joined([HEADER, *NAMED]),
        [HEADER, *NAMED],
    ),
    MessyFile(
        "a level that is the word of a total",
        "cohort.csv",
        joined([["id", "response", "age", "crp"], *RESPONSES]),
        [["id", "response", "age", "crp"], *RESPONSES],
    ),
    MessyFile(
        "a subject with a level that is the word of a total, and with the mean of the others",
        "cohort.csv",
        joined([["id", "response", "crp"], ["P01", "none", "4.0"], ["P02", "partial", "6.0"], ["P03", "total", "5.0"]]),
        [["id", "response", "crp"], ["P01", "none", "4.0"], ["P02", "partial", "6.0"], ["P03", "total", "5.0"]],
    ),
    MessyFile(
        "subjects whose initials are the words of totals",
        "cohort.csv",
        joined([HEADER, *INITIALS]),
        [HEADER, *INITIALS],
    ),
    MessyFile(
        "headings between subjects",
        "wards.csv",
        joined([HEADER, ["Station A", "", "", ""], *SUBJECTS[:3], ["Station B", "", "", ""], *SUBJECTS[3:]]),
        TABLE,
        (r"rows 2, 6 \('Station A', 'Station B'\): headings between the subjects",),
        numbers=[3, 4, 5, 7, 8, 9],
    ),
    asked(
        "a remark between subjects",
        [*TABLE[:4], ["moved house", "", "", ""], *TABLE[4:]],
        r"row 5 \('moved house'\): one text, unlike those of other rows, .*\n.*rows='2-4,6-8';",
        {"rows": "2-4,6-8"},
    ),
    MessyFile(
        "a subject between others of whom only the number is known",
        "cohort.csv",
        joined([*TABLE[:4], ["P33", "", "", ""], *TABLE[4:]]),
        [*TABLE[:4], ["P33", "", "", ""], *TABLE[4:]],
    ),
    MessyFile(
        "the header repeated in other letters",
        "cohort.csv",
        joined([*TABLE[:4], ["ID", "Age ", "CRP", "Sex"], *TABLE[4:]]),
        TABLE,
        ("row 5 .*: the header again, left out",),
    ),
)

SMALL = [["group", "n", "mean", ""], ["A", "3", "5.4", ""], ["B", "3", "4.7", ""]]
OTHER_ORDER = [["id", "sex", "age", "crp"], ["Q1", "m", "61", "3"], ["Q2", "f", "50", "4"]]
PAGE = [["", "", "", ""], HEADER]
TWO_TABLES = (
    asked(
        "a small table below the subjects",
        [*TABLE, ["", "", "", ""], *SMALL],
        r"rows 9 to .*: a second table .* below an empty row, with words in "
        r"columns of numbers\n.*rows='2-7'; .*'2-11",
        {"rows": "2-7"},
    ),
    asked(
        "a second cohort with its columns in another order",
        [*TABLE, *OTHER_ORDER],
        r"rows 8 to 10 .*: a second table seems to begin here: names of columns, in another order or choice",
        {"rows": "2-7"},
    ),
    asked(
        "the second of two tables",
        [*TABLE, ["", "", "", ""], *OTHER_ORDER],
        "rows 9 to .*: a second table seems to begin here",
        {"rows": "10-11", "header_row": 9},
        kept=OTHER_ORDER,
        told=("the header is row 9: what is above it",),
        numbers=[10, 11],
    ),
    asked(
        "rows below an empty row that lack what all others have",
        [*TABLE, ["", "", "", ""], ["A", "3", "", ""], ["B", "3", "", ""]],
        "rows 9, 10 .*: a second table .* without a value in 'crp', 'sex', which all rows above it have",
        {"rows": "2-7"},
    ),
    asked(
        "a second table of another width",
        [],
        r"rows 9, 10 \('group', 'A'\): a second table seems to begin here.*\n.* none of these .*, say rows='2-7'$",
        {"rows": "2-7"},
        make=joined(TABLE) + "\ngroup,n\nA,3\n",
    ),
    asked(
        "excluded subjects below a title",
        [],
        r"row 10 .'Dropouts'.: one text, unlike those of other rows",
        {"rows": "2-7"},
        make=joined(TABLE) + "\n\nDropouts\n" + joined(MORE[:2]),
    ),
    asked(
        "the header again below an empty row, with other numbers",
        [*TABLE, ["", "", "", ""], HEADER, *MORE[3:]],
        r"rows 10 to 26 .*: a second table .*: the header again.*\n.* rows='2-7'; .*'2-7,10-26",
        {"rows": "2-7"},
    ),
    MessyFile(
        "the header again below an empty row on every page",
        "cohort.csv",
        joined([*TABLE[:3], *PAGE, *TABLE[5:], *PAGE, *TABLE[3:5]]),
        [*TABLE[:3], *TABLE[5:], *TABLE[3:5]],
        ("rows 5, 9 .*: the header again, left out",),
    ),
    MessyFile(
        "a subject with words instead of numbers",
        "cohort.csv",
        joined([*TABLE, ["P07", "refused", "haemolysed", "m"]]),
        [*TABLE, ["P07", "refused", "haemolysed", "m"]],
    ),
    MessyFile("an empty row between subjects", "cohort.csv", joined([*TABLE[:4], ["", "", "", ""], *TABLE[4:]]), TABLE),
    MessyFile(
        "rows that are no rows",
        "cohort.csv",
        joined(TABLE),
        refused=r"rows='5-2': '5-2' is no range of rows; write the first and the last row",
        options={"rows": "5-2"},
    ),
    MessyFile(
        "rows that hold nothing",
        "cohort.csv",
        joined(TABLE),
        refused="rows='90-': none of these rows below the header holds anything",
        options={"rows": "90-"},
    ),
    MessyFile(
        "rows that hold the header",
        "cohort.csv",
        joined(TABLE),
        refused="rows='1-4' names row 1 as a subject, but the names of the columns are read from it",
        options={"rows": "1-4"},
    ),
)

TABLE_BODIES = (*WITHOUT_HEADER, *BELOW_THE_HEADER, *BETWEEN, *TWO_TABLES)
