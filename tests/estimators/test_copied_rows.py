"""Copies of rows: told where chance does not explain them, and not told where it does."""

import re
import warnings
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema
from reporting.stand_in import gathered

import clinclust as cc
from clinclust.estimators.cohort_table import copied_rows, warn_of_rows
from clinclust.files.row_choice import SEVERAL_ROWS, RepeatedSubjects
from clinclust.reporting.sheets.overview import trust

SIZES = (200, 1000)


def independent(rng, n_levels, shape):
    return pd.DataFrame(rng.integers(n_levels, size=shape)).rename(columns=str)


def of_one_trait(rng, n_levels, shape):
    """Return questions with few levels, whose latent scores correlate to 0.81."""
    trait = rng.normal(size=(shape[0], 1))
    scores = 0.9 * trait + np.sqrt(1 - 0.9**2) * rng.normal(size=shape)
    return pd.DataFrame(np.digitize(scores, np.linspace(-0.5, 1.5, n_levels - 1))).rename(columns=str)


def measured(rng, shape):
    """Return measurements with one decimal, a tenth of them missing."""
    values = rng.normal(size=shape).round(1)
    values[rng.random(shape) < 0.1] = np.nan
    return pd.DataFrame(values).rename(columns=str)


def with_copies(frame, rng, share):
    n_copies = round(share * len(frame))
    kept = frame.iloc[n_copies:]
    return pd.concat([kept, kept.iloc[rng.integers(len(kept), size=n_copies)]], ignore_index=True)


BY_CHANCE = {
    "5 yes-no": lambda rng, n: independent(rng, 2, (n, 5)),
    "12 yes-no of one trait": lambda rng, n: of_one_trait(rng, 2, (n, 12)),
    "40 yes-no of one trait": lambda rng, n: of_one_trait(rng, 2, (n, 40)),
    "one column": lambda rng, n: measured(rng, (n, 1)),
    "no values in many rows": lambda rng, n: measured(rng, (n, 8))[np.arange(n) % 3 > 0].reindex(range(n)),
    "no two rows equal": lambda rng, n: measured(rng, (n, 20)),
}


@pytest.mark.parametrize("n_subjects", SIZES)
@pytest.mark.parametrize("kind", BY_CHANCE)
def test_rows_that_are_equal_by_chance_are_no_copies(kind, n_subjects):
    frames = [BY_CHANCE[kind](np.random.default_rng(seed), n_subjects) for seed in range(10)]
    assert [copied_rows(frame, list(frame)) for frame in frames] == [None] * len(frames)


@pytest.mark.parametrize("n_subjects", SIZES)
@pytest.mark.parametrize("share", [0.02, 0.5])
@pytest.mark.parametrize("kind", ["measured", "20 ordinal", "an age and 16 yes-no"])
def test_copies_are_found_with_the_row_they_are_copies_of(kind, share, n_subjects):
    kinds = {
        "measured": lambda rng: measured(rng, (n_subjects, 8)),
        "20 ordinal": lambda rng: independent(rng, 5, (n_subjects, 20)),
        "an age and 16 yes-no": lambda rng: independent(rng, 2, (n_subjects, 16)).assign(
            age=rng.integers(20, 90, size=n_subjects)
        ),
    }
    for seed in range(5):
        rng = np.random.default_rng(seed)
        frame = with_copies(kinds[kind](rng), rng, share)
        names = list(frame)
        frame["id"] = np.arange(n_subjects)  # is no feature
        first = copied_rows(frame, names)
        assert first is not None
        assert frame[names].iloc[first].reset_index(drop=True).equals(frame[names])
        np.testing.assert_array_equal(first != np.arange(n_subjects), frame[names].duplicated())


def test_the_order_of_columns_does_not_matter_and_a_few_copies_are_not_told():
    rng = np.random.default_rng(0)
    frame = with_copies(measured(rng, (400, 8)), rng, 0.03)
    np.testing.assert_array_equal(copied_rows(frame, list(frame)), copied_rows(frame, list(frame)[::-1]))
    assert copied_rows(frame.drop_duplicates(), list(frame)) is None
    assert copied_rows(with_copies(measured(rng, (400, 8)), rng, 0.01), list(frame)) is None


def cohort():
    """Return two groups of 60 in four measurements; 40 further rows are copies of one row."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(120, 4)), columns=list("abcd"))
    frame.iloc[60:] += 5
    return pd.concat([frame, frame.iloc[[7] * 40]], ignore_index=True)


SCHEMA = gaussian_schema("abcd")


def test_a_fit_warns_with_row_numbers_and_without_values():
    frame = cohort()
    with pytest.warns(cc.CohortWarning, match="40 of 160 rows are exact copies") as caught:
        cc.methods.PublishedMAPDP(SCHEMA, n_restarts=1).fit(frame)
    (said,) = (str(one.message) for one in caught if "exact copies" in str(one.message))
    assert "120 rows are distinct; first copies: row 120 is 7, 121 is 7, 122 is 7)" in said
    assert "drop_duplicates" in said
    assert not re.search(r"\d\.\d", said)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cc.methods.PublishedMAPDP(SCHEMA, n_restarts=1).fit(frame.drop_duplicates())


def test_several_rows_of_a_subject_are_told_as_these():
    frame = cohort()
    frame.attrs[SEVERAL_ROWS] = asdict(RepeatedSubjects("id", 160, 120, 1, 41, has_visits=False))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_rows(frame, list("abcd"))


def test_a_report_names_the_subtypes_that_are_copies_and_a_shared_one_does_not():
    frame = cohort()
    labels = np.r_[np.zeros(60), np.ones(60), np.full(40, 2)].astype(int)
    labels[7] = 2
    model = cc.Partition(labels, SCHEMA, made_by="a rule")
    said = "40 of 160 rows are exact copies of an earlier row, more than chance explains; at least half of 3 given"
    found = gathered(model, frame)
    assert any(note.startswith(said) for note in trust(found).notes)
    shared = gathered(model, frame, suppress=5)
    assert not any("copies" in note for note in trust(shared).notes)
