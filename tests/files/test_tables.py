"""Text tables as programs and people write them: read right, or refused, or told."""

import os
import warnings
from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest
from calls import calls_of
from cases import cases_beside, read_beside
from hypothesis import given
from hypothesis import strategies as st
from test_formats import write_xlsx

from clinclust import read_cohort
from clinclust.errors import CohortWarning, InputError
from clinclust.files.cell_text import NUMBER, canonical_text, without_letters
from clinclust.files.notation import looks_like_number, parts_of
from clinclust.files.tables import is_in_partitions
from schemas import stored_schema

AWKWARD = ["001", "1E5", "None", "NA", "", "nan", " x ", "1,5", "=1+1", 'a "quote"', "two\nlines", "é", "12:30"]


def write(path, content, encoding="utf-8"):
    path.write_bytes(content.encode(encoding) if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_letter_and_its_accent_are_one_sign(tmp_path, suffix):
    rows = [[normalize("NFD", cell) for cell in row] for row in (["Größe", "fumé"], ["1", "réalisé"], ["2", "né"])]
    path = tmp_path / f"cohort{suffix}"
    if suffix == ".csv":
        write(path, "".join(f"{','.join(row)}\n" for row in rows))
    else:
        write_xlsx(path, ("s", rows))
    frame = read_cohort(path)
    assert [*frame, *frame["fumé"]] == ["Größe", "fumé", "réalisé", "né"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".csv", ";"), (".tsv", "\t"), (".txt", "\t")])
def test_every_cell_survives_as_text(tmp_path, suffix, delimiter, encoding):
    frame = pd.DataFrame({"ä": AWKWARD, "b": AWKWARD[::-1]})
    path = tmp_path / f"cohort{suffix}"
    frame.to_csv(path, index=False, sep=delimiter, encoding=encoding)
    read = read_cohort(path)
    assert read.columns.tolist() == ["ä", "b"]
    assert read["ä"].tolist() == AWKWARD
    assert read["b"].tolist() == AWKWARD[::-1]
    assert (read.dtypes == pd.StringDtype(na_value=np.nan)).all()
    pd.testing.assert_frame_equal(read_cohort(str(path)), read)


# A row of texts such as "0=no" says what codes mean, and is no subject.
cells = st.text(st.characters(codec="utf-8", exclude_characters="\0="), max_size=8).map(lambda it: normalize("NFC", it))


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5))
def test_whatever_the_csv_module_writes_is_read_back(tmp_path_factory, rows):
    import csv

    path = tmp_path_factory.mktemp("csv") / "x.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("a", "b"), *rows])
    with warnings.catch_warnings():  # some of these texts look like rows of the table
        warnings.simplefilter("ignore", CohortWarning)
        found = [tuple(row) for row in read_cohort(path).to_numpy().tolist()]
    assert found == [row for row in rows if canonical_text("".join(row))]


@pytest.mark.parametrize("read", [NUMBER.fullmatch, parts_of, looks_like_number, without_letters])
def test_no_pattern_looks_for_a_number_in_a_text_of_more_than_64_characters(read):
    """Their work may grow with the cube of the length, and a cell may have 131,072 characters."""
    texts = [f"{'1' * 62}.5", f"{'1' * 63}.5"]
    assert [bool(read([text] if read is without_letters else text)) for text in texts] == [True, False]


def test_a_header_alone_gives_a_table_without_rows(tmp_path):
    frame = read_cohort(write(tmp_path / "x.csv", "a,b\n"))
    assert frame.shape == (0, 2)


