"""What commands read: tables, schemas and models that cannot be used, chosen rows and columns, tables in partitions."""

import json
import shlex
import tempfile
import zipfile
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
import openpyxl
import pandas as pd
import pytest
from cases import cases_beside, read_beside
from command_line import ARGUMENTS, FIT, QUICK, SCHEMA, WIDE_SCHEMA, cohort, faults_in, names_in, refused_lines
from reporting.stand_in import sections_of
from scored import few, scored

from clinclust import MAPDP, FeatureSchema
from clinclust.files import tables
from clinclust.files.row_choice import RowChoice, RowCounts

pytestmark = pytest.mark.filterwarnings("ignore:.*inplace.*")  # Dask calls what pandas is to change

# --- files that cannot be used ----------------------------------------------------------------------------------------


HEADER = b"who,age,falls,tremor,stage,crp\n"
TABLES = {
    "missing.csv": None,
    "cohor.csv": None,
    "no/such/place.csv": None,
    "folder.csv": "a folder",
    "cohort.docx": b"x",
    "cohort": b"x",
    "other.yaml": SCHEMA.encode(),
    "empty.csv": b"",
    "header.csv": HEADER,
    "ragged.csv": HEADER + b"1,2,3\n",
    "quote.csv": HEADER + b'"a,2,3,no,1,2\n',
    "binary.csv": bytes(range(256)),
    "no.xlsx": b"\x01no workbook",
    "bad.xlsx": "an archive",
    "no.parquet": b"\x01no table",
}


@pytest.fixture
def unreadable(fit):
    """Stand beside all these tables: a name that is nearly that of another is told with it."""
    for name, content in TABLES.items():
        if content == "a folder":
            Path(name).mkdir()
        elif content == "an archive":
            with zipfile.ZipFile(name, "w") as archive:
                archive.writestr("xl/workbook.xml", "<not closed")
                archive.writestr("[Content_Types].xml", "<not closed")
        elif content is not None:
            Path(name).write_bytes(content)


@pytest.mark.parametrize("command", ARGUMENTS)
@scored(TABLES)
def test_tables_that_cannot_be_read(name, command, unreadable, run, must_refuse):
    line = ARGUMENTS[command].replace("cohort.csv", name)
    if name == "binary.csv":  # with a note on its encoding
        assert name in run(line, code=2).err
    else:
        must_refuse(line, naming=f"{name} 'cohort.csv'" if name == "cohor.csv" else name)


@scored(["check", "fit"])
@scored(
    [
        ("missing.yaml", None, ""),
        ("folder", None, ""),
        ("cohort.csv", None, ""),
        ("bad.yaml", b"clinclust: 1\nfeatures: [", "line 2"),
        ("bad.yaml", b"", ""),
        ("bad.yaml", b"clinclust: 1\nfeatures:\n  - {name: x, likelihod: poisson}\n", "'likelihood'"),
        ("bad.yaml", b"\xff\xfe\x00\x00\x81", ""),
    ]
)
def test_schemas_that_cannot_be_used(command, name, text, word, here, must_refuse):
    Path("folder").mkdir(exist_ok=True)
    if text is not None:
        Path(name).write_bytes(text)
    must_refuse(ARGUMENTS[command].replace("schema.yaml", name), naming=f"{name} {word}")


@scored(["report", "table", "assign"])
@scored(cases_beside(__file__, "no_models"))
def test_models_that_cannot_be_used(command, name, word, fit, must_refuse):
    for folder in ("folder", "damaged"):
        Path(folder).mkdir(exist_ok=True)
    for path in fit.iterdir():
        Path("damaged", path.name).write_bytes(path.read_bytes()[: -50 if path.suffix == ".npz" else None])
    must_refuse(ARGUMENTS[command].replace("--model out", f"--model {name}"), naming=f"{name} {word}")


