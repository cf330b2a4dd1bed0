"""No number of a shared report gives counts back by way of a prior, and no fingerprint confirms a guess.

The attacker knows how the default priors are made of the data, and inverts whatever stands in the file.
"""

from __future__ import annotations

import re
import zipfile
from html import unescape
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from clinclust import MAPDP, Feature, FeatureSchema, Partition
from clinclust.files.selection.row_choice import RowChoice
from clinclust.priors import dirichlet_tree
from clinclust.reporting import write_report

from .conftest import GENERATED

N, LEVELS = 80, 5
QUICK = {"associations": None, "generated": GENERATED, "progress": False}
LIKELIHOODS = {"first": "ordinal", "second": "ordinal", "third": "categorical", "fourth": "bernoulli"}


def cohort_and_schema(**more):
    rng = np.random.default_rng(4)
    groups = np.arange(N) // (N // 2)
    columns, features = {}, []
    for name, likelihood in LIKELIHOODS.items():
        # Half of each group has the answer of the group, so that no number is withheld because a count is small.
        few = rng.choice(LEVELS, N, p=[0.3, 0.3, 0.3, 0.06, 0.04])
        own = np.where(groups == 0, 0, 2)
        columns[name] = np.where(rng.random(N) < 0.5, own, few) if likelihood == "ordinal" else (few + groups) % 2
        levels = {"levels": ("0", "1")} if likelihood == "categorical" else {}
        scale = {"trials": LEVELS - 1} if likelihood == "ordinal" else {}
        features.append(Feature(name=name, likelihood=likelihood, **levels, **scale))
    columns["third"] = columns["third"].astype(str)
    columns["weight"] = rng.normal(70 + 20 * groups, 4).round(1)
    features.append(Feature(name="weight", likelihood="gaussian", **more))
    return pd.DataFrame(columns), FeatureSchema(features), groups


def texts_of(path):
    """Every text of a workbook or page, without its tags."""
    if path.suffix == ".html":
        return [unescape(text) for text in re.findall(">([^<>]+)<", path.read_text(encoding="utf-8"))]
    with zipfile.ZipFile(path) as archive:
        parts = [archive.read(name).decode("utf-8") for name in archive.namelist() if name.endswith((".xml", ".rels"))]
    return [unescape(text) for part in parts for text in re.findall('>([^<>]+)<|="([^"]*)"', part) for text in text]


def recovered(path, frame):
    """The small counts of levels that the priors in a file give back: as the frequencies behind their means."""
    found = set()
    for text in texts_of(path):
        numbers = [
            [float(number) for number in re.findall(r"[0-9][0-9.e+-]*", values)]
            for values in re.findall(r"\w+ = ([0-9][0-9., e+-]*)", text)
        ]
        for lower, upper in pairwise(numbers):
            if len(lower) == len(upper) == LEVELS - 1:
                means = dirichlet_tree.probabilities(np.concatenate([lower, upper]))
                counts = np.rint(N * (means - 0.25 / LEVELS) / 0.75).tolist()
                found |= {
                    (name, level)
                    for name, kind in LIKELIHOODS.items()
                    if kind == "ordinal" and counts == np.bincount(frame[name], minlength=LEVELS).tolist()
                    for level, count in enumerate(counts)
                    if 0 < count < 10
                }
    return found


def report(folder, suffix, suppress, *, concentration="map", **more):
    frame, schema, _ = cohort_and_schema(**more)
    model = MAPDP.as_published(
        schema, concentration=concentration, n_restarts=2, n_jobs=1, random_state=0, progress=False
    )
    model = model.fit(frame)
    path = write_report(model, frame, folder / f"{suppress}{suffix}", suppress=suppress, **QUICK)
    return model, frame, path


@pytest.mark.parametrize("suffix", [".xlsx", ".html"])
def test_no_count_is_found_by_inverting_priors(tmp_path, suffix):
    model, frame, path = report(tmp_path, suffix, 10)
    assert recovered(path, frame) == set()
    own = write_report(model, frame, tmp_path / f"own{suffix}", **QUICK)
    counts = {name: np.bincount(frame[name], minlength=LEVELS) for name in ("first", "second")}
    small = {(name, level) for name in counts for level in range(LEVELS) if 0 < counts[name][level] < 10}
    assert recovered(own, frame) == small != set()  # where priors are shown, every one is found


@pytest.mark.parametrize("suffix", [".xlsx", ".html"])
def test_no_hyperparameter_stands_that_is_made_of_the_data(tmp_path, suffix):
    stated = {"mean": 71.5}
    model, _, path = report(tmp_path, suffix, 10, prior=stated)
    text = "\n".join(texts_of(path))
    for name, given in model.hyperparameters_.items():
        for key, value in given.items():
            first = f"{key} = {np.atleast_1d(value)[0]:.4g}"
            assert (first in text) == (name == "weight" and key in stated), (name, first)
    assert f"{model.concentration_:.3g}, the mode of its posterior" not in text
    assert "[c], the mode of its posterior" in text


def test_a_concentration_that_was_stated_is_told(tmp_path):
    *_, path = report(tmp_path, ".html", 10, concentration=2.5)
    assert "set to 2.5 in advance" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("suffix", [".xlsx", ".html"])
def test_no_fingerprint_confirms_a_guess(tmp_path, suffix):
    """Of a condition on rows that is withheld, and of a level that one subject has."""
    frame, schema, groups = cohort_and_schema()

    def guessed(name, level):
        features = [*schema, Feature(name="origin", likelihood="categorical", role="describe", levels=("here", level))]
        return FeatureSchema(features, rows=RowChoice(where=f"`Patient ID` != '{name}'"))

    frame["origin"] = ["there"] + ["here"] * (N - 1)
    model = Partition(groups, guessed("Smith", "there"), made_by="a clinician")
    for suppress in (10, None):
        path = write_report(model, frame, tmp_path / f"{suppress}{suffix}", suppress=suppress, **QUICK)
        text = "\n".join(texts_of(path))
        guesses = [(name, level) for name in ("Jones", "Smith", "Brown") for level in ("elsewhere", "there")]
        confirmed = [guess for guess in guesses if guessed(*guess).fingerprint in text]
        assert confirmed == ([] if suppress else [("Smith", "there")])
        assert not re.search("[0-9a-f]{32,}", text) or not suppress
