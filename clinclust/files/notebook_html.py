"""Small HTML tables for notebooks. All texts are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from clinclust.files.visible_text import shortened, visible

__all__ = ["block", "paragraph", "table"]

_SHORT = 40
# Sets no colours, so that the table also suits a notebook with a dark theme.
_CELL = "text-align: left; padding: 0.1em 0.8em 0.1em 0; vertical-align: top"


def block(title: str, *parts: str) -> str:
    """Return an HTML block of a title, as text, and parts in HTML below it."""
    return f"<div><p><strong>{_text(title)}</strong></p>{''.join(parts)}</div>"


def paragraph(text: str) -> str:
    """Return an HTML paragraph of the text, shortened to at most 400 characters."""
    return f"<p>{_text(text, 400)}</p>"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table of texts; a long text is shortened, with the whole text in the title attribute."""
    head = "".join(f'<th scope="col" style="{_CELL}">{_text(column)}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str) -> str:
    whole = visible(" ".join(text.split()))
    title = f' title="{escape(whole)}"' if shortened(text, _SHORT) != whole else ""
    return f'<td style="{_CELL}"{title}>{_text(text, _SHORT)}</td>'


def _text(text: str, width: int = 200) -> str:
    return escape(shortened(text, width))