# --- rows in messages are those of a spreadsheet ----------------------------------------------------------------------
def test_empty_rows_are_counted_in_every_format(here, run_json):
    header, *lines = cohort().assign(falls=["several", *[1] * 39]).to_csv(index=False).splitlines()
    Path("gaps.csv").write_text("\n".join(["", header, "", "", *lines[:19], "", *lines[19:]]), encoding="utf-8")
    workbook = openpyxl.Workbook()
    for line in ("", header, "", "", *lines):
        workbook.active.append(line.split(",") if line else [])
    workbook.save("gaps.xlsx")
    frame = cohort().map(str).set_axis([f"label{i}" for i in range(40)], axis="index")
    frame.iloc[3, 2] = "several"
    frame.to_parquet("gaps.parquet")
    for suffix in ("csv", "xlsx", "parquet"):
        assert faults_in(run_json(f"check gaps.{suffix} --schema schema.yaml", code=2)) == {"falls": [5]}


# --- rows and columns that are chosen ---------------------------------------------------------------------------------
@pytest.fixture
def messy(here):
    """A table with a title, a comment, a visit, and two rows of each subject."""
    frame = cohort()
    twice = [frame.assign(visit=visit, **{"a, b": "x"}) for visit in ("baseline", "later")]
    text = "".join(f"{part.to_csv(index=False, header=number == 0)}" for number, part in enumerate(twice))
    Path("messy.csv").write_text(f"Clinic\n\n{text}", encoding="utf-8")


BASELINE = "--where \"visit == 'baseline'\" --only who,age,falls --only 'tremor, stage,crp'"


def test_rows_of_a_chosen_part_are_those_of_the_file(messy, run_json):
    lines = Path("messy.csv").read_text(encoding="utf-8").splitlines()
    lines[6] = lines[6].replace(lines[6].split(",")[4], "99")
    Path("messy.csv").write_text("\n".join(lines), encoding="utf-8")
    assert faults_in(run_json(f"check messy.csv --schema schema.yaml {BASELINE}", code=2)) == {"stage": [7]}


@scored(refused_lines("choices").items())
def test_what_cannot_be_chosen_is_refused(options, words, messy, must_refuse):
    must_refuse(f"check messy.csv --schema schema.yaml {options}", naming=words)


# --- which rows were taken is recorded, applied again, and said -------------------------------------------------------

WHERE = "visit == 'baseline' and age >= 45,5"
CHOICE = f"--where {shlex.quote(WHERE)} --one-row-per 'Record ID' --by seen --keep last"
ROWS = RowChoice(WHERE, "Record ID", "last", "seen").in_words()
VISITS_SCHEMA = WIDE_SCHEMA.replace("name: who,", "name: Record ID,")
FIT_VISITS = f"fit visits.csv --schema visits_schema.yaml --out out {QUICK}"
CHECK_VISITS = "check visits.csv --schema visits_schema.yaml"


@pytest.fixture
def visits(here):
    """Forty subjects with a second row each at baseline, and a later visit; dates with the day first."""
    frame = cohort().rename(columns={"who": "Record ID"})
    first = frame.assign(visit="baseline", seen="25.02.2020")
    second = frame.assign(visit="baseline", seen="03.03.2020", falls=frame["falls"] + 1)
    later = frame.assign(visit="month 12", seen="01.04.2021")
    pd.concat([first, second, later], ignore_index=True).to_csv("visits.csv", index=False)
    Path("visits_schema.yaml").write_text(VISITS_SCHEMA, encoding="utf-8")
    return second[second["age"].astype(float) >= 45.5].drop(columns=["visit", "seen"])


