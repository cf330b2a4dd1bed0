"""The lines of the table: as rows of text, as a tidy frame of numbers, and as a table for the sheets of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from clinclust.comparisons.frame import ALL_SUBJECTS, Record, is_missing, is_suppressed
from clinclust.reporting.layout import Column, Table, Value, as_value
from clinclust.reporting.subtype_table.footnotes import BEYOND, NO_PART
from clinclust.reporting.subtype_table.plan import Line, Plan, clean
from clinclust.reporting.subtype_table.summaries import (
    NOTHING,
    SUMMARY_QUANTITIES,
    SUMMARY_TEXT,
    WITHHELD,
    decimals_of,
    p_text,
    parts,
    summary_text,
    text_of,
)
from clinclust.reporting.subtype_table.table import Cell, Heading, TableRow

_EMPTY = Cell("")


def headings_of(plan: Plan) -> Iterator[Heading]:
    """Yield the headings of the columns."""
    if plan.asked.missing == "column":
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
            remark=clean(text_of(validated.get("remark"))),
        )


def _cells(plan: Plan, line: Line, test: Record, validated: Record, marks: Mapping[str, str]) -> Iterator[Cell]:
    if plan.asked.missing == "column":
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
    yield _p_cell(test, test.get("p"), marks.get(text_of(test.get("test")), "")) if test else _EMPTY
    if plan.associations is not None:
        if line.kind in ("level", "missing") or line.feature.part == "rest":
            yield _EMPTY
            yield _EMPTY
        else:
            is_beyond = text_of(validated.get("grade")) == "differs beyond dependence"
            mark = marks.get(text_of(validated.get("method")), "") + (BEYOND if is_beyond else "")
            yield _p_cell(validated, validated.get("p"), mark)
            yield _p_cell(validated, validated.get("q"), "")


def _p_cell(record: Record, p: float | None, marks: str) -> Cell:
    if p is None or is_missing(p):
        return Cell(WITHHELD if is_suppressed(record) else NOTHING)
    return Cell(p_text(p), marks)


def _count(number: float) -> str:
    return WITHHELD if is_missing(number) else str(int(number))


_HOLDS = {
    "n": "n, %",
    "mean": "n observed, mean, SD",
    "median": "n observed, median, Q1, Q3",
    "rate": "total, mean per subject",
}


def numbers_of(plan: Plan) -> pd.DataFrame:
    """Return a tidy frame with one row for each number of the table, as `SubtypeTable.numbers`."""
    import pandas as pd

    rows = [
        {
            "section": line.feature.section,
            "feature": line.feature.name,
            "label": line.feature.label,
            "unit": line.feature.unit,
            "level": line.level,
            **quantity,
        }
        for line in plan.lines()
        if line.kind != "missing"
        for quantity in _quantities(plan, line)
    ]
    types = dict.fromkeys(("section", "feature", "label", "unit", "level"), "string") | {
        "subtype": "Int64",
        "quantity": "string",
        "value": "float64",
        "suppressed": "boolean",
    }
    return pd.DataFrame(rows, columns=list(types)).astype(types)


def _quantities(plan: Plan, line: Line) -> Iterator[dict[str, Any]]:
    for group in plan.groups if line.kind != "heading" else ():
        record = line.records[group]
        found = parts(record, line.summary)
        names = SUMMARY_QUANTITIES[line.summary]
        for name, value in zip(names, found or [None] * len(names), strict=True):
            yield _quantity(group, name, value, withheld=found is None)
        for name in ("n", "missing"):
            yield _quantity(group, name, record[name], withheld=is_missing(record[name]))
    test, validated = plan.descriptive(line), plan.validated(line)
    if test:
        yield _quantity(None, "descriptive p", test["p"], withheld=is_missing(test["p"]) and is_suppressed(test))
    for name in ("p", "q") if validated else ():
        yield _quantity(None, f"validated {name}", validated[name], withheld=False)


def _quantity(subtype: int | None, name: str, value: Any, *, withheld: bool) -> dict[str, Any]:
    number = float("nan") if is_missing(value) else float(value)
    return {"subtype": subtype, "quantity": name, "value": number, "suppressed": withheld}


def layout_of(plan: Plan, title: str) -> Table:
    """Return the table for a workbook or page, with each number in its own cell."""
    columns = [Column("Feature"), Column("Level"), Column("Cells hold"), Column("Missing (n)", "0")]
    has_quartiles = "median" in {line.summary for line in plan.lines()}
    for group in plan.groups:
        *who, number = plan.heading(group)
        over = (": ".join(who), number)
        columns += [Column("n or total", "0", over), Column("%, mean or median", "measure", over)]
        columns += [Column("SD or Q1", "measure", over)]
        columns += [Column("Q3", "measure", over)] if has_quartiles else []
    columns += [] if plan.compared.is_rounded else [Column("Descriptive p", "p"), Column("Test")]
    if plan.associations is not None:
        columns += [Column("Validated p", "p"), Column("Validated q", "p"), Column("Method"), Column("Grade")]
        columns += [Column("Remark")]
    lines = [line for line in plan.lines() if line.kind not in ("heading", "missing")]
    bands = [clean(line.feature.section) or "No section" for line in lines]
    return Table(
        title,
        columns,
        [list(_values(plan, line, has_quartiles=has_quartiles)) for line in lines],
        bands if set(bands) != {"No section"} else [],
        [decimals_of(line.feature, line.summary) for line in lines],
        stub=2,
    )


def _values(plan: Plan, line: Line, *, has_quartiles: bool) -> Iterator[Value]:
    missing = line.records[ALL_SUBJECTS]["missing"]
    yield clean(line.feature.title)
    yield None if line.level is None else clean(line.level)
    yield _HOLDS[line.summary]
    yield WITHHELD if is_missing(missing) else int(missing)
    for group in plan.groups:
        yield from _group(line, line.records[group], has_quartiles=has_quartiles)
    # The test of a feature with levels is shown in the row of its first level.
    whole = line if line.kind == "feature" else Line("heading", line.feature, line.summary)
    is_first = line.level == next(iter(line.feature.summaries))
    test = plan.descriptive(line) or (plan.descriptive(whole) if is_first else {})
    if not plan.compared.is_rounded:
        yield _p(test, "p")
        yield str(test["test"]) if test and not is_missing(test["test"]) else None
    if plan.associations is not None:
        validated = plan.validated(whole) if is_first else {}
        yield _p(validated, "p")
        yield _p(validated, "q")
        yield as_value(validated.get("method"))
        yield as_value(validated.get("grade"))
        remark = validated.get("remark")
        yield None if is_missing(remark) else clean(str(remark))


def _group(line: Line, record: Record, *, has_quartiles: bool) -> Iterator[Value]:
    found = parts(record, line.summary)
    length = 3 if has_quartiles else 2
    if found is None:
        withheld = len(SUMMARY_QUANTITIES[line.summary]) + (line.summary in ("mean", "median"))
        yield from [WITHHELD] * withheld + [None] * (1 + length - withheld)
        return
    if line.summary == "n":
        number, others = found[0], found[1:]
    elif line.summary == "rate":
        number, others = found[1], found[:1]
    else:
        number, others = record["n"], found
    yield (WITHHELD if is_suppressed(record) else None) if number is None or is_missing(number) else round(number)
    yield from [as_value(value) for value in others] + [None] * (length - len(others))


def _p(record: Record, name: str) -> Value:
    if not record:
        return None
    if is_missing(record[name]):
        return WITHHELD if is_suppressed(record) else None
    return float(record[name])
