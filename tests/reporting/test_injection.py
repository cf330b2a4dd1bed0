"""No text of a cohort or a schema ever becomes a formula, an error value, or markup."""

import re
import zipfile

import docx
import numpy as np
import openpyxl
import pandas as pd
import pytest
from attack.payloads import fault_in_csv, fault_in_document, fault_in_workbook
from cohorts import every_example
from hostile_texts import IN_REPORTS, IN_TABLES
from lxml import etree
from scored import scored

import clinclust as cc
from clinclust import Partition, compare_subtypes
from clinclust.errors import visible
from clinclust.plots import plot_profile
from clinclust.reporting.layout import Column, Sheet, Table
from clinclust.reporting.page import as_svg, write_page
from clinclust.reporting.subtype_table import clean
from clinclust.schema import Feature, FeatureSchema

from .conftest import GENERATED
from .stand_in import associations_of, fitted, write_report
from .test_page import Page


def hostile_cohort(texts, n=12):
    """Return features and columns of n subjects whose every text is one of these: names, labels, sections, units..."""
    rng, features, columns = np.random.default_rng(0), [], {}
    for i, text in enumerate(texts):
        a, b = texts[(i + 5) % len(texts)], texts[(i + 7) % len(texts)]
        words = {"label": text, "section": texts[i // 9 * 9], "unit": a, "description": b}
        words = {field: word for field, word in words.items() if word.strip()}
        levels = [f"{texts[j % len(texts)].strip()}{j - i}" for j in range(i, i + 3)]
        feature, columns[f"{text}{i}"] = every_example(f"{text}{i}", i, rng, n, levels, **words)
        features.append(feature)
    return features, columns


@pytest.fixture(scope="module")
def everywhere():
    """A cohort whose every text is a payload: those above, and ids, title, reasons."""
    features, columns = hostile_cohort(IN_REPORTS)
    columns["=id"] = [f"{text} {i}" if i < 6 else text for i, text in enumerate(IN_REPORTS[:12])]
    features = [Feature(name="=id", role="id", label=IN_REPORTS[0]), *features]
    schema = FeatureSchema(features, title="=1+1</title><script>alert(1)</script>\x07")
    model = fitted(schema, np.repeat([0, 1], 6), kept_out={features[3].name: "=reason<b>"})
    model.restarts_["start"] = ["=start", "<b>", "@x", "+y"]
    return model, pd.DataFrame(columns)


def test_no_text_becomes_a_formula_in_the_workbook(everywhere, tmp_path):
    model, frame = everywhere
    associations = associations_of(model)
    for place, name in enumerate(("remark", "left_out", "test", "method")):
        associations[name] = [IN_REPORTS[(place + row) % len(IN_REPORTS)] for row in range(len(associations))]
    path = write_report(
        model,
        frame,
        tmp_path / "=1+1;@x'.xlsx",
        associations=associations,
        names={1: "=1+1", 2: '<b>\x07\' descr="x"'},
        generated=GENERATED,
    )
    assert fault_in_workbook(path) is None
    cells = [cell for sheet in openpyxl.load_workbook(path) for row in sheet.iter_rows() for cell in row]
    texts = [cell for cell in cells if isinstance(cell.value, str)]
    assert all(cell.quotePrefix for cell in texts)
    seen = {cell.value.replace("_x005F_", "_") for cell in texts}  # openpyxl does not read this as Excel does
    assert {visible(payload) for payload in IN_REPORTS} <= seen | {"\t=1+1", "\r=1+1"}


def test_no_text_becomes_markup_in_the_page(everywhere, tmp_path, page_path):
    model, frame = everywhere
    names = {1: "<script>alert(1)</script>", 2: "${7*7}"}
    path = write_report(model, frame, tmp_path / "=<b>;@x'.html", names=names, generated=GENERATED)
    page = Page(path.read_text(encoding="utf-8"))
    innocent = Page(page_path.read_text(encoding="utf-8"))
    assert {tag for tag, _ in page.elements} == {tag for tag, _ in innocent.elements}
    names = {name for _, attributes in page.elements for name in attributes}
    assert names <= {name for _, attributes in innocent.elements for name in attributes}
    assert [tag for tag, _ in page.elements].count("script") == 1  # that of the page
    for _, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "xlink:href")]
        assert attributes.get("href", "#").startswith("#")
        # Of all texts only our own words are in a style.
        assert not re.search(r"expression|javascript|url\((?!#)", attributes.get("style", ""))
    shown = {text for _, text in page.texts}
    assert len({visible(payload).strip() for payload in IN_REPORTS} & shown) > 10
    drawn = {text for tag, text in page.texts if tag in ("text", "tspan")}
    assert "<script>alert(1)</script>" in drawn
    assert "${7*7}" in drawn