def write_rows(rows):
    Path("visits_schema.yaml").write_text(VISITS_SCHEMA.replace("features:", f"rows: {rows}\nfeatures:"), "utf-8")


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
def test_reports_say_which_rows_were_taken_and_how_many_were_not_as_text(visits, run, whole_reports):
    run(FIT.replace(" out ", " all "))
    assert "All 40 rows of the table" in Path("all/subtypes.html").read_text(encoding="utf-8")
    where = f"{WHERE} and visit != '<b onclick=x>=1+1</b>'"  # no formula and no markup, whatever its values are
    run(FIT_VISITS, "--where", where, *shlex.split(CHOICE)[2:])
    counts = json.loads(Path("out/model.json").read_text(encoding="utf-8"))["fit"]["row_counts_"]
    n = len(visits)
    assert RowCounts(**counts) == RowCounts(120, not_meeting=120 - 2 * n, further=n)
    texts = texts_of("out")
    for name in ("Methods", "page", "Summary"):
        _, _, sentence = texts[name].partition("Of 120 rows of the table, ")
        assert sentence.startswith(f"{n} ")
        assert RowChoice(where).in_words() in sentence
        assert f"({120 - 2 * n} " in sentence
    assert "<b onclick" not in Path("out/subtypes.html").read_text(encoding="utf-8")
    book = sections_of("out/subtypes.xlsx")
    assert all(cell.data_type != "f" for row in book["Methods"].iter_rows() for cell in row)


@pytest.mark.simulation
@pytest.mark.parametrize(("choice", "shown", "hidden"), few(cases_beside(__file__, "withheld_rows"), 3))
def test_a_shared_report_withholds_small_numbers_of_rows_and_named_subjects(
    visits, run, choice, shown, hidden, whole_reports
):
    table = cohort(60).rename(columns={"who": "Record ID"})
    table["falls"] = [0] * 55 + [9] * 5
    table.to_csv("visits.csv", index=False)
    run(f"{FIT_VISITS} --suppress 10 {choice}")
    texts = texts_of("out")
    for name in ("Methods", "page"):
        assert shown in texts[name]
        assert "Of [c] rows of the table" in texts[name]
    assert not any(hidden in text for text in texts.values())


@scored(
    [
        ("{where: wave == 1}", "'wave' visits_schema.yaml rows:"),
        ("{where: \"seen < '2020-03-01'\"}", "--dates day-first month-first"),
    ]
)
def test_rows_that_a_schema_cannot_choose_name_the_schema(rows, words, visits, run, must_refuse):
    table = Path("visits.csv").read_text(encoding="utf-8")
    Path("visits.csv").write_text(table.replace("25.02.2020", "02/05/2020"), encoding="utf-8")
    write_rows(rows)
    must_refuse(CHECK_VISITS, naming=words)
    if "--dates" in words:  # how dates are read can be added to what a schema says
        run(f"{CHECK_VISITS} --dates month-first")


def test_commands_on_a_model_take_its_rows_unless_they_are_told_others(visits, run, must_refuse):
    run(f"{FIT_VISITS} {CHOICE}")
    assert ROWS in must_refuse("report visits.csv --model out --out again --all-rows", naming=f"120 {len(visits)}")
    visits.to_csv("chosen.csv", index=False)
    must_refuse("assign chosen.csv --model out --out x.csv", naming="'visit' --all-rows")
    run("assign chosen.csv --model out --out x.csv --all-rows")
    assert Path("x.csv").read_bytes() == Path("out/assignments.csv").read_bytes()
    visits.iloc[:7].to_csv("new.csv", index=False)
    (note,) = run("assign new.csv --model out --out y.csv --all-rows").err.notes
    assert ROWS in note
    other = "--where \"visit == 'month 12'\""
    assert RowChoice("visit == 'month 12'").in_words() in run(f"assign visits.csv --model out --out z.csv {other}").err
    must_refuse(f"assign visits.csv --model out --out x2.csv --all-rows {other}", naming="--all-rows visit == 'month")


