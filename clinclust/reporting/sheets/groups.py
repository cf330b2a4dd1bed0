"""What a report says of subtypes of few subjects, and of those that are unions of the groups that the search found."""

from __future__ import annotations

from numbers import Integral

from clinclust.estimators.cut import WEAK_EVIDENCE
from clinclust.estimators.few_subjects import FEW, FEW_SUBJECTS, NO_FLOOR, WEAK, WEAK_NATS, n_standing
from clinclust.estimators.fit import Fit
from clinclust.estimators.subtype_model import parameters_of
from clinclust.reporting.divisions import shows_tested_subtypes
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import Column, Value
from clinclust.reporting.words import counted, listed, was

_UNTESTED = "few subjects, untested"
_SHOWN = 5
_UNUSUAL = 10  # subjects, below which a subtype may be a few unusual records


def on_few_subjects(findings: Findings) -> list[str]:
    """Return the sentences on subtypes that are untested, few or weak; a shared report gives no names and numbers."""
    return [*_on_untested(findings), *_on_marks(findings)]


def _on_untested(findings: Findings) -> list[str]:
    small = findings.untested
    if not small:
        return []
    part = "take no part in tests and effect sizes, except among “All others”."
    if len(findings.sizes) - len(small) < 2:
        part += " No two subtypes have enough subjects, so that nothing is compared."
    if findings.is_shared:
        return [f"Untested: subtypes of few subjects {part}"]
    named = [f"{findings.name(subtype)} ({counted(findings.sizes[subtype], 'subject')})" for subtype in small[:_SHOWN]]
    more = [f"{len(small) - _SHOWN} more"] if len(small) > _SHOWN else []
    if max(findings.sizes[subtype] for subtype in small) < _UNUSUAL:
        part += " They may be a rare kind or a few unusual records; look at these subjects one by one."
    return [f"Few subjects, untested: {listed([*named, *more])}. Subtypes{_below(findings)} {part}"]


def not_tested(findings: Findings) -> list[str]:
    """Return the note of a sheet of tests on the subtypes that take no part in them; empty if all do."""
    small = findings.untested
    if not small:
        return []
    if findings.is_shared:
        return ["Subtypes of few subjects are untested, and take no part here, except among all others."]
    numbers = ", ".join(map(str, small[:_SHOWN])) + (f" and {len(small) - _SHOWN} more" if len(small) > _SHOWN else "")
    subtypes = f"Subtype {numbers} has" if len(small) == 1 else f"Subtypes {numbers} have"
    return [f"{subtypes} few subjects: untested, and no part here, except among all others."]


def enough_subjects(findings: Findings) -> str:
    """Return what restricts "all subtypes" in a sentence on tests: nothing, if all were tested."""
    if not findings.untested:
        return ""
    return " of enough subjects" if findings.is_shared else f" of at least {findings.min_size} subjects"


def _on_marks(findings: Findings) -> list[str]:
    fit, explained = findings.fit, explained_marks(findings)
    if fit is None or not explained:
        return explained
    n = n_standing(fit.subtypes_)
    left = "one group is left" if n == 1 else f"{n} subtypes are left"
    return [f"{explained[0]} Such subtypes may be noise; without them {left}."]


def explained_marks(findings: Findings) -> list[str]:
    """Return the sentence that explains the marks of subtypes that are few or weak; empty if none is so marked."""
    used = {mark for subtype in findings.sizes for mark in _marks(findings, subtype)}
    meaning = {
        FEW: f"fewer than {FEW_SUBJECTS} subjects",
        WEAK: f"less than {WEAK_NATS:g} nats of evidence between it and its nearest other",
    }
    said = [f"{mark}, {meaning[mark]}" for mark in meaning if mark in used]
    return [f"Marks of subtypes: {'; '.join(said)}."] if said else []


def remark(findings: Findings, subtype: int) -> str | None:
    """Return the remark that a subtype is untested, few or weak; None if it is none of these, or in a shared report."""
    if findings.is_shared:
        return None
    said = [_UNTESTED] if subtype in findings.untested else []
    return ", ".join([*said, *_marks(findings, subtype)]) or None


def _marks(findings: Findings, subtype: int) -> tuple[str, ...]:
    if findings.is_shared:
        return ()
    marks: tuple[str, ...] = (FEW,) if findings.sizes[subtype] < FEW_SUBJECTS else ()
    marks = findings.marks[subtype - 1] if findings.marks else marks
    return tuple(mark for mark in marks if mark != FEW or subtype not in findings.untested)


