"""No text of a cohort or a schema ever becomes a formula, an error value, or markup."""

from __future__ import annotations

import re
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest
from cohorts import every_example

from clinclust import Partition, compare_subtypes
from clinclust.errors import visible
from clinclust.plots import plot_profile
from clinclust.reporting.layout import Column, Sheet, Table
from clinclust.reporting.page import as_svg, write_page
from clinclust.reporting.workbook import write_workbook
from clinclust.schema import Feature, FeatureSchema

from .conftest import GENERATED
from .stand_in import associations_of, fitted, write_report
from .test_page import Page

PAYLOADS = [
    '=1+1', '=SUM(A1:A9)', "=cmd|' /C calc'!A0", '=HYPERLINK("http://x.example","click")', '=A1', '==1',
    '= 1', '=IMPORTXML("http://x.example","//a")', '=WEBSERVICE("http://x.example")', '={1,2}', '=\n1+1',
    '=\x01', '+1+1', "+cmd|' /C calc'!A0", '-1+1', '-2', '@SUM(1)', '@x', "'=1+1", '"=1+1"', '\t=1+1',
    '\r=1+1', ';=1', '%=1', '#N/A', '#REF!', '#DIV/0!', '#NAME?', 'TRUE', '1E5', '001', '_x003D_1+1',
    '&amp;=1', 'a\x07b', 'a\x00b', '<script>alert(1)</script>', '</td><script>alert(1)</script>',
    '</style><script>alert(1)</script>', '<img src=x onerror=alert(1)>', '" onmouseover="alert(1)',
    "' onmouseover='alert(1)", '&lt;script&gt;', '<!--', '-->', ']]>', "<?xml version='1.0'?>",
    '</title><script>alert(1)</script>', 'javascript:alert(1)', '{{7*7}}', '${7*7}', '\u202egnp.exe',
    '＝1+1', '%s%n{0}',
]  # fmt: skip


