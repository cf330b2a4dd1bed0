"""Subtypes in another cohort: found again where they are, and not where they are not."""

import numpy as np
import pandas as pd
import pytest
from command_line import refused

import clinclust as cc
from clinclust.cli import main
from clinclust.errors import CohortError, InputError

MEANS = np.random.default_rng(3).normal(0.0, 1.4, (3, 8))
NAMES = [f"x{place}" for place in range(8)]
QUICK = {"random_state": 0, "n_jobs": 1, "progress": False}
SCHEMA = cc.FeatureSchema(
    [
        *(cc.Feature(name=name, likelihood="gaussian") for name in NAMES),
        cc.Feature(name="kind", likelihood="categorical", levels=("a", "b", "c")),
        cc.Feature(name="age", likelihood="gaussian", role="describe"),
    ]
)


def cohort(n, shares, seed):
    rng = np.random.default_rng(seed)
    group = rng.choice(len(shares), n, p=shares)
    frame = pd.DataFrame(MEANS[group] + rng.normal(size=(n, 8)), columns=NAMES).mask(rng.random((n, 8)) < 0.05)
    kinds = np.where(rng.random(n) < 0.6, group, rng.integers(3, size=n))
    return frame.assign(kind=np.array(["a", "b", "c"])[kinds], age=rng.normal(60, 9, n))


@pytest.fixture(scope="module")
def fitted():
    frame = cohort(300, [0.5, 0.3, 0.2], 0)
    return cc.MAPDP(SCHEMA, n_clusters=3, **QUICK).fit(frame), frame


def test_subtypes_of_the_same_population_are_found_again_whatever_their_shares(fitted):
    model, frame = fitted
    other = cohort(200, [0.2, 0.3, 0.5], 1).drop(columns="age")  # described columns are not needed
    found = cc.stability.validate_subtypes(model, frame, other, progress=False)
    table = found.subtypes
    assert (table["jaccard"] > 0.9).all()
    assert (table["profile_correlation"] > 0.8).all()
    assert sorted(table["nearest"]) == [1, 2, 3]
    assert table["share_assigned"].to_numpy() == pytest.approx([0.2, 0.3, 0.5], abs=0.1)
    assert table["share"].sum() == pytest.approx(1.0)
    assert "3 of 3 subtypes are found again in the other cohort of 200 subjects" in found.summary
    assert len(found.summary.split("\n")) == 4


def test_a_subtype_that_the_other_cohort_lacks_is_not_found(fitted):
    model, frame = fitted
    found = cc.stability.validate_subtypes(model, frame, cohort(200, [0.5, 0.5], 2), progress=False)
    assert (found.subtypes["band"] == "highly stable").tolist() == [True, True, False]
    assert found.n_found_again == 2


@pytest.mark.simulation
@pytest.mark.filterwarnings("ignore:.*lie beyond nearly all values:clinclust.CohortWarning")
def test_one_group_has_no_subtype_although_all_its_subjects_come_together(fitted):
    frame = fitted[1]
    model = cc.MAPDP(SCHEMA, n_restarts=2, **QUICK).fit(frame)
    found = cc.stability.validate_subtypes(model, frame, cohort(80, [1.0], 3), progress=False)
    assert (found.n_found, found.n_found_again) == (1, 0)
    assert set(found.subtypes["band"]) == {"not found"}
    assert "the same procedure finds one group" in found.summary


def test_tables_that_are_not_these_are_refused(fitted):
    model, frame = fitted
    with pytest.raises(InputError, match="rows"):
        cc.stability.validate_subtypes(model, frame.head(50), frame, progress=False)
    with pytest.raises(CohortError, match="x3"):
        cc.stability.validate_subtypes(model, frame, frame.drop(columns="x3"), progress=False)


@pytest.mark.simulation
def test_the_command_says_it_and_writes_one_page(fitted, tmp_path, monkeypatch, capsys):
    model, frame = fitted
    monkeypatch.chdir(tmp_path)
    model.save("subtypes")
    frame.to_csv("cohort.csv", index=False)
    cohort(120, [0.3, 0.3, 0.4], 4).to_csv("other.csv", index=False)
    given = ["validate", "other.csv", "--cohort", "cohort.csv", "--model", "subtypes"]
    assert main([*given, "--out", "page.html"]) == 0
    said = capsys.readouterr().out
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "3 of 3 subtypes are found again" in said
    assert "3 of 3 subtypes are found again" in page
    assert page.count("<tr>") >= 4
    assert main([*given, "--out", "table.csv"]) == 0
    assert pd.read_csv("table.csv")["jaccard"].min() > 0.8
    capsys.readouterr()
    frame.assign(x3="high").to_csv("other.csv", index=False)
    assert "--unseen" not in refused(capsys, *given)
    assert "ends in .html or .csv" in refused(capsys, *given, "--out", "page.pdf")
    assert "validate cannot be used with --suppress" in refused(capsys, *given, "--suppress", "5")
