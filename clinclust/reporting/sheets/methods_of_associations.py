"""What the Methods section says of the validated associations."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from clinclust.associations.permutation_tests import BY_PERSON, BY_VALUE, without_permutation
from clinclust.reporting.findings import as_value
from clinclust.reporting.sheets.associations import METHODS
from clinclust.reporting.sheets.names_of_tests import tests_in_words
from clinclust.reporting.sheets.words import counted, listed, was

if TYPE_CHECKING:
    from clinclust.reporting.findings import Findings, Row
    from clinclust.reporting.sheets.references import References

__all__ = ["methods_of_associations"]

_BY = {"refit": "by refitting", "cross-fit": "by cross-fitting", "direct": "directly"}


def methods_of_associations(findings: Findings, references: References) -> list[str]:
    """Return sentences on the tests, their null hypothesis and what they assume; empty if none was made."""
    rows = [row for row in findings.association_rows() if isinstance(row["method"], str)]
    if not rows:
        return []
    used = Counter(row["method"] for row in rows)
    ways = [
        f"{counted(number, 'feature')} {_BY.get(method, method)} ({METHODS.get(method, method)})"
        for method, number in used.items()
    ]
    seeds = sorted({str(row["seed"]) for row in rows})
    seed = f" (random seed {listed(seeds)})" if findings.fit is not None else ""
    sentences = [f"Associations of features with the subtypes were validated{seed}: {listed(ways, '; ')}."]
    if {"refit", "cross-fit"} & set(used):
        sentences.append(
            f"Each search was brought to {counted(len(findings.sizes), 'subtype')}: more groups were merged along "
            f"their tree, and fewer were divided, even where the log joint fell.{_agreement(findings, rows)}"
        )
    return [*sentences, *_tests(rows, references), *_adjusted(findings, references), *_assumed(rows), *_marked(rows)]


def _agreement(findings: Findings, rows: list[Row]) -> str:
    """Return how far the subtypes found again agree with those reported."""
    agreements = (as_value(row["agreement"]) for row in rows)
    found = sorted(value for value in agreements if isinstance(value, float))
    if not found or findings.is_shared:
        return ""
    return (
        f" They agreed with the subtypes reported to {found[0]:.2f} to {found[-1]:.2f} (adjusted Rand index, median "
        f"{found[len(found) // 2]:.2f})."
    ).replace("-", "−")


def _tests(rows: list[Row], references: References) -> list[str]:
    tests = [row["test"] for row in rows if isinstance(row["test"], str)]
    if not tests:
        return []
    sentences = [f"The tests were {tests_in_words(sorted(set(map(without_permutation, tests))), references)}."]
    if any(BY_VALUE in test for test in tests):
        sentences.append(
            "Where a subtype has too few values for the usual p of a test, given how skewed they are, p is the share "
            "of permutations of the values (up to 9,999) that differ as much between the subtypes."
        )
    return sentences


def _adjusted(findings: Findings, references: References) -> list[str]:
    return [
        f"Their p-values were adjusted by the Benjamini–Hochberg procedure ({references.cite('adjusted')}) over the "
        f"tests {'that are shown' if findings.is_shared else 'made'}."
    ]


def _assumed(rows: list[Row]) -> list[str]:
    """Return the null hypothesis, and what p assumes of rows and of missing values."""
    by_person = any(isinstance(row["test"], str) and row["test"].endswith(BY_PERSON) for row in rows)
    on_rows = (
        "whole persons were permuted (up to 9,999 times) between persons with as many rows, because rows of one person "
        "depend on each other"
        if by_person
        else "rows are assumed to be independent of each other"
    )
    return [
        "The null hypothesis of each test is that the feature is independent of the features that the subtypes were "
        f"found from for this test; {on_rows}. Missing values of the tested feature were left out, which assumes that "
        "they are not missing because of their size."
    ]


def _marked(rows: list[Row]) -> list[str]:
    doubtful = sum(row["doubtful"] is True for row in rows)
    if not doubtful:
        return []
    return [
        f"{counted(doubtful, 'p-value')} {was(doubtful)} marked as doubtful (p below 0.01 of dependence on other "
        "features inside the subtypes, or of values missing more often in some subtypes)."
    ]
