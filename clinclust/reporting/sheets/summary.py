"""The sheet Summary: settings and results of the run, and the terms of the report."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime

import numpy as np
import pandas as pd

from clinclust.estimators.fit import Fit
from clinclust.estimators.saving import software_versions
from clinclust.estimators.subtype_model import basis_of_membership
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WITHHELD, Column, Filled, Sheet, Table, Value, percent, tabulated
from clinclust.reporting.sheets.groups import (
    explained_marks,
    groups_found,
    number_asked_for,
    remark_cell,
    remark_column,
    unions_in_words,
)
from clinclust.reporting.sheets.run import (
    FILLED_JOINT,
    search_facts,
    sentences_on_rows,
    sentences_on_visits,
    worth_of_blocks,
)
from clinclust.reporting.sheets.subjects import certainty
from clinclust.reporting.sheets.subtypes import descriptive

_MISSING = "Values missing, of those clustered on (%)"
_PERHAPS = "Features that the subtypes may have been made from"
_MISSING_OF_GIVEN = "Values missing, of these features (%)"
_SETTINGS = ("Concentration", "Discount", "Coarsening", "Share of values expected to be outlying", "Significance level")
_MOST_PARTITIONS = 20
_UNTESTED = "Subtypes of few subjects, untested"
_NOT_FOR_SHARING = "Contains individual-level data (one row for each subject) and small numbers: not for sharing."
_HOW_TO_READ = {
    "Clustered on": "whether the feature took part in finding the subtypes",
    "Relevance": "how far the subtypes lie apart in the feature, in nats; descriptive: found in the same subjects, so "
    "that it can be large in a feature that no true groups differ in",
    "Probability, mean, SD": "of the observed values, as recorded; levels of a scale are scored 0, 1, 2, ...",
    "Welch's t-test, p": "unequal variances allowed, two-sided, not corrected for the number of tests; descriptive "
    "of features that the subtypes were found from",
    "Student's t-test": "the same, equal variances assumed",
    "q": "p after the Benjamini–Hochberg correction over all tests of that name in the report",
    "Standardised difference": "difference of the means divided by the root of the mean of both variances",
    "fewer than 2 values": "a subtype has too few observed values to be tested on this feature",
    "the same throughout": "every observed value of both subtypes is the same, so there is nothing to test",
    "infinite t": "each subtype holds one single value, and not the same one; t stays empty",
    "out of range": "values too large, or too close together, for double precision",
    "Membership probability": "of the subject's own subtype",
    "Agreement": "adjusted Rand index with the best partition: 1 = the same subtypes, 0 = as by chance",
    WITHHELD: "a number withheld because few subjects are behind it, or behind one that it would give away",
    "Coarsening (zeta)": "power of the likelihood; below 1 the data must say more for each subtype",
    "Block": "features of the schema that depend on each other beyond the subtypes, and so count for fewer features",
}
# Terms that occur only in the report of a MAP-DP search.
_OF_A_SEARCH = ("Relevance", "Agreement", "Coarsening (zeta)", "Block")


def summary(findings: Findings, generated: datetime) -> Sheet:
    """Return the sheet: everything that is needed to describe and to repeat the run."""
    fit = findings.fit
    tables = [
        _what_was_run(findings, generated),
        *([_sizes(findings)] if len(findings.sizes) > 1 else []),
        _facts("How to read this report", ("Term", "Meaning"), _terms(findings)),
        *([] if fit is None or findings.is_rounded else [_partitions(findings, fit)]),
        _facts("Software", ("Package", "Version"), software_versions()),
    ]
    given = [] if fit is not None else [given_subtypes(findings)]
    on_rows = [*sentences_on_visits(findings), on_sharing(findings), *sentences_on_rows(findings)]
    return Sheet("Summary", [*on_rows, *given, descriptive(findings), *explained_marks(findings)], tables)


def given_subtypes(findings: Findings) -> str:
    """Return who or what made given subtypes, and the parts that the report therefore leaves out."""
    lacking = ["the relevance of the features", "the searches and how far they agree", "the tree of the subtypes"]
    if findings.cohort.model.membership_ is None:
        lacking.insert(0, "the certainty of each subject's subtype")
    return (
        f"These subtypes were given: they were made by {findings.cohort.model.made_by}. The parts that need a MAP-DP "
        f"search are left out: {', '.join(lacking)}, the hyperparameters and the settings of the model."
    )


def _terms(findings: Findings) -> dict[str, Value]:
    """Return the terms that occur in this report, with their meanings."""
    if findings.is_rounded:
        return {
            "Clustered on": "whether the schema asks that the feature take part in finding the subtypes",
            **{term: _HOW_TO_READ[term] for term in ("Probability, mean, SD", WITHHELD)},
        }
    terms: dict[str, Value] = dict(_HOW_TO_READ)
    if findings.fit is None:
        terms["Clustered on"] = "perhaps: the subtypes may have been made from the feature; no: it had no part in them"
        for term in _OF_A_SEARCH:
            del terms[term]
    elif not worth_of_blocks(findings, findings.fit):
        del terms["Block"]
    if findings.is_shared:
        terms.pop("Agreement", None)
    if findings.own_membership is None:
        del terms["Membership probability"]
    else:
        terms["Membership probability"] = f"of the subject's own subtype, {basis_of_membership(findings.cohort.model)}"
    return terms


def on_sharing(findings: Findings) -> str:
    """Return a sentence on whether the report may be shared, and on what is withheld in it."""
    rule = findings.rule
    if rule is None:
        return _NOT_FOR_SHARING
    if rule.rounding is not None:
        return (
            f"Numbers rounded: every count to a multiple of {rule.rounding}, and percentages computed from these. "
            f"Tests and other functions of exact counts are left out, or withheld and shown as {WITHHELD} "
            "(confidential). Nothing is reported of single subjects."
        )
    return (
        f"Small numbers withheld: counts below {rule.threshold}, the counts from which they could be computed, and "
        f"tests and other numbers made from them. They are shown as {WITHHELD} (confidential). Nothing is reported of "
        "single subjects."
    )


def _facts(
    caption: str, titles: tuple[str, str], facts: Mapping[str, Value], decimals: Mapping[str, int] | None = None
) -> Table:
    columns = [Column(titles[0]), Column(titles[1], "measure", overflow=True)]
    places = [(decimals or {}).get(name, 0) for name in facts]
    return Table(caption, columns, list(facts.items()), decimals=places)


def _what_was_run(findings: Findings, generated: datetime) -> Table:
    schema = findings.cohort.schema
    fit, (n_missing, n_values) = findings.fit, findings.n_missing
    # In a shared report it would disclose the numbers withheld.
    missing = WITHHELD if findings.is_shared else percent(n_missing, n_values) if n_values else None
    n_uninformative = sum(name in fit.schema_ for name in fit.uninformative_) if fit else 0
    facts: dict[str, Value] = {
        "Cohort": schema.title,
        "Subjects": findings.n_subjects,
        "Features clustered on" if fit else _PERHAPS: len(findings.clustered),
        **({"Features uninformative": n_uninformative} if fit and not findings.is_rounded else {}),
        "Features only described": len(schema.described),
        _MISSING if fit else _MISSING_OF_GIVEN: missing,
        **_how_many(findings),
        **({} if fit else {"Subtypes made by": findings.cohort.model.made_by}),
        **(search_facts(findings, fit) if fit else {}),
        **({} if findings.is_rounded else {"Significance level": findings.significance_level}),
        **({} if findings.is_shared else {_UNTESTED: ", ".join(map(str, findings.untested)) or "none"}),
        "Report written": f"{generated:%Y-%m-%d %H:%M %Z}".strip(),
        "Data fingerprint (SHA-256)": WITHHELD if findings.is_shared else data_fingerprint(findings.cohort.table),
        # Either fingerprint would confirm a right guess of what is withheld.
        "Schema fingerprint (SHA-256)": WITHHELD if findings.is_shared else schema.fingerprint,
    }
    decimals = {_MISSING: 1, _MISSING_OF_GIVEN: 1, "Log joint (nats)": 2}
    for name in (name for name in _SETTINGS if facts.get(name, WITHHELD) != WITHHELD):
        decimals[name] = min(len(f"{facts[name]:g}".partition(".")[2]), 6)
    return _facts("What was run", ("Item", "Value"), facts, decimals)


def _how_many(findings: Findings) -> dict[str, Value]:
    n = len(findings.sizes)
    if findings.fit is None:
        return {"Subtypes given": n}
    n_groups, n_asked = groups_found(findings.fit), number_asked_for(findings)
    if n_groups is None:
        return {"Subtypes found": n, **({} if n_asked is None else {"Subtypes asked for": n_asked})}
    return {"Number of subtypes": f"{n}{unions_in_words(findings)}", "Groups found by the search": n_groups}


def _sizes(findings: Findings) -> Table:
    columns = [Column("Subtype"), Column("Subjects", "0"), Column("%", "0.0")]
    labels, own = findings.cohort.labels, findings.own_membership
    certainties = () if own is None or findings.is_shared else ("clear", "likely", "uncertain")
    if own is not None:
        columns.append(Column("Mean membership probability", "0.000"))
    columns += [Column(word, "0", (f"Certainty (subjects{findings.of_the_sample})", "")) for word in certainties]
    columns += remark_column(findings)
    rows: list[list[Value]] = []
    for subtype in findings.sizes:
        size = findings.shown_sizes[subtype]
        how_sure: list[Value] = []
        if own is not None:
            members = own[labels == subtype - 1].tolist()
            words = [certainty(probability) for probability in members]
            how_sure = [WITHHELD if size is None else float(np.mean(members)), *map(words.count, certainties)]
        rows.append([findings.name(subtype), *findings.size_cells(subtype), *how_sure, *remark_cell(findings, subtype)])
    return Table("Subtypes", columns, rows)


def _partitions(findings: Findings, fit: Fit) -> Table:
    # Searches with equal log joints (to 6 decimals) count as the same partition.
    restarts = fit.restarts_.sort_values("log_joint", ascending=False, kind="stable")
    searches = restarts.assign(joint=restarts["log_joint"].round(6)).groupby("joint", sort=False)
    found = searches.first().assign(times=searches.size(), converged=searches["converged"].any())
    joint = "Log joint (nats)" if fit.completed_log_joint_ is None else FILLED_JOINT
    columns: list[Filled] = [
        (Column("Partition", "0"), "rank"),
        (Column("Searches that ended there", "0"), "times"),
        (Column("Start of the first"), "start"),
        (Column(joint, "0.00"), lambda row: WITHHELD if findings.is_shared else row["log_joint"]),
        (Column("Below the best (nats)", "0.00"), lambda row: restarts["log_joint"].max() - row["log_joint"]),
        (Column("Subtypes" if groups_found(fit) is None else "Groups", "0"), "n_clusters"),
        (Column("Converged"), lambda row: "yes" if row["converged"] else "no"),
        (Column("Agreement with the best", "0.000"), "ari_to_best"),
    ]
    some = f" ({_MOST_PARTITIONS} of {len(found)})" if len(found) > _MOST_PARTITIONS else ""
    ranked = found.assign(rank=range(1, len(found) + 1)).head(_MOST_PARTITIONS)
    return tabulated(f"Partitions found, the best first{some}", ranked, columns)


def data_fingerprint(frame: pd.DataFrame) -> str:
    """Return the SHA-256 (hex) of the columns of a validated frame: names, types and values in order, without index."""
    import pandas as pd

    digest = hashlib.sha256()
    for name, column in frame.items():
        digest.update(f"{name!r} {column.dtype}\n".encode())
        digest.update(pd.util.hash_pandas_object(column, index=False).to_numpy().tobytes())
    return digest.hexdigest()
