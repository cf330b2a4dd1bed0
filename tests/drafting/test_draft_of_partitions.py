"""A schema drafted from a sample of a table in partitions allows what the other rows hold."""

import numpy as np
import pytest
from partitioned_tables import a_table, cut, in_partitions

import clinclust as cc
from clinclust.files.row_choice import drawn
from clinclust.schema import validation

N = 1_500

OUTSIDE_THE_SAMPLE = {
    "a level": ("named", ["d"]),
    "many levels": ("named", [f"level {number}" for number in range(40)]),
    "a third value": ("yes1", [2]),
    "a word for missing": ("y0", ["ND", "ND", "?"]),
    "a date": ("y2", ["2020-01-01"]),
}


@pytest.fixture
def small_sample(monkeypatch):
    monkeypatch.setattr(validation, "N_SAMPLED", N // 5)


def test_rows_outside_the_sample_are_valid_under_the_draft(small_sample, some):
    frame, _ = a_table(n=N)
    frame = frame.astype(object)
    outside = np.flatnonzero(~drawn(frame, (), 0, 0.2, 0))
    drafted = cc.draft_schema(in_partitions(*cut(frame, 3)), progress=False)
    for name, (column, values) in some(OUTSIDE_THE_SAMPLE.items(), 2):
        changed = frame.copy()
        changed.iloc[outside[: len(values)], changed.columns.get_loc(column)] = values
        table = in_partitions(*cut(changed, 3))
        with pytest.raises(cc.CohortError):
            drafted.validate(table.compute(), warn=False)
        schema = cc.draft_schema(table, progress=False)
        schema.validate(table.compute(), warn=False)
        assert schema.names == drafted.names, name


def test_what_no_draft_can_allow_is_told(small_sample):
    frame, _ = a_table(n=N)
    first, second = cut(frame, 2)
    with pytest.warns(cc.CohortWarning, match=r"the draft needs an edit: .*\n  - y1 \(partition 1\): expected a col"):
        schema = cc.draft_schema(in_partitions(first, second.drop(columns="y1")), roles={"y0": "describe"})
    assert schema["y0"].role == "describe"


def test_roles_of_unknown_columns_are_refused(small_sample):
    frame, _ = a_table(n=N)
    with pytest.raises(cc.SchemaError, match="y7"):
        cc.draft_schema(in_partitions(frame), roles={"y7": "describe"})
