"""The figure of a tree that was tested, with its title, caption and alternative text."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from clinclust.reporting import figures
from clinclust.reporting.page.illustration import Illustration
from clinclust.reporting.sheets.divisions import evidence_in_words

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit
    from clinclust.reporting.findings import Findings

__all__ = ["tested_tree"]


def tested_tree(findings: Findings) -> list[Illustration]:
    """Return the figure of the tree, if it was tested and may be shown; none in a shared report.

    It shows sizes of parts of subtypes, which the rule of shared reports does not protect, and evidence, which is a
    function of all counts.
    """
    fit = findings.fit
    if fit is None or findings.is_shared or not findings.divisions:
        return []
    return [
        Illustration(
            "tree",
            "Which divisions are more than a continuum",
            "Left: the groups that the search found, with their sizes, and how they make up subtypes; thick lines part "
            "distinct sides. Right: the evidence for each division (diamond; filled if the sides are distinct) beside "
            "what one continuous population gives (mean, and a bar from 2 SDs below to 2 SDs above it). A diamond far "
            "to the right of the bar speaks for distinct sides. One close to its end need not: p allows for the best "
            "of several numbers of parts having been taken.",
            _told(findings, fit),
            partial(
                figures.plot_tree, findings.model, names={subtype: findings.name(subtype) for subtype in findings.sizes}
            ),
        )
    ]


def _told(findings: Findings, fit: Fit) -> str:
    divisions = "; ".join(map(evidence_in_words, findings.divisions))
    return (
        f"Tree of {fit.tree_.n_subtypes} groups in {len(findings.sizes)} "
        f"subtype{'' if len(findings.sizes) == 1 else 's'}. Divisions tested, from the root: {divisions}."
    )
