"""The section on outcomes: differences between subtypes with the errors of assignment carried through."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from clinclust.errors import InputError
from clinclust.outcomes import compare_outcomes
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import Column, Sheet, Table, Value, number_text
from clinclust.schema import Feature

_ANSWER = (
    "Some subjects are always assigned to the wrong subtype, so that differences between assigned subtypes are too "
    "small. “Corrected” carries the errors of assignment through (BCH; Bolck, Croon and Hagenaars 2004; Vermunt 2010)."
)
_MEASURES = (
    "Odds ratios of yes/no and ordered outcomes, rate ratios of counts, differences of means of measurements, hazard "
    "ratios of the time to an event, each with its 95% interval, not adjusted. `clinclust outcomes` adjusts for "
    "covariates and says whether hazards are proportional."
)


def outcomes_sheets(findings: Findings) -> list[Sheet]:
    """Return the section; none without outcomes (role ``outcome``) or with one subtype, and none to be shared."""
    outcomes = [feature for feature in findings.features if feature.role == "outcome"]
    if not outcomes or len(findings.sizes) < 2 or findings.is_shared:
        return []
    columns = [
        Column("Outcome"),
        Column("Subtype"),
        Column("Against"),
        Column("Measure"),
        *(Column(title, "cell") for title in ("Corrected (95% CI)", "p", "As assigned (95% CI)")),
    ]
    rows = [row for feature in outcomes for row in _rows(findings, feature, _time_of(findings, feature))]
    table = Table("Outcomes by subtype", columns, rows, stub=2)
    return [Sheet("Outcomes", [_ANSWER], [table], explanations=[_MEASURES])]


def _time_of(findings: Findings, feature: Feature) -> Feature | None:
    """Return the time of an event: the only feature of that role with a yes/no outcome."""
    times = [one for one in findings.features if one.role == "time" and one.levels is None]
    return times[0] if len(times) == 1 and feature.traits.is_yes_no else None


def _rows(findings: Findings, feature: Feature, time: Feature | None) -> Iterator[list[Value]]:
    title = feature.title if time is None else f"{feature.title}, time: {time.title}"
    given: dict[str, Any] = {}
    if time is not None:
        given = {"time": time.name, "event": str(feature.levels[1]) if feature.levels else "1"}
    try:
        found = compare_outcomes(findings.cohort.model, findings.cohort.table, feature.name, **given)
    except InputError as error:
        yield [title, None, None, f"not compared: {error}", None, None, None]
        return
    differences = found[found["versus"].notna() & ~found["measure"].str.contains("until|after", na=False)]
    by_method = {
        method: {row["subtype"]: row for row in differences[differences["method"] == method].to_dict("records")}
        for method in ("bch", "naive")
    }
    reasons = found.loc[(found["method"] == "bch") & found["remark"].notna(), "remark"].tolist()
    for subtype, naive in by_method["naive"].items():
        corrected = by_method["bch"].get(subtype)
        names = [findings.name(int(number)) for number in (subtype, naive["versus"])]
        best = corrected or naive
        yield [
            title,
            *names,
            str(naive["measure"]),
            "; ".join(dict.fromkeys(reasons)) if corrected is None else _interval(corrected),
            number_text(best["p"], "p", 3) if not math.isnan(best["p"]) else None,
            _interval(naive),
        ]


def _interval(row: dict[Any, Any]) -> str:
    if pd.isna(row["estimate"]):
        return "not estimated"
    low, high = (f"{row[name]:.3g}".replace("-", "\N{MINUS SIGN}") for name in ("lower", "upper"))
    return f"{row['estimate']:.3g} ({low} to {high})".replace("-", "\N{MINUS SIGN}")
