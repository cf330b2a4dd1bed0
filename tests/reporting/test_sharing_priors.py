"""No prior that is made of the data stands in a shared report, and no fingerprint that confirms a guess.

What could be found from them is attacked in `benchmarks/leaks.py`.
"""

from __future__ import annotations

import re
import zipfile
from html import unescape

import numpy as np
import pandas as pd
import pytest
from scored import few

from clinclust import Feature, FeatureSchema, Partition
from clinclust.files.row_choice import RowChoice
from clinclust.methods import PublishedMAPDP
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


def report(folder, suffix, suppress, *, concentration="map", **more):
    frame, schema, _ = cohort_and_schema(**more)
    model = PublishedMAPDP(schema, concentration=concentration, n_restarts=2, n_jobs=1, random_state=0, progress=False)
    model = model.fit(frame)
    path = write_report(model, frame, folder / f"{suppress}{suffix}", suppress=suppress, **QUICK)
    return model, frame, path


@pytest.mark.parametrize("suffix", few([".xlsx", ".html"], 1))
def test_no_hyperparameter_stands_that_is_made_of_the_data(tmp_path, suffix):
    model, _, path = report(tmp_path, suffix, 10, prior={"mean": 71.5})
    text = "\n".join(texts_of(path))
    for name, given in model.hyperparameters_.items():
        for key, value in given.items():
            assert f"{key} = {np.atleast_1d(value)[0]:.4g}" not in text, name
    assert f"{model.concentration_:.3g}, the mode of its posterior" not in text
    assert "[c], the mode of its posterior" in text


def test_a_concentration_that_was_stated_is_told(tmp_path):
    *_, path = report(tmp_path, ".html", 10, concentration=2.5)
    assert "set to 2.5 in advance" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("suffix", few([".html", ".xlsx"], 1))
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
        assert confirmed == ([("Smith", "there")] if suppress is None and suffix == ".xlsx" else [])
        assert not re.search("[0-9a-f]{32,}", text) or not suppress
