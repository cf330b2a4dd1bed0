"""`clinclust fit`: the model that the options ask for, its files, small subtypes, and subtypes that are one column."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema, wild_cohort
from command_line import FILES, FIT, RESTARTS, exit_code, names_in, severities
from reporting.stand_in import texts_of

from clinclust import MAPDP, compare_subtypes, read_cohort


# --- the model and its files ------------------------------------------------------------------------------------------
def test_the_defaults_of_the_command_are_the_recommended_ones(here, run_json):
    facts = run_json(f"fit cohort.csv --schema schema.yaml --associations none --out a/b {RESTARTS} 2")
    model = MAPDP.load("a/b")
    assert model.get_params() == {**MAPDP().get_params(), "random_state": 0, "n_restarts": 2, "schema": model.schema_}
    assert sorted(facts["files"]) == names_in("a/b") == sorted(FILES)
    assert [subtype["n"] for subtype in facts["subtypes"]] == [24, 16]
    assert facts["warnings"] == []


# --- the number of subtypes -------------------------------------------------------------------------------------------
@pytest.fixture
def continuum(here):
    frame = severities()
    frame.to_csv("cohort.csv", index=False)
    gaussian_schema(frame).to_yaml("schema.yaml")
    return frame


@pytest.mark.simulation
def test_a_continuum_is_one_subtype_and_its_subjects_have_a_score(continuum, run):
    run(f"fit cohort.csv --schema schema.yaml --out out {RESTARTS} 4 --associations none")
    model = MAPDP.load("out")
    assert model.n_clusters_ == 1 < model.subtype_of_.size
    assert run("assign cohort.csv --model out --out again.csv").err.notes != []  # it is the table of the fit
    assert Path("again.csv").read_bytes() == Path("out/assignments.csv").read_bytes()
    assert pd.read_csv("again.csv")["continuum_score"].notna().all()
    continuum.head(20).to_csv("new.csv", index=False)
    (note,) = run("assign new.csv --model out --out assigned.csv").err.notes
    assert "continuum score" in note
    assert note.endswith(str(Path("out/assignments.csv")))
    assert pd.read_csv("assigned.csv")["continuum_score"].isna().all()
    Path("out/assignments.csv").unlink()
    (note,) = run("assign new.csv --model out").err.notes
    assert "assignments.csv" not in note


# --- small subtypes ---------------------------------------------------------------------------------------------------

FIT_WILD = f"fit cohort.csv --schema schema.yaml --out out --as-published {RESTARTS} 4 --associations none"


@pytest.fixture(scope="module")
def wild_folder(tmp_path_factory):
    """Two subtypes, two subjects far away, and wild values that make up small clusters, fitted with a floor of 20."""
    folder = tmp_path_factory.mktemp("wild")
    frame = wild_cohort(8).round(6)
    frame.to_csv(folder / "cohort.csv", index=False)
    gaussian_schema(frame).to_yaml(folder / "schema.yaml")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert exit_code(f"{FIT_WILD} --min-size 20") == 0
    return folder


@pytest.fixture
def wild(wild_folder, tmp_path, monkeypatch):
    """Stand in a copy of this folder, and return the model of the fit."""
    monkeypatch.chdir(shutil.copytree(wild_folder, tmp_path / "wild"))
    return MAPDP.load("out")


def test_subtypes_of_few_subjects_are_marked_where_a_floor_is_asked_for(wild, run_json):
    assert wild.subtype_of_.size > wild.n_clusters_  # some were merged
    assert wild.untested_.tolist() == (wild.cluster_sizes_ < 20).tolist()
    facts = run_json(f"{FIT_WILD} --overwrite")
    assert not any(subtype["untested"] for subtype in facts["subtypes"])
    facts = run_json(f"{FIT_WILD} --overwrite --n-clusters 4 --min-size 0.1")
    assert any(subtype["untested"] for subtype in facts["subtypes"])
    assert MAPDP.load("out").min_size == 0.1


def test_a_number_that_the_search_did_not_find_keeps_the_floor_and_is_told(wild, run_json, whole_reports):
    facts = run_json(f"{FIT_WILD} --overwrite --n-clusters 50 --min-size 20", code=3)
    model = MAPDP.load("out")
    assert (model.n_clusters, model.min_size) == (None, 20)
    assert [subtype["untested"] for subtype in facts["subtypes"]] == wild.untested_.tolist()
    assert re.search(r"\(50 [a-z]", Path("out/subtypes.html").read_text(encoding="utf-8"))


def test_a_table_tests_none_that_the_fit_describes_only(wild, must_refuse, run):
    small = int(wild.untested_.argmax()) + 1
    table = "table cohort.csv --model out --out"
    for more in ("", "--min-size 2"):
        must_refuse(f"{table} t.csv --between 1 {small} {more}", naming=f"--between {small} 20 --min-size")
    run(f"{table} t.csv --between 1 2")
    for name, size in (("low", 2), ("floor", 20), ("high", 61)):
        run(f"{table} {name}.csv --min-size {size}")
    assert Path("low.csv").read_bytes() == Path("floor.csv").read_bytes() != Path("high.csv").read_bytes()
    pairs = compare_subtypes(read_cohort("cohort.csv"), wild.labels_, wild.schema_, min_size=20).query("kind == 'pair'")
    assert small not in set(pairs["subtype"])


def test_assignments_say_who_is_in_a_subtype_of_few_subjects(wild, run):
    run("assign cohort.csv --model out --out again.csv")
    assert Path("again.csv").read_bytes() == Path("out/assignments.csv").read_bytes()
    few = pd.read_csv("again.csv")["few_subjects"] == "yes"
    assert few.tolist() == wild.untested_[wild.labels_].tolist()
    new = pd.read_csv("cohort.csv").tail(30)
    new.iloc[0] = 1e6  # of none of these, who is not one of few
    new.to_csv("new.csv", index=False)
    run("assign new.csv --model out --out assigned.csv")
    assigned = pd.read_csv("assigned.csv")
    is_small = np.append(wild.untested_, False)[assigned["subtype"] - 1]
    assert is_small.any()
    assert assigned["subtype"][0] == 0
    assert (assigned["few_subjects"] == np.where(is_small, "yes", "no")).all()


# --- subtypes that are one column -------------------------------------------------------------------------------------

MEASURED = [f"m{place}" for place in range(10)]
NEARLY_SEX = re.compile(r"sex.* tells the subtypes apart: right for")


@pytest.fixture
def sexes(tmp_path, monkeypatch):
    """Five of ten measurements differ by sex, which is described only; dates and a centre mean nothing."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    male = rng.random(300) < 0.5
    frame = pd.DataFrame({name: rng.normal(2.0 * male * (place < 5)) for place, name in enumerate(MEASURED)}).round(3)
    frame["sex"] = np.where(male, "male", "female")
    frame["centre"] = rng.choice(["north", "south"], 300)
    frame["seen"] = np.datetime_as_string(np.datetime64("2015-01-01") + rng.integers(0, 2000, 300))
    frame.to_csv("cohort.csv", index=False)
    features = "".join(f"  - {{name: {name}, role: ignore}}\n" for name in ("centre", "seen"))
    features += "  - {name: sex, likelihood: bernoulli, levels: [female, male], role: describe}\n"
    Path("schema.yaml").write_text(gaussian_schema(MEASURED).to_yaml() + features, encoding="utf-8")
    return frame


