"""What the documents of the repository name exists, and the commands and Python code on them run."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from clinclust.cli.entry import _parser

ROOT = Path(__file__).parents[1]
PAGES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "benchmarks/README.md", "reports/README.md", *PAGES)
FOLDERS = ("clinclust", "tests", "benchmarks", "examples", "reports", "schemas", "docs")


def text_of(document):
    return (ROOT / document).read_text(encoding="utf-8")


def blocks_of(document, language):
    """Return the blocks of code of a language on a page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text_of(document), re.MULTILINE | re.DOTALL)


def targets_of(document):
    """Return the files a document links to, and those of the repository that it names in backticks."""
    text = text_of(document)
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    named = re.findall(rf"`((?:{'|'.join(FOLDERS)})/[\w./]*)`", text)
    return [(ROOT / document).parent / link for link in links] + [ROOT / path for path in named]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_a_document_names_exists(document):
    targets = targets_of(document)
    assert len(targets) > (0 if document in PAGES else 5)
    assert [str(path) for path in targets if not path.exists()] == []


def test_every_page_is_listed():
    listed = {path.resolve() for path in targets_of("docs/index.md")}
    assert [page for page in PAGES if page != "docs/index.md" and ROOT / page not in listed] == []


def test_the_reference_lists_every_public_name():
    listed = re.findall(r"^   ([\w.]+)$", text_of("docs/reference.md"), re.MULTILINE)
    rooms = [name for name in dir(cc) if name.islower() and name not in cc.__all__ and not name.startswith("_")]
    public = {*cc.__all__, *(f"{room}.{name}" for room in rooms for name in getattr(cc, room).__all__)}
    assert len(set(listed)) == len(listed)
    assert public - set(listed) == {f"{room}.{name}" for room in rooms for name in cc.__all__} & public


@pytest.mark.parametrize("document", ["README.md", *PAGES])
def test_commands_have_the_options_that_pages_show(document):
    lines = [line for block in blocks_of(document, "sh") for line in block.splitlines()]
    for line in lines:
        if line.startswith("clinclust "):
            _parser().parse_args(shlex.split(line, comments=True)[1:])  # ends with exit code 2 on an unknown option


@pytest.fixture
def small_cohort(tmp_path, monkeypatch):
    """Lay the files that pages read into a folder of their own: a cohort of three groups under each name."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 50)
    frame = pd.DataFrame({"patient_id": np.arange(150), "sex": rng.choice(["female", "male"], 150)})
    sex = {"likelihood": "bernoulli", "levels": ("female", "male")}
    schema = [cc.Feature(name="patient_id", role="id"), cc.Feature(name="sex", **sex)]
    for place in range(6):
        frame[f"lab{place}"] = rng.normal(3.0 * (group == place % 3), 1.0).round(2)
        schema.append(cc.Feature(name=f"lab{place}", likelihood="gaussian"))
    frame.loc[::10, "lab5"] = np.nan
    for folder in ("", "examples/parkinsonism", "schemas"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    for table in ("cohort.csv", "examples/parkinsonism/cohort.csv"):
        frame.to_csv(tmp_path / table, index=False)
    for declared in ("schema.yaml", "schemas/parkinsonism.yaml"):
        cc.FeatureSchema(schema).to_yaml(tmp_path / declared)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("document", [page for page in ["README.md", *PAGES] if blocks_of(page, "python")])
def test_python_code_runs(document, small_cohort, capsys):
    names = {"cc": cc}
    if document not in ("README.md", "docs/python.md"):  # they begin with reading and fitting, and others go on
        names["schema"] = cc.FeatureSchema.from_yaml("schema.yaml")
        names["frame"] = names["schema"].validate(cc.read_cohort("cohort.csv"))
        names["model"] = cc.MAPDP(names["schema"], random_state=0).fit(names["frame"])
    for block in blocks_of(document, "python"):
        exec(compile(block, document, "exec"), names)