@pytest.fixture(scope="module")
def everywhere():
    """A cohort whose every text is a payload: names, labels, sections, units, levels, ids, title, reasons."""
    N, features, columns = 12, [], {}
    rng = np.random.default_rng(0)

    def payload(i):
        return PAYLOADS[i % len(PAYLOADS)]

    ids = [payload(i) + f" {i}" if i < 6 else payload(i) for i in range(N)]
    columns["=id"] = ids
    features.append(Feature(name="=id", role="id", label=payload(0)))
    for i, text in enumerate(PAYLOADS):
        name = f"{text}{i}"
        texts = {"label": text, "section": payload(i // 9 * 9), "unit": payload(i + 5), "description": payload(i + 7)}
        levels = [f"{payload(j).strip()}{j - i}" for j in range(i, i + 3)]
        feature, columns[name] = every_example(name, i, rng, N, levels, **texts)
        features.append(feature)
    schema = FeatureSchema(features, title="=1+1</title><script>alert(1)</script>\x07")
    frame = pd.DataFrame(columns)
    model = fitted(schema, np.repeat([0, 1], 6), kept_out={features[3].name: "=reason<b>"})
    model.restarts_["start"] = ["=start", "<b>", "@x", "+y"]
    return model, frame


def test_there_are_fifty_payloads():
    assert len(set(PAYLOADS)) >= 50


def test_no_text_becomes_a_formula_in_the_workbook(everywhere, tmp_path):
    model, frame = everywhere
    associations = associations_of(model)
    for place, name in enumerate(("remark", "left_out", "test", "method")):
        associations[name] = [PAYLOADS[(place + row) % len(PAYLOADS)] for row in range(len(associations))]
    path = write_report(
        model,
        frame,
        tmp_path / "=1+1;@x'.xlsx",
        associations=associations,
        names={1: "=1+1", 2: '<b>\x07\' descr="x"'},
        generated=GENERATED,
    )
    seen = set()
    for row in (row for sheet in openpyxl.load_workbook(path) for row in sheet.iter_rows()):
        for cell in row:
            if isinstance(cell.value, str):
                assert cell.data_type == "s"
                assert cell.quotePrefix
                seen.add(cell.value)
            else:
                assert cell.data_type == "n"
    seen = {text.replace("_x005F_", "_") for text in seen}  # openpyxl does not read this as Excel does
    assert {visible(payload) for payload in PAYLOADS} <= seen | {"\t=1+1", "\r=1+1"}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            # In a chart, <c:f> or its like is a reference to cells, which a test of the charts looks at.
            is_chart = name.startswith("xl/charts/")
            assert is_chart or not re.search(rb"<f[ >/]", archive.read(name)), name
            assert b"ddeLink" not in archive.read(name)
            assert b'TargetMode="External"' not in archive.read(name)
        assert not [name for name in archive.namelist() if "externalLink" in name or "vba" in name]


def test_no_text_becomes_markup_in_the_page(everywhere, tmp_path, page_path):
    model, frame = everywhere
    path = write_report(model, frame, tmp_path / "=<b>;@x'.html", generated=GENERATED)
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
    assert len({visible(payload).strip() for payload in PAYLOADS} & shown) > 10
    drawn = {text for tag, text in page.texts if tag in ("text", "tspan")}
    assert "<script>alert(1)</script>" in drawn
    assert "${7*7}" in drawn


def test_no_name_of_a_subtype_becomes_markup_in_a_figure():
    labels = np.arange(2 * len(PAYLOADS)) % len(PAYLOADS)
    schema = FeatureSchema([Feature(name="x", likelihood="gaussian")])
    model, frame = fitted(schema, labels), pd.DataFrame({"x": np.arange(labels.size) / 7})
    comparisons = compare_subtypes(frame, labels, schema)
    names = dict(enumerate(PAYLOADS, start=1))
    title = "".join(PAYLOADS)
    text = as_svg(lambda: plot_profile(model, comparisons, names=names), name="x", title=title)
    drawing = Page(text)
    tags = {"svg", "g", "defs", "path", "use", "text", "clippath", "rect", "title"}
    assert {tag for tag, _ in drawing.elements} <= tags
    assert {name for _, attributes in drawing.elements for name in attributes} <= {
        *(
            "aria-labelledby",
            "role",
            "style",
            "width",
            "height",
            "viewbox",
            "transform",
            "clip-path",
            "d",
            "href",
            "id",
        ),
        *("x", "y"),
    }
    assert ("title", visible(title)) in drawing.texts
    words = {text for _, text in drawing.texts}
    assert {visible(name) for name in PAYLOADS if len(name) < 7 and name.isprintable() and "-" not in name} <= words


def test_no_text_becomes_markup_in_a_notebook(everywhere):
    model, _ = everywhere
    groups = Partition(PAYLOADS, model.schema_, made_by=PAYLOADS[0])
    page = Page(groups._repr_html_())
    tags = {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert {tag for tag, _ in page.elements} <= tags
    assert {name for _, attributes in page.elements for name in attributes} <= {"style", "scope", "title", "class"}
    assert {attributes.get("class", "dataframe") for _, attributes in page.elements} == {"dataframe"}
    assert len({attributes["style"] for _, attributes in page.elements if "style" in attributes}) == 1
    assert any("<script>alert(1)</script>" in text for _, text in page.texts)


def test_payloads_as_file_names_reach_neither_the_file_nor_the_folder(tmp_path):
    sheets = [Sheet("Only", [], [Table("caption", [Column("a")], [["x"]])])]
    names = [payload for payload in PAYLOADS if not set("/\x00") & set(payload)]
    written = set()
    for name in names:
        write_page(sheets, tmp_path / f"{name}.html", title="t")
        write_workbook(sheets, tmp_path / f"{name}.xlsx", title="t", generated=GENERATED)
        written |= {(tmp_path / f"{name}{suffix}").read_bytes() for suffix in (".html", ".xlsx")}
    assert len(written) == 2
    assert {file.name for file in tmp_path.iterdir()} == {f"{n}{s}" for n in names for s in (".html", ".xlsx")}