def test_too_many_columns_are_refused_before_they_are_looked_at(tmp_path):
    row = ",".join(f"g{place}" for place in range(20_001))
    path = write(tmp_path / "wide.csv", f"{row}\n{row}\n")
    with pytest.raises(
        InputError, match=r"wide.csv: the table has 20,001 columns, and at most 20,000 .*: keep .* `only`"
    ):
        read_cohort(path)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_columns_that_are_chosen_are_read_from_a_table_of_any_width(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr("clinclust.files.tables.MOST_COLUMNS", 2)
    wide, path = pd.DataFrame({"a": ["x", "y"], "b": ["1", "3"], "c": ["2", "5"]}), tmp_path / f"wide.{suffix}"
    wide.to_csv(path, index=False) if suffix == "csv" else wide.to_parquet(path)
    with pytest.raises(InputError, match="the table has 3 columns"):
        read_cohort(path)
    for choice in ({"only": ["a", "c"]}, {"drop": ["b"]}):
        with pytest.warns(CohortWarning, match="2 of 3 columns are kept"):
            assert list(read_cohort(path, **choice)) == ["a", "c"]


def test_empty_columns_behind_the_table_are_not_counted(tmp_path):
    path = write(tmp_path / "ghosts.csv", "\n".join(row + "," * 20_000 for row in ("id,age", "a,61", "b,47")) + "\n")
    assert read_cohort(path).shape == (2, 2)


MALFORMED = [*cases_beside(__file__, "malformed"), ("x.csv", b"\xef\xbb\xbf", "the file is empty")]


@pytest.mark.parametrize(("name", "content", "words"), MALFORMED)
def test_a_malformed_file_is_one_clear_error(tmp_path, name, content, words):
    with pytest.raises(ValueError, match=words) as caught:
        read_cohort(write(tmp_path / name, content))
    assert name in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"sheet": "a"}, "makes sense for a workbook only"),
        ({"encoding": "utf-99"}, "there is no encoding 'utf-99'"),
        ({"encoding": "ascii"}, "line 2 is not ascii text"),
    ],
)
def test_arguments_that_do_not_fit_the_file(tmp_path, arguments, words):
    with pytest.raises(ValueError, match=words):
        read_cohort(write(tmp_path / "x.csv", "a\né\n"), **arguments)
    with pytest.raises(ValueError, match="text file only"):
        read_cohort(write_xlsx(tmp_path / "x.xlsx", ("s", [["a"], [1]])), encoding="utf-8")


