"""A given partition: which labels it takes, and how it shows itself."""

import pickle
from decimal import Decimal

import numpy as np
import openpyxl
import pandas as pd
import pytest

import clinclust as cc

SCHEMA = cc.FeatureSchema([cc.Feature(name="falls", likelihood="poisson")])


def partition(labels, made_by="a clinician"):
    return cc.Partition(labels, SCHEMA, made_by=made_by)


@pytest.mark.parametrize(
    ("labels", "given", "names"),
    [
        (["mild", "severe", "severe"], ("severe", "mild"), {1: "severe", 2: "mild"}),
        ([" mild", "mild ", "severe"], ("mild", "severe"), {1: "mild", 2: "severe"}),
        (pd.Categorical(["b", "a", "b"], categories=["a", "b", "c"]), ("b", "a"), {1: "b", 2: "a"}),
        (pd.Series(["x", "y", "y"], dtype="string"), ("y", "x"), {1: "y", 2: "x"}),
        (np.array([7, 7, 3]), (7, 3), {1: "given as 7", 2: "given as 3"}),
        (np.array([1, 1, 2]), (1, 2), {}),
        (np.array([0, 1, 0]), (0, 1), {}),
        ([2.0, 1.0, 1.0], (1.0, 2.0), {}),
        (["1", "2", "2"], ("2", "1"), {1: "given as 2", 2: "given as 1"}),  # numbers in a table that is read as text
        (["1", "2", "none"], ("1", "2", "none"), {1: "1", 2: "2", 3: "none"}),
        (np.array([True, False, False]), (False, True), {1: "False", 2: "True"}),
        (pd.array([1, 2, 2], dtype="Int64"), (2, 1), {1: "given as 2", 2: "given as 1"}),
    ],
)
def test_labels_of_any_kind_become_numbers_by_decreasing_size(labels, given, names):
    found = partition(labels)
    assert found.given_ == given
    assert found.names_ == names
    assert [given[label] for label in found.labels_] == [
        label.strip() if isinstance(label, str) else label for label in labels
    ]
    assert found.labels_.dtype == np.int64
    assert (np.diff(found.cluster_sizes_) <= 0).all()
    assert found.n_clusters_ == len(given)


def test_of_equal_sizes_the_first_comes_first():
    assert partition(["b", "a", "c", "a", "b", "c"]).given_ == ("b", "a", "c")


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["a", None, "b"], r"1 of 3 are missing \(first at position 1, counted from 0\)"),
        ([np.nan, 1, pd.NA, "", "  "], r"4 of 5 are missing \(first at position 0, 2, 3, 4"),
        (pd.Series([1, pd.NA], dtype="Int64"), "1 of 2 are missing"),
        ([], "one label for each subject"),
        ([["a"], ["b"]], r"shape \(2, 1\)"),
        ("abc", "one label for each subject"),
        ([0.5, 1.0], "whole numbers, not 0.5"),
        ([{"a": 1}, "b"], "not dict"),
        (np.ma.masked_array([1, 2, 3, 2], mask=[0, 1, 0, 0]), "1 of 4 are missing"),
        ([1.0, np.inf, 2.0], "whole numbers, not inf"),
        ([Decimal("1.5"), Decimal(2)], "not Decimal"),
        ([1 + 2j, 2 + 0j], "not complex"),
        ([b"lead", b"follow"], "not bytes"),
        ([1, "1", 2], "1 as text and as number"),
    ],
)
def test_labels_that_are_none_are_refused(labels, said):
    with pytest.raises(ValueError, match=said):
        partition(labels)


def test_everything_wrong_is_said_at_once():
    with pytest.raises(ValueError, match=r"missing.*schema must be.*made_by must say"):
        cc.Partition([None], {"falls": "poisson"}, made_by=" ")


def test_it_can_be_pickled_and_printed():
    found = partition(pd.Series(["mild", "<b>", "mild"], index=["p1", "p2", "p3"]))
    again = pickle.loads(pickle.dumps(found))
    assert again.labels_.tolist() == [0, 1, 0]
    assert again.index_.equals(pd.Index(["p1", "p2", "p3"]))
    assert repr(again) == repr(found) == "Partition(2 subtypes of 3 subjects, made by a clinician)"
    html = found._repr_html_()
    assert "Partition: 2 subtypes of 3 subjects" in html
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert (found.membership_, found.fit_, dict(found.uninformative_)) == (None, None, {})


def untested_in(path):
    facts = {row[0]: row[1] for row in openpyxl.load_workbook(path)["Summary"].iter_rows(values_only=True)}
    return facts["Subtypes of few subjects, untested"]


def test_a_group_is_too_small_to_test_only_if_it_is_small(tmp_path):
    frame = SCHEMA.validate(pd.DataFrame({"falls": np.arange(40) % 5}))
    whole = cc.Partition(np.zeros(40, dtype=int), SCHEMA, made_by="nobody")
    assert untested_in(cc.write_report(whole, frame, tmp_path / "whole.xlsx")) == "none"
    few = cc.Partition([0] * 38 + [1, 2], SCHEMA, made_by="somebody")
    assert untested_in(cc.write_report(few, frame, tmp_path / "few.xlsx")) == "2, 3"
