"""`clinclust check`: the verdict of `fit`, the use of each column, what to decide, and whether a model fits."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema, quick_fit
from command_line import CHECK, FIT, QUICK, SCHEMA, WIDE_SCHEMA, cohort, contents, names_in, pressures

from clinclust import CohortWarning, Feature, FeatureSchema, draft_schema
from clinclust.check.check import look_at_draft

CHECK_MODEL = "check cohort.csv --model out"

# --- the verdict is that of the fit -----------------------------------------------------------------------------------

NOTHING_TO_FIND = {
    "all constant": cohort().assign(falls=3, tremor="no", stage=1, crp=2.5),
    "all missing": cohort().assign(**dict.fromkeys(("falls", "tremor", "stage", "crp"), "NA")),
    "one value each": cohort().assign(falls=["", *["2"] * 39], tremor="yes", stage="", crp="NA"),
    "constant or missing": cohort().assign(falls=1, tremor="no", stage=2, crp="NA"),
    "one subject": cohort().head(1),
}


def refused_by_both(must_refuse):
    """Return the message of `check`, which must be that of `fit`."""
    message = must_refuse(CHECK)
    assert must_refuse(FIT) == message
    return message


@pytest.mark.parametrize("what", NOTHING_TO_FIND)
def test_check_refuses_what_fit_refuses(what, here, must_refuse):
    NOTHING_TO_FIND[what].to_csv("cohort.csv", index=False)
    message = refused_by_both(must_refuse)
    assert len(message.splitlines()) == 1
    if what != "one subject":
        assert message.lacks("falls tremor stage crp") == []


def test_check_refuses_a_schema_without_features_to_cluster_on(here, must_refuse):
    Path("schema.yaml").write_text(WIDE_SCHEMA.partition("  - {name: age")[0], encoding="utf-8")
    assert "schema" in refused_by_both(must_refuse)


def test_check_tells_what_the_fit_will_need(here, must_refuse, monkeypatch):
    monkeypatch.setattr("clinclust.estimators.settings.machine_memory", lambda: 1e4)
    assert "memory" in refused_by_both(must_refuse)


# --- the use of each column -------------------------------------------------------------------------------------------
def test_every_column_is_named_once_with_its_use(here, run, run_json):
    frame = cohort().assign(note="x", other="y", another="z", stage="2")
    frame.loc[:9, "falls"] = ""
    frame.to_csv("cohort.csv", index=False)
    Path("schema.yaml").write_text(f"{WIDE_SCHEMA}  - {{name: note, role: ignore}}\n", encoding="utf-8")
    facts = run_json(CHECK)
    assert facts["subjects"] == 40
    assert facts["clustered"] == ["falls", "tremor", "crp"]
    assert list(facts["cannot_be_clustered"]) == ["stage"]
    assert (facts["described"], facts["identifiers"]) == (["age"], ["who"])
    assert facts["not_in_schema"] == ["other", "another"]
    assert facts["missing"] == {"falls": 0.25, "crp": 0.05}
    assert "falls 25%" in run(CHECK).out


def test_questions_on_what_forms_no_subtypes_come_last():
    roles = {"los": "time", "visits": "cluster", "note": "ignore"}
    likelihoods = {"los": "exponential", "visits": "poisson", "note": None}
    schema = FeatureSchema(Feature(name=name, role=roles[name], likelihood=likelihoods[name]) for name in roles)
    for name, probability in (("los", 0.5), ("visits", 0.7)):
        schema.comments[name] = f"counts; probability {probability}\nLOOK: otherwise likelihood: geometric"
    schema.comments["note"] = "numbers and other texts\nLOOK: write numbers"
    assert [look.columns for look in look_at_draft(schema)] == [("note",), ("visits",), ("los",)]


@pytest.mark.parametrize("options", ["", "--all"])
def test_ten_questions_are_told_the_least_certain_first_and_all_if_asked(here, run, options):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"c{place}": rng.poisson(1.6, 60) for place in range(30)})
    table.to_csv("counts.csv", index=False)
    comments = draft_schema(table, progress=False).comments
    doubtful = {name for name, comment in comments.items() if "otherwise" in comment}
    assert len(doubtful) > 15
    out = run(f"draft counts.csv --out counts.yaml {options}").out
    told = [line for line in out.splitlines() if line.startswith("  - ")]
    assert (": --all\n" in out) == (not options)
    assert len(told) > 10 if options else len(told) == 10
    if options:
        assert doubtful <= set(re.findall(r"c[0-9]+", " ".join(told)))
    shown = [float(part) for part in re.findall(r"probability ([0-9.]+)", out)]
    assert shown == sorted(shown)


# --- lines and commands -----------------------------------------------------------------------------------------------
def test_the_check_is_not_quieter_than_its_table(here, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    frame = pd.DataFrame(np.random.default_rng(0).poisson(3, (30, 12))).add_prefix("a_long_name_")
    frame.to_csv("wide.csv", index=False)
    out = run("draft wide.csv --out wide.yaml --all").out
    listing = [line for line in out.partition("to decide")[0].splitlines() if "a_long_name_" in line]
    assert all(len(line) <= 50 for line in listing)
    assert all(f"{name}," in f"{' '.join(listing)}," for name in frame)


def test_the_next_command_can_be_run_as_it_is_shown(here, run):
    folder = Path("it's a folder & more")
    folder.mkdir()
    table = folder / "-cohort $HOME.csv"
    table.write_bytes(cohort().assign(who=[f"Zoë {i}" for i in range(40)]).to_csv(index=False).encode("cp1252"))
    Path("my schema.yaml").write_text(SCHEMA, encoding="utf-8")
    printed = run("check --encoding cp1252 --schema 'my schema.yaml'", table)
    assert printed.err.notes == []
    run(f"{printed.out.commands[-1]} {QUICK}")
    assert "Zoë" in Path("-cohort $HOME-subtypes/assignments.csv").read_text(encoding="utf-8")


# --- a model and its table --------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def misfit(tmp_path_factory):
    """Return a folder with a table, and `out`, the folder of a model whose schema declares every column Gaussian."""
    folder, frame = tmp_path_factory.mktemp("misfit"), pressures()
    frame.to_csv(folder / "cohort.csv", index=False)
    schema = gaussian_schema(frame, title="Pressures")
    with pytest.warns(CohortWarning, match="crp"):
        model = quick_fit(frame, schema)
    (folder / "out").mkdir()
    model.save(folder / "out")
    return folder


@pytest.fixture
def model(misfit, tmp_path, monkeypatch):
    """Stand in a copy of this folder."""
    monkeypatch.chdir(shutil.copytree(misfit, tmp_path / "here"))


def test_the_advice_is_printed_and_followed_in_a_copy_of_the_schema(model, run, run_json):
    before = contents()
    out, err = run(CHECK_MODEL)
    assert err == ""
    assert out.commands == [f"{CHECK_MODEL} --out mended.yaml"]
    assert contents() == before
    facts = run_json(f"{CHECK_MODEL} --out mended.yaml")
    assert (facts["fits"], facts["mended"]) == (False, "mended.yaml")
    assert {row["feature"] for row in facts["advice"]} == {"crp", "systolic", "diastolic"}
    assert "\n      - {name: crp, likelihood: gaussian, transform: log}\n" in out
    mended = FeatureSchema.from_yaml("mended.yaml")
    assert mended.title == "Pressures"
    assert mended["crp"].transform == "log"
    assert mended["systolic"].block == mended["diastolic"].block == "depends_1"
    assert mended["a"] == Feature(name="a", likelihood="gaussian")
    again = quick_fit(pressures(), mended)
    again.save("again")
    facts = run_json("check cohort.csv --model again --out none.yaml")
    assert (facts["fits"], facts["mended"]) == (True, None)
    assert "none.yaml" in facts["warnings"][0]["message"]
    assert "none.yaml" not in names_in()


def test_a_schema_edited_by_hand_is_replaced_on_request_only(model, run, must_refuse):
    Path("mine.yaml").write_text("edited by hand", encoding="utf-8")
    must_refuse(f"{CHECK_MODEL} --out mine.yaml", naming="mine.yaml --overwrite")
    out = run(f"{CHECK_MODEL} --out mine.yaml --overwrite").out
    assert out.commands == ["fit cohort.csv --schema mine.yaml --out mine-subtypes"]
    assert "transform: log" in Path("mine.yaml").read_text(encoding="utf-8")
