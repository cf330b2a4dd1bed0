"""Whether the subtypes are more than a continuum, come out again, and how sure they are."""

from __future__ import annotations

from math import isnan
from operator import attrgetter
from typing import Any

import numpy as np

from clinclust.engine.continuum.tested_node import FIRST_SAMPLE, LARGEST_NODE, SMALLEST_NODE
from clinclust.estimators.distinct_subtypes import p_text
from clinclust.estimators.fit import DISTINCT_LEVEL, TreeTest
from clinclust.estimators.gibbs import GibbsDP
from clinclust.estimators.subtype_model import CLEAR, parameters_of
from clinclust.reporting.divisions import Division, n_parted
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WORDS, Held, Sheet, Table, Value, capitalised, counted, tabulate
from clinclust.reporting.sheets.subtypes import groups_found
from clinclust.stability import Stability
from clinclust.stability.assess import BANDS, DISSOLVED, RECOVERED, TOO_FEW

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
    return [" ".join(_TEXTS["verdict"][part] for part in parts).format(least=SMALLEST_NODE, **fields)]


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
    fields: dict[str, Any] = {
        "level": test.significance_level,
        "percent": 100 * test.significance_level,
        "n_draws": test.n_draws,
    }
    fields |= {"any_shape": _TEXTS["any_shape"], "any_shape_in_words": _TEXTS["any_shape_in_words"], "n": n_groups}
    fields |= {"distinct_level": DISTINCT_LEVEL, "sample": FIRST_SAMPLE, "most": LARGEST_NODE, "least": SMALLEST_NODE}
    paragraphs = [*([] if n_groups is None else [[texts["groups"]]]), divided, limits]
    return [" ".join(filter(None, sentences)).format(**fields) for sentences in paragraphs]


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
    return p if p >= 1.0 / division.n_draws else p_text(p, division.n_draws)


def p_in_words(p: float, n_draws: int) -> str:
    """Return how often a cohort from one population seems as divided, of the largest number of cohorts drawn."""
    texts = WORDS["trust"]["often"]
    if p < 1.0 / n_draws:
        return str(texts["fewer"].format(n=1, of=n_draws))
    of = 1000 if p < 0.01 else 100
    return str(texts["some"].format(n=round(of * p), of=of))


def evidence_in_words(division: Division) -> str:
    """Return a division with its evidence in one line."""
    return str(_TEXTS["evidence"].format(each=division))


# The sheets Stability and Other methods: whether the subtypes come out again.

_STABILITY = WORDS["stability"]


def stability_of(findings: Findings) -> Held | None:
    """Return how stable a subtype is, by its number; None if stability was not assessed."""
    if findings.stability is None:
        return None
    of_each = findings.stability.subtypes.to_dict("records")

    def band(subtype: int) -> str:
        row = of_each[subtype - 1]
        return str(row["band"]) if row["band"] == TOO_FEW.name else f"{row['band']} ({row['jaccard']:.2f})"

    return band


def on_stability(findings: Findings) -> list[str]:
    """Return how the column of the first page is read; empty if there is none."""
    if findings.stability is None:
        return []
    bands = capitalised("; ".join(f"{band.name}: {band.words}" for band in BANDS))
    n = findings.stability.n_halves
    return [_STABILITY["column"].format(n=n, bands=bands, choices=_on_choices(findings))]


def _on_choices(findings: Findings) -> str:
    fit, stability = findings.fit, findings.stability
    if fit is None or stability is None or stability.is_of_whole_procedure:
        return ""
    if fit.tree_test_ is None and parameters_of(findings.cohort.model).get("coarsening") != "auto":
        return ""  # nothing was chosen
    return str(_STABILITY["choices"])


def stability_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if stability was not assessed."""
    stability = findings.stability
    if stability is None:
        return []
    subtypes = tabulate(
        "stability",
        stability.subtypes,
        subtype=lambda row: findings.name(row["subtype"]),
        dissolved=lambda row: 100 * float(row["dissolved"]),
        found_again=lambda row: 100 * float(row["found_again"]),
    )
    numbers = tabulate("numbers_found", stability.numbers, share=lambda row: 100 * float(row["share"]))
    tables = [subtypes, numbers, tabulate("sensitivity", stability.sensitivity)]
    return [Sheet("Stability", _notes_on_stability(findings, stability), tables)]


def _notes_on_stability(findings: Findings, stability: Stability) -> list[str]:
    fit, texts = findings.fit, _STABILITY
    parts = ["searches"]
    if stability.is_of_whole_procedure:
        parts.append("whole_procedure")
    elif fit is not None and fit.subtypes_.is_merged:
        parts.append("merged")
    fields = {"n": stability.n_halves, "dissolved": DISSOLVED, "recovered": RECOVERED, "choices": _on_choices(findings)}
    return [texts[part].format(**fields) for part in (*parts, "settings")]


def other_methods_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if no methods were compared."""
    if findings.other_methods is None:
        return []
    texts, table = WORDS["other_methods"], tabulate("other_methods", findings.other_methods.table)
    return [Sheet("Other methods", [texts["note"]], [table], explanations=texts["explanations"])]


