"""Text tables as programs and people write them: read right, or refused, or told."""

import os

import pytest
from calls import calls_of

from clinclust import read_cohort
from clinclust.errors import CohortWarning, InputError

MARK = "\ufeff"


def write(folder, content, name="cohort.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def rows_of(frame):
    return [frame.columns.tolist(), *frame.to_numpy().tolist()]


AB = [["a", "b"], ["1", "2"]]
RIGHT = {
    "a byte order mark": (MARK + "a,b\n1,2\n", AB),
    "two of them": (2 * MARK + "a,b\n1,2\n", AB),
    "one before a quoted header": (MARK + '"a","b"\n1,2\n', AB),
    "UTF-16": ((MARK + "a,b\n1,2\n").encode("utf-16-be"), AB),
    "UTF-32": ((MARK + "a,b\n1,2\n").encode("utf-32-le"), AB),
    "mixed line ends": ("a,b\r1,2\r\n3,4\n\r5,6", [["a", "b"], ["1", "2"], ["3", "4"], ["5", "6"]]),
    "a line that says the delimiter": ("sep=;\na;b\n1;2\n", AB),
    "a comma in a cell of every row": ("a,b;c;d\nx,y;3;4\n", [["a,b", "c", "d"], ["x,y", "3", "4"]]),
    "one that says another": ("sep=|\r\na|b\r\n1|2\r\n", AB),
    "one after a byte order mark": (MARK + "SEP=\t\na\tb\n1\t2\n", AB),
    "a tab in a csv file": ("a\tb\n1\t2\n", AB),
    "a bar in a csv file, and lines of old Macs": ("a|b\r1|2\r", AB),
    "a header over two lines": ('"a\nx";b\n1;2\n', [["a\nx", "b"], ["1", "2"]]),
    "a delimiter at the end of every row": ("a,b,\n1,2,\n", AB),
    "three of them, and spaces": ("a,b, ,,\n1,2,,, \n", AB),
    "a quote inside a text": ("a,b\n5'11\",2\n", [["a", "b"], ["5'11\"", "2"]]),
}


@pytest.mark.parametrize(("content", "expected"), RIGHT.values(), ids=RIGHT)
def test_what_programs_write_is_read_right(tmp_path, content, expected):
    assert rows_of(read_cohort(write(tmp_path, content))) == expected


def test_rows_below_a_line_with_the_delimiter_have_the_numbers_of_a_spreadsheet(tmp_path):
    assert read_cohort(write(tmp_path, "sep=;\na;b\n1;2\n")).index.tolist() == [0]
    with pytest.raises(InputError, match="line 4 has 1 field"):
        read_cohort(write(tmp_path, "sep=;\na;b\n1;2\n3\n"))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_refused_and_read_with_its_encoding(tmp_path, encoding):
    path = write(tmp_path, "a,b\r\n1,2\r\n".encode(encoding))
    with pytest.raises(InputError, match=r"holds a NUL character.* such as utf-16; give its encoding"):
        read_cohort(path)
    assert rows_of(read_cohort(path, encoding=encoding)) == AB


def test_a_header_that_may_be_several_names_is_told(tmp_path):
    with pytest.warns(CohortWarning, match="^cohort.csv: read as one column, 'a;b'"):
        assert read_cohort(write(tmp_path, '"a;b"\n1\n2\n3\n')).shape == (3, 1)


def test_a_comma_and_a_semicolon_that_both_split_all_rows_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"commas and semicolons split the rows alike: .* sep=, or sep=;"):
        read_cohort(write(tmp_path, "a;b,c\n1;2,5\n"))
    with pytest.warns(CohortWarning, match="decimal comma"):
        assert rows_of(read_cohort(write(tmp_path, "sep=;\na;b,c\n1;2,5\n"))) == [["a", "b,c"], ["1", "2,5"]]


def test_a_quote_that_swallows_rows_is_told(tmp_path):
    with pytest.warns(CohortWarning, match="line 3: a text in quotes holds whole rows"):
        assert len(read_cohort(write(tmp_path, 'a,b\n1,2\n3,"4\n5,6\n7,8"\n9,0\n'))) == 3


REFUSED = {
    "a NUL": ("a,b\n1,2\n3,\0\n", "line 3 holds a NUL character"),
    "NULs in another encoding": (b"a,b\n\xff\0,2\n", "line 2 holds a NUL character"),
    "a long cell": ("a,b\n1,2\n1," + "x" * 200_000, "line 3 cannot be read .field larger than field limit"),
    "a long name": ("a" * 10_000_000, "line 1 cannot be read .field larger than field limit"),
    "names missing": ("a,,,\n1,2,3,4\n", "no name for columns 2, 3, 4 of 4"),
    "a quote that is said to be the delimiter": ('sep="\na,b\n', "line 2 has 2 fields, the header has 1"),
    "many rows of other lengths": (
        "a,b\n1\n1,2\n" + "1,2,3\n" * 900,
        "line 2 has 1 field, line 4 has 3 fields, line 5 has 3 fields, .* and 896 more, the header has 2",
    ),
    "a delimiter too many in every row": ("a,b\n1,2,\n3,4,\n", "line 2 has 3 fields, line 3 has 3 fields, the header"),
    "bytes of neither usual encoding": (b"a,b\n\x81\x8d,2\n", "line 2 is not utf-8 or cp1252 text; give its encoding"),
    "half of UTF-16": ((MARK + "a,b\n").encode("utf-16-le")[:-1], "is not utf-16-le text"),
}


@pytest.mark.parametrize(("content", "words"), REFUSED.values(), ids=REFUSED)
def test_what_could_be_read_wrong_is_refused(tmp_path, content, words):
    with pytest.raises(InputError, match=f"^cohort.csv: .*{words}") as caught:
        read_cohort(write(tmp_path, content))
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("encoding", ["base64", "idna", "undefined", "x\0y", "y" * 100_000])
def test_an_encoding_of_no_text_is_refused(tmp_path, encoding):
    with pytest.raises(InputError, match=r"^cohort\.csv: (there is no encoding|line 2 is not idna)") as caught:
        read_cohort(write(tmp_path, b"a\n\xe9.\n"), encoding=encoding)
    assert len(str(caught.value)) < 1000


def test_pipes_and_devices_are_refused_at_once(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    for path in (pipe, tmp_path / "zero.csv"):
        with pytest.raises(OSError, match=rf"{path.name} is a pipe or a device"):
            read_cohort(path)


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
    path = write(tmp_path, "a\n1,2\n", "two  spaces\nand \x1b[31m lines.csv")
    with pytest.raises(InputError, match=r"^two  spaces␊and ␛\[31m lines\.csv: line 2"):
        read_cohort(path)


def test_an_error_of_the_system_names_the_file(tmp_path, monkeypatch):
    path = write(tmp_path, "a\n1\n")
    monkeypatch.setattr(type(path), "open", lambda self, *_: (_ for _ in ()).throw(PermissionError(13, "denied")))
    with pytest.raises(PermissionError, match=r"^cohort\.csv cannot be read: denied"):
        read_cohort(path)


@pytest.mark.simulation
def test_the_work_of_reading_grows_as_the_number_of_columns(tmp_path):
    def wide(number):
        lines = (",".join(f"{start}{k}" for k in range(number)) for start in ("c", "1", "2"))
        return write(tmp_path, "\n".join(lines), f"{number}.csv")

    few, many = wide(1000), wide(2000)
    assert read_cohort(many).shape == (2, 2000)
    assert calls_of(read_cohort, many) < 2.5 * calls_of(read_cohort, few)
