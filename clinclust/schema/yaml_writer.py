"""Write a feature schema as YAML: one feature per line, text quoted only if needed."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any

import yaml

from clinclust.files.cell_text import canonical_text
from clinclust.schema.changed_roles import on_unused

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clinclust.schema.content import SchemaContent
    from clinclust.schema.feature import Feature

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


__all__ = ["FORMAT_VERSION", "yaml_heading", "yaml_line", "yaml_text"]

FORMAT_VERSION = 1

_BOOLEAN_ELSEWHERE = ("y", "n")  # PyYAML reads these as text, but the YAML 1.1 specification as booleans
_WIDEST = 118  # of a comment
_ENDLESS = 2**31 - 1  # the line width, so that each feature stays on one line


def yaml_text(schema: SchemaContent, *, comments: Mapping[str, str]) -> str:
    """Return the schema as YAML text; `comments` holds remarks by feature name, written above the feature."""
    head: dict[str, Any] = {"clinclust": FORMAT_VERSION}
    if schema.title is not None:
        head["title"] = schema.title
    if schema.missing_codes != ("",):
        head["missing_codes"] = list(schema.missing_codes)
    if schema.other_columns != "error":
        head["other_columns"] = schema.other_columns
    if schema.rows:
        head["rows"] = schema.rows.as_dict()
    features = [_node(feature.content()) for feature in schema]
    document = yaml.MappingNode(
        "tag:yaml.org,2002:map",
        [
            *((_node(key), _node(value)) for key, value in head.items()),
            (_node("features"), yaml.SequenceNode("tag:yaml.org,2002:seq", features, flow_style=False)),
        ],
        flow_style=False,
    )
    lines = yaml.serialize(document, Dumper=_Dumper, width=_ENDLESS, allow_unicode=True).splitlines()
    first = len(lines) - len(schema)
    written = lines[:first]
    for feature, line in zip(schema, lines[first:], strict=True):
        remark = comments.get(feature.name, "")
        written += [f"  # {_printable(part)}" for part in remark.splitlines()]
        written.append(line)
    return "\n".join(written) + "\n"


def yaml_heading(features: Iterable[Feature]) -> str:
    """Return the comment on the features that are not clustered on; empty if all are."""
    lines = textwrap.wrap(_printable(on_unused(features)), _WIDEST, break_long_words=False, break_on_hyphens=False)
    return "".join(f"# {line}\n" for line in lines)


def yaml_line(feature: Feature) -> str:
    """Return the line of one feature in a schema file, without indentation."""
    node = yaml.SequenceNode("tag:yaml.org,2002:seq", [_node(feature.content())], flow_style=False)
    return yaml.serialize(node, Dumper=_Dumper, width=_ENDLESS, allow_unicode=True).strip()


class _Dumper(yaml.SafeDumper):
    """A YAML dumper that indents lists below their key."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _node(value: object) -> yaml.Node:
    if isinstance(value, dict):
        pairs = [(_node(key), _node(item)) for key, item in value.items()]
        return yaml.MappingNode("tag:yaml.org,2002:map", pairs, flow_style=True)
    if isinstance(value, (list, tuple)):
        return yaml.SequenceNode("tag:yaml.org,2002:seq", [_node(item) for item in value], flow_style=True)
    if isinstance(value, str):
        quoted = misread_as(value) is not None or value.lower() in _BOOLEAN_ELSEWHERE or not value.isprintable()
        return yaml.ScalarNode("tag:yaml.org,2002:str", value, style='"' if quoted else None)
    plain = str(value).lower() if isinstance(value, bool) else canonical_text(value)
    return yaml.ScalarNode(resolved_tag(plain), plain)


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
