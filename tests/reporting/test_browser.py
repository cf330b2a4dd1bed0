"""The page in a browser: quiet, no wider than its window, in order for keyboard and screen reader, short on paper."""

import os
import re
import shutil
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from clinclust import write_report

pytestmark = pytest.mark.simulation

# Subjects, features, subtypes, whether the fit is the quick one of the paper, and the most A4 pages of the report.
COHORTS = {
    "one group": ((400, 12, 1), False, 3),
    "two subtypes": ((400, 24, 2), False, 6),
    "eight subtypes": ((400, 24, 8), True, 8),
    "30 subjects": ((30, 8, 2), True, 5),
}
MISSING = 0.08
WIDTHS = (1280, 800, 390)

# What lies beyond the right edge of the window, outside a part that scrolls by itself or is not shown.
WIDER = """() => [...document.querySelectorAll("body *")].filter(element => {
  const place = element.getBoundingClientRect();
  return place.width && place.right > document.documentElement.clientWidth + 1
    && !element.closest(".scroll > *") && !element.closest(".skip");
}).map(element => element.outerHTML.slice(0, 80))"""
FOCUSED = """() => {
  const element = document.activeElement, all = [...document.querySelectorAll("*")];
  return {place: all.indexOf(element), tag: element.tagName.toLowerCase(), kind: element.className,
    name: element.getAttribute("aria-label") || element.textContent, left: element.getBoundingClientRect().left};
}"""


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason='needs Playwright: pip install ".[browser]"')
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("needs chromium, chromium-browser or google-chrome on the PATH")
    with playwright.sync_playwright() as started:
        # A root user, as in a container, has no sandbox.
        arguments = ["--no-sandbox"] if os.name == "posix" and os.geteuid() == 0 else []
        browser = started.chromium.launch(executable_path=chromium, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="module", params=COHORTS)
