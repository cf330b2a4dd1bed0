"""Propose a feature schema for a table, with a reason for each feature."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from clinclust.drafting.column import ObservedColumn, observed
from clinclust.drafting.levels import proposal_of_texts, two_levels
from clinclust.drafting.measurements import proposal_of_numbers
from clinclust.drafting.missing_codes import missing_words, odd_texts, outlying_codes, quoted
from clinclust.drafting.proposal import Proposal, joined
from clinclust.drafting.sections import sections_of
from clinclust.drafting.spellings import one_spelling
from clinclust.drafting.units import odd_numbers
from clinclust.drafting.unmodelled import unmodelled
from clinclust.drafting.whole_numbers import are_whole, proposal_of_whole_numbers
from clinclust.drafting.written_numbers import WrittenNumbers, written_numbers
from clinclust.errors import CohortError, SchemaError
from clinclust.files.column_notes import ColumnNotes, notes_of
from clinclust.schema.as_written import BEYOND_A_LIMIT
from clinclust.schema.failures import Failure, failures_frame
from clinclust.schema.feature import Feature
from clinclust.schema.feature_schema import FeatureSchema
from clinclust.schema.reading import read_column
from clinclust.schema.validation import refuse_unusable

__all__ = ["draft_schema"]


def draft_schema(frame: pd.DataFrame) -> FeatureSchema:
    """Propose a schema for a table, as a starting point to read and correct. The table is valid under it.

    Parameters
    ----------
    frame : pandas.DataFrame, shape (N, D)
        One row per subject, as text (from `read_cohort`) or typed.

    Returns
    -------
    FeatureSchema
        One feature per column. What deserves a look comes first, then what is less clear, then the rest in the order
        of the table. The attribute `comments` holds the reason for each, which `to_yaml` writes above the feature.
        Likelihoods are compared by the log marginal of all subjects in one cluster.

    Raises
    ------
    TypeError
        If `frame` is not a DataFrame.
    CohortError
        If the table has no rows or no columns, or if a column name is empty, repeated or not text.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> gait = np.random.default_rng(0).normal(1.1, 0.2, 100)
    >>> cohort = pd.DataFrame({"sex": ["f", "m"] * 50, "gait": gait})
    >>> schema = cc.draft_schema(cohort)
    >>> [(feature.name, feature.likelihood) for feature in schema.features]
    [('gait', 'gaussian'), ('sex', 'bernoulli')]
    >>> schema.comments["sex"]
    "two values, of which 'm' counts as yes (swap the levels to change that)"
    """
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"frame: draft_schema needs a pandas DataFrame, not {type(frame).__name__}")
    refuse_unusable(frame)
    _refuse_names(frame)
    notes = notes_of(frame)
    drafted = []
    with np.errstate(all="ignore"):  # numbers may be of any size; a log marginal that is not finite is never chosen
        for name in frame.columns:
            drafted.append(_draft(observed(str(name), frame[name], notes.get(name, ColumnNotes())), frame[name]))
    drafted.sort(key=lambda pair: _place(pair[1]))
    drafted = _with_sections(drafted)
    schema = FeatureSchema([feature for feature, _ in drafted])
    schema.comments.update({feature.name: proposal.comment() for feature, proposal in drafted})
    return schema


def _with_sections(drafted: list[tuple[Feature, Proposal]]) -> list[tuple[Feature, Proposal]]:
    """Give a section to the modelled features whose names begin alike, unless the file names sections itself."""
    modelled = [feature.name for feature, _ in drafted if feature.likelihood is not None]
    if any(feature.section for feature, _ in drafted):
        return drafted
    sections = sections_of(modelled)
    return [
        (Feature(**{**feature.content(), "section": sections[feature.name]}), proposal)
        if feature.name in sections
        else (feature, proposal)
        for feature, proposal in drafted
    ]


def _refuse_names(frame: pd.DataFrame) -> None:
    failures = []
    if frame.columns.empty:
        repair = "Check how the file was read."
        failures.append(Failure("the table", "at least one column; it has none", repair=repair))
    repeated = set(frame.columns[frame.columns.duplicated()])
    for name in dict.fromkeys(frame.columns):
        if not isinstance(name, str) or not name.strip():
            repair = "Give it a name of letters in the first row of the table."
            failures.append(Failure(str(name), "a column name that is text", repair=repair))
        elif name in repeated:
            repair = "Rename or drop all but one of them."
            failures.append(Failure(name, "one column of this name", repair=repair))
    if failures:
        raise CohortError(failures_frame(failures))


def _place(proposal: Proposal) -> int:
    """Return the place of a feature in the file: looks first, unclear choices next, what is not modelled last."""
    if proposal.looks:
        return 0
    if proposal.fields.get("role") in ("id", "ignore"):
        return 3
    return 2 if proposal.is_clear else 1


def _draft(column: ObservedColumn, cells: pd.Series) -> tuple[Feature, Proposal]:
    """Return the feature of a column and the proposal that it follows from."""
    proposal = _propose(column)
    try:
        feature = Feature(name=column.name, **proposal.fields)
        codes = ("", *feature.missing_codes)
        sound = feature.role == "ignore" or not read_column(feature, codes, cells).faults
    except SchemaError as error:
        if "name" in [field for field, _ in getattr(error, "by_field", [])]:
            raise
        sound = False
    if sound:
        return feature, proposal
    reason = f"no likelihood can read this column as it is ({proposal.reason})"
    return Feature(name=column.name, role="ignore"), Proposal({"role": "ignore"}, reason)


def _propose(column: ObservedColumn) -> Proposal:
    """Return the proposal for a column: first what is missing in it, then what its other texts are."""
    codes = [code for code in column.notes.missing_codes if code in column.texts]
    codes += [code for code in missing_words(column) if code not in codes]
    reasons = [f"{quoted(codes)} taken for missing"] if codes else []
    known = column.without(codes)
    aside = unmodelled(known)
    if aside is not None:
        return replace(aside, reason=joined([aside.reason, *reasons]))
    written = _numbers_of(known)
    if written is None:
        proposal = _of_texts(known)
    else:
        proposal, more = _of_numbers(known, written)
        codes += more
    fields = {**_said(column.notes), **proposal.fields}
    if codes and fields.get("role") != "ignore":
        fields["missing_codes"] = codes
    return replace(proposal, fields=fields, reason=joined([proposal.reason, *reasons]))


def _said(notes: ColumnNotes) -> dict[str, Any]:
    """Return the fields for readers that the file of the table gives."""
    fields = ("label", "unit", "section", "description", "asked_if", "block")
    return {name: getattr(notes, name) for name in fields if getattr(notes, name) is not None}


def _numbers_of(column: ObservedColumn) -> WrittenNumbers | None:
    """Return how the column writes numbers, if it does, with some odd texts among them; None otherwise."""
    written = written_numbers(column)
    if written is not None and np.isfinite(written.numbers).all():
        return written
    numbers = column.numbers if written is None else written.numbers
    odd = odd_texts(column, numbers)
    if not odd:
        return None
    return replace(written, numbers=numbers) if written is not None else WrittenNumbers({}, numbers)


def _of_texts(column: ObservedColumn) -> Proposal:
    meaning = one_spelling(column)
    if not meaning:
        return proposal_of_texts(column)
    merged = column.merged(meaning)
    if len(merged.texts) == 1:
        return Proposal({"role": "ignore"}, f"one value, spelled in {len(column.texts)} ways: {quoted(merged.texts)}")
    proposal = proposal_of_texts(merged)
    if proposal.fields.get("role") == "ignore":
        return proposal
    look = f"spellings taken for one level: {quoted([f'{given} = {meant}' for given, meant in meaning.items()])}"
    fields = {**proposal.fields, "synonyms": meaning}
    return replace(proposal, fields=fields, looks=(*proposal.looks, look))


def _of_numbers(column: ObservedColumn, written: WrittenNumbers) -> tuple[Proposal, list[str]]:
    """Return the proposal for a column of numbers, and the texts that are codes for missing values."""
    odd = [text for text, number in zip(column.texts, written.numbers, strict=True) if not np.isfinite(number)]
    outlying = outlying_codes(written.numbers, column.counts)
    codes = [text for text, number in zip(column.texts, written.numbers, strict=True) if number in outlying]
    looks = list(written.looks)
    if odd:
        looks.append(f"{quoted(odd)}: not a number, and taken for missing until you decide otherwise")
    if codes:
        looks.append(f"{quoted(codes)}: apart from all other values, and taken for missing")
    left = column.without([*odd, *codes])
    number_of = dict(zip(column.texts, written.numbers.tolist(), strict=True))
    numbers = np.array([number_of[text] for text in left.texts], dtype=np.float64)
    proposal = _of_finite(left, numbers, has_levels=not written.fields)
    if proposal.fields.get("likelihood") in ("gaussian", "exponential"):
        plain = np.array([not BEYOND_A_LIMIT.match(text) for text in left.texts], dtype=bool)
        looks += odd_numbers(column.name, np.repeat(numbers[plain], left.counts[plain]))
    fields = {**written.fields, **proposal.fields}
    if "levels" in proposal.fields or proposal.fields.get("role") == "ignore":
        fields = dict(proposal.fields)
    reason = joined([proposal.reason, *written.reasons])
    return replace(proposal, fields=fields, reason=reason, looks=(*proposal.looks, *looks)), [*odd, *codes]


def _of_finite(column: ObservedColumn, numbers: np.ndarray, *, has_levels: bool) -> Proposal:
    """Return the proposal for finite numbers; texts with units or other marks cannot be levels."""
    if np.unique(numbers).size < 2:
        return Proposal({"role": "ignore"}, "the same value in every subject observed, apart from missing codes")
    text_of = dict(zip(numbers.tolist(), column.texts, strict=True)) if has_levels else {}
    if len(text_of) < len(column.texts):  # some number is written in two ways
        text_of = {}
    if are_whole(numbers):
        return proposal_of_whole_numbers(column, numbers, text_of)
    if len(column.texts) == 2 and text_of:
        return two_levels(column)
    return proposal_of_numbers(column, numbers, text_of)
