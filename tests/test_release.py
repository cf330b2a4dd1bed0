"""A release: everywhere the same words about it. `.ci/release` builds it, and checks what its files hold."""

import json
import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]


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


def test_the_conda_recipe_has_the_bounds_of_the_package():
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
    called = {"matplotlib": "matplotlib-base", "pandera[pandas]": "pandera-pandas", "PyYAML": "pyyaml"}
    needed = (need.split(">=") for need in PROJECT["dependencies"])
    python, *run = recipe["requirements"]["run"]
    assert run == [f"{called.get(name, name)} >={bound}" for name, bound in needed]
    said = (
        recipe["context"]["version"],
        f">={recipe['context']['python_min']}",
        *recipe["build"]["python"]["entry_points"],
    )
    assert said == (PROJECT["version"], PROJECT["requires-python"], f"clinclust = {PROJECT['scripts']['clinclust']}")
    assert (python, PYPROJECT["build-system"]["requires"]) == ("python >=${{ python_min }}", ["hatchling>=1.25"])
    assert "hatchling >=1.25" in recipe["requirements"]["host"]
    assert (recipe["about"]["summary"], recipe["about"]["license"]) == (PROJECT["description"], PROJECT["license"])
