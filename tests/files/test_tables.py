import datetime
import warnings

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinclust import read_cohort
from clinclust.errors import CohortError, CohortWarning, InputError
from clinclust.files.cell_text import NUMBER, canonical_text, without_letters
from clinclust.files.notation import looks_like_number, parts_of
from clinclust.schema import Feature, FeatureSchema

AWKWARD = ["001", "1E5", "None", "NA", "", "nan", " x ", "1,5", "=1+1", 'a "quote"', "two\nlines", "é", "12:30"]


def write(path, content, encoding="utf-8"):
    path.write_bytes(content.encode(encoding) if isinstance(content, str) else content)
    return path


def write_xlsx(path, *sheets):
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for title, rows in sheets:
        worksheet = workbook.create_sheet(title)
        for row in rows:
            worksheet.append(row)
    workbook.save(path)
    return path


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
cells = st.text(st.characters(codec="utf-8", exclude_characters="\0="), max_size=8)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5))
def test_whatever_the_csv_module_writes_is_read_back(tmp_path_factory, rows):
    import csv

    path = tmp_path_factory.mktemp("csv") / "x.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("a", "b"), *rows])
    with warnings.catch_warnings():  # some of these texts look like rows of the table
        warnings.simplefilter("ignore", CohortWarning)
        found = [tuple(row) for row in read_cohort(path).to_numpy().tolist()]
    assert found == [row for row in rows if "".join(row).strip()]


def test_rows_of_delimiters_only_are_left_out_and_told(tmp_path):
    path = write(tmp_path / "x.csv", "a,b\n1,2\n,\n3,4\n , \n")
    with pytest.warns(CohortWarning, match="line 3, line 5: rows without any value are left out"):
        frame = read_cohort(path)
    assert frame.to_numpy().tolist() == [["1", "2"], ["3", "4"]]
    assert frame.index.tolist() == [0, 2]


@pytest.mark.parametrize("read", [NUMBER.fullmatch, parts_of, looks_like_number, without_letters])
def test_no_pattern_looks_for_a_number_in_a_text_of_more_than_64_characters(read):
    """Their work may grow with the cube of the length, and a cell may have 131,072 characters."""
    texts = [f"{'1' * 62}.5", f"{'1' * 63}.5"]
    assert [bool(read([text] if read is without_letters else text)) for text in texts] == [True, False]


def test_duplicate_names_are_refused_and_left_out_by_number(tmp_path):
    path = write(tmp_path / "x.csv", "a,a\n1,2\n")
    with pytest.raises(InputError, match=r"'a' over columns 1, 2; rename them .* drop=.'a#2'."):
        read_cohort(path)
    for drop, kept in (("a#2", "1"), ("#1", "2")):
        with pytest.warns(CohortWarning, match="1 of 2 columns are kept"):
            assert read_cohort(path, drop=[drop])["a"].tolist() == [kept]
    frame = pd.DataFrame([["1", "2"]], columns=["a", "a"])
    schema = FeatureSchema([Feature(name="a", likelihood="gaussian")])
    with pytest.raises(CohortError, match="2 columns of this name"):
        schema.validate(frame)


def test_a_semicolon_file_with_decimal_commas_is_not_taken_apart(tmp_path):
    with pytest.warns(CohortWarning, match=r"a decimal comma in a,b \('1,5'\), c \('2,5'\)"):
        frame = read_cohort(write(tmp_path / "x.csv", '"a,b";c\n1,5;2,5\n'))
    assert frame.columns.tolist() == ["a,b", "c"]
    assert frame.to_numpy().tolist() == [["1,5", "2,5"]]


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


def test_other_encodings_are_read_with_a_warning_that_names_them(tmp_path):
    path = write(tmp_path / "x.csv", "name,sign\nJosé,€\n", "cp1252")
    with pytest.warns(CohortWarning, match="read as cp1252"):
        assert read_cohort(path).to_numpy().tolist() == [["José", "€"]]
    assert read_cohort(path, encoding="cp1252").to_numpy().tolist() == [["José", "€"]]


MALFORMED = [
    ("x.csv", "a,b\n1,2\n1,2,3\n", "line 3 has 3 fields, the header has 2"),
    ("x.csv", "a,b\n1,2\n\n1\n", "line 4 has 1 field, the header has 2"),
    ("x.csv", 'a,b\n"two\nlines",2\n1\n', "line 4 has 1 field"),
    ("x.csv", 'a,b\n1,2\n"open,2\n3,4\n', "line 3 cannot be read"),
    ("x.csv", 'a,b\n1,"x"y\n', "line 2 cannot be read"),
    ("x.tsv", "a\tb\n1\t2\t3\n", "line 2 has 3 fields"),
    ("x.csv", "", "the file is empty"),
    ("x.csv", b"\xef\xbb\xbf", "the file is empty"),
    ("x.xlsx", "", "the file is empty"),
    ("x.xlsx", "a,b\n", "not an xlsx file"),
    ("x.parquet", "a,b\n", "this parquet file cannot be read"),
    ("x", "a,b\n", "not from no suffix"),
    ("x.dta", "a,b\n", "not a Stata file .*, but text; if it is a table, let its name end in .csv"),
    ("x.ods", "a,b\n", "not an OpenDocument sheet .*, but text"),
    ("x.xlsm", "a,b\n", "not an xlsx file"),
]


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


