"""What a report says of how far to trust the subtypes, and of columns that are nearly the subtypes."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from clinclust.estimators.subtype_model import FittedCohort
from clinclust.reporting.findings import Findings
from clinclust.reporting.sheets.overview import (
    cautions,
    find_near_columns,
    on_columns,
    overview,
    searches_sentence,
    trust,
)
from reporting.stand_in import gathered


@pytest.mark.parametrize("size", [9, 10])
def test_small_subtypes_are_named(size):
    rng = np.random.default_rng(0)
    values = np.vstack([rng.normal(0, 1, (40, 4)), rng.normal(9, 1, (size, 4))])
    model = cc.methods.PublishedMAPDP(random_state=0, n_restarts=4).fit(values)
    assert model.cluster_sizes_.tolist() == [40, size]
    frame = pd.DataFrame(values, columns=list(model.schema_.names))
    comparisons = cc.compare_subtypes(frame, model.labels_, model.schema_)
    (said,) = cautions(Findings(FittedCohort(model, frame), comparisons, 0.01, None, {2: "Rare"}))
    assert ("Fewer than 10 subjects (2 Rare)" in said) == (size < 10)


def findings_of(columns, labels, roles, **options):
    frame = pd.DataFrame(columns)
    schema = cc.draft_schema(frame).with_roles(**roles)
    return gathered(cc.Partition(labels, schema, made_by="a rule"), frame, **options)


def cohort(n_mistaken, n=400):
    rng = np.random.default_rng(0)
    labels = (np.arange(n) >= n // 2).astype(int)
    mistaken = labels.copy()
    mistaken[:n_mistaken] = 1
    mistaken[n - n_mistaken :] = 0
    columns = {f"x{place}": rng.normal(2.0 * labels, 1.0) for place in range(4)}
    return columns | {"a sex": np.where(mistaken, "male", "female")}, labels


def test_a_column_that_is_nearly_the_subtypes_comes_with_the_role_that_looks_beyond():
    columns, labels = cohort(4)
    findings = findings_of(columns, labels, {"a sex": "describe"})
    (column,) = find_near_columns(findings)
    assert (column.role, column.name) == ("adjust", "a sex")  # the features follow it
    assert "98% of 400" in column.sentence
    assert column.sentence in trust(findings).notes
    assert column.sentence in overview(findings).notes
    rng = np.random.default_rng(1)
    columns |= {f"x{place}": rng.normal(size=labels.size) for place in range(4)}
    (column,) = find_near_columns(findings_of(columns, labels, {}))
    assert (column.role, column.name) == ("describe", "a sex")  # nothing else forms them


def test_a_shared_report_names_a_column_only_if_every_count_of_it_is_shown():
    for n_mistaken, is_said in ((4, False), (15, True)):
        columns, labels = cohort(n_mistaken)
        assert on_columns(findings_of(columns, labels, {"a sex": "describe"}))
        shared = findings_of(columns, labels, {"a sex": "describe"}, suppress=10)
        assert bool(on_columns(shared)) == is_said
        assert not on_columns(findings_of(columns, labels, {"a sex": "describe"}, suppress=10, round_to=5))
        assert not on_columns(findings_of(columns, labels, {}, suppress=10))


def test_one_search_is_no_share_of_searches(findings):
    alone = replace(findings.fit, restarts_=findings.fit.restarts_.iloc[:1])
    assert searches_sentence(alone, alone.restarts_) == "One search was made."
    assert "searches ended" in searches_sentence(findings.fit, findings.searches)


@pytest.mark.parametrize(
    ("role", "features", "option"),
    [("describe", "follow it", "adjust"), ("cluster", "do not", "describe"), ("cluster", "follow it", "adjust")],
)
def test_the_first_page_names_the_column_before_the_features(role, features, option):
    columns, labels = cohort(4 if features == "do not" or role == "describe" else 0)
    columns["sex"] = columns.pop("a sex")
    if features == "do not":
        columns |= {f"x{place}": np.random.default_rng(place).normal(size=labels.size) for place in range(4)}
    sheet = overview(findings_of(columns, labels, {"sex": role}))
    assert sheet.notes[1].startswith("sex nearly tells the subtypes apart: right for")
    assert re.search(r"of 400 \(.*: 50%\)", sheet.notes[1])
    assert f"--{option} sex." in sheet.notes[1]
    assert "Does one column tell them apart?" not in dict(sheet.tables[1].rows)  # it is named above
    columns.pop("sex")
    rows = dict(overview(findings_of(columns, labels, {})).tables[1].rows)
    assert rows["Does one column tell them apart?"] == "No: none alone."


def test_the_column_that_nearly_makes_one_division_is_named_with_its_people():
    """Sex divides the smaller two of three subtypes, and is no other name of all three."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [200, 60, 40])
    centres = 4.0 * np.c_[labels > 0, labels == 2][:, [0, 1] * 3]
    frame = pd.DataFrame(rng.normal(centres), columns=list("abcdef"))
    frame["sex"] = np.where(np.where(labels == 0, rng.random(300) < 0.5, labels == 2), "male", "female")
    schema = cc.draft_schema(frame).with_roles(sex="describe")
    model = cc.MAPDP(schema, random_state=0, n_restarts=2, progress=False).fit(frame)
    said = " ".join(overview(gathered(model, frame)).notes)
    assert re.search(r"sex nearly .*: right for 100% of 100 \(.*: 60%\)", said)


def test_trust_says_the_same_as_the_first_page_of_a_column_that_others_follow():
    rng = np.random.default_rng(1)
    male = rng.random(240) < 0.5
    frame = pd.DataFrame(rng.normal(4.0 * male[:, None], 1.0, (240, 5)), columns=list("abcde"))
    frame["sex"] = np.where(male, "male", "female")
    model = cc.MAPDP(cc.draft_schema(frame), random_state=0, n_restarts=2, progress=False).fit(frame)
    findings = gathered(model, frame)
    assert "--adjust sex." in " ".join(overview(findings).notes)
    assert "--adjust sex." in " ".join(trust(findings).notes)


@pytest.mark.parametrize("share", [0.9, 0.96])
def test_low_sureness_is_said_and_is_that_of_the_table_and_of_the_model(findings, share):
    labels = findings.fit.labels_
    membership = np.where(labels[:, None] == np.arange(3), share, (1 - share) / 2)
    membership[:48] = np.eye(3)[labels[:48]]  # most of the largest are clear in any case
    model = replace(findings.fit, membership_=membership)
    found = replace(findings, cohort=replace(findings.cohort, model=model))
    clear = [row[4] for row in overview(found).tables[0].rows]
    assert clear == pytest.approx(model.summary()["clear"].tolist())
    few = [str(code) for code, percent in enumerate(clear, start=1) if percent < 50]
    said = " ".join(overview(found).notes)
    assert bool(few) == (share < 0.95) == ("is unsure" in said)
    assert all(code in said.partition("Membership of ")[2].partition(" is unsure")[0] for code in few)
