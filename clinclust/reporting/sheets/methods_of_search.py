"""What the Methods section says of the search and of the test of its tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clinclust.engine.continuum.tested_node import FIRST_SAMPLE, LARGEST_NODE, SMALLEST_NODE
from clinclust.estimators.fit import STOPPED_EARLY, Fit
from clinclust.estimators.subtype_tree import DISTINCT_LEVEL, TreeTest
from clinclust.reporting.divisions import distinct_in_words, n_parted
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WITHHELD
from clinclust.reporting.sheets.divisions import is_sampled
from clinclust.reporting.sheets.groups import groups_found
from clinclust.reporting.words import References, counted, listed, was

_BEGUN = {"single": "with all subjects in one subtype", "search": "different partitions"}


def concentration_in_words(findings: Findings, fit: Fit, asked: Any, references: References) -> str:
    """Return the sentence on the concentration; a shared report withholds one that was estimated."""
    found = findings.setting(fit, "concentration")
    value = found if isinstance(found, str) else f"{found:.3g}"
    one_of = f"the one of {len(fit.tuning_)} values"
    if isinstance(asked, str) and asked == "map":
        how = f"{value}, the mode of its posterior under a Gamma(1, 1/3) prior ({references.cite('map-dp')})"
    elif isinstance(asked, str):
        how = f"{value}, {one_of} with the highest density of held-out subjects"
    elif np.ndim(asked):
        how = f"{value}, {one_of} tried with the highest log joint"
    else:
        how = f"set to {value} in advance"
    return f"The concentration (prior count of a new subtype, in subjects) was {how}."


def search_in_words(findings: Findings, fit: Fit, asked: Mapping[str, Any]) -> list[str]:
    """Return the sentences on the search; in a shared report without how many searches ended where."""
    init = asked["init"]
    is_filled = fit.completed_log_joint_ is not None
    begun = "single" if is_filled and isinstance(init, str) else init
    where = _BEGUN[begun] if isinstance(begun, str) else "from a partition given in advance"
    highest = "the highest log joint with filled values" if is_filled else "the highest log joint"
    stopped = [f"The search was {STOPPED_EARLY}."] if fit.stopped_early_ else []
    subjects = "all subjects" if len(findings.sizes) == 1 else f"{sizes_in_words(findings)} subjects"
    subtypes = f"{counted(len(findings.sizes), 'subtype')} of {subjects}"
    if findings.is_shared:
        sought = f"The partition with {highest} was sought ({where}; random seed {fit.random_seed_})."
        return [sought, *stopped, f"The best found has {subtypes}."]
    restarts = fit.restarts_
    refined = int(restarts["start"].isin(("recombined", "perturbed")).sum())
    started = len(restarts) - refined
    best = int((restarts["log_joint"].round(6) == round(float(restarts["log_joint"].max()), 6)).sum())
    sentences = [
        f"The partition with {highest} was sought from {counted(started, 'start')} ({where}; random seed "
        f"{fit.random_seed_})."
    ]
    if refined:
        sentences.append(f"The best were recombined and perturbed in {counted(refined, 'further search', 'es')}.")
    sentences += stopped
    of_observed = " of observed values" if is_filled else ""
    joint = f" (log joint{of_observed} {fit.log_joint_:.2f} nats)".replace("-", "−")
    n_groups = groups_found(fit)
    ended = f"{best} of {counted(len(restarts), 'search', 'es')} ended at the best, with"
    found = f"{subtypes}{joint}" if n_groups is None else f"{n_groups} groups{joint}, which make up {subtypes}"
    return [*sentences, f"{ended} {found}."]


def sizes_in_words(findings: Findings) -> str:
    """Return the sizes of the subtypes that are shown, in a list."""
    shown = [findings.shown_sizes[subtype] for subtype in findings.sizes]
    return listed([WITHHELD if size is None else f"{size:,}" for size in shown])


def methods_of_the_test(findings: Findings, references: References) -> list[str]:
    """Return the sentences on the test of the tree; empty if it was not tested."""
    fit = findings.fit
    if fit is None or fit.tree_test_ is None:
        return []
    test = fit.tree_test_
    sampled = is_sampled(findings, test)
    sentences = ["No division was tested against one continuous population."]
    if len(test.joins):
        sentences = _tested(test, fit, references, sampled)
    if findings.continuum is not None:
        sentences.append(
            "The continuum score of a subject is the first principal component of the normal scores of mid-ranks "
            f"({references.cite('principal components')}), standardised; missing values were integrated out."
        )
    return sentences


def _tested(test: TreeTest, fit: Fit, references: References, sampled: bool) -> list[str]:
    one = "a Gaussian copula with the margins, the correlations and the missing values of the subjects"
    sentences = [
        "Whether subtypes are more than slices of one continuum was tested along the tree in which groups merge, each "
        "time the two with the least evidence between them: from its root, and below each division that was accepted "
        f"({references.cite('sigclust')}; {references.cite('sigclust along a tree')}). Where two ends of this walk "
        "were one continuum by the same test, as slices of one disease on different branches are, they were merged, "
        "and the tree was made again with these merges first.",
        "At each division, the gain in log joint (coarsening 1) of the best partitions into 2, 3, ... parts was "
        f"compared with that in up to {test.n_draws} cohorts of the same size drawn from one continuous population: "
        f"{one}. p is one-sided, from the largest standardised gain, by a normal approximation to its distribution in "
        "these cohorts, and at least the share of them that reach it; or, if smaller, twice that of the shape: the "
        f"dip of the log odds of the best division ({references.cite('dip')}), and the likelihood ratio of two normal "
        "distributions to one along the first three principal components.",
        f"The level was {test.significance_level:g} at each division; the random seed was {test.random_seed}. Groups "
        f"of fewer than {SMALLEST_NODE} subjects were not divided further.",
    ]
    if sampled:
        sentences.append(
            f"Large groups were tested in {FIRST_SAMPLE:,} subjects drawn at random, and, where these left doubt, in "
            f"all, or in {LARGEST_NODE:,} drawn at random of more."
        )
    if test.joins["p_any_shape"].notna().any():
        sentences.append(
            "Accepted divisions, from the root down, were also compared with one population of any shape: draws of a "
            f"smoothed bootstrap ({references.cite('smoothed bootstrap')}), with the smallest bandwidth at which the "
            f"density of the first two principal components has one peak ({references.cite('one mode')}). Subtypes are "
            f"called distinct where this explains no division above them (p below {DISTINCT_LEVEL:g}), else graded."
        )
    accepted, n_tested = int(test.joins["accepted"].sum()), len(test.joins)
    subtypes = "one continuum" if n_parted(fit) == 1 else f"{n_parted(fit)} subtypes, {distinct_in_words(fit)}"
    sentences.append(f"Of {counted(n_tested, 'division')} tested, {accepted} {was(accepted)} accepted: {subtypes}.")
    return sentences
