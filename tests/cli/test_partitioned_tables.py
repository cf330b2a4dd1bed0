"""Commands with a folder of parquet files, and with a parquet file of many rows."""

import json
import tempfile
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
import pandas as pd
import pytest
from command_line import QUICK, SCHEMA, cohort

import clinclust as cc
from clinclust.cli import main
from clinclust.files import parquet_partitions

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
    monkeypatch.setattr(parquet_partitions, "MANY_ROWS", 50)
    found = []
    assert parquet_partitions.is_in_partitions(folder / "cohort.parquet")
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
    assert main(["fit", "cohort", "--schema", "schema.yaml", "--out", "third", "--json", *QUICK]) == 0
    assert json.loads(capsys.readouterr().out)["subjects"] == 60
    assert main(["fit", "cohort", "--schema", "schema.yaml", "--out", "of cohort", *QUICK]) == 2
    assert "--overwrite" in capsys.readouterr().err


def test_what_partitions_cannot_do_is_refused(folder, capsys):
    given = ["fit", "cohort", "--schema", "schema.yaml", "--out", "out"]
    assert main([*given, "--where", "age > 50", "--describe", "crp"]) == 2
    assert "--describe, --where cannot be used with a table in partitions" in capsys.readouterr().err
    (folder / "cohort" / "3.parquet").write_bytes(b"no parquet")
    assert main(given) == 2
    assert "cohort: 3.parquet: this parquet file cannot be read (" in capsys.readouterr().err
    (folder / "cohort" / "3.parquet").unlink()
    broken = pd.read_parquet(folder / "cohort" / "1.parquet").assign(stage="9")
    broken.to_parquet(folder / "cohort" / "1.parquet", index=False)
    assert main([*given, *QUICK]) == 2
    assert "stage (1.parquet): expected" in capsys.readouterr().err
    assert not (folder / "out").exists()


def rewritten(file, change):
    change(pd.read_parquet(file)).to_parquet(file)


def with_a_damaged_page(file):
    from pyarrow import parquet

    content = bytearray(file.read_bytes())
    start = parquet.read_metadata(file).row_group(0).column(2).data_page_offset
    content[start : start + 20] = b"x" * 20
    file.write_bytes(content)


def test_no_row_of_a_folder_is_left_out_and_none_is_added(folder, capsys):
    given = ["fit", "cohort", "--schema", "schema.yaml", "--overwrite", "--out"]
    for out in ("cohort", "cohort/out"):
        assert main([*given, out]) == 2
        assert "is in the folder of the table" in capsys.readouterr().err
    (folder / "cohort" / "2.parquet").rename(folder / "cohort" / "2.PARQUET")
    assert main(["check", "cohort", "--schema", "schema.yaml"]) == 0
    assert "60 subjects" in capsys.readouterr().out
    for moved in ("2.PARQUET", "1.parquet", "0.parquet"):
        (folder / "cohort" / "more").mkdir(exist_ok=True)
        (folder / "cohort" / moved).rename(folder / "cohort" / "more" / moved)
        assert main(["check", "cohort", "--schema", "schema.yaml"]) == 2
        assert "cohort: folders in it hold parquet files, too (more)" in capsys.readouterr().err


def test_a_large_file_is_not_replaced_by_its_assignments(folder, capsys, monkeypatch):
    monkeypatch.setattr(parquet_partitions, "MANY_ROWS", 50)
    table = (folder / "cohort.parquet").rename(folder / "assignments.parquet")
    before = table.read_bytes()
    assert main(["fit", table.name, "--schema", "schema.yaml", "--overwrite", "--out", "."]) == 2
    assert "which is the table itself" in capsys.readouterr().err
    assert table.read_bytes() == before


