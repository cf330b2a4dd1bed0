"""The subtype table: its numbers, its tests, its notes, what it refuses, and the documents made of it."""

import re
import zipfile
from dataclasses import replace

import docx
import numpy as np
import openpyxl
import pandas as pd
import pytest
from cases import cases_beside
from scipy import stats

import clinclust as cc
from clinclust.data import speaking
from clinclust.reporting.compared import p_text
from clinclust.reporting.page import write_page
from clinclust.reporting.sheets.subtypes import table_of_report
from clinclust.reporting.workbook import write_workbook

from .conftest import GENERATED
from .test_page import Page, widths_of_rows

SUFFIXES = (".docx", ".xlsx", ".html", ".csv")


@pytest.fixture(scope="module")
def made(findings):
    return findings.cohort.table, findings.cohort.schema, findings.fit.labels_


@pytest.fixture(scope="module")
def associations(comparisons):
    """What `validated_associations` returns, for four features; the others were not tested."""
    features = comparisons.drop_duplicates("feature").reset_index(drop=True)
    table = features[["feature", "label", "section", "role", "likelihood"]].copy()
    table["method"] = pd.array([pd.NA] * len(table), dtype="string")
    table[["p", "q"]] = np.nan
    table["grade"] = "not shown"
    table["remark"] = ""
    found = {
        "tremor": ("refit", 0.02, 0.04, "not shown", ""),
        "face": ("refit", 0.0002, 0.0008, "differs beyond dependence", ""),
    }
    found |= {"falls": ("refit", 0.5, 0.5, "not shown", ""), "probability_of_pd": ("direct", 0.3, 0.4, "not shown", "")}
    for name, values in found.items():
        table.loc[table["feature"] == name, ["method", "p", "q", "grade", "remark"]] = values
    return table


def row_of(table, feature, level=""):
    return next(row for row in table.rows if row.feature == feature and row.level == level)


def texts_of(table, feature, level=""):
    return [cell.text for cell in row_of(table, feature, level).cells]


# --- the numbers --------------------------------------------------------------------------------------------------


def test_a_yes_no_feature_is_counted_among_those_with_a_value(made, comparisons):
    frame, _, labels = made
    answers = pd.Series(frame["tremor"].astype("string").to_numpy())
    expected = [str(int(answers.isna().sum()))]
    for who in (labels >= 0, labels == 0, labels == 1, labels == 2):
        yes, observed = (answers[who] == "yes").sum(), answers[who].notna().sum()
        expected.append(f"{yes} ({100 * yes / observed:.1f}%)")
    assert texts_of(cc.subtype_table(comparisons), "tremor", "yes")[:5] == expected


def test_levels_stand_below_their_feature_and_sum_to_all(made, comparisons):
    frame, schema, _ = made
    table = cc.subtype_table(comparisons)
    rows = [row for row in table.rows if row.feature == "phenotype"]
    assert [row.is_level for row in rows] == [False, True, True, True]
    assert [row.label.text for row in rows] == ["Motor phenotype, n (%)", *schema["phenotype"].levels]
    assert rows[0].cells[1].text == rows[1].cells[0].text == ""
    counts = [int(row.cells[1].text.split()[0]) for row in rows[1:]]
    assert sum(counts) == frame["phenotype"].notna().sum()
    assert rows[0].cells[-1].text
    assert {row.cells[-1].text for row in rows[1:]} == {""}


def test_means_and_medians_and_never_a_total_in_the_bracket(made, comparisons):
    frame, _, labels = made
    table = cc.subtype_table(comparisons)
    first = {name: frame[name].astype("float64").to_numpy()[labels == 0] for name in ("systolic", "years", "falls")}
    first = {name: values[~np.isnan(values)] for name, values in first.items()}
    systolic, years, falls = first["systolic"], first["years"], first["falls"]
    assert texts_of(table, "systolic")[2] == f"{systolic.mean():.1f} ({systolic.std(ddof=1):.1f})"
    q1, median, q3 = np.quantile(years, [0.25, 0.5, 0.75])
    assert texts_of(table, "years")[2] == f"{median:.2f} [{q1:.2f}, {q3:.2f}]"
    precise = cc.subtype_table(comparisons, decimals={"falls": 2})
    assert texts_of(precise, "falls")[2] == f"{falls.mean():.2f} ({falls.std(ddof=1):.2f})"
    assert row_of(table, "falls").label.text.endswith(", mean (SD)")
    assert row_of(table, "years").label.text == "Time since onset (years), median [Q1, Q3]"
    assert {row.summary for row in table.rows} <= {"", "n (%)", "mean (SD)", "median [Q1, Q3]"}


