"""The report as one web page: sections, tables and figures as SVG."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from clinclust.arrays import mid_ranks
from clinclust.comparisons import compare_subtypes
from clinclust.disclosure.counts import FIGURES
from clinclust.errors import InputError, visible
from clinclust.estimators.explanation import Continuum
from clinclust.files.writing import atomic_write
from clinclust.outcomes.columns import survival_curves
from clinclust.reporting.compared import Compared
from clinclust.reporting.documents import html_head, html_table, html_text
from clinclust.reporting.figures.effects import BLUE, DRAWING, GREY, PAPER, plot_effects
from clinclust.reporting.figures.subjects import (
    draw_divisions,
    draw_map,
    plot_ordered,
    plot_profile,
    plot_survival,
    plot_tree,
    score_divisions,
)
from clinclust.reporting.findings import Findings, Profiles, profiles_of
from clinclust.reporting.layout import WORDS, Sheet, print_name
from clinclust.reporting.sheets.associations import events_in
from clinclust.reporting.sheets.subtypes import groups_found

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Convert a figure to SVG inside a page: reproducible bytes, the colours of the page, and no active content.

_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"

# The elements and attributes that matplotlib draws with. All others are left out, among them <style>, which would apply
# to the whole page.
_ELEMENTS = {"svg", "g", "defs", "path", "use", "text", "tspan", "rect", "circle", "clipPath", "pattern"}
_ATTRIBUTES = {
    *("clip-path", "d", "height", "id", "patternUnits", "style", "transform", "viewBox", "width"),
    *("cx", "cy", "fill", "r", "stroke", "stroke-width", "x", "y"),
}

# Colours of the figures that are replaced by variables of the page, so that they follow its light or dark scheme. No
# figure uses them with another meaning.
_INK = "#1f2933"
_OF_THE_PAGE = {_INK: "var(--ink)", PAPER: "var(--paper)", GREY.lower(): "var(--quiet)", BLUE.lower(): "var(--mark)"}

# What matplotlib writes into every text: its font, which the whole figure has, and that it is not turned.
_SAID_BY_ALL = re.compile(r"font-size: 9px; |font-family: 'DejaVu Sans', sans-serif; |rotate\(-0 [^)]*\)")

# Size of the text of a figure, relative to 9 points, below which it does not shrink on a narrow screen.
_LEAST_SCALE = 0.72


def as_svg(draw: Callable[[], Axes], *, name: str, title: str) -> str:
    """Return a figure as one ``<svg>`` element with a title; `name` is the prefix of its ids."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    inked = ("axes.edgecolor", "axes.labelcolor", "hatch.color", "text.color", "xtick.color", "ytick.color")
    settings: dict[Any, Any] = {
        **dict.fromkeys(inked, _INK),
        "font.size": 9,
        "font.family": ["sans-serif"],
        # DejaVu Sans is wider than most fonts. Where it is not installed, the text of another font is not cut.
        "font.sans-serif": ["DejaVu Sans"],
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "svg.fonttype": "none",
        "svg.hashsalt": name,
    }
    written = io.BytesIO()
    with DRAWING, mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()  # the user's matplotlibrc or style does not change a report
        mpl.rcParams.update(settings)
        # matplotlib warns of glyphs that DejaVu Sans lacks; the browser takes them from another font.
        warnings.filterwarnings("ignore", "Glyph .* missing")
        figure: Any = draw().figure
        if (engine := figure.get_layout_engine()) is not None:  # done here, it saves matplotlib a drawing for it
            engine.execute(figure)
            figure.set_layout_engine("none")
        # `savefig` would draw twice, of which the first time is for the layout.
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(written, metadata={"Date": None})
    root = ElementTree.fromstring(written.getvalue())  # noqa: S314 - matplotlib wrote this text above
    return _embedded(root, name, title)