def test_spreadsheet_values_become_canonical_text(tmp_path):
    values = [1.0, 1.5, 3, True, None, "001", " x ", datetime.datetime(2020, 1, 2), datetime.date(2020, 1, 2)]
    values += [datetime.datetime(2020, 1, 2, 3, 4), datetime.time(12, 30), "NA", 1e300]
    path = write_xlsx(tmp_path / "x.xlsx", ("s", [["n", "x"], *[[row, value] for row, value in enumerate(values)]]))
    expected = ["1", "1.5", "3", "True", "", "001", " x ", "2020-01-02", "2020-01-02"]
    expected += ["2020-01-02T03:04:00", "12:30:00", "NA", "1e+300"]
    assert read_cohort(path)["x"].tolist() == expected


def test_a_sheet_is_chosen_by_name_or_with_a_warning(tmp_path):
    path = write_xlsx(tmp_path / "x.xlsx", ("data", [["a"], [1]]), ("codes", [["b"], [2]]))
    with pytest.warns(CohortWarning, match="read the first sheet, 'data'.*codes"):
        assert read_cohort(path).columns.tolist() == ["a"]
    assert read_cohort(path, sheet="codes").columns.tolist() == ["b"]
    with pytest.raises(ValueError, match=r"no sheet 'code'\. Did you mean 'codes'"):
        read_cohort(path, sheet="code")


def test_spreadsheet_errors_are_kept_as_text_and_reported(tmp_path):
    path = write_xlsx(tmp_path / "x.xlsx", ("s", [["a", "b"], [1, "#N/A"], ["#DIV/0!", 2]]))
    with pytest.warns(CohortWarning, match=r"B2 \(#N/A\), A3 \(#DIV/0!\)"):
        frame = read_cohort(path)
    assert frame.to_numpy().tolist() == [["1", "#N/A"], ["#DIV/0!", "2"]]


def test_spreadsheet_edges_without_content_are_left_out(tmp_path):
    rows = [["a", "b", None], [1, None, " "], [None, None, None], [2, 3, None], [None]]
    frame = read_cohort(write_xlsx(tmp_path / "x.xlsx", ("s", rows)))
    assert frame.to_numpy().tolist() == [["1", ""], ["2", "3"]]
    with pytest.warns(CohortWarning, match="no name for column 2: read as '#2'"):
        assert list(read_cohort(write_xlsx(tmp_path / "y.xlsx", ("s", [["a"], [1, 2]])))) == ["a", "#2"]
    with pytest.raises(ValueError, match="sheet 's' is empty"):
        read_cohort(write_xlsx(tmp_path / "z.xlsx", ("s", [])))


def test_parquet_keeps_its_types_and_its_named_index(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": pd.Categorical(["u", "v"])})
    path = tmp_path / "x.parquet"
    frame.to_parquet(path)
    pd.testing.assert_frame_equal(read_cohort(path), frame)
    frame.set_index("a").to_parquet(path)
    pd.testing.assert_frame_equal(read_cohort(path), frame)


def test_reading_a_sound_file_warns_of_nothing(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_cohort(write(tmp_path / "x.csv", "a,b\n1,2\n"))
        read_cohort(write_xlsx(tmp_path / "x.xlsx", ("s", [["a"], [1]])))


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
    pd.DataFrame([*rows, ["\u200b", "early stage", 9]], columns=["sex", "stage", "n"]).to_csv(path, index=False)
    frame = read_cohort(path)
    schema = FeatureSchema(
        [
            Feature(name="sex", likelihood="bernoulli", levels=["w", "m"]),
            Feature(name="stage", likelihood="categorical", levels=["early stage", "late stage"]),
            Feature(name="n", role="ignore"),
        ]
    )
    valid = schema.validate(frame, warn=False)
    assert valid["sex"].tolist()[:-1] == ["m"] * len(UNSEEN)
    assert valid["sex"].isna().sum() == 1
    assert valid["stage"].nunique() == 2
    with pytest.warns(CohortWarning, match="8 of 9 rows"):
        assert len(read_cohort(path, where="sex == 'm' and stage == 'late stage'")) == len(UNSEEN)
    assert canonical_text("می\u200cخواهم") == "می\u200cخواهم"  # between letters that it shapes
