"""What `clinclust check` says of a sound table: what each column is for, what is missing, and what to run next."""

import argparse
import csv
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import SCHEMA, cohort
from hypothesis import given
from hypothesis import strategies as st

from clinclust import Feature, FeatureSchema, draft_schema
from clinclust.cli import main
from clinclust.cli.check import check_lines, looks_at_draft, unused_lines
from clinclust.cli.inputs import TableOptions
from clinclust.cli.options import Options, add_options, next_command, option, read_options, read_path
from clinclust.drafting.column import Look
from clinclust.estimators.preparation import prepared
from clinclust.estimators.settings import Settings
from clinclust.methods import PublishedMAPDP

WIDE = SCHEMA.replace("features:", "other_columns: ignore\nfeatures:\n  - {name: note, role: ignore}")


def lines_of(frame, looks=(), width=80, schema=WIDE):
    schema = FeatureSchema.from_yaml(schema)
    cohort_of_fit = prepared(Settings.of(PublishedMAPDP(schema)), schema.validate(frame, warn=False), stacklevel=1)
    return check_lines(cohort_of_fit, frame, names=("t.csv", "s.yaml"), looks=looks, width=width)


def test_every_column_is_named_once_with_its_use():
    frame = cohort().assign(note="x", other="y", another="z")
    frame.loc[:9, "falls"] = ""
    frame.loc[:19, "stage"] = ""
    assert [*unused_lines(FeatureSchema.from_yaml(WIDE), 80), *lines_of(frame)] == [
        "Not used to form subtypes: age (describe), note (ignore). Use one with --cluster",
        "NAME.",
        "t.csv fits s.yaml: 40 subjects, 4 features to cluster on (20.0% of their values missing), 1 to describe.",
        "The 4 features are worth about 2 that do not depend on each other: subtypes",
        "explain some of that, and what measures the same thing, and is in no block,",
        "makes more subtypes than there are.",
        "to cluster on (4): falls, tremor, stage, crp",
        "identifiers (1): who",
        "not in the schema, so ignored (2): other, another",
        "more than 20% missing (2): stage 50%, falls 25%",
    ]


@pytest.mark.filterwarnings("ignore::clinclust.CohortWarning")
def test_what_cannot_be_clustered_on_is_told_apart():
    lines = lines_of(cohort().assign(note="", stage="2"))
    assert "to cluster on (3): falls, tremor, crp" in lines
    assert "cannot be clustered on (1): stage" in lines


def test_what_deserves_a_look_comes_last():
    looks = [
        Look(("falls", "a,b"), "they say the same", "declare them one block"),
        Look((), "few rows", "get more"),
    ]
    assert lines_of(cohort().assign(note=""), looks)[-3:] == [
        "to decide (2); read each, and edit s.yaml where that is wrong; what follows `to do` is not in it yet:",
        "  - falls, 'a,b': they say the same; to do: declare them one block",
        "  - few rows; to do: get more",
    ]


def test_what_a_draft_did_itself_is_not_left_to_do():
    lines = lines_of(cohort().assign(note=""), [Look(("falls",), "a code, taken for missing", "")])
    assert lines[-2:] == [
        "to decide (1); read each, and edit s.yaml where that is wrong:",
        "  - falls: a code, taken for missing",
    ]


def test_questions_on_what_forms_no_subtypes_come_last():
    roles = {"los": "time", "visits": "cluster", "note": "ignore"}
    likelihoods = {"los": "exponential", "visits": "poisson", "note": None}
    schema = FeatureSchema(
        [Feature(name=name, role=role, likelihood=likelihoods[name]) for name, role in roles.items()]
    )
    for name, probability in (("los", 0.5), ("visits", 0.7)):
        schema.comments[name] = f"counts; probability {probability}\nLOOK: otherwise likelihood: geometric"
    schema.comments["note"] = "numbers and other texts\nLOOK: write numbers"
    assert [look.columns for look in looks_at_draft(schema)] == [("note",), ("visits",), ("los",)]


@given(
    names=st.lists(
        st.text(st.characters(codec="utf-8"), min_size=1, max_size=30), min_size=1, max_size=60, unique=True
    ),
    width=st.integers(40, 120),
)
def test_lines_are_as_wide_as_the_terminal_and_lose_no_name(names, width):
    from clinclust.cli.check import _name, _wrapped

    lines = _wrapped("to cluster on (1)", names, width)
    longest = max(len(_name(name)) for name in names)
    assert all(len(line) <= max(width, longest + 30) for line in lines)
    assert not any("\n" in line for line in lines)
    joined = " ".join(line.strip() if place else line for place, line in enumerate(lines))
    assert joined == "to cluster on (1): " + ", ".join(map(_name, names))


def test_draft_ends_with_the_check_and_with_what_it_leaves_to_be_decided(here, capsys):
    assert main(["draft", "cohort.csv", "--out", "new.yaml"]) == 0
    drafted = capsys.readouterr().out.splitlines()
    assert main(["check", "cohort.csv", "--schema", "new.yaml"]) == 0
    checked = capsys.readouterr().out.splitlines()
    assert drafted[-1] == checked[-1]
    assert checked[-2].startswith("With default options, a fit and its report take about ")
    assert [line for line in checked if not line.startswith(("to decide", "  "))] == [
        line for line in drafted[1:] if not line.startswith(("to decide", "  "))
    ]


