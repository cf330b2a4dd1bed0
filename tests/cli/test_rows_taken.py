"""Which rows were taken is recorded, applied again, and said: in the schema, the model, the reports, every command."""

import json
import shlex
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from command_line import SCHEMA, cohort, refused

from clinclust import MAPDP, FeatureSchema
from clinclust.cli import main
from clinclust.files.selection.row_choice import RowChoice

WHERE = "visit == 'baseline' and age >= 45,5"
CHOICE = ["--where", WHERE, "--one-row-per", "Record ID", "--by", "seen", "--keep", "last"]
FAST = ["--n-restarts", "2", "--associations", "none", "--as-published"]
VISITS_SCHEMA = SCHEMA.replace("{name: who, role: id}", "{name: Record ID, role: id}").replace(
    "features:", "other_columns: ignore\nfeatures:"
)
KEPT = "those where visit == 'baseline' and age >= 45,5"
ROWS = f"{KEPT}, and one row for each Record ID, the last by seen"


@pytest.fixture
def visits(here):
    """Forty subjects with a second row each at baseline, and a later visit; dates with the day first."""
    frame = cohort().rename(columns={"who": "Record ID"})
    first = frame.assign(visit="baseline", seen="25.02.2020")
    second = frame.assign(visit="baseline", seen="03.03.2020", falls=frame["falls"] + 1)
    later = frame.assign(visit="month 12", seen="01.04.2021")
    table = pd.concat([first, second, later], ignore_index=True)
    table.to_csv("visits.csv", index=False)
    Path("visits_schema.yaml").write_text(VISITS_SCHEMA, encoding="utf-8")
    return second[second["age"].astype(float) >= 45.5].drop(columns=["visit", "seen"])


def fit(out, *more, schema="visits_schema.yaml"):
    return main(["fit", "visits.csv", "--schema", schema, "--out", out, *FAST, *more])


def texts_of(folder):
    """Return all that the reports of a folder say, by the name of the sheet or page."""
    book = openpyxl.load_workbook(Path(folder, "subtypes.xlsx"))
    sheets = {
        sheet.title: " ".join(str(cell) for row in sheet.iter_rows(values_only=True) for cell in row if cell)
        for sheet in book
    }
    page = Path(folder, "subtypes.html").read_text(encoding="utf-8")
    return sheets | {"page": page.replace("&#x27;", "'").replace("&gt;", ">").replace("&lt;", "<")}


@pytest.mark.simulation
def test_the_way_from_draft_to_assign_takes_the_same_rows(visits, capsys):
    assert main(["draft", "visits.csv", "--out", "drafted.yaml", *CHOICE]) == 0
    out, _ = capsys.readouterr()
    assert FeatureSchema.from_yaml("drafted.yaml").rows == RowChoice(WHERE, "Record ID", "last", "seen", "day-first")
    command = shlex.split(next(line for line in out.splitlines() if line.startswith("next: "))[len("next: ") :])
    assert command == ["clinclust", "fit", "visits.csv", "--schema", "drafted.yaml", "--out", "visits-subtypes"]
    assert main([*command[1:], *FAST]) == 0
    assert f"note: visits.csv: rows are taken as drafted.yaml says: {ROWS}" in capsys.readouterr().err
    model = MAPDP.load("visits-subtypes")
    assert len(model.labels_) == len(visits)
    assert model.schema_ == FeatureSchema.from_yaml("drafted.yaml")
    assert main(["report", "visits.csv", "--model", "visits-subtypes", "--out", "again", "--associations", "none"]) == 0
    assert f"rows are taken as for the fit (--all-rows takes all): {ROWS}" in capsys.readouterr().err
    assert main(["assign", "visits.csv", "--model", "visits-subtypes", "--out", "given.csv"]) == 0
    assert Path("given.csv").read_bytes() == Path("visits-subtypes/assignments.csv").read_bytes()


