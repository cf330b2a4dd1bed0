"""A draft keeps to the roles that somebody gives, whatever names, files and other columns say."""

import numpy as np
import pandas as pd
import pytest

from clinclust import SchemaError, draft_schema
from clinclust.files.column_notes import ColumnNotes, add_notes
from clinclust.roles import REASONS

N = 120
RNG = np.random.default_rng(0)
COHORT = pd.DataFrame(
    {
        "case": [f"c{row}" for row in range(N)],
        "crp": RNG.normal(5, 1, N).round(2),
        "hb": RNG.normal(13, 1, N).round(2),
        "death": RNG.choice(["no", "yes"], N),
        "centre": RNG.choice(["A", "B", "C"], N),
        "seen": [f"2024-02-{row % 28 + 1:02}" for row in range(N)],
        "comment": [f"remark {row} of the ward" for row in range(N)],
    }
)

DRAFTED = draft_schema(COHORT, progress=False)


@pytest.mark.parametrize("role", ["cluster", "describe", "ignore", *REASONS])
@pytest.mark.parametrize("name", ["crp", "death", "centre"])
def test_a_role_is_kept_and_the_table_is_valid(name, role):
    schema = draft_schema(COHORT, roles={name: role}, progress=False)
    assert schema[name].role == role
    assert schema[name].likelihood is not None
    assert "`role: " not in schema.comments[name]
    schema.validate(COHORT, warn=False)


def test_no_roles_change_nothing():
    given = draft_schema(COHORT, roles={}, progress=False)
    assert given == DRAFTED
    assert given.comments == DRAFTED.comments


def test_roles_change_nothing_of_other_columns():
    changed = draft_schema(COHORT, roles={"death": "cluster"}, progress=False)
    assert {one.name: one for one in changed if one.name != "death"} == {
        one.name: one for one in DRAFTED if one.name != "death"
    }


def test_a_column_is_used_for_its_values_though_its_file_leaves_it_out():
    table = COHORT[["crp", "hb", "death"]].copy()
    add_notes(table, {"death": ColumnNotes(label="Vital status", role="ignore", kind="text")})
    assert draft_schema(table, progress=False)["death"].likelihood is None
    schema = draft_schema(table, roles={"death": "cluster"}, progress=False)
    assert (schema["death"].levels, schema["death"].label) == (("no", "yes"), "Vital status")
    assert schema.comments["death"].startswith("drafted by its values; ")


def test_a_column_is_used_for_its_values_though_its_name_leaves_it_out():
    assert DRAFTED["seen"].likelihood is None
    seen = draft_schema(COHORT, roles={"seen": "cluster"}, progress=False)["seen"]
    assert (seen.role, len(seen.levels)) == ("cluster", 28)


def test_everything_wrong_is_said_before_anything_is_drafted():
    with pytest.raises(SchemaError) as found:
        draft_schema(COHORT, roles={"crpp": "cluster", "hb": "clustre"}, progress=False)
    assert [problem.partition(":")[0] for problem in found.value.problems] == ["crpp", "hb"]
    with pytest.raises(SchemaError) as found:
        draft_schema(COHORT, roles={"case": "cluster", "comment": "describe"}, progress=False)
    assert [problem.partition(":")[0] for problem in found.value.problems] == ["case", "comment"]
