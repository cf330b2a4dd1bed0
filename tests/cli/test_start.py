"""`clinclust start`: from a table to the report, with a pause for a person, and without leaving anything half done."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import read_beside
from command_line import FILES, QUICK, SCHEMA, SEED, cohort, fail_with, names_in

from clinclust import MAPDP, FeatureSchema, read_cohort

START = f"start cohort.csv {QUICK}"
START_VISITS = f"start visits.csv {QUICK}"


# --- from a table to the report ---------------------------------------------------------------------------------------
def test_one_line_is_enough(here, run, whole_reports):
    cohort().assign(born="1950-01-02").to_csv("cohort.csv", index=False)
    out, err = run("start cohort.csv")
    assert err == ""
    schema = FeatureSchema.from_yaml("cohort.yaml")
    assert sorted(schema.names) == sorted((*cohort(), "born"))
    assert names_in("cohort-subtypes") == sorted([*FILES, "schema.xlsx"])
    assert out.splitlines()[0].lacks("cohort.yaml 7") == []
    assert "born (ignore)" in out
    *_, page, in_excel, _, last = out.splitlines()
    assert str(Path("cohort-subtypes/subtypes.html")) in page
    assert last.commands == ["table cohort.csv --model cohort-subtypes --out cohort-subtypes-table.xlsx"]
    assert out.commands == [*in_excel.commands, *last.commands]
    assert FeatureSchema.from_excel("cohort-subtypes/schema.xlsx") == schema
    run(*in_excel.commands)  # nothing was edited: the same subtypes
    assert Path("cohort-subtypes-2/model.npz").read_bytes() == Path("cohort-subtypes/model.npz").read_bytes()


def test_a_schema_next_to_the_table_is_used_and_kept(here, run, whole_reports):
    Path("cohort.yaml").write_text(SCHEMA, encoding="utf-8")
    assert "cohort.yaml" in run(f"{START} --out here --suppress").out.splitlines()[0]
    assert Path("cohort.yaml").read_text(encoding="utf-8") == SCHEMA
    assert MAPDP.load("here").schema_ == FeatureSchema.from_yaml(SCHEMA)
    assert "[c]" in Path("here/subtypes.html").read_text(encoding="utf-8")


@pytest.mark.simulation
def test_a_schema_in_excel_is_drafted_used_and_checked_like_yaml(here, run, must_refuse):
    run("draft cohort.csv --out drafted.xlsx")
    run("draft cohort.csv --out drafted.yaml")
    schema = FeatureSchema.from_excel("drafted.xlsx")
    assert schema == FeatureSchema.from_yaml("drafted.yaml")
    plain, excel = (run(f"check cohort.csv --schema drafted.{kind}").out for kind in ("yaml", "xlsx"))
    assert plain.replace("yaml", "xlsx") == excel
    run(f"{START} --schema drafted.xlsx --out here")
    assert MAPDP.load("here").schema_ == schema
    must_refuse("start cohort.csv --schema cohort.csv", naming="--schema .xlsx")


def test_results_are_those_of_fit_with_the_same_options_and_are_not_replaced(here, run, must_refuse):
    Path("cohort.yaml").write_text(SCHEMA, encoding="utf-8")
    run(f"{START} {SEED} 3")
    run(f"fit cohort.csv --schema schema.yaml --out out {QUICK} {SEED} 3")
    for name in ("assignments.csv", "model.npz"):
        assert Path("out", name).read_bytes() == Path("cohort-subtypes", name).read_bytes()
    message = must_refuse(START, naming=f"cohort-subtypes --out {' '.join(FILES)}")
    assert "--overwrite" not in message


def test_a_schema_that_does_not_fit_is_told_before_anything_is_searched(here, run):
    Path("cohort.yaml").write_text(SCHEMA.replace("trials: 4", "trials: 2"), encoding="utf-8")
    assert "stage: " in run(START, code=2).err
    assert names_in() == ["cohort.csv", "cohort.yaml", "schema.yaml"]


STAGES = read_beside(__file__)["stages"]


@pytest.mark.parametrize(
    "stage",
    [pytest.param(stage, marks=[pytest.mark.simulation] * (stage in {"reading", "checking"})) for stage in STAGES],
)
def test_ctrl_c_leaves_whole_files_and_says_which(here, run, monkeypatch, stage):
    where, files = STAGES[stage]

    with monkeypatch.context() as patched:
        patched.setattr(where, fail_with(KeyboardInterrupt()))
        first, last = run(START, code=130).err.splitlines()
    assert last == "clinclust: stopped"
    assert ("cohort.yaml" in first) == bool(files)
    assert names_in() == ["cohort.csv", *files, "schema.yaml"]
    (again,) = first.commands
    assert sorted(again.split()) == sorted(START.split())
    if stage == "searching":
        run(again)


# --- the pause for a person -------------------------------------------------------------------------------------------
@pytest.fixture
def answer(monkeypatch):
    """Return a function that lets a person at a terminal answer, and the pages that a browser opens."""
    pages = []
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr("clinclust.cli.outputs.VisibleStream.isatty", lambda stream: True)
    monkeypatch.setattr("webbrowser.open", pages.append)

    def reply(read):
        monkeypatch.setattr("builtins.input", lambda prompt: read())
        return pages

    return reply


@pytest.mark.parametrize("read", [lambda: "q", lambda: " No", fail_with(EOFError())])
def test_a_person_may_stop_before_the_search(here, run, answer, read):
    answer(read)
    assert run(START).out.commands[-1].startswith("start cohort.csv")
    assert names_in() == ["cohort.csv", "cohort.yaml", "schema.yaml"]


def test_a_person_may_correct_the_schema_and_its_rows_before_the_search(here, run, answer):
    def correct():
        text = Path("cohort.yaml").read_text(encoding="utf-8")
        Path("cohort.yaml").write_text(text.replace("age < 70", "age >= 60"), "utf-8")
        return ""

    opened = answer(correct)
    run(f"{START} --where 'age < 70'")
    model, ages = MAPDP.load("cohort-subtypes"), cohort()["age"]
    assert model.schema_ == FeatureSchema.from_yaml("cohort.yaml")
    assert model.schema_.rows.where == "age >= 60"
    assert (len(model.labels_), model.row_counts_.not_meeting) == ((ages >= 60).sum(), (ages < 60).sum())
    assert opened == [Path("cohort-subtypes/subtypes.html").absolute().as_uri()]


def test_nobody_is_asked_who_asked_not_to_be(here, run, answer):
    opened = answer(lambda: pytest.fail("somebody was asked"))
    run(f"{START} --yes --no-open")
    run(f"{START} --quiet --out again")
    assert len(opened) == 1  # of the second


@pytest.mark.simulation
@pytest.mark.usefixtures("heeds_ctrl_c")
def test_ctrl_c_at_the_pause_of_a_terminal_stops(here):
    pty = pytest.importorskip("pty", reason="there are no such terminals here")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "clinclust", *START.split()]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
    try:
        read_until(ours, "q and Enter")
        process.send_signal(signal.SIGINT)
        while not select.select([ours], [], [], 0.5)[0]:  # lost before the reading: press again
            process.send_signal(signal.SIGINT)
        read_until(ours, "clinclust: stopped")
        assert process.wait(timeout=60) in (130, -signal.SIGINT)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(theirs)
    assert names_in() == ["cohort.csv", "cohort.yaml", "schema.yaml"]


def read_until(ours, text):
    """Read what the terminal shows, up to and with a text; fail if it shows nothing for two minutes."""
    shown = b""
    while text.encode() not in shown:
        assert select.select([ours], [], [], 120)[0], f"waited for {text!r} after {shown!r}"
        shown += os.read(ours, 1000)


# --- rows that are visits are not taken for patients ------------------------------------------------------------------
def visits(n=60, times=3, who="MRN", what="Visit No"):
    rng = np.random.default_rng(0)
    rows = n * times
    return pd.DataFrame(
        {
            who: np.repeat([f"P{patient:03d}" for patient in range(n)], times),
            what: np.tile(np.arange(1, times + 1), n),
            "hb": rng.normal(13, 1.3, rows).round(1),
            "crp": np.exp(rng.normal(1, 0.8, rows)).round(1),
            "sbp": rng.normal(130, 14, rows).round(),
        }
    )


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Stand in a folder with visits.csv."""
    monkeypatch.chdir(tmp_path)
    visits().to_csv("visits.csv", index=False)


