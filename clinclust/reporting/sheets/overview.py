"""The first sheet of a workbook and the first section of a page: what was found, and how far it can be trusted."""

from __future__ import annotations

import numpy as np

from clinclust.estimators.fit import STOPPED_EARLY, Fit
from clinclust.estimators.subtype_model import CLEAR
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WITHHELD, Column, Sheet, Table, Value, percent
from clinclust.reporting.sheets.cautions import cautions, on_dominant_columns
from clinclust.reporting.sheets.divisions import divisions_table, on_the_test, verdict
from clinclust.reporting.sheets.groups import (
    groups_found,
    on_few_subjects,
    on_merged_groups,
    remark_cell,
    remark_column,
    unions_in_words,
)
from clinclust.reporting.sheets.model_check import on_likelihoods, on_model_check
from clinclust.reporting.sheets.posterior import on_posterior, on_posterior_membership, posterior_cell, posterior_column
from clinclust.reporting.sheets.profile import MEDIANS, MOST_MARKS, Marks, marks_of
from clinclust.reporting.sheets.run import sentences_on_rows, sentences_on_visits
from clinclust.reporting.sheets.stability import on_stability, stability_cell, stability_column
from clinclust.reporting.sheets.subjects import continuum_table, on_continuum_score, on_unusual_subjects
from clinclust.reporting.sheets.summary import given_subtypes, on_sharing
from clinclust.reporting.sheets.validated import on_q, sentences
from clinclust.reporting.words import counted
from clinclust.schema.changed_roles import on_unused

_MOST_UNUSED = 6


def overview(findings: Findings) -> Sheet:
    """Return the sheet: sentences about the partition, a table with a row for each subtype, and what was tested."""
    marks = marks_of(findings) if len(findings.sizes) > 1 else []
    tables = [*_at_a_glance(findings, marks), *divisions_table(findings), *continuum_table(findings)]
    explanations = [
        *_how_to_read(findings, marks),
        *on_posterior_membership(findings),
        *(on_stability(findings) if marks else []),
        *on_the_test(findings),
        "The other terms and the settings of the run are explained under Summary.",
    ]
    return Sheet("Overview", _statements(findings), tables, explanations=explanations)


def _at_a_glance(findings: Findings, marks: list[Marks]) -> list[Table]:
    if not marks:  # one group, which nothing marks
        return []
    labels, own = np.asarray(findings.model.labels_), findings.own_membership
    with_clear = own is not None and not findings.is_shared
    columns = [
        Column("Subtype"),
        Column("Subjects", "0"),
        Column("%", "0.0"),
        Column("Higher than in all subjects", widest=33),
        Column("Lower than in all subjects", widest=33),
        *([] if own is None else [Column("Mean membership probability", "0.00")]),
        *([Column("Clear members (%)", "0")] if with_clear else []),
        *posterior_column(findings),
        *stability_column(findings),
        *remark_column(findings),
    ]
    rows: list[list[Value]] = []
    for subtype, marked in zip(findings.sizes, marks, strict=True):
        size = findings.shown_sizes[subtype]
        how_sure: list[Value] = []
        if own is not None:
            members = own[labels == subtype - 1]
            how_sure.append(WITHHELD if size is None else float(members.mean()))
            if with_clear:
                how_sure.append(100 * float((members >= CLEAR).mean()))
        further = [*posterior_cell(findings, subtype), *stability_cell(findings, subtype)]
        about = [findings.name(subtype), *findings.size_cells(subtype), *marked.cells(), *how_sure]
        rows.append([*about, *further, *remark_cell(findings, subtype)])
    return [Table("The subtypes at a glance", columns, rows)]


def _statements(findings: Findings) -> list[str]:
    fit = findings.fit
    of_the_search = [given_subtypes(findings)]
    if fit is not None:
        stopped = [f"The search was {STOPPED_EARLY}."] if fit.stopped_early_ else []
        of_the_search = [*([] if findings.is_rounded else [searches_sentence(fit)]), *stopped, *cautions(findings)]
    return [
        *on_dominant_columns(findings),
        *sentences_on_visits(findings),
        _what_was_found(findings),
        *([said] if (said := on_unused(findings.model.schema_, most=_MOST_UNUSED)) and fit is not None else []),
        *verdict(findings),
        *sentences(findings),
        *on_posterior(findings),
        *on_merged_groups(findings),
        *on_few_subjects(findings),
        *on_likelihoods(findings),
        *on_model_check(findings),
        *on_unusual_subjects(findings),
        *on_continuum_score(findings),
        *sentences_on_rows(findings),
        *of_the_search,
        on_sharing(findings),
    ]