def remark_column(findings: Findings) -> list[Column]:
    """Return the column of remarks on subtypes; empty if there are none, or none may be made."""
    return [Column("Remark")] if any(remark(findings, subtype) for subtype in findings.sizes) else []


def remark_cell(findings: Findings, subtype: int) -> list[Value]:
    """Return the cell of a subtype under `remark_column`."""
    return [remark(findings, subtype)] if remark_column(findings) else []


def merged_small_groups(findings: Findings) -> bool:
    """Return whether groups of the search were merged because they are small."""
    fit = findings.fit
    if fit is None or fit.min_size_ == NO_FLOOR:
        return False
    asked = parameters_of(findings.cohort.model).get("n_clusters")
    n_before = min(int(asked), fit.subtype_of_.size) if isinstance(asked, Integral) else fit.subtype_of_.size
    return not isinstance(asked, str) and fit.n_clusters_ < n_before


def on_merged_groups(findings: Findings) -> list[str]:
    """Return the sentence on groups that were merged because they are small; empty if there are none."""
    fit = findings.fit
    if fit is None or not merged_small_groups(findings):
        return []
    if findings.is_shared:
        return ["Small groups were merged with another where they were hardly distinct from it."]
    hardly = "no division between the two was found distinct"
    if fit.tree_test_ is None:
        hardly = f"the merger lowered the log joint by less than {WEAK_EVIDENCE:g} nats"
    return [
        f"Groups of fewer than {fit.min_size_} subjects were merged with another where they were hardly distinct from "
        f"it: {hardly}."
    ]


def _below(findings: Findings) -> str:
    # They may be more than the report asks for, if its comparisons were given.
    is_known = all(findings.sizes[subtype] < findings.min_size for subtype in findings.untested)
    return f" of fewer than {findings.min_size} subjects" if is_known else " of so few subjects"


def groups_found(fit: Fit) -> int | None:
    """Return how many groups the search found, if they were merged to fewer subtypes; else None."""
    n_groups = int(fit.subtype_of_.size)
    return n_groups if n_groups > fit.n_clusters_ else None


def number_asked_for(findings: Findings) -> int | None:
    """Return the number of subtypes that was asked for; None if it follows from the data."""
    asked = parameters_of(findings.cohort.model).get("n_clusters")
    return int(asked) if isinstance(asked, Integral) else findings.n_asked


def unions_in_words(findings: Findings) -> str:
    """Return what follows the number of subtypes: how many were asked for, and of what they are unions; or nothing."""
    if findings.fit is None:
        return ""
    n_groups = groups_found(findings.fit)
    n_asked = number_asked_for(findings)
    asked = n_asked is not None
    if n_groups is None:
        if n_asked is not None and n_asked > findings.fit.n_clusters_:
            return f" ({n_asked} were asked for, and the search found no more)"
        return ", as many as asked for" if asked else ""
    all_in_one = findings.fit.n_clusters_ == 1
    unions = f"{'the union' if all_in_one else 'unions'} of the {n_groups} groups that the search found"
    if asked and merged_small_groups(findings):
        return f" ({n_asked} were asked for, and small ones were merged): {unions}"
    if n_asked is not None and n_asked > n_groups:
        return f" ({n_asked} were asked for, and the search found no more groups): {unions}"
    return f"{', as asked for' if asked else ''}: {unions}"


def sentence_on_unions(findings: Findings) -> list[str]:
    """Return the sentence of the methods section on the number of subtypes; empty if it follows from the data."""
    words = unions_in_words(findings)
    if findings.fit is None or not words:
        return []
    n_subtypes = findings.fit.n_clusters_
    number = f"The number of subtypes is {n_subtypes}{words}"
    if groups_found(findings.fit) is None:
        return [f"{number}."]
    n_asked = number_asked_for(findings)
    only_small = parameters_of(findings.cohort.model).get("n_clusters") is None and merged_small_groups(findings)
    if not only_small and shows_tested_subtypes(findings.fit):
        return [f"{number}. Groups whose division was not distinct were merged; no subject changed its group."]
    if only_small or (n_asked is not None and n_asked > findings.fit.subtype_of_.size):
        return [f"{number}. No subject changed its group."]
    n_left = n_subtypes if n_asked is None else n_asked
    return [
        f"{number}. Groups were merged, each time the two with the least evidence between them, until {n_left} "
        f"{was(n_left)} left; no subject changed its group."
    ]