def test_reports_say_which_rows_were_taken_and_why_others_were_not(visits):
    assert fit("out", *CHOICE) == 0
    counts = json.loads(Path("out/model.json").read_text(encoding="utf-8"))["fit"]["row_counts_"]
    n = len(visits)
    assert counts == {"in_table": 120, "not_meeting": 120 - 2 * n, "unknown": 0, "further": n, "outside": 0}
    said = (
        f"Of 120 rows of the table, {n} were analysed: {KEPT} ({120 - 2 * n} left out), and one row for each "
        f"Record ID, the last by seen ({n} left out)."
    )
    texts = texts_of("out")
    assert said in texts["Methods"]
    assert said in texts["page"]
    assert said[:60] in texts["Summary"]


def test_a_condition_is_text_in_reports(visits):
    """It begins no formula and holds no markup, whatever its values are."""
    condition = "visit == 'baseline' and seen == '25.02.2020' and visit != '<b onclick=x>=1+1</b>'"
    assert fit("out", "--where", condition) == 0
    assert "<b onclick" not in Path("out/subtypes.html").read_text(encoding="utf-8")
    assert condition in texts_of("out")["Methods"]
    book = openpyxl.load_workbook("out/subtypes.xlsx")
    assert all(cell.data_type != "f" for row in book["Methods"].iter_rows() for cell in row)


def test_without_a_choice_reports_say_that_all_rows_were_taken(here):
    assert main(["fit", "cohort.csv", "--schema", "schema.yaml", "--out", "out", *FAST]) == 0
    assert "All 40 rows of the table were analysed." in texts_of("out")["Methods"]
    assert not MAPDP.load("out").schema_.rows


@pytest.mark.parametrize(
    ("where", "shown", "hidden"),
    [
        ("falls < 3", "those where falls < 3 ([c] left out)", "60 rows"),
        ("falls == 0", "those where falls == 0 ([c] left out)", "60 rows"),  # a value that everybody has
        ("falls != 9", "those that meet a condition on falls, which is withheld [c]", "!= 9"),
        ("`Record ID` != 'p003'", "those that meet a condition on Record ID, which is withheld [c]", "p003"),
    ],
)
def test_a_shared_report_withholds_small_numbers_of_rows_and_named_subjects(visits, where, shown, hidden):
    table = cohort(60).rename(columns={"who": "Record ID"})
    table["falls"] = [0] * 55 + [9] * 5
    table.to_csv("visits.csv", index=False)
    assert fit("out", "--where", where, "--suppress", "10") == 0
    texts = texts_of("out")
    for name in ("Methods", "page"):
        assert shown in texts[name]
        assert "Of [c] rows of the table" in texts[name]
    assert not any(hidden in text for text in texts.values())


def test_schema_and_command_must_not_contradict_each_other(visits, capsys):
    text = VISITS_SCHEMA.replace(
        "features:", "rows: {where: \"visit == 'baseline'\", one_row_per: Record ID}\nfeatures:"
    )
    Path("visits_schema.yaml").write_text(text, encoding="utf-8")
    said = refused(capsys, "check", "visits.csv", "--schema", "visits_schema.yaml", "--where", "visit == 'month 12'")
    assert "visits_schema.yaml takes those where visit == 'baseline', and one row for each Record ID, the first" in said
    assert "the command takes those where visit == 'month 12'. Leave out the options that choose rows, or corr" in said
    same = ["--where", "visit  ==  'baseline'", "--one-row-per", "Record ID"]
    assert main(["check", "visits.csv", "--schema", "visits_schema.yaml", *same]) == 0
    assert "rows are taken as" not in capsys.readouterr().err
    assert main(["check", "visits.csv", "--schema", "visits_schema.yaml"]) == 0
    assert "40 subjects" in capsys.readouterr().out


def test_rows_that_a_schema_cannot_choose_name_the_schema(visits, capsys):
    text = VISITS_SCHEMA.replace("features:", "rows: {where: wave == 1}\nfeatures:")
    Path("visits_schema.yaml").write_text(text, encoding="utf-8")
    said = refused(capsys, "check", "visits.csv", "--schema", "visits_schema.yaml")
    assert "no column 'wave'" in said
    assert "taken by the line `rows:` of visits_schema.yaml; correct it there" in said


