"""The page: well-formed, accessible, self-contained, and with the numbers of the workbook."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise

import matplotlib as mpl
import pytest

from clinclust.plots import plot_tree
from clinclust.reporting.layout import Column, Sheet, Table
from clinclust.reporting.page import SCRIPT, STYLE, as_svg, write_page

VOID = {"meta", "br"}


class Page(HTMLParser):
    """Collects elements and texts; fails on a tag that closes what is not open, a comment, and what nobody sees."""

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

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")

    def handle_data(self, data):
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", data)
        if data.strip():
            self.texts.append((self.open[-1], data.strip()))

    def count(self, tag):
        return sum(element == tag for element, _ in self.elements)


@pytest.fixture(scope="module")
def page(page_path):
    return Page(page_path.read_text(encoding="utf-8"))


def test_every_table_has_a_caption_and_every_heading_a_scope(page):
    assert page.count("table") == page.count("caption") == len({text for tag, text in page.texts if tag == "caption"})
    scopes = [attributes.get("scope") for tag, attributes in page.elements if tag == "th"]
    assert {"col", "row", "rowgroup"} <= set(scopes) <= {"col", "colgroup", "row", "rowgroup"}
    assert ("html", {"lang": "en"}) in page.elements


def widths_of_rows(table):
    """The numbers of columns that the rows of a table span."""
    rows = [re.findall(r"<t[hd]([^>]*)>", row) for row in re.findall(r"<tr>(.*?)</tr>", table)]
    return {sum(int((re.findall(r'colspan="(\d+)"', cell) or [1])[0]) for cell in cells) for cells in rows}


def test_rows_of_a_table_span_the_same_number_of_columns(page_path):
    for table in re.findall(r"<table>.*?</table>", page_path.read_text(encoding="utf-8"), re.DOTALL):
        assert len(widths_of_rows(table)) == 1


def test_nothing_is_loaded_or_run(page):
    assert not {"link", "img", "iframe", "object", "form", "input"} & {tag for tag, _ in page.elements}
    assert [tag for tag, _ in page.elements].count("script") == 1  # that of `test_the_policy_lets_nothing_in`
    for _, attributes in page.elements:
        assert not {"src", "onclick", "onload"} & set(attributes)
        if "href" in attributes:
            assert attributes["href"].startswith("#")
        assert "style" not in attributes or "url(" not in attributes["style"].replace("url(#", "")
    targets = {attributes["href"][1:] for tag, attributes in page.elements if tag == "a"}
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    assert targets == {attributes["id"] for tag, attributes in page.elements if tag in ("section", "main")}


def test_the_policy_lets_nothing_in(page):
    (policy,) = [a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    of_script, *others = policy.removeprefix("default-src 'none'; ").split("; ")
    assert others == ["style-src 'unsafe-inline'", "base-uri 'none'", "form-action 'none'"]
    assert of_script == f"script-src 'sha256-{b64encode(sha256(SCRIPT.encode()).digest()).decode()}'"
    assert [text for tag, text in page.texts if tag == "script"] == [SCRIPT.strip()]
    assert SCRIPT.count("\n") <= 100


def test_headings_go_down_one_step_at_a_time(page):
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_a_keyboard_reaches_the_content_and_whatever_scrolls(page):
    body = [(tag, attributes) for tag, attributes in page.elements if tag not in VOID]
    first_link = next(attributes for tag, attributes in body if tag == "a")
    assert (first_link["href"], first_link["class"]) == ("#content", "skip")
    scrolling = [attributes for _, attributes in body if attributes.get("class") == "scroll"]
    assert len(scrolling) == page.count("table") + page.count("figure")
    assert all(a["tabindex"] == "0" and a["role"] == "region" and a["aria-label"] for a in scrolling)


def test_every_figure_has_a_name_and_a_caption(page):
    assert page.count("figure") == page.count("figcaption") == page.count("svg") == 3
    drawings = [attributes for tag, attributes in page.elements if tag == "svg"]
    assert all(drawing["role"] == "img" for drawing in drawings)
    ids = {attributes["id"]: tag for tag, attributes in page.elements if tag == "title" and attributes}
    assert [ids[drawing["aria-labelledby"]] for drawing in drawings] == ["title"] * 3
    shown = {text for tag, text in page.texts if tag == "text"}
    assert {"Systolic blood pressure", "Subtype 1"} <= shown


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in mpl.colors.to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def test_every_text_stands_out_light_dark_and_on_paper():
    schemes = [dict(re.findall(r"--(\w+): ([^;]+);", block)) for block in re.findall(r":root \{([^}]*)\}", STYLE)]
    assert len(schemes) == 3
    for scheme in schemes:
        for ground in (scheme["paper"], scheme["head"], scheme["band"]):
            assert contrast(scheme["ink"], ground) >= 4.5
        assert contrast(scheme["quiet"], scheme["paper"]) >= 4.5
        for line in (scheme["mark"], "#d55e00"):  # of figures: not text
            assert contrast(line, scheme["paper"]) >= 3


def test_a_figure_does_not_hang_on_the_settings_of_who_draws_it(model):
    def draw():
        return as_svg(lambda: plot_tree(model), name="r", title="t")

    plain = draw()
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path", "text.color": "yellow"}):
        assert draw() == plain
    assert {"ink", "mark"} <= set(re.findall(r"(?:fill|stroke): var\(--(\w+)\)", plain))
    assert not {"#1f2933", "<style", "<metadata", "xlink", "<image"} & set(re.findall(r"#\w+|<\w+|xlink", plain))


def test_long_tables_are_folded_away(tmp_path):
    columns = [Column("name")]
    tables = [Table(f"of {rows}", columns, [["x"]] * rows) for rows in (299, 300)]
    write_page([Sheet("Only", [], tables)], tmp_path / "x.html", title="t")
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert text.count("<details>") == text.count("</details>") == 1
    assert "<summary>of 300 (300 rows)</summary>" in text


@pytest.mark.parametrize(("n_columns", "width"), [(9, ""), (10, ' class="wide"'), (24, ' class="wide widest"')])
def test_wide_tables_are_set_closer_so_that_they_fit_the_paper(tmp_path, n_columns, width):
    table = Table("caption", [Column(str(place)) for place in range(n_columns)], [["x"] * n_columns])
    write_page([Sheet("Only", [], [table])], tmp_path / "x.html", title="t")
    assert f"<table{width}>" in (tmp_path / "x.html").read_text(encoding="utf-8")


def test_paper_has_neither_folds_nor_scroll_areas():
    on_paper = STYLE[STYLE.index("@media print") :]
    assert "details::details-content { content-visibility: visible; block-size: auto; }" in on_paper
    assert ".scroll { overflow: visible; max-height: none; }" in on_paper
    assert "details caption { padding: 0.3rem 0; font-size: 1.1rem; }" in on_paper  # the summary is not printed


def test_numbers_bands_and_empty_cells(tmp_path):
    columns = [Column("name"), Column("p", "p"), Column("mean", "measure")]
    rows = [["x", 0.0004, 1.25], ["y", None, None]]
    table = Table("caption", columns, rows, bands=["A", "B"], decimals=[1, 0])
    write_page([Sheet("Only", [], [table])], tmp_path / "x.html", title="t")
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert '<td class="n">&lt;0.001</td><td class="n">1.2</td>' in text
    assert '<th scope="row">y</th><td class="n"></td><td class="n"></td>' in text
    assert text.count('scope="rowgroup"') == 2
