"""A table of a report as HTML, and the beginning of a page."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterator
from html import escape
from pathlib import Path

from clinclust.errors import visible
from clinclust.reporting.layout import WORDS, Column, Table

# The width of a table as printed.

# Widths in characters at 8.5 points: of the text on A4 portrait, of the label, and of the gap between columns.
_PORTRAIT, _LABEL, _GAP = 110, 28, 2
_BOLD = 1.15  # width of a bold letter relative to a digit


def is_wide(table: Table) -> bool:
    """Return whether a table needs a page in landscape orientation."""
    return _LABEL + sum(width + _GAP for width in measure_columns(table)) > _PORTRAIT


def measure_columns(table: Table, *, are_tight: bool = False) -> list[int]:
    """Return the characters that each column except the first needs to keep its numbers in one line.

    `are_tight`: the percentage of a group is below its size.
    """
    texts, widths = [table.texts(row) for row in range(len(table.rows))], []
    for place, column in enumerate(table.columns[1:], start=1):
        *bold, last = column.title.split("\n")
        last = max(last.split(" ("), key=len) if are_tight else last
        last_width = len(last) if len(column.lines) > 1 else math.ceil(_BOLD * len(last))
        cells = (len(row[place].text + row[place].marks) for row in texts)
        widths.append(max((last_width, *(math.ceil(_BOLD * len(line)) for line in bold), *cells)))
    return widths


# HTML, of the page too: every text is escaped.

_LONG_TEXT = 50  # a cell with more characters gets a minimum width of a few words
_WIDE = {10: "wide", 24: "wide widest"}  # classes of tables with at least this number of columns


def html_text(text: str) -> str:
    """Return a text escaped for HTML. Every text of a page passes this function, in content and in attributes."""
    return escape(visible(text))


def html_head(title: str, style: str, script: str = "") -> str:
    """Return the beginning of a page, up to its body. It runs this script only, which is at its end."""
    # A second line of defence: even if a text were not escaped, the page could not load or run anything else.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    runs = f" script-src 'sha256-{digest}';" if script else ""
    language = WORDS["page"]["language"]
    policy = f"default-src 'none';{runs} style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    return (
        f'<!DOCTYPE html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="generator" content="clinclust">\n'
        f"<title>{html_text(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>"
    )


def html_table(table: Table) -> Iterator[str]:
    """Yield a table, which scrolls in its own region, and its footnotes."""
    yield f'<div class="scroll" tabindex="0" role="region" aria-label="{html_text(table.caption)}">'
    widths = [name for least, name in _WIDE.items() if len(table.columns) >= least]
    classes = [*widths[-1:], *(["printed"] if any(column.kind == "cell" for column in table.columns) else [])]
    named = f' class="{" ".join(classes)}"' if classes else ""
    yield f"<table{named}>\n<caption>{html_text(table.caption)}</caption>\n<thead>"
    for line in table.group_lines:
        cells = []
        for text, span in line:
            heading = f'<th scope="colgroup" colspan="{span}">{html_text(text)}</th>'
            cells.append(heading if text else f'<td colspan="{span}"></td>')
        yield f"<tr>{''.join(cells)}</tr>"
    headings = ((_class(column), map(html_text, column.title.split("\n"))) for column in table.columns)
    headed = (f'<th scope="col"{kind}>{"<br>".join(lines)}</th>' for kind, lines in headings)
    yield f"<tr>{''.join(headed)}</tr>\n</thead>\n<tbody>"
    for number in range(len(table.rows)):
        if table.starts_band(number):
            yield "</tbody>\n<tbody>" if number else ""
            band = html_text(table.bands[number])
            yield f'<tr><th scope="rowgroup" colspan="{len(table.columns)}">{band}</th></tr>'
        yield f"<tr>{''.join(_cells(table, number))}</tr>"
    yield "</tbody>\n</table>\n</div>"
    yield from (f'<p class="footnote">{html_text(note)}</p>' for note in table.notes)


def _cells(table: Table, number: int) -> Iterator[str]:
    row = zip(table.columns, table.texts(number), table.rows[number], strict=True)
    is_printed = any(column.kind == "cell" for column in table.columns)  # its cells are numbers unless they are marked
    for place, (column, text, value) in enumerate(row):
        if place < table.stub:
            yield f'<th scope="row"{_class(column)}>{html_text(text)}</th>'
        elif is_printed:
            words = ' class="t"' if column.kind != "cell" else ' class="quartiles"' if "[" in text else ""
            yield f"<td{words}>{html_text(text)}</td>"
        else:
            long = ' class="long"' if isinstance(value, str) and len(value) > _LONG_TEXT else ""
            yield f"<td{_class(column) or long}>{html_text(text)}</td>"


def _class(column: Column) -> str:
    if column.kind == "cell":
        return ' class="n cell"'
    return "" if column.kind == "text" or column.overflow else ' class="n"'


def html_fragment(table: Table) -> str:
    """Return a table as a fragment of a page; it sets no colours, and takes those of the text around it."""
    style = (Path(__file__).parent / "table.css").read_text(encoding="utf-8")
    return "\n".join(['<div class="subtype-table">', f"<style>\n{style}</style>", *html_table(table), "</div>\n"])


def html_page(table: Table) -> str:
    """Return a table as a page of its own."""
    orientation = "landscape" if is_wide(table) else "portrait"
    style = (
        ":root { color-scheme: light dark; }\nbody { margin: 2rem; }\n"
        f"@media print {{ body {{ margin: 0; }} @page {{ size: A4 {orientation}; margin: 1.5cm; }} }}\n"
    )
    return f"{html_head(table.caption, style)}\n<main>\n{html_fragment(table)}</main>\n</body>\n</html>\n"
