"""The floor for the size of subtypes: as the option says it, in what the commands print, and in what they write."""

import argparse
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import SCHEMA_OPTION, contents, refused
from hypothesis import given
from hypothesis import strategies as st

from clinclust import MAPDP, Feature, FeatureSchema, read_cohort
from clinclust.cli import main
from clinclust.cli.options import SearchOptions, add_options, check_search, number_or_share, read_options
from clinclust.methods import PublishedMAPDP

OPTIONS = ["--n-restarts", "4", "--associations", "none"]
WILD = ["fit", "wild.csv", "--schema", "wild.yaml", "--out", "out", *OPTIONS, "--as-published"]


@pytest.fixture
def wild(here):
    """Two subtypes, two subjects far away, and wild values that make up small clusters: some weak, some clear."""
    rng = np.random.default_rng(0)
    values = np.vstack([rng.normal(mean, 1, (n, 5)) for mean, n in ((0, 120), (3, 60), (12, 2))])
    values[rng.random(values.shape) < 0.01] *= 8
    frame = pd.DataFrame(values.round(6), columns=list("abcde"))
    frame.to_csv("wild.csv", index=False)
    FeatureSchema([Feature(name=name, likelihood="gaussian") for name in frame]).to_yaml("wild.yaml")
    return frame


def problems_of(*words):
    parser = argparse.ArgumentParser()
    add_options(parser, SearchOptions)
    return check_search(read_options(SearchOptions, parser.parse_args([*words, "--quiet"])))


# --- the option -------------------------------------------------------------------------------------------------------


@given(st.decimals("0.01", "50", places=2))
def test_percent_are_the_share_with_the_same_digits(percent):
    share = number_or_share(f"{percent}%")
    assert isinstance(share, float)
    assert share == number_or_share(f"{percent} %") == float(percent / Decimal(100))


@given(st.integers(-10, 10**6))
def test_whole_numbers_are_subjects(number):
    assert isinstance(number_or_share(str(number)), int)
    assert number_or_share(str(number)) == number


@pytest.mark.parametrize("text", ["20", "2", "0.02", "2%", "50%", ".5"])
def test_floors_that_can_be(text):
    assert problems_of("--min-size", text) == []


@pytest.mark.parametrize("text", ["1", "0", "-3", "20.0", "60%", "0%", "0.0", "nan", "inf"])
def test_floors_that_cannot_be(text):
    (problem,) = problems_of("--min-size", text)
    assert problem.startswith("--min-size must be a whole number of at least 2 (subjects), or a number above 0 and at")
    assert ("leave --min-size out" in problem) == (text in ("1", "0", "-3"))


@pytest.mark.parametrize("command", ["fit", "start"])
def test_a_floor_of_one_is_refused_before_anything_is_read(here, capsys, command):
    schema = {"fit": [*SCHEMA_OPTION, "--out", "out"], "start": []}[command]
    said = "not 1; leave --min-size out to merge no small subtype; `clinclust report --min-size` says"
    assert said in refused(capsys, command, "cohort.csv", *schema, "--min-size", "1")


@pytest.mark.parametrize("text", ["few", "0,02", "2 percent", "%", "nan%", "1e1%"])
def test_what_is_no_number_is_told_with_what_is_taken(here, capsys, text):
    with pytest.raises(SystemExit, match="2"):
        main(["fit", "cohort.csv", *SCHEMA_OPTION, "--out", "out", "--min-size", text])
    takes = "--min-size: takes a number of subjects, as 20, or a share of the cohort, as 0.02 or 2%"
    assert f"{takes}, not '{text}'" in capsys.readouterr().err


def test_a_floor_of_more_than_half_the_cohort_is_refused_before_the_search(here, capsys, monkeypatch):
    def never(*arguments):
        raise AssertionError("a search began")

    monkeypatch.setattr("clinclust.estimators.fitting.search", never)
    message = refused(capsys, "fit", "cohort.csv", *SCHEMA_OPTION, "--out", "out", "--min-size", "21")
    assert "at least 21 subjects in a subtype were asked for (min_size), and the cohort has 40" in message
    assert "give at most 20" in message


# --- the fit ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "floor", "number"), [("20", 20, None), ("0.1", 0.1, 4), ("10%", 0.1, None)])
def test_the_fit_is_that_of_the_model_with_this_floor(wild, text, floor, number):
    more = [] if number is None else ["--n-clusters", str(number)]
    assert main([*WILD, *more, "--min-size", text]) == 0
    model = MAPDP.load("out")
    options = {"n_clusters": number, "min_size": floor, "block_weights": None}
    expected = PublishedMAPDP(model.schema_, **options, n_restarts=4, random_state=0)
    expected.fit(read_cohort("wild.csv"))
    assert model.get_params() == expected.get_params()
    assert model.min_size_ == expected.min_size_ > 1
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    assert model.untested_.any()


