"""The rows and headings of the table as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clinclust.comparisons.frame import ALL_SUBJECTS, Record, is_missing, is_suppressed
from clinclust.reporting.subtype_table.footnotes import DESCRIBED_ONLY, DOUBTFUL
from clinclust.reporting.subtype_table.plan import Line, Plan, clean
from clinclust.reporting.subtype_table.summaries import (
    NOTHING,
    SUMMARY_TEXT,
    WITHHELD,
    decimals_of,
    p_text,
    summary_text,
)
from clinclust.reporting.subtype_table.table import Cell, Heading, TableRow

__all__ = ["headings_of", "rows_of"]

_EMPTY = Cell("")


def headings_of(plan: Plan) -> Iterator[Heading]:
    """Yield the headings of the columns."""
    if plan.missing == "column":
        yield Heading("missing", ("Missing, n",))
    for group in plan.groups:
        yield Heading("group", plan.heading(group))
    yield Heading("descriptive p", ("Descriptive p",))
    if plan.associations is not None:
        yield Heading("validated p", ("Validated p",))
        yield Heading("validated q", ("Validated q",))


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
        mark = DESCRIBED_ONLY if feature.is_described and len(is_described) > 1 and not is_level else ""
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
            test=_word(test.get("test")),
            method=_word(validated.get("method")),
            remark=clean(_word(validated.get("remark"))),
        )


def _cells(plan: Plan, line: Line, test: Record, validated: Record, marks: Mapping[str, str]) -> Iterator[Cell]:
    if plan.missing == "column":
        has_none = line.kind == "level" or line.feature.part == "rest"
        yield _EMPTY if has_none else Cell(_count(line.records[ALL_SUBJECTS]["missing"]))
    decimals = decimals_of(line.feature, line.summary)
    for group in plan.groups:
        if line.kind == "heading":
            yield _EMPTY
        elif line.kind == "missing":
            yield Cell(_count(line.records[group]["missing"]))
        else:
            yield Cell(summary_text(line.records[group], line.summary, decimals))
    yield _p_cell(test, test.get("p"), marks.get(_word(test.get("test")), "")) if test else _EMPTY
    if plan.associations is not None:
        if line.kind in ("level", "missing") or line.feature.part == "rest":
            yield _EMPTY
            yield _EMPTY
        else:
            is_doubtful = not is_missing(validated.get("doubtful")) and bool(validated["doubtful"])
            mark = marks.get(_word(validated.get("method")), "") + (DOUBTFUL if is_doubtful else "")
            yield _p_cell(validated, validated.get("p"), mark)
            yield _p_cell(validated, validated.get("q"), "")


def _p_cell(record: Record, p: float | None, marks: str) -> Cell:
    if p is None or is_missing(p):
        return Cell(WITHHELD if is_suppressed(record) else NOTHING)
    return Cell(p_text(p), marks)


def _count(number: float) -> str:
    return WITHHELD if is_missing(number) else str(int(number))


def _word(value: object) -> str:
    return "" if is_missing(value) else str(value)
