"""What the features of each block of the schema counted for in a search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from clinclust.estimators.subtype_model import parameters_of
from clinclust.reporting.layout import WITHHELD
from clinclust.reporting.sheets.words import listed

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit
    from clinclust.reporting.findings import Findings
    from clinclust.schema import Feature

__all__ = ["but_for_blocks", "sentences_on_blocks", "worth_of_blocks"]

_MOST_LISTED = 10


def worth_of_blocks(findings: Findings, fit: Fit) -> dict[str, str]:
    """Return a predicate for each block with several features clustered on, by name: "8 features count for 1.6".

    A shared report withholds what was chosen by the data: it follows from the values of all features of the block.
    """
    clustered = [feature for feature in fit.schema_.clustered if feature.name not in fit.uninformative_]
    sizes = Counter(feature.block for feature in clustered)
    is_secret = findings.is_shared and _are_chosen(findings)
    return {
        block: f"{sizes[block]} features count for " + (WITHHELD if is_secret else f"{power * sizes[block]:.1f}")
        for block, power in fit.block_weights_.items()
        if sizes[block] > 1
    }


def but_for_blocks(clustered: Iterable[Feature]) -> str:
    """Return which features the model does not take for independent; empty if there are none."""
    blocks = sorted({feature.block for feature in clustered if feature.traits.is_chained and feature.block is not None})
    return f", but for those of one multivariate Gaussian block ({listed(blocks)})" if blocks else ""


def sentences_on_blocks(findings: Findings, fit: Fit) -> Iterator[str]:
    """Yield the sentence of the methods section on blocks, if any counted for less than its features."""
    if not any(power < 1.0 for power in fit.block_weights_.values()):
        return
    worth = worth_of_blocks(findings, fit)
    told = [f"{block}, {counted}" for block, counted in worth.items()]
    if len(told) > _MOST_LISTED:
        told = [*told[:_MOST_LISTED], f"and {len(told) - _MOST_LISTED} more, listed in the summary"]
    how = (
        "a power that was taken from the dependence that the subtypes left between them"
        if _are_chosen(findings)
        else "a power that was set in advance"
    )
    yield (
        "Features that were declared as one block, because they depend on each other beyond the subtypes, did not "
        f"count as independent: the likelihood of each was raised to {how} ({'; '.join(told)})."
    )


def _are_chosen(findings: Findings) -> bool:
    """Return whether the search chose what blocks count for."""
    return bool(parameters_of(findings.model)["block_weights"] == "auto")