def test_sex_is_named_first_and_the_command_beside_it_looks_beyond(sexes, run, whole_reports):
    out = run(FIT).out
    assert NEARLY_SEX.search(out)
    again, _ = out.commands
    assert NEARLY_SEX.search(texts_of(Path("out/subtypes.html")))
    beyond = run(again).out
    assert MAPDP.load("out-2").cluster_sizes_.tolist() == [len(sexes)]
    assert not NEARLY_SEX.search(beyond)
    (_,) = beyond.commands


@pytest.mark.simulation
def test_an_ignored_column_is_named_by_fit_and_report(sexes, run, whole_reports):
    schema = Path("schema.yaml").read_text(encoding="utf-8")
    Path("schema.yaml").write_text(re.sub(r"name: sex,.*", "name: sex, role: ignore}", schema), encoding="utf-8")
    assert NEARLY_SEX.search(run(FIT).out)
    sexes.iloc[::-1].to_csv("cohort.csv", index=False)
    run("report cohort.csv --model out --out again --associations none")
    assert NEARLY_SEX.search(texts_of(Path("again/subtypes.html")))


@pytest.mark.simulation
def test_a_column_that_makes_the_subtypes_alone_comes_with_the_fit_without_it(sexes, run):
    male = (sexes["sex"] == "male").to_numpy()
    rng = np.random.default_rng(1)
    for place, name in enumerate(MEASURED):
        sexes[name] = rng.normal(8.0 * male * (place == 0)).round(3)
    sexes.drop(columns="sex").to_csv("cohort.csv", index=False)
    schema = Path("schema.yaml").read_text(encoding="utf-8")
    Path("schema.yaml").write_text(re.sub(r".*name: sex,.*\n", "", schema), encoding="utf-8")
    out = run(f"{FIT} --cluster m0,m1 --describe m2").out
    (again,) = out.commands
    assert "--cluster m1 " in again
    assert "--describe" in again.options
    run(again)
    assert MAPDP.load("out-2").cluster_sizes_.tolist() == [300]
