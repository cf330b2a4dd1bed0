"""The options of the search: the default parameters, and what each option changes in them."""

import argparse
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from command_line import SCHEMA_OPTION, contents, refused

from clinclust import MAPDP, Feature, FeatureSchema
from clinclust.cli import main
from clinclust.cli.options import SearchOptions, add_options, build_model, read_options
from clinclust.methods import PublishedMAPDP

PUBLISHED = {"coarsening": 1.0, "n_clusters": None, "block_weights": None, "calibrate": False}
QUICK = ["--out", "out", "--n-restarts", "2", "--associations", "none"]


def asked_for(*words):
    parser = argparse.ArgumentParser()
    add_options(parser, SearchOptions)
    return build_model(read_options(SearchOptions, parser.parse_args([*words, "--quiet"])), None).get_params()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], {}),
        (["--as-published"], PUBLISHED),
        (["--as-published", "--block-weights", "auto"], {**PUBLISHED, "block_weights": "auto"}),
        (["--block-weights", "none"], {"block_weights": None}),
        (["--n-clusters", "none"], {"n_clusters": None}),
        (["--n-clusters", "3"], {"n_clusters": 3}),
        (["--coarsening", "1"], {"coarsening": 1.0}),
        (["--as-published", "--n-clusters", "distinct"], {**PUBLISHED, "n_clusters": "distinct"}),
        (["--as-published", "--coarsening", "auto"], {**PUBLISHED, "coarsening": "auto"}),
        (["--select-features", "--coarsening", "1"], {"coarsening": 1.0, "select_features": True}),
        (["--hyperparameters", "greedy", "--as-published"], {**PUBLISHED, "hyperparameters": "greedy"}),
        (["--concentration", "1"], {"concentration": 1.0}),
    ],
)
def test_options_change_the_defaults_and_nothing_else(words, expected):
    assert asked_for(*words) == {**MAPDP().get_params(), "random_state": 0, "progress": False, **expected}


def test_what_somebody_asks_for_twice_is_refused(here, capsys):
    options = ["--coarsening", "auto", "--select-features", "--hyperparameters", "empirical"]
    message = refused(capsys, "fit", "cohort.csv", *SCHEMA_OPTION, *QUICK, *options)
    assert "--hyperparameters empirical and --coarsening auto and --select-features cannot be combined" in message


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--select-features"], "--coarsening auto (the default) and --select-features cannot be combined in one fit"),
        (
            ["--concentration", "map"],
            "--concentration map and --coarsening auto (the default) cannot be combined in one fit; "
            "give --coarsening 1 as well",
        ),
        (
            ["--hyperparameters", "greedy"],
            "a published search and cannot be combined with --n-clusters distinct (the default); "
            "give --as-published as well",
        ),
    ],
)
def test_what_does_not_go_with_the_defaults_is_refused_with_the_option_that_repairs_it(here, capsys, words, said):
    assert said in refused(capsys, "fit", "cohort.csv", *SCHEMA_OPTION, *QUICK, *words)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("0", "'distinct', 'found' or a whole number of at least 1, not 0"),
        ("41", "the cohort has 40 subjects"),
    ],
)
def test_numbers_of_subtypes_that_cannot_be(here, capsys, number, said):
    assert said in refused(capsys, "fit", "cohort.csv", *SCHEMA_OPTION, *QUICK, "--n-clusters", number)


def test_a_number_that_the_search_did_not_find_loses_no_search(here, capsys):
    assert main(["fit", "cohort.csv", *SCHEMA_OPTION, *QUICK, "--n-clusters", "9"]) == 3
    out, err = capsys.readouterr()
    found = MAPDP.load("out")
    assert found.n_clusters is None
    assert found.n_clusters_ == found.subtype_of_.size < 9
    assert f"9 subtypes were asked for, and the search found {found.n_clusters_} groups" in err
    assert f"K = {found.n_clusters_}" in err
    assert {"subtypes.xlsx", "subtypes.html", "assignments.csv"} <= {path.name for path in Path("out").iterdir()}
    assert f"{found.n_clusters_} subtypes (9 were asked for) among 40 subjects" in out
    page = Path("out", "subtypes.html").read_text(encoding="utf-8")
    assert f"Found: {found.n_clusters_} subtypes (9 were asked for, and the search found no more), among 40" in page
    book = openpyxl.load_workbook(Path("out", "subtypes.xlsx"))
    assert "(9 were asked for, and the search found no more)" in " ".join(str(row[0]) for row in book["Trust"].values)
    assert ["Subtypes asked for", 9] in [list(row[:2]) for row in book["Summary"].iter_rows(values_only=True)]


def test_a_number_that_the_search_found_is_cut_from_it(here):
    assert main(["fit", "cohort.csv", *SCHEMA_OPTION, *QUICK, "--as-published", "--n-clusters", "1"]) == 0
    model = MAPDP.load("out")
    expected = PublishedMAPDP(model.schema_, n_clusters=1, n_restarts=2, random_state=0)
    from clinclust import read_cohort

    expected.fit(read_cohort("cohort.csv"))
    assert model.get_params() == expected.get_params()
    np.testing.assert_array_equal(model.subtype_of_, expected.subtype_of_)
    np.testing.assert_array_equal(model.cluster_labels_, expected.cluster_labels_)


def severity(folder):
    rng = np.random.default_rng(0)
    degree = rng.normal(size=(200, 1))
    frame = pd.DataFrame((degree + 0.7 * rng.normal(size=(200, 6))).round(3), columns=list("abcdef"))
    frame.to_csv(folder / "one.csv", index=False)
    FeatureSchema([Feature(name=name, likelihood="gaussian") for name in frame]).to_yaml(folder / "one.yaml")


def test_a_continuum_is_said_to_be_one_and_published_slices_are_shown_when_asked_for(here, capsys):
    severity(here)
    command = ["fit", "one.csv", "--schema", "one.yaml", "--n-restarts", "2", "--associations", "none", "--out"]
    assert main([*command, "tested"]) == 0
    assert "1 subtype among 200 subjects: 200 (100.0%)\nTested: the cohort looks like one continuum" in (
        capsys.readouterr().out
    )
    assert MAPDP.load("tested").subtype_of_.size > 1
    assert main([*command, "published", "--as-published"]) == 0
    assert "Tested" not in capsys.readouterr().out
    assert MAPDP.load("published").n_clusters_ > 1
    assert contents("published")
