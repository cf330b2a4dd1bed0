"""What the notes on a column decide of its feature, compared with the values that the column holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.declaration import Declared, about, ignored, opened
from clinclust.drafting.noted_levels import declared_levels
from clinclust.drafting.noted_numbers import declared_numbers, is_missing_code
from clinclust.drafting.orders import order_of
from clinclust.files.cell_text import numbers_of, shortened
from clinclust.files.column_notes import ORDERED, ColumnNotes
from clinclust.files.dictionaries.levels import divided, told_missing
from clinclust.files.dictionaries.missing_words import may_mean_missing, means_missing
from clinclust.files.listed import listed

__all__ = ["Declared", "declared"]

_MOST_LEVELS = 50
_DATES = "dates: compute what matters from them, such as a duration in years"


def declared(notes: ColumnNotes, texts: Sequence[str], counts: NDArray[np.int64]) -> Declared | None:
    """Return what the notes on a column decide of its feature; None if they say nothing.

    Nothing in the column is lost: a value that the notes do not list becomes a level, and a column that contradicts
    them is left to the draft by its values. The reason says so.

    Parameters
    ----------
    notes : ColumnNotes
    texts : sequence of str
        The distinct texts of the column, without the empty one.
    counts : ndarray, shape (len(texts),)
        The number of cells that hold each text.

    Examples
    --------
    >>> import numpy as np
    >>> from clinclust.drafting.from_notes import declared
    >>> from clinclust.files.column_notes import ORDERED, ColumnNotes
    >>> notes = ColumnNotes(label="Sex", levels=(("1", "male"), ("2", "female")), missing_codes=("9",))
    >>> said = declared(notes, ["1", "2", "9"], np.array([40, 50, 2]))
    >>> said.fields["levels"], said.fields["synonyms"], said.fields["missing_codes"]
    (['male', 'female'], {'1': 'male', '2': 'female'}, ['9'])
    """
    if notes == ColumnNotes():
        return None
    notes, missing = _sound(notes)
    notes, looks = _without_abbreviations(notes)
    decided = _decided(notes, texts, counts, missing)
    return replace(decided, looks=(*looks, *decided.looks))


def _decided(notes: ColumnNotes, texts: Sequence[str], counts: NDArray[np.int64], missing: str) -> Declared:
    """Return what sound notes decide; `missing` says which of their levels are missing codes."""
    seen = {text: int(count) for text, count in zip(texts, counts, strict=True) if text and count}
    said = (notes.reason or _said(notes)) + missing
    if notes.role == "ignore":
        return ignored(notes, said)
    if notes.kind == "id":
        return _identifier(notes, seen, said)
    if notes.kind in ("date", "text"):
        return ignored(notes, said, _DATES if notes.kind == "date" else "")
    if notes.levels:
        return declared_levels(notes, seen, said)
    if notes.kind == "number":
        return declared_numbers(notes, seen, said)
    if notes.kind is not None:
        return _without_levels(notes, seen, said)
    return opened(notes, said)


def _sound(notes: ColumnNotes) -> tuple[ColumnNotes, str]:
    """Return the notes without codes that are empty or given again, and without levels that mean a missing value.

    The text says which levels these are, if the file does not list them as missing codes itself.
    """
    codes = tuple(dict.fromkeys(code.strip() for code in notes.missing_codes if code.strip()))
    levels: dict[str, str] = {}
    for code, label in notes.levels:
        if code.strip() and not is_missing_code(code.strip(), codes):
            levels.setdefault(code.strip(), label)
    kept, missing = divided(list(levels.items()))
    codes = (*codes, *(code for code, _ in missing))
    return replace(notes, missing_codes=codes, levels=kept), told_missing(missing)


def _without_abbreviations(notes: ColumnNotes) -> tuple[ColumnNotes, tuple[str, ...]]:
    """Return the notes with levels such as `dk` and `ref` as missing codes, and what deserves a look in that.

    If one level were left, these are levels: `ref` beside `alt` is an allele.
    """
    short = [(code, label) for code, label in notes.levels if may_mean_missing(label)]
    kept = tuple(level for level in notes.levels if level not in short)
    if not short or len(kept) == 1:
        return notes, ()
    shown = listed((f"{shortened(code)!r} ({shortened(label)})" for code, label in short), len(short))
    look = f"{shown}: taken for missing by the label (`missing_codes`); write them under `levels` if they are answers"
    codes = (*notes.missing_codes, *(code for code, _ in short))
    return replace(notes, levels=kept, missing_codes=codes), (look,)


def _said(notes: ColumnNotes) -> str:
    parts = [notes.kind or "", f"{len(notes.levels)} values" if notes.levels else ""]
    return f"the file says: {', '.join(filter(None, parts))}" if any(parts) else ""


def _identifier(notes: ColumnNotes, seen: dict[str, int], said: str) -> Declared:
    """Return the declaration of an identifier, which must differ in every row to be one."""
    if all(count == 1 for count in seen.values()):
        return Declared("settled", {**about(notes), "role": "id"}, said)
    repeated = sum(count > 1 for count in seen.values())
    told = (
        f"but {repeated:,} subjects have several rows: choose one row for each, and give role: id; until then the "
        "column is left out"
    )
    return ignored(notes, said, told)


def _without_levels(notes: ColumnNotes, seen: dict[str, int], said: str) -> Declared:
    """Return the declaration of a column that is said to have levels, which are those that it holds."""
    codes = [text for text in seen if is_missing_code(text, notes.missing_codes) or means_missing(text)]
    texts = [text for text in seen if text not in codes]
    numbers = numbers_of(texts)
    counted = bool(np.isfinite(numbers).all())
    order = np.argsort(numbers, kind="stable").tolist() if counted else order_of(texts)
    per_level = sum(seen[text] for text in texts) / max(1, len(texts))
    expected = len(texts) == 2 if notes.kind == "yes/no" else len(texts) <= _MOST_LEVELS and per_level >= 2
    unordered = notes.kind == ORDERED and order is None
    if len(texts) > 1 and (unordered or not expected):
        why = "but not in which order its values stand" if unordered else f"but the column holds {len(texts)} values"
        return opened(notes, said, f"{why}; drafted by its values")
    ranked = [texts[place] for place in order] if order is not None else sorted(texts)
    listed = replace(notes, levels=tuple((text, text) for text in ranked))
    listed = replace(listed, missing_codes=tuple(dict.fromkeys([*notes.missing_codes, *codes])))
    return declared_levels(listed, seen, said)