def test_the_summary_follows_the_shape_unless_somebody_chooses(made, comparisons):
    frame, schema, labels = made

    def shown(table):
        return {row.feature: row.summary for row in table.rows}

    usual = shown(cc.subtype_table(comparisons))
    assert {usual[name] for name in ("years", "crp")} == {"median [Q1, Q3]"}
    assert {usual[name] for name in ("face", "systolic", "copper", "visits")} == {"mean (SD)"}
    # One subtype alone is not contrasted: the shape is then judged by what there is.
    alone = shown(cc.subtype_table(cc.compare_subtypes(frame, np.zeros_like(labels), schema)))
    assert alone == usual | {"visits": "median [Q1, Q3]"}  # which is the same in every subtype
    chosen = shown(cc.subtype_table(comparisons, summaries={"years": "mean", "falls": "median"}))
    assert (chosen["years"], chosen["falls"], chosen["crp"]) == ("mean (SD)", "median [Q1, Q3]", "median [Q1, Q3]")
    assert set(shown(cc.subtype_table(comparisons, summaries="mean")).values()) == {"mean (SD)"}
    medians = shown(cc.subtype_table(comparisons, summaries="median"))
    assert (medians["tremor"], medians["systolic"]) == ("n (%)", "median [Q1, Q3]")


def test_the_descriptive_p_is_the_contrast_and_its_test_is_named(made, comparisons):
    frame, _, labels = made
    table = cc.subtype_table(comparisons)
    values = frame["years"].astype("float64").to_numpy()
    groups = [values[(labels == k) & ~np.isnan(values)] for k in range(3)]
    p = stats.kruskal(*groups).pvalue
    row = row_of(table, "years")
    assert row.cells[-1].text == p_text(p)
    assert row.test == "Kruskal-Wallis"
    named = {note.marks: note.text for note in table.notes}
    assert named[row.cells[-1].marks] == "Kruskal–Wallis test."
    assert not any("*" in cell.text + cell.marks for row in table.rows for cell in row.cells)


def test_the_p_of_a_pair_is_welchs_of_these_two(made, comparisons):
    frame, _, labels = made
    table = cc.subtype_table(comparisons, subtypes=[2, 3])
    values = frame["systolic"].astype("float64").to_numpy()
    a, b = (values[(labels == k) & ~np.isnan(values)] for k in (1, 2))
    assert row_of(table, "systolic").cells[-1].text == p_text(stats.ttest_ind(a, b, equal_var=False).pvalue)
    assert row_of(table, "systolic").test == "Welch's t"
    assert row_of(table, "phenotype", "rigid").cells[-1].text  # each level is compared
    assert not row_of(table, "phenotype").cells[-1].text
    groups = [heading.text for heading in table.headings][2:4]
    assert groups == ["Subtype 2, n = 37 (30.8%)", "Subtype 3, n = 11 (9.2%)"]
    assert "subtypes 2 and 3 are compared" in table.notes[1].text
    assert "all subtypes are compared" in cc.subtype_table(comparisons).notes[1].text
    assert "subtypes 1, 2 and 3 are compared" in cc.subtype_table(comparisons, subtypes=[2]).notes[1].text


@pytest.mark.parametrize(("style", "p", "text"), cases_beside(__file__, "p"))
def test_p_as_journals_print_it(style, p, text):
    with speaking("en", style or None):
        assert p_text(p) == text


def test_negative_numbers_have_a_true_minus_sign(tmp_path):
    schema = cc.FeatureSchema([cc.Feature(name="z", likelihood="gaussian")])
    frame = pd.DataFrame({"z": [-3.0, -1.0, -2.0, 4.0, 5.0, 6.0]})
    table = cc.subtype_table(cc.compare_subtypes(frame, [0, 0, 0, 1, 1, 1], schema))
    assert texts_of(table, "z")[2] == "−2.00 (1.00)"
    assert texts_of(table, "z")[2] in table.save(tmp_path / "z.csv").read_text(encoding="utf-8")


# --- what was chosen ----------------------------------------------------------------------------------------------


