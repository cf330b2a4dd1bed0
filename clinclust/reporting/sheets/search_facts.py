"""The facts of the sheet Summary about a search: its settings, and results that are not withheld."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clinclust.estimators.fit import STOPPED_EARLY
from clinclust.reporting.findings import Findings, as_value
from clinclust.reporting.layout import WITHHELD, Value
from clinclust.reporting.sheets.blocks import worth_of_blocks

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit

__all__ = ["FILLED_JOINT", "search_facts"]

FILLED_JOINT = "Log joint with filled values (nats)"
"""What the joint of a completed table is called, where the search filled missing values with modes."""


def search_facts(findings: Findings, fit: Fit) -> dict[str, Value]:
    """Return the settings and results of the search by name.

    In a shared report, functions of all values are withheld: with them a reader could find the last unknown value by
    trial. So are the settings that were chosen by the data; and from the number of features with a relevance above 0
    would follow that of the features whose relevance is withheld.
    """
    if findings.is_rounded:
        return _settings(findings, fit)
    restarts, is_shared, filled = fit.restarts_, findings.is_shared, fit.completed_log_joint_
    refinements = restarts["start"].isin(("recombined", "perturbed"))
    n_relevant = int((fit.feature_relevance_ > 0.0).sum())
    return {
        "Log joint (nats)": WITHHELD if is_shared else as_value(fit.log_joint_),
        **({} if filled is None else {FILLED_JOINT: WITHHELD if is_shared else as_value(filled)}),
        "Concentration": findings.setting(fit, "concentration"),
        "Concentrations tried": len(fit.tuning_),
        "Discount": as_value(fit.discount_),
        "Coarsening": findings.setting(fit, "coarsening"),
        **{f"Block {block}": worth for block, worth in worth_of_blocks(findings, fit).items()},
        "Share of values expected to be outlying": as_value(fit.outlying_share_),
        "Values set aside as outlying": WITHHELD if is_shared else int(fit.outliers_.sum()),
        "Features with a relevance above 0 (descriptive)": WITHHELD if findings.withholds_evidence else n_relevant,
        "Random seed": as_value(fit.random_seed_),
        "Restarts": int((~refinements).sum()),
        "Recombinations and perturbations": int(refinements.sum()),
        **({"Search": STOPPED_EARLY} if fit.stopped_early_ else {}),
        "Partitions within 1 nat of the best": int(
            restarts["log_joint"].round(6)[restarts["log_joint"] >= restarts["log_joint"].max() - 1.0].nunique()
        ),
    }


def _settings(findings: Findings, fit: Fit) -> dict[str, Value]:
    """Return the settings that were given in advance; those that the search chose follow from exact counts."""
    return {
        "Concentration": findings.setting(fit, "concentration"),
        "Discount": as_value(fit.discount_),
        "Coarsening": findings.setting(fit, "coarsening"),
        "Share of values expected to be outlying": as_value(fit.outlying_share_),
        "Random seed": as_value(fit.random_seed_),
        **({"Search": STOPPED_EARLY} if fit.stopped_early_ else {}),
    }
