"""HTML view of a model, a partition or its distinct subtypes for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.estimators.few_subjects import MEANING_OF_MARKS
from clinclust.estimators.membership import own_membership
from clinclust.estimators.stopped_early import STOPPED_EARLY
from clinclust.estimators.subtype_model import is_fitted
from clinclust.schema.notebook_view import block, paragraph, table

if TYPE_CHECKING:
    from clinclust.estimators.distinct_subtypes import DistinctSubtypes
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.partition import Partition

__all__ = ["distinct_html", "model_html", "partition_html"]

_MOST_RELEVANT = 10


def model_html(model: MAPDP) -> str:
    """Return a model as HTML: its parameters and, after the fit, its results."""
    if not is_fitted(model):
        return block("MAPDP, not fitted yet", paragraph(repr(model)))
    labels = np.asarray(model.labels_)
    own = np.asarray(own_membership(model))
    sizes = np.bincount(labels)
    marks = model.remarks_
    subtypes = [
        (*cells, f"{own[labels == label].mean():.2f}", *([", ".join(marks[label])] if any(marks) else []))
        for label, cells in enumerate(_sizes(sizes))
    ]
    header = ("Subtype", "Subjects", "%", "Mean membership probability", *(["Remark"] if any(marks) else []))
    relevance = model.feature_relevance_.sort_values(ascending=False, kind="stable").iloc[:_MOST_RELEVANT]
    relevant = [(model.schema_[str(name)].title, f"{nats:,.1f}") for name, nats in relevance.items()]
    found = f"{_counted(sizes.size)} of {labels.size:,} subjects{_unions(model, sizes.size)}"
    return block(
        f"MAPDP: {found}, log joint {model.log_joint_:,.1f} nats",
        table(header, subtypes),
        *([paragraph(MEANING_OF_MARKS)] if any(marks) else []),
        table(("Most relevant features (descriptive)", "Nats"), relevant),
        *(paragraph(warning) for warning in _warnings(model)),
        paragraph(repr(model)),
    )


def partition_html(partition: Partition) -> str:
    """Return a given partition as HTML: the subtypes with their given labels and sizes."""
    subtypes = [
        (number, str(given), *cells)
        for given, (number, *cells) in zip(partition.given_, _sizes(partition.cluster_sizes_), strict=True)
    ]
    return block(
        f"Partition: {_counted(len(subtypes))} of {partition.labels_.size:,} subjects, made by {partition.made_by}",
        table(("Subtype", "Given as", "Subjects", "%"), subtypes),
    )


def distinct_html(distinct: DistinctSubtypes) -> str:
    """Return distinct subtypes as HTML: their sizes, and every join that was tested."""
    from clinclust.estimators.distinct_subtypes import RESULT

    tested = [
        (
            ", ".join(map(str, row["first"])),
            ", ".join(map(str, row["second"])),
            f"{row['gain']:,.1f}",
            f"{row['expected']:,.1f}",
            f"{row['z']:.1f}",
            f"{row['p']:.2g}",
            "" if np.isnan(row["p_unimodal"]) else f"{row['p_unimodal']:.2g}",
            RESULT[row["accepted"]],
        )
        for row in distinct.joins.to_dict("records")
    ]
    header = (
        "Subtypes of the fit",
        "and",
        "Nats",
        "Expected in one population",
        "z",
        "p",
        "p if skewed",
        "Result",
    )
    return block(
        f"Distinct subtypes: {_counted(distinct.n_subtypes)} of {distinct.labels.size:,} subjects",
        paragraph(distinct.summary),
        table(("Subtype", "Subjects", "%"), _sizes(np.bincount(distinct.labels))),
        *([table(header, tested)] if tested else []),
    )


def _sizes(sizes: NDArray[np.int64]) -> list[tuple[str, str, str]]:
    """Return the number, size and percentage of each subtype as strings."""
    total = sizes.sum()
    return [(f"{label + 1}", f"{size:,}", f"{100 * size / total:.1f}") for label, size in enumerate(sizes.tolist())]


def _counted(n_subtypes: int) -> str:
    return "1 subtype" if n_subtypes == 1 else f"{n_subtypes} subtypes"


def _unions(model: MAPDP, n_subtypes: int) -> str:
    n_groups = model.subtype_of_.size
    return f", made of the {n_groups} groups that the search found" if n_groups > n_subtypes else ""


def _warnings(model: MAPDP) -> Iterable[str]:
    restarts = model.restarts_
    best = restarts["log_joint"].max()
    if not restarts["converged"].iloc[restarts["log_joint"].argmax()]:
        yield "Warning: the best search was still moving subjects when it was stopped; raise max_sweeps."
    small = [str(subtype) for subtype, is_small in enumerate(model.untested_, start=1) if is_small]
    if small:
        which = f"subtype {small[0]} has" if len(small) == 1 else f"subtypes {', '.join(small)} have"
        yield f"Few subjects, described only: {which} fewer than {model.min_size_} subjects; see untested_."
    if model.stopped_early_:
        yield f"Warning: the search was {STOPPED_EARLY}."
    near = restarts["log_joint"].round(6)[restarts["log_joint"] >= best - 1.0].nunique()
    if near > 1:
        filled = "" if getattr(model, "completed_log_joint_", None) is None else ", with filled values"
        yield f"Warning: {near} partitions lie within 1 nat of the best{filled}; see restarts_."
    if model.uninformative_:
        yield "Warning: not clustered on: " + "; ".join(f"{name} ({why})" for name, why in model.uninformative_.items())