@pytest.mark.filterwarnings("ignore::clinclust.errors.CohortWarning")
def test_a_fit_of_rows_drawn_by_weight_says_so_and_assigns_everybody(here, run, must_refuse, whole_reports):
    weights = np.repeat([5.0, 20.0], [48, 32])  # they tell the groups, and are no column to look beyond
    cohort(80).assign(WTMEC2YR=weights, who=range(80)).to_csv("survey.csv", index=False)
    out, err = run(f"start survey.csv {QUICK} --draw-by WTMEC2YR --out out")
    assert "--adjust WTMEC2YR" not in out
    model = MAPDP.load("out")
    n = len(model.labels_)
    assert f"{n} of 80 rows are drawn in proportion to 'WTMEC2YR'" in err
    assert 20 < n < 50
    texts = texts_of("out")
    assert f"rows drawn in proportion to WTMEC2YR (draw 1) ({80 - n} not drawn)" in texts["Methods"]
    assert "as a simple random sample does (Hinkins" in texts["Methods"]
    run("table survey.csv --model out --out table.xlsx")  # of the same rows
    (note,) = run("table survey.csv --model out --draw-by WTMEC2YR --out again.xlsx").err.notes
    assert "are drawn" in note
    other = run("table survey.csv --model out --draw-by WTMEC2YR --draw 2 --out no.xlsx", code=2).err
    assert "(draw 1)" in other.splitlines()[-1]
    assert "drawn" not in run("assign survey.csv --model out --out all.csv --unseen missing").err
    assert len(pd.read_csv("all.csv")) == 80
    run("draft survey.csv --draw-by WTMEC2YR --draw 2 --out second.yaml")
    run(f"fit survey.csv --schema second.yaml --out second {QUICK}")
    must_refuse(f"fit survey.csv --schema second.yaml --draw 3 --out third {QUICK}", naming="draw 2")
    run("validate survey.csv --cohort survey.csv --model out")
    must_refuse("draft survey.csv --draw-by who --count who --out x.yaml", naming="--draw-by --count")


def test_start_drafts_the_rows_and_goes_on_with_them(visits, run):
    start = f"start visits.csv {QUICK}"
    command = run(f"{start} {CHOICE}").out.commands[-1]
    assert command == "table visits.csv --model visits-subtypes --out visits-subtypes-table.xlsx"
    assert FeatureSchema.from_yaml("visits.yaml").rows == RowChoice(WHERE, "Record ID", "last", "seen", "day-first")
    run(f"{start} --out again")
    assert Path("again/assignments.csv").read_bytes() == Path("visits-subtypes/assignments.csv").read_bytes()
    run(f"{start} --out third --where \"visit == 'month 12'\"", code=2)
    assert "--one-row-per 'Record ID'" in run(CHECK_VISITS, code=2).err  # a name that can be pasted


@pytest.fixture
def sheet(here):
    """Forty subjects, and nine rows below them that somebody leaves out by their numbers."""
    frame = cohort()
    pd.concat([frame, frame.head(9).assign(who=[f"X{at}" for at in range(9)])]).to_csv("sheet.csv", index=False)
    return frame


FIT_SHEET = f"fit sheet.csv --schema schema.yaml --out out {QUICK}"


@pytest.mark.simulation
def test_rows_of_the_sheet_are_those_of_every_later_command_on_its_table(sheet, run, whole_reports):
    run(f"{FIT_SHEET} --rows 2-41")
    texts, rows = texts_of("out"), RowChoice(rows="2-41")
    assert f"{rows.in_words()} (9 " in texts["page"]
    assert "All 40 rows" not in " ".join(texts.values())
    assert MAPDP.load("out").schema_.rows == rows
    assert rows.in_words() in run("report sheet.csv --model out --out again --associations none").err
    pages = [Path(f"{folder}/subtypes.html").read_text(encoding="utf-8") for folder in ("again", "out")]
    assert pages[0] == pages[1].replace(" --rows 2-41", "")  # the next command repeats the options of this one
    run("assign sheet.csv --model out --out given.csv")
    assert Path("given.csv").read_bytes() == Path("out/assignments.csv").read_bytes()
    sheet.head(12).assign(who=[f"N{at}" for at in range(12)]).to_csv("new.csv", index=False)
    for more, number in (("", 12), ("--rows 2-5", 4)):  # a table of new subjects is read whole
        err = run(f"assign new.csv --model out --out new_out.csv --overwrite {more}").err
        assert len(pd.read_csv("new_out.csv")) == number
        assert ("rows 2-41" in err) is not bool(more)


