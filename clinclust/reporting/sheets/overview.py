"""The section Overview of a page: number, sizes and characteristic features of the subtypes, and their certainty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clinclust.comparisons.decimals import decimals_for
from clinclust.estimators.membership import CLEAR, own_membership
from clinclust.estimators.stopped_early import STOPPED_EARLY
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WITHHELD, Column, Sheet, Table, Value, number_text
from clinclust.reporting.profiles import Profiles, profiles_of
from clinclust.reporting.sheets.caution import cautions
from clinclust.reporting.sheets.continuum import continuum_table, on_continuum_score
from clinclust.reporting.sheets.divisions import divisions_table, on_the_test, verdict
from clinclust.reporting.sheets.few_subjects import on_few_subjects, on_merged_groups, remark_cell, remark_column
from clinclust.reporting.sheets.rows import sentences_on_rows, sentences_on_visits
from clinclust.reporting.sheets.summary import given_subtypes
from clinclust.reporting.sheets.unions import groups_found, unions_in_words

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit

__all__ = ["overview", "searches_sentence"]

_MARKS = 3
_LEAST_MARK = 0.25  # SDs; a feature with a smaller difference is not named


def overview(findings: Findings) -> Sheet:
    """Return the first section of a page: sentences about the partition, and a table with a row for each subtype."""
    profiles = profiles_of(findings.comparisons)
    shared = findings.is_shared
    labels, own = np.asarray(findings.model.labels_), own_membership(findings.model)
    with_clear = own is not None and not shared
    columns = [
        Column("Subtype"),
        Column("Subjects", "0"),
        Column("%", "0.0"),
        Column("Higher than in all subjects"),
        Column("Lower than in all subjects"),
        *([] if own is None else [Column("Mean membership probability", "0.00")]),
        *([Column("Clear members (%)", "0")] if with_clear else []),
        *remark_column(findings),
    ]
    rows: list[list[Value]] = []
    for place, subtype in enumerate(profiles.subtypes):
        size = findings.shown_sizes[subtype]
        how_many: list[Value] = [WITHHELD, WITHHELD] if size is None else [size, 100 * size / labels.size]
        how_sure: list[Value] = []
        if own is not None:
            members = own[labels == subtype - 1]
            how_sure.append(WITHHELD if size is None else float(members.mean()))
            if with_clear:
                how_sure.append(100 * float((members >= CLEAR).mean()))
        marks = _marks(findings, profiles, place)
        rows.append([findings.name(subtype), *how_many, *marks, *how_sure, *remark_cell(findings, subtype)])
    table = Table("The subtypes at a glance", columns, rows)
    tables = [table, *divisions_table(findings), *continuum_table(findings)]
    explanations = [_how_to_read(findings), *on_the_test(findings)]
    return Sheet("Overview", _statements(findings), tables, explanations=explanations)


def _statements(findings: Findings) -> list[str]:
    fit, frame = findings.fit, findings.frame
    clustered_on = [feature.name for feature in findings.features if findings.clustered_on(feature)]
    missing = 100 * float(frame[clustered_on].isna().to_numpy().mean()) if clustered_on else 0.0
    some = "some" if findings.is_shared else f"{missing:.1f}%"
    many = len(findings.sizes) > 1
    found = f"{len(findings.sizes)} subtypes" if many else "one group, no subtypes"
    if fit is None:
        made_from = f"{len(clustered_on)} features that they may have been made from"
        missing_of_these = f" ({some} of their values are missing)" if clustered_on else ""
        statements = [
            f"Given: {found}, among {len(frame):,} subjects; {made_from}{missing_of_these}.",
            given_subtypes(findings),
        ]
    else:
        relevant = int((fit.feature_relevance_ > 0).sum())
        differ = (
            f" The subtypes differ in {relevant} of them; they were found from these features, so this is no test."
            if many
            else ""
        )
        statements = [
            f"Found: {found}{unions_in_words(findings)}, among {len(frame):,} subjects, from {len(clustered_on)} "
            f"features ({some} of their values are missing).{differ}",
            searches_sentence(fit),
            *([f"The search was {STOPPED_EARLY}."] if fit.stopped_early_ else []),
            *cautions(findings),
        ]
    small = [*on_merged_groups(findings), *on_few_subjects(findings)]
    first = [*verdict(findings), *small, *on_continuum_score(findings), *sentences_on_rows(findings)]
    statements = [*sentences_on_visits(findings), statements[0], *first, *statements[1:]]
    if findings.is_shared:
        statements.append("Made to be shared: numbers that few subjects are behind are withheld ([c]).")
    return statements


def _how_to_read(findings: Findings) -> str:
    with_clear = findings.model.membership_ is not None and not findings.is_shared
    clear = " Clear: a membership probability of 0.95 or more." if with_clear else ""
    how_sure = (
        " Membership probability: how sure the model is of the subtype of each subject; where features depend on each "
        "other inside subtypes, it is too sure."
        if findings.model.membership_ is not None
        else ""
    )
    of_those = "" if findings.fit is None else " of those in which the subtypes differ,"
    return (
        f"After each feature stands its mean or share in the subtype, and in parentheses that in all subjects. At most "
        f"{_MARKS} are named,{of_those} the farthest from all subjects in standard deviations first.{how_sure}{clear}"
    )


def searches_sentence(fit: Fit) -> str:
    """Return a sentence on how many searches ended at the best partition, and how near the next best partition is."""
    restarts, is_merged = fit.restarts_, groups_found(fit) is not None
    these = "the groups that these subtypes are made of" if is_merged else "these subtypes"
    same = "groups" if is_merged else "subtypes"
    joint = restarts["log_joint"].round(6)
    at_best = int((joint == joint.max()).sum())
    ended = f"{at_best} of {len(joint)} searches ended at {these}"
    others = restarts[joint < joint.max()]
    if others.empty:
        return f"{ended}."
    second = others.sort_values("log_joint", ascending=False, kind="stable").iloc[0]
    below = restarts["log_joint"].max() - second["log_joint"]
    nats = f"{below:,.0f}" if below >= 10 else f"{below:.1g}" if below < 0.1 else f"{below:.1f}"
    return (
        f"{ended}; the next best lies {nats} nats below it (1 nat: 2.7 times less probable) and agrees with it "
        f"to {second['ari_to_best']:.2f} (adjusted Rand index: 1 = the same {same}, 0 = as by chance)."
    )


def _marks(findings: Findings, profiles: Profiles, place: int) -> list[str]:
    """Return two texts: the features in which a subtype is farthest above all subjects, and farthest below."""
    standardised = profiles.standardised[:, place]
    # Without a search there is no evidence whether a difference is due to chance, so every feature is a candidate.
    relevance = None if findings.fit is None else findings.fit.feature_relevance_.to_dict()
    candidates = [
        row
        for row, feature in enumerate(profiles.features)
        if (relevance is None or relevance.get(feature, 0.0) > 0) and abs(standardised[row]) >= _LEAST_MARK
    ]
    texts = []
    for sign in (1.0, -1.0):
        best: dict[str, int] = {}  # the row of each feature with the largest difference
        for row in sorted(candidates, key=lambda row: -sign * standardised[row]):
            if sign * standardised[row] > 0:
                best.setdefault(profiles.features[row], row)
        texts.append("; ".join(_mark(findings, profiles, row, place) for row in [*best.values()][:_MARKS]) or "–")
    return texts


def _mark(findings: Findings, profiles: Profiles, row: int, place: int) -> str:
    feature = findings.model.schema_[profiles.features[row]]
    inside, overall = profiles.mean[row, place + 1], profiles.mean[row, 0]
    if feature.traits.is_share:
        return f"{profiles.titles[row]}: {100 * inside:.0f}% ({100 * overall:.0f}%)"
    decimals = max(decimals_for(profiles.sd[row, 0]) - 1, 0)
    unit = f" {feature.unit}" if feature.unit else ""
    if feature.range_text is not None:
        unit = f" on {feature.range_text}"
    here, everywhere = (number_text(float(value), "measure", decimals) for value in (inside, overall))
    return f"{profiles.titles[row]}: {here}{unit} ({everywhere})"
