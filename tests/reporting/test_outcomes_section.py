"""The section on outcomes: the numbers of `compare_outcomes`, the time of an event, and when there is none."""

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from clinclust.disclosure.counts import Rule
from clinclust.reporting.page import illustrations
from clinclust.reporting.sheets.associations import outcomes_sheets
from schemas import stored_schema

from .stand_in import compared

NAMES = list("abcd")


@pytest.fixture(scope="module")
def findings():
    rng = np.random.default_rng(0)
    group = rng.permutation(np.repeat([0, 1, 2], [90, 70, 40]))
    means = np.array([[0.0] * 4, [3.0, -3.0, 3.0, 0.0], [-3.0, 3.0, 3.0, 3.0]])
    frame = pd.DataFrame(means[group] + rng.normal(size=(200, 4)), columns=NAMES)
    time, end = rng.exponential(500.0 / (1 + group)), rng.uniform(100, 900, 200)
    frame = frame.assign(days=np.minimum(time, end).round() + 1, died=np.where(time <= end, "yes", "no"))
    frame = frame.assign(stays=rng.poisson(2 + group), group=np.array(["x", "y", "z"])[group], same=1.5)
    schema = stored_schema("outcomes")
    model = cc.methods.PublishedMAPDP(schema, n_clusters=3, random_state=0, progress=False).fit(frame)
    return compared(model, schema.validate(frame))


@pytest.mark.simulation
def test_numbers_are_those_of_the_comparison(findings):
    (sheet,) = outcomes_sheets(findings)
    rows = [
        dict(zip((column.title for column in sheet.tables[0].columns), row, strict=True))
        for row in sheet.tables[0].rows
    ]
    of_score, *of_death = [row for row in rows if row["Outcome"] == "Death, time: Follow-up"]
    assert of_score["Measure"] == "hazard ratio of 'yes' for 1 SD of the continuum score"  # no test was made
    *of_death, of_features = of_death
    assert of_features["Measure"] == "no effects of features"
    assert [(row["Subtype"], row["Against"], row["Measure"]) for row in of_death] == [
        ("Subtype 2", "Subtype 1", "hazard ratio of 'yes'"),
        ("Subtype 3", "Subtype 1", "hazard ratio of 'yes'"),
        (None, None, "log-rank"),
    ]
    found = cc.compare_outcomes(findings.cohort.model, findings.cohort.table, "died", time="days", event="yes")
    exact = found[(found["method"] == "bch") & (found["subtype"] == 3) & (found["measure"] == "hazard ratio")].iloc[0]
    assert (
        of_death[1]["Corrected (95% CI)"] == f"{exact['estimate']:.3g} ({exact['lower']:.3g} to {exact['upper']:.3g})"
    )
    assert {row["Measure"] for row in rows if row["Outcome"] == "stays" and row["Subtype"]} == {"rate ratio"}
    (nominal,) = [row["Measure"] for row in rows if row["Outcome"] == "group"]
    assert nominal.startswith("not compared: outcome: 'group' has levels without order")
    (same,) = [row["Measure"] for row in rows if row["Outcome"] == "same"]
    assert "is the same in all" in same


def test_the_page_draws_the_survival_of_each_subtype(findings):
    (figure,) = [figure for figure in illustrations(findings) if figure.title == "Survival: Death"]
    ax = figure.draw()
    assert [line.get_label() for line in ax.lines] == [findings.name(subtype) for subtype in findings.sizes]
    at_risk = [label.get_text().split("\n")[1:] for label in ax.get_xticklabels()]
    assert at_risk[0] == [str(size) for size in findings.sizes.values()]


def test_without_outcomes_or_to_be_shared_there_is_no_section(findings):
    assert outcomes_sheets(findings.for_sharing(Rule(5))) == []
    schema = findings.cohort.schema.with_roles(dict.fromkeys(("died", "stays", "group", "same"), "describe"))
    model = cc.Partition(findings.cohort.labels, schema, made_by="a rule")
    described = compared(model, findings.cohort.table)
    assert outcomes_sheets(described) == []


def test_of_given_subtypes_only_the_answer_as_assigned_is_known(findings):
    model = cc.Partition(findings.cohort.labels, findings.cohort.schema, made_by="a rule")
    given = compared(model, findings.cohort.table)
    (sheet,) = outcomes_sheets(given)
    (first, *_) = sheet.tables[0].rows
    assert first[4] == "these subtypes have no probabilities"
    assert " to " in first[6]


def test_a_report_validates_its_table_once(findings, tmp_path, monkeypatch):
    validate, calls = cc.FeatureSchema.validate, []
    monkeypatch.setattr(cc.FeatureSchema, "validate", lambda *table, **how: calls.append(1) or validate(*table, **how))
    model, table = findings.cohort.model, findings.cohort.table
    cc.write_report(model, table, tmp_path / "x.json", stability=1, progress=False)
    assert calls == [1]
