"""Every sentence of a report is in `clinclust/data/report.toml`, so that another language can take its place."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import openpyxl
import pytest

import clinclust.data as data_files
import clinclust.reporting as reporting
from clinclust.likelihoods import REGISTRY
from clinclust.schema.yaml_files import on_unused

from .conftest import GENERATED
from .stand_in import words_in, write_report

FOLDER, WORKS = Path(reporting.__file__).parent, data_files.data("references")
# English words of markup and of strings that are written for a computer are no sentence.
MARKUP = re.compile(r"<[^<>]*>|\\[a-z]+|_")
FOR_COMPUTERS = re.compile(r"http:|-src |color-scheme|sans-serif|linejoin|usepackage|\.xml|^no effects of features$")
# Refusals and warnings are of Python and the command line, which are English.
REFUSALS = re.compile(
    r"InputError|warn|refuse|missing_package|stage|Rule|.*problem.*|.*unknown.*|.*repeated|.*foreign.*|check_.*"
)


def sentences_in(source):
    """Yield the line and text of each string of more than three English words that a reader of a report would see."""
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        parts = [getattr(part, "value", "") for part in getattr(node, "values", [node])]
        text = "{}".join(part for part in parts if isinstance(part, str))
        if not isinstance(node, ast.JoinedStr | ast.Constant) or isinstance(parents[node], ast.Expr | ast.JoinedStr):
            continue
        above = [node]
        while above[-1] in parents:
            above.append(parents[above[-1]])
        names = [each.name for each in above if isinstance(each, ast.FunctionDef)]
        names += [ast.unparse(each.func).split(".")[-1] for each in above if isinstance(each, ast.Call)]
        is_refusal = any(isinstance(each, ast.Assert | ast.Raise) for each in above) or any(
            map(REFUSALS.fullmatch, names)
        )
        is_long = len(re.findall(r"[A-Za-z]{2,}", MARKUP.sub(" " if "<" in text else "", text))) > 3
        if is_long and not is_refusal and not FOR_COMPUTERS.search(text):
            yield node.lineno, text


def test_no_sentence_stands_in_code():
    sentences = [
        f"{path.relative_to(FOLDER)}:{line}: {text!r}"
        for path in FOLDER.rglob("*.py")
        for line, text in sentences_in(path.read_text(encoding="utf-8"))
    ]
    assert not sentences, "\n".join(["these sentences belong in clinclust/data/report.toml:", *sentences])


def test_a_sentence_in_a_section_is_found():
    section = 'def trust(n):\n    """Return four words and more."""\n    return f"Only {n} of the subjects"\n'
    assert [text for _, text in sentences_in(section)] == ["Only {} of the subjects"]
    assert not list(sentences_in('def problems(n):\n    yield f"there are {n} of these subjects"\n'))
    assert len(list(sentences_in('tables.append(Column("How sure each of these is"))'))) == 1


def shout(held, key=""):
    """The catalogue in another language: every word in capitals, fields and formats as they are."""
    if isinstance(held, dict):
        return {name: shout(each, name) for name, each in held.items()}
    if isinstance(held, list) and len(held) == 2 and held[1] in WORKS:  # the name of a test, and what is cited for it
        return [held[0].upper(), held[1]]
    if isinstance(held, list):
        return [shout(each, key) for each in held]
    if not isinstance(held, str) or key in ("kind", "section", "sections", "terms", "terms_of_a_search"):
        return held
    return "".join(text if text.startswith("{") else text.upper() for text in re.split(r"(\{[^}]*\})", held))


@pytest.mark.parametrize("options", [{}, {"suppress": 10}, {"suppress": 10, "round_to": 5}], ids=str)
def test_another_catalogue_takes_the_place_of_every_sentence(model, frame, tmp_path, monkeypatch, options):
    catalogue, data = shout(data_files.catalogue()), data_files.data
    monkeypatch.setattr(data_files, "data", lambda name: catalogue if name == "report" else data(name))
    page = words_in(write_report(model, frame, tmp_path / "page.html", **options).read_text(encoding="utf-8"))
    # Of the user, of the works cited, and of other rooms: labels, the names of likelihoods, and unused columns.
    others = [feature.title for feature in model.schema_] + [likelihood.title for likelihood in REGISTRY.values()]
    others += [work["full"] for work in WORKS.values()] + [on_unused(model.schema_) or ""]
    assert ("TRUST" in page, "Trust" in page) == (True, False)
    english = set(re.findall(r"(?:\b[a-z]{2,}\b[ ,;:]*){4,}", page))
    assert not {text for text in english if not any(text.strip(" ,;:") in other for other in others)}


@pytest.mark.parametrize("options", [{}, {"suppress": 10}], ids=str)
def test_a_workbook_in_another_language_has_the_same_cells(model, frame, tmp_path, monkeypatch, options):
    def cells_in(path):
        write_report(model, frame, path, generated=GENERATED, **options)
        return {
            sheet.title.upper(): [cell for row in sheet.iter_rows(values_only=True) for cell in row if cell is not None]
            for sheet in openpyxl.load_workbook(path)
        }

    english = cells_in(tmp_path / "english.xlsx")
    catalogue, data = shout(data_files.catalogue()), data_files.data
    monkeypatch.setattr(data_files, "data", lambda name: catalogue if name == "report" else data(name))
    other = cells_in(tmp_path / "other.xlsx")
    # What may be shared is listed by keys, and not by headings.
    assert [*other] == [*english]
    for name in set(english) - {"METHODS"}:
        assert sum(map(is_number, other[name])) == sum(map(is_number, english[name])), name
    words = {"yes", "no", "perhaps", "none", "clear", "likely", "uncertain", "Summary", "Pairwise test", "Effect size"}
    values = {level for feature in model.schema_ for level in feature.levels or ()}
    assert not (words - values) & {cell for cells in other.values() for cell in cells}


def is_number(cell):
    return isinstance(cell, int | float)
