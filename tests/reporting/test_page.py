"""The page: well-formed, accessible, self-contained, and with the numbers of the workbook."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import openpyxl
import pytest

from clinclust.reporting import write_report
from clinclust.reporting.layout import Column, Sheet, Table
from clinclust.reporting.page import write_page

from .conftest import GENERATED

VOID = {"meta"}


class Page(HTMLParser):
    """Collects elements and cell texts, and fails on a tag that closes what is not open."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if data.strip():
            self.texts.append((self.open[-1], data.strip()))

    def count(self, tag):
        return sum(element == tag for element, _ in self.elements)


@pytest.fixture(scope="module")
def page(page_path):
    return Page(page_path.read_text(encoding="utf-8"))


def test_every_table_has_a_caption_and_every_heading_a_scope(page):
    assert page.count("table") == page.count("caption") == 5 + 3 + 1 + 1 + 1 + 1 + 2
    scopes = [attributes.get("scope") for tag, attributes in page.elements if tag == "th"]
    assert set(scopes) == {"col", "colgroup", "row", "rowgroup"}
    assert ("html", {"lang": "en"}) in page.elements
    captions = [text for tag, text in page.texts if tag == "caption"]
    assert len(set(captions)) == len(captions)


def test_rows_of_a_table_span_the_same_number_of_columns(page_path):
    for table in re.findall(r"<table>.*?</table>", page_path.read_text(encoding="utf-8"), re.DOTALL):
        widths = set()
        for row in re.findall(r"<tr>(.*?)</tr>", table):
            cells = re.findall(r"<t[hd]([^>]*)>", row)
            widths.add(sum(int((re.findall(r'colspan="(\d+)"', cell) or [1])[0]) for cell in cells))
        assert len(widths) == 1


def test_nothing_is_loaded_or_run(page):
    assert not {"script", "link", "img", "iframe", "object", "form", "input"} & {tag for tag, _ in page.elements}
    for tag, attributes in page.elements:
        assert not {"src", "onclick", "onload"} & set(attributes)
        if tag == "a":
            assert attributes["href"].startswith("#")
    targets = {attributes["href"][1:] for tag, attributes in page.elements if tag == "a"}
    assert targets == {attributes["id"] for tag, attributes in page.elements if tag == "section"}


def test_light_dark_and_print(page_path):
    text = page_path.read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text


def test_the_page_says_what_the_workbook_says(page, workbook_path):
    shown = " ".join(text for _, text in page.texts)
    book = openpyxl.load_workbook(workbook_path)
    only_in_workbook = {"Profile", "Charts", "Effect sizes", "Data"}
    for sheet in (sheet for sheet in book if sheet.title not in only_in_workbook):
        texts = [cell.value for row in sheet.iter_rows() for cell in row if isinstance(cell.value, str)]
        assert texts
        joined = [text for text in texts if (" " not in text or len(text) < 100) and ": " not in text]
        assert all(text in shown for text in joined if not text.endswith(("features", "subjects")))
    assert "descriptive, not inference" in shown


def test_the_same_date_gives_the_same_bytes(model, frame, page_path, tmp_path):
    again = write_report(model, frame, tmp_path / "again.HTML", generated=GENERATED)
    assert again.read_bytes() == page_path.read_bytes()


def test_numbers_bands_and_empty_cells(tmp_path):
    columns = [Column("name"), Column("p", "p"), Column("mean", "measure")]
    rows = [["x", 0.0004, 1.25], ["y", None, None]]
    table = Table("caption", columns, rows, bands=["A", "B"], decimals=[1, 0], shades=[[None, None, 0.5], [None] * 3])
    write_page([Sheet("Only", [], [table])], tmp_path / "x.html", title="t")
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert '<td class="n">&lt;0.001</td><td class="n" style="background: rgb(var(--shade) / 0.50)">1.2</td>' in text
    assert '<th scope="row">y</th><td class="n"></td><td class="n"></td>' in text
    assert text.count('scope="rowgroup"') == 2


def test_a_long_list_of_subjects_is_cut_and_says_so(model, frame, tmp_path, monkeypatch):
    monkeypatch.setattr("clinclust.reporting.report._SUBJECTS_ON_A_PAGE", 10)
    text = write_report(model, frame, tmp_path / "long.html").read_text(encoding="utf-8")
    assert f"The first 10 of {len(frame)} subjects" in text
    book = openpyxl.load_workbook(write_report(model, frame, tmp_path / "long.xlsx"))
    assert book["Assignments"].max_row > len(frame)
