"""The proposal for one column, from notes and values, and the columns whose schema contradicts it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from clinclust.drafting.column import Column, Look, Proposal, column_of, constant, joined, with_codes
from clinclust.drafting.dates import dates_in
from clinclust.drafting.identity import identifies_rows
from clinclust.drafting.kinds import best_scale
from clinclust.drafting.levels import order_of
from clinclust.drafting.missing import missing_words, quoted
from clinclust.drafting.propose_levels import nominal_of, noted_levels, proposal_of_texts, scale_of, two_levels
from clinclust.drafting.propose_numbers import proposal_of_numbers
from clinclust.drafting.written import written_numbers
from clinclust.files.cell_text import number_of
from clinclust.files.column_notes import ORDERED, ColumnNotes
from clinclust.files.dictionaries.words import divided, may_mean_missing
from clinclust.likelihoods import traits_of
from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.categorical import Categorical
from clinclust.schema.feature import Feature
from clinclust.schema.feature_schema import FeatureSchema

_MOST_LEVELS = 50
_COMPUTE = "compute what matters from them, such as a duration in years"


def proposed(column: Column, *, has_decimal_commas: bool = False, is_wanted: bool = False) -> Proposal:
    """Return the proposal for a column.

    Other columns of the table may have decimal commas. A column `is_wanted` if the user clusters on it or describes
    it, whatever its name or its file says.
    """
    if is_wanted:
        kind = column.notes.kind if column.notes.kind not in ("date", "text", "id") else None
        column = replace(column, notes=replace(column.notes, role=None, kind=kind, reason=None))
        if column.notes == ColumnNotes():
            return _by_values(column, has_decimal_commas, is_wanted=True)
    if column.notes == ColumnNotes():
        return _by_values(column, has_decimal_commas)
    notes, labelled = _sound(column.notes)
    codes = {text for text in column.texts if _is_code(text, notes.missing_codes)}
    left = replace(column.without(codes), notes=notes)
    given = (
        {"missing_codes": list(dict.fromkeys([*notes.missing_codes, *sorted(codes)]))} if notes.missing_codes else {}
    )
    found = _as_noted(left, has_decimal_commas)
    found = found.extended(*labelled, reason="")
    fields = with_codes(found.fields, given)
    about = {
        name: text
        for name in ("label", "unit", "section", "block", "description", "asked_if")
        if (text := getattr(notes, name)) is not None and text.strip()
    }
    if fields.get("role") in ("id", "ignore"):
        about.pop("block", None)
        about.pop("unit", None)
    elif notes.role is not None:
        fields = {**fields, "role": notes.role}
    said = notes.reason or (f"the file says: {notes.kind}" if notes.kind else "")
    return replace(found, fields={**about, **fields}, reason=joined(said, found.reason))


def _as_noted(column: Column, has_decimal_commas: bool) -> Proposal:
    notes = column.notes
    if notes.role == "ignore" or notes.kind in ("date", "text"):
        return Proposal({"role": "ignore"}, f"dates: {_COMPUTE}" if notes.kind == "date" else "")
    if notes.kind == "id":
        if len(column.texts) == column.n_observed == column.codes.size:
            return Proposal({"role": "id"})
        several = "but subjects have several rows: choose one for each, and give role: id; until then it is left out"
        return Proposal({"role": "ignore"}, several)
    if len(column.texts) < 2:
        return constant(column)
    if notes.levels:
        return _of_noted_levels(column, has_decimal_commas)
    if notes.kind == "number" and not identifies_rows(column):
        found = proposal_of_numbers(column, written_numbers(column, has_decimal_commas=has_decimal_commas))
        return found if found is not None else _by_values(column, has_decimal_commas)
    if notes.kind == "yes/no" and len(column.texts) == 2:
        return two_levels(column)
    if notes.kind == ORDERED and len(column.texts) <= _MOST_LEVELS:
        order = order_of(column.texts)
        numbers = column.numbers
        if order is None and np.isfinite(numbers).all():
            order = np.argsort(numbers, kind="stable").tolist()
        if order is not None and len(column.texts) > 2:
            return scale_of(column, [column.texts[place] for place in order], "its levels have an order")
        reason = "but not the order of its values; drafted by its values" if order is None else ""
        return _by_values(column, has_decimal_commas).extended(reason=reason)
    if notes.kind == "nominal" and 2 < len(column.texts) <= _MOST_LEVELS and column.n_observed >= 2 * len(column.texts):
        words = missing_words(column)
        return nominal_of(column.without(words), "levels without order", words)
    return _by_values(column, has_decimal_commas)


def _of_noted_levels(column: Column, has_decimal_commas: bool) -> Proposal:
    noted = noted_levels(column)
    left = column.without(set(noted.fields.get("missing_codes", ())))
    if "levels" not in noted.fields:
        found = _by_values(left, has_decimal_commas)
        return replace(found, fields=with_codes(found.fields, noted.fields), reason=joined(noted.reason, found.reason))
    if len(noted.fields["levels"]) > _MOST_LEVELS:
        return Proposal({"role": "ignore"}, joined(noted.reason, "too many different values for levels"))
    if noted.is_ordered:
        place = {level: float(score) for score, level in enumerate(noted.fields["levels"])}
        place |= {text: place[level] for text, level in noted.fields.get("synonyms", {}).items()}
        scores = np.repeat([place[text] for text in left.texts], left.counts)
        fields = {**noted.fields, **best_scale(scores, noted.fields["levels"])}
        return Proposal(fields, noted.reason)
    likelihood = Bernoulli.name if len(noted.fields["levels"]) == 2 else Categorical.name
    return Proposal({"likelihood": likelihood, **noted.fields}, noted.reason)


def _sound(notes: ColumnNotes) -> tuple[ColumnNotes, tuple[str, ...]]:
    """Return notes of which labels that mean a missing value are missing codes, and what to look at."""
    codes = [code.strip() for code in notes.missing_codes if code.strip()]
    levels: dict[str, str] = {}
    for code, label in notes.levels:
        if code.strip() and not _is_code(code.strip(), tuple(codes)):
            levels.setdefault(code.strip(), label)
    kept, missing = divided(list(levels.items()))
    short = tuple(level for level in kept if may_mean_missing(level[1]))
    if len(kept) - len(short) == 1:  # `ref` with `alt` is an allele
        short = ()
    kept = tuple(level for level in kept if level not in short)
    codes += [code for code, _ in (*missing, *short)]
    look = f"{quoted([label for _, label in short])}: taken for missing by the label; levels if they are answers"
    found = replace(notes, missing_codes=tuple(dict.fromkeys(codes)), levels=kept)
    return found, (look,) if short else ()


def _is_code(text: str, codes: tuple[str, ...]) -> bool:
    """Return whether a text is one of the codes, or another way to write the number of one: ``-9.0`` for ``-9``."""
    number = number_of(text)
    return text in codes or (not np.isnan(number) and any(number_of(code) == number for code in codes))


def _by_values(column: Column, has_decimal_commas: bool, *, is_wanted: bool = False) -> Proposal:
    """Return the proposal for a column by its values alone; one that is wanted is neither date nor identifier."""
    words = missing_words(column)
    left = column.without(words)
    if len(left.texts) < 2:
        return constant(left)
    dated = "" if is_wanted else dates_in(left)
    if dated:
        return Proposal({"role": "ignore"}, f"{dated}: {_COMPUTE}")
    written = written_numbers(left, has_decimal_commas=has_decimal_commas)
    has_marks = written is not None and bool(written.fields or written.fault)
    if len(left.order) > 2 and set(left.texts) <= set(left.order):
        return proposal_of_texts(left)
    if not has_marks and not is_wanted and identifies_rows(left):
        is_whole = left.n_observed == column.codes.size
        lacks = "" if is_whole else "; rows without an identifier: fill them in, and give role: id"
        return Proposal({"role": "id" if is_whole else "ignore"}, f"every row has a value of its own{lacks}")
    found = proposal_of_numbers(left, written) or proposal_of_texts(left)
    if not words or "likelihood" not in found.fields:
        return found
    fields = with_codes(found.fields, {"missing_codes": sorted(words)})
    return replace(found, fields=fields, reason=joined(found.reason, f"{quoted(sorted(words))} taken for missing"))


_SURE = 0.95


def looks_of(table: pd.DataFrame, schema: FeatureSchema) -> list[Look]:
    """Return the clustered features of a table, as it was read, that their values show to be of another kind.

    What the draft of a column by its values is sure of, and the schema contradicts, deserves a look.
    """
    found: list[Look] = []
    with np.errstate(all="ignore"):
        for feature in schema.clustered:
            if feature.name in table:
                found += _about(feature, table[feature.name], schema.missing_codes_of(feature))
    return found


def _about(feature: Feature, cells: pd.Series, codes: tuple[str, ...]) -> Iterator[Look]:
    column = column_of(feature.name, cells, ColumnNotes())
    draft = proposed(column.without(set(codes)))
    if "likelihood" not in draft.fields:
        return
    drafted, declared = traits_of(draft.fields["likelihood"]), feature.traits
    suspected = [code for code in draft.fields.get("missing_codes", ()) if code not in (feature.levels or ())]
    if suspected and feature.levels is None:
        shown = ", ".join(suspected)
        yield Look((feature.name,), f"{shown} may mean missing values", f"missing_codes: [{shown}]")
    kinds = (declared.is_continuous, declared.is_count), (drafted.is_continuous, drafted.is_count)
    if feature.levels is None and not declared.is_scale and kinds[0] != kinds[1] and draft.probability >= _SURE:
        repair = ", ".join(f"{name}: {value}" for name, value in draft.fields.items() if name != "missing_codes")
        yield Look((feature.name,), f"by its values it is {draft.reason}", repair)
    elif "spike" in draft.fields and declared.is_continuous and not getattr(feature, "spike", None):
        yield Look((feature.name,), draft.reason, f"spike: {draft.fields['spike']:g}")