def test_no_note_or_heading_becomes_markup_in_the_page(tmp_path):
    text = "<b onclick=alert(1)>&amp;</b>"
    table = Table(text, [Column(text)], [(text,)], bands=[text], notes=[text])
    write_page([Sheet("Trust", [text], [table], explanations=[text])], tmp_path / "a.html", title=text)
    page = Page((tmp_path / "a.html").read_text(encoding="utf-8"))
    assert "b" not in {tag for tag, _ in page.elements}
    assert [shown for _, shown in page.texts].count(text) >= 6


def test_no_name_of_a_subtype_becomes_markup_in_a_figure():
    labels = np.arange(2 * len(IN_REPORTS)) % len(IN_REPORTS)
    schema = FeatureSchema([Feature(name="x", likelihood="gaussian")])
    model, frame = fitted(schema, labels), pd.DataFrame({"x": np.arange(labels.size) / 7})
    comparisons = compare_subtypes(frame, labels, schema)
    names = dict(enumerate(IN_REPORTS, start=1))
    title = "".join(IN_REPORTS)
    text = as_svg(lambda: plot_profile(model, comparisons, names=names), name="x", title=title)
    drawing = Page(text)
    tags = {"svg", "g", "defs", "path", "use", "text", "clippath", "rect", "title"}
    assert {tag for tag, _ in drawing.elements} <= tags
    assert {name for _, attributes in drawing.elements for name in attributes} <= {
        *("aria-labelledby", "role", "style", "width", "height", "viewbox"),
        *("transform", "clip-path", "d", "href", "id", "x", "y"),
    }
    assert ("title", visible(title)) in drawing.texts
    words = {text for _, text in drawing.texts}
    short = [name for name in IN_REPORTS if len(name) < 7 and name.isprintable() and "-" not in name]
    assert {visible(name).strip() for name in short} <= words


