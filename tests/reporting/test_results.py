"""The JSON of a report has the numbers of the workbook, for programs."""

import json

import numpy as np
import pandas as pd
import pytest
from cohorts import schema_of
from scored import few

from clinclust import MAPDP, reporting, validated_associations
from clinclust.reporting.sheets.subjects import ASSIGNMENTS
from reporting.stand_in import sections_of


@pytest.fixture(scope="module")
def two_subtypes():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], [50, 30])
    frame = pd.DataFrame({f"lab{place}": rng.normal(3.0 * group, 1.0).round(2) for place in range(4)})
    frame["falls"] = rng.poisson(1.0 + 4.0 * group)
    frame.loc[::9, "falls"] = np.nan
    options = {"n_restarts": 2, "progress": False}
    model = MAPDP(schema_of(frame, falls="poisson"), random_state=0, **options).fit(frame)
    assert model.n_clusters_ == 2
    return model, frame, validated_associations(model, frame, **options)


def write_report(model, frame, associations, path, **options):
    return reporting.write_report(model, frame, path, **({"associations": associations} | options))


def refuse(constant):
    raise AssertionError(f"{constant} is no JSON")


def results_of(path):
    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def numbers_in(values):
    """Return the numbers with twelve digits: a workbook does not store the last ones."""
    return {float(f"{value:.12g}") for value in values if isinstance(value, int | float)}


@pytest.mark.parametrize("suppress", few([5, None], 1))
def test_it_has_the_cells_of_the_workbook(two_subtypes, tmp_path, suppress):
    written = [write_report(*two_subtypes, tmp_path / f"r{end}", suppress=suppress) for end in (".json", ".xlsx")]
    results = results_of(written[0])
    workbook = sections_of(written[1])
    assert set(results["sheets"]) <= set(workbook) <= {*results["sheets"], "Differences", ASSIGNMENTS}
    for name, sheet in results["sheets"].items():
        values = [value for table in sheet["tables"] for row in table["rows"] for value in row]
        cells = [cell.value for row in workbook[name].iter_rows() for cell in row]
        assert numbers_in(values) <= numbers_in(cells), name


def test_it_has_the_divisions_as_the_test_found_them(two_subtypes, tmp_path):
    model, *_ = two_subtypes
    results = results_of(write_report(*two_subtypes, tmp_path / "r.json"))
    (found,) = results["divisions"]
    (tested,) = model.tree_test_.joins.query("accepted").to_dict("records")
    assert (found["p"], found["gain"], found["n_draws"]) == (tested["p"], tested["gain"], model.tree_test_.n_draws)
    assert (found["is_accepted"], found["sizes"]) == (True, model.cluster_sizes_.tolist())
    rows = dict(row[:2] for row in results["sheets"]["Overview"]["tables"][0]["rows"])
    assert list(rows.values()) == model.cluster_sizes_.tolist()
    shared = results_of(write_report(*two_subtypes, tmp_path / "s.json", suppress=5))
    assert shared["divisions"] == []


# --- one tidy table ---------------------------------------------------------------------------------------------------


@pytest.mark.simulation
def test_the_tidy_table_is_the_sheet_of_all_numbers(two_subtypes, tmp_path):
    csv, whole = (write_report(*two_subtypes, tmp_path / f"r{end}") for end in (".csv", ".json"))
    (sheet,) = results_of(whole)["sheets"]["Data"]["tables"]
    as_csv = pd.read_csv(csv)
    assert list(as_csv) == [name.lower().replace(" ", "_") for name in sheet["columns"]]
    for place, name in enumerate(as_csv):
        expected = [row[place] for row in sheet["rows"]]
        assert as_csv[name].astype(object).where(as_csv[name].notna(), None).tolist() == expected, name
    assert csv.read_bytes() == write_report(*two_subtypes, tmp_path / "again.csv").read_bytes()


def test_the_p_behind_the_number_of_subtypes_is_in_the_tidy_table(two_subtypes, tmp_path):
    model, frame, _ = two_subtypes
    found = pd.read_csv(write_report(*two_subtypes, tmp_path / "r.csv", names={1: "=Mild"}))
    first, any_shape = found[found["kind"] == "Tested division"].to_dict("records")
    (tested,) = model.tree_test_.joins.query("accepted").to_dict("records")
    assert (first["p"], first["statistic"], first["mean"]) == (tested["p"], tested["gain"], tested["expected"])
    assert any_shape["p"] == tested["p_any_shape"]
    assert (first["level"], first["subtype"], first["versus"]) == ("distinct", "1 =Mild", "Subtype 2")
    one = write_report(model.cut(1), frame, None, tmp_path / "one.csv")
    assert set(pd.read_csv(one)["kind"]) >= {"Summary", "Tested division"}


def test_a_shared_tidy_table_withholds_what_the_workbook_withholds(two_subtypes, tmp_path):
    found = pd.read_csv(write_report(*two_subtypes, tmp_path / "s.csv", suppress=20), dtype=str)
    assert "Tested division" not in set(found["kind"])
