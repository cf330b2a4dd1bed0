"""A release: a wheel of the package alone, a source of everything, and everywhere the same words about it."""

import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_citation_and_archive_say_what_the_package_says():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    archive = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    paper = (ROOT / "paper.md").read_text(encoding="utf-8")
    for said in (citation, archive):
        assert (said["version"], said["license"]) == (PROJECT["version"], PROJECT["license"])
    assert citation["title"] == archive["title"]
    authors = [author["name"] for author in citation["authors"]]
    assert authors == [creator["name"] for creator in archive["creators"]]
    assert authors == [author["name"] for author in yaml.safe_load(paper.split("---")[1])["authors"]]
    assert archive["keywords"] == PROJECT["keywords"]


def test_the_paper_cites_what_its_references_hold():
    cited = set(re.findall(r"@(\w+)", (ROOT / "paper.md").read_text(encoding="utf-8")))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", (ROOT / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE))


def test_every_dependency_has_its_licence_on_the_page():
    listed = set(
        re.findall(r"^\| ([\w-]+) \|", (ROOT / "docs" / "licences.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    more = [PROJECT["optional-dependencies"][extra] for extra in ("formats", "parquet", "word", "methods")]
    needed = [*PROJECT["dependencies"], *(need for needs in more for need in needs)]
    assert {re.match(r"[\w.-]+", need)[0].lower() for need in needed} <= listed


@pytest.mark.simulation
@pytest.mark.skipif(not (find_spec("build") and find_spec("hatchling")), reason="needs build and hatchling")
def test_wheel_and_source_hold_what_they_should(tmp_path):
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,), (source,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    tree = {str(path.relative_to(ROOT)) for path in (ROOT / "clinclust").rglob("*") if path.is_file()}
    tree = {path for path in tree if "__pycache__" not in path and not path.endswith((".nbi", ".nbc"))}
    about = f"clinclust-{PROJECT['version']}.dist-info"
    files = ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
    assert set(zipfile.ZipFile(wheel).namelist()) == tree | {f"{about}/{name}" for name in files}
    with tarfile.open(source) as archive:
        named = {name.partition("/")[2] for name in archive.getnames()}
    assert tree | {"LICENSE", "README.md", "CITATION.cff", "paper.md", "tests/test_release.py", "docs/conf.py"} <= named
    assert not [name for name in named if re.search(r"__pycache__|\.nb[ic]$|^site/|^dist/|\.git/", name)]