# The sheet Posterior: how many groups there could be, and how sure each subtype is, over drawn partitions.

_NAMED = 0.1  # posterior probability, from which on a number of groups is named on the first page
_BALL = 0.95
_POSTERIOR = WORDS["posterior"]


def on_posterior(findings: Findings) -> list[str]:
    """Return the sentence of the first page on how many groups there could be; empty if nothing was drawn."""
    posterior, texts = findings.posterior, WORDS["posterior"]["how_many"]
    if posterior is None:
        return []
    numbers = sorted(_numbers_of_groups(posterior), key=lambda each: -each[1])
    shown = [each for each in numbers if each[1] >= _NAMED] or numbers[:1]
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
    own = _membership(findings, posterior)
    return lambda subtype: own[labels == subtype - 1].mean()


def posterior_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if nothing was drawn."""
    posterior = findings.posterior
    if posterior is None:
        return []
    numbers = _numbers_of_groups(posterior)
    tables = [tabulate("groups", numbers, groups=lambda each: each[0], share=lambda each: 100 * each[1])]
    if len(findings.sizes) > 1:
        own = _membership(findings, posterior)
        members = {subtype: own[findings.cohort.labels == subtype - 1] for subtype in findings.sizes}
        of_subtypes = tabulate(
            "posterior",
            findings.sizes,
            subtype=findings.name,
            size=findings.sizes.get,
            membership=lambda subtype: members[subtype].mean(),
            clear=lambda subtype: 100 * (members[subtype] >= CLEAR).mean(),
            below=lambda subtype: 100 * (members[subtype] < 0.5).mean(),
        )
        tables.append(of_subtypes)
    chains = tabulate(
        "chains",
        posterior.convergence_,
        quantity=lambda row: WORDS["quantities"][str(row["quantity"])],
        converged=lambda row: WORDS["words"]["yes" if row["converged"] else "no"],
    )
    return [Sheet("Posterior", _notes_on_posterior(findings, posterior), [*tables, chains])]


def _notes_on_posterior(findings: Findings, posterior: GibbsDP) -> list[str]:
    ball, fit = posterior.credible_ball(_BALL), findings.fit
    fewest, most = int(ball.fewest.max()) + 1, int(ball.most.max()) + 1
    fields: dict[str, Any] = {"n_draws": len(posterior.draws_), "n_chains": posterior.n_chains}
    fields |= {"n_sweeps": posterior.n_sweeps_}
    fields |= {"percent": 100 * _BALL, "radius": ball.radius}
    fields |= {"groups": counted(posterior.n_clusters_, "group"), "fewest": fewest, "most": counted(most, "group")}
    notes = ["draws", "ball", "convergence"]
    if fit is not None and fit.n_clusters_ < fit.subtype_of_.size:
        notes.append("unions")
    if fit is not None and fit.outlying_share_ > 0.0:
        notes.append("outlying")
    if fit is not None and not fit.clusters_.included.all():
        notes.append("the_same")
    if not posterior.converged_:
        notes.append("rough")
    return [_POSTERIOR[name].format(**fields) for name in notes]


def _membership(findings: Findings, posterior: GibbsDP) -> np.ndarray:
    """Return each subject's posterior membership of the own subtype, float64 (N,)."""
    labels = findings.cohort.labels
    return np.asarray(posterior.membership_in(labels)[np.arange(labels.size), labels])


def _numbers_of_groups(posterior: GibbsDP) -> list[tuple[int, float]]:
    numbers = posterior.n_clusters_posterior_
    return list(zip(numbers.index.astype(int).tolist(), numbers.tolist(), strict=True))


def _share(share: float) -> str:
    # Neither 0% nor 100% is said unless it is.
    texts = WORDS["posterior"]["how_many"]
    return str(texts["hardly" if share < 0.01 else "nearly" if 0.99 < share < 1.0 else "share"].format(share=share))


# What effect sizes are called.


def measure_in_words(measure: str) -> str:
    """Return what an effect size is called; one that is not listed, by its name in the comparisons."""
    return str(WORDS["measures"].get(measure, (measure.replace("_", " "),))[0])
