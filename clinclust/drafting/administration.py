"""Columns that describe the hospital or the study are described, and no input for subtypes of patients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from clinclust.drafting.administration_names import (
    PLACE,
    is_comment_name,
    is_number_of,
    is_weight_name,
    what_it_describes,
)
from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.levels import proposal_of_codes
from clinclust.drafting.names import words_of
from clinclust.drafting.proposal import Proposal
from clinclust.drafting.unmodelled import could_be_postal_codes
from clinclust.drafting.yes_no import no_before_yes
from clinclust.likelihoods import traits_of

__all__ = ["set_aside"]

_MOST_LEVELS = 30
_ABOUT_READERS = ("label", "section", "description", "asked_if")
_NOT_THE_PATIENTS = ", which is not the patient's"
_UNDONE = "described only (write `role: cluster` to search for subtypes with it)"
_PLACES_OF_THE_BODY = """
    colon rectum rectal breast lung liver bone brain head neck arm leg foot hand hip knee shoulder trunk skin stomach
    kidney prostate ovary left right upper lower proximal distal abdomen thorax spine femur tibia oral larynx sinister
    links rechts pelvis thigh buttock deltoid axilla groin sigmoid caecum cecum"""
"""Words of levels that say that `site` is a place of the body."""
_TREATMENTS = "icd crt crtd crtp pacemaker lvad stent implant catheter pump insulin cpap bipap stimulator"
"""Words of levels that say that a device is that of the patient."""


def set_aside(proposal: Proposal, column: ObservedColumn) -> Proposal:
    """Return the proposal for a column, with the role that it has if it describes the hospital or the study.

    The label that the file gives the column counts like its name. A column of yes and no is kept as it is: whether
    there was a device, or a stay on a ward, is of the patient.
    """
    fields = proposal.fields
    if "role" in fields or "likelihood" not in fields:
        return proposal
    if is_comment_name(column.name) and not _is_answer(column) and not np.isfinite(column.numbers).all():
        return Proposal({**_kept(fields), "role": "ignore"}, "free text, by its name", proposal.looks)
    names = [name for name in (column.name, column.notes.label) if name]
    if any(map(is_weight_name, names)) and traits_of(fields["likelihood"]).is_continuous:
        return _described(fields, proposal.reason, "how the sample was drawn (a weight of sampling)")
    what = next((said for name in names if (said := what_it_describes(name)) is not None), None)
    known = column.without(list(fields.get("missing_codes", ())))
    if what == PLACE and not could_be_postal_codes(known):
        return proposal
    if what is None or _is_answer(column) or _is_of_the_patient(column):
        return proposal
    return _as_codes(proposal, column, what)


def _described(fields: dict[str, Any], reason: str, what: str) -> Proposal:
    return Proposal({**fields, "role": "describe"}, reason, (f"{_said(what)}; {_UNDONE}",))


def _said(what: str) -> str:
    return f"its name or label says {what}{_NOT_THE_PATIENTS}"


def _kept(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name in _ABOUT_READERS}


def _is_answer(column: ObservedColumn) -> bool:
    """Return whether a column holds 0 and 1, or words for no and yes."""
    if len(column.texts) != 2:
        return False
    return set(column.numbers.tolist()) == {0.0, 1.0} or no_before_yes(column.texts) is not None


def _is_of_the_patient(column: ObservedColumn) -> bool:
    """Return whether the values say that the name means something of the patient, or measure something."""
    said = {word for text in column.texts[:100] for word in words_of(text)}
    if said & {*_PLACES_OF_THE_BODY.split(), *_TREATMENTS.split()}:
        return True
    numbers = column.numbers[np.isfinite(column.numbers)]
    if (np.floor(numbers) != numbers).any():
        return True
    return len(numbers) == len(column.texts) > _MOST_LEVELS and not is_number_of(column.name)


def _as_codes(proposal: Proposal, column: ObservedColumn, what: str) -> Proposal:
    """Return the proposal of described levels without order, or of an ignored column if they are many."""
    fields = proposal.fields
    known = column.without(list(fields.get("missing_codes", ()))).merged(fields.get("synonyms", {}))
    numbers = known.numbers[np.isfinite(known.numbers)]
    if len(known.texts) > _MOST_LEVELS:
        return Proposal({**_kept(fields), "role": "ignore"}, f"{_said(what)}; {len(known.texts)} different values")
    is_nominal = "levels" in fields and not traits_of(fields["likelihood"]).is_scale
    if is_nominal or column.notes.reason or len(set(numbers.tolist())) < len(numbers):
        described = _described(fields, proposal.reason.partition("; if they have an order")[0], what)
        return replace(described, looks=(*described.looks, *proposal.looks))
    levels = list(fields.get("levels", ())) or _in_order(known)
    codes = proposal_of_codes(known, levels, f"{len(levels)} codes")
    kept = {name: value for name, value in fields.items() if name in (*_ABOUT_READERS, "missing_codes", "synonyms")}
    described = _described({**kept, **codes.fields}, f"{len(levels)} codes", what)
    return replace(described, looks=(*described.looks, *codes.looks))


def _in_order(column: ObservedColumn) -> list[str]:
    """Return the texts in the order of their numbers, or else of their letters."""
    if np.isfinite(column.numbers).all():
        return [column.texts[place] for place in np.argsort(column.numbers, kind="stable")]
    return sorted(column.texts)
