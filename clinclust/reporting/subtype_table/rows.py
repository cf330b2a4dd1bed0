"""The lines of the table as rows of text, and the notes below it: the meaning of cells and p-values, and the tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from string import ascii_lowercase

from clinclust.comparisons.frame import ALL_SUBJECTS, WITHHELD, Record, is_missing, is_suppressed
from clinclust.estimators.few_subjects import MEANING_OF_MARKS
from clinclust.reporting.subtype_table.plan import Line, Plan, clean
from clinclust.reporting.subtype_table.printed import Cell, Heading, Note, TableRow
from clinclust.reporting.subtype_table.summaries import NOTHING, SUMMARY_TEXT, Summary, p_text, summary_text, text_of
from clinclust.reporting.words import METHODS, listed, tests_in_words

NO_PART, BEYOND = "§", "†"

_ABBREVIATIONS: dict[Summary, str] = {"mean": "SD, standard deviation", "median": "Q1 and Q3, first and third quartile"}
_EMPTY = Cell("")
_HEADINGS = {
    "missing": [Heading("missing", ("Missing, n",))],
    "smd": [Heading("smd", ("SMD",))],
    "p": [Heading("descriptive p", ("Descriptive p",))],
    "validated": [Heading("validated p", ("Validated p",)), Heading("validated q", ("Validated q",))],
}


def headings_of(plan: Plan) -> Iterator[Heading]:
    """Yield the headings of the columns."""
    for name in plan.columns:
        if name in _HEADINGS:
            yield from _HEADINGS[name]
        else:
            groups = [ALL_SUBJECTS] if name == "all" else plan.subtypes
            yield from (Heading("group", plan.heading(group)) for group in groups)


def rows_of(plan: Plan, marks: Mapping[str, str]) -> Iterator[TableRow]:
    """Yield the rows of the table; `marks` are the footnote letters of the tests and methods."""
    is_described = {feature.is_described for feature in plan.features}
    for line in plan.lines():
        feature, title = line.feature, line.title
        summary = {"heading": "", "missing": "n"}.get(line.kind, SUMMARY_TEXT[line.summary])
        label = {"level": clean(line.level or ""), "missing": "Missing"}.get(line.kind)
        is_level = label is not None
        if label is None:
            label = f"{title}, {SUMMARY_TEXT[line.summary]}"
        mark = NO_PART if feature.is_described and len(is_described) > 1 and not is_level else ""
        test, validated = plan.descriptive(line), plan.validated(line)
        yield TableRow(
            section=clean(feature.section),
            feature=feature.name,
            label=Cell(label, mark),
            title=title,
            level=clean(line.level or "") if line.kind != "missing" else "Missing",
            summary=summary,
            is_level=is_level,
            cells=list(_cells(plan, line, test, validated, marks)),
            test=text_of(test.get("test")),
            method=text_of(validated.get("method")),
            remark=_remark(validated),
        )


def _cells(plan: Plan, line: Line, test: Record, validated: Record, marks: Mapping[str, str]) -> Iterator[Cell]:
    is_within = line.kind in ("level", "missing") or line.feature.part == "rest"
    for name in plan.columns:
        if name == "missing":
            is_said = line.kind == "level" or line.feature.part == "rest"
            yield _EMPTY if is_said else Cell(_count(line.records[ALL_SUBJECTS]["missing"]))
        elif name == "smd":
            yield _smd_cell(plan.differences(line))
        elif name == "p":
            yield _p_cell(test, test.get("p"), marks.get(text_of(test.get("test")), "")) if test else _EMPTY
        elif name == "validated":
            is_beyond = text_of(validated.get("grade")) == "differs beyond dependence"
            mark = marks.get(text_of(validated.get("method")), "") + (BEYOND if is_beyond else "")
            yield _EMPTY if is_within else _p_cell(validated, validated.get("p"), mark)
            yield _EMPTY if is_within else _p_cell(validated, validated.get("q"), "")
        else:
            groups = [ALL_SUBJECTS] if name == "all" else plan.subtypes
            yield from (_summary_cell(plan, line, group) for group in groups)


def _summary_cell(plan: Plan, line: Line, group: int) -> Cell:
    if line.kind == "heading":
        return _EMPTY
    if line.kind == "missing":
        return Cell(_count(line.records[group]["missing"]))
    return Cell(summary_text(line.records[group], line.summary, plan.decimals(line)))


def _smd_cell(tests: list[Record]) -> Cell:
    if not tests:
        return _EMPTY
    if any(map(is_suppressed, tests)):
        return Cell(WITHHELD)
    found = [abs(test["standardised_difference"]) for test in tests if not is_missing(test["standardised_difference"])]
    return Cell(f"{sum(found) / len(found):.2f}" if found else NOTHING)


def _remark(validated: Record) -> str:
    return clean(text_of(validated.get("remark")))


def _p_cell(record: Record, p: float | None, marks: str) -> Cell:
    if p is None or is_missing(p):
        return Cell(WITHHELD if is_suppressed(record) else NOTHING)
    return Cell(p_text(p), marks)


def _count(number: float) -> str:
    return WITHHELD if is_missing(number) else f"{int(number):,}"


def letters(plan: Plan) -> dict[str, str]:
    """Return the footnote letter of every test and method used: the tests first, each in the order of the table."""
    lines = list(plan.lines())
    tests = [plan.descriptive(line) for line in lines if "p" in plan.columns]
    methods = [plan.validated(line) for line in lines if "validated" in plan.columns]
    used = [test.get("test") for test in tests if not is_missing(test.get("p"))]
    used += [method.get("method") for method in methods if not is_missing(method.get("p"))]
    named = dict.fromkeys(str(name) for name in used if not is_missing(name))
    return dict(zip(named, ascii_lowercase, strict=False))


def notes_of(plan: Plan, rows: list[TableRow], marks: Mapping[str, str]) -> list[Note]:
    """Return the notes of a table; `marks` are the footnote letters of the tests and methods."""
    used = list(dict.fromkeys(line.summary for line in plan.lines()))
    texts = [cell.text for row in rows for cell in row.cells]
    said = ["n (%): of the subjects with a value."] if "n" in used else []
    abbreviations = [_ABBREVIATIONS[summary] for summary in used if summary in _ABBREVIATIONS]
    if abbreviations:
        said.append(f"{'; '.join(abbreviations)}.")
    if "missing" in plan.columns:
        said.append("Missing: subjects, of all, without a value.")
    if "smd" in plan.columns:
        pairs = "" if plan.between is not None or len(plan.subtypes) == 2 else ", mean over all pairs of subtypes"
        said.append(f"SMD: standardised mean difference{pairs}.")
    if any(WITHHELD in text for text in texts) or WITHHELD in " ".join(map(" ".join, map(plan.heading, plan.groups))):
        said.append(f"{WITHHELD}, withheld because few subjects are behind it.")
    if any(NOTHING in text for text in texts):
        said.append(f"{NOTHING}, nothing observed, or nothing that could be tested.")
    if any(plan.marks.get(subtype) for subtype in plan.subtypes):
        said.append(f"{MEANING_OF_MARKS[0].upper()}{MEANING_OF_MARKS[1:]}")
    if plan.compared.is_weighted:
        said.append("n counts subjects; percentages, means, SDs, medians and quartiles have sampling weights.")
    notes = [Note(" ".join(said))]
    if "p" in plan.columns or plan.compared.is_rounded or plan.asked.features == "significant":
        notes.append(Note(_descriptive(plan)))
    if any(NO_PART in row.label.marks for row in rows):
        notes.append(Note("Had no part in the subtypes, so that its p is not descriptive.", NO_PART))
    if "validated" in plan.columns:
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