def _what_was_found(findings: Findings) -> str:
    features, n_subtypes = counted(len(findings.clustered), "feature"), len(findings.sizes)
    found = f"{n_subtypes} subtypes" if n_subtypes > 1 else "one group, no subtypes"
    n_subjects = f"{findings.n_subjects:,} subjects"
    missing = f" ({_missing(findings)})" if findings.clustered else ""
    if findings.fit is None:
        return f"Given: {found}, among {n_subjects}; {features} that they may have been made from{missing}."
    return f"Found: {found}{unions_in_words(findings)}, among {n_subjects}, from {features}{missing}."


def _missing(findings: Findings) -> str:
    if findings.is_shared:  # the number would disclose those withheld
        return f"missing values: {WITHHELD}"
    if not findings.n_missing[0]:
        return "no value is missing"
    share = percent(*findings.n_missing)
    how_many = f"{share:.1f}%" if share else "fewer than 0.1%"
    return f"{how_many} of {'its' if len(findings.clustered) == 1 else 'their'} values are missing"


def _how_to_read(findings: Findings, marks: list[Marks]) -> list[str]:
    if not marks:
        return []
    said = [_on_marks(findings)] if any(marked.higher or marked.lower for marked in marks) else []
    if findings.own_membership is not None:
        said.append(
            "Membership probability: how sure the model is of the subtype of each subject; where features depend on "
            "each other inside subtypes, or overlapping groups were taken for one, it is too sure."
        )
        if not findings.is_shared:
            said.append(f"Clear: a membership probability of {CLEAR:g} or more.")
    explained = f"{' '.join(said)}{on_q(findings)}".strip()
    return [explained] if explained else []


def _on_marks(findings: Findings) -> str:
    of_those = relevance = ""
    if findings.relevance_column:
        of_those = f" of those whose relevance is above 0{' or withheld' if findings.withholds_evidence else ''},"
        relevance = (
            " Relevance: how far the subtypes lie apart in a feature. Both describe the subjects that the subtypes "
            "were found in, and are no test."
        )
    return (
        "After each feature: its share, mean or median in the subtype, as in the Subtype table, and in parentheses "
        f"that in all subjects. At most {MOST_MARKS} are named,{of_those} the farthest from all subjects in standard "
        f"deviations first.{f' {MEDIANS}' if findings.profiles.has_medians else ''}{relevance}"
    )


def searches_sentence(fit: Fit) -> str:
    """Return how many searches ended at the best partition, and how near the next best one is."""
    restarts, is_merged = fit.restarts_, groups_found(fit) is not None
    shown, made = ("these subtypes", "are") if fit.n_clusters_ > 1 else ("this one group", "is")
    these, same = (f"the groups that {shown} {made} made of", "groups") if is_merged else (shown, "subtypes")
    joint = restarts["log_joint"].round(6)
    at_best = int((joint == joint.max()).sum())
    if len(joint) == 1:
        return "One search was made."
    ended = f"{at_best} of {len(joint)} searches ended at {these}"
    others = restarts[joint < joint.max()]
    if others.empty:
        return f"{ended}."
    second = others.sort_values("log_joint", ascending=False, kind="stable").iloc[0]
    below = restarts["log_joint"].max() - second["log_joint"]
    nats = f"{below:,.0f}" if below >= 10 else f"{below:.1g}" if below < 0.1 else f"{below:.1f}"
    # A joint of filled values says how well the search did, and not how probable a partition is.
    meaning = "1 nat: 2.7 times less probable" if fit.completed_log_joint_ is None else "with filled values"
    return (
        f"{ended}; the next best lies {nats} nats below it ({meaning}) and agrees with it "
        f"to {second['ari_to_best']:.2f} (adjusted Rand index: 1 = the same {same}, 0 = as by chance)."
    )
