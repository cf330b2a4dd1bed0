"""Imports run one way: each room of the package knows only the rooms below it, and no modules of a room form a circle.

Three kinds of import are told apart: those that run when the module is imported, those for type checkers only, and lazy
ones inside functions. The order holds for all three.
"""

import ast
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "clinclust"

# From the bottom up. Rooms of one line do not know each other. A folder of `engine` is a room of its own.
LAYERS = (
    ("data", "errors", "arrays", "progress", "roles"),
    ("arguments",),
    ("files",),
    ("priors",),
    ("likelihoods",),
    ("schema",),
    ("drafting",),
    ("engine.kernels",),
    ("engine.problem",),
    ("engine.search",),
    ("engine.joint_estimates",),
    ("engine.sampling",),
    ("engine.continuum",),
    ("estimators",),
    ("comparisons",),
    ("associations", "disclosure", "outcomes"),
    ("stability", "check", "drift", "methods"),
    ("reporting",),
    ("plots",),  # the figures of reporting, for users
    ("cli",),
    ("",),  # clinclust/__init__.py, the public names of all rooms
    ("__main__",),  # python -m clinclust
)
HEIGHT = {room: height for height, rooms in enumerate(LAYERS) for room in rooms}


@dataclass(frozen=True)
class Import:
    """One import of a module of the package by another."""

    importer: str
    imported: str
    kind: str  # "module", "typing" or "lazy"
    line: int

    @property
    def rooms(self):
        """The room that imports, and the room that is imported."""
        return room_of(self.importer), room_of(self.imported)


def room_of(module):
    """Return the room of a module, named without `clinclust.`: its folder, or the module where it lies in none."""
    parts = module.split(".")
    return ".".join(parts[: 2 if parts[0] == "engine" else 1])


def imports_of(source, importer):
    """Return the imports of modules of the package in the source of a module.

    `from clinclust.room import name` imports `clinclust.room`, and `from clinclust import name` one of
    the public names. The version is no room's: any module may read it.
    """
    found = []

    def visit(node, kind):
        if isinstance(node, ast.ImportFrom | ast.Import):
            assert not getattr(node, "level", 0), f"{importer}, line {node.lineno}: write imports in full"
            modules = [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            is_version = modules == ["clinclust"] and [alias.name for alias in node.names] == ["__version__"]
            inside = [module for module in modules if module.split(".")[0] == "clinclust" and not is_version]
            found.extend(
                Import(importer, module.removeprefix("clinclust").lstrip("."), kind, node.lineno) for module in inside
            )
        typing_only = isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
        if kind == "module" and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            kind = "lazy"
        for field, value in ast.iter_fields(node):
            children = value if isinstance(value, list) else [value]
            for child in children:
                if isinstance(child, ast.AST):
                    visit(child, "typing" if typing_only and field == "body" else kind)

    visit(ast.parse(source), "module")
    return found


def modules_of(package=PACKAGE):
    """Yield every module of the package, named without `clinclust.`, with its file."""
    for path in sorted(package.rglob("*.py")):
        yield ".".join(path.relative_to(package).with_suffix("").parts).removesuffix("__init__").rstrip("."), path


@cache
def all_imports(package=PACKAGE):
    """Return every import inside the package."""
    return [found for name, path in modules_of(package) for found in imports_of(path.read_text(encoding="utf-8"), name)]


def upward(imports):
    """Return the imports between rooms that do not run downwards."""
    return [
        found
        for found in imports
        if found.rooms[0] != found.rooms[1] and HEIGHT[found.rooms[0]] <= HEIGHT[found.rooms[1]]
    ]


def circle(imports):
    """Return the modules of a circle of imports, whatever their kind; empty if there is none."""
    below = {}
    for found in imports:
        below.setdefault(found.importer, set()).add(found.imported)
    try:
        TopologicalSorter(below).prepare()
    except CycleError as error:
        return set(error.args[1])
    return set()


def circle_in(room):
    """Return a circle among the modules of one room."""
    modules = {name for name, _ in modules_of()}
    inside = [
        Import(found.importer, module, found.kind, found.line)
        for found in all_imports()
        if found.rooms == (room, room)
        for module in {found.imported} & modules - {found.importer}
    ]
    return circle(inside)


def test_circles_are_found_whatever_the_kind_of_import():
    edges = [("a", "b", "module"), ("b", "c", "lazy"), ("c", "a", "typing"), ("c", "d", "module"), ("d", "e", "module")]
    assert circle([Import(*edge, 1) for edge in edges]) == {"a", "b", "c"}
    assert circle([Import(*edge, 1) for edge in edges[:2] + edges[3:]]) == set()


@pytest.mark.parametrize("room", HEIGHT)
def test_no_modules_of_a_room_import_each_other_in_a_circle(room):
    assert circle_in(room) == set()


def test_kinds_of_import_are_told_apart():
    source = (
        "from typing import TYPE_CHECKING\n"
        "from clinclust.errors import SchemaError\n"
        "if TYPE_CHECKING:\n    from clinclust.schema import Feature\nelse:\n    import clinclust.files.tables\n"
        "class A:\n    def b(self):\n        from clinclust import MAPDP\n"
        "        from clinclust import __version__\n        import numpy\n"
    )
    assert imports_of(source, "priors.beta") == [
        Import("priors.beta", "errors", "module", 2),
        Import("priors.beta", "schema", "typing", 4),
        Import("priors.beta", "files.tables", "module", 6),
        Import("priors.beta", "", "lazy", 9),
    ]
    found = {found.rooms[1] for found in upward(imports_of(source, "priors.beta"))}
    assert found == {"schema", ""}
    assert {found.rooms[1] for found in upward(imports_of(source, "engine.kernels.sweep"))} == {""}


def test_every_room_has_a_place():
    rooms = {room_of(name) for name, _ in modules_of()} - {"engine"}  # its __init__ holds a docstring only
    assert rooms - set(HEIGHT) == set(), "give each of these rooms a place in LAYERS"


@pytest.mark.parametrize("kind", ["module", "typing", "lazy"])
def test_imports_run_downwards(kind):
    wrong = [
        f"clinclust.{found.importer}, line {found.line}: imports clinclust.{found.imported}"
        for found in upward(all_imports())
        if found.kind == kind
    ]
    assert wrong == [], f"{kind} imports that run upwards"