def test_a_file_that_is_not_there_names_the_nearest(tmp_path):
    write(tmp_path / "cohort.csv", "a\n1\n")
    with pytest.raises(FileNotFoundError, match=r"Did you mean 'cohort.csv'"):
        read_cohort(tmp_path / "cohrt.csv")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_cohort(tmp_path / "nowhere" / "cohort.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(IsADirectoryError, match=r"folder\.csv is a folder"):
        read_cohort(tmp_path / "folder.csv")


def test_totals_below_numbers_of_any_size_are_looked_for_without_a_warning_of_numpy(tmp_path):
    path = tmp_path / "cohort.csv"
    rows = "".join(f"P{k},{k}e300,{k}\n" for k in range(1, 9))
    path.write_text(f"id,a,b\n{rows}Total,3.6e301,36\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(InputError, match="the word of a total"):
            read_cohort(path)


UNSEEN = ["m\u200b", "\ufeffm", "m\u00a0", "m\u00ad", "\u200em", "m\u200d", "\u2060m", " m"]


def test_a_character_that_cannot_be_seen_makes_no_second_level_and_no_value(tmp_path):
    rows = [[text, "late\u202fstage" if k % 2 else "late stage", k] for k, text in enumerate(UNSEEN)]
    path = tmp_path / "cohort.csv"
    pd.DataFrame([*rows, ["\u200b", "early stage", 9]], columns=["s\u00adex", "\u200bstage", "n"]).to_csv(
        path, index=False
    )
    frame = read_cohort(path)
    schema = stored_schema("unseen_characters")
    valid = schema.validate(frame, warn=False)
    assert valid["sex"].tolist()[:-1] == ["m"] * len(UNSEEN)
    assert valid["sex"].isna().sum() == 1
    assert valid["stage"].nunique() == 2
    with pytest.warns(CohortWarning, match="8 of 9 rows"):
        assert len(read_cohort(path, where="sex == 'm' and stage == 'late stage'")) == len(UNSEEN)
    assert canonical_text("می\u200cخواهم") == "می\u200cخواهم"  # between letters that it shapes


MARK = "\ufeff"


def rows_of(frame):
    return [frame.columns.tolist(), *frame.to_numpy().tolist()]


AB = [["a", "b"], ["1", "2"]]
RIGHT = {
    **read_beside(__file__)["right"],
    "UTF-16": ((MARK + "a,b\n1,2\n").encode("utf-16-be"), AB),
    "UTF-32": ((MARK + "a,b\n1,2\n").encode("utf-32-le"), AB),
}


@pytest.mark.parametrize(("content", "expected"), RIGHT.values(), ids=RIGHT)
def test_what_programs_write_is_read_right(tmp_path, content, expected):
    assert rows_of(read_cohort(write(tmp_path / "cohort.csv", content))) == expected


def test_rows_below_a_line_with_the_delimiter_have_the_numbers_of_a_spreadsheet(tmp_path):
    assert read_cohort(write(tmp_path / "cohort.csv", "sep=;\na;b\n1;2\n")).index.tolist() == [0]
    with pytest.raises(InputError, match="line 4 has 1 field"):
        read_cohort(write(tmp_path / "cohort.csv", "sep=;\na;b\n1;2\n3\n"))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_refused_and_read_with_its_encoding(tmp_path, encoding):
    path = write(tmp_path / "cohort.csv", "a,b\r\n1,2\r\n".encode(encoding))
    with pytest.raises(InputError, match=r"holds a NUL character.* such as utf-16; give its encoding"):
        read_cohort(path)
    assert rows_of(read_cohort(path, encoding=encoding)) == AB


def test_a_header_that_may_be_several_names_and_a_quote_that_swallows_rows_are_told(tmp_path):
    with pytest.warns(CohortWarning, match="^cohort.csv: read as one column, 'a;b'"):
        assert read_cohort(write(tmp_path / "cohort.csv", '"a;b"\n1\n2\n3\n')).shape == (3, 1)
    with pytest.warns(CohortWarning, match="line 3: a text in quotes holds whole rows"):
        assert len(read_cohort(write(tmp_path / "cohort.csv", 'a,b\n1,2\n3,"4\n5,6\n7,8"\n9,0\n'))) == 3


REFUSED = {
    **read_beside(__file__)["refused"],
    "NULs in another encoding": (b"a,b\n\xff\0,2\n", "line 2 holds a NUL character"),
    "a long cell": ("a,b\n1,2\n1," + "x" * 200_000, "line 3 cannot be read .field larger than field limit"),
    "a long name": ("a" * 10_000_000, "line 1 cannot be read .field larger than field limit"),
    "many rows of other lengths": (
        "a,b\n1\n1,2\n" + "1,2,3\n" * 900,
        "line 2 has 1 field, line 4 has 3 fields, line 5 has 3 fields, .* and 896 more, the header has 2",
    ),
    "bytes of neither usual encoding": (b"a,b\n\x81\x8d,2\n", "line 2 is not utf-8 or cp1252 text; give its encoding"),
    "half of UTF-16": ((MARK + "a,b\n").encode("utf-16-le")[:-1], "is not utf-16-le text"),
}


@pytest.mark.parametrize(("content", "words"), REFUSED.values(), ids=REFUSED)
def test_what_could_be_read_wrong_is_refused(tmp_path, content, words):
    with pytest.raises(InputError, match=f"^cohort.csv: .*{words}") as caught:
        read_cohort(write(tmp_path / "cohort.csv", content))
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("encoding", ["base64", "idna", "undefined", "x\0y", "y" * 100_000])
def test_an_encoding_of_no_text_is_refused(tmp_path, encoding):
    with pytest.raises(InputError, match=r"^cohort\.csv: (there is no encoding|line 2 is not idna)") as caught:
        read_cohort(write(tmp_path / "cohort.csv", b"a\n\xe9.\n"), encoding=encoding)
    assert len(str(caught.value)) < 1000


def test_pipes_and_devices_are_refused_at_once(tmp_path, monkeypatch):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    for path in (pipe, tmp_path / "zero.csv"):
        with pytest.raises(OSError, match=rf"{path.name} is a pipe or a device"):
            read_cohort(path)
    os.mkfifo(tmp_path / "pipe.parquet")
    monkeypatch.setattr("pyarrow.parquet.read_metadata", None)  # which waits for what the pipe gives
    assert not is_in_partitions(tmp_path / "pipe.parquet")


@pytest.mark.parametrize(
    ("name", "kind"),
    [("x" * 5000 + ".csv", OSError), ("a\0b.csv", OSError), (os.fsdecode(b"\xff.csv"), FileNotFoundError)],
    ids=["too long", "with a NUL", "no UTF-8"],
)
def test_a_path_that_cannot_be_is_one_short_error(tmp_path, name, kind):
    with pytest.raises(kind) as caught:
        read_cohort(tmp_path / name)
    assert len(str(caught.value)) < 1500
    str(caught.value).encode()


def test_a_name_is_shown_on_one_line_with_its_spaces(tmp_path):
    path = write(tmp_path / "two  spaces\nand \x1b[31m lines.csv", "a\n1,2\n")
    with pytest.raises(InputError, match=r"^two  spaces␊and ␛\[31m lines\.csv: line 2"):
        read_cohort(path)


def test_an_error_of_the_system_names_the_file(tmp_path, monkeypatch):
    path = write(tmp_path / "cohort.csv", "a\n1\n")
    monkeypatch.setattr(type(path), "open", lambda self, *_: (_ for _ in ()).throw(PermissionError(13, "denied")))
    with pytest.raises(PermissionError, match=r"^cohort\.csv cannot be read: you have no permission"):
        read_cohort(path)


@pytest.mark.simulation
def test_the_work_of_reading_grows_as_the_number_of_columns(tmp_path):
    def wide(number):
        lines = (",".join(f"{start}{k}" for k in range(number)) for start in ("c", "1", "2"))
        return write(tmp_path / f"{number}.csv", "\n".join(lines))

    few, many = wide(1000), wide(2000)
    assert read_cohort(many).shape == (2, 2000)
    assert calls_of(read_cohort, many) < 2.5 * calls_of(read_cohort, few)
