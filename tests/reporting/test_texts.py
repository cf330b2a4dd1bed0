"""The whole text of reports, so that every change of wording is seen; numbers are masked.

Of a report of unusual subtypes, the lines that no earlier report has.

PYTHONPATH=.:tests python -m reporting.test_texts    # writes the texts anew; read what changed before you commit
"""

import re
from functools import cache
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from schemas import stored_schema

from . import test_divisions, test_groups, test_partition_reports
from .conftest import GENERATED

TEXTS = Path(__file__).parent / "texts"
ROWS = re.compile(r"</?(?:p|tr|caption|figcaption|h\d|nav|li|svg|section)\b[^>]*>")


def cohort(n_groups):
    rng = np.random.default_rng(5)
    group = rng.integers(0, n_groups, 160)
    frame = pd.DataFrame(
        {
            "id": [f"P{number}" for number in range(160)],
            "urea": np.round(np.exp(rng.normal(1.6 + 0.9 * group, 0.3)), 1),
            "haemoglobin": np.round(rng.normal(14 - 4 * group, 1.3), 1),
            "sodium": np.round(rng.normal(140 - 6 * group, 3)),
            "hypertension": np.where(rng.random(160) < 0.1 + 0.7 * group, "yes", "no"),
            "stage": rng.binomial(4, 0.15 + 0.5 * group),
            "sex": rng.choice(["female", "male"], 160),
        }
    )
    return frame.mask(rng.random(frame.shape) < np.r_[0, np.full(6, 0.04)])


@cache
def fitted(n_groups):
    frame = cohort(n_groups)
    schema = stored_schema("reported")
    return cc.MAPDP(schema, n_restarts=2, random_state=0, progress=False).fit(frame), frame


def of_groups(n_groups, **options):
    return *fitted(n_groups), options


REPORTS = {
    "two_subtypes": lambda: of_groups(2, stability=4),
    "one_group": lambda: of_groups(1),
    "shared": lambda: of_groups(2, suppress=10, round_to=5),
    "graded": lambda: (*test_divisions.graded(), {"associations": None}),
    "unions": lambda: (*test_groups.unions(), {}),
    "few_subjects": lambda: (*test_groups.small(), {}),
    "given": lambda: (*test_partition_reports.given(), {}),
}


def reported(name):
    """The text of the page, a line for each paragraph and row, with every number as #."""
    model, frame, options = REPORTS[name]()
    with TemporaryDirectory() as folder:
        path = cc.write_report(model, frame, Path(folder) / "x.html", generated=GENERATED, progress=False, **options)
        page = path.read_text(encoding="utf-8")
    lines = ROWS.sub("\n", page[page.index("<body>") : page.index("<script>")])
    texts = (unescape(re.sub(r"<[^>]+>", " ", line)) for line in lines.split("\n"))
    masked = (" ".join(re.sub(r"(?:[\N{MINUS SIGN}-]|E[+-]?)?\d[\d.,]*\d|\d", "#", text).split()) for text in texts)
    kept = [text for text in masked if re.search(r"[^\W\d_]{2}", text)]
    if name in list(REPORTS)[3:]:
        usual = "".join(path_of(each).read_text(encoding="utf-8") for each in list(REPORTS)[:3]).splitlines()
        kept = [text for text in kept if text not in usual]
    return "".join(f"{text}\n" for text in dict.fromkeys(kept))


def path_of(name):
    return TEXTS / f"{name}.txt"


@pytest.mark.parametrize("name", REPORTS)
def test_a_change_of_wording_is_seen(name):
    assert reported(name) == path_of(name).read_text(encoding="utf-8")


if __name__ == "__main__":
    TEXTS.mkdir(exist_ok=True)
    for name in REPORTS:
        path_of(name).write_text(reported(name), encoding="utf-8")
