"""What the first page says of how far to trust the subtypes, in words for a clinician."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clinclust.reporting.divisions import n_distinct, shows_distinct_subtypes
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import number_text
from clinclust.reporting.sheets.unions import groups_found

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit

__all__ = ["cautions"]

_SMALL = 10
"""Number of subjects below which a subtype may be a few unusual subjects."""
_SHOWN = 5
_CLEAR = 0.005
"""The p of a division from which on the report warns that it is not clear."""


def cautions(findings: Findings) -> list[str]:
    """Return what speaks against taking the subtypes of a search for kinds of a disease; empty if they were given."""
    if findings.fit is None:
        return []
    if n_distinct(findings.fit) == 1 and len(findings.sizes) < 2:
        return ["These features give no evidence of subtypes, which is no evidence that there are none."]
    if len(findings.sizes) < 2 and groups_found(findings.fit) is not None:
        return []  # one group was asked for
    if len(findings.sizes) < 2:
        return ["One group means that these features give no evidence of subtypes, not that there are none."]
    found = [
        f"Subtypes describe how these subjects differ. {_on_kinds(findings, findings.fit)}",
        *([] if shows_distinct_subtypes(findings.fit) else _on_dependence(findings)),
        *_on_small_ones(findings),
    ]
    return [f"How far to trust it: {' '.join(found)}"]


def _on_kinds(findings: Findings, fit: Fit) -> str:
    """Return what is known of whether subtypes are kinds of a disease, or parts of a continuum."""
    if shows_distinct_subtypes(fit):
        return (
            "By the test, they are more than the milder and the more severe part of one continuum"
            f"{_on_the_weakest(findings)}. Many mild and few severe subjects of one continuum can be divided all the "
            "same. Whether they are kinds of a disease, only other data can tell, such as causes, course or treatment."
        )
    if fit.tree_test_ is not None:
        return (
            "Divisions tested says which of them are no more than slices of a continuum; whether the others are kinds "
            "of a disease, only other data can tell."
        )
    return (
        "Whether they are kinds of a disease, or the milder and the more severe part of one, only other data can tell."
    )


def _on_the_weakest(findings: Findings) -> str:
    """Return what is said of the distinct division with the largest p, if this is not small."""
    p = max((division.p for division in findings.divisions if division.is_distinct), default=0.0)
    if p < _CLEAR or findings.is_shared:
        return ""
    return (
        f" (where this is least clear, p is {number_text(p, 'p', 0)}, as one continuum in {round(1 / p)} would have it)"
    )


def _on_dependence(findings: Findings) -> Iterator[str]:
    """Yield what the validated associations say of dependence that the subtypes leave between features."""
    if findings.associations is None:
        return
    rows = findings.associations
    tested = rows.loc[(rows["role"] == "cluster") & rows["doubtful"].notna(), "doubtful"]
    n_doubtful = int(tested.sum())
    if n_doubtful:
        how_many = "Some" if findings.is_shared else f"{n_doubtful} of {len(tested)}"
        yield (
            f"{how_many} tested features still depend on others inside the subtypes (doubtful, under Associations): "
            "the search may then have cut one group of subjects into several."
        )


def _on_small_ones(findings: Findings) -> Iterator[str]:
    named_before = [] if findings.is_shared else findings.described_only
    sizes = {subtype: findings.shown_sizes[subtype] for subtype in findings.sizes if subtype not in named_before}
    small = [subtype for subtype, size in sizes.items() if size is not None and size < _SMALL]
    if small:
        named = ", ".join(findings.name(subtype) for subtype in small[:_SHOWN])
        more = f" and {len(small) - _SHOWN} more" if len(small) > _SHOWN else ""
        yield f"Fewer than {_SMALL} subjects ({named}{more}) may be unusual subjects rather than a subtype."
