"""The first sheet of a report: what was run, what came out, and how to read the rest."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import numpy as np

from clinclust.estimators.versions import software_versions
from clinclust.reporting.findings import Findings, as_value
from clinclust.reporting.layout import WITHHELD, Column, Sheet, Table, Value
from clinclust.reporting.provenance import data_fingerprint
from clinclust.reporting.sheets.tables import DESCRIPTIVE, certainty

__all__ = ["summary"]

_MISSING = "Values missing, of those clustered on (%)"
_SETTINGS = (
    "Concentration",
    "Discount",
    "Coarsening",
    "Share of values expected to be outlying",
    "Significance level",
)
_MOST_PARTITIONS = 20
_NOT_FOR_SHARING = "Contains individual-level data (one row for each subject) and small numbers: not for sharing."
# What is computed from all values together, so that the last one unknown could be found by trying.
_OF_ALL_VALUES = (_MISSING, "Log joint (nats)", "Values set aside as outlying", "Data fingerprint (SHA-256)")
_HOW_TO_READ = {
    "Clustered on": "whether the feature took part in finding the subtypes",
    "Relevance": "evidence in nats that the feature differs between subtypes; below 0 it speaks against",
    "Probability, mean, SD": "of the observed values, as recorded; levels of a scale are scored 0, 1, 2, ...",
    "Student's t-test, p": "equal variances assumed, two-sided, not corrected for the number of tests",
    "Welch's t-test": "the same without assuming equal variances",
    "q": "p after the Benjamini–Hochberg correction over all tests of that name in the report",
    "Standardised difference": "difference of the means divided by the root of the mean of both variances",
    "fewer than 2 values": "a subtype has too few observed values to be tested on this feature",
    "the same throughout": "every observed value of both subtypes is the same, so there is nothing to test",
    "infinite t": "each subtype holds one single value, and not the same one; t stays empty",
    "out of range": "values too large, or too close together, for double precision",
    "Membership probability": "of the subject's own subtype, given all other subjects",
    "Agreement": "adjusted Rand index with the best partition: 1 = the same subtypes, 0 = as by chance",
    WITHHELD: "a number withheld because few subjects are behind it, or behind one that it would give away",
    "Coarsening (zeta)": "power of the likelihood; below 1 the data must say more for each subtype",
}


def summary(findings: Findings, generated: datetime) -> Sheet:
    """Everything needed to know, and to repeat, what was run."""
    tables = [
        _what_was_run(findings, generated),
        _sizes(findings),
        _facts("How to read this report", ("Term", "Meaning"), _HOW_TO_READ),
        _partitions(findings),
        _facts("Software", ("Package", "Version"), software_versions()),
    ]
    return Sheet("Summary", [_sharing(findings), DESCRIPTIVE], tables)


def _sharing(findings: Findings) -> str:
    """Whether the report may leave the analyst's hands."""
    threshold = findings.withheld_below
    if threshold is None:
        return _NOT_FOR_SHARING
    return (
        f"Small numbers withheld: counts below {threshold}, the counts from which they could be computed, and tests "
        f"and other numbers made from them. They are shown as {WITHHELD} (confidential). Nothing is reported of single "
        "subjects."
    )


def _facts(
    caption: str,
    titles: tuple[str, str],
    facts: Mapping[str, Value],
    decimals: Mapping[str, int] | None = None,
) -> Table:
    columns = [Column(titles[0]), Column(titles[1], "measure", overflow=True)]
    places = [(decimals or {}).get(name, 0) for name in facts]
    return Table(caption, columns, list(facts.items()), decimals=places)


