"""Read a feature schema from YAML; unknown keys, repeated keys and ambiguous values are errors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import yaml

from clinclust.errors import SchemaError
from clinclust.files.cell_text import NUMBER, shortened
from clinclust.files.opening import check_readable, shown_name
from clinclust.nearest import did_you_mean
from clinclust.schema.feature import TWICE, Feature, FeatureError, problems_among, problems_of_settings
from clinclust.schema.yaml_repairs import repair_of, said_of_lone_key, typographic_quotes, with_odd_spaces
from clinclust.schema.yaml_writer import FORMAT_VERSION, misread_as

_Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_DEEPEST = 8  # levels of nested collections; a valid schema has at most five
_LARGEST = 10 * 2**20  # bytes of a file: a hundred thousand features
_FREE_OF_QUOTES = (
    *("role", "likelihood", "transform", "contrast", "trials", "minimum", "maximum", "spike", "limit", "complete"),
    "prior",
)
NO_VALUE = "there is no value"

Entries = dict[str, tuple[yaml.Node, yaml.Node]]
"""The key and the value nodes of a mapping, by key."""


class Problems(list[tuple[int, str]]):
    """The problems found so far, each as (line number, sentence)."""

    def add(self, node: yaml.Node, sentence: str) -> None:
        """Add a problem at the line of a node."""
        self.append((node.start_mark.line + 1, sentence))

    def error(self) -> SchemaError:
        """Return the error that lists all problems by line."""
        return SchemaError([f"line {line}: {sentence}" for line, sentence in sorted(self, key=lambda found: found[0])])


def text_of(path: str | os.PathLike[str]) -> str:
    """Return the text of a schema file; SchemaError if it is not UTF-8, or too large."""
    path = Path(path)
    if check_readable(path, may_be_empty=True) > _LARGEST:
        raise SchemaError("line 1: the file is larger than 10 MB, which no schema is; is it the table?")
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise SchemaError(f"line {line}: the file is not UTF-8 text; save it as UTF-8") from None


def compose(text: str) -> yaml.Node | None:
    """Parse the text into nodes. Anchors, aliases, tags and deep nesting raise SchemaError."""
    odd = with_odd_spaces(text)
    if odd is not None:
        raise SchemaError(
            f"line {odd}: the line begins with spaces from a web page or word processor, which are none in YAML: type "
            "plain spaces"
        )
    try:
        depth = 0
        for event in yaml.parse(text, Loader=_Loader):
            line = event.start_mark.line + 1 if event.start_mark else 1
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise SchemaError(
                    f"line {line}: anchors and aliases (& and *) are not allowed; write it out, or in quotes"
                )
            if getattr(event, "tag", None):
                raise SchemaError(f"line {line}: tags (!) are not allowed; put text that begins with ! in quotes")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                raise SchemaError(f"line {line}: lists and mappings are nested too deeply")
        root: yaml.Node | None = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line, said = repair_of(error, text)
        raise SchemaError(f"line {line}: {said}") from None
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        line = text[: getattr(error, "position", 0)].count("\n") + 1
        raise SchemaError(f"line {line}: the text holds a character that YAML does not allow") from None
    return root


def mapping(node: yaml.MappingNode, known: tuple[str, ...], context: str, problems: Problems) -> Entries:
    """Return the entries of a mapping by key; record repeated keys and, unless `known` is empty, unknown ones."""
    entries: Entries = {}
    for key_node, value_node in node.value:
        key = key_node.value
        if not isinstance(key_node, yaml.ScalarNode):
            problems.add(key_node, f"{context}a key must be a single word")
        elif _is_lone(key_node, value_node):
            problems.add(key_node, f"{context}{said_of_lone_key(key)}")
        elif key in entries:
            problems.add(key_node, f"{context}{shortened(key)}: the key is given twice")
        elif known and key not in known:
            problems.add(key_node, f"{context}{shortened(key)}: unknown key.{did_you_mean(key, known)}")
        else:
            entries[key] = (key_node, value_node)
    return entries


def _is_lone(key: yaml.Node, value: yaml.Node) -> bool:
    is_empty = isinstance(value, yaml.ScalarNode) and value.value == "" and value.style not in ("'", '"')
    return is_empty and key.end_mark.index == value.start_mark.index


def plain(node: yaml.Node, context: str, problems: Problems) -> object:
    """Return a node as text, lists and dicts; record unquoted text that YAML would not read as text."""
    key = context.rpartition(": ")[2]
    if isinstance(node, yaml.SequenceNode):
        return [plain(item, context, problems) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        entries = mapping(node, (), f"{context}: ", problems)
        return {name: plain(value, context, problems) for name, (_, value) in entries.items()}
    node = cast("yaml.ScalarNode", node)
    text: str = node.value
    is_plain = node.style not in ("'", '"', "|", ">")
    if is_plain and key not in _FREE_OF_QUOTES:
        misread, shown = misread_as(text), shortened(text)
        straight = typographic_quotes(text)
        if text == "":
            problems.add(node, f"{context}: {_no_value(key)}")
        elif straight is not None:
            problems.add(
                node, f'{context}: {shown} is in the quotes of a word processor; write straight ones: "{straight}"'
            )
        elif misread and not (key == "missing_codes" and _is_ordinary_number(text)):
            problems.add(node, f'{context}: YAML reads {shown} as {misread}; write it in quotes: "{shown}"')
    return text


def _no_value(key: str) -> str:
    if key in ("decimal", "thousands"):
        return f'{NO_VALUE}; write the comma in quotes: {key}: ","'
    return f'{NO_VALUE}; leave the key out, or write "" for an empty text'


def _is_ordinary_number(text: str) -> bool:
    """Return whether a person reads the same number as YAML: not for 012 (octal), 1_000 or 12:30 (base 60)."""
    digits = text.lstrip("+-")
    return bool(NUMBER.fullmatch(text)) and not (len(digits) > 1 and digits[0] == "0" and digits[1].isdigit())


__all__ = ["read_yaml"]

_TOP_KEYS = ("clinclust", "title", "missing_codes", "other_columns", "rows", "features")


def read_yaml(path_or_text: str | os.PathLike[str]) -> tuple[list[Feature], dict[str, Any]]:
    """Return the features, and the other arguments of `FeatureSchema` (see `FeatureSchema.from_yaml`)."""
    if isinstance(path_or_text, str) and _looks_like_yaml(path_or_text):
        return _schema_of(path_or_text)
    try:
        return _schema_of(text_of(path_or_text))
    except SchemaError as error:
        raise SchemaError(list(error.problems), shown_name(Path(path_or_text))) from None


def _looks_like_yaml(text: str) -> bool:
    return "\n" in text or not text.strip() or ": " in text or text.lstrip().startswith(("{", "["))


def _schema_of(text: str) -> tuple[list[Feature], dict[str, Any]]:
    problems = Problems()
    top = _top(text, problems)
    settings = _settings(top, problems)
    features = _features(top, problems)
    nodes = {feature.name: node for feature, node in features}
    for name, sentence in problems_among([feature for feature, _ in features], settings.get("missing_codes", [""])):
        problems.add(nodes[name], f"{shortened(name)}: {sentence}")
    if problems:
        raise problems.error()
    return [feature for feature, _ in features], settings


def _settings(top: Entries, problems: Problems) -> dict[str, Any]:
    found_before = len(problems)
    settings = {
        key: plain(node, key, problems) for key, (_, node) in top.items() if key not in ("features", "clinclust")
    }
    told = {line for line, _ in problems[found_before:]}
    for problem in problems_of_settings(
        settings.get("title"),
        settings.get("missing_codes", [""]),
        settings.get("other_columns", "error"),
        settings.get("rows"),
    ):
        node = top[problem.partition(":")[0]][0]
        if node.start_mark.line + 1 not in told:  # once is enough
            problems.add(node, problem)
    return settings


def _top(text: str, problems: Problems) -> Entries:
    root = compose(text)
    if root is None:
        raise SchemaError("line 1: the schema is empty; it must begin with `clinclust: 1` and list `features`")
    if not isinstance(root, yaml.MappingNode):
        raise SchemaError("line 1: a schema is a mapping that begins with `clinclust: 1`, not a list or a single value")
    top = mapping(root, _TOP_KEYS, "", problems)
    if "clinclust" not in top:
        problems.append((1, f"`clinclust: {FORMAT_VERSION}`, the version of the format, is missing"))
    else:
        version = top["clinclust"][1]
        if not isinstance(version, yaml.ScalarNode) or version.value != str(FORMAT_VERSION):
            problems.add(version, f"clinclust: this program reads version {FORMAT_VERSION} of the format only")
    if "features" not in top:
        problems.append((1, "`features`, the list of features, is missing"))
    return top


def _features(top: Entries, problems: Problems) -> list[tuple[Feature, yaml.Node]]:
    if "features" not in top:
        return []
    node = top["features"][1]
    if not isinstance(node, yaml.SequenceNode) or not node.value:
        problems.add(node, "features: must be a list of features, each such as `- {name: age, likelihood: gaussian}`")
        return []
    for item, name in _repeated(node.value):
        problems.add(item, f"{shortened(name)}: {TWICE}")
    features = ((_feature(item, problems), item) for item in node.value)
    return [(feature, item) for feature, item in features if feature is not None]


def _repeated(items: list[yaml.Node]) -> Iterator[tuple[yaml.Node, str]]:
    seen: set[str] = set()
    for item in items:
        name = _declared_name(item)
        if name in seen:
            yield item, name
        if name:
            seen.add(name)


def _declared_name(node: yaml.Node) -> str:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    name = next((value.value for key, value in pairs if key.value == "name"), "")
    return name if isinstance(name, str) else ""


def _feature(node: yaml.Node, problems: Problems) -> Feature | None:
    if not isinstance(node, yaml.MappingNode):
        problems.add(node, "a feature is a mapping such as {name: age, likelihood: gaussian}")
        return None
    name = _declared_name(node)
    context = f"{shortened(name)}: " if name else ""
    found_before = len(problems)
    entries = mapping(node, (), context, problems)
    fields = {
        # Of an unknown key, its name is what is wrong.
        key: plain(value, f"{context}{key}", problems if key in Feature.model_fields else Problems())
        for key, (_, value) in entries.items()
    }
    try:
        feature = Feature(**fields)
    except FeatureError as error:
        told = [sentence for _, sentence in problems[found_before:] if NO_VALUE in sentence]
        for field, sentence in error.by_field:
            if field and any(each.startswith(f"{context}{shortened(field)}: ") for each in told):
                continue  # once is enough
            at = entries[field][0] if field in entries else node
            problems.add(at, f"{context}{shortened(field)}: {sentence}" if field else f"{context}{sentence}")
        return None
    return feature if len(problems) == found_before else None
