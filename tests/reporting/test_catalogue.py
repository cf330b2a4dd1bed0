"""Every sentence of a report is in `clinclust/data/report.toml`, so that another language can take its place."""

import ast
import re
from pathlib import Path

import clinclust.reporting as reporting

FOLDER = Path(reporting.__file__).parent
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
