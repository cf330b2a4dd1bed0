"""Whether the subtypes are more than a continuum, come out again, and how sure they are."""

from __future__ import annotations

from math import isnan
from operator import attrgetter
from typing import Any

import numpy as np

from clinclust.data import WORDS, counted
from clinclust.engine.continuum.tested_node import FIRST_SAMPLE, LARGEST_NODE, SMALLEST_NODE
from clinclust.estimators.distinct_subtypes import p_text
from clinclust.estimators.fit import DISTINCT_LEVEL, TreeTest
from clinclust.estimators.subtype_model import parameters_of
from clinclust.reporting.divisions import Division, n_parted
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import Held, Sheet, Table, Value, capitalised, print_figure, tabulate, translate
from clinclust.reporting.sheets.subtypes import groups_found
from clinclust.stability.assess import TOO_FEW

# What a report says where the tree was tested: whether the subtypes are more than one continuum, and how sure.

_NEARLY_IN_FULL = 0.8  # weight of a block, from which on it hides nothing worth a sentence
_TEXTS = WORDS["trust"]


def verdict(findings: Findings) -> list[str]:
    """Return the sentences whether the subtypes are more than one continuum; empty if the tree was not tested."""
    fit, answer = findings.fit, findings.answer
    if fit is None or fit.tree_test_ is None:
        return []
    n, score = sum(map(len, answer.kinds)), findings.continuum
    parts = ["alone" if answer.basis == "alone" else "continuum" if n == 1 else "kinds"]
    if not findings.divisions:
        parts = ["too_few" if fit.tree_.n_subtypes > 1 else "no_division"]
    elif n_parted(fit) == 1 and (score is None or not score.is_by_chance):
        parts.append("score")
    parts += ["grades"] * (n > len(answer.kinds)) + ["instead"] * (answer.basis == "asked")
    shown = counted(fit.n_clusters_, "subtype")
    fields = {"any_shape": _TEXTS["any_shape_in_words"], "by_degree": _TEXTS["by_degree"], "shown": shown}
    fields |= answer.words
    return [" ".join(_TEXTS["verdict"][part].format(least=SMALLEST_NODE, **fields) for part in parts)]


def on_the_test(findings: Findings) -> list[str]:
    """Return what groups inside a subtype are good for, and how to read the test; empty without a test."""
    fit = findings.fit
    if fit is None or fit.tree_test_ is None or not len(fit.tree_test_.joins):
        return []
    test, texts, n_groups = fit.tree_test_, findings.texts["trust"]["on_the_test"], groups_found(fit)
    has_shapes = any(not isnan(division.p_any_shape) for division in findings.evidence)
    divided = [texts["numbers"], texts["results"], *[texts["shape"]] * has_shapes]
    in_full = all(power >= _NEARLY_IN_FULL for power in fit.block_weights_.values())
    limits = [texts["limits"], *[texts["blocks"]] * (not in_full), texts["level"]]
    limits += [texts["sampled"]] * is_sampled(test)
    level = test.significance_level
    fields: dict[str, Any] = {"level": level, "percent": 100 * level, "n_draws": test.n_draws, "n": n_groups}
    fields |= {name: _TEXTS[name] for name in ("any_shape", "any_shape_in_words")}
    fields |= {"distinct_level": DISTINCT_LEVEL, "sample": FIRST_SAMPLE, "most": LARGEST_NODE, "least": SMALLEST_NODE}
    paragraphs = [*([] if n_groups is None else [[texts["groups"]]]), divided, limits]
    return [" ".join(text.format(**fields) for text in sentences if text) for sentences in paragraphs]


def is_sampled(test: TreeTest) -> bool:
    """Return whether some division was tested in a sample."""
    return bool((test.joins["n_tested"] < test.joins["first_size"] + test.joins["second_size"]).any())


def divisions_table(findings: Findings) -> list[Table]:
    """Return the table Divisions tested, if any was, with the evidence for each if it is reported."""
    numbers: dict[str, Held | None] = {
        "p": lambda each: _p(each.p, each),
        "p_in_words": lambda each: p_in_words(each.p, each.n_draws),
        "p_any_shape": lambda each: _p(each.p_any_shape, each),
        **{name: attrgetter(name) for name in ("gain", "expected", "expected_sd", "excess")},
    }
    table = tabulate(
        "divisions",
        findings.divisions,
        {"of_the_sample": findings.of_the_sample},
        result=attrgetter("result_in_words"),
        first=lambda each: each.branches[0],
        second=lambda each: each.branches[1],
        first_size=lambda each: each.sizes[0],
        second_size=lambda each: each.sizes[1],
        **(numbers if findings.evidence else dict.fromkeys(numbers)),
    )
    return [table] if findings.divisions else []


