"""Write the sheets of a report as one web page, which has no script and loads no other file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from clinclust.files.visible_text import visible
from clinclust.files.writing import atomic_write
from clinclust.reporting.layout import Column, Sheet, Table, Value, number_text
from clinclust.reporting.page.illustrations import Illustration
from clinclust.reporting.page.svg import as_svg

__all__ = ["STYLE", "write_page"]

_LONG = 300  # a table with at least this number of rows is folded
_LONG_TEXT = 50  # a cell with more characters gets a minimum width of a few words
_WIDE = {10: "wide", 24: "wide widest"}  # classes of tables with at least this number of columns
_FIGURES = "Figures"


def write_page(sheets: Sequence[Sheet], path: Path, *, title: str, illustrations: Sequence[Illustration] = ()) -> None:
    """Write the sheets to `path` in UTF-8; the illustrations come after the first sheet."""
    with atomic_write(path) as target, target.open("w", encoding="utf-8", newline="\n") as page:
        page.writelines(f"{line}\n" for line in _page(sheets, title, illustrations))


def _text(text: str) -> str:
    """Return a text escaped for HTML. Every text of the page passes this function, in content and in attributes."""
    return escape(visible(text))


def _page(sheets: Sequence[Sheet], title: str, illustrations: Sequence[Illustration]) -> Iterator[str]:
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    # A second line of defence: even if a text were not escaped, the page could not load or run anything.
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="generator" content="clinclust">'
    yield f"<title>{_text(title)}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>"
    yield '<a class="skip" href="#content">Skip to the content</a>'
    names = [sheet.name for sheet in sheets]
    if illustrations:
        names.insert(1, _FIGURES)
    yield f"<h1>{_text(title)}</h1>"
    links = "".join(f'<a href="#{_anchor(name)}">{_text(name)}</a>' for name in names)
    yield f'<nav aria-label="Sections">{links}</nav>\n<main id="content" tabindex="-1">'
    for place, sheet in enumerate(sheets):
        yield f'<section id="{_anchor(sheet.name)}">\n<h2>{_text(sheet.name)}</h2>'
        yield from (f"<p>{_text(note)}</p>" for note in sheet.notes)
        for table in sheet.tables:
            yield from _foldable(table)
        yield from (f"<p>{_text(note)}</p>" for note in sheet.explanations)
        yield "</section>"
        if illustrations and place == 0:
            yield f'<section id="{_anchor(_FIGURES)}">\n<h2>{_FIGURES}</h2>'
            for illustration in illustrations:
                yield from _figure(illustration)
            yield "</section>"
    yield "</main>\n</body>\n</html>"


def _figure(illustration: Illustration) -> Iterator[str]:
    title = _text(illustration.title)
    yield f'<figure>\n<h3>{title}</h3>\n<div class="scroll" tabindex="0" role="region" aria-label="{title}">'
    yield as_svg(illustration.draw, name=illustration.name, label=illustration.alternative)
    yield f"</div>\n<figcaption>{_text(illustration.caption)}</figcaption>\n</figure>"


def _foldable(table: Table) -> Iterator[str]:
    """Yield the lines of a table; a long table is folded and opens when its caption is clicked."""
    if len(table.rows) < _LONG:
        yield from _table(table)
        return
    yield f"<details>\n<summary>{_text(table.caption)} ({len(table.rows):,} rows)</summary>"
    yield from _table(table)
    yield "</details>"


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


def _table(table: Table) -> Iterator[str]:
    yield f'<div class="scroll" tabindex="0" role="region" aria-label="{_text(table.caption)}">'
    widths = [f' class="{name}"' for least, name in _WIDE.items() if len(table.columns) >= least]
    yield f"<table{widths[-1] if widths else ''}>\n<caption>{_text(table.caption)}</caption>\n<thead>"
    for line in table.group_lines:
        cells = []
        for text, span in line:
            heading = f'<th scope="colgroup" colspan="{span}">{_text(text)}</th>'
            cells.append(heading if text else f'<td colspan="{span}"></td>')
        yield f"<tr>{''.join(cells)}</tr>"
    headings = (f'<th scope="col"{_class(column)}>{_text(column.title)}</th>' for column in table.columns)
    yield f"<tr>{''.join(headings)}</tr>\n</thead>\n<tbody>"
    for number in range(len(table.rows)):
        if table.starts_band(number):
            yield "</tbody>\n<tbody>" if number else ""
            band = _text(table.bands[number])
            yield f'<tr><th scope="rowgroup" colspan="{len(table.columns)}">{band}</th></tr>'
        yield f"<tr>{''.join(_cells(table, number))}</tr>"
    yield "</tbody>\n</table>\n</div>"


def _cells(table: Table, number: int) -> Iterator[str]:
    shades = table.shades[number] if table.shades else [None] * len(table.columns)
    for place, (column, value, shade) in enumerate(zip(table.columns, table.rows[number], shades, strict=True)):
        text = _shown(value, column, table.decimals_of(number))
        if place < table.stub:
            yield f'<th scope="row"{_class(column)}>{text}</th>'
        else:
            style = "" if shade is None else f' style="background: rgb(var(--shade) / {shade:.2f})"'
            long = ' class="long"' if isinstance(value, str) and len(value) > _LONG_TEXT else ""
            yield f"<td{_class(column) or long}{style}>{text}</td>"


def _class(column: Column) -> str:
    return "" if column.kind == "text" or column.overflow else ' class="n"'


def _shown(value: Value, column: Column, decimals: int) -> str:
    if value is None:
        return ""
    return _text(value if isinstance(value, str) else number_text(value, column.kind, decimals))


# For light and dark screens and for print. The contrast ratio of every text to its background is at least 4.5.
STYLE = """\
:root { color-scheme: light dark; --ink: #1f2933; --quiet: #52606d; --paper: #ffffff; --head: #dce6f0;
  --band: #f0f4f8; --rule: #bcccdc; --shade: 107 174 214;
  --mark: #0072b2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7eb; --quiet: #9aa5b1; --paper: #14191f; --head: #243b53; --band: #1c2733;
    --rule: #3e4c59; --shade: 38 98 146; --mark: #56b4e9; }
}
body { margin: 2rem; background: var(--paper); color: var(--ink); font: 15px/1.45 system-ui, sans-serif;
  overflow-wrap: break-word; }
