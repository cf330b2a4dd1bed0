"""Say of a column of repeated identifiers how many subjects have several rows, and which columns tell these apart."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from clinclust.drafting.column import observed
from clinclust.drafting.identifiers import REPEATED, proposal_of_repeated_identifier
from clinclust.drafting.names import looks_identifying, words_of
from clinclust.drafting.proposal import Proposal
from clinclust.files.column_notes import ColumnNotes
from clinclust.files.selection.repeated_subjects import RepeatedSubjects, repeated_subjects

__all__ = ["subjects_with_several_rows", "with_visits"]

_MOST = 0.5
_OF_SEVERAL = frozenset(
    words_of("""household haushalt hhid hogar foyer family familie famille familia famiglia couple paar pair twin twins
    zwilling litter dyad cluster school class village sibship pedigree donor""")
)
"""Words for what several subjects share: each of them is one."""


def with_visits(proposal: Proposal, frame: pd.DataFrame, name: str) -> Proposal:
    """Return the proposal for a column of a table; if its identifiers repeat, with what the other columns say of it."""
    found = repeated_subjects(frame, name) if proposal.reason == REPEATED else None
    return proposal if found is None else replace(proposal, looks=(found.sentence(),))


def subjects_with_several_rows(frame: pd.DataFrame) -> RepeatedSubjects | None:
    """Return the subjects of a table of visits; None if no column clearly names subjects with several rows.

    A name must say that it identifies subjects. Most subjects must have several rows, or another column tells the rows
    of each apart and speaks of visits, or all rows of a subject are copies of one.

    Examples
    --------
    >>> import pandas as pd
    >>> from clinclust.drafting.repeated_rows import subjects_with_several_rows
    >>> visits = pd.DataFrame({"patient_id": [f"P{i // 2}" for i in range(80)], "visit": ["1", "2"] * 40})
    >>> subjects_with_several_rows(visits).n_subjects
    40
    """
    for name in frame.columns[~frame.columns.duplicated(keep=False)]:
        if not looks_identifying(str(name)) or _OF_SEVERAL & set(words_of(str(name))):
            continue
        proposal = proposal_of_repeated_identifier(observed(str(name), frame[name], ColumnNotes()))
        if proposal is None:
            continue
        found = repeated_subjects(frame, str(name))
        if found is not None and (found.are_copies or (proposal.reason == REPEATED and _are_visits(found))):
            return found
    return None


def _are_visits(found: RepeatedSubjects) -> bool:
    return bool(found.visit_columns) or found.n_repeated > _MOST * found.n_subjects