@pytest.mark.simulation
def test_copies_of_rows_are_told_and_one_of_each_is_kept(table, run, must_refuse, whole_reports):
    once = visits(times=1).drop(columns="Visit No")
    pd.concat([once, once.iloc[:5]]).to_csv("visits.csv", index=False)
    message = must_refuse(START_VISITS, naming="5 60 copies")
    one_each, every = message.commands
    assert [line.rpartition(" ")[2] for line in (one_each, every)] == ["MRN", "--every-row"]
    run(f"{one_each} --quiet")
    assert len(pd.read_csv("visits-subtypes/assignments.csv")) == 60
    Path("visits.yaml").unlink()
    run(f"{every} --quiet --out every")
    assert len(pd.read_csv("every/assignments.csv")) == 65
    assert "copies" in Path("every/subtypes.html").read_text(encoding="utf-8")


def test_repeated_identifiers_and_faults_of_cells_are_told_at_once(table, run):
    seen = visits(times=1)
    pd.concat([seen, seen.iloc[:1].assign(hb="high", **{"Visit No": 2})]).to_csv("visits.csv", index=False)
    Path("visits.yaml").write_text(
        "clinclust: 1\nfeatures:\n  - {name: MRN, role: id}\n  - {name: hb, likelihood: gaussian}\n", encoding="utf-8"
    )
    message = run(START_VISITS, code=2).err
    assert message.lacks("1 60 MRN --one-row-per hb high crp sbp") == []
    assert "patients" not in message


