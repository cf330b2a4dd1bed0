"""Draft the schema of a table: a proposal for each column, what columns tell of each other, and partitions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arguments import TABLE, in_pandas, is_numbered, is_partitioned
from clinclust.data import data
from clinclust.drafting import kinds
from clinclust.drafting.column import (
    COMPUTE,
    FOR_READERS,
    LOOKS,
    MOST_LEVELS,
    MOST_TEXTS,
    Column,
    DraftedColumn,
    Look,
    Proposal,
    column_of,
    joined,
    leave_out,
    surviving,
)
from clinclust.drafting.kinds import no_before_yes, nominal_of, order_of, propose_by_values, scale_of
from clinclust.drafting.redundancy import applied, redundancies
from clinclust.drafting.roles import assign_roles, rise_together
from clinclust.errors import CohortError, SchemaError, warn
from clinclust.files.cell_text import listed, number_of, numbers_of, quote_cell, shortened
from clinclust.files.dictionaries import notes_without_dictionary
from clinclust.files.notation import Marks, divided, marks_of, means_missing, plain_text, words_of
from clinclust.files.row_choice import drawn, rows_taken
from clinclust.files.text_table import ORDERED, ColumnNotes, notes_of, refuse_many_columns
from clinclust.likelihoods import traits_of
from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.categorical import Categorical
from clinclust.progress import Progress
from clinclust.roles import NEEDS_LIKELIHOOD
from clinclust.schema import validation
from clinclust.schema.feature import SENTENCES, Feature
from clinclust.schema.feature_schema import FeatureSchema, role_problems
from clinclust.schema.reading import block_key

_LIMITS = SimpleNamespace(**data("drafting")["draft"])

# The proposal for one column, from notes and values, and the columns whose schema contradicts it.


def _meaning(text: str) -> str | float:
    """Return what a text means: its number, or else the text in small letters."""
    number = number_of(text)
    return plain_text(text).casefold() if math.isnan(number) else number


def _by_noted_levels(column: Column) -> Proposal:
    """Return the proposal for a column, without its missing codes, by the values that the file lists.

    Other values become levels, unless they are more than the listed ones. Levels are called by their labels, or by
    their codes if a label is the code of another level.
    """
    notes = column.notes
    codes, labels = [code for code, _ in notes.levels], [plain_text(label) or code for code, label in notes.levels]
    labels = [code if label in notes.missing_codes else label for code, label in zip(codes, labels, strict=True)]
    place_of: dict[str | float, int] = {}  # of codes and labels as written, then in any case and as a number
    for names in (codes, labels, map(_meaning, codes), map(_meaning, labels)):
        for place, name in enumerate(names):
            place_of.setdefault(name, place)
    meant = {text: place_of[form] for text in column.texts for form in (_meaning(text), text) if form in place_of}
    gapped = column.codes_of_table & kinds.gapped_codes(column.finite)  # 9 with a label in other columns of the table
    others = [text for text in column.texts if text not in meant]
    unsaid = [text for text in others if means_missing(text) or number_of(text) in gapped]
    strangers, rest = [text for text in others if text not in unsaid], column.without(unsaid)
    if len(strangers) > len(codes) or len(rest.texts) < 2:
        proposal = propose_by_values(rest).extended(missing_codes=unsaid)
        reason = f"but {len(strangers)} other values are in the column" if strangers else ""
        return replace(proposal, reason=joined(reason, proposal.reason))
    order, n_listed = order_of(labels), len(codes)
    are_ends = 2 * sum(map(str.__eq__, labels, codes)) >= n_listed  # of 0 to 10, those have labels
    codes, labels = [*codes, *strangers], [*labels, *strangers]
    numbers = numbers_of(codes)
    by_number = np.argsort(numbers, kind="stable").tolist() if np.isfinite(numbers).all() else []
    by_code = [place for place in by_number if place < n_listed]
    if order is None and (notes.kind == ORDERED or (by_code and are_ends)):
        order = by_code or list(range(n_listed))
    if strangers:
        order = by_number if order is not None and order == by_code else None
    pairs = [*zip(codes, labels, strict=True)]
    texts = [f"{label} ({code})" if labels.count(label) > 1 else label for code, label in pairs]
    if len({*texts}) < len(texts) or any(label in codes and label != code for code, label in pairs):
        texts = codes
    meant |= {text: place for place, text in enumerate(strangers, start=n_listed)}
    are_many = len(codes) > MOST_TEXTS  # then those that the column holds
    places = [place for place in order or range(len(codes)) if not are_many or place in meant.values()]
    reason = f"{listed(map(quote_cell, unsaid))} taken for missing" if unsaid else ""
    if strangers:
        shown = listed(map(quote_cell, strangers))
        reason = joined(reason, f"{shown} not among its choices, added as a level (or list it under missing_codes)")
    if len(places) > MOST_TEXTS:
        return leave_out(joined(reason, "too many different values for levels"))
    if len(places) == 2:
        turned = no_before_yes([labels[place] for place in places])
        if not order and (by := turned or no_before_yes([codes[place] for place in places])):
            places = [places[at] for at in by]
        if turned is None:
            swap = f"{quote_cell(texts[places[1]])} counts as yes (swap the levels to change that)"
            reason = joined(reason, swap)
    levels = [texts[place] for place in places]
    meant = {codes[place]: place for place in places} | meant
    synonyms = {text: texts[at] for text, at in meant.items() if at in places and text and text not in levels}
    likelihood = Bernoulli.name if len(levels) == 2 else Categorical.name
    if order and len(levels) > 2:
        likelihood = scale_of(rest.rewritten(synonyms), levels, "").fields["likelihood"]
    about = "; ".join(f"{codes[at]} = {labels[at]}" for at in places if texts[at] == codes[at] != labels[at])
    fields = {"likelihood": likelihood, "levels": levels}
    return Proposal(fields, reason).extended(missing_codes=unsaid, synonyms=synonyms, description=about)


def proposed(column: Column) -> Proposal:
    """Return the proposal for a column, by what its file says of it and by its values."""
    notes = column.notes
    if column.is_wanted:  # whatever its name or its file says
        kind = None if notes.kind in ("date", "text", "id") else notes.kind
        notes = replace(notes, role=None, kind=kind, reason=None)
    if notes == ColumnNotes():
        return propose_by_values(replace(column, notes=notes))
    coded = [code.strip() for code in notes.missing_codes if code.strip()]
    levels, meanings = {code.strip(): label for code, label in notes.levels}, {"", *map(_meaning, coded)}
    sound, missing = divided([level for level in levels.items() if _meaning(level[0]) not in meanings])
    words = data("missing_words")["short"]["codes"]  # such as dk and ref
    short = [level for level in sound if " ".join(words_of(level[1])) in words]
    if len(sound) - len(short) == 1:  # `ref` with `alt` is an allele
        short = []
    coded = list(dict.fromkeys([*coded, *(code for code, _ in (*missing, *short))]))
    notes = replace(notes, levels=tuple(level for level in sound if level not in short), missing_codes=tuple(coded))
    labels = listed(quote_cell(label) for _, label in short)
    look = f"{labels}: taken for missing by the label; levels if they are answers" if short else ""
    codes = {text for text in column.texts if _meaning(text) in set(map(_meaning, coded))}
    proposal = _as_noted(replace(column.without(codes), notes=notes))
    proposal = proposal.extended(look, missing_codes=[*coded, *sorted(codes)])
    is_left_out = proposal.fields.get("role") in ("id", "ignore")
    texts = FOR_READERS if is_left_out else (*FOR_READERS, "unit", "block")
    about = {name: text for name in texts if (text := getattr(notes, name)) is not None and text.strip()}
    role = {} if is_left_out or notes.role is None else {"role": notes.role}
    reason = notes.reason or (f"the file says: {notes.kind}" if notes.kind else "")
    return replace(proposal, fields=about | proposal.fields | role, reason=joined(reason, proposal.reason))


def _as_noted(column: Column) -> Proposal:
    kind, texts = column.notes.kind, column.texts
    if column.notes.role == "ignore" or kind in ("date", "text"):
        return leave_out(f"dates: {COMPUTE}" if kind == "date" else "")
    if kind == "id":
        if len(texts) == column.codes.size:
            return Proposal({"role": "id"})
        return leave_out("but subjects have several rows: choose one for each, and give role: id")
    if column.notes.levels and len(texts) > 1:
        return _by_noted_levels(column)
    are_numbers = bool(np.isfinite(column.numbers).all())
    if kind == ORDERED and 2 < len(texts) <= MOST_TEXTS:
        order = order_of(texts) or (np.argsort(column.numbers, kind="stable").tolist() if are_numbers else None)
        if order is not None:
            return scale_of(column, [texts[place] for place in order], "its levels have an order")
        return propose_by_values(column).extended(reason="but not the order of its values; drafted by its values")
    # SPSS calls measurements nominal too: fractions, or more whole numbers than codes have, are no levels.
    are_codes = not are_numbers or (not column.has_fractions and len(texts) <= MOST_LEVELS)
    if kind == "nominal" and are_codes and 2 < len(texts) <= min(MOST_TEXTS, column.n_observed / 2):
        words = kinds.missing_words(column)
        return nominal_of(column.without(words), "levels without order").extended(missing_codes=sorted(words))
    return propose_by_values(column)


def looks_of(table: pd.DataFrame, schema: FeatureSchema) -> list[Look]:
    """Return the clustered features of a table, as it was read, that their values surely show to be of another kind."""
    looks: list[Look] = []
    for feature in (feature for feature in schema.clustered if feature.name in table):
        column = column_of(feature.name, table[feature.name], ColumnNotes())
        with np.errstate(all="ignore"):
            draft = proposed(column.without(schema.missing_codes_of(feature)))
        fields = dict(draft.fields)
        suspected = ", ".join(fields.pop("missing_codes", ()))
        if "likelihood" not in fields:
            continue
        drafted, declared = traits_of(fields["likelihood"]), feature.traits
        if suspected and feature.levels is None:
            looks.append(Look((feature.name,), f"{suspected} may mean missing values", f"missing_codes: [{suspected}]"))
        is_other = (declared.is_continuous, declared.is_count) != (drafted.is_continuous, drafted.is_count)
        is_other &= feature.levels is None and not declared.is_scale
        if is_other and draft.probability >= _LIMITS.sure:
            repair = ", ".join(f"{name}: {value}" for name, value in fields.items())
            looks.append(Look((feature.name,), f"by its values it is {draft.reason}", repair))
        elif "spike" in fields and declared.is_continuous and not feature.spike:
            looks.append(Look((feature.name,), draft.reason, f"spike: {fields['spike']:g}"))
    return looks


# Propose a feature schema for a table, with a reason for each feature.


def with_wanted_roles(schema: FeatureSchema, frame: pd.DataFrame, roles: Mapping[str, str]) -> FeatureSchema:
    """Return the schema with these roles by name.

    A feature without the likelihood that its role needs is drafted by the values of its column alone; its comment says
    so. SchemaError lists the unknown names and roles, and the columns whose values give no likelihood.
    """
    problems = role_problems(roles, schema.names)
    notes, drafts, comments = notes_of(frame), dict[str, Feature](), dict(schema.comments)
    for feature in schema:
        name, role = feature.name, roles.get(feature.name, feature.role)
        if role in NEEDS_LIKELIHOOD and feature.likelihood is None and name in frame:
            column = column_of(name, frame[name], notes.get(name, ColumnNotes()))
            with np.errstate(all="ignore"):
                drafted = proposed(replace(column.without(set(schema.missing_codes_of(feature))), is_wanted=True))
            if "likelihood" in drafted.fields:
                drafts[name] = Feature(**{**feature.content(), **drafted.fields, "name": name, "role": role})
                comments[name] = f"drafted by its values; {drafted.comment()}"
            else:
                lacks = f"role {role} needs a likelihood, and its values give none ({drafted.reason})"
                problems.append(f"{shortened(name)}: {lacks}: {SENTENCES['likelihood']}")
    if problems:
        raise SchemaError(problems)
    changed = schema.with_changed(drafts.get(feature.name, feature) for feature in schema)
    changed.comments.update(comments)
    return changed.with_roles(roles)


def draft_schema(
    frame: pd.DataFrame, *, roles: Mapping[str, str] | None = None, progress: bool = True
) -> FeatureSchema:
    """Propose a schema for a table, as a starting point to read and correct. The table is valid under it.

    Parameters
    ----------
    frame : pandas.DataFrame, shape (N, D)
        One row per subject, as text (from `read_cohort`) or typed. A Dask DataFrame is drafted from a sample of about
        50,000 rows with all levels; rows that the draft refuses are a CohortWarning.
    roles : mapping of str to str, optional
        Roles of columns by name, as ``{"trt": "cluster"}``, whatever their names say. Values show the likelihood.
    progress : bool
        Whether stages that take longer than a second are reported, as by `MAPDP`.

    Returns
    -------
    FeatureSchema
        One feature per column, in the order of the table. `comments` holds the reason for each, and which other kind
        is nearly as probable. Columns that repeat others form a `block`, or are not clustered on; identifiers, arms,
        outcomes, times and sites do not form subtypes. What the file says of its columns
        (``frame.attrs["column_notes"]``, from `read_cohort`) comes first. `rows` says which rows `read_cohort` took.

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
        of_rows = partial(draft_schema, roles=roles, progress=progress)
        schema, _, refused = draft_of_partitions(frame, of_rows, progress=progress)
        if refused is not None:
            warn(f"the draft needs an edit: {refused}")
        return schema
    frame = in_pandas(frame)
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"frame must be {TABLE}, not {type(frame).__name__}")
    if is_numbered(frame):
        frame = frame.set_axis([f"x{place}" for place in range(frame.shape[1])], axis="columns")
    validation.refuse_unusable(frame)
    faults = [("the table", "at least one column; it has none", "Check how the file was read.")] * frame.columns.empty
    for name, n in frame.columns.value_counts(sort=False).items():
        if not isinstance(name, str) or not name.strip():
            repair = "Give it a name of letters in the first row of the table."
            faults.append((str(name), "a column name that is text", repair))
        elif n > 1:
            faults.append((name, "one column of this name", "Rename or drop all but one of them."))
    validation.refuse_faults(faults)
    refuse_many_columns(frame.shape[1], _LIMITS.most_columns, "drafted")
    roles = dict(roles or {})
    if problems := role_problems(roles, frame.columns):
        raise SchemaError(problems)
    stages = Progress(bool(progress))
    drafted = _draft_columns(frame, stages)
    with stages.stage("comparing columns"):
        blocks: dict[str, str] = {}  # a file may write the name of a block in several ways: `RR` and `rr`
        for draft in drafted:
            block = draft.feature.block
            if block is not None and blocks.setdefault(block_key(block), block) != block:
                draft.take(draft.proposal.extended(block=blocks[block_key(block)]))
        with surviving():
            _note_empty_forms(drafted)
            _agree_on_likelihoods(drafted)
        assign_roles(drafted, frame)
        chosen = rows_taken(frame)
        schema = FeatureSchema([draft.feature for draft in drafted], rows=None if chosen is None else chosen.choice)
        schema.comments.update({draft.column.name: draft.proposal.comment() for draft in drafted})
        if roles:
            schema = with_wanted_roles(schema, frame, roles)
        if len(schema.clustered) < 2:
            return schema
        values = {draft.column.name: draft.typed for draft in drafted if draft.typed is not None}
        of_draft = {name: values[name].set_axis(frame.index) for name in values if name not in roles}
        findings = redundancies(pd.DataFrame(of_draft), schema)
        return applied(schema, [finding for finding in findings if finding.target not in roles])