def test_names_order_and_columns(comparisons):
    table = cc.subtype_table(
        comparisons, names={1: "Tremor dominant"}, subtypes=[3, 1], between=(1, 2), columns=["subtypes", "p"]
    )
    assert [heading.lines for heading in table.headings] == [
        ("Subtype 3", "n = 11 (9.2%)"),
        ("Subtype 1", "Tremor dominant", "n = 72 (60.0%)"),
        ("Descriptive p",),
    ]
    chosen = cc.subtype_table(comparisons, features=["sleep", "falls", "tremor", "crp"])
    assert [row.feature for row in chosen.rows] == ["sleep", "crp", "falls", "tremor"]  # by section


def test_columns_are_in_the_order_asked_for(comparisons, associations):
    asked = ["p", "validated", "subtypes", "smd", "missing", "all"]
    headings = cc.subtype_table(comparisons, associations=associations, columns=asked, subtypes=[2, 1]).headings
    assert [heading.lines[0] for heading in headings] == [
        *("Descriptive p", "Validated p", "Validated q", "Subtype 2", "Subtype 1", "SMD", "Missing, n", "All subjects")
    ]


def test_the_smd_is_the_difference_in_standard_deviations(made, comparisons):
    frame, _, labels = made
    values = frame["systolic"].astype("float64").to_numpy()
    groups = [values[(labels == k) & ~np.isnan(values)] for k in range(3)]

    def smd(a, b):
        return abs(a.mean() - b.mean()) / np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2)

    pair = cc.subtype_table(comparisons, columns=["subtypes", "smd"], subtypes=[1, 3])
    assert texts_of(pair, "systolic")[-1] == f"{smd(groups[0], groups[2]):.2f}"
    of_all = cc.subtype_table(comparisons, columns=["subtypes", "smd"])
    mean = np.mean([smd(groups[a], groups[b]) for a, b in ((0, 1), (0, 2), (1, 2))])
    assert texts_of(of_all, "systolic")[-1] == f"{mean:.2f}"
    assert "mean over all pairs" in of_all.notes[0].text
    assert "mean over all pairs" not in pair.notes[0].text
    assert texts_of(of_all, "phenotype")[-1] == ""
    assert texts_of(of_all, "phenotype", "rigid")[-1]  # each level has its own


def test_decimals_of_all_features_or_of_one(comparisons):
    table = cc.subtype_table(comparisons, decimals=0)
    assert re.fullmatch(r"\d+ \(\d+\)", texts_of(table, "systolic")[1])
    assert re.fullmatch(r"\d+ \(\d+%\)", texts_of(table, "tremor", "yes")[1])
    usual, one = cc.subtype_table(comparisons), cc.subtype_table(comparisons, decimals={"systolic": 3})
    assert re.fullmatch(r"\d+\.\d{3} \(\d+\.\d{3}\)", texts_of(one, "systolic")[1])
    assert texts_of(one, "years") == texts_of(usual, "years")


def test_one_group_has_one_column(made):
    frame, schema, labels = made
    table = cc.subtype_table(cc.compare_subtypes(frame, np.zeros_like(labels), schema))
    assert [heading.text for heading in table.headings] == ["Missing, n", "All subjects, n = 120"]
    assert not any("p:" in note.text for note in table.notes)


def test_a_table_without_rows_is_still_a_table(made, tmp_path):
    frame, schema, labels = made
    comparisons = cc.compare_subtypes(frame, np.zeros_like(labels), schema)
    table = cc.subtype_table(comparisons, features=[])
    assert list(table.rows) == []
    for suffix in SUFFIXES:
        assert table.save(tmp_path / f"empty{suffix}").stat().st_size > 0


def test_validated_p_is_another_column_and_what_differs_beyond_dependence_is_marked(comparisons, associations):
    table = cc.subtype_table(comparisons, associations=associations)
    assert [heading.text for heading in table.headings[-3:]] == ["Descriptive p", "Validated p", "Validated q"]
    notes = {note.marks: note.text for note in table.notes}
    face = row_of(table, "face").cells[-2]
    assert face.text == "<0.001"
    assert face.marks.endswith("†")
    assert notes["†"] == "Differs by more than its relation to the other features explains."
    assert notes[face.marks.removesuffix("†")].startswith("Refit")
    assert row_of(table, "tremor", "yes").cells[-2].text == "0.020"
    assert [cell.text for cell in row_of(table, "systolic").cells[-2:]] == ["–", "–"]
    frame = table.to_frame().set_index("Feature")
    assert frame.loc["Facial expression", ["Validated p", "Method"]].tolist() == ["<0.001", "refit"]
    without = cc.subtype_table(comparisons)
    assert not any("alidated" in note.text for note in without.notes)


