"""Counts of the source: how large the package is, how its modules depend on each other, and how it is worded.

    python benchmarks/house.py              # this tree, with its budget and its goal
    python benchmarks/house.py OTHER        # compared with another tree, such as an earlier version
    python benchmarks/house.py --lower      # write the counts that fell into the budget

The package is read and not imported, so that any version can be counted. `house.toml` holds the budget, which
`tests/test_house.py` compares with the tree, and the words that are counted.
"""

from __future__ import annotations

import argparse
import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

HERE = Path(__file__).parents[1]
HOUSE = Path(__file__).with_name("house.toml")
WORDS = tomllib.loads(HOUSE.read_text(encoding="utf-8"))["words"]
IDIOMS = re.compile(rf"\b(?:{'|'.join(WORDS['idioms'])})\b".replace(" ", r"\s+"), re.IGNORECASE)
# Strings come first, so that a number sign inside one begins no comment: `"# of visits"`.
COMMENTS = re.compile(r'"""(?:.|\n)*?"""|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|(^[ \t]*)?#(.*)', re.MULTILINE)
SMALL_MODULE = 60  # lines
MANY_PARAMETERS = 9  # of a function, without self and cls

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
Counts = dict[str, dict[str, float]]  # by room, and by what is counted; those of the whole package are under PACKAGE
Budget = dict[str, dict[str, list[float]]]  # the same, each as [budget] or [budget, goal]
PACKAGE = "package"
SIZES = ("lines", "files", "names")  # of a room
COMMENT_LINES = "comment lines, %"  # the one count that should rise
RULE = "A budget may fall in any commit (`house.py --lower`). It rises only in one that says what left instead."


@dataclass(frozen=True)
class Module:
    """A module of the package: its name without `clinclust.`, its room, its text and its syntax tree."""

    name: str
    room: str  # its folder in clinclust/, or "top"
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the syntax tree."""
        return list(ast.walk(self.tree))

    @cached_property
    def n_lines(self) -> int:
        """The number of lines."""
        return self.text.count("\n")

    @cached_property
    def functions(self) -> list[FunctionNode]:
        """The functions and methods."""
        return [node for node in self.nodes if isinstance(node, FunctionNode)]

    @cached_property
    def docstrings(self) -> dict[ast.expr, str]:
        """The text of every docstring, by its node."""
        texts = {}
        for node in self.nodes:
            if isinstance(node, Documented) and (text := ast.get_docstring(node)):
                first = node.body[0]
                assert isinstance(first, ast.Expr)
                texts[first.value] = text
        return texts

    @cached_property
    def comments(self) -> list[tuple[str, bool]]:
        """The text of every comment, and whether it has its line to itself."""
        return [(m[2], m[1] is not None) for m in COMMENTS.finditer(self.text) if m[2] is not None]

    @cached_property
    def wording(self) -> str:
        """What the module says to people: docstrings, comments and messages (other strings of several words)."""
        constants = [node for node in self.nodes if isinstance(node, ast.Constant) and node not in self.docstrings]
        strings = [node.value for node in constants if isinstance(node.value, str)]
        messages = [text for text in strings if " " in text.strip()]
        return "\n\n".join([*self.docstrings.values(), *messages, "\n".join(text for text, _ in self.comments)])


@cache
def read_modules(tree: Path) -> dict[str, Module]:
    """Return the modules of the package in a tree, by name."""
    modules = {}
    for path in sorted((tree / "clinclust").rglob("*.py")):
        parts = path.relative_to(tree / "clinclust").with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        modules[name] = Module(name, parts[0] if len(parts) > 1 else "top", path.read_text(encoding="utf-8"))
    return modules


# How modules depend on each other


def map_imports(modules: dict[str, Module]) -> dict[str, set[str]]:
    """Return the modules of the package that each of them names in an import, anywhere: also lazy and for types.

    `from clinclust.room import name` imports `room.name` where that is a module, and else `room`.
    """
    imports: dict[str, set[str]] = {name: set() for name in modules}
    for name, module in modules.items():
        for node in module.nodes:
            if isinstance(node, ast.ImportFrom):
                targets = [(f"{node.module}.{alias.name}", node.module or "") for alias in node.names]
            elif isinstance(node, ast.Import):
                targets = [(alias.name, alias.name) for alias in node.names]
            else:
                continue
            for longest, shortest in targets:
                if longest.split(".")[0] == "clinclust" and not longest.endswith("__version__"):
                    inside = longest.removeprefix("clinclust").lstrip(".")
                    imports[name].add(inside if inside in modules else shortest.removeprefix("clinclust").lstrip("."))
        imports[name].discard(name)
    return imports


def find_circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Return the largest groups of modules in which each one imports every other, directly or through others."""
    below = {}
    for name in imports:
        below[name] = set[str]()
        waiting = [name]
        while waiting:
            new = imports.get(waiting.pop(), set()) - below[name]
            below[name] |= new
            waiting.extend(new)
    groups = {frozenset(b for b in below[a] if a in below.get(b, ())) for a in imports if a in below[a]}
    return sorted(sorted(group) for group in groups)