def test_bad_files_are_one_error_that_names_them(folder, capsys):
    first, second, third = (folder / "cohort" / f"{number}.parquet" for number in range(3))
    given = ["fit", "cohort", "--schema", "schema.yaml", "--out", "out", *QUICK]
    rewritten(first, lambda frame: frame.assign(falls=frame["falls"].astype(int)).set_index("who"))  # no fault
    rewritten(second, lambda frame: frame.drop(columns="crp").assign(tremor=frame["tremor"] == "yes"))
    rewritten(third, lambda frame: frame.assign(falls=pd.Timestamp("2020-01-01")))
    assert main(given) == 2
    said = capsys.readouterr().err
    assert said.count("clinclust: ") == 1
    assert "crp (1.parquet): expected a column of this name." in said
    assert "tremor (1.parquet): expected" in said
    assert "falls (2.parquet): expected a number; 20 rows (first: 0," in said
    for file in (first, third):
        with_a_damaged_page(file)
    assert main(given) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "cohort" in line]
    assert line.startswith(
        "clinclust: cohort: 2 partitions cannot be read: 0.parquet: this parquet file cannot be read ("
    )
    assert "; 2.parquet: this parquet file cannot be read (" in line
    third.write_bytes(third.read_bytes()[:100])
    second.write_bytes(b"")
    assert main(given) == 2
    said = capsys.readouterr().err
    assert "cohort: 1.parquet: this parquet file cannot be read (" in said
    assert "; 2.parquet: this parquet file cannot be read (" in said
    assert not (folder / "out").exists()


WRITING = {
    "what was read": ("clinclust.engine.search.stored.Store.add", 3, "temporary files: "),
    "what was encoded": ("clinclust.engine.search.stored.Store.add", 4, "temporary files: "),
    "assignments": ("pyarrow.parquet.ParquetWriter.write_table", 2, "out cannot be written"),
}


@pytest.mark.parametrize(("name", "number", "at_fault"), WRITING.values(), ids=WRITING)
def test_a_full_disk_is_one_error_and_leaves_nothing(name, number, at_fault, folder, capsys, monkeypatch):
    (folder / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "temporary"))
    write, calls = resolve_name(name), iter(range(1, 99))

    def full(*arguments):
        if next(calls) < number:
            return write(*arguments)
        if isinstance(arguments[-1], Path):
            arguments[-1].write_bytes(b"begun")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(name, full)
    assert main(["fit", "cohort", "--schema", "schema.yaml", "--out", "out", "--quiet", *QUICK]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith(f"clinclust: {at_fault}")
    assert "the disk is full; free some space, or choose a folder on another disk" in said
    assert ("; TMPDIR=FOLDER in the environment chooses it" in said) == at_fault.startswith("temporary")
    assert not (folder / "out").exists()
    assert list((folder / "temporary").iterdir()) == []


def test_draft_and_check_read_a_sample_and_validate_all(folder, capsys, monkeypatch):
    monkeypatch.setattr("clinclust.schema.partitions.N_SAMPLED", 45)
    third = folder / "cohort" / "2.parquet"
    rewritten(third, lambda frame: frame.assign(stage=["7", *frame["stage"][1:]], tremor=["perhaps"] * 20))
    assert main(["draft", "cohort", "--out", "drafted.yaml", "--describe", "age"]) == 0
    said = capsys.readouterr().out
    assert "of 60 rows, all of which were validated:" in said
    assert said.splitlines()[-1] == "next: clinclust fit cohort --schema drafted.yaml --out cohort-subtypes"
    drafted = cc.FeatureSchema.from_yaml(folder / "drafted.yaml")
    assert set(drafted["tremor"].levels) == {"no", "yes", "perhaps"}
    assert drafted["age"].role == "describe"
    assert main(["check", "cohort", "--schema", "drafted.yaml", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["subjects"] < facts["rows"] == 60
    assert main(["check", "cohort", "--schema", "schema.yaml"]) == 2
    said = capsys.readouterr().err
    assert "stage (2.parquet): expected 0 to 4" in said
    assert "tremor (2.parquet): expected" in said
    for command in (["draft", "cohort"], ["check", "cohort", "--schema", "schema.yaml"]):
        assert main([*command, "--where", "age > 50", "--drop", "crp"]) == 2
        assert "--where, --drop cannot be used with a table in partitions" in capsys.readouterr().err


def test_a_draft_says_what_it_cannot_allow(folder, capsys):
    rewritten(folder / "cohort" / "1.parquet", lambda frame: frame.drop(columns="crp"))
    assert main(["draft", "cohort", "--out", "drafted.yaml"]) == 0
    told = capsys.readouterr()
    assert "crp (1.parquet): expected a column of this name" in told.err
    assert "next, after editing drafted.yaml: clinclust check cohort --schema drafted.yaml" in told.out
    (folder / "cohort" / "1.parquet").write_bytes(b"damaged")
    assert main(["draft", "cohort", "--out", "other.yaml"]) == 2
    assert "cohort: 1.parquet: this parquet file cannot be read" in capsys.readouterr().err
    assert not (folder / "other.yaml").exists()
