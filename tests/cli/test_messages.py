"""What each command prints, word for word, so that every change of wording is seen; other tests ask what it does.

PYTHONPATH=.:tests python -m cli.test_messages    # writes the texts anew; read what changed before you commit

A text has a few scenes of one command: the command line, what it printed (`!` on standard error), and its exit code
where that is not 0. Decimals and times are masked: they may differ between versions of numpy, and between machines.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from command_line import (
    CHECK,
    FIT,
    JOBS,
    NOTE,
    QUICK,
    RESTARTS,
    SCHEMA,
    SEED,
    assert_is_one_message,
    cohort,
    contents,
    exit_code,
    new_subjects,
    one_continuum,
)

from clinclust import Feature, FeatureSchema

TEXTS = Path(__file__).parent / "texts"


def write_stage():
    """Write the tables, schemas and models that the scenes use, in this folder."""
    frame = cohort()
    frame.to_csv("cohort.csv", index=False)
    Path("schema.yaml").write_text(SCHEMA, encoding="utf-8")
    assert exit_code(f"fit cohort.csv --schema schema.yaml --out model --as-published --quiet {RESTARTS} 4") == 0
    assert exit_code(f"fit cohort.csv --schema schema.yaml --out withheld {QUICK} --suppress 5 --quiet") == 0

    frame.assign(falls=["several", *frame["falls"][1:]], stage=[*frame["stage"][:38], 7, 7]).to_csv(
        "bad.csv", index=False
    )
    frame.iloc[::-1].to_csv("sorted.csv", index=False)
    frame.head(30).to_csv("part.csv", index=False)
    frame.assign(falls=frame["falls"] + 1).to_csv("changed.csv", index=False)
    frame.assign(falls=1, tremor="no", stage=2, crp="NA").to_csv("flat.csv", index=False)
    Path("mine").mkdir()
    Path("mine/notes.txt").touch()
    note = [f"Zoë {number}" for number in range(40)]
    odd = frame.assign(stage=2, note=note, empty="", falls=["", "", *frame["falls"][2:]])
    Path("odd.csv").write_bytes(odd.to_csv(index=False).encode("cp1252"))
    visits = pd.concat([frame.assign(visit=when) for when in ("baseline", "later")])
    Path("messy.csv").write_text(f"Clinic\n\n{visits.to_csv(index=False)}", encoding="utf-8")
    visits.rename(columns={"who": "MRN"}).to_csv("visits.csv", index=False)
    wide = SCHEMA.replace("features:", "other_columns: ignore\nfeatures:")
    Path("wide.yaml").write_text(wide, encoding="utf-8")
    rows = "rows: {where: \"visit == 'baseline'\"}\n"
    Path("rows.yaml").write_text(wide.replace("features:", f"{rows}features:"), encoding="utf-8")
    Path("typo.yaml").write_text(SCHEMA.replace("likelihood: poisson", "likelihod: poison"), encoding="utf-8")

    new_subjects(stage=(0, 9), tremor=(1, "perhaps"), crp=(1, "see note")).to_csv("new.csv", index=False)
    peculiar = new_subjects().head(8)
    peculiar["who"] = ["a", "a", "NA", *"bcdef"]
    peculiar.loc[7, "age":] = "NA"
    peculiar.to_csv("peculiar.csv", index=False)

    one_continuum().to_csv("one.csv", index=False)
    FeatureSchema([Feature(name=name, likelihood="gaussian") for name in "abcdef"]).to_yaml("one.yaml")
    write_pressures()
    write_sexes()


def write_pressures():
    """Write a table whose schema is wrong: `crp` is skewed, and two pressures measure the same thing."""
    rng = np.random.default_rng(0)
    groups = np.repeat([0.0, 4.0], [70, 50])
    frame = pd.DataFrame({name: rng.normal(groups, 1.0) for name in "abc"})
    common, crp = rng.normal(size=120), rng.lognormal(0.3 * groups, 0.8)
    frame = frame.assign(crp=crp, systolic=common + 0.4 * rng.normal(size=120), diastolic=common)
    frame.round(3).to_csv("pressures.csv", index=False)
    FeatureSchema([Feature(name=name, likelihood="gaussian") for name in frame]).to_yaml("pressures.yaml")
    assert exit_code(f"fit pressures.csv --schema pressures.yaml --out pressures {QUICK} --quiet") == 0


def write_sexes():
    """Write a table whose subtypes are the sexes, with an outcome, and a few subjects far away."""
    rng = np.random.default_rng(0)
    male = rng.random(200) < 0.45
    frame = pd.DataFrame(rng.normal(4.0 * male[:, None], 1.0, (200, 4)).round(3), columns=list("abcd"))
    frame.iloc[:3, :4] += 30
    died = np.where(rng.random(200) < 0.7, "yes", "no")
    days = rng.exponential(1000 / (1 + 2 * male)).round() + 1
    frame.assign(sex=np.where(male, "male", "female"), died=died, days=days).to_csv("sexes.csv", index=False)
    features = [Feature(name=name, likelihood="gaussian") for name in "abcd"]
    sex = Feature(name="sex", likelihood="bernoulli", levels=("female", "male"), role="describe")
    FeatureSchema([*features, sex], other_columns="ignore").to_yaml("sexes.yaml")
    assert exit_code(f"fit sexes.csv --schema sexes.yaml --out sexes {QUICK} --quiet") == 0


SCENES = {
    "clinclust": {
        "no command": "",
        "an unknown command": "fitt cohort.csv",
        "the name of a table in the place of a command": "cohort.csv",
        "options that do not exist": "fit cohort.csv --shema x --outt=y -s",
        "an option before the command": "--quiet check cohort.csv",
    },
    "start": {
        "a good run": f"start odd.csv {QUICK}",
        "a schema next to the table": f"start sexes.csv --describe d {QUICK} --out again",
        "nothing is replaced": "start odd.csv --out model",
        "rows that are visits": "start visits.csv",
        "bad options": f"start cohort.csv --min-size 1 {JOBS} 0 --name Mild",
    },
    "draft": {
        "a good run": "draft cohort.csv --out new.yaml",
        "rows and roles are chosen": "draft messy.csv --where \"visit == 'baseline'\" --describe crp --out messy.yaml",
        "nothing to find": "draft flat.csv --out flat.yaml",
        "roles of columns that do not exist": "draft cohort.csv --cluster tremr --describe agee --ignore tremor",
        "a schema may hold work": "draft cohort.csv --out schema.yaml",
        "a sheet of no dictionary": "draft cohort.csv --dictionary-sheet A",
    },
    "check": {
        "a good run": CHECK,
        "notes": "check odd.csv --schema wide.yaml",
        "a bad table": "check bad.csv --schema schema.yaml",
        "a bad schema": "check cohort.csv --schema typo.yaml",
        "nothing to cluster on": "check flat.csv --schema schema.yaml",
        "one row per subject": "check messy.csv --schema wide.yaml",
        "rows by the schema": "check messy.csv --schema rows.yaml",
        "other rows than those of the schema": "check messy.csv --schema rows.yaml --where \"visit == 'later'\"",
        "no such file": "check cohrt.csv --schema schema.yaml",
        "options of another way to check": f"{CHECK} --out new.yaml --all-rows",
        "a model that fits": "check cohort.csv --model model",
        "a model that does not fit": "check pressures.csv --model pressures",
        "a schema that mends it": "check pressures.csv --model pressures --out mended.yaml",
    },
    "fit": {
        "a good run": f"fit cohort.csv --schema schema.yaml --out out {RESTARTS} 2 --associations none",
        "one continuum": f"fit one.csv --schema one.yaml --out out --overwrite {RESTARTS} 2 --associations none",
        "one column makes the subtypes": f"fit sexes.csv --schema sexes.yaml --out sex --min-size 10 {QUICK}",
        "notes": f"fit odd.csv --schema wide.yaml --out mine {QUICK}",
        "for sharing": f"{FIT} --suppress 5 --overwrite",
        "done in part": f"{FIT} --overwrite --n-clusters 9 --name 7=Rare",
        "too few to share": f"{FIT} --overwrite --suppress 40",
        "a bad table": f"fit bad.csv --schema schema.yaml --out bad {QUICK}",
        "bad options": f"fit cohort.csv --schema schema.yaml --out new {SEED} -1 --concentration 0 --name Mild",
        "options that exclude each other": "fit cohort.csv --schema schema.yaml --out new --select-features",
        "an earlier fit": f"fit cohort.csv --schema schema.yaml --out model {QUICK}",
        "an input would be replaced": f"fit model/assignments.csv --schema schema.yaml --out model {QUICK}",
    },
    "report": {
        "a good run": "report cohort.csv --model model --overwrite --associations none",
        "for sharing": "report sorted.csv --model withheld --out again --round-to 5 --associations none",
        "not for sharing": "report cohort.csv --model withheld --out new --stability 5",
        "another cohort": "report changed.csv --model model --overwrite",
        "an earlier report": "report cohort.csv --model model",
        "bad options": f"report cohort.csv --model model --overwrite --name Rare --min-size 0 {JOBS} 0",
    },
    "table": {
        "a good run": "table cohort.csv --model model --out table.md",
        "small counts withheld": "table cohort.csv --model withheld --out shared.md",
        "all counts": "table cohort.csv --model withheld --out own.md --suppress 0",
        "another cohort": "table part.csv --model model --out new.md",
        "a pair of unequal size": "table cohort.csv --model model --out new.md --between 1 2 --min-size 20",
        "bad options": "table cohort.csv --model model --out t.pdf --columns smd smd --decimals 9 --min-size 0",
        "no such subtype": "table cohort.csv --model model --out new.md --name 7=Mild --between 1 9",
    },
    "assign": {
        "a good run": "assign peculiar.csv --model model --cohort cohort.csv --out assigned.csv",
        "the table of the fit": "assign sorted.csv --model model --out again.csv",
        "values that the model does not know": "assign new.csv --model model --out new_subtypes.csv",
        "values taken for missing": "assign new.csv --model model --unseen missing --out seen.csv",
        "the cohort itself": "assign cohort.csv --model model --cohort cohort.csv --out cohort_subtypes.csv",
        "no model": "assign new.csv --model modl",
        "counts would be shared": "assign new.csv --model withheld --cohort cohort.csv",
        "the table would be replaced": "assign new.csv --model model --out new.csv --overwrite",
    },
    "impute": {
        "a good run": "impute cohort.csv --model model --out completed.csv --tables 3",
        "bad options": f"impute cohort.csv --model model --out new.csv --tables 0 {SEED} -1",
        "the table itself": "impute cohort.csv --model model --out cohort.csv --overwrite",
        "another cohort": "impute part.csv --model model --out two.csv",
    },
    "outcomes": {
        "a good run": "outcomes sexes.csv --model sexes --outcome died --time days --event yes --out outcomes.csv",
        "predictors": "outcomes sexes.csv --model sexes --predictors days",
        "columns that do not exist": "outcomes sexes.csv --model sexes --outcome diet --covariates agee",
        "options of another question": "outcomes sexes.csv --model sexes --predictors days --time days",
        "neither outcome nor predictors": "outcomes sexes.csv --model sexes",
    },
    "compare": {
        "a good run": (
            "compare cohort.csv --model model --method 'K-means, K by silhouette' --resamples 1 --draws 20"
            " --out methods.csv"
        ),
        "bad options": "compare cohort.csv --model model --method K-modes --resamples 0",
        "counts would be shared": "compare cohort.csv --model withheld",
    },
    "validate": {
        "bad options": "validate part.csv --cohort cohort.csv --model model --out page.pdf",
        "counts would be shared": "validate part.csv --cohort cohort.csv --model withheld",
    },
    "schemas": {
        "a good run": "schemas",
        "no such instrument": "schemas phq8",
    },
}
MASKS = {
    r"\d+\.\d+(e-?\d+)?|(?<![\w.-])\.\d\d+": "#.#",
    r"\d+( nats| s\b| seconds?| min\b| minutes?)": r"#\1",
}


@pytest.fixture(scope="session")
def stage(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stage")
    with chdir(folder):
        write_stage()
    return folder


def printed(command, stage):
    """Return the text of all scenes of a command, which run in one copy of the stage."""
    with TemporaryDirectory() as folder:
        here = shutil.copytree(stage, Path(folder, "stage"))
        with chdir(here):
            return "\n".join(played(title, line) for title, line in SCENES[command].items())


def played(title, line):
    out, err, before = StringIO(), StringIO(), contents()
    with redirect_stdout(out), redirect_stderr(err):
        code = exit_code(line)
    if code == 2 and line:
        assert (out.getvalue(), contents()) == ("", before), line
        assert_is_one_message(re.sub(rf"^{NOTE}.*\n", "", err.getvalue(), flags=re.M))
    lines = [f"# {title}", f"$ clinclust {line}".rstrip()]
    lines += [f"  {text}" for text in masked(out.getvalue())] + [f"! {text}" for text in masked(err.getvalue())]
    return "".join(f"{text.rstrip()}\n" for text in [*lines, *([f"exit code {code}"] if code else [])])


def masked(text):
    for pattern, mask in MASKS.items():
        text = re.sub(pattern, mask, text)
    return text.splitlines()


@pytest.mark.parametrize("command", SCENES)
def test_a_change_of_wording_is_seen(command, stage, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert printed(command, stage) == (TEXTS / f"{command}.txt").read_text(encoding="utf-8")


def test_every_command_has_a_text():
    from clinclust.cli import entry

    (commands,) = (action.choices for action in entry._parser()._actions if action.dest == "command")
    assert {*commands, "clinclust"} == set(SCENES) == {path.stem for path in TEXTS.iterdir()}


if __name__ == "__main__":
    from clinclust import progress

    os.environ |= {"COLUMNS": "120", "SOURCE_DATE_EPOCH": "1600000000"}
    progress._REPORTED_AFTER = 1e6
    with TemporaryDirectory() as folder:
        with chdir(folder):
            write_stage()
        for command in SCENES:
            (TEXTS / f"{command}.txt").write_text(printed(command, Path(folder)), encoding="utf-8")
