"""What is proposed for one column, and how sure the proposal is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from clinclust.drafting.look import LOOK

__all__ = ["Proposal", "joined"]


@dataclass(frozen=True)
class Proposal:
    """The fields of a drafted feature, and the reason for them.

    Attributes
    ----------
    fields : dict
        The fields of `Feature`, without its name.
    reason : str
        Why, in plain words.
    looks : tuple of str
        What a person should look at, each as a sentence without a full stop.
    is_clear : bool
        Whether the next best choice is clearly worse.
    """

    fields: dict[str, Any] = field(default_factory=dict)
    reason: str = ""
    looks: tuple[str, ...] = ()
    is_clear: bool = True

    def comment(self) -> str:
        """Return what is written above the feature: the reason, then what deserves a look, a line each."""
        return "\n".join([self.reason, *(f"{LOOK}{look}" for look in self.looks)])


def joined(*parts: str) -> str:
    """Return the parts that are not empty, with semicolons between them."""
    return "; ".join(part for part in parts if part)