# --- tables in partitions ---------------------------------------------------------------------------------------------

FIT_PARTITIONS = f"fit cohort --schema schema.yaml --out out {QUICK}"
CHECK_PARTITIONS = "check cohort --schema schema.yaml"


@pytest.fixture
def partitions(tmp_path, monkeypatch):
    """Stand in a folder with `cohort`, a folder of three parquet files, and cohort.parquet, which holds the same."""
    pytest.importorskip("dask.dataframe")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    (tmp_path / "cohort").mkdir()
    frame = cohort(60).astype(str)
    for number, rows in enumerate(np.array_split(np.arange(60), 3)):
        frame.iloc[rows].to_parquet(tmp_path / "cohort" / f"{number}.parquet", index=False)
    frame.to_parquet(tmp_path / "cohort.parquet", index=False, row_group_size=25)
    return [tmp_path / "cohort" / f"{number}.parquet" for number in range(3)]


def test_a_folder_and_a_large_file_are_fitted_in_partitions(partitions, run_json, run, monkeypatch, some):
    monkeypatch.setattr(tables, "MANY_ROWS", 50)
    assert tables.is_in_partitions(Path("cohort.parquet"))
    results = []
    for table in some(("cohort", "cohort.parquet"), 1):
        out = f"of {table}"
        facts = run_json(f"fit {table} --schema schema.yaml {QUICK} --out", out)
        assert {*names_in(out)} >= {"assignments.parquet", "model.json", "subtypes.html"}
        results.append(pd.read_parquet(Path(out, "assignments.parquet")))
        sizes = results[-1]["subtype"].value_counts().sort_index().tolist()
        assert sizes == MAPDP.load(out).cluster_sizes_.tolist()
        assert facts["subjects"] == 60
    assert results[0]["who"].tolist() == cohort(60)["who"].tolist()
    pd.testing.assert_frame_equal(results[0], results[-1])
    assert "--overwrite" in run(f"fit cohort --schema schema.yaml {QUICK} --out 'of cohort'", code=2).err


def test_options_that_partitions_cannot_have_are_named(partitions, must_refuse):
    assert must_refuse(f"{FIT_PARTITIONS} --describe crp --drop crp").options == {"--describe", "--drop"}
    for line in (FIT_PARTITIONS, CHECK_PARTITIONS, "draft cohort"):
        assert must_refuse(f"{line} --where 'age > 50' --drop crp").options == {"--where", "--drop"}


def rewrite(file, change):
    change(pd.read_parquet(file)).to_parquet(file)


def damage_page(file):
    from pyarrow import parquet

    content = bytearray(file.read_bytes())
    start = parquet.read_metadata(file).row_group(0).column(2).data_page_offset
    content[start : start + 20] = b"x" * 20
    file.write_bytes(content)


def test_no_row_of_a_folder_is_left_out_and_none_is_added(partitions, run_json, must_refuse, monkeypatch):
    for out in ("cohort", "cohort/out"):
        assert out in must_refuse(f"fit cohort --schema schema.yaml --overwrite --out {out}")
    partitions[2].rename("cohort/2.PARQUET")
    assert run_json(CHECK_PARTITIONS)["subjects"] == 60
    Path("cohort/more").mkdir()
    for moved in ("2.PARQUET", "1.parquet", "0.parquet"):
        Path("cohort", moved).rename(f"cohort/more/{moved}")
        assert "(more)" in must_refuse(CHECK_PARTITIONS)
    monkeypatch.setattr(tables, "MANY_ROWS", 50)
    Path("cohort.parquet").rename("assignments.parquet")
    assert "--out" in must_refuse("fit assignments.parquet --schema schema.yaml --overwrite --out .")


