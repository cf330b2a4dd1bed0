"""No text of a subtype table becomes a formula, markup, a command or a field, in any document."""

from __future__ import annotations

import csv
import re
import zipfile

import docx
import numpy as np
import openpyxl
import pandas as pd
import pytest
from cohorts import every_example
from lxml import etree
from scored import scored

import clinclust as cc
from clinclust.reporting.subtype_table import clean

from .test_injection import PAYLOADS as OF_THE_REPORT
from .test_page import Page

PAYLOADS = [
    *OF_THE_REPORT,
    r"\input{/etc/passwd}", r"\write18{touch owned}", r"\immediate\write18{id}", r"\end{longtable}\input{x}",
    r"\catcode`\%=12", r"\def\x{y}\x", r"\newpage", r"\\[5cm]", "^^5cinput{x}", "$x$", "% gone", "a & b", "#1", "~",
    "[c]",
    "*", "-- ---", "?` !`", r"\textbf{x", "}{", "[click](http://x.example)", "![x](http://x.example/x.png)",
    "[click]: http://x.example", "<http://x.example>", "http://x.example/a_b", "www.x.example", "a@x.example",
    "**bold**", "__bold__", "`code`", "~~gone~~", "| a | b |", "a\n\n# heading", "- [ ] task", "1. one", "> said",
    "[^1]", "&copy; &#60;script&#62;", r"{\rtf1\ansi{\field{\*\fldinst INCLUDEPICTURE x}}}",
    "{ INCLUDETEXT x }", '{ DDEAUTO c:\\\\windows\\\\system32\\\\cmd.exe "/k calc.exe" }', "</w:t></w:r><w:p/>",
    '<w:instrText>DDE</w:instrText>', "\x13 DDEAUTO calc \x15", "\u2067abc\u2069", "\ufeff=1+1", "\u200b=1+1",
    "{{ x }}",
]  # fmt: skip


@pytest.fixture(scope="module")
def everywhere():
    """A table whose every text is a payload: title, names, sections, labels, units, levels, remarks."""
    N, features, columns = 12, [], {}
    rng = np.random.default_rng(0)
    for i, text in enumerate(PAYLOADS):
        name = f"f{i}"
        texts = {"label": text, "section": PAYLOADS[i // 7 * 7], "unit": PAYLOADS[(i + 5) % len(PAYLOADS)]}
        texts = {key: value for key, value in texts.items() if value.strip()}
        levels = [f"{PAYLOADS[j % len(PAYLOADS)].strip()}{j - i}" for j in range(i, i + 3)]
        feature, columns[name] = every_example(name, i, rng, N, levels, **texts)
        features.append(feature)
    schema = cc.FeatureSchema(features)
    frame = schema.validate(pd.DataFrame(columns), warn=False)
    comparisons = cc.compare_subtypes(frame, np.repeat([0, 1], 6), schema)
    associations = pd.DataFrame({"feature": list(columns), "method": "refit", "p": 0.5, "q": 0.5, "grade": "differs"})
    associations["remark"] = PAYLOADS
    names = {1: PAYLOADS[1], 2: r"\input{x}<script>"}
    return cc.subtype_table(
        comparisons, associations=associations, names=names, title="=1+1</title><script>\\input{x}\x07"
    )


@pytest.fixture(scope="module")
def shown():
    return {clean(payload) for payload in PAYLOADS}


def test_there_are_more_than_fifty_payloads():
    assert len(set(PAYLOADS)) > 90


def test_no_text_becomes_markup_in_the_page(everywhere, shown, tmp_path):
    page = Page(everywhere.save(tmp_path / "t.html").read_text(encoding="utf-8"))
    head = {"html", "head", "meta", "title", "style", "body", "main"}
    body = {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "br", "p"}
    assert {tag for tag, _ in page.elements} == head | body
    texts = " ".join(text for _, text in page.texts)
    assert all(text in texts for text in shown)


def test_no_text_becomes_a_formula_in_csv(everywhere, tmp_path):
    with everywhere.save(tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if re.match(r"[=+@\t\r\n-]", cell) and not re.fullmatch(r"[+-]\d+", cell)]
    assert any(cell.startswith("'=") for cell in cells)
    assert len(cells) == len(everywhere.to_frame().columns) * (1 + len(everywhere.rows))


def test_no_text_becomes_a_formula_in_the_workbook(everywhere, tmp_path):
    path = everywhere.save(tmp_path / "t.xlsx")
    for cell in (cell for row in openpyxl.load_workbook(path)["Subtype table"].iter_rows() for cell in row):
        assert cell.data_type == ("s" if isinstance(cell.value, str) else "n")
    with zipfile.ZipFile(path) as archive:
        assert not any(re.search(rb"<f[ >/]", archive.read(name)) for name in archive.namelist())


def test_no_text_becomes_a_field_or_a_link_in_word(everywhere, shown, tmp_path):
    innocent = cc.subtype_table(_two_groups(), names={1: "one"})
    elements = {}
    for name, table in (("wild", everywhere), ("innocent", innocent)):
        with zipfile.ZipFile(table.save(tmp_path / f"{name}.docx")) as archive:
            assert not [part for part in archive.namelist() if "vba" in part or "embed" in part]
            relations = archive.read("word/_rels/document.xml.rels")
            assert b'TargetMode="External"' not in relations
            root = etree.fromstring(archive.read("word/document.xml"))
        elements[name] = {element.tag.split("}")[1] for element in root.iter() if isinstance(element.tag, str)}
    assert elements["wild"] <= elements["innocent"] | {"vertAlign", "ind", "gridSpan", "keepNext"}
    assert not elements["wild"] & {"instrText", "fldChar", "fldSimple", "hyperlink", "object", "altChunk", "pict"}
    document = docx.Document(tmp_path / "wild.docx")
    (table,) = document.tables
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
    names = [name for name in PAYLOADS if not set("/\x00") & set(name)]
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