def test_described_features_are_marked_as_honestly_tested(comparisons):
    table = cc.subtype_table(comparisons)
    assert [row.feature for row in table.rows if row.label.marks] == ["probability_of_pd"]
    assert "no evidence that they exist" in table.notes[1].text


def test_withheld_numbers_are_withheld_everywhere(comparisons, tmp_path):
    held = comparisons.copy()
    numbers = ["n", "missing", "mean", "sd", "median", "q1", "q3", "count", "percent"]
    of_third = (held["kind"] == "summary") & (held["subtype"] == 3) & held["feature"].isin(["tremor", "years", "falls"])
    held.loc[of_third, numbers] = pd.NA
    tests = (held["kind"] == "contrast") & (held["feature"] == "sleep")
    held.loc[tests, ["p", "q", "statistic"]] = np.nan
    held.loc[of_third | tests, "suppressed"] = True
    table = cc.subtype_table(held)
    for feature, level in (("tremor", "yes"), ("years", ""), ("falls", "")):
        assert texts_of(table, feature, level)[4] == "[c]"
        assert "[c]" not in texts_of(table, feature, level)[3]
    assert texts_of(table, "sleep", "yes")[-1] == "[c]"
    assert texts_of(table, "dementia", "yes")[-1] == "–"
    assert "[c], withheld" in table.notes[0].text
    assert "withheld" not in cc.subtype_table(comparisons).notes[0].text
    book = openpyxl.load_workbook(table.save(tmp_path / "held.xlsx"))
    cells = [cell.value for row in book["Subtype table"].iter_rows() for cell in row]
    assert cells.count("[c]") == 3 + 1  # three features, and p


def test_a_subtype_whose_size_is_withheld_everywhere(comparisons):
    held = comparisons.copy()
    third = (held["kind"] == "summary") & (held["subtype"] == 3)
    held.loc[third, ["n", "missing", "mean", "sd", "median", "q1", "q3", "count", "percent"]] = pd.NA
    held.loc[third, "suppressed"] = True
    table = cc.subtype_table(held)
    assert table.headings[4].lines == ("Subtype 3", "n = [c]")


# --- what is refused ----------------------------------------------------------------------------------------------


def test_everything_wrong_at_once(comparisons):
    with pytest.raises(ValueError, match="features") as error:
        cc.subtype_table(
            comparisons,
            associations=pd.DataFrame({"feature": []}),
            names={9: "x"},
            features=["tremor", "tremor", "nonsense"],
            subtypes=[1, 7],
            between=(1, 1),
            summaries={"tremor": "median", "absent": "mean"},
            columns=["p", "p", "somewhere", "validated"],
            decimals={"years": 9, "lacking": 1},
        )
    message = str(error.value)
    for part in ("it lacks method", "no 9", "'tremor' named more", "no 'nonsense'", "no 7", "two different"):
        assert part in message
    for part in ("tremor can be shown by n or mean, not 'median'", "no 'absent'", "'somewhere' is not among"):
        assert part in message
    for part in ("columns: 'p' named more", "columns must name all, subtypes or both", "0 to 6, not 9", "no 'lacking'"):
        assert part in message


@pytest.mark.parametrize(("arguments", "message"), cases_beside(__file__, "no_table"))
def test_refused(comparisons, arguments, message):
    with pytest.raises(ValueError, match=message):
        cc.subtype_table(comparisons, **arguments)


def test_another_frame_or_suffix_is_refused(comparisons, tmp_path):
    with pytest.raises(ValueError, match="it lacks kind"):
        cc.subtype_table(pd.DataFrame({"feature": ["x"]}))
    with pytest.raises(ValueError, match="comparisons must be a DataFrame that compare_subtypes returned"):
        cc.subtype_table(None)
    with pytest.raises(ValueError, match=r"\.docx, \.xlsx.*not '\.pdf'"):
        cc.subtype_table(comparisons).save(tmp_path / "x.pdf")
    assert list(tmp_path.iterdir()) == []


def test_a_pair_too_small_to_test(made):
    frame, schema, labels = made
    few = cc.compare_subtypes(frame, labels, schema, min_size=20)
    with pytest.raises(ValueError, match="subtypes 1 and 3 were not tested"):
        cc.subtype_table(few, between=(3, 1))
    assert "subtypes 1 and 2 are compared" in cc.subtype_table(few, subtypes=[1, 3]).notes[1].text