def test_commands_on_a_model_take_its_rows_unless_they_are_told_others(visits, capsys):
    assert fit("out", *CHOICE) == 0
    capsys.readouterr()
    said = refused(capsys, "report", "visits.csv", "--model", "out", "--out", "again", "--all-rows")
    assert f"the table has 120 rows, but the model was fitted on {len(visits)} subjects" in said
    assert f"(the model was fitted on some rows of its table: {ROWS})" in said
    visits.to_csv("chosen.csv", index=False)
    said = refused(capsys, "assign", "chosen.csv", "--model", "out", "--out", "x.csv")
    assert "there is no column 'visit'" in said
    assert "if this table holds only rows to take, say --all-rows" in said
    assert main(["assign", "chosen.csv", "--model", "out", "--out", "x.csv", "--all-rows"]) == 0
    assert "this is the table of the fit" in capsys.readouterr().err
    visits.iloc[:7].to_csv("new.csv", index=False)
    assert main(["assign", "new.csv", "--model", "out", "--out", "y.csv", "--all-rows"]) == 0
    err = capsys.readouterr().err
    assert f"the model was fitted on some rows of its table: {ROWS}; of this table these are taken: all rows" in err
    other = ["--where", "visit == 'month 12'"]
    assert main(["assign", "visits.csv", "--model", "out", "--out", "z.csv", *other]) == 0
    assert "of this table these are taken: those where visit == 'month 12'" in capsys.readouterr().err
    said = refused(capsys, "assign", "visits.csv", "--model", "out", "--out", "x2.csv", "--all-rows", *other)
    assert "--all-rows takes all rows, and other options take those where visit == 'month 12'" in said


def test_how_dates_are_read_can_be_added_to_what_a_schema_says(visits, capsys):
    Path("two.csv").write_text(
        Path("visits.csv").read_text(encoding="utf-8").replace("25.02.2020", "02/05/2020").replace(".", "/", 0),
        encoding="utf-8",
    )
    text = VISITS_SCHEMA.replace("features:", "rows: {where: \"seen < '2020-03-01'\"}\nfeatures:")
    Path("visits_schema.yaml").write_text(text, encoding="utf-8")
    said = refused(capsys, "check", "two.csv", "--schema", "visits_schema.yaml")
    assert "say --dates day-first or --dates month-first" in said
    assert main(["check", "two.csv", "--schema", "visits_schema.yaml", "--dates", "month-first"]) == 0


def test_start_drafts_the_rows_and_goes_on_with_them(visits, capsys):
    assert main(["start", "visits.csv", *FAST, *CHOICE]) == 0
    out = capsys.readouterr().out
    assert "next: clinclust table visits.csv --model visits-subtypes --out table.xlsx" in out
    assert FeatureSchema.from_yaml("visits.yaml").rows.where == WHERE
    assert main(["start", "visits.csv", *FAST, "--out", "again"]) == 0
    assert Path("again/assignments.csv").read_bytes() == Path("visits-subtypes/assignments.csv").read_bytes()
    assert main(["start", "visits.csv", *FAST, "--out", "third", "--where", "visit == 'month 12'"]) == 2


def test_a_suggested_option_names_a_column_with_a_space_in_quotes(visits, capsys):
    said = refused(capsys, "check", "visits.csv", "--schema", "visits_schema.yaml")
    assert "subject, --one-row-per 'Record ID' (the first; with --keep last the last)" in said