def _p(p: float, division: Division) -> Value:
    """Return p, as a text if it is smaller than its draws can tell."""
    if isnan(p):
        return None
    return p if p >= 1.0 / division.n_draws else print_figure(p_text(p, division.n_draws))


def p_in_words(p: float, n_draws: int) -> str:
    """Return how often a cohort from one population seems as divided, of the largest number of cohorts drawn."""
    texts = WORDS["trust"]["often"]
    if p < 1.0 / n_draws:
        return str(texts["fewer"].format(n=1, of=n_draws))
    of = 1000 if p < 0.01 else 100
    return str(texts["some"].format(n=round(of * p), of=of))


# Whether the subtypes come out again, in halves of the cohort and by other methods.

_STABILITY = WORDS["stability"]


def stability_of(findings: Findings) -> Held | None:
    """Return how stable a subtype is, by its number; None if stability was not assessed."""
    if findings.stability is None:
        return None
    of_each = findings.stability.subtypes.to_dict("records")

    def band(subtype: int) -> str:
        row = of_each[subtype - 1]
        jaccard = "" if row["band"] == TOO_FEW.name else print_figure(f" ({row['jaccard']:.2f})")
        return f"{translate(row['band'])}{jaccard}"

    return band


def on_stability(findings: Findings) -> list[str]:
    """Return how the column of the first page is read; empty without one."""
    fit, stability = findings.fit, findings.stability
    if stability is None:
        return []
    bands = capitalised("; ".join(f"{band['name']}: {band['words']}" for band in _STABILITY["summary"]["bands"][:-1]))
    is_chosen = fit is not None and (
        fit.tree_test_ is not None or parameters_of(findings.cohort.model).get("coarsening") == "auto"
    )
    choices = _STABILITY["choices"] * (is_chosen and not stability.is_of_whole_procedure)
    return [_STABILITY["column"].format(n=stability.n_halves, bands=bands, choices=choices)]


def other_methods_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if no methods were compared."""
    if findings.other_methods is None:
        return []
    texts, table = WORDS["other_methods"], tabulate("other_methods", findings.other_methods.table)
    return [Sheet("Other methods", [texts["note"]], [table], explanations=texts["explanations"])]


# How many groups there could be, and how sure each subtype is, over drawn partitions.

_NAMED = 0.1  # posterior probability, from which on a number of groups is named on the first page


def on_posterior(findings: Findings) -> list[str]:
    """Return the sentence of the first page on how many groups there could be; empty if nothing was drawn."""
    posterior, texts = findings.posterior, WORDS["posterior"]["how_many"]
    if posterior is None:
        return []
    numbers = sorted(posterior.n_clusters_posterior_.items(), key=lambda pair: -pair[1])
    shown = [pair for pair in numbers if pair[1] >= _NAMED] or numbers[:1]
    named = [texts["have"].format(share=_share(share), groups=counted(n, "group")) for n, share in shown]
    rest = 1.0 - sum(share for _, share in shown)
    named += [texts["another"].format(share=_share(rest))] if rest > 1e-9 else []
    fit = findings.fit
    n_found = len(findings.sizes) if fit is None else int(fit.subtype_of_.size)
    number = texts["reported" if fit is None else "found"].format(groups=counted(n_found, "group"))
    rough = "" if posterior.converged_ else texts["rough"]
    return [texts["sentence"].format(named=", ".join(named), number=number, rough=rough)]


def posterior_of(findings: Findings) -> Held | None:
    """Return the mean posterior membership of a subtype; None if the membership probabilities are posterior ones."""
    posterior, labels = findings.posterior, findings.cohort.labels
    if posterior is None or posterior is findings.cohort.model or len(findings.sizes) < 2:
        return None
    membership = posterior.membership_in(labels)[np.arange(labels.size), labels]
    return lambda subtype: membership[labels == subtype - 1].mean()


def _share(share: float) -> str:
    # Neither 0% nor 100% is said unless it is.
    texts = WORDS["posterior"]["how_many"]
    return str(texts["hardly" if share < 0.01 else "nearly" if 0.99 < share < 1.0 else "share"].format(share=share))
