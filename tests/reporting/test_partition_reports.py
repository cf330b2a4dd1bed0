"""Reports, tests, tables and figures of subtypes that no MAP-DP search made."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema

import clinclust as cc
from clinclust.errors import InputError
from clinclust.reporting.sheets.subjects import tidy_data

from .stand_in import cohort, gathered, texts_of
from .test_sheets import body

WORDS = {0: "moderate", 1: "mild", 2: "severe"}


@cache
def given():
    frame, schema, labels = cohort()
    words = pd.Series([WORDS[label] for label in labels], index=frame.index)
    return cc.Partition(words, schema, made_by="a clinician"), frame


@pytest.fixture
def case():
    return given()


def test_the_features_stand_in_the_order_of_how_far_the_subtypes_lie_apart(case):
    """Of means in standard deviations; where the subtype table shows medians, of these in the SD of their quartiles.

    Medians that are all the same tell no groups apart, and are of means.
    """
    findings = gathered(*case)
    by_median = {row.feature for row in cc.subtype_table(findings.comparisons).rows if row.summary.startswith("median")}
    assert by_median
    apart = []
    for feature in findings.by_relevance:
        of_levels = []
        for summaries in findings.read.summaries[feature.name].values():
            overall = summaries[0]
            centre, spread = ("median", (overall["q3"] - overall["q1"]) / 1.349)
            if feature.name not in by_median or len({row["median"] for row in summaries.values()}) == 1:
                centre, spread = "mean", overall["sd"]
            if spread > 0:
                between = sum(summaries[k]["n"] * (summaries[k][centre] - overall[centre]) ** 2 for k in findings.sizes)
                of_levels.append((between / overall["n"]) ** 0.5 / spread)
        apart.append(max(of_levels, default=0.0))
    assert apart == sorted(apart, reverse=True)
    assert len(set(apart)) > 10


def test_only_described_features_are_tested_and_nothing_is_searched(case, monkeypatch):
    def never(*arguments, **options):
        raise AssertionError("a search began")

    monkeypatch.setattr("clinclust.associations.refit.refit", never)
    monkeypatch.setattr("clinclust.engine.problem.problem.pose", never)
    partition, frame = case
    found = cc.validated_associations(partition, frame).set_index("feature")
    described = found.loc["probability_of_pd"]
    comparisons = cc.compare_subtypes(frame, partition.labels_, partition.schema_)
    contrast = comparisons.query("kind == 'contrast' and feature == 'probability_of_pd'").iloc[0]
    assert (described["method"], described["test"]) == ("direct", contrast["test"])
    assert described["p"] == described["q"] == pytest.approx(contrast["p"], rel=1e-12)
    others = found.drop("probability_of_pd")
    assert others["p"].isna().all()
    assert others["method"].isna().all()
    assert others["remark"].str.contains("cannot be found again without it").all()
    assert found["seed"].isna().all()


def test_figures_that_need_no_search_are_drawn_and_the_others_say_what_they_need(case):
    partition, frame = case
    comparisons = cc.compare_subtypes(frame, partition.labels_, partition.schema_)
    ax = cc.plots.plot_profile(partition, comparisons)
    assert "moderate" in " ".join(label.get_text() for label in ax.get_xticklabels())
    assert any("†" in label.get_text() for label in ax.get_yticklabels())  # what is described only
    assert cc.plots.plot_effects(partition, comparisons).child_axes[0].get_title() == "moderate"
    with pytest.raises(ValueError, match=r"plot_tree needs a fitted MAPDP.*made by a clinician"):
        cc.plots.plot_tree(partition)


def test_a_subtype_table_of_a_model_with_its_frame(case):
    partition, frame = case
    table = cc.subtype_table(partition, frame)
    comparisons = cc.compare_subtypes(frame, partition.labels_, partition.schema_)
    of_comparisons = cc.subtype_table(comparisons, names=partition.names_)
    assert table.to_html() == of_comparisons.to_html()
    assert "moderate" in table.to_html()
    with pytest.raises(ValueError, match="has 119 rows, but the labels are of 120 subjects"):
        cc.subtype_table(partition, frame.iloc[1:])
    with pytest.raises(ValueError, match="or a model that is given with its frame"):
        cc.subtype_table(partition)


def test_labels_of_other_subjects_are_refused(case, tmp_path):
    partition, frame = case
    for use in (
        lambda: cc.write_report(partition, frame[::-1], tmp_path / "x.html"),
        lambda: cc.validated_associations(partition, frame[::-1]),
        lambda: cc.subtype_table(partition, frame[::-1]),
    ):
        with pytest.raises(ValueError, match=r"align them with `labels.loc\[frame.index\]`"):
            use()


def test_an_existing_file_is_replaced_only_when_asked(case, tmp_path):
    path = tmp_path / "x.html"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"x\.html exists; state overwrite=True.*min_size must be"):
        cc.write_report(*case, path, min_size=0)
    assert path.read_text(encoding="utf-8") == "mine"
    assert "a clinician" in texts_of(cc.write_report(*case, path, overwrite=True))


def test_names_of_a_report_are_the_labels_unless_others_are_given(case):
    findings = gathered(*case, names={3: "bad"})
    assert [findings.name(subtype) for subtype in (1, 2, 3)] == ["1 moderate", "2 mild", "3 bad"]
    partition = cc.Partition(case[0].labels_ * 10, case[0].schema_, made_by="K-means")
    assert gathered(partition, case[1]).name(2) == "2 given as 10"


@pytest.mark.simulation
@pytest.mark.parametrize("suffix", [".xlsx", ".html"])
def test_the_name_of_a_subtype_whose_size_is_withheld_is_withheld(tmp_path, suffix):
    """The labels of a partition may be words of the table, such as a diagnosis that three subjects have."""
    labels = np.repeat(["Commonish", "Frequentish", "Rareish"], [40, 37, 3])
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=80), "y": rng.normal(size=80)})
    model = cc.Partition(labels, gaussian_schema(frame), made_by="a clinician")
    for suppress in (None, 10):
        path = tmp_path / f"{suppress}{suffix}"
        text = texts_of(cc.write_report(model, frame, path, suppress=suppress, associations=None, progress=False))
        assert "Commonish" in text
        assert ("Rareish" in text) == (suppress is None)


def test_features_may_have_formed_the_subtypes_that_are_given(case):
    formed = body(tidy_data(gathered(*case))).groupby("Column")["Clustered on"].unique()
    assert [formed["face"], formed["probability_of_pd"]] == [["perhaps"], ["no"]]