def test_rows_that_are_edited_while_start_waits_are_taken(visits, monkeypatch):
    def edited(options):
        text = options.schema.read_text(encoding="utf-8")
        options.schema.write_text(text.replace("baseline'' and age >= 45,5", "month 12''"), encoding="utf-8")
        return True

    monkeypatch.setattr("clinclust.cli.fit._asks", lambda options: True)
    monkeypatch.setattr("clinclust.cli.fit._goes_on", edited)
    assert main(["start", "visits.csv", *FAST, *CHOICE, "--no-open"]) == 0
    model = MAPDP.load("visits-subtypes")
    assert model.schema_.rows.where == "visit == 'month 12'"
    assert (len(model.labels_), model.row_counts_.not_meeting) == (40, 80)


@pytest.fixture
def sheet(here):
    """Forty subjects, and nine rows below them that somebody leaves out by their numbers."""
    frame = cohort()
    pd.concat([frame, frame.head(9).assign(who=[f"X{at}" for at in range(9)])]).to_csv("sheet.csv", index=False)
    Path("sheet_schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return frame


def fit_sheet(*more):
    return main(["fit", "sheet.csv", "--schema", "sheet_schema.yaml", "--out", "out", *FAST, *more])


def test_rows_of_the_sheet_are_those_of_every_later_command_on_its_table(sheet, capsys):
    assert fit_sheet("--rows", "2-41") == 0
    texts = texts_of("out")
    assert "Of 49 rows of the table, 40 were analysed: rows 2-41 of the sheet (9 left out by hand)." in texts["page"]
    assert "All 40 rows" not in " ".join(texts.values())
    assert MAPDP.load("out").schema_.rows == RowChoice(rows="2-41")
    capsys.readouterr()
    assert main(["report", "sheet.csv", "--model", "out", "--out", "again", "--associations", "none"]) == 0
    assert "rows are taken as for the fit (--all-rows takes all): rows 2-41 of the sheet" in capsys.readouterr().err
    assert Path("again/subtypes.html").read_bytes() == Path("out/subtypes.html").read_bytes()
    assert main(["assign", "sheet.csv", "--model", "out", "--out", "given.csv"]) == 0
    assert "this is the table of the fit" in capsys.readouterr().err
    assert Path("given.csv").read_bytes() == Path("out/assignments.csv").read_bytes()


def test_a_table_of_new_subjects_is_read_whole_whatever_rows_the_fit_had(sheet, capsys):
    assert fit_sheet("--rows", "2-41") == 0
    sheet.head(12).assign(who=[f"N{at}" for at in range(12)]).to_csv("new.csv", index=False)
    for more, number in (([], 12), (["--rows", "2-5"], 4)):
        capsys.readouterr()
        assert main(["assign", "new.csv", "--model", "out", "--out", "new_out.csv", "--overwrite", *more]) == 0
        assert len(pd.read_csv("new_out.csv")) == number
        is_told = "the model was fitted on rows 2-41 of the sheet of its own table" in capsys.readouterr().err
        assert is_told is not bool(more)


def test_a_draft_remembers_the_rows_of_the_sheet_and_others_contradict_it(sheet, capsys):
    assert main(["draft", "sheet.csv", "--out", "drafted.yaml", "--rows", "2-41"]) == 0
    assert FeatureSchema.from_yaml("drafted.yaml").rows == RowChoice(rows="2-41")
    assert "--rows" not in next(line for line in capsys.readouterr().out.splitlines() if line.startswith("next: "))
    message = refused(capsys, "check", "sheet.csv", "--schema", "drafted.yaml", "--rows", "2-50")
    assert "drafted.yaml takes rows 2-41 of the sheet; the command takes rows 2-50 of the sheet" in message
    assert main(["check", "sheet.csv", "--schema", "drafted.yaml", "--rows", "2 - 41"]) == 0
    assert main(["check", "sheet.csv", "--schema", "drafted.yaml", "--where", "age > 0"]) == 0


def test_a_shared_report_does_not_tell_which_rows_of_the_sheet_were_left_out(sheet):
    assert fit_sheet("--rows", "2-39,41-", "--suppress", "5") == 0
    texts = " ".join(texts_of("out").values())
    assert "rows of the sheet that were named by hand" in texts
    assert "2-39" not in texts
