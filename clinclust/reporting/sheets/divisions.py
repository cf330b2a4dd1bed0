"""What a report says where the tree was tested: whether the subtypes are more than one continuum, and how sure."""

from __future__ import annotations

from math import isnan

from clinclust.engine.continuum.tested_node import FIRST_SAMPLE, LARGEST_NODE, SMALLEST_NODE
from clinclust.estimators.distinct_subtypes import p_text
from clinclust.estimators.fit import Fit
from clinclust.estimators.subtype_tree import DISTINCT_LEVEL, TreeTest
from clinclust.reporting.divisions import (
    DISTINCT,
    GRADED,
    ONE_CONTINUUM,
    Division,
    distinct_in_words,
    n_distinct,
    n_parted,
    shows_tested_subtypes,
)
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WITHHELD, Column, Table, Value
from clinclust.reporting.sheets.groups import groups_found
from clinclust.reporting.words import counted

_NEARLY_IN_FULL = 0.8  # weight of a block, from which on it hides nothing worth a sentence
_OF_MANY = "{}\N{NO-BREAK SPACE}in\N{NO-BREAK SPACE}{}"
_BY_DEGREE = (
    "subjects who differ by degree only, with the same distribution of each feature, correlations and missing values"
)

ANY_SHAPE = "one continuum of any shape"
_ANY_SHAPE_IN_WORDS = "the subjects' own distribution, smoothed until it has one peak, explains it as well"


def verdict(findings: Findings) -> list[str]:
    """Return the sentence whether the subtypes are more than one continuum; empty if the tree was not tested."""
    fit = findings.fit
    if fit is None or fit.tree_test_ is None:
        return []
    said = _verdict(findings, fit, fit.tree_test_)
    if not shows_tested_subtypes(fit):
        said += (
            f" This report shows {counted(fit.n_clusters_, 'subtype')} instead, because another number was asked for; "
            "what lies inside a tested subtype is a slice of a continuum."
        )
    return [f"Tested: {said}"]


def _verdict(findings: Findings, fit: Fit, test: TreeTest) -> str:
    found = n_parted(fit)
    if found > 1:
        grades = f" Grades may be degrees of one condition: {_ANY_SHAPE_IN_WORDS}." if n_distinct(fit) < found else ""
        return (
            f"the cohort has {found} subtypes, {distinct_in_words(fit)}. At each division between them, the subjects "
            f"are parted more clearly than one continuum would be: {_BY_DEGREE}.{grades}"
        )
    if len(test.joins):
        return (
            "the cohort looks like one continuum. Its subjects are parted no more clearly than one continuum would be: "
            f"{_BY_DEGREE}.{_on_the_score(findings)}"
        )
    if fit.tree_.n_subtypes > 1:
        return f"nothing, because fewer than {SMALLEST_NODE} subjects say too little; they are shown as one group."
    return "nothing, because the search found one group, and there was no division to test."


def _on_the_score(findings: Findings) -> str:
    continuum = findings.continuum
    if continuum is not None and continuum.is_by_chance and not findings.is_shared:
        return ""
    return " In the place of subtypes, use the continuum score of each subject, which may be a severity."


def on_the_test(findings: Findings) -> list[str]:
    """Return what groups inside a subtype are good for, and how to read the test; empty without a test."""
    fit = findings.fit
    if fit is None or fit.tree_test_ is None or not len(fit.tree_test_.joins):
        return []
    on_blocks = "" if findings.is_rounded else _on_blocks(fit)
    test = fit.tree_test_
    return [*_on_groups(fit), _how_to_read(findings, test), _limits(test, on_blocks, is_sampled(findings, test))]


def _on_groups(fit: Fit) -> list[str]:
    n_groups = groups_found(fit)
    if n_groups is None:
        return []
    return [
        f"Groups: the search found {n_groups}, and no subject was moved between them. Those inside one subtype were "
        "not shown to be more than slices of a continuum: they describe its course, and are no kinds of a disease."
    ]


def _how_to_read(findings: Findings, test: TreeTest) -> str:
    numbers = (
        "The numbers behind the result are withheld. "
        if findings.is_shared
        else (
            "Evidence: how much better several groups explain the subjects than one, in nats (1 nat: 2.7 times more "
            f"probable), with its mean and standard deviation (SD) in up to {test.n_draws} cohorts drawn from one "
            "continuum; the excess is what counts. "
        )
    )
    of_any_shape = (
        ""
        if findings.is_shared or test.joins["p_any_shape"].isna().all()
        else f" p, any shape: the same for {ANY_SHAPE}: {_ANY_SHAPE_IN_WORDS}."
    )
    return (
        f"Divisions tested: from the whole cohort down. {numbers}{_on_p(findings, test.significance_level)} both "
        f"parts are subtypes, and each is tested in turn; otherwise the result is “{ONE_CONTINUUM}”. Subtypes are "
        f"“{DISTINCT}” if {ANY_SHAPE} explains neither their division (p below {DISTINCT_LEVEL:g}) nor one above "
        f"it; otherwise “{GRADED}”.{of_any_shape}"
    )