# --- documents ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table(comparisons, associations):
    names = {1: "Tremor dominant", 3: "Akinetic, rigid and falling"}
    return cc.subtype_table(comparisons, associations=associations, names=names, title="Subtypes")


def test_the_frame_holds_what_the_rows_say(table):
    frame = table.to_frame()
    assert len(frame) == len(table.rows)
    assert frame["Subtype 1: Tremor dominant, n = 72 (60.0%)"].tolist() == [row.cells[2].text for row in table.rows]
    assert "Akinetic, rigid and falling" in repr(table)


def test_the_word_table_repeats_its_heading_and_says_what_it_is(table, tmp_path):
    document = docx.Document(path := table.save(tmp_path / "t.docx"))
    with zipfile.ZipFile(path) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    section = document.sections[0]
    assert section.page_width > section.page_height
    assert document.paragraphs[0].style.name == "Caption"
    assert document.paragraphs[0].text == "Subtypes"
    (written,) = document.tables
    xml = written._tbl.xml
    assert xml.count("<w:tblHeader/>") == 1
    assert "<w:tblHeader/>" in written.rows[0]._tr.xml
    assert '<w:tblCaption w:val="Subtypes"/>' in xml
    n_sections = len({row.section for row in table.rows})
    assert len(written.rows) == 1 + n_sections + len(table.rows)
    texts = ["\t".join(cell.text for cell in row.cells) for row in written.rows[1:]]
    for row in table.rows:
        shown = [row.label.text + row.label.marks, *(cell.text + cell.marks for cell in row.cells)]
        assert "\t".join(shown) in texts
    assert [paragraph.text for paragraph in document.paragraphs[1:]] == [note.marks + note.text for note in table.notes]
    properties = document.core_properties
    assert (properties.author, properties.title, properties.created.year) == ("clinclust", "Subtypes", 1980)


def test_a_narrow_table_stands_upright(comparisons, tmp_path):
    narrow = cc.subtype_table(comparisons, features=["tremor"], subtypes=[1, 2])
    section = docx.Document(narrow.save(tmp_path / "n.docx")).sections[0]
    assert section.page_width < section.page_height


def test_the_page_is_accessible_and_runs_nothing(table, tmp_path):
    page = Page(table.save(tmp_path / "t.html").read_text(encoding="utf-8"))
    assert page.count("table") == page.count("caption") == 1
    scopes = {attributes.get("scope") for tag, attributes in page.elements if tag == "th"}
    assert scopes == {"col", "row", "rowgroup"}
    assert not {"script", "link", "img", "a"} & {tag for tag, _ in page.elements}
    assert table._repr_html_() == table.to_html()
    assert widths_of_rows(table.to_html()) == {len(table.headings) + 1}


def test_page_workbook_and_document_print_the_same_cells(findings, associations, tmp_path):
    table = table_of_report(replace(findings, associations=associations))
    printed = [[row.label.text + row.label.marks, *(c.text + c.marks for c in row.cells)] for row in table.rows]
    page = Page(table.save(tmp_path / "t.html").read_text(encoding="utf-8"))
    (written,) = docx.Document(table.save(tmp_path / "t.docx")).tables
    of_document = [[cell.text for cell in row.cells] for row in written.rows]
    write_workbook([table.sheet()], tmp_path / "s.xlsx", title="t", generated=GENERATED)
    write_page([table.sheet()], tmp_path / "s.html", title="t")
    worksheet = openpyxl.load_workbook(tmp_path / "s.xlsx")["Subtype table"]
    of_workbook = [[plain(str(cell.value or "")) for cell in row] for row in worksheet.iter_rows()]
    of_page = [
        plain(text) for tag, text in Page((tmp_path / "s.html").read_text(encoding="utf-8")).texts if tag == "td"
    ]
    assert all(row in of_document and row in of_workbook for row in printed)
    assert of_page == [text for row in printed for text in row[1:] if text]
    assert len([text for tag, text in page.texts if tag == "td"]) == len(of_page)


def plain(text):
    """The text with footnote marks as plain letters, and without an indent."""
    return text.strip().translate(str.maketrans("ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐ", "abcdefghijklm"))


