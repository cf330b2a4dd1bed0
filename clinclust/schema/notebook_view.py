"""The HTML view of a schema in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from clinclust.control_characters import shortened, visible

if TYPE_CHECKING:
    from clinclust.schema.feature import Feature

_SHORT = 40
# Sets no colours, so that the table also suits a notebook with a dark theme.
_CELL = "text-align: left; padding: 0.1em 0.8em 0.1em 0; vertical-align: top"
_MOST_FEATURES = 60


def block(title: str, *parts: str) -> str:
    """Return an HTML block: the title, and parts in HTML below it."""
    return f"<div><p><strong>{_text(title)}</strong></p>{''.join(parts)}</div>"


def paragraph(text: str) -> str:
    """Return an HTML paragraph of the text, of at most 400 characters."""
    return f"<p>{_text(text, 400)}</p>"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table of texts; the title attribute has the whole of a shortened text."""
    head = "".join(f'<th scope="col" style="{_CELL}">{_text(column)}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str) -> str:
    whole = visible(" ".join(text.split()))
    title = f' title="{escape(whole)}"' if shortened(text, _SHORT) != whole else ""
    return f'<td style="{_CELL}"{title}>{_text(text, _SHORT)}</td>'


def _text(text: str, width: int = 200) -> str:
    return escape(shortened(text, width))


def schema_html(title: str | None, features: Sequence[Feature]) -> str:
    """Return the features of a schema as an HTML table."""
    rows = [
        (
            feature.name,
            feature.label or "",
            feature.role,
            feature.likelihood or "",
            _values(feature),
            feature.unit or "",
            feature.section or "",
        )
        for feature in features[:_MOST_FEATURES]
    ]
    left_out = len(features) - len(rows)
    columns = ("Name", "Label", "Role", "Likelihood", "Values", "Unit", "Section")
    # Leave out a column that is empty for every feature.
    told = [place for place in range(len(columns)) if place < 1 or any(row[place] for row in rows)]
    return block(
        f"{title or 'Untitled schema'}: {len(features)} {'feature' if len(features) == 1 else 'features'}",
        table([columns[place] for place in told], [[row[place] for place in told] for row in rows]),
        paragraph(f"and {left_out} more") if left_out else "",
    )


def _values(feature: Feature) -> str:
    if feature.levels is not None:
        return ", ".join(feature.levels)
    if feature.traits.is_scale and feature.n_trials is not None:
        return f"{feature.lowest:g} to {feature.lowest + feature.n_trials:g}"
    if feature.minimum is None and feature.maximum is None:
        return ""
    if feature.maximum is None:
        return f"{feature.minimum:g} or more"
    return f"up to {feature.maximum:g}" if feature.minimum is None else f"{feature.minimum:g} to {feature.maximum:g}"
