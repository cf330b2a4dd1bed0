"""HTML view of a fitted model or a given partition for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.estimators.few_subjects import MEANING_OF_MARKS
from clinclust.estimators.fit import STOPPED_EARLY
from clinclust.estimators.subtype_model import own_membership
from clinclust.schema.notebook_view import block, paragraph, table

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit
    from clinclust.estimators.subtype_model import SubtypeModel

_MOST_RELEVANT = 10


def model_html(model: SubtypeModel, fit: Fit) -> str:
    """Return a fitted model as HTML: its results and its parameters."""
    sizes, marks, own = fit.cluster_sizes_, fit.remarks_, own_membership(model)
    certainty = np.empty(0) if own is None else np.bincount(model.labels_, own) / sizes
    subtypes = [
        (*cells, *(f"{mean:.2f}" for mean in certainty[label : label + 1]), *[", ".join(marks[label])] * any(marks))
        for label, cells in enumerate(sizes_in_rows(sizes))
    ]
    header = (
        "Subtype",
        "Subjects",
        "%",
        *["Mean membership probability"] * len(certainty[:1]),
        *["Remark"] * any(marks),
    )
    relevance = fit.feature_relevance_.sort_values(ascending=False, kind="stable").iloc[:_MOST_RELEVANT]
    relevant = [(fit.schema_[str(name)].title, f"{nats:,.1f}") for name, nats in relevance.items()]
    found = f"{counted_subtypes(sizes.size)} of {sizes.sum():,} subjects{_unions(fit, sizes.size)}"
    return block(
        f"MAPDP: {found}, log joint {fit.log_joint_:,.1f} nats",
        table(header, subtypes),
        *([paragraph(MEANING_OF_MARKS)] if any(marks) else []),
        table(("Most relevant features (descriptive)", "Nats"), relevant),
        *(paragraph(warning) for warning in _warnings(fit)),
        paragraph(repr(model)),
    )


def partition_html(partition: SubtypeModel, given: Sequence[object]) -> str:
    """Return a given partition as HTML: the subtypes with their given labels and sizes."""
    subtypes = [
        (number, str(label), *cells)
        for label, (number, *cells) in zip(given, sizes_in_rows(partition.cluster_sizes_), strict=True)
    ]
    found = f"{counted_subtypes(len(subtypes))} of {partition.labels_.size:,} subjects"
    return block(
        f"Partition: {found}, made by {partition.made_by}",
        table(("Subtype", "Given as", "Subjects", "%"), subtypes),
    )


def sizes_in_rows(sizes: NDArray[np.int64]) -> list[tuple[str, str, str]]:
    """Return the number, size and percentage of each subtype as strings."""
    total = sizes.sum()
    return [(f"{label + 1}", f"{size:,}", f"{100 * size / total:.1f}") for label, size in enumerate(sizes.tolist())]


def counted_subtypes(n_subtypes: int) -> str:
    """Return a number of subtypes in words."""
    return "1 subtype" if n_subtypes == 1 else f"{n_subtypes} subtypes"


def _unions(fit: Fit, n_subtypes: int) -> str:
    n_groups = fit.subtype_of_.size
    return f", made of the {n_groups} groups that the search found" if n_groups > n_subtypes else ""


def _warnings(fit: Fit) -> Iterable[str]:
    restarts = fit.restarts_
    best = restarts["log_joint"].max()
    if not restarts["converged"].iloc[restarts["log_joint"].argmax()]:
        yield "Warning: the best search was still moving subjects when it was stopped; raise max_sweeps."
    small = [str(subtype) for subtype, is_small in enumerate(fit.untested_, start=1) if is_small]
    if small:
        which = f"subtype {small[0]} has" if len(small) == 1 else f"subtypes {', '.join(small)} have"
        yield f"Few subjects, untested: {which} fewer than {fit.min_size_} subjects; see untested_."
    if fit.stopped_early_:
        yield f"Warning: the search was {STOPPED_EARLY}."
    near = restarts["log_joint"].round(6)[restarts["log_joint"] >= best - 1.0].nunique()
    if near > 1:
        filled = "" if fit.completed_log_joint_ is None else ", with filled values"
        yield f"Warning: {near} partitions lie within 1 nat of the best{filled}; see restarts_."
    if fit.uninformative_:
        yield "Warning: not clustered on: " + "; ".join(f"{name} ({why})" for name, why in fit.uninformative_.items())
