"""The lines of the table as rows of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clinclust.comparisons.frame import ALL_SUBJECTS, WITHHELD, Record, is_missing, is_suppressed
from clinclust.reporting.subtype_table.footnotes import NO_PART, REMARKED
from clinclust.reporting.subtype_table.plan import Line, Plan, clean
from clinclust.reporting.subtype_table.printed import Cell, Heading, TableRow
from clinclust.reporting.subtype_table.summaries import NOTHING, SUMMARY_TEXT, p_text, summary_text, text_of

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
            mark = marks.get(text_of(validated.get("method")), "") + (REMARKED if _remark(validated) else "")
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
    return WITHHELD if is_missing(number) else str(int(number))