def _draft_columns(frame: pd.DataFrame, stages: Progress) -> list[DraftedColumn]:
    """Return each column drafted for itself; a fault of one costs no other."""
    notes = {**notes_without_dictionary(frame), **notes_of(frame)}
    bare = frame.copy(deep=False)
    bare.attrs = {}  # pandas copies them whenever a column is taken
    columns, drafted = [], []
    with stages.stage("reading columns", frame.shape[1]) as advance:
        for name in frame.columns:
            columns.append(column_of(name, bare[name], notes.get(name, ColumnNotes())))
            advance()
    commas = any(column.notes.decimal == "," or marks_of(column.texts) == Marks(",") for column in columns)
    codes = kinds.codes_of_table(columns)
    with np.errstate(all="ignore"), stages.stage("drafting columns", len(columns)) as advance:
        for column in columns:
            column = replace(column, codes_of_table=codes, has_decimal_commas=commas)
            drafted.append(DraftedColumn(column, proposed))
            advance()
    return drafted


# `comorb___1`, and `Comorbidities (choice=COPD)` in an export with labels; there the state of a form is `Complete?`
_BOX = re.compile(r"(?P<question>.+?)(?:___[^_]\w*| ?\(choice=.*\))", re.DOTALL)
_OFF = data("roles")["redcap"]["off"]


