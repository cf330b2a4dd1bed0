"""`clinclust check --model` says what does not fit, and writes a schema that follows the advice."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import contents, refused

import clinclust as cc
from clinclust.cli import main

TWO_GROUPS = np.repeat([0.0, 4.0], [70, 50])


def cohort():
    """Two groups; `crp` is skewed, and two pressures measure the same thing."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.normal(TWO_GROUPS, 1.0) for name in "abc"})
    common = rng.normal(size=120)
    return frame.assign(
        crp=rng.lognormal(0.3 * TWO_GROUPS, 0.8),
        systolic=common + 0.4 * rng.normal(size=120),
        diastolic=common + 0.4 * rng.normal(size=120),
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Stand in a folder with a table, and the folder of a model whose schema declares every column Gaussian."""
    monkeypatch.chdir(tmp_path)
    frame = cohort()
    frame.to_csv("cohort.csv", index=False)
    schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame], title="Pressures")
    with pytest.warns(cc.CohortWarning, match="described clearly better"):
        model = cc.methods.PublishedMAPDP(schema, n_restarts=2, random_state=0, progress=False).fit(frame)
    Path("out").mkdir()
    model.save("out")
    return tmp_path


def test_the_advice_is_printed_and_followed_in_a_copy_of_the_schema(folder, capsys):
    assert main(["check", "cohort.csv", "--model", "out", "--out", "mended.yaml"]) == 0
    said, problems = capsys.readouterr()
    assert "3 of 6 features are not as the model says" in said
    assert "\n      - {name: crp, likelihood: gaussian, transform: log}\n" in said
    assert "next: clinclust fit cohort.csv --schema mended.yaml --out mended-subtypes" in said
    assert problems == ""
    mended = cc.FeatureSchema.from_yaml("mended.yaml")
    assert mended.title == "Pressures"
    assert mended["crp"].transform == "log"
    assert mended["systolic"].block == mended["diastolic"].block == "depends_1"
    assert mended["a"] == cc.Feature(name="a", likelihood="gaussian")
    again = cc.methods.PublishedMAPDP(mended, n_restarts=2, random_state=0, progress=False).fit(cohort())
    again.save("again")
    assert main(["check", "cohort.csv", "--model", "again", "--out", "none.yaml"]) == 0
    said, problems = capsys.readouterr()
    assert said == "Nothing speaks clearly against the model.\n"
    assert "there is no line to mend, so that none.yaml was not written" in problems
    assert not Path("none.yaml").exists()


def test_without_a_file_to_write_the_command_that_writes_one_is_next(folder, capsys):
    before = contents()
    assert main(["check", "cohort.csv", "--model", "out"]) == 0
    assert capsys.readouterr().out.endswith("next: clinclust check cohort.csv --model out --out mended.yaml\n")
    assert contents() == before


def test_no_schema_is_replaced_unless_it_may_be(folder, capsys):
    Path("mine.yaml").write_text("edited by hand", encoding="utf-8")
    said = refused(capsys, "check", "cohort.csv", "--model", "out", "--out", "mine.yaml")
    assert "mine.yaml exists and may hold your edits; give --overwrite" in said
    assert "ends in .yaml or .yml" in refused(capsys, "check", "cohort.csv", "--model", "out", "--out", "mine.txt")
    assert main(["check", "cohort.csv", "--model", "out", "--out", "mine.yaml", "--overwrite"]) == 0
    assert "transform: log" in Path("mine.yaml").read_text(encoding="utf-8")


def test_a_table_is_checked_against_a_schema_or_a_model(folder, capsys):
    Path("schema.yaml").write_text("clinclust: 1\nfeatures:\n  - {name: a, likelihood: gaussian}\n", encoding="utf-8")
    options = ["check", "cohort.csv", "--schema", "schema.yaml"]
    said = refused(capsys, *options, "--out", "new.yaml", "--overwrite", "--all-rows")
    assert "--out, --overwrite, --all-rows can be used only together with --model" in said
    for arguments in (options[:2], [*options, "--model", "out"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2


def test_another_table_than_that_of_the_fit_is_refused(folder, capsys):
    cohort().head(50).to_csv("other.csv", index=False)
    assert "the model was fitted on 120 subjects" in refused(capsys, "check", "other.csv", "--model", "out")
