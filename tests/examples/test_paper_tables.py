"""Tables 3 and 4 of the paper (Raykov et al. 2016), each by one call, on the simulated cohort and its true groups."""

from pathlib import Path

import pandas as pd
import pytest
from scipy import stats
from truth import SCHEMA, differing, published, read_truth

import clinclust as cc

EXAMPLE = Path(__file__).parents[2] / "examples" / "parkinsonism"


@pytest.fixture(scope="module")
def cohort():
    schema = cc.FeatureSchema.from_yaml(SCHEMA)
    frame = schema.validate(cc.read_cohort(EXAMPLE / "cohort.csv"), warn=False)
    groups = pd.read_csv(EXAMPLE / "true_groups.csv")["group"].to_numpy()
    return frame, schema, groups


@pytest.fixture(scope="module")
def comparisons(cohort):
    frame, schema, groups = cohort
    return cc.compare_subtypes(frame, groups - 1, schema)


@pytest.mark.parametrize(("source", "n_features"), [("Table 3", 3), ("Table 4", 9)])
def test_a_table_of_the_paper_is_one_call(cohort, comparisons, source, n_features):
    frame, schema, groups = cohort
    printed = published(read_truth()).query("source == @source")
    table = cc.subtype_table(
        comparisons,
        features=list(printed.index),
        subtypes=[1, 2, 3, 4],
        between=(1, 2),
        summaries="mean",
        columns=["subtypes", "p"],
        title=source,
    )
    assert [heading.lines[0] for heading in table.headings] == [
        *(f"Subtype {k}" for k in (1, 2, 3, 4)),
        "Descriptive p",
    ]
    assert len(table.rows) == n_features
    for row in table.rows:
        # The paper counts the steps of a scale, and its Hoehn-Yahr stages reach 7; the table prints the stages.
        printed_numbers = pd.Series(schema[row.feature].described(frame[row.feature]))
        stages = [printed_numbers[groups == k].dropna() for k in (1, 2, 3, 4)]
        expected = [f"{value.mean():.2f} ({value.std():.2f})" for value in stages]
        scores = pd.Series(schema[row.feature].scores(frame[row.feature]))
        values = [scores[groups == k].dropna() for k in (1, 2, 3, 4)]
        assert [cell.text for cell in row.cells[:4]] == expected
        # The cohort is a sample: means of 200 subjects lie within 5 standard errors of the printed ones.
        for k in (0, 1):
            error = values[k].std() / len(values[k]) ** 0.5
            assert abs(values[k].mean() - float(printed.loc[row.feature, f"group_{k + 1}"])) < 5 * error
        of_pair = "feature == @row.feature and test == 'welch' and subtype == 1 and versus == 2"
        p = comparisons.query(of_pair)["p"].iloc[-1]
        assert p == pytest.approx(stats.ttest_ind(stages[0], stages[1], equal_var=False).pvalue, rel=1e-9)
        assert row.test == ("Fisher's exact, mid-p" if schema[row.feature].traits.is_yes_no else "Welch's t")


def test_the_features_that_differ_between_the_two_largest_groups_are_a_query_and_a_call(comparisons):
    differ = comparisons.query("test == 'welch' and subtype == 1 and versus == 2 and significant")["feature"].unique()
    table = cc.subtype_table(comparisons, features=[*differ], subtypes=[1, 2], summaries="mean")
    found = {row.feature for row in table.rows}
    # The paper counts 61; 61 differ in truth, and a test at 0.01 finds most of them and few others.
    true = set(differing(read_truth(), "group_1", "group_2"))
    assert len(found & true) > 50
    assert len(found - true) < 10
    assert {row.test for row in table.rows if row.cells[-1].text} == {"Welch's t", "Fisher's exact, mid-p"}
