"""What the sheets for analysts say: the numbers are those of the frames, each where a reader would look for it."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from clinclust.associations.associate import grade_of
from clinclust.disclosure.counts import Rule
from clinclust.reporting.layout import WITHHELD
from clinclust.reporting.sheets.associations import association_table
from clinclust.reporting.sheets.subjects import codebook, tidy_data

MEASURED = ["mean", "sd", "median", "q1", "q3", "count", "percent", "estimate", "lower", "upper"]


def body(sheet, table=0):
    """The rows of a table by heading."""
    titles = [column.title for column in sheet.tables[table].columns]
    return pd.DataFrame(list(sheet.tables[table].rows), columns=titles).astype(object)


@pytest.fixture
def withheld(findings):
    """The same findings after subtype 3 was found too small to be shown."""
    comparisons = findings.comparisons.copy()
    rows = (comparisons["subtype"] == 3) | (comparisons["versus"] == 3)
    for name, kind in comparisons.dtypes.items():
        if kind in ("float64", "Int64") and name not in ("subtype", "versus", "minimum", "maximum"):
            comparisons.loc[rows, name] = np.nan if kind == "float64" else pd.NA
    comparisons.loc[rows, "suppressed"] = True
    shared = findings.for_sharing(Rule(min(findings.sizes.values()) + 1))
    return dataclasses.replace(shared, comparisons=comparisons, associations=findings.associations)


def test_every_number_of_the_comparisons_is_a_row_of_the_data(findings):
    data = body(tidy_data(findings))
    comparisons, associations = findings.comparisons, findings.associations
    of_kind = {
        "Summary": ("summary", ["n", "missing", *MEASURED[:7]]),
        "Pairwise test": ("test", ["n", "missing", "statistic", "df", "p", "q"]),
        "Descriptive contrast": ("contrast", ["n", "missing", "statistic", "df", "df2", "p", "q"]),
        "Effect size": ("effect", ["n", "estimate", "lower", "upper"]),
    }
    for title, (kind, names) in of_kind.items():
        expected = comparisons[comparisons["kind"] == kind][names].astype("float64").replace([np.inf, -np.inf], np.nan)
        shown = data[data["Kind"] == title][names].astype("float64")
        np.testing.assert_array_equal(shown.to_numpy(), expected.to_numpy())
    names = ["n", "statistic", "df", "df2", "p", "q"]
    expected = associations.loc[associations["method"].notna(), names].astype("float64")
    shown = data.loc[data["Kind"] == "Validated association", names].astype("float64")
    np.testing.assert_array_equal(shown.to_numpy(), expected.to_numpy())
    tremor = data[(data["Column"] == "tremor") & (data["Kind"] == "Summary")].set_index("Subtype")
    row = comparisons.query("kind == 'summary' and feature == 'tremor' and subtype == 1").iloc[0]
    assert tremor.loc["1 Tremor dominant", "percent"] == row["percent"]


def test_what_is_withheld_has_the_sign_in_every_row_of_its_group(findings, withheld):
    data = body(tidy_data(withheld))
    of_small = data[(data["Subtype"] == "Subtype 3") | (data["Versus"] == "Subtype 3")]
    assert len(of_small) > 100
    shown = of_small.drop(columns=data.columns[:9]).melt()["value"].dropna()
    assert set(shown) == {WITHHELD}
    assert not data.drop(of_small.index).eq(WITHHELD).any(axis=None)


def test_associations_keep_both_answers_apart_and_stand_by_relevance(findings):
    sheet = association_table(findings)
    (table,) = sheet.tables
    groups = {column.title: column.group[0] for column in table.columns if column.group[0]}
    descriptive = {title for title, group in groups.items() if group == "Descriptive contrast"}
    assert descriptive == {"Contrast", "p of contrast"}
    rows = body(sheet).set_index("Feature")
    relevance = rows["Relevance (nats, descriptive)"].dropna().tolist()
    assert relevance == sorted(relevance, reverse=True)
    contrasts = findings.comparisons.query("kind == 'contrast'").set_index("label")
    for row in findings.associations.to_dict("records"):
        shown = rows.loc[row["label"]]
        p = shown["p of contrast"]
        assert pd.isna(p) or p == pytest.approx(contrasts.loc[row["label"], "p"], nan_ok=True)
        tested = isinstance(row["method"], str)
        if not tested:
            assert pd.isna(shown["p"])
            assert shown["Remark"] == row["remark"]
        else:
            assert [shown["p"], shown["q"], shown["Statistic"]] == [row["p"], row["q"], row["statistic"]]
        assert shown["Grade"] == grade_of(row, findings.significance_level)
    assert "*" not in repr(table.rows)


def test_the_codebook_has_every_column_of_the_schema(findings):
    rows, schema = body(codebook(findings)).set_index("Column"), findings.cohort.schema
    assert rows.index.tolist() == list(schema.names)
    assert rows.loc["phenotype", "Levels"] == "tremor dominant; rigid; mixed"
    scale = rows.loc["state", ["Trials", "Minimum", "Maximum"]].tolist()
    assert [*scale, *rows.loc["crp", ["Unit", "Transform"]].tolist()] == [3, 1, 4, "mg/L", "log"]
    codes, n_subjects = rows.loc["tremor", "Missing codes"], set(rows["Observed"] + rows["Missing"])
    assert (codes, n_subjects) == ("(empty)", {120})
    assert rows["Missing"].tolist() == findings.cohort.table[list(schema.names)].isna().sum().tolist()
    changed = dataclasses.replace(findings.cohort.model, schema_=schema.with_roles(crp="adjust"))
    adjusted = dataclasses.replace(findings, cohort=dataclasses.replace(findings.cohort, model=changed))
    why = body(codebook(adjusted)).set_index("Column")["Why not clustered on"]
    assert pd.isna(why["tremor"])
    texts = ["identifies the subject", "adjusted for", "the same value in every subject observed"]
    assert why[["patient", "crp", "dementia"]].tolist() == texts
