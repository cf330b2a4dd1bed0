"""Which unquoted words YAML takes for something else than text."""

from __future__ import annotations

import re

import yaml

__all__ = ["misread_as"]

_KINDS = {"bool": "a boolean", "null": "null", "int": "a number", "float": "a number", "timestamp": "a date"}
_RESOLVER = yaml.resolver.Resolver()

# What PyYAML takes for text, but the YAML 1.1 or 1.2 specification, and so other programs, do not.
_BOOLEAN = re.compile(r"[yYnN]")
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|[-+]?[0-9][0-9_]*")


def misread_as(text: str) -> str | None:
    """Return what YAML reads in `text` when it stands without quotes (``a boolean``), None when it is text."""
    if _BOOLEAN.fullmatch(text):
        return "a boolean"
    if _NUMBER.fullmatch(text):
        return "a number"
    tag = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))
    kind = str(tag).rpartition(":")[2]
    return None if kind == "str" else _KINDS.get(kind, "a special value")
