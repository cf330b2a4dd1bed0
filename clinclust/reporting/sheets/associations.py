"""Tests that remain valid after clustering, and outcomes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from clinclust.associations.associate import finds_one_population, grade_of, may_be_undone
from clinclust.associations.refit import BY_PERSON, BY_VALUE
from clinclust.comparisons.frame import is_suppressed
from clinclust.errors import InputError
from clinclust.outcomes.columns import CohortColumns
from clinclust.outcomes.compare import compare_outcome, describe_measure, merge_methods
from clinclust.reporting.findings import Findings, Row, number_of
from clinclust.reporting.layout import (
    WORDS,
    Held,
    References,
    Sheet,
    Value,
    as_value,
    capitalised,
    counted,
    listed,
    number_text,
    print_figure,
    tabulate,
    tests_in_words,
    translate,
)
from clinclust.reporting.sheets.subtypes import not_tested
from clinclust.schema import Feature

# The sheet Associations, and what the Methods section says of it.

_TEXTS = WORDS["associations"]
_COUNT = _TEXTS["count"]


def association_table(findings: Findings) -> Sheet:
    """Return the sheet: one row for each feature, with separate columns for contrast and validated association."""
    level, by_feature = findings.significance_level, {row["feature"]: row for row in findings.association_rows()}
    contrasts = findings.read.contrasts

    def contrast(name: str) -> Held:
        return lambda feature: number_of(contrasts[feature.name], name) if feature.name in contrasts else None

    def test(read: Callable[[Row], object]) -> Held:
        return lambda feature: read(by_feature[feature.name]) if feature.name in by_feature else None

    def grade(row: Row) -> Value:
        return number_of(row, "grade") if is_suppressed(row) else grade_of(row, level)

    numbers = ("test", "n_subtypes", "statistic", "n", "p", "q", "p_given_others", "p_whatever_is_missing")
    table = tabulate(
        "associations",
        findings.by_relevance,
        clustered_on=findings.clustered_on_text,
        relevance=findings.relevance_if_shown,
        contrast=contrast("test"),
        p_of_contrast=contrast("p"),
        method=test(lambda row: row["method"]),
        **{name: test(partial(number_of, name=name)) for name in (*numbers, "agreement", "effect_reported", "effect")},
        df=test(lambda row: _short(number_of(row, "df"))),
        df2=test(lambda row: _short(number_of(row, "df2"))),
        left_out=test(lambda row: as_value(row["left_out"]) or None),
        grade=test(grade),
        remark=test(lambda row: number_of(row, "remark") or None),
    )
    methods = {str(row["method"]) for row in by_feature.values()}
    notes = [*([_TEXTS["note_of_given"]] if findings.fit is None else _TEXTS["notes"]), _TEXTS["grades"]]
    if finds_one_population(findings.cohort.model):
        notes.insert(0, _TEXTS["no_inference"])
    notes = [note.format(tests=findings.texts["associations"]["over_tests"]) for note in notes]
    notes += not_tested(findings)
    notes += [capitalised(f"{translate(name)}: {how}.") for name, how in WORDS["ways"].items() if name in methods]
    return Sheet("Associations", notes, [table])


def _short(value: Value) -> Value:
    # The degrees of freedom of Welch's tests are rounded to a tenth; those of other tests are whole numbers.
    return round(value, 1) if isinstance(value, float) and math.isfinite(value) else value


def methods_of_associations(findings: Findings, references: References) -> list[str]:
    """Return sentences on the tests, their null hypothesis and what they assume; empty if none was made."""
    rows = [row for row in findings.association_rows() if isinstance(row["method"], str)]
    if not rows:
        return []
    texts, used = findings.texts["associations"]["methods"], Counter(row["method"] for row in rows)
    named = {way: {"by": texts["by"].get(way, way), "how": WORDS["ways"].get(way, way)} for way in used}
    ways = [texts["way"].format(features=counted(n, "feature"), **named[way]) for way, n in used.items()]
    tests = [row["test"] for row in rows if isinstance(row["test"], str)]
    agreements = (as_value(row["agreement"]) for row in rows)
    indices = sorted(value for value in agreements if isinstance(value, float))
    fields: dict[str, object] = {"ways": listed(ways, "; "), "subtypes": counted(len(findings.sizes), "subtype")}
    fields["seeds"] = listed(sorted({str(row["seed"]) for row in rows}))
    if indices:
        numbers = (indices[0], indices[-1], indices[len(indices) // 2])
        least, most, median = (print_figure(f"{index:.2f}") for index in numbers)
        fields |= {"least": least, "most": most, "median": median}
    if tests:
        plain = {test.removesuffix(BY_PERSON).removesuffix(BY_VALUE) for test in tests}
        fields["tests"] = tests_in_words(sorted(plain), references)
    by_person = any(test.endswith(BY_PERSON) for test in tests)
    names = ["validated" if findings.fit is not None else "validated_given"]
    names += [*["refit"] * ("refit" in used), *["agreement"] * ("refit" in used and bool(indices))]
    names += [*["tests"] * bool(tests), *["by_value"] * any(BY_VALUE in test for test in tests), "adjusted"]
    names += ["null_of_persons" if by_person else "null"]
    # The grades are those of all features with a result that is shown.
    level, shown = findings.significance_level, [row for row in findings.association_rows() if not is_suppressed(row)]
    grades = Counter(grade_of(row, level) for row in shown)
    n, beyond = grades["differs"] + grades["differs beyond dependence"], grades["differs beyond dependence"]
    undone = sum(grade_of(row, level) == "differs" and may_be_undone(row, level) for row in shown)
    fields |= {"features": counted(n, "feature"), "differ": counted(n, "differ"), "level": level}
    fields |= {"beyond": beyond, "undone": undone}
    names += ["graded", *["undone"] * (undone > 0)]
    return [*(references.cite_in(texts[name], **fields) for name in names), _TEXTS["power"]]


# How many features differ between subtypes found without them, by grade; all else on the first page is descriptive.


class Grades(NamedTuple):
    """Numbers of features by the grade of their test, or whose test is withheld."""

    beyond: int
    """They differ beyond dependence."""
    differs: int
    """They differ, perhaps through their relation to other features or what is missing only."""
    not_shown: int
    not_tested: int
    withheld: int

    @property
    def differing(self) -> int:
        """Number of features that differ, of either grade."""
        return self.beyond + self.differs

    @property
    def tested(self) -> int:
        """Number of features with a result of their test that is shown."""
        return self.differing + self.not_shown


def grades_of(findings: Findings, *, found_from: bool) -> Grades | None:
    """Return the grades of the features that the subtypes were found from, or of the others; None without tests."""
    if findings.associations is None:
        return None
    wanted = {feature.name for feature in findings.features if findings.clustered_on(feature) == found_from}
    rows = [row for row in findings.association_rows() if row["feature"] in wanted]
    of = Counter("withheld" if is_suppressed(row) else grade_of(row, findings.significance_level) for row in rows)
    named = ("differs beyond dependence", "differs", "not shown", "not tested", "withheld")
    return Grades(*(of[name] for name in named))


def count_in_words(findings: Findings) -> str:
    """Return how many features differ, in one sentence for the first page and the terminal."""
    if findings.associations is None:
        return str(findings.texts["associations"]["count"]["not_asked"])
    is_sliced, parts = finds_one_population(findings.cohort.model), []
    for whose, found_from in (("formed", True), ("others", False)):
        grades = grades_of(findings, found_from=found_from)
        if grades is not None and (grades.tested or found_from) and any(grades) and not (is_sliced and found_from):
            how = "all" if grades.tested == sum(grades) else "some" if grades.tested else "none"
            fields = {"differing": grades.differing, "tested": grades.tested, "all": sum(grades)}
            parts.append(_COUNT[how].format(whose=_COUNT[whose], **fields))
    return " ".join([*([_COUNT["slices"]] if is_sliced else []), *([f"{'; '.join(parts)}."] if parts else [])])


# The section on outcomes: differences between subtypes with the errors of assignment carried through.


def outcomes_sheets(findings: Findings) -> list[Sheet]:
    """Return the section; none without outcomes (role ``outcome``), single subjects, or more than one subtype."""
    cohort, outcomes = findings.subjects, [feature for feature in findings.features if feature.role == "outcome"]
    if not outcomes or cohort is None or (len(findings.sizes) < 2 and findings.continuum is None):
        return []
    columns = CohortColumns(cohort, cohort.table)
    rows = [row for feature in outcomes for row in _rows(findings, columns, feature, _time_of(findings, feature))]
    table, measures = tabulate("outcomes", rows), [_TEXTS["measures"]]
    return [Sheet("Outcomes", [_TEXTS["answer"]], [table], explanations=measures)]


def _time_of(findings: Findings, feature: Feature) -> Feature | None:
    """Return the time of an event: the only feature of that role with a yes/no outcome."""
    times = [time for time in findings.features if time.role == "time" and time.levels is None]
    return times[0] if len(times) == 1 and feature.traits.is_yes_no else None


def events_in(findings: Findings) -> list[tuple[Feature, Feature, str]]:
    """Return the outcomes of an event with their time, and the value of the event."""
    timed = [(feature, _time_of(findings, feature)) for feature in findings.features if feature.role == "outcome"]
    return [(event, time, str(event.levels[1]) if event.levels else "1") for event, time in timed if time is not None]


def _rows(findings: Findings, columns: CohortColumns, feature: Feature, time: Feature | None) -> Iterator[list[Value]]:
    title = feature.title if time is None else _TEXTS["timed"].format(outcome=feature.title, time=time.title)
    event = str(feature.levels[1]) if feature.levels else "1"
    survival = {} if time is None else {"time": time.name, "event": event}
    try:
        table = compare_outcome(columns, feature.name, survival)
    except InputError as error:
        columns.problems.clear()
        yield [title, None, None, _TEXTS["not_compared"].format(error=error), None, None, None]
        return
    table = table.assign(method=table["method"].fillna(""))
    for row in table[table["method"] == "score"].to_dict("records"):
        yield [title, None, None, describe_measure(row), row["remark"], _write_p(row), _interval(row)]
    is_reason = (table["method"] == "bch") & table["subtype"].isna() & table["remark"].notna()
    reasons = list(dict.fromkeys(table.loc[is_reason, "remark"]))
    for line in merge_methods(table):
        corrected, assigned, remarks = line["corrected"], line["assigned"], line["remarks"]
        best = (assigned if line["may_be_slices"] else corrected) or corrected or assigned
        yield [
            title,
            *(None if line[name] is None else findings.name(line[name]) for name in ("subtype", "versus")),
            line["measure"],
            _interval(corrected) if corrected else "; ".join(reasons) or remarks.get("bch"),
            _write_p(best) if best else None,
            _interval(assigned) if assigned else remarks.get("naive"),
        ]
    is_test = table["measure"].isin(("log-rank", "shares alike", "no effects of features")) & (table["method"] != "bch")
    for row in table[is_test].to_dict("records"):
        why = None if pd.isna(row["remark"]) else str(row["remark"])
        yield [title, None, None, row["measure"], why, _write_p(row), None]


def _write_p(row: dict[Any, Any]) -> Value:
    return None if math.isnan(row["p"]) else number_text(row["p"], "p", 3)


def _interval(row: dict[Any, Any]) -> str:
    if pd.isna(row["estimate"]):
        return str(_TEXTS["not_estimated"])
    if pd.isna(row["lower"]):
        return print_figure(f"{row['estimate']:.3g}")
    return str(_TEXTS["interval"].format(**row)).replace("-", "\N{MINUS SIGN}")
