"""Propose a feature schema for a table, with a reason for each feature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from clinclust.drafting.administration import set_aside
from clinclust.drafting.column import ObservedColumn, observed
from clinclust.drafting.declaration import about
from clinclust.drafting.doubtful_words import doubtful_words
from clinclust.drafting.excel_dates import turned_into_dates
from clinclust.drafting.from_notes import declared
from clinclust.drafting.levels import ordered_by_the_table, plain_levels, proposal_of_texts
from clinclust.drafting.lists_in_cells import proposal_of_lists
from clinclust.drafting.look import LOOK
from clinclust.drafting.missing_codes import missing_words, quoted
from clinclust.drafting.noted_columns import completed
from clinclust.drafting.number_columns import among_numbers, numbers_in_column, proposal_of_written
from clinclust.drafting.proposal import Proposal, joined
from clinclust.drafting.repeated_rows import with_visits
from clinclust.drafting.sections import sections_of
from clinclust.drafting.spellings import one_spelling
from clinclust.drafting.ticks import are_in_a_ticked_list, proposal_of_ticks
from clinclust.drafting.titres import proposal_of_titres
from clinclust.drafting.two_numbers import proposal_of_two_numbers
from clinclust.drafting.unmodelled import unmodelled
from clinclust.drafting.written_numbers import written_numbers
from clinclust.errors import CohortError
from clinclust.files.cell_text import shortened
from clinclust.files.chosen_columns import refuse_many_columns
from clinclust.files.column_notes import ColumnNotes, notes_of
from clinclust.files.dictionaries.redcap_export import notes_without_dictionary
from clinclust.files.selection.rows_taken import rows_taken
from clinclust.progress import SILENT, Progress
from clinclust.schema.failures import Failure, failures_frame
from clinclust.schema.feature import Feature
from clinclust.schema.feature_schema import FeatureSchema
from clinclust.schema.reading import read_column
from clinclust.schema.schema_rules import block_key
from clinclust.schema.validation import refuse_unusable

__all__ = ["draft_columns", "draft_schema"]

_MOST_COLUMNS = 5_000
"""Columns are compared in pairs: with 200 rows, 2,000 take 25 CPU seconds; 5,000 take 90, and 2.5 GB."""


def draft_schema(frame: pd.DataFrame, *, progress: bool = True) -> FeatureSchema:
    """Propose a schema for a table, as a starting point to read and correct. The table is valid under it.

    Parameters
    ----------
    frame : pandas.DataFrame, shape (N, D)
        One row per subject, as text (from `read_cohort`) or typed.
    progress : bool
        Tell each stage that takes longer than a second, as `MAPDP` does.

    Returns
    -------
    FeatureSchema
        One feature per column. What deserves a look comes first, then what is less clear, then the rest in the order
        of the table. The attribute `comments` holds the reason for each, which `to_yaml` writes above the feature.
        Likelihoods are compared by the log marginal of all subjects in one cluster. Columns that repeat what others say
        form a `block`, or are described only. What the file says of its columns (``frame.attrs["column_notes"]``, from
        `read_cohort`) comes before what the values show. `rows` says which rows `read_cohort` was told to take.

    Raises
    ------
    TypeError
        If `frame` is not a DataFrame.
    CohortError
        If the table has no rows or no columns, or if a column name is empty, repeated or not text.
    InputError
        If the table has more than 5,000 columns.

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
    refuse_many_columns(frame.shape[1], _MOST_COLUMNS, "drafted")
    told = Progress(bool(progress))
    schema, unclear = draft_columns(frame, told)
    with told.stage("comparing columns"):
        schema = _without_redundancy(schema, frame)
    in_order = sorted(schema, key=lambda feature: _place(feature, schema.comments, unclear))
    taken = rows_taken(frame)
    ordered = FeatureSchema(in_order, rows=None if taken is None else taken.choice)
    ordered.comments.update({feature.name: schema.comments[feature.name] for feature in ordered})
    return ordered


def draft_columns(frame: pd.DataFrame, progress: Progress = SILENT) -> tuple[FeatureSchema, set[str]]:
    """Return a schema in which each column is drafted for itself, in the order of the table, and which are unclear."""
    notes = {**notes_without_dictionary(frame), **notes_of(frame)}
    frame = frame.copy(deep=False)
    frame.attrs = {}  # pandas copies them whenever a column is taken
    columns = []
    with progress.stage("reading columns", frame.shape[1]) as advance:
        for name in frame.columns:
            columns.append(observed(str(name), frame[name], notes.get(str(name), ColumnNotes())))
            advance()
    commas = any(column.notes.decimal == "," or _has_decimal_commas(column) for column in columns)
    drafted = []
    # Numbers may be of any size; a log marginal that is not finite is never chosen.
    with np.errstate(all="ignore"), progress.stage("drafting columns", len(columns)) as advance:
        for column, is_ticked in zip(columns, are_in_a_ticked_list(columns), strict=True):
            seen = replace(column, has_decimal_commas=commas, is_ticked=is_ticked)
            feature, proposal = _draft(seen, frame[column.name])
            drafted.append((feature, with_visits(proposal, frame, column.name)))
            advance()
    drafted = _with_blocks_in_one_spelling(_with_sections(drafted))
    schema = FeatureSchema([feature for feature, _ in drafted])
    schema.comments.update({feature.name: proposal.comment() for feature, proposal in drafted})
    return schema, {feature.name for feature, proposal in drafted if not proposal.is_clear}


