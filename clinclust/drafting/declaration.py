"""What a file declares of a feature, in the form that a draft continues from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from clinclust.drafting.proposal import joined
from clinclust.files.column_notes import ColumnNotes

__all__ = ["Declared", "about", "ignored", "opened"]


@dataclass(frozen=True)
class Declared:
    """What the notes on a column decide of its feature.

    Attributes
    ----------
    kind : {"settled", "ordered", "number", "open"}
        ``settled``: `fields` make the feature. ``ordered``: they hold the levels, lowest first; the likelihood is
        chosen by evidence. ``number``: the values are numbers under `fields`; the likelihood is chosen by evidence, and
        `minimum` and `maximum` are kept if it takes them. ``open``: `fields` hold what does not depend on the values,
        and the rest is drafted by them.
    fields : dict
        Fields of `clinclust.Feature` but its name.
    reason : str
        What the file says, and where the values do not agree with it, for the comment above the feature.
    looks : tuple of str
        What a person should look at, each as a sentence without a full stop.
    """

    kind: Literal["settled", "ordered", "number", "open"]
    fields: dict[str, Any]
    reason: str
    looks: tuple[str, ...] = ()


def about(notes: ColumnNotes) -> dict[str, Any]:
    """Return the fields of a feature that do not depend on its values: texts for readers, block, and role."""
    texts = {
        name: text
        for name in ("label", "unit", "section", "block", "description", "asked_if")
        if (text := getattr(notes, name)) is not None and text.strip()
    }
    return {"role": notes.role, **texts} if notes.role is not None else texts


def ignored(notes: ColumnNotes, *reasons: str) -> Declared:
    """Return the declaration of a column that no likelihood needs: with its texts, and without a block."""
    fields = {name: text for name, text in about(notes).items() if name not in ("role", "block")}
    return Declared("settled", {"role": "ignore", **fields}, joined(*reasons))


def opened(notes: ColumnNotes, *reasons: str) -> Declared:
    """Return the declaration of a column that is drafted by its values, with what does not depend on them."""
    codes = {"missing_codes": list(notes.missing_codes)} if notes.missing_codes else {}
    return Declared("open", {**about(notes), **codes}, joined(*reasons))
