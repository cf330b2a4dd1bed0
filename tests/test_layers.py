"""Imports run one way: each room of the package knows only the rooms below it, whatever the kind of import.

`benchmarks/house.py` reads the imports: those of modules, those for type checkers only, and lazy ones inside functions.
`test_house.py` holds that no modules import each other in a circle.
"""

import re
import runpy
from pathlib import Path

import pytest
from cases import cases_beside

HOUSE = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "house.py"))
IMPORTS = HOUSE["map_imports"](HOUSE["read_modules"](HOUSE["HERE"]))

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


def room_of(module):
    """Return the room of a module, named without `clinclust.`: its folder, or the module where it lies in none."""
    parts = module.split(".")
    return ".".join(parts[: 2 if parts[0] == "engine" else 1])


def upward(imports):
    """Return the imports between rooms that do not run downwards, as (importer, imported)."""
    pairs = [(importer, imported) for importer, found in imports.items() for imported in sorted(found)]
    rooms = [(room_of(importer), room_of(imported)) for importer, imported in pairs]
    return [
        pair
        for pair, (above, below) in zip(pairs, rooms, strict=True)
        if above != below and HEIGHT[above] <= HEIGHT[below]
    ]


def test_every_room_has_a_place():
    rooms = {room_of(name) for name in IMPORTS} - {"engine"}  # its __init__ holds a docstring only
    assert rooms - set(HEIGHT) == set(), "give each of these rooms a place in LAYERS"


def test_imports_run_downwards():
    assert upward(IMPORTS) == []
    modules = HOUSE["read_modules"](HOUSE["HERE"])
    relative = [name for name, module in modules.items() if re.search(r"^\s*from \.", module.text, re.MULTILINE)]
    assert relative == [], "write imports in full"


@pytest.mark.parametrize(("importer", "imported", "is_upward"), cases_beside(__file__, "imports"))
def test_imports_that_run_upwards_are_found(importer, imported, is_upward):
    assert upward({importer: {imported}}) == [(importer, imported)] * is_upward
