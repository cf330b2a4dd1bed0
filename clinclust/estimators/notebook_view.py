"""A model as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from clinclust.estimators.membership import own_membership
from clinclust.files.notebook_html import block, paragraph, table

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP

__all__ = ["model_html"]

_MOST_RELEVANT = 10


def model_html(model: MAPDP) -> str:
    """Return a model as HTML: before the fit its parameters, after it what was found."""
    if not hasattr(model, "labels_"):
        return block("MAPDP, not fitted yet", paragraph(repr(model)))
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
    return block(
        f"MAPDP: {found} of {labels.size:,} subjects, log joint {model.log_joint_:,.1f} nats",
        table(("Subtype", "Subjects", "%", "Mean membership probability"), subtypes),
        table(("Most relevant features", "Nats"), relevant),
        *(paragraph(warning) for warning in _warnings(model)),
        paragraph(repr(model)),
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
