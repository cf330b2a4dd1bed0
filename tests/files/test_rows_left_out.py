"""Rows that `rows` leaves out are counted alike, whatever the format of the file."""

import openpyxl
import pytest
from old_and_open_workbooks import ods

import clinclust as cc

ROWS = [
    ["id", "hb"],
    *([f"P{row:02d}", str(13 + row % 3)] for row in range(30)),
    ["Total: 30", "14"],
    ["", ""],
    ["end", ""],
]


def written(path):
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in ROWS:
            book.active.append([text or None for text in row])
        book.save(path)
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
