"""Find the unquoted texts that YAML does not read as text."""

from __future__ import annotations

import re

import yaml

__all__ = ["misread_as", "resolved_tag"]

_KINDS = {"bool": "a boolean", "null": "null", "int": "a number", "float": "a number", "timestamp": "a date"}
_RESOLVER = yaml.resolver.Resolver()

# PyYAML reads these as text, but the YAML 1.1 or 1.2 specification, and so other programs, as numbers.
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|[-+]?[0-9][0-9_]*")


def resolved_tag(text: str) -> str:
    """Return the tag that PyYAML gives to unquoted `text`."""
    return str(_RESOLVER.resolve(yaml.ScalarNode, text, (True, False)))  # type: ignore[no-untyped-call]


def misread_as(text: str) -> str | None:
    """Return what YAML reads unquoted `text` as, such as ``a boolean``; None if it reads text."""
    if _NUMBER.fullmatch(text):
        return "a number"
    kind = resolved_tag(text).rpartition(":")[2]
    return None if kind == "str" else _KINDS.get(kind, "a special value")
