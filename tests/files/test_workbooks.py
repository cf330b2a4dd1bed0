"""A cover before the table is passed over, and said to be; rows that `rows` leaves out are counted in every format."""

import numpy as np
import pandas as pd
import pytest
from calls import calls_of
from old_and_open_workbooks import ods, xlsb
from test_tables import write_xlsx

import clinclust as cc
from clinclust.errors import InputError
from clinclust.files import formats

COVER = [["Study ABC"], ["As of:", "2024-02-01"]]
LEGEND = [["field", "value"], ["study", "ABC"], ["investigator", "X"]]
BROKEN = [["P00", 13.1, 40], *([f"P{row}", row, 13.1] for row in range(40))]


def subjects(seed=0, n=40):
    rng = np.random.default_rng(seed)
    rows = [[f"P{row:02d}", float(rng.normal(13, 1).__round__(1)), int(rng.integers(18, 90))] for row in range(n)]
    return [["id", "hb", "age"], *rows]


def workbook(path, **sheets):
    return write_xlsx(path, *sheets.items())


@pytest.mark.parametrize("cover", [COVER, LEGEND])
def test_the_only_table_is_read_and_told_first(tmp_path, cover):
    path = workbook(tmp_path / "c.xlsx", Cover=cover, Data=subjects())
    with pytest.warns(cc.CohortWarning, match="read the sheet 'Data': the first, 'Cover', is no table"):
        frame = cc.read_cohort(path)
    assert frame.shape == (40, 3)
    pd.testing.assert_frame_equal(frame, cc.read_cohort(path, sheet="Data"))


def test_several_tables_are_asked_about(tmp_path):
    path = workbook(tmp_path / "c.xlsx", Cover=COVER, Data=subjects(), Labs=subjects(1))
    with pytest.raises(InputError, match=r"'Cover', is no table of subjects.*`sheet`: 'Data', 'Labs'"):
        cc.read_cohort(path)
    assert len(cc.read_cohort(path, sheet="Labs")) == 40


def test_a_first_sheet_at_fault_is_not_passed_over_but_the_others_are_named(tmp_path):
    path = workbook(tmp_path / "c.xlsx", Data=BROKEN, Labs=subjects())
    with pytest.raises(InputError, match="If 'Data' is no table of subjects, choose another sheet by `sheet`: Labs"):
        cc.read_cohort(path)


ROWS = [
    ["id", "hb"],
    *([f"P{row:02d}", str(13 + row % 3)] for row in range(30)),
    ["Total: 30", "14"],
    ["", ""],
    ["end", ""],
]


def written(path):
    if path.suffix == ".xlsx":
        workbook(path, Data=[[text or None for text in row] for row in ROWS])
    elif path.suffix == ".ods":
        path.write_bytes(ods(ROWS))
    else:
        path.write_text("".join(f"{','.join(row)}\n" for row in ROWS), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["c.csv", "c.xlsx", "c.ods"])
@pytest.mark.filterwarnings("ignore::clinclust.CohortWarning")
def test_rows_left_out_by_hand_are_counted(tmp_path, name):
    frame = cc.read_cohort(written(tmp_path / name), rows="2-31")
    counts = frame.attrs["rows_taken"]["counts"]
    assert (len(frame), counts["in_table"], counts["outside"]) == (30, 32, 2)


@pytest.mark.parametrize("kind", ["xlsx", "ods", "xlsb"])
@pytest.mark.filterwarnings("ignore::clinclust.CohortWarning")
def test_a_stray_cell_in_the_last_column_of_excel_costs_no_work_for_the_empty_cells_of_each_row(tmp_path, kind):
    def read(rows, **choice):
        path = tmp_path / f"c.{kind}"
        if kind == "xlsx":
            workbook(path, Data=rows)
        else:
            path.write_bytes({"ods": ods, "xlsb": xlsb}[kind](rows))
        frames = []
        return calls_of(lambda: frames.append(cc.read_cohort(path, **choice))), frames[0]

    rows = subjects()
    n_calls, frame = read(rows)
    stray = [*rows[:30], [*rows[30], *[None] * 16_380, "x"], *rows[31:]]
    n_more, same = read(stray, drop=["#16384"])
    pd.testing.assert_frame_equal(same, frame)
    assert n_more - n_calls < 200 * len(rows)


def test_a_workbook_that_ends_its_reader_is_one_clear_error(tmp_path, monkeypatch):
    path = tmp_path / "c.ods"
    path.write_bytes(ods(ROWS))
    monkeypatch.setattr(formats, "_CALAMINE", "import os; os.abort()")
    with pytest.raises(InputError, match=r"^c\.ods: this ods workbook cannot be read \(damaged\): open it in Excel"):
        cc.read_cohort(path)
