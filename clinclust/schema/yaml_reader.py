"""Read a feature schema from YAML, strictly: unknown keys, repeated keys and ambiguous values are errors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from clinclust.errors import SchemaError
from clinclust.files.cell_text import shortened
from clinclust.files.opening import shown_name
from clinclust.schema.feature import Feature, FeatureError
from clinclust.schema.schema_rules import (
    TWICE,
    blocks_alike,
    clashes,
    mixed_blocks,
    names_of_parts,
    problems_of_settings,
)
from clinclust.schema.yaml_document import NO_VALUE, Entries, Problems, compose, mapping, plain, text_of
from clinclust.schema.yaml_writer import FORMAT_VERSION

if TYPE_CHECKING:
    from clinclust.schema.feature_schema import FeatureSchema

__all__ = ["read_schema"]

_TOP_KEYS = ("clinclust", "title", "missing_codes", "other_columns", "rows", "features")


def read_schema(path_or_text: str | os.PathLike[str]) -> FeatureSchema:
    """Implement `FeatureSchema.from_yaml`; see there."""
    if isinstance(path_or_text, str) and _looks_like_yaml(path_or_text):
        return _schema_of(path_or_text)
    try:
        return _schema_of(text_of(path_or_text))
    except SchemaError as error:
        raise SchemaError(list(error.problems), shown_name(Path(path_or_text))) from None


def _looks_like_yaml(text: str) -> bool:
    return "\n" in text or not text.strip() or ": " in text or text.lstrip().startswith(("{", "["))


def _schema_of(text: str) -> FeatureSchema:
    """Return the schema that the text writes, or raise SchemaError with everything that is wrong with it."""
    from clinclust.schema.feature_schema import FeatureSchema

    problems = Problems()
    top = _top(text, problems)
    settings = _settings(top, problems)
    features = _features(top, problems)
    missing_codes = settings.get("missing_codes", [""])
    for feature, node in features:
        for _, sentence in clashes([feature], tuple(missing_codes) if isinstance(missing_codes, list) else ()):
            problems.add(node, f"{shortened(feature.name)}: {sentence}")
    nodes = {feature.name: node for feature, node in features}
    known = [feature for feature, _ in features]
    for name, sentence in (*names_of_parts(known), *blocks_alike(known), *mixed_blocks(known)):
        problems.add(nodes[name], f"{shortened(name)}: {sentence}")
    if problems:
        raise problems.error()
    return FeatureSchema([feature for feature, _ in features], **settings)


def _settings(top: Entries, problems: Problems) -> dict[str, Any]:
    """Return the settings of the schema as they are written; record what is wrong with each."""
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
    """Return the key and value nodes of the document by key; record the problems of its top level."""
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
    """Yield the node and the name of each feature whose name another has before it, whatever else is wrong with it."""
    seen: set[str] = set()
    for item in items:
        name = _declared_name(item)
        if name in seen:
            yield item, name
        if name:
            seen.add(name)


def _declared_name(node: yaml.Node) -> str:
    """Return the name that a feature declares, or an empty text."""
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
    fields = {key: plain(value, f"{context}{key}", problems) for key, (_, value) in entries.items()}
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
