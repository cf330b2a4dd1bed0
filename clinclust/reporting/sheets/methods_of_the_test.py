"""The paragraph of the methods section on the test of the tree and on the continuum score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clinclust.engine.continuum.node_test import LARGEST_NODE, SMALLEST_NODE
from clinclust.engine.continuum.null_cohorts import UNIMODAL
from clinclust.reporting.divisions import n_distinct
from clinclust.reporting.sheets.divisions import is_sampled

if TYPE_CHECKING:
    from clinclust.estimators.subtype_tree import TreeTest
    from clinclust.reporting.findings import Findings
    from clinclust.reporting.sheets.references import References

__all__ = ["methods_of_the_test"]


def methods_of_the_test(findings: Findings, references: References) -> list[str]:
    """Return the sentences on the test of the tree; empty if it was not tested."""
    fit = findings.fit
    if fit is None or fit.tree_test_ is None:
        return []
    test = fit.tree_test_
    sampled = is_sampled(findings, test)
    sentences = _tested(test, n_distinct(fit), references, sampled) if len(test.joins) else [_NOTHING_TO_TEST]
    if findings.continuum is not None:
        sentences.append(
            "The continuum score of a subject is the first principal component of the normal scores of mid-ranks "
            f"({references.cite('principal components')}), standardised; missing values were integrated out."
        )
    return sentences


_NOTHING_TO_TEST = "No division was tested against one continuous population."


def _tested(test: TreeTest, found: int, references: References, sampled: bool) -> list[str]:
    one = "a Gaussian copula with the margins, the correlations and the missing values of the subjects"
    skewed = "whose first principal component has the distribution of the subjects, smoothed to one mode"
    if test.null == UNIMODAL:
        one += f", {skewed} ({references.cite('one mode')})"
    sentences = [
        "Whether subtypes are more than slices of one continuum was tested along the tree in which groups merge, each "
        "time the two with the least evidence between them: from its root, and below each division that was accepted "
        f"({references.cite('sigclust')}; {references.cite('sigclust along a tree')}). Where two ends of this walk "
        "were one continuum by the same test, as slices of one disease on different branches are, they were joined, "
        "and the tree was made again with these joins first.",
        "At each division, the gain in log joint (coarsening 1) of the best partitions into 2, 3, ... parts was "
        f"compared with that in up to {test.n_draws} cohorts of the same size drawn from one continuous population: "
        f"{one}. p is one-sided, from the largest standardised gain, by a normal approximation to its distribution in "
        "these cohorts, and at least the share of them that reach it.",
        f"The level was {test.significance_level:g} at each division; the random seed was {test.random_seed}. Groups "
        f"of fewer than {SMALLEST_NODE} subjects were not divided further.",
    ]
    if sampled:
        sentences.append(f"Of more than {LARGEST_NODE:,} subjects, a random sample of this size was tested.")
    if test.joins["p_unimodal"].notna().any():
        sentences.append(
            f"Accepted divisions were also compared with such a population {skewed} ({references.cite('one mode')}), "
            "for a skewed severity; this decided nothing."
        )
    accepted, n_tested = int(test.joins["accepted"].sum()), len(test.joins)
    divisions = f"{n_tested} division{'' if n_tested == 1 else 's'}"
    subtypes = "one continuum" if found == 1 else f"{found} distinct subtypes"
    sentences.append(f"Of {divisions} tested, {accepted} {'was' if accepted == 1 else 'were'} accepted: {subtypes}.")
    return sentences
