"""A schema as YAML: changed roles, writing, repairs, and reading."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

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


# Repairs of text that YAML cannot read.

_TYPOGRAPHIC = re.compile(r"[“”„‟«»‘’‚‹›].*[“”„‟«»‘’‚‹›]", re.DOTALL)
_STRAIGHT = str.maketrans(dict.fromkeys("“”„‟«»‘’‚‹›", ""))
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'")
_COMMA_ALONE = re.compile(r"(?P<key>decimal|thousands)\s*:\s*,")
_NO_SPACE_IN_DASH = re.compile(r"\s*-[^\s-]")
_TWO_COLONS = re.compile(r"(?P<key>[\w ]+?)\s*:\s+(?P<text>[^\"'\[{][^,}\]]*:(?:\s[^,}\]]*|$))")
_STARTS = re.compile(r"(?:[:,\[{]|^\s*-)\s*(?P<text>[%@`|>&*!?][^,\]}]*)")
_BRACKET_INSIDE = re.compile(r"[{,]\s*\w+\s*:\s+(?P<text>[^\s\"'\[{,:#][^,:\[\]{}]*[\[{][^,]*[\]}](?=\s*[,}]))")
_AFTER_QUOTES = re.compile(r"(?P<text>(?P<mark>['\"])(?:(?!(?P=mark)).)*(?P=mark)\s*[^\s,:\]}#].*)")
_KEYS = "|".join(Feature.model_fields)
_WHYS = (
    (_STARTS, "begins with a sign that means something else in YAML"),
    (_TWO_COLONS, "holds a colon and a space"),
    (_BRACKET_INSIDE, "holds a bracket"),
)
_NO_COMMA = re.compile(
    rf"[{{,]\s*(?P<key>\w+)\s*:\s+(?P<value>[^\s\"'\[{{,:;][^\"'\[{{,:;]*?|\"\"|\[[^\]]*\])"
    rf"(?P<gap>\s*;\s*|\s+)(?P<next>{_KEYS})\s*:(?=\s)"
)
_LONGEST_LINE = 1000
_CLOSED_BY = {"[": "]", "{": "}"}


def typographic_quotes(text: str) -> str | None:
    """Return the text without enclosing typographic quotes; None if it has none."""
    return text.translate(_STRAIGHT).strip() if _TYPOGRAPHIC.fullmatch(text.strip()) else None


def with_odd_spaces(text: str) -> int | None:
    """Return the first line, from 1, that begins with spaces that YAML takes for letters, or None."""
    found = re.search(r"^[ ]*[\u00a0\u2000-\u200b\u202f\u3000]", text, re.MULTILINE)
    return text[: found.start()].count("\n") + 1 if found else None


def said_of_lone_key(key: str) -> str:
    """Return what is wrong with a word between commas that has no colon: a part of a text, or of a number."""
    shown = shortened(key)
    if ":" in key:
        return f"{shown!r} has no space after its colon: write {': '.join(shown.split(':', 1))}"
    return (
        f"{shown!r} is between commas without a key: write a text with a comma in quotes, such as "
        '"Pain, at night", and a number has a decimal point, such as 0.5'
    )


def repair_of(error: yaml.MarkedYAMLError, text: str) -> tuple[int, str]:
    """Return the line at fault in a document, from 1, and a sentence on the repair."""
    lines = text.split("\n")
    marks = [mark.line for mark in (error.problem_mark, error.context_mark) if mark is not None] or [0]
    at = min(marks[0], len(lines) - 1)
    begun = min(marks[-1], at)
    for line in dict.fromkeys((at, begun, max(at - 1, 0))):
        said = _said_of_line(lines[line])
        if said is not None:
            return line + 1, said
    for first in (begun, 0):
        opened = _never_closed(lines[first : at + 1])
        if opened is not None:
            return first + opened[0] + 1, opened[1]
    return at + 1, _said_of_dash(lines, at) or _said_of_structure(str(error.problem or error.context), lines[at])


def _said_of_line(line: str) -> str | None:
    if len(line) > _LONGEST_LINE:  # the patterns take time that grows with its square
        return None
    if line.lstrip().startswith("#"):  # a comment
        return None
    outside = _QUOTED.sub('""', line)
    if "\t" in line:
        return "the line holds a tab, which YAML does not allow there: write spaces"
    comma = _COMMA_ALONE.search(outside)
    if comma:
        return f'{comma["key"]}: a comma alone means nothing in YAML: write {comma["key"]}: ","'
    if _NO_SPACE_IN_DASH.match(outside) and not outside.strip().startswith("---"):
        return "there is no space after the -: write `- ` before each feature or level"
    if lacking := _NO_COMMA.search(outside):
        return _said_of_comma(lacking)
    for pattern, why in _WHYS:
        if found := pattern.search(outside):
            return f"{_written(found['text'])} {why}: write it in quotes: {_in_quotes(found['text'])}"
    found = _AFTER_QUOTES.search(line)
    if found:
        return (
            f"a text goes on after its quotes, or holds quotes ({_written(found['text'])}): write the whole "
            'text in quotes of the other kind, such as \'the "bad" day\' or "patient\'s view"'
        )
    return None


def _said_of_comma(found: re.Match[str]) -> str:
    value = found["value"] if found["value"][0] not in '"[' else "..."
    before, after = f"{found['key']}: {value.strip()}", f"{found['next']}:"
    between = "a semicolon" if ";" in found["gap"] else "no comma"
    return f"there is {between} between {_written(before)} and {_written(after)}: write {before}, {after}"


def _written(text: str) -> str:
    return repr(shortened(text.strip()))


def _in_quotes(text: str) -> str:
    shown = shortened(text.strip())
    return f"'{shown}'" if '"' in shown or "\\" in shown else f'"{shown}"'


@dataclass
class _Open:
    """An open bracket or quote: its sign, its line, and whether a comment follows."""

    sign: str
    line: int
    is_cut: bool = False


def _never_closed(lines: list[str]) -> tuple[int, str] | None:
    """Return the line, from 0, of a bracket or quote that is not closed, and the repair; or None."""
    opened: list[_Open] = []
    for number, line in enumerate(lines):
        before = ","  # the last sign that is no space: only after some signs does a text begin
        for at, sign in enumerate(line):
            in_quotes = opened and opened[-1].sign in "'\""
            if in_quotes:
                if sign == opened[-1].sign and line[at - 1] != "\\":
                    opened.pop()
            elif sign == "#" and (at == 0 or line[at - 1] in " ["):
                opened = [replace(each, is_cut=True) if each.line == number else each for each in opened]
                break
            elif sign in "[{'\"" and before in ":,[{-":
                opened.append(_Open(sign, number))
            elif sign in "]}" and opened:
                if sign != _CLOSED_BY[opened[-1].sign]:
                    return number, _not_closed(opened[-1])
                opened.pop()
            before = before if sign == " " else sign
    return (opened[-1].line, _not_closed(opened[-1])) if opened else None


def _not_closed(opened: _Open) -> str:
    if opened.sign in _CLOSED_BY:
        said = f"the {opened.sign} that opens here is not closed: write {_CLOSED_BY[opened.sign]} where it ends"
        return f"{said}; texts with a # stand in quotes, because it begins a comment" if opened.is_cut else said
    return f"the text that opens with {opened.sign} here is not closed: write {opened.sign} at its end"


def _said_of_dash(lines: list[str], at: int) -> str | None:
    line = lines[at]
    above = next((each for each in reversed(lines[:at]) if each.lstrip().startswith("- ")), None)
    if above is None or not line.lstrip().startswith("- "):
        return None
    found, wanted = (len(each) - len(each.lstrip(" ")) for each in (line, above))
    if found == wanted:
        return None
    return (
        f"the - is behind {found} space{'' if found == 1 else 's'}, and the one above it behind {wanted}: write "
        f"{wanted} before it, as before each feature"
    )


def _said_of_structure(problem: str, line: str) -> str:
    if line.strip().startswith(("---", "...")):
        return "a second document begins here, and a schema is one: delete this line and what follows"
    if "simple key" in problem or "expected ':'" in problem or "expected key" in problem:
        return "this is not `key: value`: write a key, a colon, a space and its value"
    if "mapping values" in problem or "indicator" in problem:
        return "the line does not stand below the one above it: keys of one feature begin in the same column"
    return (
        f"this is not valid YAML ({problem}): compare it with a line that a draft wrote, and put texts with signs such "
        'as : # , [ ] { } in quotes: "..."'
    )


# Read a feature schema from YAML; unknown keys, repeated keys and ambiguous values are errors.

_Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_DEEPEST = 8  # levels of nested collections; a valid schema has at most five
_LARGEST = 10 * 2**20  # bytes of a file: a hundred thousand features
_FREE_OF_QUOTES = (
    *("role", "likelihood", "transform", "contrast", "trials", "minimum", "maximum", "spike", "limit", "complete"),
    "prior",
    "trends",
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
        inside = {"trends": "rows: trends"} if context == "rows" else {}  # numbers that a reading of the table wrote
        return {name: plain(value, inside.get(name, context), problems) for name, (_, value) in entries.items()}
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
