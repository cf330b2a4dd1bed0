"""The package is within its budget, and the counts of `benchmarks/house.py` are those of a package counted by hand."""

import runpy
from pathlib import Path

import pytest
from cases import cases_beside, read_beside

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "house.py"
BY_HAND = read_beside(__file__)["house"]


@pytest.fixture(scope="module")
def house():
    return runpy.run_path(str(SCRIPT))


@pytest.fixture
def tree(tmp_path):
    files = {f"clinclust/{name}": text for name, text in BY_HAND["modules"].items()}
    for name, text in {**files, "tests/room/test_a.py": "a = 1\n\n", "tests/texts.txt": "no test\n"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def counts(house):
    return house["count_house"](house["HERE"])


def test_the_package_is_within_its_budget(house, counts):
    excesses = house["list_excesses"](counts, house["read_budget"]())
    assert not excesses, "\n".join(["over the budget of benchmarks/house.toml:", *excesses, house["RULE"]])


def test_every_budget_is_of_something_counted(house, counts):
    budget = house["read_budget"]()
    assert {room: set(row) - set(counts[room]) for room, row in budget.items()} == {room: set() for room in budget}


def test_counts_are_those_by_hand(house, tree):
    assert house["count_house"](tree) == BY_HAND["counts"]
    assert house["count_idioms"](list(house["read_modules"](tree).values())) == {"beside": 1, "kept out": 1, "told": 1}
    assert house["find_circles"](house["map_imports"](house["read_modules"](tree))) == [
        ["cli.entry", "schema.feature", "schema.rules"]
    ]


COUNTS = {"package": {"comment lines, %": 0.5, "idioms": 7, "words": 9}, "cli": {"lines": 1_000, "circular": 0}}


@pytest.mark.parametrize(("budget", "excesses"), cases_beside(__file__, "excesses"))
def test_budget_is_an_upper_limit_and_comments_have_a_lower_one(house, budget, excesses):
    assert house["list_excesses"](COUNTS, budget) == excesses


def test_budgets_are_lowered_and_never_raised(house):
    text = (
        "[rooms]\ncli = { lines = [1_234, 900], files = [3, 2], circular = [1, 0] }\n\n"
        '[package]\n"idioms" = [6, 0]\n"comment lines, %" = [0.4, 2.0]\n[words]\nverbs = [\n    "ask",\n]\n'
    )
    expected = text.replace("[1_234", "[1_000").replace("circular = [1", "circular = [0").replace("[0.4", "[0.5")
    assert house["lower_budget"](text, {**COUNTS, "cli": {**COUNTS["cli"], "files": 4}}) == expected


def test_table_has_the_sizes_of_each_room_and_the_counts_of_the_package(house):
    counts = {"package": {"idioms": 7}, "cli": {"lines": 1_000, "files": 9, "names": 4}, "top": {"lines": 2}}
    budget = {"package": {"idioms": [8, 0]}, "cli": {"lines": [1_001, 500], "files": [9]}, "top": {"lines": [3, 1]}}
    rows = [line.split() for line in house["render_table"](counts, budget)]
    assert ["cli", "1,000", "1,001", "500", "9", "9", "4"] in rows
    assert rows[4][:5] == ["all", "rooms", "1,002", "1,004", "501"]
    assert rows[-1] == ["idioms", "7", "8", "0"]
    compared = list(house["render_table"](counts, budget, {"package": {"idioms": 9}, "old": {"lines": 1_100}}))
    assert compared[-1].split() == ["idioms", "7", "9", "-2"]
    assert [line.split()[:4] for line in compared[2:6]] == [
        ["cli", "1,000", "0", "+1,000"],
        ["top", "2", "0", "+2"],
        ["old", "0", "1,100", "-1,100"],
        ["all", "rooms", "1,002", "1,100"],
    ]
