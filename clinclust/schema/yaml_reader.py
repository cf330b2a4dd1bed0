"""Read a feature schema from YAML, strictly: unknown keys, repeated keys and ambiguous values are errors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import yaml

from clinclust.errors import SchemaError
from clinclust.files.cell_text import NUMBER
from clinclust.nearest import did_you_mean
from clinclust.schema.feature import Feature, FeatureError
from clinclust.schema.schema_rules import clashes
from clinclust.schema.yaml_text import misread_as
from clinclust.schema.yaml_writer import FORMAT_VERSION

if TYPE_CHECKING:
    from clinclust.schema.feature_schema import FeatureSchema

__all__ = ["read_schema"]

_Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_DEEPEST = 8  # levels of nested collections; a valid schema has at most five
_TOP_KEYS = ("clinclust", "title", "missing_codes", "other_columns", "features")
_FREE_OF_QUOTES = ("role", "likelihood", "transform", "contrast", "trials", "minimum", "maximum", "complete", "prior")


class _Problems(list[tuple[int, str]]):
    """The problems found so far, each as (line number, sentence)."""

    def add(self, node: yaml.Node, sentence: str) -> None:
        self.append((node.start_mark.line + 1, sentence))

    def error(self) -> SchemaError:
        return SchemaError([f"line {line}: {sentence}" for line, sentence in sorted(self, key=lambda found: found[0])])


def read_schema(path_or_text: str | os.PathLike[str]) -> FeatureSchema:
    """Implement `FeatureSchema.from_yaml`; see there."""
    from clinclust.schema.feature_schema import FeatureSchema

    problems = _Problems()
    top = _top(_text_of(path_or_text), problems)
    settings: dict[str, Any] = {
        key: _plain(node, key, problems) for key, (_, node) in top.items() if key not in ("features", "clinclust")
    }
    features = _features(top, problems)
    if problems:
        raise problems.error()
    missing_codes = settings.get("missing_codes", [""])
    if isinstance(missing_codes, list):
        for name, sentence in clashes([feature for feature, _ in features], tuple(missing_codes)):
            node = [node for feature, node in features if feature.name == name][-1]
            problems.add(node, f"{name}: {sentence}")
    if problems:
        raise problems.error()
    try:
        return FeatureSchema([feature for feature, _ in features], **settings)
    except SchemaError as error:
        raise SchemaError([_with_line(problem, top) for problem in error.problems]) from None


def _text_of(path_or_text: str | os.PathLike[str]) -> str:
    """Return `path_or_text` itself if it is YAML text, otherwise the content of the file at this path."""
    if isinstance(path_or_text, str) and _looks_like_yaml(path_or_text):
        return path_or_text
    content = Path(path_or_text).read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise SchemaError(f"line {line}: the file is not UTF-8 text; save it as UTF-8") from None


def _looks_like_yaml(text: str) -> bool:
    return "\n" in text or not text.strip() or ": " in text or text.lstrip().startswith(("{", "["))


def _top(text: str, problems: _Problems) -> dict[str, tuple[yaml.Node, yaml.Node]]:
    """Return the key and value nodes of the document by key; record the problems of its top level."""
    root = _compose(text)
    if root is None:
        raise SchemaError("line 1: the schema is empty; it must begin with `clinclust: 1` and list `features`")
    if not isinstance(root, yaml.MappingNode):
        raise SchemaError("line 1: a schema is a mapping that begins with `clinclust: 1`, not a list or a single value")
    top = _mapping(root, _TOP_KEYS, "", problems)
    if "clinclust" not in top:
        problems.append((1, f"`clinclust: {FORMAT_VERSION}`, the version of the format, is missing"))
    else:
        version = top["clinclust"][1]
        if not isinstance(version, yaml.ScalarNode) or version.value != str(FORMAT_VERSION):
            problems.add(version, f"clinclust: this program reads version {FORMAT_VERSION} of the format only")
    if "features" not in top:
        problems.append((1, "`features`, the list of features, is missing"))
    return top


def _compose(text: str) -> yaml.Node | None:
    """Parse the text into nodes. Anchors, aliases, tags and deep nesting raise SchemaError: no schema needs them."""
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
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise SchemaError(f"line {line}: this is not valid YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        line = text[: getattr(error, "position", 0)].count("\n") + 1
        raise SchemaError(f"line {line}: the text holds a character that YAML does not allow") from None
    return root


def _mapping(
    node: yaml.MappingNode, known: tuple[str, ...], context: str, problems: _Problems
) -> dict[str, tuple[yaml.Node, yaml.Node]]:
    """Return the entries of a mapping by key; record repeated keys and, unless `known` is empty, keys not in it."""
    entries: dict[str, tuple[yaml.Node, yaml.Node]] = {}
    for key_node, value_node in node.value:
        key = key_node.value
        if not isinstance(key_node, yaml.ScalarNode):
            problems.add(key_node, f"{context}a key must be a single word")
        elif key in entries:
            problems.add(key_node, f"{context}{key}: the key is given twice")
        elif known and key not in known:
            problems.add(key_node, f"{context}{key}: unknown key.{did_you_mean(key, known)}")
        else:
            entries[key] = (key_node, value_node)
    return entries


def _features(top: dict[str, tuple[yaml.Node, yaml.Node]], problems: _Problems) -> list[tuple[Feature, yaml.Node]]:
    if "features" not in top:
        return []
    node = top["features"][1]
    if not isinstance(node, yaml.SequenceNode) or not node.value:
        problems.add(node, "features: must be a list of features, each such as `- {name: age, likelihood: gaussian}`")
        return []
    features = []
    for item in node.value:
        feature = _feature(item, problems)
        if feature is not None:
            features.append((feature, item))
    return features


def _feature(node: yaml.Node, problems: _Problems) -> Feature | None:
    if not isinstance(node, yaml.MappingNode):
        problems.add(node, "a feature is a mapping such as {name: age, likelihood: gaussian}")
        return None
    name = next((value.value for key, value in node.value if key.value == "name"), None)
    context = f"{name}: " if isinstance(name, str) and name else ""
    found_before = len(problems)
    entries = _mapping(node, (), context, problems)
    fields = {key: _plain(value, f"{context}{key}", problems) for key, (_, value) in entries.items()}
    try:
        feature = Feature(**fields)
    except FeatureError as error:
        for field, sentence in error.by_field:
            at = entries[field][0] if field in entries else node
            problems.add(at, f"{context}{field}: {sentence}" if field else f"{context}{sentence}")
        return None
    return feature if len(problems) == found_before else None


def _plain(node: yaml.Node, context: str, problems: _Problems) -> object:
    """Return a node as text, lists and dicts; record unquoted text that YAML would not read as text."""
    key = context.rpartition(": ")[2]
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, context, problems) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        entries = _mapping(node, (), f"{context}: ", problems)
        return {name: _plain(value, context, problems) for name, (_, value) in entries.items()}
    node = cast("yaml.ScalarNode", node)
    text: str = node.value
    is_plain = node.style not in ("'", '"', "|", ">")
    if is_plain and key not in _FREE_OF_QUOTES:
        misread = misread_as(text)
        if text == "":
            problems.add(node, f'{context}: there is no value; leave the key out, or write "" for an empty text')
        elif misread and not (key == "missing_codes" and _is_ordinary_number(text)):
            problems.add(node, f'{context}: YAML reads {text} as {misread}; write it in quotes: "{text}"')
    return text


def _is_ordinary_number(text: str) -> bool:
    """Return whether YAML and a person read the same number: not for 012 (octal), 1_000 or 12:30 (base 60)."""
    digits = text.lstrip("+-")
    return bool(NUMBER.fullmatch(text)) and not (len(digits) > 1 and digits[0] == "0" and digits[1].isdigit())


def _with_line(problem: str, top: dict[str, tuple[yaml.Node, yaml.Node]]) -> str:
    key = problem.partition(":")[0]
    line = top[key][0].start_mark.line + 1 if key in top else 1
    return f"line {line}: {problem}"
