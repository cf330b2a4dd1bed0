"""The first sheet of a report: what was run, what came out, and how to read the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from clinclust.reporting.findings import Findings, as_value
from clinclust.reporting.layout import Column, Sheet, Table, Value
from clinclust.reporting.provenance import data_fingerprint, software
from clinclust.reporting.tables import DESCRIPTIVE, certainty

__all__ = ["summary"]

_MISSING = "Values missing, of those clustered on (%)"
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
    "Agreement": "adjusted Rand index with the best restart: 1 = the same subtypes, 0 = as by chance",
}


def summary(findings: Findings, generated: datetime) -> Sheet:
    """Everything needed to know, and to repeat, what was run."""
    tables = [
        _what_was_run(findings, generated),
        _sizes(findings),
        _facts("How to read this report", ("Term", "Meaning"), _HOW_TO_READ),
        _restarts(findings),
        _facts("Software", ("Package", "Version"), software()),
        _features(findings),
    ]
    return Sheet("Summary", [DESCRIPTIVE], tables)


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
    joints = model.restarts_["log_joint"].to_numpy()
    facts: dict[str, Value] = {
        "Cohort": schema.title,
        "Subjects": len(findings.frame),
        "Features clustered on": len(clustered_on),
        "Features kept out": len(model.kept_out_),
        "Features described only": len(schema.described),
        "Values missing, of those clustered on (%)": as_value(100 * cells.isna().to_numpy().mean())
        if cells.size
        else None,
        "Subtypes found": as_value(model.n_clusters_),
        "Log joint (nats)": as_value(model.log_joint_),
        "Concentration": as_value(model.concentration_),
        "Random seed": as_value(model.random_seed_),
        "Restarts": len(joints),
        "Restarts within 1 nat of the best": int((joints >= joints.max() - 1).sum()) if len(joints) else 0,
        "Significance level": findings.significance_level,
        "Subtypes too small to test": ", ".join(untested) or "none",
        "Report written": f"{generated:%Y-%m-%d %H:%M %Z}".strip(),
        "Data fingerprint (SHA-256)": data_fingerprint(findings.frame),
        "Schema fingerprint (SHA-256)": schema.fingerprint,
    }
    decimals = {_MISSING: 1, "Log joint (nats)": 2}
    for name in ("Concentration", "Significance level"):
        decimals[name] = len(str(facts[name]).partition(".")[2])
    return _facts("What was run", ("Item", "Value"), facts, decimals)


def _sizes(findings: Findings) -> Table:
    columns = [
        Column("Subtype", "0"),
        Column("Subjects", "0"),
        Column("%", "0.0"),
        Column("Mean membership probability", "0.000"),
        *(Column(word, "0", ("Certainty (subjects)", "")) for word in ("clear", "likely", "uncertain")),
    ]
    labels = np.asarray(findings.model.labels_)
    own = np.asarray(findings.model.membership_)[np.arange(len(labels)), labels]
    rows: list[list[Value]] = []
    for subtype, size in findings.sizes.items():
        members = own[labels == subtype - 1].tolist()
        words = [certainty(probability) for probability in members]
        counts = [words.count(word) for word in ("clear", "likely", "uncertain")]
        rows.append([subtype, size, 100 * size / len(labels), float(np.mean(members)), *counts])
    return Table("Subtypes", columns, rows)


def _restarts(findings: Findings) -> Table:
    columns = [
        Column("Restart", "0"),
        Column("Start"),
        Column("Log joint (nats)", "0.00"),
        Column("Below the best (nats)", "0.00"),
        Column("Subtypes", "0"),
        Column("Sweeps", "0"),
        Column("Converged"),
        Column("Agreement with the best", "0.000"),
        Column("Seconds", "0.00"),
    ]
    restarts = findings.model.restarts_
    best = restarts["log_joint"].max()
    rows: list[list[Value]] = [
        [
            as_value(row["restart"]),
            str(row["start"]),
            as_value(row["log_joint"]),
            as_value(best - row["log_joint"]),
            as_value(row["n_clusters"]),
            as_value(row["sweeps"]),
            "yes" if row["converged"] else "no",
            as_value(row["ari_to_best"]),
            as_value(row["seconds"]),
        ]
        for row in restarts.to_dict("records")
    ]
    return Table("Restarts", columns, rows)


def _features(findings: Findings) -> Table:
    columns = [
        *(Column(title) for title in ("Feature", "Column", "Section", "Likelihood", "Clustered on")),
        Column("Prior, or why not clustered on", overflow=True),
    ]
    rows: list[list[Value]] = []
    for feature in findings.features:
        used = findings.clustered_on(feature)
        reason = findings.model.kept_out_.get(feature.name, "described only")
        prior = _prior_text(findings.model.hyperparameters_.get(feature.name, {}))
        identity = [feature.title, feature.name, feature.section, feature.likelihood]
        rows.append([*identity, "yes" if used else "no", prior if used else reason])
    return Table("Features", columns, rows)


def _prior_text(hyperparameters: Mapping[str, Any]) -> str | None:
    def written(value: float | Sequence[float]) -> str:
        return ", ".join(f"{number:.4g}" for number in np.atleast_1d(value))

    return "; ".join(f"{name} = {written(value)}" for name, value in hyperparameters.items()) or None
