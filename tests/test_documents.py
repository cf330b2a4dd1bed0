"""What the documents of the repository name exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "benchmarks/README.md")
FOLDERS = ("clinclust", "tests", "benchmarks", "examples", "reports", "schemas")


def targets_of(document):
    """Return the files a document links to, and those of the repository that it names in backticks."""
    text = (ROOT / document).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    named = re.findall(rf"`((?:{'|'.join(FOLDERS)})/[\w./]*)`", text)
    return [(ROOT / document).parent / link for link in links] + [ROOT / path for path in named]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_a_document_names_exists(document):
    targets = targets_of(document)
    assert len(targets) > 5
    assert [str(path.relative_to(ROOT)) for path in targets if not path.exists()] == []
