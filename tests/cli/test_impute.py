"""`clinclust impute`: which cells are filled, in which files, and what is refused."""

import numpy as np
import openpyxl
import pandas as pd
import pytest
from command_line import refused

from clinclust import Feature, FeatureSchema
from clinclust.cli import main
from clinclust.methods import PublishedMAPDP

GIVEN = ["impute", "cohort.csv", "--model", "subtypes"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    ill = np.repeat([0, 1], 40)
    frame = pd.DataFrame({"patient": [f"=P{number}" for number in range(80)], "age": (40 + 30 * ill).astype(object)})
    frame["crp"] = np.where(rng.random(80) < 0.4, "<5", np.round(rng.lognormal(2.5, 0.5, 80), 1).astype(str))
    frame["urea"], frame["outcome"] = rng.normal(5 + 7 * ill).round(1), rng.normal(ill).round(2)
    frame["sex"], frame["note"] = rng.choice(["female", "male"], 80), rng.choice(["@x", ""], 80)
    for name, every in {"age": 5, "crp": 4, "urea": 3, "outcome": 7, "sex": 6}.items():
        frame[name] = frame[name].mask(np.arange(80) % every == every - 1 - (name == "urea"))
    frame["age"] = frame["age"].astype("Int64")
    frame.to_csv("cohort.csv", index=False)
    schema = FeatureSchema(
        [
            Feature(name="patient", role="id"),
            Feature(name="age", likelihood="poisson"),
            Feature(name="crp", likelihood="gaussian", transform="log", limit=["below"]),
            Feature(name="urea", likelihood="gaussian"),
            Feature(name="sex", likelihood="bernoulli", levels=("female", "male")),
            Feature(name="outcome", likelihood="gaussian", role="describe"),
        ],
        other_columns="ignore",
    )
    PublishedMAPDP(schema, random_state=0, progress=False).fit(frame).save("subtypes")
    return frame


def test_missing_cells_are_filled_and_all_others_stay(folder, capsys):
    assert main([*GIVEN, "--out", "one.csv"]) == 0
    n_filled = int(folder.drop(columns=["patient", "note"]).isna().sum().sum())
    assert f"Wrote one.csv: 80 rows, {n_filled} cells of 5 columns filled" in capsys.readouterr().out
    written = pd.read_csv("one.csv", dtype={"age": "Int64"})
    assert written.columns.tolist() == ["imputation", *folder.columns, "filled_columns"]
    assert written["patient"].str.startswith("'=P").all()  # no formula
    for name in ("age", "crp", "urea", "sex", "outcome"):
        assert written[name].notna().all()
        seen = folder[name].notna()
        assert written.loc[seen, name].astype(str).tolist() == [str(cell) for cell in folder.loc[seen, name]]
        assert (written["filled_columns"].fillna("").str.contains(name) == ~seen).all()
    assert set(written["sex"]) == {"female", "male"}
    drawn = written.loc[folder["crp"].isna(), "crp"]
    assert (drawn == "<5").any()
    assert (pd.to_numeric(drawn[drawn != "<5"]) > 0).all()


def test_several_tables_stand_one_below_the_other_and_a_sheet_counts(folder):
    assert main([*GIVEN, "--out", "m.xlsx", "--tables", "3", "--quiet"]) == 0
    table = pd.read_excel("m.xlsx", engine="openpyxl", sheet_name="Completed")
    assert table["imputation"].value_counts().to_dict() == {1: 80, 2: 80, 3: 80}
    assert table["urea"].groupby(table["imputation"]).mean().nunique() == 3
    counts = pd.read_excel("m.xlsx", engine="openpyxl", sheet_name="Filled").set_index("column")
    assert counts["filled"].to_dict() == {name: int(folder[name].isna().sum()) for name in counts.index}
    assert counts.loc["urea"].tolist() == [int(folder["urea"].isna().sum()), 80]
    cell = openpyxl.load_workbook("m.xlsx")["Completed"]["B2"]
    assert (cell.value, cell.data_type) == ("=P0", "s")
    assert main([*GIVEN, "--out", "m.csv", "--tables", "3", "--quiet"]) == 0
    pd.testing.assert_series_equal(pd.read_csv("m.csv")["urea"], table["urea"])


def test_parquet_holds_the_same(folder):
    pytest.importorskip("pyarrow")
    assert main([*GIVEN, "--out", "m.parquet", "--quiet"]) == 0
    assert main([*GIVEN, "--out", "m.csv", "--quiet"]) == 0
    np.testing.assert_allclose(pd.read_parquet("m.parquet")["urea"], pd.read_csv("m.csv")["urea"])


def test_what_cannot_be_imputed(folder, capsys):
    assert "must be at least 1, not 0" in refused(capsys, *GIVEN, "--out", "one.csv", "--tables", "0")
    assert "ends in .csv or .xlsx or .parquet" in refused(capsys, *GIVEN, "--out", "one.sav")
    assert "which is the table itself" in refused(capsys, *GIVEN, "--out", "cohort.csv", "--overwrite")
    folder.assign(imputation=1).to_csv("named.csv", index=False)
    err = refused(capsys, "impute", "named.csv", *GIVEN[2:], "--out", "one.csv")
    assert "has a column 'imputation', which is added" in err
    folder.head(70).to_csv("others.csv", index=False)
    assert "the model was fitted on 80 subjects" in refused(
        capsys, "impute", "others.csv", *GIVEN[2:], "--out", "o.csv"
    )


def test_out_is_required_and_the_seed_is_a_number_from_0(folder, capsys):
    with pytest.raises(SystemExit):
        main(GIVEN)
    assert "required: --out" in capsys.readouterr().err
    assert "--seed must be at least 0, not -1" in refused(capsys, *GIVEN, "--out", "one.csv", "--random-state", "-1")


def test_a_column_name_that_holds_the_separator_is_counted_as_one(folder, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"grip; left": rng.normal(size=40), "gait": rng.normal(size=40)})
    frame.loc[::4, "grip; left"] = np.nan
    frame.to_csv("named.csv", index=False)
    schema = FeatureSchema([Feature(name=name, likelihood="gaussian") for name in frame])
    PublishedMAPDP(schema, random_state=0, progress=False).fit(frame).save("named")
    assert main(["impute", "named.csv", "--model", "named", "--out", "one.csv"]) == 0
    assert "10 cells of 1 column filled" in capsys.readouterr().out