def test_no_text_becomes_markup_in_a_notebook(everywhere):
    model, _ = everywhere
    groups = Partition([text for text in IN_REPORTS if text.strip()], model.schema_, made_by=IN_REPORTS[0])
    page = Page(groups._repr_html_())
    tags = {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert {tag for tag, _ in page.elements} <= tags
    assert {name for _, attributes in page.elements for name in attributes} <= {"style", "scope", "title", "class"}
    assert {attributes.get("class", "dataframe") for _, attributes in page.elements} == {"dataframe"}
    assert len({attributes["style"] for _, attributes in page.elements if "style" in attributes}) == 1
    assert any("<script>alert(1)</script>" in text for _, text in page.texts)


# --- no text of a subtype table becomes a formula, markup, a command or a field, in any document ----------------------


@pytest.fixture(scope="module")
def table_everywhere():
    """A table whose every text is a payload: title, names, sections, labels, units, levels, remarks."""
    features, columns = hostile_cohort(IN_TABLES)
    schema = cc.FeatureSchema(features)
    frame = schema.validate(pd.DataFrame(columns), warn=False)
    comparisons = cc.compare_subtypes(frame, np.repeat([0, 1], 6), schema)
    associations = pd.DataFrame({"feature": list(columns), "method": "refit", "p": 0.5, "q": 0.5, "grade": "differs"})
    associations["remark"] = IN_TABLES
    names = {1: IN_TABLES[1], 2: r"\input{x}<script>"}
    return cc.subtype_table(
        comparisons, associations=associations, names=names, title="=1+1</title><script>\\input{x}\x07"
    )


@pytest.fixture(scope="module")
def shown():
    return {clean(payload) for payload in IN_TABLES}


def test_no_text_becomes_markup_in_the_page_of_a_table(table_everywhere, shown, tmp_path):
    page = Page(table_everywhere.save(tmp_path / "t.html").read_text(encoding="utf-8"))
    head = {"html", "head", "meta", "title", "style", "body", "main"}
    body = {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "br", "p"}
    assert {tag for tag, _ in page.elements} == head | body
    texts = " ".join(text for _, text in page.texts)
    assert all(text in texts for text in shown)


def test_no_text_becomes_a_formula(table_everywhere, tmp_path):
    text = table_everywhere.save(tmp_path / "t.csv").read_text(encoding="utf-8")
    assert fault_in_csv(text) is None
    assert "'=" in text
    assert fault_in_workbook(table_everywhere.save(tmp_path / "t.xlsx")) is None


def test_no_text_becomes_a_field_or_a_link_in_word(table_everywhere, shown, tmp_path):
    elements = {}
    for name, table in (("wild", table_everywhere), ("innocent", cc.subtype_table(_two_groups(), names={1: "one"}))):
        path = table.save(tmp_path / f"{name}.docx")
        assert fault_in_document(path) is None
        with zipfile.ZipFile(path) as archive:
            assert not [part for part in archive.namelist() if "vba" in part or "embed" in part]
            root = etree.fromstring(archive.read("word/document.xml"))
        elements[name] = {element.tag.split("}")[1] for element in root.iter() if isinstance(element.tag, str)}
    assert elements["wild"] <= elements["innocent"] | {"vertAlign", "ind", "gridSpan", "keepNext"}
    (table,) = docx.Document(tmp_path / "wild.docx").tables
    texts = " ".join(cell.text for row in table.rows for cell in row.cells)
    assert all(text in texts for text in shown)


def test_a_title_of_any_length_is_written_in_word(tmp_path):
    table = cc.subtype_table(_two_groups(), title="x" * 5000)
    document = docx.Document(table.save(tmp_path / "long.docx"))
    assert len(document.core_properties.title) == 255
    assert document.paragraphs[0].text == "x" * 5000


@scored([".docx", ".xlsx", ".html", ".csv"])
def test_payloads_as_file_names_reach_neither_the_file_nor_the_folder(suffix, tmp_path, some):
    table, tmp_path = cc.subtype_table(_two_groups()), tmp_path / suffix
    tmp_path.mkdir()
    names = [name for name in IN_TABLES if not set("/\x00") & set(name) and len(name.encode()) < 200]
    names = some(names[:: 7 if suffix in (".docx", ".xlsx") else 1], few=60 if suffix == ".csv" else 4)
    written = {table.save(tmp_path / f"{name}{suffix}").read_bytes() for name in names}
    assert len(written) == 1
    assert {file.name for file in tmp_path.iterdir()} == {f"{name}{suffix}" for name in names}


def _two_groups():
    features = [
        cc.Feature(name="x", likelihood="gaussian", section="s"),
        cc.Feature(name="y", likelihood="categorical", levels=("a", "b"), section="s"),
    ]
    frame = pd.DataFrame({"x": [1.0, 2, 3, 4, 5, 7], "y": ["a", "b"] * 3})
    return cc.compare_subtypes(frame, [0, 0, 0, 1, 1, 1], cc.FeatureSchema(features))
