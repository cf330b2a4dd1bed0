"""`clinclust fit` of a folder of parquet files, and of a parquet file of many rows."""

import numpy as np
import pandas as pd
import pytest
from command_line import QUICK, SCHEMA, cohort

import clinclust as cc
from clinclust.cli import main, partitions

pytest.importorskip("dask.dataframe")
pytestmark = pytest.mark.filterwarnings("ignore:.*inplace.*")  # Dask calls what pandas is to change


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    (tmp_path / "cohort").mkdir()
    frame = cohort(60).astype(str)
    for number, rows in enumerate(np.array_split(np.arange(60), 3)):
        frame.iloc[rows].to_parquet(tmp_path / "cohort" / f"{number}.parquet", index=False)
    frame.to_parquet(tmp_path / "cohort.parquet", index=False, row_group_size=25)
    return tmp_path


def test_a_folder_and_a_large_file_are_fitted_in_partitions(folder, capsys, monkeypatch, some):
    monkeypatch.setattr(partitions, "MANY_ROWS", 50)
    found = []
    assert partitions.is_in_partitions(folder / "cohort.parquet")
    for table in some(("cohort", "cohort.parquet"), 1):
        assert main(["fit", table, "--schema", "schema.yaml", "--out", f"of {table}", *QUICK]) == 0
        out = folder / f"of {table}"
        assert {path.name for path in out.iterdir()} >= {"assignments.parquet", "model.json", "subtypes.html"}
        found.append(pd.read_parquet(out / "assignments.parquet"))
        model = cc.MAPDP.load(out)
        assert found[-1]["subtype"].value_counts().sort_index().tolist() == model.cluster_sizes_.tolist()
    assert found[0]["who"].tolist() == cohort(60)["who"].tolist()
    pd.testing.assert_frame_equal(found[0], found[-1])
    assert "among 60 subjects" in capsys.readouterr().out
    assert main(["fit", "cohort", "--schema", "schema.yaml", "--out", "of cohort", *QUICK]) == 2
    assert "--overwrite" in capsys.readouterr().err


def test_what_partitions_cannot_do_is_refused(folder, capsys):
    given = ["fit", "cohort", "--schema", "schema.yaml", "--out", "out"]
    assert main([*given, "--where", "age > 50", "--describe", "crp"]) == 2
    assert "--describe, --where cannot be used with a table in partitions" in capsys.readouterr().err
    (folder / "cohort" / "3.parquet").write_bytes(b"no parquet")
    assert main(given) == 2
    assert "cohort cannot be read as parquet" in capsys.readouterr().err
    (folder / "cohort" / "3.parquet").unlink()
    broken = pd.read_parquet(folder / "cohort" / "1.parquet").assign(stage="9")
    broken.to_parquet(folder / "cohort" / "1.parquet", index=False)
    assert main([*given, *QUICK]) == 2
    assert "stage (partition 1): expected" in capsys.readouterr().err
    assert not (folder / "out").exists()
