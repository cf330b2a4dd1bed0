"""Counts of the source: how large the package is, how its modules depend on each other, and how it is worded.

    python benchmarks/house.py              # this tree
    python benchmarks/house.py OTHER        # compared with another tree, such as an earlier version

The package is read and not imported, so that any version can be counted. The order of the layers is the one in the
tree's own `tests/test_layers.py`.
"""

from __future__ import annotations

import argparse
import ast
import re
import runpy
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parents[1]
IDIOMS: dict[str, str] = tomllib.loads((HERE / "benchmarks" / "idioms.toml").read_text(encoding="utf-8"))["idioms"]
SMALL_MODULE = 60  # lines
MANY_PARAMETERS = 9  # of a function, without self and cls
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

Modules = dict[str, ast.Module]


def modules_of(tree: Path) -> tuple[Modules, dict[str, str]]:
    """Return the parsed modules of the package in a tree, and their texts, by name without `clinclust.`."""
    texts = {}
    for path in sorted((tree / "clinclust").rglob("*.py")):
        parts = path.relative_to(tree / "clinclust").with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        texts[name] = path.read_text(encoding="utf-8")
    return {name: ast.parse(text) for name, text in texts.items()}, texts


def room_of(module: str) -> str:
    """Return the folder of a module, or the module where it has none."""
    return module.split(".")[0] or "__init__"


def imports_of(modules: Modules) -> dict[str, set[str]]:
    """Return the modules of the package that each of them names in an import, anywhere: also lazy and for types.

    `from clinclust.room import name` imports `room.name` where that is a module, and else `room`.
    """
    found: dict[str, set[str]] = {name: set() for name in modules}
    for name, module in modules.items():
        for node in ast.walk(module):
            if isinstance(node, ast.ImportFrom):
                named = [(f"{node.module}.{alias.name}", node.module or "") for alias in node.names]
            elif isinstance(node, ast.Import):
                named = [(alias.name, alias.name) for alias in node.names]
            else:
                continue
            for longest, shortest in named:
                if longest.split(".")[0] == "clinclust" and not longest.endswith("__version__"):
                    inside = longest.removeprefix("clinclust").lstrip(".")
                    found[name].add(inside if inside in modules else shortest.removeprefix("clinclust").lstrip("."))
        found[name].discard(name)
    return found


def circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Return the largest groups of modules in which each one imports every other, directly or through others."""
    reached = {}
    for name in imports:
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            new = imports.get(waiting.pop(), set()) - seen
            seen |= new
            waiting.extend(new)
        reached[name] = seen
    groups = {frozenset(b for b in reached[a] if a in reached.get(b, ())) for a in imports if a in reached[a]}
    return sorted(sorted(group) for group in groups)


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the number of parameters, without self and cls."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return sum(each is not None and each.arg not in ("self", "cls") for each in named)


def docstrings_of(module: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield the node and the text of every docstring."""
    for node in ast.walk(module):
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            first = node.body[0]
            assert isinstance(first, ast.Expr)
            yield first.value, text


def wording_of(module: ast.Module, text: str) -> str:
    """Return what a module says to people: its docstrings, comments and messages (other strings of several words)."""
    docstrings = dict(docstrings_of(module))
    said = list(docstrings.values())
    said += [
        node.value
        for node in ast.walk(module)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip()
        if node not in docstrings
    ]
    lines = iter(text.splitlines(keepends=True))
    tokens = tokenize.generate_tokens(lambda: next(lines, ""))
    comments = "\n".join(token.string.lstrip("#") for token in tokens if token.type == tokenize.COMMENT)
    return "\n\n".join([*said, comments])


def idioms_in(wording: str) -> Counter[str]:
    """Return how often each banned idiom occurs in a text."""
    counts: Counter[str] = Counter()
    for idiom in IDIOMS:
        counts[idiom] = len(
            re.findall(rf"\b{re.escape(idiom).replace(chr(92) + ' ', chr(92) + 's+')}\b", wording, re.I)
        )
    return counts


def public_names(module: ast.Module) -> int:
    """Return the number of names in `__all__`."""
    for node in module.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return len(ast.literal_eval(node.value))
    return 0


def counts_of(tree: Path) -> dict[str, Counter[str]]:
    """Return the counts of a tree under four headings: of all, of each idiom, and lines and files of each room."""
    modules, texts = modules_of(tree)
    layers = runpy.run_path(str(tree / "tests" / "test_layers.py"))
    imports = imports_of(modules)
    importers = Counter(imported for names in imports.values() for imported in names)
    nodes = [node for module in modules.values() for node in ast.walk(module)]
    parameters = [parameters_of(node) for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    lines = {name: text.count("\n") for name, text in texts.items()}
    idioms = sum((idioms_in(wording_of(modules[name], texts[name])) for name in modules), Counter[str]())
    of_all = {
        "lines": sum(lines.values()),
        "files": len(lines),
        "imports upwards": len(layers["upward"](layers["all_imports"]())),
        "modules in import circles": sum(map(len, circles(imports))),
        "modules with one importer": sum(importers[name] == 1 for name in modules),
        f"modules under {SMALL_MODULE} lines": sum(count < SMALL_MODULE for count in lines.values()),
        f"functions of {MANY_PARAMETERS} or more parameters": sum(count >= MANY_PARAMETERS for count in parameters),
        "public names": public_names(modules[""]),
        "words of docstrings": sum(len(text.split()) for each in modules.values() for _, text in docstrings_of(each)),
        "banned idioms": idioms.total(),
    }
    rooms: dict[str, Counter[str]] = {"lines": Counter(), "files": Counter()}
    for name, count in lines.items():
        rooms["lines"][room_of(name)] += count
        rooms["files"][room_of(name)] += 1
    return {"": Counter(of_all), "idiom": idioms, "lines of room": rooms["lines"], "files of room": rooms["files"]}


def table(ours: dict[str, Counter[str]], theirs: dict[str, Counter[str]] | None) -> Iterator[str]:
    """Yield the lines of a readable table: this tree, and the other one with the difference."""
    columns = ["this tree"] if theirs is None else ["this tree", "other tree", "change"]
    for heading, here in ours.items():
        there = theirs[heading] if theirs else Counter[str]()
        yield "".join([f"{heading:<38}", *(f"{column:>12}" for column in columns)])
        names = [*here, *(name for name in there if name not in here)]
        for name in names if not heading else sorted(names, key=lambda name: -here[name]):
            numbers = [f"{here[name]:,}", f"{there[name]:,}", f"{here[name] - there[name]:+,}"]
            yield "".join([f"  {name:<36}", *(f"{number:>12}" for number in numbers[: len(columns)])])
        yield ""


def main() -> None:
    """Print the counts of this tree, and of another one if it is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, nargs="?", help="another tree of the project, to compare with")
    other = parser.parse_args().other
    print(*table(counts_of(HERE), counts_of(other) if other else None), sep="\n")
    for group in circles(imports_of(modules_of(HERE)[0])):
        print("import circle:", *group)


if __name__ == "__main__":
    main()
