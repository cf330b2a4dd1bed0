"""Make a subtype table from a comparisons frame alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, cast

import pandas as pd

import clinclust.arguments as arguments
from clinclust.arguments import BY_FEATURE, ON_OR_OFF, TEXT, TEXTS, WHOLE, WHOLES, accepting, either
from clinclust.comparisons.compare import FEWEST_TESTED, compare_cohort
from clinclust.comparisons.frame import is_missing
from clinclust.estimators.few_subjects import FEW
from clinclust.estimators.fitted_cohort import cohort_of
from clinclust.estimators.subtype_model import SubtypeModel, fewest_subjects, require_fitted
from clinclust.reporting.subtype_table.numbers import numbers_of, numbers_table_of
from clinclust.reporting.subtype_table.plan import (
    Choices,
    ColumnName,
    Line,
    Plan,
    check_choices,
    clean,
    descriptive_test,
)
from clinclust.reporting.subtype_table.rows import headings_of, letters, notes_of, rows_of
from clinclust.reporting.subtype_table.summaries import (
    Compared,
    ComparedFeature,
    Summary,
    default_summary,
    possible_summaries,
)
from clinclust.reporting.subtype_table.table import SubtypeTable


@accepting(
    comparisons=either(arguments.COMPARISONS, arguments.MODEL),
    frame=arguments.FRAME,
    associations=arguments.FRAME_OF_TESTS,
    names=arguments.NAMES,
    features=either(TEXT, TEXTS),
    subtypes=WHOLES,
    between=WHOLES,
    summaries=either(TEXT, BY_FEATURE),
    columns=TEXTS,
    decimals=either(WHOLE, BY_FEATURE),
    missing_rows=ON_OR_OFF,
    title=TEXT,
)
def subtype_table(
    comparisons: pd.DataFrame | SubtypeModel,
    frame: pd.DataFrame | None = None,
    *,
    associations: pd.DataFrame | None = None,
    names: Mapping[int, str] | None = None,
    features: Sequence[str] | Literal["significant"] | None = None,
    subtypes: Sequence[int] | None = None,
    between: tuple[int, int] | None = None,
    summaries: Mapping[str, Summary] | Summary | None = None,
    columns: Sequence[ColumnName] | None = None,
    decimals: Mapping[str, int] | int | None = None,
    missing_rows: bool = False,
    title: str | None = None,
) -> SubtypeTable:
    """Return a table of summaries of every feature in all subjects and in each subtype ("Table 1" of a paper).

    Parameters
    ----------
    comparisons : pandas.DataFrame, or MAPDP, Partition or another SubtypeModel
        From `compare_subtypes`; or, with `frame`, a fitted model, whose subtypes are then compared with the defaults.
    frame : pandas.DataFrame, N rows, optional
        The cohort of the model. Rows in another order than at the fit are put back into it, with a `CohortWarning`.
    associations : pandas.DataFrame, optional
        From `validated_associations`; adds columns for the validated p and q.
    names : dict, optional
        Names of subtypes by number, for the headings: ``{1: "Tremor dominant"}``. The default names of a `Partition`
        are its labels.
    features : sequence of str, or "significant", optional
        Features to show, by column name, in this order, or those with a significant descriptive p; by default all, in
        the order of the schema. Features of one section are adjacent.
    subtypes : sequence of int, optional
        Subtypes to show, in this order; by default all.
    between : tuple of two int, optional
        Two subtypes whose Welch's t-test gives the descriptive p. By default it is of the test of all subtypes at
        once, or of the two that `subtypes` selects.
    summaries : dict or {"n", "mean", "median"}, optional
        Summary of each feature by name, or of every feature that allows it: n (%), mean (SD) or median [Q1, Q3]. By
        default yes/no features and levels have n (%), skewed features (contrasted by ranks) the median, and all others
        the mean (of a level: its share).
    columns : sequence of {"missing", "all", "subtypes", "smd", "p", "validated"}, optional
        Columns after the label, in this order: number of subjects without a value, all subjects, the subtypes,
        standardised mean difference, descriptive p, validated p and q. By default all but the SMD, each where it has
        something to say. The SMD is |difference of means| / root of the mean variance, for a level that of its share;
        the mean over all pairs of the subtypes shown, or that of `between`.
    decimals : int or dict, optional
        Decimals of means, medians and percentages, or of those of each feature by name.
    missing_rows : bool
        Whether a row below each feature holds the number of subjects without a value in every group.
    title : str, optional
        Caption of the table.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema of the model.
    ValueError
        If `comparisons` is not a frame of `compare_subtypes`, `frame` is not the cohort of the model, or an argument
        cannot be used. The message lists all problems.

    Notes
    -----
    ``subtype_table(comparisons, features=[...], subtypes=[1, 2, 3, 4], between=(1, 2), summaries="mean")`` gives
    Tables 3 and 4 of Raykov et al. (2016), and adds the standard deviations and p-values that they leave out.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> schema = cc.draft_schema(frame)
    >>> comparisons = cc.compare_subtypes(frame, frail.astype(int), schema)
    >>> table = cc.subtype_table(comparisons, names={1: "Robust", 2: "Frail"})
    >>> print(table.to_frame().loc[0].tail(5).to_string())
    All subjects, n = 200                 0.981 (0.299)
    Subtype 1: Robust, n = 130 (65.0%)    1.187 (0.108)
    Subtype 2: Frail, n = 70 (35.0%)      0.599 (0.092)
    Descriptive p                                <0.001
    Test                                      Welch's t
    >>> table.save("table1.docx").name
    'table1.docx'
    """
    marks: Mapping[int, Sequence[str]] = {}
    if frame is not None:
        model = cast("SubtypeModel", comparisons)
        require_fitted(model)
        cohort = cohort_of(model, frame, stacklevel=3)
        comparisons = compare_cohort(cohort, min_size=max(FEWEST_TESTED, fewest_subjects(model)))
        names = {**model.names_, **(names or {})}
        marks = {} if model.fit_ is None else dict(enumerate(model.fit_.remarks_, start=1))
    asked = Choices(
        associations=associations,
        names=names,
        features=features,
        subtypes=subtypes,
        between=between,
        summaries=summaries,
        columns=columns,
        decimals=decimals,
        missing_rows=missing_rows,
        title=title,
        marks=marks,
    )
    return table_of(Compared(cast("pd.DataFrame", comparisons)), asked)


def table_of(compared: Compared, asked: Choices) -> SubtypeTable:
    """Return the table of `subtype_table`."""
    associations, between = asked.associations, asked.between
    check_choices(compared, asked)
    shown = compared.subtypes if asked.subtypes is None else list(asked.subtypes)
    if between is None and len(shown) == 2 < len(compared.subtypes) and compared.are_tested(*shown):
        between = (shown[0], shown[1])
    chosen = _chosen(compared, asked.features, between)
    sections = list(dict.fromkeys(feature.section for feature in chosen))
    chosen.sort(key=lambda feature: sections.index(feature.section))
    tests = [] if associations is None else associations.to_dict("records")
    plan = Plan(
        asked=asked,
        compared=compared,
        associations=None if associations is None else {row["feature"]: {str(k): row[k] for k in row} for row in tests},
        features=chosen,
        summaries={feature.name: _summary_of(feature, asked.summaries) for feature in chosen},
        subtypes=shown,
        between=between,
        # That a subtype has few subjects is said already of one that is not tested.
        marks={
            subtype: [mark for mark in marks if mark != FEW or subtype in compared.tested]
            for subtype, marks in asked.marks.items()
        },
    )
    footnotes = letters(plan)
    rows = list(rows_of(plan, footnotes))
    caption = "Characteristics by subtype" if asked.title is None else clean(asked.title)
    return SubtypeTable(
        title=caption,
        headings=list(headings_of(plan)),
        rows=rows,
        notes=notes_of(plan, rows, footnotes),
        numbers=numbers_of(plan),
        numbers_table=numbers_table_of(plan),
    )


def _chosen(
    compared: Compared, features: Sequence[str] | str | None, between: tuple[int, int] | None
) -> list[ComparedFeature]:
    if features == "significant":
        return [feature for feature in compared.features.values() if _is_significant(feature, between)]
    return [compared.features[name] for name in (compared.features if features is None else features)]


def _is_significant(feature: ComparedFeature, between: tuple[int, int] | None) -> bool:
    tests = [descriptive_test(Line("feature", feature, "n", level), between) for level in feature.summaries]
    return any(not is_missing(test.get("significant")) and bool(test["significant"]) for test in tests)


def _summary_of(feature: ComparedFeature, summaries: Mapping[str, Summary] | Summary | None) -> Summary:
    if isinstance(summaries, str):
        return summaries if summaries in possible_summaries(feature) else default_summary(feature)
    return (summaries or {}).get(feature.name) or default_summary(feature)