def report(request, tmp_path_factory):
    """The name of a cohort, and the page of its report."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
        from report_size import simulated
    sys.modules.pop("report_size")
    sizes, quick, _ = COHORTS[request.param]
    path = tmp_path_factory.mktemp("browser") / "report.html"
    return request.param, write_report(
        *simulated(*sizes, missing=MISSING, quick=quick), path, associations=None, progress=False
    )


@pytest.fixture
def tab(browser, report):
    """The page in a window, with `said`: what reached the console or the network."""
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    tab.said = []
    tab.on("console", lambda message: tab.said.append(message.text))
    tab.on("pageerror", lambda error: tab.said.append(str(error)))
    tab.on("request", lambda request: tab.said.append(request.url))
    tab.goto(report[1].as_uri())
    yield tab
    tab.close()


def test_nothing_reaches_the_console_or_the_network(tab, report):
    tab.emulate_media(color_scheme="dark")
    tab.set_viewport_size({"width": 390, "height": 800})
    tab.emulate_media(media="print")
    assert tab.said == [report[1].as_uri()]


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window(tab, width):
    tab.set_viewport_size({"width": width, "height": 800})
    tab.evaluate("() => document.querySelectorAll('details').forEach(details => details.open = true)")
    assert tab.evaluate(WIDER) == []
    tables = "[...document.querySelectorAll('#overview > div > .scroll')]"  # nothing of the first page is cut off
    assert tab.evaluate(f"() => {tables}.every(table => table.scrollWidth <= table.clientWidth)")
    assert tab.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def focused_by_tab(tab):
    """Return everything that the Tab key reaches, in its order."""
    found = []
    while True:
        tab.keyboard.press("Tab")
        found.append(tab.evaluate(FOCUSED))
        if found[-1]["tag"] == "body" or found[-1] in found[:-1]:
            return found[:-1]


def test_the_keyboard_goes_from_the_skip_link_over_the_sections_to_all_that_scrolls(tab):
    tab.set_viewport_size({"width": 390, "height": 800})
    reached = focused_by_tab(tab)
    assert [(element["tag"], element["kind"]) for element in reached[:1]] == [("a", "skip")]
    assert reached[0]["left"] >= 0.0  # it is seen while it has the focus
    places = [element["place"] for element in reached]
    assert places == sorted(places)
    n_links = tab.locator("nav a").count()
    assert {element["tag"] for element in reached[1 : 1 + n_links]} == {"a"}
    assert all(element["name"].strip() for element in reached)
    scrolling = tab.evaluate(
        "() => [...document.querySelectorAll('*')].map((element, place) => [element, place]).filter(([element]) => "
        "['auto', 'scroll'].includes(getComputedStyle(element).overflowX) && element.checkVisibility() "
        "&& element.scrollWidth > element.clientWidth).map(([_, place]) => place)"
    )
    assert scrolling
    assert set(scrolling) <= set(places)


def test_the_skip_link_goes_to_the_content_and_an_arrow_scrolls_a_table(tab):
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    assert tab.evaluate("() => document.activeElement.id") == "content"
    tab.set_viewport_size({"width": 240, "height": 800})
    wide = "[...document.querySelectorAll('.scroll')].find(region => region.scrollWidth > region.clientWidth + 50)"
    tab.evaluate(f"() => {wide}.focus()")
    tab.keyboard.press("ArrowRight")
    tab.wait_for_function(f"() => {wide}.scrollLeft > 0")


@pytest.fixture
def heard(tab):
    """Role, name and level of each node that a screen reader meets, in its order, with all tables unfolded."""
    tab.evaluate("() => document.querySelectorAll('details').forEach(details => details.open = true)")
    nodes = tab.context.new_cdp_session(tab).send("Accessibility.getFullAXTree")["nodes"]
    by_id = {node["nodeId"]: node for node in nodes}
    order, waiting = [], [nodes[0]["nodeId"]]
    while waiting:
        node = by_id[waiting.pop()]
        waiting += [child for child in reversed(node.get("childIds", [])) if child in by_id]
        if not node["ignored"]:
            levels = [item["value"]["value"] for item in node.get("properties", []) if item["name"] == "level"]
            name = node.get("name", {}).get("value", "").strip()
            order.append((node["role"]["value"], name, levels[0] if levels else None))
    return order


def test_a_screen_reader_finds_one_title_and_headings_in_order(heard):
    levels = [level for role, _, level in heard if role == "heading"]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_a_screen_reader_hears_a_name_of_everything_it_can_go_to(heard):
    named = {"RootWebArea", "heading", "link", "navigation", "region", "table", "figure", "img", "image"}
    assert [role for role, name, _ in heard if role in named and not name] == []
    roles = [role for role, _, _ in heard]
    assert {"main", "navigation", "table"} <= set(roles)  # one group can have no figure
    assert roles.index("navigation") < roles.index("main") < roles.index("table")
    tables = [name for role, name, _ in heard if role == "table"]
    assert len(set(tables)) == len(tables)


def test_the_printed_report_is_short(tab, report):
    printed = tab.pdf(format="A4", prefer_css_page_size=True)
    assert 0 < len(re.findall(rb"/Type\s*/Page\b", printed)) <= COHORTS[report[0]][2]


def test_the_first_page_is_one_screen_that_is_read_in_a_minute(tab):
    words = tab.evaluate("() => document.querySelector('#overview > div').innerText.split(/\\s+/).length")
    bottom = tab.evaluate("() => document.querySelector('#overview').getBoundingClientRect().bottom")
    assert words <= 150
    assert bottom <= 800


def test_a_long_table_is_sorted_by_a_heading_and_filtered_by_a_word(tab):
    table = tab.locator("#subtype-table table")
    before, rows, orders = table.inner_text(), table.locator("tbody tr:visible"), []
    for _ in range(2):
        table.locator("thead th", has_text="All subjects").click()
        texts = [text.split("\t")[2] for text in rows.all_inner_texts() if not text.startswith("\N{EM SPACE}")]
        orders.append([float(text.split()[0].replace(",", "")) for text in texts if text])
    assert orders[0] == sorted(orders[0]) == sorted(orders[1])
    assert orders[1] == sorted(orders[1], reverse=True)
    table.locator("thead th", has_text="All subjects").click()
    assert table.inner_text() == before
    word = table.locator("tbody th[scope=row]").first.inner_text().split(",")[0]
    tab.locator("#subtype-table input").fill(word.upper())
    assert rows.count() > 0
    assert all(word in text for text in rows.all_inner_texts())