@pytest.mark.simulation
def test_check_and_fit_warn_first_and_the_page_begins_with_it(table, run, whole_reports):
    run("draft visits.csv --out schema.yaml")
    out, err = run("check visits.csv --schema schema.yaml")
    note = err.notes[0]
    warning = note.partition(",")[0]
    assert warning.isupper()
    assert out.lacks("180 60") == []
    assert note in run(f"fit visits.csv --schema schema.yaml --out out {QUICK}").err.notes
    page = Path("out/subtypes.html").read_text(encoding="utf-8")
    assert page[page.index("<p>", page.index("<h2>Overview</h2>")) :].startswith(f"<p>{warning}")
    run("report visits.csv --model out --overwrite --suppress --associations none")
    assert f"<p>{warning}" in Path("out/subtypes.html").read_text(encoding="utf-8")


def test_start_reads_a_dictionary(table, run, must_refuse, monkeypatch):
    fields = "Variable / Field Name,Form Name,Field Type,Field Label,Choices\n{}"
    rows = "".join(f"{name},baseline,text,The {name},\n" for name in visits())
    Path("dictionary.csv").write_text(fields.format(rows), encoding="utf-8")
    lines = must_refuse(f"{START_VISITS} --dictionary dictionary.csv").commands
    assert all("--dictionary dictionary.csv" in line for line in lines)
    with monkeypatch.context() as patched:
        patched.setattr("clinclust.MAPDP.fit_prepared", fail_with(KeyboardInterrupt()))
        (again,) = run(lines[0], code=130).err.splitlines()[-2].commands
    run(f"{again} --quiet")  # without what the drafted schema now says
    assert len(pd.read_csv("visits-subtypes/assignments.csv")) == 60
    assert FeatureSchema.from_yaml("visits.yaml")["hb"].label == "The hb"
    must_refuse(f"{lines[0]} --quiet --out other", naming="visits.yaml --dictionary")


@pytest.mark.simulation
@pytest.mark.parametrize(
    "table_of_people",
    [visits(times=1), *(visits(who=who).drop(columns="Visit No") for who in ("family_id", "household id"))],
    ids=["one row each", "members of families", "members of households"],
)
def test_rows_of_people_are_not_asked_about(table, run, table_of_people):
    table_of_people.to_csv("visits.csv", index=False)
    assert "several_rows" not in read_cohort("visits.csv").attrs
    assert run(f"{START_VISITS} --quiet").err == ""
