"""The first page, read in a minute: the answer, the subtypes, how far to trust them, and what to look at next."""

from __future__ import annotations

from clinclust.estimators.fit import STOPPED_EARLY, Fit
from clinclust.estimators.subtype_model import CLEAR
from clinclust.reporting.divisions import Division, distinct_in_words, n_distinct, n_parted, shows_tested_subtypes
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import Column, Sheet, Table, Value
from clinclust.reporting.sheets.divisions import p_in_words
from clinclust.reporting.sheets.groups import number_asked_for
from clinclust.reporting.sheets.model_check import on_likelihoods
from clinclust.reporting.sheets.profile import marks_of
from clinclust.reporting.sheets.run import sentences_on_visits
from clinclust.reporting.sheets.trust import column_in_words
from clinclust.reporting.sheets.validated import count_in_words
from clinclust.stability.assess import TOO_FEW

_NEAR = 0.2
"""p of one group, below which a page says how near the division was."""
_SMALL = 10
"""Subjects, below which a subtype may be a few unusual subjects."""


def overview(findings: Findings) -> Sheet:
    """Return the first section: one sentence, a line for each subtype, three on trust, and what to look at next."""
    tables = [*_subtypes(findings), _trust(findings)]
    notes = [*sentences_on_visits(findings), _answer(findings)]
    return Sheet("Overview", notes, tables, explanations=[f"Look next: {_next(findings)}"])


def _answer(findings: Findings) -> str:
    fit, n_subtypes = findings.fit, len(findings.sizes)
    how_many = f"{n_subtypes} subtypes" if n_subtypes > 1 else "One group"
    found = f"{how_many} among {findings.n_subjects:,} subjects"
    if fit is None:
        return f"{found}, made by {findings.cohort.model.made_by}."
    if n_subtypes == 1:
        return f"{found}: {_undivided(findings)}."
    if fit.tree_test_ is None:
        return f"{found}; whether they are more than one continuum was not tested."
    if shows_tested_subtypes(fit):
        return f"{found}, {distinct_in_words(fit)}; {_parted(fit)}{_p(findings)}."
    n = n_parted(fit)
    are = f"{n} are" if n > 1 else "they are not shown to be"
    asked = ", as many as asked for" if number_asked_for(findings) == n_subtypes else ""
    return f"{found}{asked}; {are} parted more clearly than one continuum would be."


def _parted(fit: Fit) -> str:
    if n_distinct(fit) == 1:
        return "they are parted more clearly than one straight continuum would be"
    return "they are parted more clearly than one continuum would be"


def _undivided(findings: Findings) -> str:
    if not findings.divisions:
        return "there was no division to test"
    return f"they are parted no more clearly than one continuum would be{_p(findings)}"


def _p(findings: Findings) -> str:
    """Return the p of the least clear division between the subtypes, or of the first one of one group, in brackets."""
    division = _least_clear(findings)
    if division is None or findings.is_shared:
        return ""
    return f" ({division.p_said})"


def _least_clear(findings: Findings) -> Division | None:
    accepted = [division for division in findings.divisions if division.is_accepted]
    return max(accepted or findings.divisions[:1], key=lambda division: division.p, default=None)


def _subtypes(findings: Findings) -> list[Table]:
    if len(findings.sizes) < 2:  # nothing marks one group
        return []
    labels, own = findings.cohort.labels, None if findings.is_shared else findings.own_membership
    marks = marks_of(findings)
    is_proposed = any(marked.name and subtype not in findings.names for subtype, marked in enumerate(marks, start=1))
    columns = [
        Column("Subtype (name proposed)" if is_proposed else "Subtype", widest=33),
        Column("n", "0"),
        Column("%", "0.0"),
        Column("Marks (all subjects)", widest=60),
        *([] if own is None else [Column("Clear (%)", "0")]),
    ]
    rows: list[list[Value]] = []
    for subtype, marked in zip(findings.sizes, marks, strict=True):
        proposed = f"{subtype}: {marked.name}" if marked.name else str(subtype)
        name = findings.name(subtype) if subtype in findings.names else proposed
        clear = [] if own is None else [100 * float((own[labels == subtype - 1] >= CLEAR).mean())]
        rows.append([name, *findings.size_cells(subtype), marked.text, *clear])
    return [Table("The subtypes", columns, rows)]


def _trust(findings: Findings) -> Table:
    rows: list[list[Value]] = [["More than a continuum?", _more_than_a_continuum(findings)]]
    if len(findings.sizes) > 1:
        rows.append(["Found again in other halves?", _found_again(findings)])
        rows.append(["A column you already have?", _a_column(findings)])
        rows.append(["Which features differ?", count_in_words(findings)])
    return Table("How far to trust it", [Column("Question"), Column("Answer", widest=70)], rows)


def _more_than_a_continuum(findings: Findings) -> str:
    fit, division = findings.fit, _least_clear(findings)
    if fit is None:
        return "Not tested: the subtypes were given."
    if division is None:
        return "Not tested: the number was not left to the test." if fit.tree_test_ is None else "Nothing to test."
    often = "" if findings.is_shared else f": {p_in_words(division.p, division.n_draws)} continua are as clear"
    if not division.is_accepted:
        return f"{'Nearly, but not shown' if division.p < _NEAR else 'Not shown'}{often}."
    if not shows_tested_subtypes(fit):
        return f"Not all{often}."
    return f"Yes{often}."


def _found_again(findings: Findings) -> str:
    if findings.stability is None:
        return "Not looked at (stability)."
    table = findings.stability.subtypes
    known = table[table["band"] != TOO_FEW.name].sort_values("jaccard")
    if known.empty:
        return "Too few subjects to tell."
    least = known.iloc[0]
    return f"The least stable, {findings.name(int(least['subtype']))}: {least['band']} ({least['jaccard']:.2f} of 1)."


def _a_column(findings: Findings) -> str:
    none = "none whose counts are all shown" if findings.is_shared else "none alone"
    return next(iter(column_in_words(findings)), f"No: {none} names the subtypes.")


def _next(findings: Findings) -> str:
    """Return the first thing that a reader should look at, the gravest first."""
    fit, n_subtypes = findings.fit, len(findings.sizes)
    if fit is not None and fit.stopped_early_:
        return f"the search was {STOPPED_EARLY}; let it end."
    if column_in_words(findings):
        return "what else there is (Trust)."
    if fit is not None and n_subtypes > 1 and on_likelihoods(findings):
        return "features whose likelihood does not fit (Likelihoods)."
    small = [subtype for subtype in findings.sizes if (findings.shown_sizes[subtype] or _SMALL) < _SMALL]
    if n_subtypes > 1 and small and not findings.is_shared:
        return f"the subjects of {findings.name(small[0])}, so few that they may be unusual records."
    if fit is not None and n_subtypes == 1:
        return _instead(findings, fit)
    return "the Subtype table; then name the subtypes."


def _instead(findings: Findings, fit: Fit) -> str:
    continuum = None if findings.is_rounded else findings.continuum
    is_useless = continuum is None or (continuum.is_by_chance and not findings.is_shared)
    score = "" if is_useless else "the continuum score (Trust); "
    if fit.subtype_of_.size < 2:
        return f"{score}the Subtype table." if score else "the Subtype table."
    return f"{score}two groups, as a description only: fit with n_clusters=2 (--n-clusters 2)."
