"""How a schema and a model show themselves in a notebook: small tables, every text of the data escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from clinclust.reporting.figures.canvas import shortened
from clinclust.reporting.layout import visible
from clinclust.reporting.membership import own_membership

if TYPE_CHECKING:
    from clinclust.mapdp import MAPDP
    from clinclust.schema import Feature, FeatureSchema

__all__ = ["model_html", "schema_html"]

_SHORT = 40
_MOST_FEATURES, _MOST_RELEVANT = 60, 10
# Of the notebook's own colours, so that it suits a dark one too.
_CELL = "text-align: left; padding: 0.1em 0.8em 0.1em 0; vertical-align: top"


def schema_html(schema: FeatureSchema) -> str:
    """Return the features of a schema as a table in HTML."""
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
        for feature in schema.features[:_MOST_FEATURES]
    ]
    title = f"{schema.title or 'Untitled schema'}: {len(schema)} {'feature' if len(schema) == 1 else 'features'}"
    left_out = len(schema) - len(rows)
    columns = ("Name", "Label", "Role", "Likelihood", "Values", "Unit", "Section")
    # A column that says nothing about any feature is left out.
    told = [place for place in range(len(columns)) if place < 1 or any(row[place] for row in rows)]
    return _block(
        title,
        _table([columns[place] for place in told], [[row[place] for place in told] for row in rows]),
        _paragraph(f"and {left_out} more") if left_out else "",
    )


def _values(feature: Feature) -> str:
    """Say in few words what a column may hold."""
    if feature.levels is not None:
        return ", ".join(feature.levels)
    if feature.likelihood == "binomial" and feature.n_trials is not None:
        return f"{feature.lowest:g} to {feature.lowest + feature.n_trials:g}"
    if feature.minimum is None and feature.maximum is None:
        return ""
    if feature.maximum is None:
        return f"{feature.minimum:g} or more"
    return f"up to {feature.maximum:g}" if feature.minimum is None else f"{feature.minimum:g} to {feature.maximum:g}"


def model_html(model: MAPDP) -> str:
    """Return a model as HTML: before the fit its parameters, after it what was found."""
    if not hasattr(model, "labels_"):
        return _block("MAPDP, not fitted yet", _paragraph(repr(model)))
    labels = np.asarray(model.labels_)
    own = own_membership(model)
    sizes = np.bincount(labels)
    subtypes = [
        (f"{label + 1}", f"{size:,}", f"{100 * size / labels.size:.1f}", f"{own[labels == label].mean():.2f}")
        for label, size in enumerate(sizes.tolist())
    ]
    relevance = model.feature_relevance_.sort_values(ascending=False, kind="stable").iloc[:_MOST_RELEVANT]
    relevant = [(model.schema_[str(name)].title, f"{nats:,.1f}") for name, nats in relevance.items()]
    found = "1 subtype" if sizes.size == 1 else f"{sizes.size} subtypes"
    return _block(
        f"MAPDP: {found} of {labels.size:,} subjects, log joint {model.log_joint_:,.1f} nats",
        _table(("Subtype", "Subjects", "%", "Mean membership probability"), subtypes),
        _table(("Most relevant features", "Nats"), relevant),
        *(_paragraph(warning) for warning in _warnings(model)),
        _paragraph(repr(model)),
    )


def _warnings(model: MAPDP) -> Iterable[str]:
    restarts = model.restarts_
    best = restarts["log_joint"].max()
    if not restarts["converged"].iloc[restarts["log_joint"].argmax()]:
        yield "Warning: the best search was still moving subjects when it was stopped; raise max_sweeps."
    near = restarts["log_joint"].round(6)[restarts["log_joint"] >= best - 1.0].nunique()
    if near > 1:
        yield f"Warning: {near} partitions lie within 1 nat of the best; see restarts_."
    if model.kept_out_:
        yield "Warning: not clustered on: " + "; ".join(f"{name} ({why})" for name, why in model.kept_out_.items())


def _block(title: str, *parts: str) -> str:
    return f"<div><p><strong>{_text(title)}</strong></p>{''.join(parts)}</div>"


def _paragraph(text: str) -> str:
    return f"<p>{_text(text, 400)}</p>"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col" style="{_CELL}">{_text(column)}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str) -> str:
    whole = visible(" ".join(text.split()))
    title = f' title="{escape(whole)}"' if shortened(text, _SHORT) != whole else ""
    return f'<td style="{_CELL}"{title}>{_text(text, _SHORT)}</td>'


def _text(text: str, width: int = 200) -> str:
    return escape(shortened(text, width))
