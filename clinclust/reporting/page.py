"""Write the sheets of a report as one web page: no script, nothing loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from clinclust.reporting.layout import Column, Sheet, Table, Value, number_text, visible
from clinclust.writing import atomic_write

__all__ = ["write_page"]

_STYLE = """\
:root { color-scheme: light dark; --ink: #1f2933; --quiet: #52606d; --paper: #ffffff; --head: #dce6f0;
  --band: #f0f4f8; --rule: #bcccdc; --shade: 107 174 214; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7eb; --quiet: #9aa5b1; --paper: #14191f; --head: #243b53; --band: #1c2733;
    --rule: #3e4c59; --shade: 44 111 163; }
}
body { margin: 2rem; background: var(--paper); color: var(--ink); font: 15px/1.45 system-ui, sans-serif; }
nav a { margin-right: 1.2rem; color: inherit; }
h1 { margin: 0 0 0.5rem; }
h2 { margin: 2.5rem 0 0.5rem; }
p { max-width: 60rem; margin: 0.3rem 0; color: var(--quiet); }
.scroll { overflow-x: auto; margin: 1.2rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { padding: 0.3rem 0; text-align: left; font-size: 1.1rem; font-weight: 600; }
th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top;
  overflow-wrap: break-word; max-width: 34rem; }
thead th { background: var(--head); }
thead th[scope=colgroup] { border-bottom: none; text-align: center; white-space: nowrap; }
thead td { border: none; }
thead th.n { white-space: normal; min-width: 3.5em; }
tbody th { font-weight: normal; min-width: 9em; }
tbody th[scope=rowgroup] { background: var(--band); font-weight: 600; }
.n { text-align: right; white-space: nowrap; }
@media print {
  :root { --ink: #000000; --quiet: #333333; --paper: #ffffff; --head: #dce6f0; --band: #f0f4f8;
    --rule: #bcccdc; --shade: 107 174 214; color-scheme: light; }
  @page { size: A4 landscape; margin: 1cm; }
  body { margin: 0; font-size: 8pt; }
  nav { display: none; }
  .scroll { overflow: visible; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
  th, td { padding: 0.1rem 0.35rem; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


def write_page(sheets: Sequence[Sheet], path: Path, *, title: str) -> None:
    """Write the sheets to `path`, in UTF-8."""
    with atomic_write(path) as target, target.open("w", encoding="utf-8", newline="\n") as page:
        page.writelines(f"{line}\n" for line in _page(sheets, title))


def _text(text: str) -> str:
    """Escape a text for the page. Every text passes here, in content and in attributes alike."""
    return escape(visible(text))


def _page(sheets: Sequence[Sheet], title: str) -> Iterator[str]:
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    # Even if a text slipped through the escaping, the page could load and run nothing.
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="generator" content="clinclust">'
    yield f"<title>{_text(title)}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>"
    yield f"<h1>{_text(title)}</h1>"
    links = "".join(f'<a href="#{_anchor(sheet)}">{_text(sheet.name)}</a>' for sheet in sheets)
    yield f'<nav aria-label="Sheets">{links}</nav>\n<main>'
    for sheet in sheets:
        yield f'<section id="{_anchor(sheet)}">\n<h2>{_text(sheet.name)}</h2>'
        yield from (f"<p>{_text(note)}</p>" for note in sheet.notes)
        for table in sheet.tables:
            yield from _table(table)
        yield "</section>"
    yield "</main>\n</body>\n</html>"


def _anchor(sheet: Sheet) -> str:
    return sheet.name.lower().replace(" ", "-")


def _table(table: Table) -> Iterator[str]:
    yield f'<div class="scroll" tabindex="0" role="region" aria-label="{_text(table.caption)}">'
    yield f"<table>\n<caption>{_text(table.caption)}</caption>\n<thead>"
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
            yield f"<td{_class(column)}{style}>{text}</td>"


def _class(column: Column) -> str:
    return "" if column.kind == "text" or column.overflow else ' class="n"'


def _shown(value: Value, column: Column, decimals: int) -> str:
    if value is None:
        return ""
    return _text(value if isinstance(value, str) else number_text(value, column.kind, decimals))
