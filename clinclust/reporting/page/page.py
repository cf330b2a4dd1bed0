"""Write the sheets of a report as one web page, which has no script and loads no other file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from clinclust.control_characters import visible
from clinclust.files.writing import atomic_write
from clinclust.reporting.layout import Column, Sheet, Table, Value, number_text
from clinclust.reporting.page.illustrations import Illustration
from clinclust.reporting.page.svg import as_svg

STYLE = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")
"""For light and dark screens and for print. The contrast ratio of every text to its background is at least 4.5."""

_LONG = 300  # a table with at least this number of rows is folded
_LONG_TEXT = 50  # a cell with more characters gets a minimum width of a few words
_WIDE = {10: "wide", 24: "wide widest"}  # classes of tables with at least this number of columns


def write_page(sheets: Sequence[Sheet], path: Path, *, title: str, illustrations: Sequence[Illustration] = ()) -> None:
    """Write the sheets to `path` in UTF-8, each with its illustrations."""
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
    yield f"<h1>{_text(title)}</h1>"
    links = "".join(f'<a href="#{_anchor(name)}">{_text(name)}</a>' for name in names)
    yield f'<nav aria-label="Sections">{links}</nav>\n<main id="content" tabindex="-1">'
    for sheet in sheets:
        yield f'<section id="{_anchor(sheet.name)}">\n<h2>{_text(sheet.name)}</h2>\n<div>'
        yield from (f"<p>{_text(note)}</p>" for note in sheet.notes)
        for table in sheet.tables:
            yield from _foldable(table)
        yield from (f"<p>{_text(note)}</p>" for note in sheet.explanations)
        yield "</div>"
        for illustration in illustrations:
            if illustration.section == sheet.name:
                yield from _figure(illustration)
        yield "</section>"
    yield "</main>\n</body>\n</html>"


def _figure(illustration: Illustration) -> Iterator[str]:
    title = _text(illustration.title)
    yield f'<figure aria-label="{title}">\n<h3>{title}</h3>'
    yield f'<div class="scroll" tabindex="0" role="region" aria-label="{title}">'
    yield as_svg(illustration.draw, name=illustration.name, label=illustration.alternative)
    yield f"</div>\n<figcaption>{_text(illustration.caption)}</figcaption>\n</figure>"


def _foldable(table: Table) -> Iterator[str]:
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
    widths = [name for least, name in _WIDE.items() if len(table.columns) >= least]
    classes = [*widths[-1:], *(["printed"] if any(column.kind == "cell" for column in table.columns) else [])]
    named = f' class="{" ".join(classes)}"' if classes else ""
    yield f"<table{named}>\n<caption>{_text(table.caption)}</caption>\n<thead>"
    for line in table.group_lines:
        cells = []
        for text, span in line:
            heading = f'<th scope="colgroup" colspan="{span}">{_text(text)}</th>'
            cells.append(heading if text else f'<td colspan="{span}"></td>')
        yield f"<tr>{''.join(cells)}</tr>"
    headings = (f'<th scope="col"{_class(column)}>{_lines(column.title)}</th>' for column in table.columns)
    yield f"<tr>{''.join(headings)}</tr>\n</thead>\n<tbody>"
    for number in range(len(table.rows)):
        if table.starts_band(number):
            yield "</tbody>\n<tbody>" if number else ""
            band = _text(table.bands[number])
            yield f'<tr><th scope="rowgroup" colspan="{len(table.columns)}">{band}</th></tr>'
        yield f"<tr>{''.join(_cells(table, number))}</tr>"
    yield "</tbody>\n</table>\n</div>"
    yield from (f'<p class="footnote">{_text(note)}</p>' for note in table.notes)


def _cells(table: Table, number: int) -> Iterator[str]:
    for place, (column, value) in enumerate(zip(table.columns, table.rows[number], strict=True)):
        text = _shown(value, column, table.decimals_of(number))
        if place < table.stub:
            yield f'<th scope="row"{_class(column)}>{text}</th>'
        else:
            long = ' class="long"' if isinstance(value, str) and len(value) > _LONG_TEXT else ""
            quartiles = ' class="n quartiles"' if column.kind == "cell" and "[" in text else ""
            yield f"<td{quartiles or _class(column) or long}>{text}</td>"


def _lines(title: str) -> str:
    return "<br>".join(map(_text, title.split("\n")))


def _class(column: Column) -> str:
    if column.kind == "cell":
        return ' class="n cell"'
    return "" if column.kind == "text" or column.overflow else ' class="n"'


def _shown(value: Value, column: Column, decimals: int) -> str:
    if value is None:
        return ""
    return _text(value if isinstance(value, str) else number_text(value, column.kind, decimals))
