"""What is said of a fit that its time limit has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clinclust.estimators.settings import Settings

__all__ = ["STOPPED_EARLY", "warning_of_early_stop"]

STOPPED_EARLY = "ended by its time limit with the best partition so far; a longer search may find a better one"
"""What readers of a report are told: "The search was ..."."""


def warning_of_early_stop(settings: Settings) -> str:
    """Return what whoever fitted the model is told."""
    path = "; the path of coarsenings may have ended too early" if settings.chooses_coarsening else ""
    return (
        f"The search was {STOPPED_EARLY}{path}. The limit (--max-seconds) was {settings.max_seconds:g} seconds. "
        "Allow more to see whether the subtypes change"
    )
