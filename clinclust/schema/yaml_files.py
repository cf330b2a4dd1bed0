"""A schema as YAML: changed roles, writing, repairs, and reading."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from clinclust.errors import SchemaError
from clinclust.files.cell_text import NUMBER, canonical_text, quoted, shortened
from clinclust.files.opening import check_readable, shown_name
from clinclust.roles import NEEDS_LIKELIHOOD, ROLES
from clinclust.schema.feature import TWICE, Feature, FeatureError, problems_among, problems_of_settings
from clinclust.texts import did_you_mean, on_one_line

if TYPE_CHECKING:
    from clinclust.schema.reading import SchemaContent

__all__ = ["FORMAT_VERSION", "read_yaml", "yaml_heading", "yaml_line", "yaml_text"]


# Features with other roles, and sentences on features that do not form subtypes.

WRITE_LIKELIHOOD = (
    "write one on its line, as `likelihood: gaussian` (a measurement) or `likelihood: categorical, levels: [...]` "
    "(groups)"
)
_USE_ONE = "To use one, give it `role: cluster`."


def with_roles(features: Sequence[Feature], roles: Mapping[str, str]) -> list[Feature]:
    """Return the features with other roles for some of them (see `FeatureSchema.with_roles`)."""
    problems = role_problems(roles, [feature.name for feature in features])
    changed = []
    for feature in features:
        role = roles.get(feature.name, feature.role)
        if role in NEEDS_LIKELIHOOD and feature.likelihood is None:
            problems.append(f"{needs_likelihood(feature.name, role)}, and the schema gives it none: {WRITE_LIKELIHOOD}")
            continue
        if role not in ROLES:
            continue
        try:
            changed.append(feature if role == feature.role else Feature(**{**feature.content(), "role": role}))
        except FeatureError as error:
            problems += error.problems
    if problems:
        raise SchemaError(problems)
    return changed


def role_problems(roles: Mapping[str, str], names: Iterable[str]) -> list[str]:
    """Return one sentence for each unknown role and each unknown column."""
    known = tuple(names)
    problems = []
    for name, role in roles.items():
        if name not in known:
            problems.append(f"{shortened(str(name))}: there is no such column.{did_you_mean(str(name), known)}")
        if role not in ROLES:
            hint = did_you_mean(str(role), ROLES)
            known_roles = ", ".join(ROLES)
            problems.append(f"{shortened(str(name))}: role: must be one of {known_roles}, not {quoted(role)}.{hint}")
    return problems


def needs_likelihood(name: str, role: str) -> str:
    """Return the beginning of the sentence on a feature without the likelihood that its role needs."""
    return f"{shortened(name)}: role {role} needs a likelihood"


def on_unused(features: Iterable[Feature], *, most: int | None = None, repair: str = _USE_ONE) -> str:
    """Return the sentence that names features that do not form subtypes (`most` of them); empty if there are none."""
    unused = [feature for feature in features if not (feature.is_clustered or feature.is_id)]
    if not unused:
        return ""
    unused.sort(key=lambda feature: ROLES.index(feature.role))
    words = [f"{shortened(on_one_line(feature.name))} ({feature.role})" for feature in unused]
    more = "" if most is None or len(words) <= most else f" and {len(words) - most:,} more"
    return f"Not used to form subtypes: {', '.join(words[:most])}{more}. {repair}"


# Write a feature schema as YAML: one feature per line, text quoted only if needed.

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


# Read a feature schema from YAML; unknown keys, repeated keys and ambiguous values are errors.

_Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_DEEPEST = 8  # levels of nested collections; a valid schema has at most five
_LARGEST = 10 * 2**20  # bytes of a file: a hundred thousand features
_LONGEST_NAME, _LONGEST_PATH = 255, 4096  # bytes of a file name and of a path, on most systems
_FREE_OF_QUOTES = (
    *("role", "likelihood", "transform", "contrast", "trials", "minimum", "maximum", "spike", "limit", "complete"),
    "prior",
    "trends",
)
_QUOTE_IT = 'texts with signs such as : # , [ ] { } % are in quotes: "Pain, worst"'
_OF_A_LONE_KEY = " Texts with a comma are in quotes, numbers have a decimal point, and a space follows a colon."
_NO_VALUE = "there is no value; leave the key out, or write the value in quotes"

Entries = dict[str, tuple[yaml.Node, yaml.Node]]
"""The key and the value nodes of a mapping, by key."""


class _Problems(list[tuple[int, str]]):
    """Problems, each as (line number, sentence)."""

    def add(self, node: yaml.Node, sentence: str) -> None:
        """Add a problem at the line of a node."""
        self.append((node.start_mark.line + 1, sentence))

    def error(self) -> SchemaError:
        """Return the error that lists all problems by line."""
        ordered = sorted(self, key=lambda problem: problem[0])
        return SchemaError([f"line {line}: {sentence}" for line, sentence in ordered])


def _read_text(path: Path) -> str:
    """Return the text of a schema file; SchemaError if it is not UTF-8, or too large."""
    if check_readable(path, may_be_empty=True) > _LARGEST:
        raise SchemaError("line 1: the file is larger than 10 MB, which no schema is; is it the table?")
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise SchemaError(f"line {line}: the file is not UTF-8 text; save it as UTF-8") from None


def _compose(text: str) -> yaml.Node | None:
    """Parse the text into nodes. Anchors, aliases, tags and deep nesting raise SchemaError."""
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
        raise SchemaError(_describe_error(error, text.split("\n"))) from None
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        line = text[: getattr(error, "position", 0)].count("\n") + 1
        raise SchemaError(f"line {line}: the text holds a character that YAML does not allow") from None
    return root


def _describe_error(error: yaml.MarkedYAMLError, lines: Sequence[str]) -> str:
    """Return the message of PyYAML with the line at fault, and what to write."""
    marks = [mark.line for mark in (error.problem_mark, error.context_mark) if mark is not None] or [0]
    is_open = re.search("flow|quoted", error.context or "") is not None  # what opens on the line of the context
    at = min(marks[-1] if is_open else marks[0], len(lines) - 1)
    while at > 0 and not lines[at].strip():
        at -= 1
    repair = "write spaces in the place of the tab" if "\t" in lines[at] else _QUOTE_IT
    return (
        f"line {at + 1}: this is not YAML ({error.problem}): {quoted(lines[at].strip())}. Features begin in the same "
        f"column, brackets and quotes are closed, and {repair}"
    )


def _read_entries(node: yaml.MappingNode, known: Iterable[str], context: str, problems: _Problems) -> Entries:
    """Return the entries of a mapping by key; record repeated keys and, unless `known` is empty, unknown ones."""
    entries: Entries = {}
    for key_node, value_node in node.value:
        key = key_node.value
        if not isinstance(key_node, yaml.ScalarNode):
            problems.add(key_node, f"{context}a key must be a single word")
        elif key in entries:
            problems.add(key_node, f"{context}{shortened(key)}: the key is given twice")
        elif known and key not in known:
            problems.add(key_node, f"{context}{shortened(key)}: unknown key.{did_you_mean(key, known)}")
        else:
            entries[key] = (key_node, value_node)
    return entries


def _read_node(node: yaml.Node, context: str, problems: _Problems) -> object:
    """Return a node as text, lists and dicts; record unquoted text that YAML would not read as text."""
    key = context.rpartition(": ")[2]
    if isinstance(node, yaml.SequenceNode):
        return [_read_node(item, context, problems) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        entries = _read_entries(node, (), f"{context}: ", problems)
        inside = {"trends": "rows: trends"} if context == "rows" else {}  # numbers that a reading of the table wrote
        return {name: _read_node(value, inside.get(name, context), problems) for name, (_, value) in entries.items()}
    text = str(node.value)
    if getattr(node, "style", None) not in ("'", '"', "|", ">") and key not in _FREE_OF_QUOTES:
        kind, shown = misread_as(text), shortened(text)
        if text == "":
            problems.add(node, f"{context}: {_NO_VALUE}")
        elif kind and not (key == "missing_codes" and _is_ordinary_number(text)):
            problems.add(node, f'{context}: YAML reads {shown} as {kind}; write it in quotes: "{shown}"')
    return text


def _is_ordinary_number(text: str) -> bool:
    """Return whether a person reads the same number as YAML: not for 012 (octal), 1_000 or 12:30 (base 60)."""
    digits = text.lstrip("+-")
    return bool(NUMBER.fullmatch(text)) and not (len(digits) > 1 and digits[0] == "0" and digits[1].isdigit())


_TOP_KEYS = ("clinclust", "title", "missing_codes", "other_columns", "rows", "features")


def read_yaml(path_or_text: str | os.PathLike[str]) -> tuple[list[Feature], dict[str, Any]]:
    """Return the features, and the other arguments of `FeatureSchema` (see `FeatureSchema.from_yaml`)."""
    if isinstance(path_or_text, str) and _looks_like_yaml(path_or_text):
        return _read_schema(path_or_text)
    try:
        return _read_schema(_read_text(Path(path_or_text)))
    except SchemaError as error:
        raise SchemaError(list(error.problems), shown_name(Path(path_or_text))) from None


def _looks_like_yaml(text: str) -> bool:
    encoded = text.encode(errors="replace")
    is_path = len(encoded) <= _LONGEST_PATH and max(map(len, re.split(rb"[/\\]", encoded))) <= _LONGEST_NAME
    is_yaml = "\n" in text or not text.strip() or ": " in text or text.lstrip().startswith(("{", "["))
    return is_yaml or not is_path


def _read_schema(text: str) -> tuple[list[Feature], dict[str, Any]]:
    problems = _Problems()
    top = _read_top(text, problems)
    settings = _read_settings(top, problems)
    features = _read_features(top, problems)
    nodes = {feature.name: node for feature, node in features}
    for name, sentence in problems_among([feature for feature, _ in features], settings.get("missing_codes", [""])):
        problems.add(nodes[name], f"{shortened(name)}: {sentence}")
    if problems:
        raise problems.error()
    return [feature for feature, _ in features], settings


def _read_settings(top: Entries, problems: _Problems) -> dict[str, Any]:
    of_values = _Problems()
    arguments = {key: node for key, (_, node) in top.items() if key not in ("features", "clinclust")}
    settings = {key: _read_node(node, key, of_values) for key, node in arguments.items()}
    problems += of_values
    lines = {line for line, _ in of_values}
    for problem in problems_of_settings(settings):
        node = top[problem.partition(":")[0]][0]
        if node.start_mark.line + 1 not in lines:  # once is enough
            problems.add(node, problem)
    return settings


def _read_top(text: str, problems: _Problems) -> Entries:
    root = _compose(text)
    if root is None:
        raise SchemaError("line 1: the schema is empty; it must begin with `clinclust: 1` and list `features`")
    if not isinstance(root, yaml.MappingNode):
        raise SchemaError("line 1: a schema is a mapping that begins with `clinclust: 1`, not a list or a single value")
    top = _read_entries(root, _TOP_KEYS, "", problems)
    if "clinclust" not in top:
        problems.append((1, f"`clinclust: {FORMAT_VERSION}`, the version of the format, is missing"))
    else:
        version = top["clinclust"][1]
        if not isinstance(version, yaml.ScalarNode) or version.value != str(FORMAT_VERSION):
            problems.add(version, f"clinclust: this program reads version {FORMAT_VERSION} of the format only")
    if "features" not in top:
        problems.append((1, "`features`, the list of features, is missing"))
    return top


def _read_features(top: Entries, problems: _Problems) -> list[tuple[Feature, yaml.Node]]:
    if "features" not in top:
        return []
    node = top["features"][1]
    if not isinstance(node, yaml.SequenceNode) or not node.value:
        problems.add(node, "features: must be a list of features, each such as `- {name: age, likelihood: gaussian}`")
        return []
    features, names = [], set[str]()
    for item in node.value:
        name = _declared_name(item)
        if name in names:
            problems.add(item, f"{shortened(name)}: {TWICE}")
        names.update([name] if name else [])
        feature = _read_feature(item, name, problems)
        features += [] if feature is None else [(feature, item)]
    return features


def _declared_name(node: yaml.Node) -> str:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    name = next((value.value for key, value in pairs if key.value == "name"), "")
    return name if isinstance(name, str) else ""


def _read_feature(node: yaml.Node, name: str, problems: _Problems) -> Feature | None:
    if not isinstance(node, yaml.MappingNode):
        problems.add(node, "a feature is a mapping such as {name: age, likelihood: gaussian}")
        return None
    context = f"{shortened(name)}: " if name else ""
    n_before = len(problems)
    entries = _read_entries(node, (), context, problems)
    fields: dict[str, object] = {}
    faulty: set[str | None] = set()
    for key, (_, value) in entries.items():
        of_value = _Problems()
        fields[key] = _read_node(value, f"{context}{key}", of_value)
        if of_value and key in Feature.model_fields:  # of an unknown key, its name is what is wrong
            problems += of_value
            faulty.add(key)
    try:
        feature = Feature(**fields)
    except FeatureError as error:
        for field, sentence in error.by_field:
            if field not in faulty:  # once is enough
                key_node, value = entries.get(field or "", (node, node))
                is_lone = field not in Feature.model_fields and value.value == ""
                hint = _OF_A_LONE_KEY if is_lone else ""
                about = f"{shortened(field)}: " if field else ""
                problems.add(key_node, f"{context}{about}{sentence}{hint}")
        return None
    return feature if len(problems) == n_before else None
