"""What the documents of the repository name exists, and the commands and Python code on them run."""

import re
import runpy
import shlex
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from clinclust.cli.entry import _parser

ROOT = Path(__file__).parents[1]
PAGES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "benchmarks/README.md", "reports/README.md", *PAGES)
MORE = ("schemas/README.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "examples").glob("*/README.md"))))
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


def anchors_of(path):
    """Return the anchors of the headings of a page, as they are made in the repository and on the site."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = [re.sub(r"[^\w\s-]", "", heading.lower()) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
    return {heading.strip().replace(" ", "-") for heading in headings}


def test_links_lead_somewhere():
    """Inside; those that lead out are asked before a release, and are all encrypted here."""
    pages = [*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))]
    assert len(pages) > 70
    wrong = []
    for page in pages:
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            target, _, anchor = link.partition("#")
            place = (page.parent / target).resolve() if target else page
            is_inside = ":" not in target and place.exists() and (not anchor or anchor in anchors_of(place))
            wrong += [] if is_inside or target.startswith("https://") else [(page.name, link)]
    assert wrong == []


@pytest.mark.parametrize(
    ("documents", "most"),
    [
        (["README.md"], 400),
        (["CHANGELOG.md"], 600),
        (["reports/README.md"], 1000),
        (["CONTRIBUTING.md"], 1400),
        (PAGES, 18000),
    ],
)
def test_words_are_counted(documents, most):
    """A README of one screen and a half, a page for a version, and a site that somebody reads."""
    assert sum(len(text_of(document).split()) for document in documents) <= most
    assert max(len(text_of(document).split()) for document in documents) <= 1400


def test_every_page_is_listed():
    listed = {path.resolve() for path in targets_of("docs/index.md")}
    assert [page for page in PAGES if page != "docs/index.md" and ROOT / page not in listed] == []


def test_the_reference_lists_every_public_name():
    listed = re.findall(r"^   ([\w.]+)$", text_of("docs/reference.md"), re.MULTILINE)
    rooms = [name for name in dir(cc) if name.islower() and name not in cc.__all__ and not name.startswith("_")]
    public = {*cc.__all__, *(f"{room}.{name}" for room in rooms for name in getattr(cc, room).__all__)}
    assert len(set(listed)) == len(listed)
    assert public - set(listed) == {f"{room}.{name}" for room in rooms for name in cc.__all__} & public


def test_the_options_of_the_search_are_those_declared():
    """`python docs/options.py` writes them into the page."""
    assert "".join(runpy.run_path(str(ROOT / "docs" / "options.py"))["rows"]()) in text_of("docs/command_line.md")


@pytest.mark.parametrize("document", ["README.md", *PAGES, *MORE])
def test_commands_have_the_options_that_pages_show(document):
    lines = [line for block in blocks_of(document, "sh") for line in block.splitlines()]
    for line in lines:
        if line.startswith("clinclust "):
            _parser().parse_args(shlex.split(line, comments=True)[1:])  # ends with exit code 2 on an unknown option


@pytest.fixture(scope="module")
def small_cohort(tmp_path_factory):
    """Return a folder with the files that pages read, all of one cohort of three groups, and what is made of it."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 20)
    frame = pd.DataFrame({"patient_id": np.arange(60), "sex": rng.choice(["female", "male"], 60)})
    frame["died"] = rng.choice(["no", "yes"], 60)
    sex = {"likelihood": "bernoulli", "levels": ("female", "male")}
    died = {"likelihood": "bernoulli", "levels": ("no", "yes"), "role": "outcome"}
    schema = [cc.Feature(name="patient_id", role="id"), cc.Feature(name="sex", **sex), cc.Feature(name="died", **died)]
    for place in range(6):
        frame[f"lab{place}"] = rng.normal(5.0 * (group == place % 3), 1.0).round(2)
        schema.append(cc.Feature(name=f"lab{place}", likelihood="gaussian"))
    frame.loc[::10, "lab5"] = np.nan
    schema, home = cc.FeatureSchema(schema), tmp_path_factory.mktemp("pages")
    for folder in ("", "examples/parkinsonism", "schemas"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    for table in ("cohort.csv", "examples/parkinsonism/cohort.csv"):
        frame.to_csv(home / table, index=False)
    pd.DataFrame({"id": np.arange(60) // 3, "month": np.arange(60) % 3, "egfr": frame["lab0"]}).to_csv(
        home / "visits.csv"
    )
    for declared in ("schema.yaml", "schemas/parkinsonism.yaml"):
        schema.to_yaml(home / declared)
    frame = schema.validate(cc.read_cohort(home / "cohort.csv"))
    return home, {"schema": schema, "frame": frame, "model": cc.MAPDP(schema, random_state=0).fit(frame)}


# In the second column of a table; one warns of what it estimated.
CALLS = [pytest.param("docs/from_r.md", marks=pytest.mark.filterwarnings("ignore:visits"))]
BUILT = ("docs/tutorial.md", "docs/gallery.md")  # the build of the site runs them, one after the other


@pytest.mark.parametrize(
    "document",
    [page for page in ["README.md", *PAGES, *MORE] if page not in BUILT and blocks_of(page, "python")] + CALLS,
)
def test_python_code_runs(document, small_cohort, fits_once, tmp_path, monkeypatch, capsys):
    home, made = small_cohort
    shutil.copytree(home, tmp_path / "home")
    monkeypatch.chdir(tmp_path / "home")
    begins = document in ("README.md", "docs/python.md")  # with reading and fitting; the others go on
    names = {"cc": cc} | ({} if begins else made)
    for block in blocks_of(document, "python") or re.findall(
        r"^\| `[^|]*` \| `(.*?)` \|", text_of(document), re.MULTILINE
    ):
        exec(compile(block, document, "exec"), names)


@pytest.mark.simulation
def test_pages_run_by_the_build_run_in_their_order(tmp_path, monkeypatch):
    executed = runpy.run_path(str(ROOT / "docs" / "executed.py"))
    names = {}
    for table in (ROOT / "docs").glob("*.csv"):
        shutil.copy(table, tmp_path)
    monkeypatch.chdir(tmp_path)
    for page in BUILT:
        executed["with_outputs"](text_of(page), names, page)


def test_a_task_of_the_tutorial_takes_at_most_five_lines():
    blocks = [[line for line in block.splitlines() if line] for block in blocks_of("docs/tutorial.md", "python")]
    assert len(blocks) == 10
    assert max(len(lines) for lines in blocks) <= 5


@pytest.mark.simulation  # with the packages of the site
def test_a_page_shows_what_its_blocks_give():
    executed = runpy.run_path(str(ROOT / "docs" / "executed.py"))
    page = "Text.\n\n```python\nimport warnings\nwarnings.warn('look')\nprint(x)\nx + 1\n```\n\nEnd.\n"
    shown, notebook = executed["with_outputs"](page, {"x": 1}, "page")
    assert shown == page.replace("\n\nEnd.", "\n\n```text\nUserWarning: look\n1\n```\n\n```text\n2\n```\n\nEnd.")
    assert [cell["cell_type"] for cell in notebook["cells"]] == ["markdown", "code", "markdown"]
    assert [list(one["data"].values()) for one in notebook["cells"][1]["outputs"]] == [
        ["UserWarning: look\n1\n"],
        ["2"],
    ]
    with pytest.raises(executed["ExtensionError"], match="page: this block failed"):
        executed["with_outputs"]("```python\n1 / 0\n```\n", {}, "page")
