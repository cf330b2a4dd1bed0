"""The notes below the table: the contents of its cells, the meaning of its p-values, and their tests."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_lowercase

from clinclust.comparisons.frame import is_missing
from clinclust.estimators.few_subjects import MEANING_OF_MARKS
from clinclust.reporting.subtype_table.plan import Plan, clean
from clinclust.reporting.subtype_table.summaries import NOTHING, SUMMARY_TEXT, WITHHELD, Summary
from clinclust.reporting.subtype_table.table import Note, TableRow
from clinclust.reporting.words import METHODS, listed, tests_in_words

NO_PART, BEYOND = "§", "†"

_HELD: dict[Summary, str] = {**SUMMARY_TEXT, "n": "n (%) of the subjects with a value"}
_ABBREVIATIONS: dict[Summary, str] = {"mean": "SD, standard deviation", "median": "Q1 and Q3, first and third quartile"}


def letters(plan: Plan) -> dict[str, str]:
    """Return the footnote letter of every test and method used: the tests first, each in the order of the table."""
    lines = list(plan.lines())
    tests = [plan.descriptive(line) for line in lines]
    methods = [plan.validated(line) for line in lines]
    used = [test.get("test") for test in tests if not is_missing(test.get("p"))]
    used += [method.get("method") for method in methods if not is_missing(method.get("p"))]
    named = dict.fromkeys(str(name) for name in used if not is_missing(name))
    return dict(zip(named, ascii_lowercase, strict=False))


def notes_of(plan: Plan, rows: list[TableRow], marks: Mapping[str, str]) -> list[Note]:
    """Return the notes of a table; `marks` are the footnote letters of the tests and methods."""
    used = list(dict.fromkeys(line.summary for line in plan.lines()))
    texts = [cell.text for row in rows for cell in row.cells]
    *most, last = [_HELD[summary] for summary in used] or [""]
    held = f"{'; '.join(most)}; or {last}" if most else last
    said = [f"Cells hold what their row says: {held}."] if used else []
    abbreviations = [_ABBREVIATIONS[summary] for summary in used if summary in _ABBREVIATIONS]
    if abbreviations:
        said.append(f"{'; '.join(abbreviations)}.")
    if plan.asked.missing == "column":
        said.append("Missing: subjects, of all, without a value.")
    if any(WITHHELD in text for text in texts) or WITHHELD in " ".join(map(" ".join, map(plan.heading, plan.groups))):
        said.append(f"{WITHHELD}, withheld because few subjects are behind it.")
    if any(NOTHING in text for text in texts):
        said.append(f"{NOTHING}, nothing observed, or nothing that could be tested.")
    if any(plan.marks.get(subtype) for subtype in plan.subtypes):
        said.append(f"{MEANING_OF_MARKS[0].upper()}{MEANING_OF_MARKS[1:]}")
    notes = [Note(" ".join(said)), Note(_descriptive(plan))]
    if any(NO_PART in row.label.marks for row in rows):
        notes.append(Note("Had no part in the subtypes, so that its p is not descriptive.", NO_PART))
    if plan.associations is not None:
        notes.append(
            Note(
                "Validated p: whether the feature goes with subtypes that were made without it. "
                "q: the validated p after the Benjamini–Hochberg correction over all features validated."
            )
        )
    notes += [Note(f"{_called(name)}.", mark) for name, mark in marks.items()]
    if any(BEYOND in cell.marks for row in rows for cell in row.cells):
        notes.append(Note("Differs by more than its relation to the other features explains.", BEYOND))
    return notes


def _called(name: str) -> str:
    """Return what a test or a method is called at the beginning of a note."""
    if name in METHODS:
        return f"{name.capitalize()}: {METHODS[name]}"
    words = clean(tests_in_words([name], None)).removeprefix("the ")
    return words[:1].upper() + words[1:]


def _descriptive(plan: Plan) -> str:
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
        compares = f"subtypes {listed([*map(str, tested)])} are compared at once"
        small = [str(subtype) for subtype in plan.subtypes if subtype not in tested]
        if small:
            has, is_ = ("subtype {} has", "is") if len(small) == 1 else ("subtypes {} have", "are")
            compares += f"; {has.format(', '.join(small))} few subjects and {is_} untested"
    text = (
        f"Descriptive p: {compares}. Subtypes differ by construction in the features that they were made from, "
        "so that this p says how clearly, and is no evidence that they exist."
    )
    if plan.asked.features == "significant":
        text += (
            f" Of {len(plan.compared.features)} features, the {len(plan.features)} are shown whose descriptive p is "
            "significant at the level chosen for the comparison."
        )
    return text