:focus-visible { outline: 2px solid var(--ink); outline-offset: 2px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { position: static; }
nav a { display: inline-block; margin-right: 1.2rem; color: inherit; }
h1 { margin: 0 0 0.5rem; }
h2 { margin: 2.5rem 0 0.5rem; }
h3 { margin: 0; font-size: 1.1rem; }
p { max-width: 60rem; margin: 0.3rem 0; color: var(--quiet); }
#overview > p:first-of-type { color: var(--ink); font-size: 1.15rem; }
.scroll { overflow-x: auto; margin: 1.2rem 0; }
figure { margin: 2rem 0; }
figure .scroll { margin: 0.6rem 0; }
figcaption { max-width: 60rem; color: var(--quiet); }
svg { display: block; }
summary { padding: 0.3rem 0; font-size: 1.1rem; font-weight: 600; cursor: pointer; }
details caption { display: none; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { padding: 0.3rem 0; text-align: left; font-size: 1.1rem; font-weight: 600; }
th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top;
  overflow-wrap: break-word; max-width: 34rem; }
thead th { background: var(--head); }
thead th[scope=colgroup] { border-bottom: none; text-align: center; white-space: nowrap; }
thead td { border: none; }
thead th.n { white-space: normal; min-width: 3.5em; }
tbody th { font-weight: normal; min-width: 9em; }
tbody th.n { min-width: 0; }
tbody th[scope=rowgroup] { background: var(--band); font-weight: 600; }
.long { min-width: 10em; }
.wide th, .wide td { padding: 0.25rem 0.35rem; }
.wide { font-size: 0.9em; }
.wide tbody th { min-width: 6em; }
.wide thead th[scope=colgroup] { white-space: normal; }
.wide .long { min-width: 9em; }
.n { text-align: right; white-space: nowrap; }
@media (max-width: 40rem) {
  body { margin: 1rem; }
  h1 { font-size: 1.5rem; }
  td, th { padding: 0.2rem 0.45rem; }
}
@media print {
  :root { --ink: #000000; --quiet: #333333; --paper: #ffffff; --head: #dce6f0; --band: #f0f4f8;
    --rule: #bcccdc; --shade: 107 174 214; --mark: #0072b2; color-scheme: light; }
  @page { size: A4 landscape; margin: 1cm; }
  body { margin: 0; font-size: 8pt; }
  nav, .skip { display: none; }
  .scroll { overflow: visible; }
  details::details-content { content-visibility: visible; block-size: auto; }
  summary { display: none; }
  details caption { display: table-caption; }
  figure { break-inside: avoid; }
  svg { max-width: 100%; max-height: 16cm; height: auto; }
  h2, h3, caption, thead { break-after: avoid; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
  th, td, .wide th, .wide td { padding: 0.1rem 0.3rem; min-width: 0; }
  .wide { width: 100%; font-size: 6.5pt; }
  .wide tbody th, thead th.n { min-width: 0; }
  .widest { font-size: 5pt; }
  .widest th, .widest td { padding: 0.1rem 0.15rem; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
