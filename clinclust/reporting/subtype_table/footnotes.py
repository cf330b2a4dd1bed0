"""The notes below the table: the contents of its cells, the meaning of its p-values, and their tests."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_lowercase

from clinclust.comparisons.frame import is_missing
from clinclust.estimators.few_subjects import MEANING_OF_MARKS
from clinclust.reporting.subtype_table.plan import Plan, clean
from clinclust.reporting.subtype_table.summaries import NOTHING, WITHHELD, Summary
from clinclust.reporting.subtype_table.table import Note, TableRow

__all__ = ["DESCRIBED_ONLY", "DOUBTFUL", "letters", "notes_of"]

DESCRIBED_ONLY, DOUBTFUL = "§", "†"

_HELD: dict[Summary, str] = {
    "n": "n (%) of the subjects with a value",
    "mean": "mean (SD)",
    "median": "median [Q1, Q3]",
    "rate": "mean per subject (total number)",
}
_ABBREVIATIONS: dict[Summary, str] = {"mean": "SD, standard deviation", "median": "Q1 and Q3, first and third quartile"}
_TESTS = {
    "Student's t": "Student’s t-test",
    "Welch's t": "Welch’s t-test",
    "ANOVA": "One-way analysis of variance",
    "Welch's ANOVA": "Welch’s analysis of variance",
    "Mann-Whitney": "Mann–Whitney test",
    "Kruskal-Wallis": "Kruskal–Wallis test",
    "chi-squared": "Chi-squared test",
    "Fisher's exact": "Fisher’s exact test",
    "Fisher's exact (simulated)": "Fisher’s exact test, p simulated",
}
_OF_PARTS = "Fisher's combination of "
_METHODS = {
    "refit": "Refit: tested on subtypes that were found again without this feature",
    "cross-fit": "Cross-fit: tested on subtypes given to subjects by models of other subjects, without this feature",
    "direct": "Direct: tested as it is, because the feature had no part in the subtypes",
}


def letters(plan: Plan) -> dict[str, str]:
    """Return the footnote letter of every test and method used: the tests first, each in the order of the table."""
    lines = list(plan.lines())
    tests = [plan.descriptive(line) for line in lines]
    methods = [plan.validated(line) for line in lines]
    used = [test.get("test") for test in tests if not is_missing(test.get("p"))]
    used += [method.get("method") for method in methods if not is_missing(method.get("p"))]
    named = dict.fromkeys(str(name) for name in used if not is_missing(name))
    return dict(zip(named, ascii_lowercase, strict=False))


def notes_of(plan: Plan, rows: list[TableRow], marks: Mapping[str, str], *, significant: bool) -> list[Note]:
    """Return the notes of a table.

    Parameters
    ----------
    plan : Plan
    rows : list of TableRow
        The rows of the table.
    marks : mapping of str to str
        Footnote letters of the tests and methods, from `letters`.
    significant : bool
        Whether the table shows only features whose descriptive p is significant.
    """
    used = list(dict.fromkeys(line.summary for line in plan.lines()))
    texts = [cell.text for row in rows for cell in row.cells]
    said = [f"Cells hold what their row says: {_joined([_HELD[summary] for summary in used])}."] if used else []
    abbreviations = [_ABBREVIATIONS[summary] for summary in used if summary in _ABBREVIATIONS]
    if abbreviations:
        said.append(f"{'; '.join(abbreviations)}.")
    if plan.missing == "column":
        said.append("Missing: subjects, of all, without a value.")
    if any(WITHHELD in text for text in texts) or WITHHELD in " ".join(map(" ".join, map(plan.heading, plan.groups))):
        said.append(f"{WITHHELD}, withheld because few subjects are behind it.")
    if any(NOTHING in text for text in texts):
        said.append(f"{NOTHING}, nothing observed, or nothing that could be tested.")
    if any(plan.marks.get(subtype) for subtype in plan.subtypes):
        said.append(f"{MEANING_OF_MARKS[0].upper()}{MEANING_OF_MARKS[1:]}")
    notes = [Note(" ".join(said)), Note(_descriptive(plan, significant=significant))]
    if any(DESCRIBED_ONLY in row.label.marks for row in rows):
        notes.append(Note("Had no part in the subtypes, so that its p is not descriptive.", DESCRIBED_ONLY))
    if plan.associations is not None:
        notes.append(
            Note(
                "Validated p: whether the feature goes with subtypes that were made without it. "
                "q: the validated p after the Benjamini–Hochberg correction over all features validated."
            )
        )
    notes += [Note(f"{_called(name)}.", mark) for name, mark in marks.items()]
    remarks = [row.remark for row in rows if any(DOUBTFUL in cell.marks for cell in row.cells)]
    if remarks:
        reasons = "; ".join(dict.fromkeys(filter(None, remarks)))
        notes.append(Note(f"Doubtful{f': {reasons}' if reasons else ''}.", DOUBTFUL))
    return notes


def _called(name: str) -> str:
    """Return what a test or method is called, also of the two tests of a feature with point masses."""
    if name.startswith(_OF_PARTS):
        of_both = name.removeprefix(_OF_PARTS).split(", ")
        return f"{_OF_PARTS}{' and '.join(_TESTS.get(one, clean(one)) for one in of_both)}"
    return _TESTS.get(name) or _METHODS.get(name) or clean(name)


def _descriptive(plan: Plan, *, significant: bool) -> str:
    if plan.compared.is_rounded:
        return "Counts are rounded, and percentages computed from them; tests are withheld."
    tested = plan.compared.tested
    if plan.between is not None:
        compares = f"subtypes {plan.between[0]} and {plan.between[1]} are compared"
    elif set(tested) == set(plan.subtypes) == set(plan.compared.subtypes):
        compares = "all subtypes are compared at once"
    elif not tested:
        enough = " of enough subjects" if len(plan.compared.subtypes) > 1 else ""
        compares = f"there are no two subtypes{enough} to compare"
    else:
        # The other subtypes have too few subjects to be tested, or are not shown.
        compares = f"subtypes {', '.join(map(str, tested[:-1]))} and {tested[-1]} are compared at once"
        small = [str(subtype) for subtype in plan.subtypes if subtype not in tested]
        if small:
            has, is_ = ("subtype {} has", "is") if len(small) == 1 else ("subtypes {} have", "are")
            compares += f"; {has.format(', '.join(small))} few subjects and {is_} described only"
    text = (
        f"Descriptive p: {compares}. Subtypes differ by construction in the features that they were made from, "
        "so that this p says how clearly, and is no evidence that they exist."
    )
    if significant:
        text += (
            f" Of {len(plan.compared.features)} features, the {len(plan.features)} are shown whose descriptive p is "
            "significant at the level chosen for the comparison."
        )
    return text


def _joined(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{'; '.join(texts[:-1])}; or {texts[-1]}"
