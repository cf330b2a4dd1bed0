"""Requirements of a user's own pandera schema that features cannot express."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from clinclust.errors import SchemaError

__all__ = ["PanderaExtras"]


@dataclass(frozen=True)
class PanderaExtras:
    """Checks and parsers of a pandera schema that remain in force in addition to the features.

    Attributes
    ----------
    checks, parsers : dict of str to list
        The checks and the parsers of each column, by its name.
    unique : list of str
        Columns whose values must all differ.
    frame : dict of str to object
        Arguments of ``pandera.DataFrameSchema`` that concern the whole table: checks, unique, index.
    """

    checks: dict[str, list[Any]] = field(default_factory=dict)
    parsers: dict[str, list[Any]] = field(default_factory=dict)
    unique: list[str] = field(default_factory=list)
    frame: dict[str, Any] = field(default_factory=dict)

    def restricted_to(self, names: Iterable[str]) -> PanderaExtras:
        """Return the requirements of these columns, without those of the whole table."""
        kept = set(names)
        return replace(
            self,
            checks={name: checks for name, checks in self.checks.items() if name in kept},
            parsers={name: parsers for name, parsers in self.parsers.items() if name in kept},
            unique=[name for name in self.unique if name in kept],
            frame={},
        )

    def described(self) -> str:
        """Return a text that lists the requirements by name, for the fingerprint; empty if there are none."""
        parts = [f"{name}: {asked}" for name, asked in self._asked()]
        return "\n".join(parts)

    def refuse_yaml(self) -> None:
        """Raise SchemaError if there are any requirements, because YAML cannot hold them."""
        problems = [
            f"{name}: {asked} of the pandera schema cannot be written as YAML; keep the schema as pandera "
            "code, or remove it there (`levels`, `minimum` and `maximum` may say the same)"
            for name, asked in self._asked()
        ]
        if problems:
            raise SchemaError(problems)

    def _asked(self) -> list[tuple[str, str]]:
        asked = [
            (name, f"the check {check.error or check.name}") for name, all_ in self.checks.items() for check in all_
        ]
        asked += [(name, f"the parser {parser.name}") for name, all_ in self.parsers.items() for parser in all_]
        asked += [(name, "unique=True") for name in self.unique]
        return asked + [("the table", f"{key}={value}") for key, value in self.frame.items()]