def _without_redundancy(schema: FeatureSchema, frame: pd.DataFrame) -> FeatureSchema:
    """Return the schema with blocks, and with descriptions only, where columns repeat what others say."""
    from clinclust.drafting.redundancy import applied, redundancies

    if len(schema.clustered) < 2:
        return schema
    return applied(schema, redundancies(schema.validate(frame, warn=False), schema))


def _has_decimal_commas(column: ObservedColumn) -> bool:
    try:
        written = written_numbers(column)
    except Exception:  # it comes again, and is told, where this column is drafted
        return False
    return written is not None and written.fields.get("decimal") == ","


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


def _with_blocks_in_one_spelling(drafted: list[tuple[Feature, Proposal]]) -> list[tuple[Feature, Proposal]]:
    """Give blocks whose names a file writes in several ways (``RR`` and ``rr``) the first of these names."""
    names: dict[str, str] = {}
    for feature, _ in drafted:
        if feature.block is not None:
            names.setdefault(block_key(feature.block), feature.block)
    return [
        (
            feature
            if feature.block is None
            else Feature(**{**feature.content(), "block": names[block_key(feature.block)]}),
            proposal,
        )
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


def _place(feature: Feature, comments: Mapping[str, str], unclear: set[str]) -> int:
    """Return the place of a feature in the file: looks first, unclear choices next, what is not modelled last."""
    if LOOK in comments[feature.name]:
        return 0
    if feature.role in ("id", "ignore"):
        return 3
    return 1 if feature.name in unclear else 2


def _draft(column: ObservedColumn, cells: pd.Series) -> tuple[Feature, Proposal]:
    """Return the feature of a column and the proposal that it follows from.

    A column that cannot be read under its proposal becomes one of plain levels: a fault of the draft in one column must
    not cost all others.
    """
    ignored = Feature(name=column.name, role="ignore")  # refuses a name that no schema can hold
    proposal = Proposal()
    try:
        proposal = set_aside(_propose(column), column)
        turned = turned_into_dates(cells)
        if turned is not None:
            proposal = replace(proposal, looks=(*proposal.looks, turned))
        feature = Feature(name=column.name, **proposal.fields)
        if _can_be_read(feature, cells):
            return feature, proposal
        fault = f"its cells are not what was proposed: {proposal.reason}"
    except MemoryError:
        raise
    except Exception as error:
        fault = f"{type(error).__name__}: {shortened(str(error))}"
    if proposal.fields.get("role") == "id":
        told = f"{proposal.reason}; rows without an identifier: fill them in, and give role: id"
        return ignored, Proposal({"role": "ignore"}, told, proposal.looks)
    plain = plain_levels(column, fault)
    feature = Feature(name=column.name, **plain.fields)
    return (feature, plain) if _can_be_read(feature, cells) else (ignored, replace(plain, fields={"role": "ignore"}))


def _can_be_read(feature: Feature, cells: pd.Series) -> bool:
    codes = ("", *feature.missing_codes)
    return feature.role == "ignore" or not read_column(feature, codes, cells).faults


def _propose(column: ObservedColumn) -> Proposal:
    """Return the proposal for a column: by what the file says of it, and where that leaves it open, by its values."""
    said = declared(column.notes, column.texts, column.counts)
    if said is None:
        return _by_values(column)
    if said.kind == "number":
        aside = unmodelled(column)
        if aside is not None and aside.fields["role"] == "id":
            told = f"{said.reason}; but every row has its own number, so it names the subject"
            return Proposal({**about(column.notes), "role": "id"}, told)
    return completed(said, column, _by_values)


def _by_values(column: ObservedColumn) -> Proposal:
    """Return the proposal for a column by its values: first what is missing in it, then what its other texts are."""
    ticks = proposal_of_ticks(column)
    if ticks is not None:
        return ticks
    codes = missing_words(column)
    reasons = [f"{quoted(codes)} taken for missing"] if codes else []
    known = column.without(codes)
    doubtful, look = doubtful_words(known)
    codes, known = codes + doubtful, known.without(doubtful)
    apart = proposal_of_two_numbers(known)
    if apart is not None:
        return replace(apart, reason=joined(apart.reason, *reasons))
    written = numbers_in_column(known)
    aside = unmodelled(known, None if written is None else written.numbers)
    if aside is not None:
        return replace(aside, reason=joined(aside.reason, *reasons))
    ordered = ordered_by_the_table(known)
    titres = proposal_of_titres(known) if ordered is None else None
    if ordered is not None:
        proposal = ordered
    elif titres is not None:
        proposal = titres
    elif written is None:
        proposal = among_numbers(known, _of_texts(known))
    else:
        proposal, more = proposal_of_written(known, written)
        codes += more
    fields = dict(proposal.fields)
    if codes and (fields.get("role") != "ignore" or "likelihood" in fields):
        fields["missing_codes"] = codes
    looks = (*proposal.looks, look) if look else proposal.looks
    return replace(proposal, fields=fields, reason=joined(proposal.reason, *reasons), looks=looks)


def _of_texts(column: ObservedColumn) -> Proposal:
    lists = proposal_of_lists(column)
    if lists is not None:
        return lists
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
