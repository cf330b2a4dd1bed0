"""`clinclust report` and `clinclust table`: the reports of a fit again, and the table of a paper."""

from html import unescape
from pathlib import Path

import pandas as pd
import pytest
from command_line import FILES, REPORTS, RESTARTS, Text, cohort, contents, names_in
from reporting.stand_in import sections_of

from clinclust import MAPDP, CohortWarning
from clinclust.files.writing import changed_files, read_manifest

pytestmark = pytest.mark.usefixtures("whole_reports")
REPORT = "report cohort.csv --model out --associations none"
TABLE = "table cohort.csv --model out --out"


# --- the reports again ------------------------------------------------------------------------------------------------
@pytest.mark.simulation
def test_the_same_run_and_the_report_again_give_the_same_bytes(fit, run):
    line = f"fit cohort.csv --schema schema.yaml --out out --overwrite --as-published {RESTARTS} 4"
    run(line)  # to the same folder, which the next command names
    before = contents("out")
    run(line)
    assert contents("out") == before
    for name in REPORTS:
        Path("out", name).write_text("edited", encoding="utf-8")
    run("report cohort.csv --model out --overwrite")
    assert names_in("out") == sorted(FILES)  # SOURCE_DATE_EPOCH dates the reports
    assert contents("out") == before


def test_the_report_of_an_adjusted_fit_shows_adjusted_figures_as_the_report_again_does(fit, run):
    run(f"fit cohort.csv --schema schema.yaml --out new --adjust age --as-published {RESTARTS} 2 --associations none")
    before = contents("new")
    run("report cohort.csv --model new --overwrite --associations none")
    assert contents("new") == before


@pytest.mark.parametrize("command", ["report", "fit", "start"])
def test_the_next_step_is_the_last_line_and_on_the_page_and_runs_in_one_try(fit, run, command):
    table = Path("cohort.csv").rename("my cohort; touch x.csv")
    out = fit if command == "report" else Path("$(new)")
    model = "--model out --overwrite" if command == "report" else f"--out '{out}' --as-published {RESTARTS} 2"
    schema = "" if command == "report" else "--schema schema.yaml"
    last = run(f"{command} '{table.name}' {model} {schema} --associations none").out.splitlines()[-1]
    (following,) = last.commands
    assert f"<p>Command: clinclust {following}</p>" in unescape((out / "subtypes.html").read_text(encoding="utf-8"))
    Path("table.xlsx").touch()  # of other work: it stays, and is not in the way
    assert (new := f"{out.name}-table.xlsx") in run(following).out
    assert {new, table.name} <= {*names_in()}


def test_the_manifest_stays_true_and_an_edited_table_of_assignments_is_still_told(fit, run):
    Path("out/assignments.csv").write_text("mine", encoding="utf-8")
    before = contents("out")
    run(f"{REPORT} --overwrite --name 1=Mild")
    manifest = read_manifest(fit)
    assert sorted([*manifest, "manifest.json"]) == sorted(FILES)
    assert changed_files(fit, manifest) == ["assignments.csv"]
    after = contents("out")
    assert [Path(path).name for path in before if before[path] != after[path]] == ["manifest.json", *REPORTS]
    with pytest.warns(CohortWarning, match="assignments.csv"):
        MAPDP.load("out")


def test_another_folder_gets_the_reports_alone(fit, run):
    before = contents("out")
    out = run(f"{REPORT} --out elsewhere/shared --suppress 5").out
    there = Path("elsewhere/shared")
    assert names_in(there) == ["manifest.json", *REPORTS]
    assert changed_files(there, read_manifest(there)) == []
    assert "assignments.csv" not in out  # nothing of the model lies there that should not be shared
    assert "Assignments" not in (there / "subtypes.html").read_text(encoding="utf-8")
    assert contents("out") == before


def test_a_report_is_rounded_as_a_data_protection_officer_asks(fit, run):
    officer = "--suppress 5 --round-to 3 --min-n 6 --missing-is-harmless"
    assert officer in run(f"{REPORT} --overwrite {officer}").out
    page = Path("out/subtypes.html").read_text(encoding="utf-8")
    assert Text(page[page.index("<h2>Withheld</h2>") :]).lacks("rounded multiple 3 6 harmless") == []


@pytest.mark.simulation
def test_a_report_can_hold_other_methods(fit, run):
    run(f"{REPORT} --out again --other-methods")
    sheet = sections_of("again/subtypes.xlsx")["Other methods"]
    assert "K-harmonic means, K of MAP-DP" in [row[0].value for row in sheet.iter_rows()]


# --- the table of a paper ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("suffix", ["docx", "xlsx", "html", "csv"])
def test_table_of_a_fit(fit, run, suffix):
    assert "5" in run(f"{TABLE} table.{suffix} --name '1=Mild = slow'").out.split()
    assert Path(f"table.{suffix}").stat().st_size > 0
    if suffix == "html":
        text = Path("table.html").read_text(encoding="utf-8")
        assert "<caption>Test cohort</caption>" in text
        assert "Subtype 1<br>Mild = slow<br>n = 24 (60.0%)" in text


def test_table_of_a_pair(fit, run):
    run(f"{TABLE} pair.csv --between 1 2")
    table = pd.read_csv("pair.csv")
    assert set(table["Test"].dropna()) == {"Welch's t", "Fisher's exact, mid-p"}


def test_columns_and_decimals_of_a_table(fit, run):
    run(f"{TABLE} columns.csv --decimals 0 --columns smd subtypes --style lancet")
    table = pd.read_csv("columns.csv")
    assert [name.partition(",")[0] for name in table.columns[4:]] == ["SMD", "Subtype 1", "Subtype 2"]
    assert table.loc[table["Feature"] == "tremor"].iloc[0, 5].endswith("%)")
    assert table.columns[5] == "Subtype 1, n = 24 (60·0%)"


def test_the_notation_of_a_report_and_the_decimal_mark_of_its_table_are_apart(fit, run):
    table = cohort().to_csv(index=False, sep=";", decimal=",")
    Path("cohort.csv").write_text(table, encoding="utf-8")
    run(f"{REPORT} --overwrite --decimal , --style jama")
    assert "n = 24 (60.0%)" in (page := Path("out/subtypes.html").read_text(encoding="utf-8"))
    assert "(60,0%)" not in page
    run(f"{REPORT} --overwrite --decimal , --report-decimal ,")
    assert "n = 24 (60,0%)" in Path("out/subtypes.html").read_text(encoding="utf-8")


def test_the_same_table_sorted_gives_the_same_table(fit, run):
    run(f"{TABLE} a.csv")
    cohort().sort_values("falls").to_csv("cohort.csv", index=False)
    assert len(run(f"{TABLE} b.csv").err.notes) == 1
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