def _note_empty_forms(drafted: Sequence[DraftedColumn]) -> None:
    """Tell of check boxes of REDCap that are all 0 where their form was not completed: no answer looks like no.

    Behind the boxes of a question, ``comorb___1``, ``comorb___2``, are the other fields of their form, and the column
    of its state, ``history_complete``. Without this column, two fields tell that are empty in the same rows: some of
    those without a tick, and no others. In all of these, the fields may be asked of who ticked a box.
    """
    boxes: dict[str, list[DraftedColumn]] = {}
    for draft, after in zip_longest(drafted, drafted[1:]):
        name, is_empty = draft.column.name, draft.column.codes < 0
        if match := _BOX.fullmatch(name):
            boxes.setdefault(match["question"], []).append(draft)
            continue
        is_state = name.endswith("_complete") or name.startswith("Complete?")
        if not is_state and (after is None or not is_empty.any() or (is_empty != (after.column.codes < 0)).any()):
            continue
        for question, of_question in list(boxes.items()):
            without_tick = np.logical_and.reduce([_is_off(box.column) for box in of_question])
            in_form = without_tick & (is_empty | (_is_off(draft.column) & is_state))
            n, n_empty = in_form.sum(), is_empty.sum()
            is_told = not in_form.all() if is_state else _LIMITS.fewest_empty <= n_empty == n < without_tick.sum()
            if n > 0 and is_told:
                names, off = [box.column.name for box in of_question], f".astype(str).isin({_OFF})"
                shown = {"boxes": names, "off": off, "form": name, "empty": off if is_state else ".isna()"}
                for box in boxes.pop(question):
                    box.take(box.proposal.extended(LOOKS["empty_form"].format(n=n, **shown)))
        boxes = {} if is_state else boxes