def test_what_is_described_only_and_what_was_merged_is_said(wild, capsys):
    assert main([*WILD, "--min-size", "20"]) == 0
    out, model = capsys.readouterr().out, MAPDP.load("out")
    few = [str(subtype) for subtype, size in enumerate(model.cluster_sizes_, start=1) if size < 20]
    merged = model.subtype_of_.size - model.n_clusters_
    assert merged > 0
    assert f"; few subjects, untested: subtype{'s' * (len(few) > 1)} {', '.join(few)}" in out.splitlines()[0]
    assert f"{merged} fewer than without --min-size: groups of fewer than 20 subjects were merged" in out
    assert main([*WILD, "--overwrite"]) == 0
    out = capsys.readouterr().out
    assert "few subjects" not in out
    assert "fewer than without" not in out


def test_a_number_that_the_search_did_not_find_keeps_the_floor(wild, capsys):
    assert main([*WILD, "--n-clusters", "50", "--min-size", "20"]) == 3
    model, err = MAPDP.load("out"), capsys.readouterr().err
    assert (model.n_clusters, model.min_size) == (None, 20)
    assert model.untested_.any()
    assert f"the results show the search with its small groups merged (K = {model.n_clusters_})" in err


# --- afterwards -------------------------------------------------------------------------------------------------------


@pytest.fixture
def floored(wild, capsys):
    """Return the two largest subtypes, and the first that is described only."""
    assert main([*WILD, "--min-size", "20"]) == 0
    capsys.readouterr()
    return int(MAPDP.load("out").untested_.argmax()) + 1


@pytest.mark.simulation
def test_the_report_again_is_the_same_whatever_smaller_size_it_tests(floored):
    before = {name: data for name, data in contents("out").items() if "subtypes." in name}
    report = ["report", "wild.csv", "--model", "out", "--overwrite", "--associations", "none"]
    for more in ([], ["--min-size", "5"]):
        assert main([*report, *more]) == 0
        assert {name: contents("out")[name] for name in before} == before


def test_a_table_tests_none_that_the_fit_describes_only(floored, capsys):
    table = ["table", "wild.csv", "--model", "out", "--out", "table.csv", "--between", "1"]
    for more in ([], ["--min-size", "2"]):
        message = refused(capsys, *table, str(floored), *more)
        assert "than the 20 that the fit asks for, so it is untested" in message
        assert "compare other subtypes, or fit again with a lower --min-size" in message
    assert main([*table, "2"]) == 0


def test_without_a_pair_a_table_tests_the_others(floored):
    from clinclust import compare_subtypes

    model = MAPDP.load("out")
    table = ["table", "wild.csv", "--model", "out"]
    for name, more in (("low", ["--min-size", "2"]), ("floor", ["--min-size", "20"]), ("high", ["--min-size", "61"])):
        assert main([*table, "--out", f"{name}.csv", *more]) == 0
    assert Path("low.csv").read_bytes() == Path("floor.csv").read_bytes() != Path("high.csv").read_bytes()
    frame = read_cohort("wild.csv")
    expected = compare_subtypes(frame, model.labels_, model.schema_, min_size=20)
    assert not set(expected.query("kind == 'pair'")["subtype"]) & {floored}


def test_assignments_say_who_is_in_a_subtype_of_few_subjects(wild, floored, capsys):
    assert main(["assign", "wild.csv", "--model", "out", "--out", "again.csv"]) == 0
    assert Path("again.csv").read_bytes() == Path("out/assignments.csv").read_bytes()
    wild.tail(30).to_csv("new.csv", index=False)
    assert main(["assign", "new.csv", "--model", "out", "--out", "assigned.csv"]) == 0
    assigned, model = pd.read_csv("assigned.csv"), MAPDP.load("out")
    is_small = np.append(model.untested_, False)[assigned["subtype"] - 1]
    assert is_small.any()
    assert (assigned["few_subjects"] == np.where(is_small, "yes", "no")).all()


def test_new_people_have_no_continuum_score_and_this_is_said(here, capsys):
    rng = np.random.default_rng(0)
    degree = rng.normal(size=(200, 1))
    frame = pd.DataFrame((degree + 0.7 * rng.normal(size=(200, 6))).round(3), columns=list("abcdef"))
    frame.to_csv("one.csv", index=False)
    frame.head(20).to_csv("new.csv", index=False)
    FeatureSchema([Feature(name=name, likelihood="gaussian") for name in frame]).to_yaml("one.yaml")
    assert main(["fit", "one.csv", "--schema", "one.yaml", "--out", "out", *OPTIONS]) == 0
    capsys.readouterr()
    assert main(["assign", "one.csv", "--model", "out", "--out", "again.csv"]) == 0
    assert "no continuum score" not in capsys.readouterr().err
    assert Path("again.csv").read_bytes() == Path("out/assignments.csv").read_bytes()
    assert pd.read_csv("again.csv")["continuum_score"].notna().all()
    told = "new people have no continuum score, which needs the whole cohort"
    assert main(["assign", "new.csv", "--model", "out", "--out", "assigned.csv"]) == 0
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "continuum" in line]
    assert told in line
    assert line.endswith(f"those of the cohort are in {Path('out/assignments.csv')}")
    assert pd.read_csv("assigned.csv")["continuum_score"].isna().all()
    Path("out/assignments.csv").unlink()
    assert main(["assign", "new.csv", "--model", "out"]) == 0
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "continuum" in line]
    assert line.endswith(told)
