"""A schema as YAML: one feature per line, text quoted only if needed; and its strict reading with line numbers."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from clinclust.errors import SchemaError, did_you_mean, on_one_line
from clinclust.files.cell_text import NUMBER, canonical_text, quoted, shortened
from clinclust.files.tables import check_readable, shown_name
from clinclust.roles import ROLES
from clinclust.schema.feature import SENTENCES, Feature
from clinclust.schema.reading import FORMAT_VERSION, SETTINGS, Entry, Faults, Place, SchemaContent, read_declared

_WIDEST = 118  # of a comment


def on_unused(
    features: Iterable[Feature], *, most: int | None = None, repair: str = "To use one, give it `role: cluster`."
) -> str:
    """Return the sentence that names features that do not form subtypes (`most` of them); empty without any."""
    unused = [feature for feature in features if not (feature.is_clustered or feature.is_id)]
    unused.sort(key=lambda feature: ROLES.index(feature.role))
    words = [f"{shortened(on_one_line(feature.name))} ({feature.role})" for feature in unused]
    more = "" if most is None or len(words) <= most else f" and {len(words) - most:,} more"
    return f"Not used to form subtypes: {', '.join(words[:most])}{more}. {repair}" if words else ""


# What YAML reads unquoted text as.

_KINDS = {"bool": "a boolean", "null": "null", "int": "a number", "float": "a number", "timestamp": "a date"}
_RESOLVER = yaml.resolver.Resolver()
_TAG = "tag:yaml.org,2002:"

# PyYAML reads these as text, but the YAML 1.1 or 1.2 specification, and so other programs, as numbers.
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|[-+]?[0-9][0-9_]*")


def _resolve_tag(text: str) -> str:
    """Return the tag that PyYAML gives to unquoted text."""
    return str(_RESOLVER.resolve(yaml.ScalarNode, text, (True, False)))  # type: ignore[no-untyped-call]


def _misread_as(text: str) -> str | None:
    """Return what YAML reads unquoted `text` as, such as ``a boolean``; None if it reads text."""
    if _NUMBER.fullmatch(text):
        return "a number"
    kind = _resolve_tag(text).rpartition(":")[2]
    return None if kind == "str" else _KINDS.get(kind, "a special value")


# Write a feature schema: PyYAML composes and quotes; each feature is one line, with the remarks on it above.


def yaml_text(schema: SchemaContent, comments: Mapping[str, str] | None = None) -> str:
    """Return the schema as YAML text.

    With `comments`, remarks by feature name, they are written above the feature, and at the top which features are not
    clustered on.
    """
    unused = _printable(on_unused(schema)) if comments is not None else ""
    lines = [f"# {line}" for line in textwrap.wrap(unused, _WIDEST, break_long_words=False, break_on_hyphens=False)]
    head = {key: getattr(schema, key) for key, (default, _) in SETTINGS.items() if getattr(schema, key) != default}
    if "rows" in head:
        head["rows"] = schema.rows.as_dict()
    lines += [f"{key}: {_dump(value)}" for key, value in {"clinclust": FORMAT_VERSION, **head}.items()] + ["features:"]
    for feature in schema:
        lines += [f"  # {_printable(remark)}" for remark in (comments or {}).get(feature.name, "").splitlines()]
        lines += [f"  {yaml_line(feature)}"]
    return "\n".join(lines) + "\n"


def yaml_line(feature: Feature) -> str:
    """Return the line of one feature in a schema file, without indentation."""
    return f"- {_dump(feature.content())}"


class _Dumper(yaml.SafeDumper):
    """Quotes what other programs read as no text, writes numbers as people do, and nothing as an alias of another."""

    def ignore_aliases(self, data: object) -> bool:
        return True

    def represent_str(self, data: str) -> yaml.ScalarNode:
        is_boolean = data in tuple("yYnN")  # in the YAML 1.1 specification; PyYAML reads text
        is_quoted = is_boolean or _misread_as(data) is not None or not data.isprintable()
        return self.represent_scalar(f"{_TAG}str", data, style='"' if is_quoted else None)

    def represent_float(self, data: float) -> yaml.ScalarNode:
        return self.represent_scalar(_resolve_tag(text := canonical_text(data)), text)


_Dumper.add_representer(str, _Dumper.represent_str)
_Dumper.add_representer(float, _Dumper.represent_float)


def _dump(value: object) -> str:
    options: dict[str, Any] = {"width": 2**31 - 1, "sort_keys": False, "allow_unicode": True}  # on one line
    written = yaml.dump(value, Dumper=_Dumper, default_flow_style=True, **options)
    return str(written).removesuffix("...\n").rstrip("\n")


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


# Read a feature schema; unknown keys, repeated keys and ambiguous values are faults of their lines.

_Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_DEEPEST = 8  # levels of nested collections; a valid schema has at most five
_LARGEST = 10 * 2**20  # bytes of a file: a hundred thousand features
_LONGEST_NAME, _LONGEST_PATH = 255, 4096  # bytes of a file name and of a path, on most systems
_FREE_OF_QUOTES = (
    *("clinclust", "role", "likelihood", "transform", "contrast", "trials", "minimum", "maximum", "spike", "limit"),
    *("complete", "prior", "trends"),
)
_KEYS = ("clinclust", *SETTINGS, "features")
_QUOTE_IT = 'texts with signs such as : # , [ ] { } % are in quotes: "Pain, worst"'
_OF_A_LONE_KEY = " Texts with a comma are in quotes, numbers have a decimal point, and a space follows a colon."


def read_yaml(path_or_text: str | os.PathLike[str]) -> tuple[list[Feature], dict[str, Any]]:
    """Return the features, and the other arguments of `FeatureSchema` (see `FeatureSchema.from_yaml`)."""
    if isinstance(path_or_text, str):
        text, encoded = path_or_text, path_or_text.encode(errors="replace")
        is_path = len(encoded) <= _LONGEST_PATH and max(map(len, re.split(rb"[/\\]", encoded))) <= _LONGEST_NAME
        is_yaml = "\n" in text or not text.strip() or ": " in text or text.lstrip().startswith(("{", "["))
        if is_yaml or not is_path:
            return _read_schema(text)
    path = Path(path_or_text)
    try:
        if check_readable(path, may_be_empty=True) > _LARGEST:
            raise SchemaError("line 1: the file is larger than 10 MB, which no schema is; is it the table?")
        content = path.read_bytes()
        try:
            return _read_schema(content.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            raise SchemaError(f"line {line}: the file is not UTF-8 text; save it as UTF-8") from None
    except SchemaError as error:
        raise SchemaError(list(error.problems), shown_name(path)) from None


def _read_schema(text: str) -> tuple[list[Feature], dict[str, Any]]:
    root, faults, top = _compose(text), Faults(), Place((1,), "line 1")
    if root is None:
        raise SchemaError("line 1: the schema is empty; it must begin with `clinclust: 1` and list `features`")
    if not isinstance(root, yaml.MappingNode):
        raise SchemaError("line 1: a schema is a mapping that begins with `clinclust: 1`, not a list or a single value")
    settings, rows = _read_entries(root, faults), []
    for key in settings.keys() - _KEYS:
        hint = did_you_mean(key, _KEYS)
        faults.append((settings.pop(key).place, f"{shortened(key)}: unknown key.{hint}"))
    features = settings.pop("features", None)
    if features is None:
        faults.append((top, "`features`, the list of features, is missing"))
    elif not isinstance(features.value, yaml.SequenceNode) or not features.value.value:
        example = "`- {name: age, likelihood: gaussian}`"
        faults.append((features.place, f"features: must be a list of features, each such as {example}"))
    else:
        for node in features.value.value:
            if isinstance(node, yaml.MappingNode):
                rows.append((_place(node), _read_entries(node, faults)))
            else:
                faults.append((_place(node), "a feature is a mapping such as {name: age, likelihood: gaussian}"))
    return read_declared(settings, rows, top, faults)


def _place(node: yaml.Node) -> Place:
    line = node.start_mark.line + 1
    return Place((line,), f"line {line}")


def _read_entries(node: yaml.MappingNode, faults: Faults, field: str = "") -> dict[str, Entry]:
    """Return the values of a mapping by key; the list of features is left as a node. `field` is that of a feature."""
    entries: dict[str, Entry] = {}
    for key_node, value in node.value:
        key, place = key_node.value, _place(key_node)
        if not isinstance(key_node, yaml.ScalarNode):
            faults.append((place, "a key must be a single word"))
        elif key in entries:
            about = f"{shortened(str(entries['name'].value))}: " if "name" in entries else ""
            faults.append((place, f"{about}{shortened(key)}: the key is given twice"))
        elif key == "features":
            entries[key] = Entry(place, value, Faults())
        else:
            of_value = Faults()
            is_lone = key not in Feature.model_fields and value.value == ""
            hint = _OF_A_LONE_KEY if is_lone else ""
            entries[key] = Entry(place, _read_value(value, field or key, of_value), of_value, hint)
    return entries


def _read_value(node: yaml.Node, field: str, faults: Faults) -> object:
    """Return a node as text, lists and dicts; record unquoted text that YAML would not read as text."""
    if isinstance(node, yaml.SequenceNode):
        return [_read_value(item, field, faults) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        entries = _read_entries(node, faults, "" if field == "rows" else field)
        faults += [(place, f"{shortened(key)}: {text}") for key in entries for place, text in entries[key].faults]
        return {key: entry.value for key, entry in entries.items()}
    text = str(node.value)
    if getattr(node, "style", None) not in ("'", '"', "|", ">") and field not in _FREE_OF_QUOTES:
        kind, shown = _misread_as(text), shortened(text)
        if text == "":
            faults.append((_place(node), "there is no value; leave the key out, or write the value in quotes"))
        # Of missing codes, a number that a person reads as YAML does is text: not 012 (octal), 1_000, 12:30 (base 60).
        elif kind and not (field == "missing_codes" and NUMBER.fullmatch(text) and not re.match("[+-]?0[0-9]", text)):
            faults.append((_place(node), f'YAML reads {shown} as {kind}; write it in quotes: "{shown}"'))
    return text


def _compose(text: str) -> yaml.Node | None:
    """Parse the text into nodes. Anchors, aliases, tags and deep nesting raise SchemaError."""
    try:
        depth = 0
        for event in yaml.parse(text, Loader=_Loader):
            line = event.start_mark.line + 1 if event.start_mark else 1
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                hint = "write it out, or in quotes"
                raise SchemaError(f"line {line}: anchors and aliases (& and *) are not allowed; {hint}")
            if getattr(event, "tag", None):
                raise SchemaError(f"line {line}: tags (!) are not allowed; put text that begins with ! in quotes")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                raise SchemaError(f"line {line}: lists and mappings are nested too deeply")
        root: yaml.Node | None = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        lines = text.split("\n")
        marks = [mark.line for mark in (error.problem_mark, error.context_mark) if mark is not None] or [0]
        is_open = re.search("flow|quoted", error.context or "") is not None  # what opens on the line of the context
        at = min(marks[-1] if is_open else marks[0], len(lines) - 1)
        while at > 0 and not lines[at].strip():
            at -= 1
        repair = "write spaces in the place of the tab" if "\t" in lines[at] else _QUOTE_IT
        fault = {"line": at + 1, "problem": error.problem, "text": quoted(lines[at].strip()), "repair": repair}
        raise SchemaError(SENTENCES["not_yaml"].format(**fault)) from None
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        line = text[: getattr(error, "position", 0)].count("\n") + 1
        raise SchemaError(f"line {line}: the text holds a character that YAML does not allow") from None
    return root