def _is_off(column: Column) -> NDArray[np.bool_]:
    return np.isin(column.codes, [code for code, text in enumerate(column.texts) if text.casefold() in _OFF])


_SIDES = frozenset(data("roles")["sides"]["words"])


def _agree_on_likelihoods(drafted: Sequence[DraftedColumn]) -> None:
    """Give columns called alike but for a number or side, which rise together, the likelihood of most of them."""
    groups: dict[tuple[str, ...], list[DraftedColumn]] = {}
    for draft in drafted:
        words = draft.column.words
        stem = tuple(word for word in words if not word.isdigit() and word not in _SIDES)
        if draft.is_number and len(stem) < len(words) and draft.proposal.fields.keys() <= {"likelihood", "transform"}:
            groups.setdefault(stem, []).append(draft)
    for group in groups.values():
        models = [draft.proposal.fields for draft in group]
        if models.count(models[0]) == len(models) or not all(rise_together(group[0], draft) for draft in group[1:]):
            continue
        fields = {**max(models, key=models.count)}  # type: ignore[arg-type]
        if min(draft.column.finite[0] for draft in group) <= 0.0:
            fields.pop("transform", None)
        reason = f"with the likelihood of {group[0].column.name} and others, which it measures too"
        for draft in (draft for draft in group if draft.proposal.fields != fields):
            draft.take(Proposal(fields, reason, looks=draft.proposal.looks))


# Draft a schema for a table in partitions: from a sample of its rows, and a row of each level of each partition.


def draft_of_partitions(
    table: Any, draft: Callable[[pd.DataFrame], FeatureSchema], *, progress: bool = True
) -> tuple[FeatureSchema, validation.Sampled, CohortError | None]:
    """Return the schema that `draft` makes of a sample of a Dask DataFrame, the sample, and what it does not allow."""

    def sample_rows(frame: pd.DataFrame, first: int, share: float) -> pd.DataFrame:
        is_sampled = drawn(frame, (), first, share, 0)
        for name in frame:
            is_new = ~frame[name].duplicated().to_numpy()
            is_sampled |= is_new & (is_new.sum() <= MOST_TEXTS)
        return validation.numbered(frame, first)[is_sampled]

    with Progress(progress).stage("drawing a sample"):
        parts = validation.Parts(table)
        rows = pd.concat(parts.each(sample_rows, share=parts.share))
    schema, error = draft(rows), None
    try:
        validation.validated_sample(table, schema, progress=progress)
    except CohortError as refused:
        error = refused
    return schema, validation.Sampled(rows, parts.n_rows), error