def test_a_row_is_one_line_high_unless_its_label_is_long(table, tmp_path):
    worksheet = openpyxl.load_workbook(table.save(tmp_path / "s.xlsx"))["Subtype table"]
    heading = next(cell.row for cell in worksheet["A"] if cell.value == "Feature")
    assert worksheet.freeze_panes == f"B{heading + 1}"
    assert worksheet.print_title_rows == f"${heading}:${heading}"
    heights = {
        row: height.height for row, height in worksheet.row_dimensions.items() if row > heading and height.height
    }
    assert all(height == 30 and len(worksheet.cell(row, 1).value) > 55 for row, height in heights.items())


def test_word_needs_its_package(table, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "docx", None)
    with pytest.raises(ImportError, match="pip install python-docx"):
        table.save(tmp_path / "t.docx")


def test_a_median_has_the_digits_of_its_quartiles_and_a_scale_of_few_levels_has_a_mean():
    labels = np.repeat([0, 1], 40)
    gravity = np.tile([1.005, 1.015, 1.015, 1.02, 1.02, 1.02, 1.02, 1.04], 10)
    edema = np.where(labels == 1, np.arange(80) % 2 == 0, np.arange(80) < 2).astype(int)
    frame = pd.DataFrame({"gravity": gravity, "edema": edema, "pain": np.arange(80) % 11})
    features = [cc.Feature(name="gravity", likelihood="gaussian", contrast="rank")]
    features += [
        cc.Feature(name=name, likelihood="ordinal", trials=trials) for name, trials in (("edema", 2), ("pain", 10))
    ]
    table = cc.subtype_table(cc.compare_subtypes(frame, labels, cc.FeatureSchema(features)))
    assert texts_of(table, "gravity")[1] == "1.020 [1.015, 1.020]"
    assert [row_of(table, name).label.text.partition(", ")[2] for name in ("edema", "pain")] == [
        "mean (SD)",
        "median [Q1, Q3]",
    ]
    assert len(set(texts_of(table, "edema")[2:4])) == 2
    assert "at most seven levels" in table.notes[0].text


def test_codes_and_steps_are_printed_as_a_reader_writes_them():
    cells = {"code": ["1.0", "2.0", "2.5"], "gravity": ["1.015", "1.02", "1.025"]}
    frame = pd.DataFrame({name: np.resize(levels, 80) for name, levels in cells.items()})
    code = cc.Feature(name="code", likelihood="categorical", levels=("1.0", "2.0", "2.5"))
    gravity = cc.Feature(name="gravity", likelihood="ordinal", levels=("1.015", "1.02", "1.025"))
    table = cc.subtype_table(cc.compare_subtypes(frame, np.repeat([0, 1], 40), cc.FeatureSchema([code, gravity])))
    assert [row.label.text for row in table.rows if row.is_level] == ["1", "2", "2.5"]
    assert texts_of(table, "gravity")[1] == "1.0199 (0.0041)"


def test_a_scale_is_counted_level_by_level_where_its_median_hides_what_few_have():
    rng, labels = np.random.default_rng(0), np.repeat([0, 1], 100)
    frame = pd.DataFrame(
        {"edema": np.where(rng.random(200) < 0.3 * labels, 0.5, 0.0), "nyha": rng.integers(5, size=200)}
    )
    frame["hours"] = np.where(rng.random(200) < 0.1, 9.5, 1.5)
    edema = cc.Feature(name="edema", likelihood="ordinal", levels=("0", "0.5", "1"), label="Edema")
    schema = cc.FeatureSchema([edema, cc.Feature(name="nyha", likelihood="binomial", trials=4)])
    schema = cc.FeatureSchema([*schema, cc.Feature(name="hours", likelihood="exponential")])
    comparisons = cc.compare_subtypes(frame, labels, schema)
    table = cc.subtype_table(comparisons, columns=["subtypes", "smd", "p"])
    assert row_of(table, "edema").label.text == "Edema, n (%)"
    heading, some = texts_of(table, "edema"), int((frame["edema"][100:] == 0.5).sum())
    assert texts_of(table, "edema", "0.5") == ["0 (0.0%)", f"{some} ({some}.0%)", "", ""]
    assert [*heading[:2], heading[3], float(heading[2]) > 0.5] == ["", "", "<0.001", True]
    assert "(" in texts_of(table, "hours")[0]  # the quartiles are 1.5 and 1.5
    as_means = cc.subtype_table(comparisons, summaries={"edema": "mean"}).to_frame()
    assert as_means["Feature"].tolist() == ["Edema", "nyha", "hours"]