def _on_p(findings: Findings, significance_level: float) -> str:
    often = "one continuum would be parted as clearly"
    if findings.is_shared:
        return f"Where fewer than {100 * significance_level:g}% of cohorts from {often},"
    return f"p: how often a cohort from {often}. Below {significance_level:g}"


def _on_blocks(fit: Fit) -> str:
    if all(power >= _NEARLY_IN_FULL for power in fit.block_weights_.values()):
        return ""
    return (
        "Subtypes that differ in nothing but the score of a block are not seen, because its features count for less. "
    )


def is_sampled(findings: Findings, test: TreeTest) -> bool:
    """Return whether some division was tested in a sample; False if counts are rounded."""
    of_both = test.joins["first_size"] + test.joins["second_size"]
    return not findings.is_rounded and bool((test.joins["n_tested"] < of_both).any())


def _limits(test: TreeTest, on_blocks: str, some_sampled: bool) -> str:
    sampled = (
        f" Large groups were tested in {FIRST_SAMPLE:,} subjects drawn at random, or, where these left doubt, in up to "
        f"{LARGEST_NODE:,}."
    )
    return (
        "What the test cannot tell: stages that follow each other, or a cohort chosen as one of two things is high, "
        "can seem distinct without kinds. Three ordered classes may be found as two, and kinds that overlap or are "
        "rare are often called graded. Groups that differ in one feature only are not distinguished from a "
        f"continuum. {on_blocks}Fewer than "
        f"{SMALLEST_NODE} subjects are not divided. The level {test.significance_level:g} holds at each division, not "
        "for all together."
        f"{sampled if some_sampled else ''}"
    )


def divisions_table(findings: Findings) -> list[Table]:
    """Return the table Divisions tested, if any was; a shared report has no evidence and no sizes of parts."""
    if not findings.divisions:
        return []
    both, population = ("One side", "Other side"), ("In one population (nats)", "")
    columns = [*(Column(title, widest=18) for title in both), Column("Division", "0"), Column("Result")]
    subjects = "Subjects" if findings.is_shared else f"Subjects{findings.of_the_sample}"
    columns += [Column(title, "0", (subjects, "")) for title in both]
    if not findings.is_shared:
        columns += [Column("p", "p"), Column("p in words", widest=12), Column("p, any shape", "p")]
        columns += [Column("Evidence (nats)", "0.0"), *(Column(title, "0.0", population) for title in ("Mean", "SD"))]
        columns.append(Column("Excess (nats)", "0.0"))
    rows = [_row(findings, division) for division in findings.divisions]
    return [Table("Divisions tested", columns, rows, stub=2)]


def _row(findings: Findings, division: Division) -> list[Value]:
    start: list[Value] = [*division.branches, division.number, division.result, *_sizes(findings, division)]
    if findings.is_shared:
        return start
    numbers: list[Value] = [division.gain, division.expected, division.expected_sd, division.excess]
    words, of_any_shape = p_in_words(division.p, division.n_draws), _p(division.p_any_shape, division)
    return [*start, _p(division.p, division), words, of_any_shape, *numbers]


def _p(p: float, division: Division) -> Value:
    """Return p, as a text if it is smaller than its draws can tell."""
    if isnan(p):
        return None
    return p if p >= 1.0 / division.n_draws else p_text(p, division.n_draws)


def _sizes(findings: Findings, division: Division) -> list[Value]:
    if not findings.is_shared:
        return list(division.sizes)
    if division.subtypes is None:
        return [WITHHELD, WITHHELD]
    shown = [[findings.shown_sizes[subtype] for subtype in side] for side in division.subtypes]
    return [WITHHELD if None in side else sum(size for size in side if size is not None) for side in shown]


def p_in_words(p: float, n_draws: int) -> str:
    """Return how often a cohort from one population seems as divided, of the largest number of cohorts drawn."""
    if p < 1.0 / n_draws:
        return f"fewer than {_OF_MANY.format(1, f'{n_draws:,}')}"
    return _OF_MANY.format(round(1000 * p), "1,000") if p < 0.01 else _OF_MANY.format(round(100 * p), "100")


def evidence_in_words(division: Division) -> str:
    """Return a division with its evidence in one line."""
    return (
        f"{division.number}: {division.title}: {division.gain:,.0f} nats, one continuous population gives "
        f"{division.expected:,.0f} (SD {division.expected_sd:,.0f}), {division.p_said}, "
        f"{division.result}"
    )
