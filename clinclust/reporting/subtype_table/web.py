"""The table for a web page or a notebook, without script and without files to load."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clinclust.reporting.subtype_table.table import Cell, SubtypeTable

__all__ = ["as_fragment", "as_page"]

# The style sets no colours: the table takes those of the surrounding text and fits light and dark pages and notebooks.
_STYLE = """\
.subtype-table { max-width: 100%; overflow-x: auto; font: 14px/1.4 system-ui, sans-serif; }
.subtype-table table { border-collapse: collapse; border-top: 2px solid; border-bottom: 2px solid;
  font-variant-numeric: tabular-nums; }
.subtype-table caption { text-align: left; font-weight: 600; padding: 0.4em 0; caption-side: top; }
.subtype-table th, .subtype-table td { padding: 0.2em 0.7em; border: none; vertical-align: top; background: none; }
.subtype-table thead th { border-bottom: 1px solid; vertical-align: bottom; font-weight: 600; }
.subtype-table thead th:first-child { text-align: left; }
.subtype-table thead small { display: block; font-weight: normal; max-width: 12em; margin-left: auto; }
.subtype-table sup { line-height: 0; }
.subtype-table tbody th { text-align: left; font-weight: normal; max-width: 26em; white-space: normal; }
.subtype-table tbody th.level { padding-left: 2.2em; }
.subtype-table tbody th[scope=rowgroup] { font-weight: 600; padding-top: 0.8em; }
.subtype-table td, .subtype-table thead th + th { text-align: right; }
.subtype-table td { white-space: nowrap; }
.subtype-table p { margin: 0.3em 0; max-width: 60em; font-size: 0.9em; }
@media print {
  .subtype-table { overflow: visible; font-size: 8pt; }
  .subtype-table thead { display: table-header-group; }
  .subtype-table tr { break-inside: avoid; }
}
"""


def as_fragment(table: SubtypeTable) -> str:
    """Return the table as a fragment of a page."""
    return "\n".join(_fragment(table)) + "\n"


def as_page(table: SubtypeTable) -> str:
    """Return the table as a complete page."""
    # A second line of defence: even if a text were not escaped, the page could not load or run anything.
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    orientation = "landscape" if table.is_wide else "portrait"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{escape(table.title)}</title>\n"
        "<style>\n:root { color-scheme: light dark; }\nbody { margin: 2rem; }\n"
        f"@media print {{ body {{ margin: 0; }} @page {{ size: A4 {orientation}; margin: 1.5cm; }} }}\n"
        f"</style>\n</head>\n<body>\n<main>\n{as_fragment(table)}</main>\n</body>\n</html>\n"
    )


def _fragment(table: SubtypeTable) -> Iterator[str]:
    yield f'<div class="subtype-table" tabindex="0" role="region" aria-label="{escape(table.title)}">'
    yield f"<style>\n{_STYLE}</style>"
    yield f"<table>\n<caption>{escape(table.title)}</caption>\n<thead>"
    headings = []
    for heading in table.headings:
        first, *others = map(escape, heading.lines)
        headings.append(f'<th scope="col">{first}{"".join(f"<small>{line}</small>" for line in others)}</th>')
    yield f'<tr><th scope="col">Feature</th>{"".join(headings)}</tr>\n</thead>\n<tbody>'
    section = ""
    for number, row in enumerate(table.rows):
        if row.section != section:
            section = row.section
            if number:
                yield "</tbody>\n<tbody>"
            span = len(table.headings) + 1
            yield f'<tr><th scope="rowgroup" colspan="{span}">{escape(section or "No section")}</th></tr>'
        level = ' class="level"' if row.is_level else ""
        cells = "".join(f"<td>{_cell(cell)}</td>" for cell in row.cells)
        yield f'<tr><th scope="row"{level}>{_cell(row.label)}</th>{cells}</tr>'
    yield "</tbody>\n</table>"
    for note in table.notes:
        yield f"<p>{_marks(note.mark)}{escape(note.text)}</p>"
    yield "</div>"


def _cell(cell: Cell) -> str:
    return escape(cell.text) + _marks(cell.marks)


def _marks(marks: str) -> str:
    return f"<sup>{escape(marks)}</sup>" if marks else ""
