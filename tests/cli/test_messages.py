"""What each command prints, word for word, so that every change of wording is seen; other tests ask what it does.

PYTHONPATH=.:tests python -m cli.test_messages    # writes the texts anew; read what changed before you commit

A file of `texts/` has a few scenes of one command: a title (`#`), the command line (`$`), what it printed (`!` on
standard error), and its exit code where that is not 0. A new scene is a title and a command line; the command above
writes what follows. Decimals and times are masked: they differ between versions of numpy, and between machines.
"""

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
from cohorts import gaussian_schema
from command_line import (
    COMMANDS,
    NOTE,
    QUICK,
    SCHEMA,
    WIDE_SCHEMA,
    assert_is_one_message,
    cohort,
    contents,
    exit_code,
    leave_reports_empty,
    new_subjects,
    pressures,
    severities,
)

TEXTS = Path(__file__).parent / "texts"
MASKS = {
    r"\d+\.\d+(e-?\d+)?|(?<![\w.-])\.\d\d+": "#.#",
    r"\d+ nats": "# nats",
    r"(about|up to) (\d+ (seconds|minutes|hours)|an? (second|minute|hour))\b": r"\1 # seconds",
}


@pytest.mark.usefixtures("fits_once")
@pytest.mark.parametrize("command", ["clinclust", *COMMANDS.split("|")])
def test_a_change_of_wording_is_seen(command, stage, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    text = (TEXTS / f"{command}.txt").read_text(encoding="utf-8")
    assert printed_again(text, stage) == text


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stage")
    with chdir(folder), pytest.MonkeyPatch.context() as patch:
        leave_reports_empty(patch)
        write_stage()
    return folder


def printed_again(text, stage):
    """Return a text with what its command lines print now; they run in one copy of the stage."""
    with TemporaryDirectory() as folder:
        here = shutil.copytree(stage, Path(folder, "stage"))
        with chdir(here):
            scenes = re.findall(r"^# (.*)\n\$ clinclust ?(.*)$", text, re.M)
            return "\n".join(f"# {title}\n$ clinclust {line}".rstrip() + printed(line) for title, line in scenes)


def printed(line):
    out, err, before = StringIO(), StringIO(), contents()
    with redirect_stdout(out), redirect_stderr(err):
        code = exit_code(line)
    if code == 2 and line:
        assert (out.getvalue(), contents()) == ("", before), line
        assert_is_one_message(re.sub(rf"^{NOTE}.*\n", "", err.getvalue(), flags=re.M))
    lines = [f"  {text}" for text in masked(out)] + [f"! {text}" for text in masked(err)]
    lines += [f"exit code {code}"] if code else []
    return "\n" + "".join(f"{text.rstrip()}\n" for text in lines)


def masked(stream):
    text = stream.getvalue()
    for pattern, mask in MASKS.items():
        text = re.sub(pattern, mask, text)
    return text.splitlines()


SEX = "  - {name: sex, likelihood: bernoulli, levels: [female, male], role: describe}\n"


def write_stage():
    """Write the tables, schemas and models of the scenes in this folder."""
    frame = cohort()
    visits = pd.concat([frame.assign(visit=when) for when in ("baseline", "later")])
    peculiar = new_subjects().head(8).assign(who=["a", "a", "NA", *"bcdef"])
    peculiar.loc[7, "age":] = "NA"
    tables = {
        "cohort": frame,
        "bad": frame.assign(falls=["several", *frame["falls"][1:]], stage=[*frame["stage"][:38], 7, 7]),
        "sorted": frame.iloc[::-1],
        "arms": frame.assign(trt=["drug", "placebo"] * 20, seen=[f"2024-01-{day % 28 + 1:02}" for day in range(40)]),
        "part": frame.head(30),
        "changed": frame.assign(falls=frame["falls"] + 1),
        "flat": frame.assign(falls=1, tremor="no", stage=2, crp="NA"),
        "twice": frame.assign(again=pd.to_numeric(frame["crp"], errors="coerce") * 10),
        "visits": visits.rename(columns={"who": "MRN"}),
        "new": new_subjects(stage=(0, 9), tremor=(1, "perhaps"), crp=(1, "see note")),
        "peculiar": peculiar,
        "one": severities(),
        "pressures": pressures().round(3),
        "sexes": sexes(),
    }
    for name, table in tables.items():
        table.to_csv(f"{name}.csv", index=False)
    odd = frame.assign(stage=2, note=[f"Zoë {number}" for number in range(40)], empty="")
    Path("odd.csv").write_bytes(odd.to_csv(index=False).encode("cp1252"))
    Path("messy.csv").write_text(f"Clinic\n\n{visits.to_csv(index=False)}", encoding="utf-8")
    Path("mine").mkdir()
    Path("mine/notes.txt").touch()

    schemas = {
        "schema": SCHEMA,
        "wide": WIDE_SCHEMA,
        "rows": WIDE_SCHEMA.replace("features:", "rows: {where: \"visit == 'baseline'\"}\nfeatures:"),
        "sheet": WIDE_SCHEMA.replace("features:", "rows: {rows: 4-43}\nfeatures:"),
        "arms": SCHEMA.replace("features:", "features:\n  - {name: trt, role: arm}\n  - {name: seen, role: time}"),
        "typo": SCHEMA.replace("likelihood: poisson", "likelihod: poison"),
        "twice": f"{SCHEMA}  - {{name: again, likelihood: gaussian}}\n",
        "one": gaussian_schema("abcdef").to_yaml(),
        "pressures": gaussian_schema(pressures()).to_yaml(),
        "sexes": f"{gaussian_schema('abcd', other_columns='ignore').to_yaml()}{SEX}",
    }
    for name, text in schemas.items():
        Path(f"{name}.yaml").write_text(text, encoding="utf-8")
    for line in (
        f"fit cohort.csv --schema schema.yaml --out model {QUICK}",
        f"fit cohort.csv --schema schema.yaml --out withheld {QUICK} --suppress 5",
        f"fit pressures.csv --schema pressures.yaml --out pressures {QUICK}",
        f"fit sexes.csv --schema sexes.yaml --out sexes {QUICK}",
    ):
        assert exit_code(f"{line} --quiet") == 0


def sexes():
    """Return 200 subjects whose subtypes are the sexes, with wild values, and an outcome."""
    rng = np.random.default_rng(0)
    male = rng.random(200) < 0.45
    values = rng.normal(4.0 * male[:, None], 1.0, (200, 4))
    values[rng.random(values.shape) < 0.01] *= 8
    values[:3] += 30
    died, days = np.where(rng.random(200) < 0.7, "yes", "no"), rng.exponential(1000 / (1 + 2 * male)).round() + 1
    frame = pd.DataFrame(values.round(3), columns=list("abcd"))
    return frame.assign(sex=np.where(male, "male", "female"), died=died, days=days)


if __name__ == "__main__":
    from clinclust import progress

    os.environ |= {"COLUMNS": "120", "SOURCE_DATE_EPOCH": "1600000000"}
    progress._REPORTED_AFTER = 1e6  # no stage is told, as on a fast machine
    with TemporaryDirectory() as folder:
        with chdir(folder):
            write_stage()
        for path in sorted(TEXTS.iterdir()):
            path.write_text(printed_again(path.read_text(encoding="utf-8"), folder), encoding="utf-8")