def _what_was_run(findings: Findings, generated: datetime) -> Table:
    model, schema = findings.model, findings.model.schema_
    clustered_on = [feature for feature in findings.features if findings.clustered_on(feature)]
    cells = findings.frame[[feature.name for feature in clustered_on]]
    untested = [str(subtype) for subtype in findings.sizes if subtype not in findings.compared]
    restarts = model.restarts_
    refinements = restarts["start"].isin(("recombined", "perturbed"))
    facts: dict[str, Value] = {
        "Cohort": schema.title,
        "Subjects": len(findings.frame),
        "Features clustered on": len(clustered_on),
        "Features kept out": len(model.kept_out_),
        "Features described only": len(schema.described),
        _MISSING: as_value(100 * cells.isna().to_numpy().mean()) if cells.size else None,
        "Subtypes found": as_value(model.n_clusters_),
        "Log joint (nats)": as_value(model.log_joint_),
        "Concentration": as_value(model.concentration_),
        "Concentrations tried": len(model.tuning_),
        "Discount": as_value(model.discount_),
        "Coarsening": as_value(model.coarsening_),
        "Share of values expected to be outlying": as_value(model.outlying_share_),
        "Values set aside as outlying": int(model.outlying_.sum()),
        "Features with evidence of a difference": int((model.feature_relevance_ > 0.0).sum()),
        "Random seed": as_value(model.random_seed_),
        "Restarts": int((~refinements).sum()),
        "Recombinations and perturbations": int(refinements.sum()),
        "Partitions within 1 nat of the best": int(
            restarts["log_joint"].round(6)[restarts["log_joint"] >= model.log_joint_ - 1.0].nunique()
        ),
        "Significance level": findings.significance_level,
        "Subtypes too small to test": ", ".join(untested) or "none",
        "Report written": f"{generated:%Y-%m-%d %H:%M %Z}".strip(),
        "Data fingerprint (SHA-256)": data_fingerprint(findings.frame),
        "Schema fingerprint (SHA-256)": schema.fingerprint,
    }
    if findings.withheld_below is not None:
        facts |= dict.fromkeys(_OF_ALL_VALUES, WITHHELD)
        del facts["Subtypes too small to test"]
    decimals = {_MISSING: 1, "Log joint (nats)": 2}
    for name in _SETTINGS:
        decimals[name] = min(len(f"{facts[name]:g}".partition(".")[2]), 6)
    return _facts("What was run", ("Item", "Value"), facts, decimals)


def _sizes(findings: Findings) -> Table:
    columns = [
        Column("Subtype"),
        Column("Subjects", "0"),
        Column("%", "0.0"),
        Column("Mean membership probability", "0.000"),
    ]
    certainties = () if findings.withheld_below is not None else ("clear", "likely", "uncertain")
    columns += [Column(word, "0", ("Certainty (subjects)", "")) for word in certainties]
    labels = np.asarray(findings.model.labels_)
    own = np.asarray(findings.model.membership_)[np.arange(len(labels)), labels]
    rows: list[list[Value]] = []
    for subtype in findings.sizes:
        size = findings.shown_sizes[subtype]
        if size is None:
            rows.append([findings.name(subtype), WITHHELD, WITHHELD, WITHHELD])
            continue
        members = own[labels == subtype - 1].tolist()
        words = [certainty(probability) for probability in members]
        counts = [words.count(word) for word in certainties]
        rows.append([findings.name(subtype), size, 100 * size / len(labels), float(np.mean(members)), *counts])
    return Table("Subtypes", columns, rows)


def _partitions(findings: Findings) -> Table:
    """Every partition that a search ended at, so that near ties are visible; those of equal joint are one."""
    columns = [
        Column("Partition", "0"),
        Column("Searches that ended there", "0"),
        Column("Start of the first"),
        Column("Log joint (nats)", "0.00"),
        Column("Below the best (nats)", "0.00"),
        Column("Subtypes", "0"),
        Column("Converged"),
        Column("Agreement with the best", "0.000"),
    ]
    restarts = findings.model.restarts_.sort_values("log_joint", ascending=False, kind="stable")
    searches = restarts.assign(joint=restarts["log_joint"].round(6)).groupby("joint", sort=False)
    found = searches.first().assign(times=searches.size(), converged=searches["converged"].any())
    best = restarts["log_joint"].max()
    rows: list[list[Value]] = [
        [
            rank,
            as_value(row["times"]),
            str(row["start"]),
            as_value(row["log_joint"]) if findings.withheld_below is None else WITHHELD,
            as_value(best - row["log_joint"]),
            as_value(row["n_clusters"]),
            "yes" if row["converged"] else "no",
            as_value(row["ari_to_best"]),
        ]
        for rank, row in enumerate(found.to_dict("records"), start=1)
    ]
    caption = "Partitions found, the best first"
    if len(rows) > _MOST_PARTITIONS:
        caption += f" ({_MOST_PARTITIONS} of {len(rows)})"
    return Table(caption, columns, rows[:_MOST_PARTITIONS])