def _embedded(root: ElementTree.Element, name: str, title: str) -> str:
    pointing = re.compile(r"(?:^|url\()#([^\s)]+)")
    values = (value for element in root.iter() for value in element.attrib.values())
    targets = dict.fromkeys(target for value in values for target in pointing.findall(value))
    ids = {target: f"{name}-{number}" for number, target in enumerate(targets)}

    def clean(element: ElementTree.Element) -> Iterator[ElementTree.Element]:
        """Yield the element without what a page does not need, or what a group holds that says nothing of its own."""
        tag = str(element.tag).removeprefix(_SVG)
        if tag not in _ELEMENTS:
            return
        shown = ElementTree.Element(tag)
        for attribute, value in element.items():
            if attribute == _LINK and value.startswith("#"):
                shown.set("href", f"#{ids[value[1:]]}")
            elif attribute == "id":
                if value in ids:
                    shown.set("id", ids[value])
            elif attribute in _ATTRIBUTES and (value := _SAID_BY_ALL.sub("", value)):
                # Tenths of a point suffice, and hundredths of an opacity.
                value = re.sub(r"(\.\d\d)\d+" if attribute == "style" else r"(\.\d)\d+", r"\1", value)
                for colour, variable in _OF_THE_PAGE.items():
                    value = value.replace(colour, variable)
                value = re.sub(r"url\(#([^)]*)\)", lambda target: f"url(#{ids[target[1]]})", " ".join(value.split()))
                shown.set(attribute, value)
        shown.text, shown.tail = element.text, element.tail
        within = [child for part in element for child in clean(part)]
        if tag == "g" and not shown.attrib:
            yield from within
            return
        shown.extend(within)
        if within or tag not in ("g", "defs"):
            yield shown

    (svg,) = clean(root)
    heading = ElementTree.Element("title", id=f"{name}-title")
    heading.text = visible(title)
    svg.insert(0, heading)
    svg.set("role", "img")
    svg.set("aria-labelledby", f"{name}-title")
    # On a narrow screen a figure shrinks until its text would be illegible, then its region scrolls.
    least = _LEAST_SCALE * float(svg.attrib["width"].removesuffix("pt"))
    font = "font: 9px 'DejaVu Sans', sans-serif"
    svg.set("style", f"stroke-linejoin: round; stroke-linecap: butt; {font}; min-width: {least:.0f}pt")
    return re.sub(r">\s+<", ">\n<", ElementTree.tostring(svg, encoding="unicode"))


# Choose the figures of a page, with the title and caption of each.

_MOST_ROWS = 15  # of the heat map, so that it is seen at once with the answer
_MOST_DIVISIONS = 6


@dataclass(frozen=True)
class Illustration:
    """A figure of a section with its identifier, title and caption; `draw` draws a new figure."""

    section: str
    name: str
    title: str
    caption: str
    draw: Callable[[], Axes]


def illustrations(findings: Findings) -> list[Illustration]:
    """Return the figures of a page; for sharing, only those that show neither single subjects nor small groups."""
    model, comparisons, fit = findings.cohort.model, findings.comparisons, findings.fit
    several = len(findings.sizes) > 1
    # No name, rather than that of the model, where the report withholds one.
    names = {findings.code(subtype): findings.names.get(subtype, "") for subtype in findings.sizes}
    figures = list[Illustration]()

    def add(name: str, draw: Callable[[], Axes], kind: str = "", **fields: str) -> None:
        about: Any = {key: text.format(**fields) for key, text in WORDS["figures"][kind or name].items()}
        figures.append(Illustration(name=name, draw=draw, **about))

    if several:
        add("profile", partial(plot_profile, model, comparisons, names=names, at_most=_MOST_ROWS))
    if findings.continuum is not None and findings.rule is None and not (several or findings.continuum.is_by_chance):
        along, fifths = _fifths(findings, findings.continuum)
        rows = along.ranked(findings.continuum.correlations.abs().to_dict())[:_MOST_ROWS]
        add("continuum", partial(plot_ordered, along, rows, fifths))
    if several and (comparisons["kind"] == "effect").any():
        verb = WORDS["drawn"]["made" if fit is None else "found"]
        add("effects", partial(plot_effects, model, comparisons, names=names), verb=verb)
    if findings.rule is not None:
        return [figure for figure in figures if figure.name in FIGURES]
    if fit is None:
        return figures
    if findings.divisions:
        scored = score_divisions(findings.cohort, findings.divisions[:_MOST_DIVISIONS])
        if scored:
            add("divisions", partial(draw_divisions, scored, findings.divisions))
    if several and fit.clusters_.encoding.features:
        add("map", partial(draw_map, findings.cohort, names=names))
    if several and findings.divisions:  # of one group the table of divisions says the same
        titles = {findings.code(subtype): findings.name(subtype) for subtype in findings.sizes}
        add("tree", partial(plot_tree, model, names=titles))
    elif fit.tree_test_ is None and (several or groups_found(fit)):
        add("tree", partial(plot_tree, model), "joins" if groups_found(fit) is None else "joins_of_groups")
    for number, (outcome, time, event) in enumerate(events_in(findings) if several else ()):
        with suppress(InputError):  # the table of outcomes says why, or measurements were adjusted: no table of a fit
            curves = survival_curves(model, findings.cohort.table, outcome.name, time.name, event=event)
            draw = partial(plot_survival, curves, unit=time.unit or "", names=names)
            add(f"survival{number}", draw, "survival", outcome=outcome.title)
    return figures


