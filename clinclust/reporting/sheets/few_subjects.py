"""What a report says of subtypes of few subjects, which are described only, and of those that were merged."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

from clinclust.estimators.few_subjects import NO_FLOOR, WEAK_EVIDENCE
from clinclust.estimators.subtype_model import parameters_of

if TYPE_CHECKING:
    from clinclust.reporting.findings import Findings
    from clinclust.reporting.layout import Column, Value

__all__ = [
    "DESCRIBED_ONLY",
    "enough_subjects",
    "merged_small_groups",
    "not_tested",
    "on_few_subjects",
    "on_merged_groups",
    "remark_cell",
    "remark_column",
]

DESCRIBED_ONLY = "few subjects, described only"
"""The words for a subtype that is too small to be tested, on every sheet."""
_SHOWN = 5


def on_few_subjects(findings: Findings) -> list[str]:
    """Return the sentences of the first page on subtypes that are described only; empty if there are none.

    In a shared report no subtype is named, and no number is given: they would narrow down sizes that are withheld.
    """
    small = findings.described_only
    if not small:
        return []
    nothing = (
        " No two subtypes have enough subjects, so that nothing is compared."
        if len(findings.sizes) - len(small) < 2
        else ""
    )
    part = f"take no part in tests and effect sizes, except among “All others”.{nothing}"
    if findings.is_shared:
        return [f"Described only: subtypes of few subjects {part}"]
    named = [f"{findings.name(subtype)} ({_subjects(findings.sizes[subtype])})" for subtype in small[:_SHOWN]]
    more = [f"{len(small) - _SHOWN} more"] if len(small) > _SHOWN else []
    return [
        f"Few subjects, described only: {_and([*named, *more])}. Subtypes{_below(findings)} {part} They may be a rare "
        "kind or a few unusual records; look at these subjects one by one."
    ]


def not_tested(findings: Findings) -> list[str]:
    """Return the note of a sheet of tests on the subtypes that take no part in them; empty if all do."""
    small = findings.described_only
    if not small:
        return []
    if findings.is_shared:
        return ["Subtypes of few subjects are described only, and take no part here, except among all others."]
    numbers = ", ".join(map(str, small[:_SHOWN])) + (f" and {len(small) - _SHOWN} more" if len(small) > _SHOWN else "")
    subtypes = f"Subtype {numbers} has" if len(small) == 1 else f"Subtypes {numbers} have"
    return [f"{subtypes} few subjects: described only, and no part here, except among all others."]


def enough_subjects(findings: Findings) -> str:
    """Return what restricts "all subtypes" in a sentence on tests: nothing, if all were tested."""
    if not findings.described_only:
        return ""
    return " of enough subjects" if findings.is_shared else f" of at least {findings.min_size} subjects"


def remark_column(findings: Findings) -> list[Column]:
    """Return the column that marks subtypes which are described only; empty if none is, or none may be named."""
    from clinclust.reporting.layout import Column

    return [Column("Remark")] if findings.described_only and not findings.is_shared else []


def remark_cell(findings: Findings, subtype: int) -> list[Value]:
    """Return the cell of a subtype under `remark_column`."""
    if not remark_column(findings):
        return []
    return [DESCRIBED_ONLY if subtype in findings.described_only else None]


def merged_small_groups(findings: Findings) -> bool:
    """Return whether groups of the search were merged because they are small."""
    fit = findings.fit
    if fit is None or fit.min_size_ == NO_FLOOR:
        return False
    asked = parameters_of(findings.model).get("n_clusters")
    n_before = int(asked) if isinstance(asked, Integral) else fit.subtype_of_.size
    return not isinstance(asked, str) and fit.n_clusters_ < n_before


def on_merged_groups(findings: Findings) -> list[str]:
    """Return the sentence on groups that were merged because they are small; empty if there are none."""
    fit = findings.fit
    if fit is None or not merged_small_groups(findings):
        return []
    if findings.is_shared:
        return ["Small groups were merged with another where they were hardly distinct from it."]
    hardly = (
        "no division between the two was found distinct"
        if fit.tree_test_ is not None
        else f"the merger lowered the log joint by less than {WEAK_EVIDENCE:g} nats"
    )
    return [
        f"Groups of fewer than {fit.min_size_} subjects were merged with another where they were hardly distinct from "
        f"it: {hardly}."
    ]


def _below(findings: Findings) -> str:
    """Return how few the subjects are; they may be more than the report asks for if its comparisons were given."""
    is_known = all(findings.sizes[subtype] < findings.min_size for subtype in findings.described_only)
    return f" of fewer than {findings.min_size} subjects" if is_known else " of so few subjects"


def _subjects(number: int) -> str:
    return f"{number:,} subject{'' if number == 1 else 's'}"


def _and(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
