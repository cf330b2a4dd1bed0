"""Named styles of a workbook. A user can change a named style for all its cells at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clinclust.reporting.diverging import HIGH, LOW, MIDDLE

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.styles import PatternFill

__all__ = ["BLUE", "INK", "QUIET", "RULE", "SHADES", "diverging_scale", "register_styles", "shade_fill"]

INK, QUIET, RULE = "1F2933", "52606D", "BCCCDC"
BLUE = "0072B2"  # blue of Okabe and Ito (2008), whose colours readers with any kind of colour vision can distinguish
_HEADING, _BAND = "DCE6F0", "F0F4F8"
_DARKEST_SHADE = (107, 174, 214)
SHADES = 40


def register_styles(workbook: Workbook) -> None:
    """Add the named styles that the sheets use to a workbook."""
    from openpyxl.styles import Alignment, Border, Font, NamedStyle, PatternFill, Side

    top, across = Alignment(vertical="top"), Alignment(horizontal="centerContinuous")
    # The indent separates a text from the number to its left.
    left = Alignment(vertical="top", horizontal="left", indent=1)
    wrapped = Alignment(vertical="top", horizontal="left", indent=1, wrap_text=True)
    right = Alignment(vertical="top", horizontal="right", wrap_text=True)
    plain, bold = (Font(name="Calibri", size=11, color=INK, bold=is_bold) for is_bold in (False, True))
    quiet = Font(name="Calibri", size=11, color=QUIET)
    none = PatternFill()
    heading, band = (PatternFill("solid", fgColor=colour) for colour in (_HEADING, _BAND))
    rule = Border(bottom=Side(style="thin", color=RULE))
    for name, font, alignment, fill, border in (
        ("title", Font(name="Calibri", size=16, color=INK, bold=True), top, none, Border()),
        ("note", quiet, top, none, Border()),
        ("caption", Font(name="Calibri", size=13, color=INK, bold=True), top, none, Border()),
        ("group", bold, across, heading, Border()),
        ("heading", bold, wrapped, heading, rule),
        ("number heading", bold, right, heading, rule),
        ("band", bold, left, band, rule),
        ("text", plain, wrapped, none, rule),
        ("running text", plain, left, none, rule),
        ("number", plain, top, none, rule),
        ("plain", plain, Alignment(), none, Border()),
        ("withheld", quiet, right, none, rule),
    ):
        workbook.add_named_style(NamedStyle(f"clinclust {name}", font, fill, border, alignment))


def shade_fill(step: int) -> PatternFill:
    """Return the fill of a shade, from white (step 0) to the darkest shade (step `SHADES`)."""
    from openpyxl.styles import PatternFill

    mixed = (round(255 - step / SHADES * (255 - darkest)) for darkest in _DARKEST_SHADE)
    return PatternFill("solid", fgColor="".join(f"{part:02X}" for part in mixed))


def diverging_scale() -> Any:
    """Return the rule that colours numbers from orange (-1 and below) through white (0) to blue (1 and above)."""
    from openpyxl.formatting.rule import ColorScaleRule

    # openpyxl has no type information for this function.
    rule: Any = ColorScaleRule
    return rule(*("num", -1, LOW), *("num", 0, MIDDLE), *("num", 1, HIGH))
