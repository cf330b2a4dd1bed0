"""Say of a column of repeated identifiers how many subjects have several rows, and which columns tell these apart."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from clinclust.drafting.identifiers import REPEATED
from clinclust.drafting.proposal import Proposal
from clinclust.files.selection.repeated_subjects import repeated_subjects

__all__ = ["with_visits"]


def with_visits(proposal: Proposal, frame: pd.DataFrame, name: str) -> Proposal:
    """Return the proposal for a column of a table; if its identifiers repeat, with what the other columns say of it."""
    found = repeated_subjects(frame, name) if proposal.reason == REPEATED else None
    return proposal if found is None else replace(proposal, looks=(found.sentence(),))