def test_bad_values_are_one_error_that_names_their_files(partitions, run, run_json):
    first, second, third = partitions
    rewrite(first, lambda frame: frame.assign(falls=frame["falls"].astype(int)).set_index("who"))  # no fault
    rewrite(second, lambda frame: frame.drop(columns="crp").assign(tremor=frame["tremor"] == "yes", stage="9"))
    rewrite(third, lambda frame: frame.assign(falls=pd.Timestamp("2020-01-01")))
    err = run(FIT_PARTITIONS, code=2).err
    assert err.count("clinclust: ") == 1
    for column, file in {"crp": "1", "tremor": "1", "stage": "1", "falls": "2"}.items():
        assert f"{column} ({file}.parquet): " in err
    rows = [0, 1, 2, 3, 4]
    faults = faults_in(run_json(CHECK_PARTITIONS, code=2))
    assert faults == {"crp": [], "tremor": rows, "stage": rows, "falls": rows}
    assert not Path("out").exists()


@pytest.mark.parametrize("damage", [damage_page, lambda file: file.write_bytes(file.read_bytes()[:100]), "", "x"])
def test_files_that_cannot_be_read_are_one_error_that_names_them(damage, partitions, must_refuse):
    for file in partitions[::2]:
        file.write_bytes(damage.encode()) if isinstance(damage, str) else damage(file)
    for line in (FIT_PARTITIONS, CHECK_PARTITIONS, "draft cohort --out other.yaml"):
        message = must_refuse(line)
        assert message.startswith("clinclust: cohort: ")
        assert [f"{number}.parquet: " in message for number in range(3)] == [True, False, True]


WRITING = read_beside(__file__)["full_disks"]


@pytest.mark.parametrize(("name", "number", "variable"), WRITING.values(), ids=WRITING)
def test_a_full_disk_is_one_error_and_leaves_nothing(name, number, variable, partitions, run, monkeypatch):
    Path("temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(Path("temporary").absolute()))
    write, calls = resolve_name(name), iter(range(1, 99))

    def full(*arguments):
        if next(calls) < number:
            return write(*arguments)
        if isinstance(arguments[-1], Path):
            arguments[-1].write_bytes(b"begun")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(name, full)
    (message,) = run(f"{FIT_PARTITIONS} --quiet", code=2).err.splitlines()
    assert "disk" in message
    assert ("TMPDIR" in message) == bool(variable)
    assert not Path("out").exists()
    assert names_in("temporary") == []


def test_draft_and_check_read_a_sample_and_validate_all(partitions, run, run_json, monkeypatch):
    monkeypatch.setattr("clinclust.schema.validation.N_SAMPLED", 45)
    rewrite(partitions[2], lambda frame: frame.assign(stage=["7", *frame["stage"][1:]], tremor=["perhaps"] * 20))
    out = run("draft cohort --out drafted.yaml --describe age").out
    assert "60" in out
    assert out.commands[-1] == "fit cohort --schema drafted.yaml --out cohort-subtypes"
    drafted = FeatureSchema.from_yaml("drafted.yaml")
    assert {*drafted["tremor"].levels} == {"no", "yes", "perhaps"}
    assert drafted["age"].role == "describe"
    facts = run_json("check cohort --schema drafted.yaml")
    assert facts["subjects"] < facts["rows"] == 60
    assert {*faults_in(run_json(CHECK_PARTITIONS, code=2))} == {"stage", "tremor"}


def test_a_draft_says_what_it_cannot_allow(partitions, run):
    rewrite(partitions[1], lambda frame: frame.drop(columns="crp"))
    out, err = run("draft cohort --out drafted.yaml")
    assert "crp (1.parquet): " in err
    assert out.commands == ["check cohort --schema drafted.yaml"]
