"""Convert a figure to SVG inside a page: reproducible bytes, the colours of the page, and no active content."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from clinclust.control_characters import visible
from clinclust.reporting.figures.canvas import BLUE, DRAWING, GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
_OF_THE_PAGE = {_INK: "var(--ink)", GREY.lower(): "var(--quiet)", BLUE.lower(): "var(--mark)"}

# Groups of matplotlib settings that are reset to their defaults, so that the user's matplotlibrc or style does not
# change a report.
_SETTINGS = (
    *("axes.", "errorbar.", "figure.", "font.", "grid.", "hatch.", "image.", "legend.", "lines.", "markers."),
    *("mathtext.", "patch.", "path.", "savefig.", "scatter.", "svg.", "text.", "xtick.", "ytick."),
)


def as_svg(draw: Callable[[], Axes], *, name: str, label: str) -> str:
    """Return a figure as one ``<svg>`` element; `label` is its alternative text, and `name` the prefix of its ids."""
    import matplotlib as mpl

    with DRAWING:  # matplotlib sets the filters of warnings while its settings are listed
        defaults = {key: value for key, value in mpl.rcParamsDefault.items() if key.startswith(_SETTINGS)}
    inked = ("axes.edgecolor", "axes.labelcolor", "hatch.color", "text.color", "xtick.color", "ytick.color")
    settings: dict[Any, Any] = {
        **defaults,
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
    with DRAWING, mpl.rc_context(settings), warnings.catch_warnings():
        # matplotlib warns of glyphs that DejaVu Sans lacks; the browser takes them from another font.
        warnings.filterwarnings("ignore", "Glyph .* missing")
        figure: Any = draw().figure
        if (engine := figure.get_layout_engine()) is not None:  # done here, it saves matplotlib a drawing for it
            engine.execute(figure)
            figure.set_layout_engine("none")
        figure.savefig(written, format="svg", metadata={"Date": None})
    root = ElementTree.fromstring(written.getvalue())  # noqa: S314 - matplotlib wrote this text above
    return _embedded(root, name, label)


def _embedded(root: ElementTree.Element, name: str, label: str) -> str:
    used = {reference for element in root.iter() for reference in _references(element)}

    def cleaned(element: ElementTree.Element) -> ElementTree.Element | None:
        tag = str(element.tag).removeprefix(_SVG)
        if tag not in _ELEMENTS:
            return None
        kept = ElementTree.Element(tag)
        for attribute, value in element.items():
            if attribute == _LINK and value.startswith("#"):
                kept.set("href", f"#{name}-{value[1:]}")
            elif attribute == "id":
                if value in used:
                    kept.set("id", f"{name}-{value}")
            elif attribute in _ATTRIBUTES:
                kept.set(attribute, _adapted(value, name))
        kept.text, kept.tail = element.text, element.tail
        kept.extend(child for child in map(cleaned, element) if child is not None)
        return kept

    svg = cleaned(root)
    if svg is None:
        raise AssertionError("matplotlib wrote something else than SVG")
    svg.set("role", "img")
    svg.set("aria-label", visible(label))
    svg.set("style", "stroke-linejoin: round; stroke-linecap: butt")
    return re.sub(r">\s+<", ">\n<", ElementTree.tostring(svg, encoding="unicode"))


def _references(element: ElementTree.Element) -> list[str]:
    pointing = re.compile(r"(?:^|url\()#([^\s)]+)")
    return [target for value in element.attrib.values() for target in pointing.findall(value)]


def _adapted(value: str, name: str) -> str:
    value = value.replace("url(#", f"url(#{name}-")
    for colour, variable in _OF_THE_PAGE.items():
        value = value.replace(colour, variable)
    return value