@pytest.mark.parametrize("options", [[], ["--all"]])
def test_ten_questions_are_told_the_least_certain_first_and_all_if_asked(here, capsys, options):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"c{place}": rng.poisson(1.6, 60) for place in range(30)})
    table.to_csv("counts.csv", index=False)
    comments = draft_schema(table, progress=False).comments
    doubtful = {name for name, comment in comments.items() if "otherwise" in comment}
    assert len(doubtful) > 15
    assert main(["draft", "counts.csv", "--out", "counts.yaml", *options]) == 0
    out = capsys.readouterr().out
    told = [line for line in out.splitlines() if line.startswith("  - ")]
    assert ("which change less: --all" in out) == (not options)
    assert len(told) > 10 if options else len(told) == 10
    if options:
        assert doubtful <= set(re.findall(r"c[0-9]+", " ".join(told)))
    shown = [float(part) for part in re.findall(r"probability ([0-9.]+)", out)]
    assert shown == sorted(shown)


def test_a_draft_under_which_nothing_is_found_is_written_and_told(here, capsys):
    pd.DataFrame({"a": ["x"] * 30, "b": ["2020-01-02"] * 30}).to_csv("flat.csv", index=False)
    assert main(["draft", "flat.csv", "--out", "flat.yaml"]) == 0
    out, err = capsys.readouterr()
    assert len(FeatureSchema.from_yaml("flat.yaml")) == 2
    assert err.startswith("clinclust: note: the proposal finds nothing: No feature is left to cluster on")
    assert out.splitlines()[-1] == "next, after editing flat.yaml: clinclust check flat.csv --schema flat.yaml"


def test_the_next_command_can_be_run_as_it_is_shown(here, capsys):
    folder = Path("it's a folder & more")
    folder.mkdir()
    table = folder / "-cohort $HOME.csv"
    table.write_bytes(cohort().assign(who=[f"Zoë {i}" for i in range(40)]).to_csv(index=False).encode("cp1252"))
    Path("my schema.yaml").write_text(SCHEMA, encoding="utf-8")
    assert main(["check", str(table), "--schema", "my schema.yaml", "--encoding", "cp1252"]) == 0
    shown = capsys.readouterr().out.splitlines()[-1].removeprefix("next: ")
    command, *arguments = shlex.split(shown)
    assert command == "clinclust"
    assert main([*arguments, "--n-restarts", "1", "--associations", "none"]) == 0


@given(
    table=st.text("abc-= '", min_size=1).filter(str.strip),
    sheet=st.text("a-= $", min_size=1).filter("--".__ne__),  # which argparse takes for the end of the options
)
def test_the_options_of_the_table_are_repeated_exactly(table, sheet):
    def parsed(words):
        parser = argparse.ArgumentParser()
        add_options(parser, TableOptions)
        return read_options(TableOptions, parser.parse_args(words))

    options = TableOptions(table=read_path(table), sheet=sheet)
    again = parsed(shlex.split(next_command("fit", options, repeated=(TableOptions,)))[2:])
    assert (again.table.absolute(), again.sheet) == (options.table.absolute(), options.sheet)


def test_the_check_is_not_quieter_than_its_table(here, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    frame = pd.DataFrame(np.random.default_rng(0).poisson(3, (30, 12))).add_prefix("a_long_name_")
    frame.to_csv("wide.csv", index=False)
    assert main(["draft", "wide.csv", "--out", "wide.yaml", "--all"]) == 0
    told = capsys.readouterr().out.partition("to decide")[0]
    listing = [line for line in told.splitlines() if "a_long_name_" in line]
    assert all(len(line) <= 50 for line in listing)
    assert listing[0].startswith("to cluster on (12): ")
    assert all(f"{name}," in f"{' '.join(listing)}," for name in frame)


@dataclass(kw_only=True)
class EveryKind(Options):
    """One option of each kind."""

    only: tuple[str, ...] = option("names", (), action="extend", type=lambda text: next(csv.reader([text])))
    word: tuple[str, ...] = option("words", (), action="append")
    flag: bool = option("a flag", False)
    number: int = option("a number", 3, type=int)


@given(
    names=st.lists(st.text('ab,"-', min_size=1).filter("--".__ne__), max_size=3),
    words=st.lists(st.text("ab=-", min_size=1).filter("--".__ne__), max_size=3),
    is_given=st.booleans(),
    number=st.integers(-9, 9),
)
def test_options_of_every_kind_are_repeated(names, words, is_given, number):
    parser = argparse.ArgumentParser()
    add_options(parser, EveryKind)
    options = EveryKind(only=tuple(names), word=tuple(words), flag=is_given, number=number)
    again = parser.parse_args(shlex.split(next_command("fit", options, repeated=(EveryKind,)))[2:])
    assert read_options(EveryKind, again) == options
