"""What the sheets for analysts say: the numbers are those of the frames, each where a reader would look for it."""

from __future__ import annotations

import dataclasses

import numpy as np
import openpyxl
import pandas as pd
import pytest

import clinclust as cc
from clinclust.associations.associate import grade_of
from clinclust.disclosure.counts import Rule
from clinclust.reporting.layout import WITHHELD
from clinclust.reporting.sheets import subtypes
from clinclust.reporting.sheets.associations import association_table
from clinclust.reporting.sheets.divisions import charts, effect_sizes
from clinclust.reporting.sheets.subjects import codebook, tidy_data
from clinclust.reporting.sheets.subtypes import profile
from reporting.stand_in import gathered

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


def test_what_is_withheld_is_in_the_data_but_in_no_chart(findings, withheld):
    data = body(tidy_data(withheld))
    of_small = data[(data["Subtype"] == "Subtype 3") | (data["Versus"] == "Subtype 3")]
    assert len(of_small) > 100
    shown = of_small.drop(columns=data.columns[:9]).melt()["value"].dropna()
    assert set(shown) == {WITHHELD}
    assert not data.drop(of_small.index).eq(WITHHELD).any(axis=None)
    sheet = charts(withheld)
    assert "Subtype 3" in repr(charts(findings))
    assert "Subtype 3" not in repr(sheet)
    assert WITHHELD not in repr(sheet)
    assert set(body(profile(withheld))["Subtype 3"]) == {WITHHELD}


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


def test_effect_sizes_are_numbers_with_their_intervals(findings):
    rows = body(effect_sizes(findings))
    effects = findings.comparisons.query("kind == 'effect'")
    assert len(rows) == len(effects)
    assert set(rows["Versus"]) == {"All others", "Subtype 2", "Subtype 3"}
    assert sorted(rows["Estimate"].dropna()) == sorted(effects["estimate"][np.isfinite(effects["estimate"])])
    assert rows.loc[0, "Feature"] == findings.by_relevance[0].title


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
    why = body(codebook(adjusted)).set_index("Column")["Prior, or why not clustered on"]
    texts = ["a = 0.5; b = 1.25", "identifies the subject", "adjusted for", "the same value in every subject observed"]
    assert why[["tremor", "patient", "crp", "dementia"]].tolist() == texts


def test_the_profile_is_in_standard_deviations(findings):
    sheet = profile(findings)
    rows = body(sheet)
    summary = findings.comparisons.query("kind == 'summary' and feature == 'systolic'").set_index("subtype")
    expected = (summary["mean"].loc[[1, 2, 3]] - summary["mean"].loc[0]) / summary["sd"].loc[0]
    shown = rows[rows["Feature"] == "Systolic blood pressure"].iloc[0]
    assert shown[["1 Tremor dominant", "Subtype 2", "Subtype 3"]].tolist() == pytest.approx(expected.tolist())
    assert sheet.tables[0].diverging == (5, 7)


def test_forest_plots_show_the_largest_effects(findings):
    sheet = charts(findings)
    assert [chart.kind for chart in sheet.charts] == ["bars", "forest", "forest", "forest"]
    effects = findings.comparisons.query(
        "kind == 'effect' and versus == 0 and subtype == 1 and measure == 'standardised_difference'"
    ).dropna(subset=["estimate", "lower", "upper"])
    largest = effects["estimate"].abs().nlargest(15).index
    rows = body(sheet, table=1)
    assert rows["Estimate"].tolist() == effects.loc[largest, "estimate"].sort_values(ascending=False).tolist()
    np.testing.assert_allclose((rows["Estimate"] - rows["Length below"]).astype(float), rows["Lower"].astype(float))


def test_the_charts_draw_cells_that_hold_their_numbers(full_workbook_path):
    import re
    import zipfile

    sheet = openpyxl.load_workbook(full_workbook_path)["Profile"]
    with zipfile.ZipFile(full_workbook_path) as archive:
        drawn = [archive.read(name).decode() for name in archive.namelist() if name.startswith("xl/charts/")]
        drawing = archive.read("xl/drawings/drawing1.xml").decode()
    assert len(drawn) == 4
    for text in drawn:
        references = re.findall(r"<(?:c:)?f>(.*?)</", text)
        assert references
        for reference in references:
            name, cells = reference.split("!")
            assert name == "'Profile'"
            values = [cell.value for (cell,) in sheet[cells.replace("$", "")]]
            assert all(isinstance(value, str) for value in values) or all(np.isfinite(value) for value in values)
        assert '<delete val="0"' in text
        if "errBars" in text:
            custom = text[text.index("<errBars>") :]
            assert custom.index("<plus>") < custom.index("<minus>")  # the order that the file format asks for
    assert drawing.count(" descr=") == 4
    assert "1 Tremor dominant and all other subjects" in drawing


@pytest.fixture(scope="module")
def with_five():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(5), 30)
    frame = pd.DataFrame({f"x{column}": rng.normal(labels * (column + 1), 1.0) for column in range(4)})
    schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    partition = cc.Partition(labels, schema, made_by="a clinician")
    return gathered(partition, schema.validate(frame))


def rows(sheet):
    return sheet.tables[0].rows


def test_all_pairs_are_shown_where_they_are_few(with_five):
    assert len(rows(subtypes.pairwise_tests(with_five))) == with_five.n_pairwise == 4 * 10
    assert sum(row[0] == "Pairwise test" for row in rows(tidy_data(with_five))) == 40


def test_many_pairs_stand_in_one_sheet_only_and_the_others_say_so(with_five, monkeypatch):
    monkeypatch.setattr("clinclust.reporting.findings._MANY_PAIRS", 39)
    for sheet in (effect_sizes(with_five), tidy_data(with_five)):
        assert any("40 comparisons of them; the section Pairwise tests holds them" in note for note in sheet.notes)
    assert not any(row[0] == "Pairwise test" for row in rows(tidy_data(with_five)))
    assert {row[5] for row in rows(effect_sizes(with_five))} == {"All others"}
    assert len(rows(subtypes.pairwise_tests(with_five))) == 40


def test_of_too_many_pairs_those_that_differ_most_clearly_are_shown(with_five, monkeypatch):
    complete = rows(subtypes.pairwise_tests(with_five))
    monkeypatch.setattr(subtypes, "_MOST_PAIRS", 15)
    sheet = subtypes.pairwise_tests(with_five)
    p_of = [title.title for title in sheet.tables[0].columns].index("p")
    shown = [row[p_of] for row in rows(sheet)]
    assert sorted(shown) == sorted(row[p_of] for row in complete)[: len(shown)]
    assert 0 < len(shown) <= 15
    assert any(note.startswith("Of 40 comparisons, those whose p") for note in sheet.notes)
