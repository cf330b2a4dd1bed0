"""The section Trust: how far to trust the subtypes, in words for a clinician."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from clinclust.comparisons.dominance import NEARLY
from clinclust.comparisons.frame import is_missing
from clinclust.estimators.copied_rows import copied_rows
from clinclust.estimators.fit import STOPPED_EARLY, Fit
from clinclust.estimators.subtype_model import CLEAR
from clinclust.reporting.divisions import n_parted, shows_tested_subtypes
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WITHHELD, Column, Sheet, Table, Value, percent
from clinclust.reporting.sheets.divisions import ANY_SHAPE, divisions_table, on_the_test, verdict
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
from clinclust.reporting.sheets.run import sentences_on_rows, sentences_on_visits
from clinclust.reporting.sheets.stability import on_stability, stability_cell, stability_column
from clinclust.reporting.sheets.subjects import continuum_table, on_continuum_score, on_unusual_subjects
from clinclust.reporting.sheets.summary import given_subtypes, on_sharing
from clinclust.reporting.sheets.validated import sentences
from clinclust.reporting.words import counted
from clinclust.schema.changed_roles import on_unused

_SMALL = 10  # subjects, below which a subtype may be a few unusual subjects
_SHOWN = 5
_MANY = 8  # distinct subtypes, above which the report doubts that they are as many kinds
_CLEAR = 0.005  # p of a division, from which on the report warns that it is not clear
_MOST_UNUSED = 6


def trust(findings: Findings) -> Sheet:
    """Return the section: the test of one continuum first, then whatever speaks against the subtypes."""
    tables = [*_how_sure(findings), *divisions_table(findings), *continuum_table(findings)]
    explanations = [
        *_on_membership(findings),
        *on_posterior_membership(findings),
        *(on_stability(findings) if len(findings.sizes) > 1 else []),
        *on_the_test(findings),
    ]
    return Sheet("Trust", _statements(findings), tables, explanations=explanations)


def _statements(findings: Findings) -> list[str]:
    fit = findings.fit
    of_the_search = [given_subtypes(findings)]
    if fit is not None:
        stopped = [f"The search was {STOPPED_EARLY}."] if fit.stopped_early_ else []
        of_the_search = [*([] if findings.is_shared else [searches_sentence(fit)]), *stopped, *cautions(findings)]
    return [
        *verdict(findings),
        *sentences(findings),
        *on_dominant_columns(findings),
        *sentences_on_visits(findings),
        *_on_copies(findings),
        *on_posterior(findings),
        *on_merged_groups(findings),
        *on_few_subjects(findings),
        *on_likelihoods(findings),
        *on_model_check(findings),
        *on_unusual_subjects(findings),
        *on_continuum_score(findings),
        _what_was_found(findings),
        *([said] if (said := on_unused(findings.cohort.schema, most=_MOST_UNUSED)) and fit is not None else []),
        *sentences_on_rows(findings),
        *of_the_search,
        on_sharing(findings),
    ]


def _on_copies(findings: Findings) -> list[str]:
    """Return the subtypes of which at least half are copies of rows; a shared report says nothing of copies."""
    first = None if findings.is_shared else copied_rows(findings.cohort.table, [one.name for one in findings.clustered])
    if first is None:
        return []
    is_copy = first != np.arange(first.size)
    subtypes = findings.cohort.labels + 1
    made = [
        findings.name(subtype)
        for subtype in findings.sizes
        if 2 * is_copy[subtypes == subtype].sum() >= (subtypes == subtype).sum()
    ]
    found = f"{is_copy.sum():,} of {first.size:,} rows are exact copies of an earlier row, more than chance explains"
    more = f" and {len(made) - _SHOWN} more" if len(made) > _SHOWN else ""
    consist = f"; at least half of {', '.join(made[:_SHOWN])}{more} are such copies" if made else ""
    return [f"{found}{consist}."]


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


def _how_sure(findings: Findings) -> list[Table]:
    """Return a table of what is known of each subtype by more than its membership, if anything is."""
    further = [*posterior_column(findings), *stability_column(findings), *remark_column(findings)]
    if len(findings.sizes) < 2 or not further:
        return []
    rows: list[list[Value]] = [
        [
            findings.name(subtype),
            *posterior_cell(findings, subtype),
            *stability_cell(findings, subtype),
            *remark_cell(findings, subtype),
        ]
        for subtype in findings.sizes
    ]
    return [Table("How sure each subtype is", [Column("Subtype"), *further], rows)]


def _on_membership(findings: Findings) -> list[str]:
    if findings.own_membership is None or findings.is_shared or len(findings.sizes) < 2:
        return []
    return [
        f"Clear: a membership probability of {CLEAR:g} or more. Where features depend on each other inside subtypes, "
        "the model is too sure."
    ]


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


def cautions(findings: Findings) -> list[str]:
    """Return what speaks against taking the subtypes of a search for kinds of a disease; empty if they were given."""
    if findings.fit is None:
        return []
    if len(findings.sizes) < 2:
        # One group that was asked for says nothing.
        was_asked_for = n_parted(findings.fit) != 1 and groups_found(findings.fit) is not None
        return [] if was_asked_for else ["No evidence of subtypes is no evidence that there are none."]
    found = [*_on_kinds(findings, findings.fit), *_on_small_ones(findings)]
    return [" ".join(found)]


def _on_kinds(findings: Findings, fit: Fit) -> Iterator[str]:
    if shows_tested_subtypes(fit):
        yield from (said for said in (_on_the_weakest(findings), _on_grades(findings)) if said)
        yield from _on_many(findings)
    or_degrees = "" if shows_tested_subtypes(fit) else " or degrees of one"
    yield (
        f"Whether subtypes are kinds of a disease{or_degrees}, only other data can tell, such as causes, course or "
        "treatment."
    )


def _on_the_weakest(findings: Findings) -> str:
    weakest = max(findings.divisions, key=lambda division: division.p * division.is_accepted, default=None)
    if weakest is None or weakest.p < _CLEAR or findings.is_shared:
        return ""
    return f"Where this is least clear, {weakest.p_said}."


def _on_grades(findings: Findings) -> str:
    graded = [division for division in findings.divisions if division.is_accepted and not division.is_distinct]
    if not graded:
        return ""
    named = "; ".join(f"{division.number}: {division.title}" for division in graded[:_SHOWN])
    more = f"; {len(graded) - _SHOWN} more" if len(graded) > _SHOWN else ""
    return f"{ANY_SHAPE.capitalize()} explains division {named}{more}: the two may be degrees of one condition."


def _on_many(findings: Findings) -> Iterator[str]:
    if len(findings.sizes) > _MANY:
        yield (
            f"More than {_MANY} distinct subtypes can come from columns that are computed from others, or that depend "
            "on each other in a curved way; look for such columns first."
        )


def _on_small_ones(findings: Findings) -> Iterator[str]:
    named_before = [] if findings.is_shared else findings.untested
    sizes = {subtype: findings.shown_sizes[subtype] for subtype in findings.sizes if subtype not in named_before}
    small = [subtype for subtype, size in sizes.items() if size is not None and size < _SMALL]
    if small:
        named = ", ".join(findings.name(subtype) for subtype in small[:_SHOWN])
        more = f" and {len(small) - _SHOWN} more" if len(small) > _SHOWN else ""
        yield f"Fewer than {_SMALL} subjects ({named}{more}) may be unusual subjects rather than a subtype."


SHOWN = 3


def on_dominant_columns(findings: Findings) -> list[str]:
    """Return a sentence for each dominant column; a shared report names described levels with all counts shown."""
    if findings.dominant is None:
        return []
    rows = findings.dominant.to_dict("records")
    if findings.is_shared:
        rows = [row for row in rows if _follows_from_the_table(findings, row)]
    schema = findings.cohort.schema

    def title(name: str) -> str:
        return schema[name].title if name in schema else name

    return [f"{in_words(row, title, findings.name)} {_refit(row)}" for row in rows[:SHOWN]]


def column_in_words(findings: Findings) -> list[str]:
    """Return the first dominant column that may be named, in one short sentence; empty if there is none."""
    if findings.dominant is None:
        return []
    schema, rows = findings.cohort.schema, findings.dominant.to_dict("records")
    shown = [row for row in rows if not findings.is_shared or _follows_from_the_table(findings, row)]
    found = []
    for row in shown[:1]:
        columns = " and ".join(schema[name].title if name in schema else name for name in _names(row))
        what = "They are" if all(len(group) == 1 for group in row["groups"]) else "A division is"
        found.append(f"{what} nearly {columns}: right for {row['named_right']:.0%}.")
    return found


def in_words(row: dict[Any, Any], title: Callable[[str], str], name: Callable[[int], str]) -> str:
    """Return a row of `dominant_columns` as sentences, given the titles of columns and the names of subtypes."""
    columns = " and ".join(map(title, _names(row)))
    groups = row["groups"]
    is_whole = all(len(group) == 1 for group in groups)
    united = " | ".join(", ".join(map(name, group)) for group in groups)
    what, kind = ("These subtypes are", "subtype") if is_whole else (f"The division {united} is", "branch")
    alone = "both alone give" if len(_names(row)) > 1 else "it alone gives"
    right = f"{alone} {row['named_right']:.0%} of the subjects to their {kind} ({row['largest']:.0%} in the largest)"
    if row["told_by"] == "missing":
        more = f" (as {row['alike']} more columns)" if row["alike"] else ""
        return f"{what} nearly whether {columns} has a value{more}: {right}."
    if is_missing(row["others"]):
        return f"{what} nearly {columns}: {right}, though it was not clustered on; features follow it."
    others = f"all other features that were clustered on {1 - (1 - row['others']) * (1 - row['largest']):.0%} together"
    how = "hardly more than" if _is_alone(row) else "nearly"
    return f"{what} {how} {columns}: {right}, {others}."


def fit_without(row: dict[Any, Any]) -> tuple[str, list[str]]:
    """Return the option of a fit without the columns of a row: ``describe`` and names, or ``where`` and a condition."""
    if _is_alone(row):
        return "describe", _names(row)
    return "where", [] if is_missing(row["part"]) else [row["part"]]


def _names(row: dict[Any, Any]) -> list[str]:
    return [row["column"]] if is_missing(row["second"]) else [row["column"], row["second"]]


def _is_alone(row: dict[Any, Any]) -> bool:
    return bool(row["others"] < NEARLY)  # NaN of columns that were not clustered on


def _refit(row: dict[Any, Any]) -> str:
    how, given = fit_without(row)
    if how == "where":
        such_as = f", such as those where {given[0]}" if given else ""
        return f"To see what else there is, fit one part of the subjects at a time{such_as}."
    roles = dict.fromkeys(given, "describe")
    by_name = all(map(str.isidentifier, roles))
    in_python = ", ".join(f"{name}='describe'" for name in roles) if by_name else repr(roles)
    return f"To fit without: `role: describe` in the schema, or in Python schema.with_roles({in_python})."


def _follows_from_the_table(findings: Findings, row: dict[Any, Any]) -> bool:
    if findings.is_rounded or row["told_by"] != "value" or not is_missing(row["others"]):
        return False
    found = [feature for feature in findings.features if feature.name == row["column"]]
    return all(feature.traits.is_share and not findings.is_withheld(feature) for feature in found) and bool(found)
