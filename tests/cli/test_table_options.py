"""The options for reading a table do the same for every command that takes one."""

from pathlib import Path

import pytest
from command_line import cohort, refused

from clinclust.cli import main

MESSY = "Clinic\n\n"


@pytest.fixture
def messy(here):
    """A table with a title, a comment, a visit, two rows of each subject, and a total."""
    frame = cohort()
    twice = [frame.assign(visit=visit, **{"a, b": "x"}) for visit in ("baseline", "later")]
    text = "".join(f"{part.to_csv(index=False, header=number == 0)}" for number, part in enumerate(twice))
    Path("messy.csv").write_text(MESSY + text, encoding="utf-8")
    frame.to_csv("plain.csv", index=False)


CHOICES = [
    ["--where", "visit == 'baseline'", "--only", "who,age,falls", "--only", "tremor, stage,crp"],
    ["--where", "not visit = 'later'", "--drop", 'visit,"a, b"'],
    ["--one-row-per", "who", "--drop", "visit", "--drop", "#8"],
]


@pytest.mark.parametrize("choice", CHOICES)
def test_a_chosen_part_of_a_messy_table_is_checked_like_the_plain_table(messy, capsys, choice):
    assert main(["check", "messy.csv", "--schema", "schema.yaml", *choice]) == 0
    out, err = capsys.readouterr()
    assert "fits schema.yaml: 40 subjects" in out
    assert "the header is row 3" in err
    assert "40 of 80 rows are kept" in err
    assert "6 of 8 columns are kept" in err


def test_draft_of_a_chosen_part_is_that_of_the_plain_table(messy, capsys):
    assert main(["draft", "plain.csv", "--out", "a.yaml"]) == 0
    assert main(["draft", "messy.csv", "--out", "b.yaml", *CHOICES[0]]) == 0

    def features(name):
        return [line for line in Path(name).read_text(encoding="utf-8").splitlines() if "name:" in line]

    assert features("a.yaml") == features("b.yaml")
    assert len(features("a.yaml")) == 6


def test_rows_in_messages_are_those_of_the_file(messy, capsys):
    lines = Path("messy.csv").read_text(encoding="utf-8").splitlines()
    lines[6] = lines[6].replace(lines[6].split(",")[4], "99")
    Path("messy.csv").write_text("\n".join(lines), encoding="utf-8")
    assert main(["check", "messy.csv", "--schema", "schema.yaml", *CHOICES[0]]) == 2
    assert "(first: 7)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--where", "vist == 'baseline'"], "no column 'vist'. Did you mean 'visit'?"),
        (["--where", "visit == 'never'"], "keeps none of 80 rows"),
        (["--drop", "visit,comment"], "no column 'comment'"),
        (["--only", "who,falls", "--drop", "who,falls"], "leave no column"),
        (["--keep", "last"], "give --one-row-per with the column of subjects"),
        (["--header-row", "2"], "row 2 holds nothing that could be a header"),
        (["--sheet", "2"], "makes sense for a workbook only"),
    ],
)
def test_what_cannot_be_chosen_is_refused(messy, capsys, options, words):
    assert words in refused(capsys, "check", "messy.csv", "--schema", "schema.yaml", *options)


@pytest.mark.parametrize(
    "options", [["--header-row", "-1"], ["--header-row", "x"], ["--decimal", ";"], ["--only", " "]]
)
def test_impossible_values_of_options_are_refused_before_the_table_is_read(here, capsys, options):
    with pytest.raises(SystemExit) as ended:
        main(["draft", "nothing.csv", *options])
    assert ended.value.code == 2
    assert options[0] in capsys.readouterr().err
