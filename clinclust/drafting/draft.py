"""The draft of the schema of a table, also of one in partitions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clinclust.data_frames import TABLE, in_pandas, is_partitioned
from clinclust.drafting.column import Column, Proposal, column_of
from clinclust.drafting.propose import proposed
from clinclust.drafting.redundancy import applied, redundancies
from clinclust.drafting.roles import (
    alike_named_pairs,
    keys_of,
    looks_identifying,
    named_role,
    paired_roles,
    repeated_measurements,
    visit_columns,
)
from clinclust.errors import CohortError, CohortWarning, SchemaError, show_cells
from clinclust.files.cell_text import shortened
from clinclust.files.dictionaries import notes_without_dictionary
from clinclust.files.row_choice import repeated_subjects, rows_taken
from clinclust.files.text_table import ColumnNotes, notes_of, refuse_many_columns
from clinclust.likelihoods.categorical import Categorical
from clinclust.progress import SILENT, Progress
from clinclust.roles import NEEDS_LIKELIHOOD
from clinclust.schema.feature import Feature, block_key
from clinclust.schema.feature_schema import FeatureSchema
from clinclust.schema.reading import read_column, text_cells
from clinclust.schema.validation import (
    Failure,
    Parts,
    Sampled,
    failures_frame,
    numbered,
    read_columns,
    refuse_failures,
    refuse_unusable,
    validate,
)
from clinclust.schema.yaml_files import WRITE_LIKELIHOOD, needs_likelihood, role_problems

# Propose a feature schema for a table, with a reason for each feature.


def with_wanted_roles(schema: FeatureSchema, frame: pd.DataFrame, roles: Mapping[str, str]) -> FeatureSchema:
    """Return the schema with these roles by name.

    A feature that needs a likelihood for its role and has none is drafted by the values of its column alone; its
    comment says so. SchemaError lists the unknown names and roles, and the columns whose values give no likelihood.
    """
    problems = role_problems(roles, schema.names)
    notes = notes_of(frame)
    features, comments = [], dict(schema.comments)
    for feature in schema:
        name = feature.name
        role = roles.get(name, feature.role)
        if role in NEEDS_LIKELIHOOD and feature.likelihood is None and name in frame:
            column = column_of(name, frame[name], notes.get(name, ColumnNotes()))
            with np.errstate(all="ignore"):
                drafted = proposed(column.without(set(schema.missing_codes_of(feature))), is_wanted=True)
            if "likelihood" in drafted.fields:
                kept = {key: value for key, value in feature.content().items() if key not in ("name", "role")}
                feature = Feature(**{**kept, **drafted.fields, "name": name, "role": role})
                comments[name] = f"drafted by its values; {drafted.comment()}"
            else:
                need = needs_likelihood(name, role)
                problems.append(f"{need}, and its values give none ({drafted.reason}): {WRITE_LIKELIHOOD}")
        features.append(feature)
    if problems:
        raise SchemaError(problems)
    changed = schema.with_changed(features)
    changed.comments.update({name: comment for name, comment in comments.items() if comment})
    return changed.with_roles(roles)


_MOST_COLUMNS = 5_000
"""Columns are compared in pairs: with 200 rows, 2,000 take 25 CPU seconds; 5,000 take 90, and 2.5 GB."""
_MOST_LEVELS = 50
_FOR_READERS = ("label", "section", "description", "asked_if")


def draft_schema(
    frame: pd.DataFrame, *, roles: Mapping[str, str] | None = None, progress: bool = True
) -> FeatureSchema:
    """Propose a schema for a table, as a starting point to read and correct. The table is valid under it.

    Parameters
    ----------
    frame : pandas.DataFrame, shape (N, D)
        One row per subject, as text (from `read_cohort`) or typed. A Dask DataFrame is drafted from a sample of about
        50,000 rows, and of all rows that this draft would refuse; what is refused all the same is a CohortWarning.
    roles : mapping of str to str, optional
        Roles of columns by name, as ``{"trt": "cluster"}``. A column that is to be clustered on or described has the
        likelihood that its values show, whatever its name says.
    progress : bool
        Whether stages that take longer than a second are reported, as by `MAPDP`.

    Returns
    -------
    FeatureSchema
        One feature per column, in the order of the table. The attribute `comments` holds the reason for each, which
        `to_yaml` writes above the feature; where another kind is nearly as probable, it says which. Columns that
        repeat others form a `block`, or are not clustered on; identifiers, arms, outcomes, times and sites do not
        form subtypes, and their roles say why. What the file says of its columns (``frame.attrs["column_notes"]``,
        from `read_cohort`) comes before what the values show. `rows` says which rows `read_cohort` took.

    Raises
    ------
    TypeError
        If `frame` is not a DataFrame.
    CohortError
        If the table has no rows or no columns, or if a column name is empty, repeated or not text.
    InputError
        If the table has more than 5,000 columns.
    SchemaError
        If `roles` has an unknown name or role, or if no likelihood fits the values of a column that needs one.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> gait = np.random.default_rng(0).normal(1.1, 0.2, 100)
    >>> schema = cc.draft_schema(pd.DataFrame({"sex": ["f", "m"] * 50, "gait": gait}))
    >>> [(feature.name, feature.likelihood) for feature in schema.features]
    [('sex', 'bernoulli'), ('gait', 'gaussian')]
    >>> schema.comments["sex"]
    "two values, of which 'm' counts as yes"
    """
    if is_partitioned(frame):
        draft = draft_of_partitions(frame, partial(draft_schema, roles=roles, progress=progress), progress=progress)
        if draft.refused is not None:
            warnings.warn(f"the draft needs an edit: {draft.refused}", CohortWarning, stacklevel=2)
        return draft.schema
    frame = in_pandas(frame)
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"frame must be {TABLE}, not {type(frame).__name__}")
    refuse_unusable(frame)
    _refuse_names(frame)
    refuse_many_columns(frame.shape[1], _MOST_COLUMNS, "drafted")
    roles = dict(roles or {})
    problems = role_problems(roles, frame.columns)
    if problems:
        raise SchemaError(problems)
    stages = Progress(bool(progress))
    drafted = _drafted(_columns_of(frame, stages), stages)
    with stages.stage("comparing columns"):
        schema = FeatureSchema([one.feature for one in _with_roles(drafted, frame)])
        schema.comments.update({one.column.name: one.proposal.comment() for one in drafted})
        if roles:
            schema = with_wanted_roles(schema, frame, roles)
        schema = _without_redundancy(schema, drafted, frame, roles)
    taken = rows_taken(frame)
    if taken is None:
        return schema
    found = FeatureSchema(schema, rows=taken.choice)
    found.comments.update(schema.comments)
    return found


class _Drafted:
    """A column, its proposal, the feature that it makes, and the values of the column under it."""

    def __init__(self, column: Column, propose: Callable[[], Proposal]) -> None:
        self.column = column
        self.make(propose)

    def make(self, propose: Callable[[], Proposal]) -> None:
        """Take a proposal; where it has a fault, the column becomes plain levels, and its comment says so."""
        try:
            self.proposal = propose()
            self.feature = Feature(name=self.column.name, **self.proposal.fields)
            self.typed = _typed(self.feature, self.column)
        except MemoryError:
            raise
        except Exception as error:
            fault = f"{type(error).__name__}: {show_cells(shortened(str(error)))}"
            look = f"no better draft of this column was found, which is a fault of clinclust ({fault}): check its line"
            texts = list(self.column.texts)
            are_levels = 2 <= len(texts) <= _MOST_LEVELS
            fields = {"likelihood": Categorical.name, "levels": texts} if are_levels else {"role": "ignore"}
            said = "taken for levels as they are" if are_levels else "which could not be drafted"
            self.proposal = Proposal(fields, f"{len(texts)} different values, {said}", looks=(look,))
            self.feature = Feature(name=self.column.name, **fields)
            self.typed = _typed(self.feature, self.column)

    @property
    def is_number(self) -> bool:
        return self.feature.traits.is_continuous or self.feature.traits.is_count


def _typed(feature: Feature, column: Column) -> pd.Series | None:
    if feature.likelihood is None:
        return None
    reading = read_column(feature, ("", *feature.missing_codes), pd.Series([*column.texts, ""], dtype=object))
    if reading.faults:
        raise ValueError(f"cells of {column.name} are not what was proposed: {', '.join(reading.faults)}")
    return reading.typed.iloc[column.codes].rename(column.name)


def _columns_of(frame: pd.DataFrame, stages: Progress) -> list[Column]:
    notes = {**notes_without_dictionary(frame), **notes_of(frame)}
    frame = frame.copy(deep=False)
    frame.attrs = {}  # pandas copies them whenever a column is taken
    columns = []
    with stages.stage("reading columns", frame.shape[1]) as advance:
        for name in frame.columns:
            columns.append(column_of(str(name), frame[name], notes.get(str(name), ColumnNotes())))
            advance()
    return columns


def _drafted(columns: Sequence[Column], stages: Progress = SILENT) -> list[_Drafted]:
    """Return each column drafted for itself; a fault of one costs no other."""
    commas = any(column.notes.decimal == "," or _has_decimal_commas(column) for column in columns)
    drafted = []
    with np.errstate(all="ignore"), stages.stage("drafting columns", len(columns)) as advance:
        for column in columns:
            drafted.append(_Drafted(column, partial(proposed, column, has_decimal_commas=commas)))
            advance()
    return _with_blocks_in_one_spelling(drafted)


def _has_decimal_commas(column: Column) -> bool:
    """Return whether many cells can only be numbers with a decimal comma."""
    with_comma = [text.partition(",") for text in column.texts if text.count(",") == 1]
    return len(with_comma) > len(column.texts) / 2 and all(
        whole.lstrip("-").isdigit() and rest.isdigit() and (len(rest) != 3 or whole.lstrip("-") == "0")
        for whole, _, rest in with_comma
    )


def _with_roles(drafted: list[_Drafted], frame: pd.DataFrame) -> list[_Drafted]:
    """Give roles to the columns that must not form subtypes: by names and levels, and by what their values show."""
    keys = keys_of([one.column for one in drafted])
    subjects = None
    for one in drafted:
        column, proposal = one.column, one.proposal
        if one.feature.role == "id" or column.notes.role is not None:
            continue
        is_many = len(column.texts) >= max(20, column.n_observed / 50)
        if column.name in keys or (is_many and looks_identifying(column.name) and not (column.numbers % 1 > 0).any()):
            repeated = repeated_subjects(frame, column.name)
            if repeated is not None:
                subjects = subjects or column
                kept = {name: proposal.fields[name] for name in _FOR_READERS if name in proposal.fields}
                reason = "it names subjects, who have several rows"
                one.make(partial(Proposal, {**kept, "role": "ignore"}, reason, looks=(repeated.sentence(),)))
                continue
        role = named_role(column, n_levels=len(column.texts), is_number=one.is_number)
        if proposal.reason.startswith(("dates", "times of day")):
            role = "time"
        if role:
            _give(one, role, "by its name or values")
    by_name = {one.column.name: one for one in drafted}
    if subjects is not None:
        for name in visit_columns(subjects, [one.column for one in drafted]):
            _give(by_name[name], "time", "it tells the rows of a subject apart")
    for name in repeated_measurements([one.column.name for one in drafted]):
        _give(by_name[name], "outcome", "a later measurement of what was measured at baseline")
    for name, role in alike_named_pairs([one.column for one in drafted]).items():
        _give(by_name[name], role, "called alike, as a time and its event")
    numbers = {one.column.name: one.feature.scores(one.typed) for one in drafted if one.typed is not None}
    for name, role in paired_roles(numbers).items():
        _give(by_name[name], role, "its values are those of a time to an event" if role == "time" else "an event")
    return drafted


def _give(one: _Drafted, role: str, why: str) -> None:
    if one.feature.role != "cluster" and not (one.feature.role == "ignore" and role in ("time", "site")):
        return
    if one.column.notes.role is not None or not one.column.texts:
        return
    one.make(partial(one.proposal.extended, reason=f"{role}: {why}", role=role))


def _without_redundancy(
    schema: FeatureSchema, drafted: list[_Drafted], frame: pd.DataFrame, roles: Mapping[str, str]
) -> FeatureSchema:
    """Return the schema with blocks and descriptions where columns repeat others; `roles` of the user stay."""
    if len(schema.clustered) < 2:
        return schema
    values = {one.column.name: one.typed for one in drafted if one.typed is not None}
    table = pd.DataFrame({name: column.set_axis(frame.index) for name, column in values.items() if name not in roles})
    return applied(schema, [one for one in redundancies(table, schema) if not set(one.described) & set(roles)])


def _with_blocks_in_one_spelling(drafted: list[_Drafted]) -> list[_Drafted]:
    """Give blocks whose names a file writes in several ways (``RR`` and ``rr``) the first of these names."""
    names: dict[str, str] = {}
    for one in drafted:
        block = one.feature.block
        if block is not None and names.setdefault(block_key(block), block) != block:
            one.make(partial(one.proposal.extended, block=names[block_key(block)]))
    return drafted


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


# Draft a schema for a table in partitions: from a sample of its rows, and from all rows that the draft refuses.

_ROUNDS = 4
_MOST_ROWS = 100
"""Number of different values at fault, by column and partition, whose rows are added to the sample at once."""


class Draft(NamedTuple):
    """A drafted schema."""

    schema: FeatureSchema
    sample: Sampled
    """The rows that it was drafted from."""
    refused: CohortError | None
    """What it does not allow all the same."""


class _Refused(NamedTuple):
    rows: pd.DataFrame
    failures: pd.DataFrame


def draft_of_partitions(table: Any, draft: Callable[[pd.DataFrame], FeatureSchema], *, progress: bool = True) -> Draft:
    """Return the schema that `draft` makes of a sample of a Dask DataFrame.

    All partitions are validated against it. Rows with a value that it does not allow, such as a level outside the
    sample, are added to the sample, and it is drafted again.
    """
    stages = Progress(progress)
    with stages.stage("drawing a sample"):
        parts = Parts(table)
        rows = parts.sample()
    for n_left in reversed(range(_ROUNDS)):
        schema = draft(rows)
        with stages.stage("checking partitions"):
            found = parts.each(_refused, schema=schema)
        more = pd.concat([rows, *(own.rows for own in found if own is not None)])
        more = more[~more.index.duplicated()].sort_index()
        if not n_left or len(more) == len(rows):
            break
        rows = more
    failures = {
        number: None if own is None else own.failures
        for number, own in enumerate(found)
        if parts.first[number] < parts.first[number + 1]
    }
    try:
        refuse_failures(failures)
    except CohortError as error:
        return Draft(schema, Sampled(rows, parts.n_rows), error)
    return Draft(schema, Sampled(rows, parts.n_rows), None)


def _refused(frame: pd.DataFrame, first: int, schema: FeatureSchema) -> _Refused | None:
    """Return what a schema does not allow in a partition, with a row for each value at fault; None if nothing."""
    if not len(frame):
        return None
    try:
        validate(schema, frame, warn=False)
    except CohortError as error:
        at_fault = np.zeros(len(frame), dtype=np.bool_)
        for reading in read_columns(schema, frame)[1].values():
            for faulty in reading.faults.values():
                rows = np.flatnonzero(faulty)
                codes = text_cells(reading.cells.iloc[rows]).codes
                at_fault[rows[np.unique(codes, return_index=True)[1]][:_MOST_ROWS]] = True
        ids = [feature.name for feature in schema.ids if feature.name in frame]
        if ids:
            at_fault[np.flatnonzero(frame.duplicated(ids, keep=False))[:_MOST_ROWS]] = True
        return _Refused(numbered(frame, first)[at_fault], error.failures)
    return None
