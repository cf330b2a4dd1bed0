"""What is proposed for one column, how probable it is, and what else it could be."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from clinclust.drafting.column import Column
from clinclust.files.cell_text import shortened

__all__ = ["DOUBTFUL", "LOOK", "Look", "Proposal", "constant", "joined", "with_codes"]

LOOK = "LOOK: "
"""What begins the lines of a comment that a person should decide."""
DOUBTFUL = 0.8
"""The probability below which the next best kind is offered."""


@dataclass(frozen=True)
class Proposal:
    """The fields of a drafted feature, and the reason for them."""

    fields: dict[str, Any] = field(default_factory=dict)  # of `Feature`, without its name
    reason: str = ""
    probability: float = 1.0  # of the kind, given the values and what other tables hold
    otherwise: str = ""  # the line of schema for the next best kind, if there is one
    looks: tuple[str, ...] = ()  # what a person should decide, each as a sentence without a full stop

    @property
    def is_doubtful(self) -> bool:
        """Whether another kind is nearly as probable."""
        return self.probability < DOUBTFUL and bool(self.otherwise)

    def comment(self) -> str:
        """Return the comment above the feature: the reason, then what a person should decide, a line each."""
        lines = [joined(self.reason, f"probability {self.probability:.2f}" if self.is_doubtful else "")]
        lines += [f"{LOOK}otherwise {self.otherwise}"] if self.is_doubtful else []
        return "\n".join([*lines, *(f"{LOOK}{look}" for look in self.looks)])

    def extended(self, *looks: str, reason: str = "", **fields: Any) -> Proposal:
        """Return the proposal with more to decide, a further reason, and other fields."""
        return replace(
            self,
            fields={**self.fields, **fields},
            reason=joined(self.reason, reason),
            looks=(*self.looks, *(look for look in looks if look)),
        )


@dataclass(frozen=True)
class Look:
    """Something that fits a schema, but may make subtypes that are none."""

    columns: tuple[str, ...]  # in the order of the table; empty if it concerns the whole table
    what: str  # what was seen, as a sentence without a full stop
    repair: str  # what to write in the schema, or which option to give; empty if `what` says it


def joined(*parts: str) -> str:
    """Return the parts that are not empty, with semicolons between them."""
    return "; ".join(part for part in parts if part)


def with_codes(fields: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Return fields with those of `more` that they lack, and with the missing codes of both."""
    codes = dict.fromkeys([*more.get("missing_codes", ()), *fields.get("missing_codes", ())])
    return {**more, **fields, **({"missing_codes": list(codes)} if codes else {})}


def constant(column: Column) -> Proposal:
    """Return the proposal for a column of at most one value; if other cells are empty, it may be a mark for yes."""
    if not column.texts:
        return Proposal({"role": "ignore"}, "no observed value")
    value, share = shortened(column.texts[0]), column.n_observed / column.codes.size
    if share < 1.0:
        look = f"{value!r} is in {share:.0%} of the cells, and the others are empty: if that means no, write no there"
        return Proposal({"role": "ignore"}, "one value, or none", looks=(look,))
    return Proposal({"role": "ignore"}, f"the same value in every subject observed: {value!r}")