def _fifths(findings: Findings, continuum: Continuum) -> tuple[Profiles, dict[int, str]]:
    """Return the profiles of fifths of the subjects by their score, and what they are called; equal scores together."""
    seen = np.isfinite(continuum.score)
    ranks = mid_ranks(continuum.score[seen])
    fifths, labels = np.unique(np.ceil(5.0 * (ranks - 0.5) / ranks.size), return_inverse=True)
    untested = compare_subtypes(findings.cohort.table[seen], labels, findings.cohort.schema, min_size=ranks.size + 1)
    called = enumerate((WORDS["drawn"]["fifths"][int(fifth) - 1] for fifth in fifths), start=1)
    return profiles_of(Compared(untested)), dict(called)


# Write the sheets of a report as one web page, which loads no other file, and runs no script but that of its tables.

STYLE = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")
"""For light and dark screens and for print. The contrast ratio of every text to its background is at least 4.5."""

SCRIPT = (Path(__file__).parent / "page.js").read_text(encoding="utf-8")
"""Sorts and filters the long tables; without it, the page shows the same."""
_LONG = 300  # a table with at least this number of rows is folded


def write_page(sheets: Sequence[Sheet], path: Path, *, title: str, illustrations: Sequence[Illustration] = ()) -> None:
    """Write the sheets to `path` in UTF-8, each with its illustrations."""
    with atomic_write(path) as target, target.open("w", encoding="utf-8", newline="\n") as page:
        page.writelines(f"{line}\n" for line in _page(sheets, title, illustrations))


def _page(sheets: Sequence[Sheet], title: str, illustrations: Sequence[Illustration]) -> Iterator[str]:
    yield html_head(title, STYLE, SCRIPT)
    texts = WORDS["page"]
    yield f'<a class="skip" href="#content">{html_text(texts["skip"])}</a>'
    names = [sheet.name for sheet in sheets]
    yield f"<h1>{html_text(title)}</h1>"
    links = "".join(f'<a href="#{_anchor(name)}">{html_text(print_name(name))}</a>' for name in names)
    words = f' data-filter="{html_text(texts["filter"])}"'
    yield f'<nav aria-label="{html_text(texts["sections"])}">{links}</nav>\n<main id="content" tabindex="-1"{words}>'
    for sheet in sheets:
        figures = [_figure(figure) for figure in illustrations if figure.section == sheet.name]
        yield f'<section id="{_anchor(sheet.name)}">\n<h2>{html_text(print_name(sheet.name))}</h2>\n<div>'
        yield from (f"<p>{html_text(note)}</p>" for note in sheet.notes)
        if sheet.name == "Trust":  # figures first
            yield from ("</div>", *figures, "<div>")
        for table in sheet.tables:
            is_long = len(table.rows) >= _LONG
            if is_long:
                folded = texts["rows"].format(caption=table.caption, n=len(table.rows))
                yield f"<details>\n<summary>{html_text(folded)}</summary>"
            yield from html_table(table)
            if is_long:
                yield "</details>"
        yield from (f"<p>{html_text(note)}</p>" for note in sheet.explanations)
        yield "</div>"
        yield from [] if sheet.name == "Trust" else figures
        yield "</section>"
    yield f"</main>\n<script>{SCRIPT}</script>\n</body>\n</html>"


def _figure(illustration: Illustration) -> str:
    title = html_text(illustration.title)
    svg = as_svg(illustration.draw, name=illustration.name, title=illustration.title)
    return (
        f'<figure aria-label="{title}">\n<h3>{title}</h3>\n'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{title}">\n{svg}\n</div>\n'
        f"<figcaption>{html_text(illustration.caption)}</figcaption>\n</figure>"
    )


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")