def count_inside_functions(module: Module) -> int:
    """Return the number of imports inside functions."""
    inside = {node for function in module.functions for node in ast.walk(function)}
    return sum(isinstance(node, ast.Import | ast.ImportFrom) for node in inside)


# How it is named and worded


def count_public(module: Module) -> int:
    """Return the number of functions, classes and constants of a module without a leading underscore."""
    names: set[str] = set()
    for node in module.tree.body:
        if isinstance(node, FunctionNode | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))
    return sum(not name.startswith("_") for name in names)


def count_parameters(function: FunctionNode) -> int:
    """Return the number of parameters, without self and cls."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return sum(argument is not None and argument.arg not in ("self", "cls") for argument in every)


def begins_with_verb(function: FunctionNode) -> bool:
    """Return whether a name begins with a usual verb. Properties are values, and Python names special methods."""
    decorators = [ast.unparse(decorator) for decorator in function.decorator_list]
    is_value = any("property" in decorator or decorator.endswith(".setter") for decorator in decorators)
    return is_value or function.name.startswith("__") or function.name.strip("_").split("_")[0] in WORDS["verbs"]


def count_mentions(nodes: Sequence[ast.AST]) -> Counter[str]:
    """Return how often each name is used, other than in its definition and in imports."""
    names = (node.id for node in nodes if isinstance(node, ast.Name))
    return Counter(names) + Counter(node.attr for node in nodes if isinstance(node, ast.Attribute))


def count_idioms(modules: Sequence[Module]) -> Counter[str]:
    """Return how often each idiom that the field does not use occurs in docstrings, comments and messages."""
    return Counter(" ".join(text.lower().split()) for module in modules for text in IDIOMS.findall(module.wording))


# The counts, and their budget


def count_house(tree: Path) -> Counts:
    """Return the counts of each room of a tree, and those of the whole package."""
    by_name = read_modules(tree)
    modules = list(by_name.values())
    imports = map_imports(by_name)
    rooms: dict[str, Counter[str]] = {}
    for module in modules:
        room = rooms.setdefault(module.room, Counter(dict.fromkeys([*SIZES, "circular"], 0)))
        room.update(lines=module.n_lines, files=1, names=count_public(module))
    for name in (name for circle in find_circles(imports) for name in circle):
        rooms[by_name[name].room]["circular"] += 1
    nodes = [node for module in modules for node in module.nodes]
    functions = [function for module in modules for function in module.functions]
    importers = Counter(target for targets in imports.values() for target in targets)
    mentions = count_mentions(nodes)
    targets = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    import_lines = sum(
        (node.end_lineno or 0) - node.lineno + 1 for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)
    )
    lines = sum(module.n_lines for module in modules)
    return {
        PACKAGE: {
            "import lines, %": round(100 * import_lines / lines, 1),
            COMMENT_LINES: round(100 * sum(alone for module in modules for _, alone in module.comments) / lines, 1),
            "imports inside functions": sum(map(count_inside_functions, modules)),
            "modules with one importer": sum(importers[name] == 1 for name in by_name),
            f"modules under {SMALL_MODULE} lines": sum(module.n_lines < SMALL_MODULE for module in modules),
            f"functions of {MANY_PARAMETERS} or more parameters": sum(
                count_parameters(function) >= MANY_PARAMETERS for function in functions
            ),
            "functions used once": sum(
                mentions[node.name] == 1
                for module in modules
                for node in module.tree.body
                if isinstance(node, FunctionNode)
            ),
            "functions without a verb": sum(not begins_with_verb(function) for function in functions),
            "participles as names": sum(targets[word] for word in WORDS["participles"]),
            "pronouns as names": sum(targets[word] for word in WORDS["pronouns"]),
            "idioms": count_idioms(modules).total(),
            "words of docstrings": sum(len(text.split()) for module in modules for text in module.docstrings.values()),
            "lines of tests": sum(path.read_bytes().count(b"\n") for path in (tree / "tests").rglob("*.py")),
        },
        **{room: dict(rooms[room]) for room in sorted(rooms)},
    }


def read_budget(path: Path = HOUSE) -> Budget:
    """Return the budget, and the goal where there is one, of each count."""
    house = tomllib.loads(path.read_text(encoding="utf-8"))
    return {PACKAGE: house["package"], **house["rooms"]}


def is_worse(what: str, count: float, limit: float) -> bool:
    """Return whether a count breaks a limit: it is above it, or below it where more is better."""
    return count < limit if what == COMMENT_LINES else count > limit


def list_excesses(counts: Counts, budget: Budget) -> list[str]:
    """Return a line for each count that breaks its budget. A room without a budget has one of nothing."""
    return [
        f"{room}: {count:,} {what}, budget {limit:,}"
        for room, row in counts.items()
        for what, count in row.items()
        if room != PACKAGE or what in budget[PACKAGE]
        if is_worse(what, count, limit := budget.get(room, {}).get(what, [0])[0])
    ]


def lower_budget(text: str, counts: Counts) -> str:
    """Return the text of `house.toml` with the budgets that the counts are better than."""

    def lower(entry: re.Match[str]) -> str:
        what = entry["what"].strip('"')
        count, limit = counts.get(room, {}).get(what, 0), float(entry["limit"])
        return entry[0] if not is_worse(what, limit, count) else f"{entry['what']} = [{count:_}"

    lines = []
    for line in text.splitlines(keepends=True):
        room = line.split(" = ")[0] if " = {" in line else PACKAGE
        lines.append(re.sub(r'(?P<what>\w+|"[^"]+") = \[(?P<limit>[\d_.]+)', lower, line))
    return "".join(lines)


def render_table(counts: Counts, budget: Budget, other: Counts | None = None) -> Iterator[str]:
    """Yield the lines of a table: this tree with its budget and goal, or with the other tree and the change."""
    columns = ["now", "budget", "goal"] if other is None else ["now", "other", "change"]
    rooms = [room for room in {**counts, **(other or {})} if room != PACKAGE]

    def render_cells(names: Sequence[str], what: str) -> list[str]:
        count = sum(counts.get(name, {}).get(what, 0) for name in names)
        if other is not None:
            there = sum(other.get(name, {}).get(what, 0) for name in names)
            return [f"{count:,}", f"{there:,}", f"{round(count - there, 1):+,}"]
        pairs = [budget.get(name, {}).get(what, []) for name in names]
        limits = [
            sum(pair[place] for pair in pairs) if all(pair[place:] for pair in pairs) else None for place in (0, 1)
        ]
        return [f"{count:,}", *("" if limit is None else f"{limit:,}" for limit in limits)]

    def render_row(heading: str, cells: Sequence[str]) -> str:
        return f"{heading:<36}" + "".join(f"{cell:>9}" for cell in cells)

    yield render_row("", [cell for what in SIZES for cell in ("", "", what)])
    yield render_row("room", columns * len(SIZES))
    for heading, names in [*((room, [room]) for room in rooms), ("all rooms", rooms)]:
        yield render_row(heading, [cell for what in SIZES for cell in render_cells(names, what)])
    yield ""
    yield render_row("package", columns)
    for what in counts[PACKAGE]:
        yield render_row(what, render_cells([PACKAGE], what))


def main() -> None:
    """Print the counts of this tree, and of another one if it is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, nargs="?", help="another tree of the project, to compare with")
    parser.add_argument("--lower", action="store_true", help="write the counts that fell into the budget")
    arguments = parser.parse_args()
    counts = count_house(HERE)
    if arguments.lower:
        HOUSE.write_text(lower_budget(HOUSE.read_text(encoding="utf-8"), counts), encoding="utf-8")
    budget = read_budget()
    print(*render_table(counts, budget, count_house(arguments.other) if arguments.other else None), sep="\n")
    modules = read_modules(HERE)
    for idiom, count in count_idioms(list(modules.values())).items():
        print(f"idiom: {idiom} ({count})")
    for circle in find_circles(map_imports(modules)):
        print("import circle:", *circle)
    if excesses := list_excesses(counts, budget):
        print("", "over the budget:", *excesses, RULE, sep="\n")


if __name__ == "__main__":
    main()
