"""Whether the subtypes are more than a continuum, come out again, and how sure they are; charts of both."""

from __future__ import annotations

import math
from math import floor, isnan
from typing import Any

import numpy as np

from clinclust.data import data
from clinclust.engine.continuum.tested_node import FIRST_SAMPLE, LARGEST_NODE, SMALLEST_NODE
from clinclust.estimators.distinct_subtypes import p_text
from clinclust.estimators.gibbs import GibbsDP
from clinclust.estimators.mixture import FEW_SUBJECTS
from clinclust.estimators.subtype_model import CLEAR
from clinclust.estimators.subtype_tree import DISTINCT_LEVEL, TreeTest
from clinclust.likelihoods import traits_of
from clinclust.reporting.divisions import Division, n_parted
from clinclust.reporting.findings import Findings, Row, number_of
from clinclust.reporting.layout import (
    WITHHELD,
    Chart,
    Column,
    Filled,
    Sheet,
    Table,
    Value,
    as_value,
    counted,
    tabulated,
)
from clinclust.reporting.sheets.subtypes import groups_found, not_tested
from clinclust.stability import Stability
from clinclust.stability.assess import BANDS, DISSOLVED, RECOVERED, TOO_FEW

# What a report says where the tree was tested: whether the subtypes are more than one continuum, and how sure.

_NEARLY_IN_FULL = 0.8  # weight of a block, from which on it hides nothing worth a sentence
_OF_MANY = "{}\N{NO-BREAK SPACE}in\N{NO-BREAK SPACE}{}"
_TEXTS = data("report")["trust"]


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
    if not findings.divisions:
        return []
    subjects = (f"Subjects{findings.of_the_sample}", "")
    population = ("In one population (nats)", "")
    columns: list[Filled] = [
        (Column("One side", widest=18), lambda each: each.branches[0]),
        (Column("Other side", widest=18), lambda each: each.branches[1]),
        (Column("Division", "0"), lambda each: each.number),
        (Column("Result"), lambda each: each.result),
        (Column("One side", "0", subjects), lambda each: each.sizes[0]),
        (Column("Other side", "0", subjects), lambda each: each.sizes[1]),
    ]
    numbers: list[Filled] = [
        (Column("p", "p"), lambda each: _p(each.p, each)),
        (Column("p in words", widest=12), lambda each: p_in_words(each.p, each.n_draws)),
        (Column("p, any shape", "p"), lambda each: _p(each.p_any_shape, each)),
        (Column("Evidence (nats)", "0.0"), lambda each: each.gain),
        (Column("Mean", "0.0", population), lambda each: each.expected),
        (Column("SD", "0.0", population), lambda each: each.expected_sd),
        (Column("Excess (nats)", "0.0"), lambda each: each.excess),
    ]
    columns += numbers if findings.evidence else []
    return [tabulated("Divisions tested", findings.divisions, columns, stub=2)]


def _p(p: float, division: Division) -> Value:
    """Return p, as a text if it is smaller than its draws can tell."""
    if isnan(p):
        return None
    return p if p >= 1.0 / division.n_draws else p_text(p, division.n_draws)


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


# The sheets Stability and Other methods: whether the subtypes come out again.

_SAMPLES = {"half-sample": "half of the subjects", "bootstrap": "bootstrap sample", "permuted": "columns permuted"}


def stability_column(findings: Findings) -> list[Filled]:
    """Return the column of the first page; none if stability was not assessed."""
    if findings.stability is None:
        return []
    of_each = findings.stability.subtypes.to_dict("records")

    def band(subtype: int) -> str:
        row = of_each[subtype - 1]
        return str(row["band"]) if row["band"] == TOO_FEW.name else f"{row['band']} ({row['jaccard']:.2f})"

    return [(Column("Comes out again", widest=20), band)]


def on_stability(findings: Findings) -> list[str]:
    """Return how the column of the first page is read; empty if there is none."""
    if findings.stability is None:
        return []
    bands = "; ".join(f"{band.name}: {band.words}" for band in BANDS)
    bands, n = f"{bands[0].upper()}{bands[1:]}", findings.stability.n_bootstraps
    return [data("report")["stability"]["column"].format(n=n, bands=bands, choices=_on_choices(findings))]


def _on_choices(findings: Findings) -> str:
    fit, stability = findings.fit, findings.stability
    if fit is None or stability is None or stability.is_of_whole_procedure:
        return ""
    if fit.tree_test_ is None and fit.resolution_path_ is None:  # nothing was chosen
        return ""
    return str(data("report")["stability"]["choices"])


def stability_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if stability was not assessed."""
    stability = findings.stability
    if stability is None:
        return []
    halves, share = ("Half-samples", ""), ("Share of half-samples (%)", "")
    of_subtypes: list[Filled] = [
        (Column("Subtype"), lambda row: findings.name(row["subtype"])),
        (Column("Subjects", "0"), "size"),
        (Column("Stability"), "band"),
        (Column("Jaccard", "0.00", halves), "jaccard"),
        (Column("Jaccard by chance", "0.00", halves), "jaccard_by_chance"),
        (Column("Dissolved", "0", share), lambda row: 100 * float(row["dissolved"])),
        (Column("Found again", "0", share), lambda row: 100 * float(row["found_again"])),
        (Column("Jaccard in bootstraps", "0.00"), "bootstrap_jaccard"),
    ]
    of_numbers: list[Filled] = [
        (Column("Sample"), lambda row: _SAMPLES[str(row["sample"])]),
        (Column("Clusters found", "0"), "n_found"),
        (Column("Share of the samples (%)", "0"), lambda row: 100 * float(row["share"])),
    ]
    of_settings: list[Filled] = [
        (Column("Changed"), "change"),
        (Column("Subtypes", "0"), "n_subtypes"),
        (Column("Agreement", "0.00"), "agreement"),
    ]
    tables = [
        tabulated("Do the subtypes come out again?", stability.subtypes, of_subtypes),
        tabulated("How many clusters were found", stability.numbers, of_numbers),
        tabulated("The whole cohort under other settings", stability.sensitivity, of_settings),
    ]
    return [Sheet("Stability", _notes_on_stability(findings, stability), tables)]


def _notes_on_stability(findings: Findings, stability: Stability) -> list[str]:
    fit, texts = findings.fit, data("report")["stability"]
    parts = ["searches"]
    if stability.is_of_whole_procedure:
        parts.append("whole_procedure")
    elif fit is not None and fit.subtypes_.is_merged:
        parts.append("merged")
    permuted = texts["none" if math.isnan(stability.permuted_jaccard) else "some"]
    fields: dict[str, Any] = {"n": stability.n_bootstraps, "dissolved": DISSOLVED, "recovered": RECOVERED}
    fields |= {"least": FEW_SUBJECTS}
    fields |= {"jaccard": stability.permuted_jaccard, "agreement": stability.restart_agreement}
    fields |= {"choices": _on_choices(findings), "permuted": permuted.format(**fields)}
    return [texts[part].format(**fields) for part in (*parts, "permuted")]


_EXPLANATIONS = tuple(data("report")["other_methods"]["explanations"])


def other_methods_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if no methods were compared."""
    if findings.other_methods is None:
        return []
    columns: list[Filled] = [
        (Column("Method"), "method"),
        (Column("Clusters", "0"), "n_clusters"),
        (Column("Distinct", "0"), "n_distinct"),
        (Column("Agreement", "0.00"), "agreement"),
        (Column("Prediction", "0.000"), "held_out_gain"),
        (Column("SE", "0.000"), "held_out_gain_se"),
        (Column("Half-samples", "0.00"), "stability"),
        (Column("What was done, or why it was left out", widest=60), "said"),
    ]
    table = tabulated("What each method finds", findings.other_methods.table, columns)
    notes = ["Other methods of clustering in the same cohort, each as it is usually asked."]
    return [Sheet("Other methods", notes, [table], explanations=_EXPLANATIONS)]


# The sheet Posterior: how many groups there could be, and how sure each subtype is, over drawn partitions.

_NAMED = 0.1  # posterior probability, from which on a number of groups is named on the first page
_BALL = 0.95
_POSTERIOR = data("report")["posterior"]
_QUANTITIES: dict[str, str] = data("report")["quantities"]


def on_posterior(findings: Findings) -> list[str]:
    """Return the sentence of the first page on how many groups there could be; empty if nothing was drawn."""
    posterior = findings.posterior
    if posterior is None:
        return []
    numbers = sorted(_numbers_of_groups(posterior), key=lambda each: -each[1])
    shown = [each for each in numbers if each[1] >= _NAMED] or numbers[:1]
    named = [f"{_share(share)} have {counted(n, 'group')}" for n, share in shown]
    rest = 1.0 - sum(share for _, share in shown)
    named += [f"{_share(rest)} another number"] if rest > 1e-9 else []
    fit = findings.fit
    n_found = len(findings.sizes) if fit is None else int(fit.subtype_of_.size)
    number = f"{'the reported one has' if fit is None else 'the search found'} {counted(n_found, 'group')}"
    rough = "" if posterior.converged_ else " The chains had not come to agree, so that these shares are rough."
    drawn = f"of partitions drawn by their probability (Posterior), {', '.join(named)}"
    return [f"How many there could be: {drawn}; {number}.{rough}"]


def posterior_column(findings: Findings) -> list[Filled]:
    """Return the column of the first page; none if the membership probabilities are posterior ones themselves."""
    posterior, labels = findings.posterior, findings.cohort.labels
    if posterior is None or posterior is findings.cohort.model or len(findings.sizes) < 2:
        return []
    own = _membership(findings, posterior)
    return [(Column("Posterior membership", "0.00"), lambda subtype: own[labels == subtype - 1].mean())]


def posterior_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if nothing was drawn."""
    posterior = findings.posterior
    if posterior is None:
        return []
    of_numbers: list[Filled] = [
        (Column("Groups", "0"), lambda each: each[0]),
        (Column("Share of the partitions (%)", "0.0"), lambda each: 100 * each[1]),
    ]
    of_chains: list[Filled] = [
        (Column("Quantity"), lambda row: _QUANTITIES[str(row["quantity"])]),
        (Column("R-hat", "0.000"), "r_hat"),
        (Column("Effective draws", "0"), "effective_size"),
        (Column("Agreed"), lambda row: "yes" if row["converged"] else "no"),
    ]
    tables = [
        tabulated("How many groups there could be", _numbers_of_groups(posterior), of_numbers),
        *_sure_subtypes(findings, posterior),
        tabulated("Whether the chains agree", posterior.convergence_, of_chains),
    ]
    return [Sheet("Posterior", _notes_on_posterior(findings, posterior), tables)]


def _sure_subtypes(findings: Findings, posterior: GibbsDP) -> list[Table]:
    if len(findings.sizes) < 2:
        return []
    own = _membership(findings, posterior)
    members = {subtype: own[findings.cohort.labels == subtype - 1] for subtype in findings.sizes}
    columns: list[Filled] = [
        (Column("Subtype"), findings.name),
        (Column("Subjects", "0"), findings.sizes.get),
        (Column("Mean posterior membership", "0.00"), lambda subtype: members[subtype].mean()),
        (Column("Clear members (%)", "0"), lambda subtype: 100 * (members[subtype] >= CLEAR).mean()),
        (Column("Below 0.5 (%)", "0"), lambda subtype: 100 * (members[subtype] < 0.5).mean()),
    ]
    return [tabulated("How sure the subtypes of the subjects are", findings.sizes, columns)]


def _notes_on_posterior(findings: Findings, posterior: GibbsDP) -> list[str]:
    ball, fit = posterior.credible_ball(_BALL), findings.fit
    fewest, most = int(ball.fewest.max()) + 1, int(ball.most.max()) + 1
    fields: dict[str, Any] = {"n_draws": len(posterior.draws_), "n_chains": posterior.n_chains}
    fields |= {"n_sweeps": posterior.n_sweeps_}
    fields |= {"percent": 100 * _BALL, "radius": ball.radius, "unit": _POSTERIOR["units"][posterior.loss]}
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
    if share < 0.01:
        return "fewer than 1%"
    return "more than 99%" if 0.99 < share < 1.0 else f"{100 * share:.0f}%"


# The sheets Charts and Effect sizes: how far apart the subtypes lie.

_EFFECTS: dict[str, str] = data("report")["effect_sizes"]
_LONGEST_NAME = 60
_LEFT_END = -3.0


def _draw_evidence(findings: Findings, number: int) -> tuple[Table, Chart]:
    """Return the table of the evidence for each division, and its chart; `number` is that of the table."""
    columns: list[Filled] = [
        (Column("Division"), lambda each: _called(f"{each.number}: {each.title}")),
        (Column("Excess (SDs)", "0.0"), lambda each: each.excess / each.expected_sd),
        (Column("One population", "0.0"), lambda each: 0.0),
        (Column("Two SDs", "0.0"), lambda each: 2.0),
    ]
    caption = "Divisions tested: excess of the evidence over one continuous population"
    table = tabulated(caption, findings.evidence, columns)
    evidence = "; ".join(map(evidence_in_words, findings.evidence))
    return table, Chart(
        number,
        "expected",
        "Divisions tested: more than a continuum?",
        "Point: evidence for the division; line: one continuous population (mean ± 2 SD), in SDs from its mean",
        f"The evidence for each division and that of one continuous population: {evidence}.",
        value=1,
        below=3,
        above=3,
        expected=2,
        least=float(floor(min(_LEFT_END, *(each.excess / each.expected_sd for each in findings.evidence)))),
    )


def _called(title: str) -> str:
    return title if len(title) <= _LONGEST_NAME else f"{title[: _LONGEST_NAME - 1].rstrip()}…"


_MOST_FEATURES = 15
_MEASURE = "standardised_difference"
_ENDS = ("estimate", "lower", "upper")


def charts(findings: Findings) -> Sheet:
    """Return the sheet: tables of numbers with their charts. Rows with withheld numbers are left out."""
    shown = [subtype for subtype, size in findings.sizes.items() if size != WITHHELD]
    sizes = tabulated("Size of the subtypes", shown, findings.size_columns("Subjects"))
    tables = [sizes]
    said = f"Bars, one for each subtype: {'; '.join(f'{row[0]}, {row[1]} subjects' for row in sizes.rows)}."
    drawn = [Chart(0, "bars", sizes.caption, "Subjects", said, value=1)]
    if findings.evidence:
        table, chart = _draw_evidence(findings, len(tables))
        drawn.append(chart)
        tables.append(table)
    for subtype in findings.sizes:
        table = _intervals(findings, subtype)
        if table.rows:
            effects = "; ".join(f"{row[0]} {row[1]:.2f}" for row in table.rows)
            fields = {"n": len(table.rows), "name": findings.name(subtype), "effects": effects}
            said = _EFFECTS["forest"].format(**fields)
            axis = "Standardised difference (95% confidence interval)"
            drawn.append(Chart(len(tables), "forest", table.caption, axis, said, value=1, below=4, above=5))
            tables.append(table)
    notes = [_EFFECTS["charts"].format(formed=findings.formed), *not_tested(findings)]
    return Sheet("Charts", notes, tables, drawn)


def _intervals(findings: Findings, subtype: int) -> Table:
    """Return the largest effects of a subtype against all other subjects, by decreasing estimate."""
    effects = [row for feature in findings.by_relevance for row in findings.read.effects.get(feature.name, [])]
    effects = [row for row in effects if (row["subtype"], row["versus"], row["measure"]) == (subtype, 0, _MEASURE)]
    whole = [row for row in effects if all(isinstance(as_value(row[end]), float) for end in _ENDS)]
    shown = sorted(whole, key=lambda row: -abs(row["estimate"]))[:_MOST_FEATURES]
    columns: list[Filled] = [
        (Column("Feature"), _name),
        *((Column(end.capitalize(), "0.00"), end) for end in _ENDS),
        (Column("Length below", "0.00"), lambda row: row["estimate"] - row["lower"]),
        (Column("Length above", "0.00"), lambda row: row["upper"] - row["estimate"]),
    ]
    caption = f"{findings.name(subtype)} against all others"
    return tabulated(caption, sorted(shown, key=lambda row: -row["estimate"]), columns)


def _name(row: Row) -> str:
    is_nominal = traits_of(row["likelihood"]).is_nominal or row.get("part") == "spike"
    return _called(str(row["label"])) + (f": {row['level']}" if is_nominal else "")


# Names and meanings of the effect sizes. A measure that is not listed is shown by its name in the comparisons.
_MEASURES: dict[str, tuple[str, str]] = data("report")["measures"]


def measure_in_words(measure: str) -> str:
    """Return what an effect size is called."""
    return _MEASURES.get(measure, (measure.replace("_", " "),))[0]


def left_out(findings: Findings) -> list[str]:
    """Return the note that pairs of subtypes are left out, if they are."""
    return [_EFFECTS["left_out"].format(n=findings.n_pairwise)] if findings.has_many_pairs else []


def effect_sizes(findings: Findings) -> Sheet:
    """Return the sheet: one row for each feature or level, comparison and measure, by decreasing relevance."""
    columns: list[Filled] = [
        (Column("Section"), lambda row: findings.cohort.schema[row["feature"]].section),
        (Column("Feature"), lambda row: str(row["label"])),
        (Column("Level"), "level"),
        (Column("Clustered on"), lambda row: findings.clustered_on_text(findings.cohort.schema[row["feature"]])),
        (Column("Subtype"), lambda row: findings.name(row["subtype"])),
        (Column("Versus"), lambda row: findings.versus(row["versus"])),
        (Column("Measure"), lambda row: measure_in_words(row["measure"])),
        *((Column(end.capitalize(), "measure"), lambda row, end=end: number_of(row, end)) for end in _ENDS),
        (Column("n", "0"), lambda row: number_of(row, "n")),
    ]
    rows: list[Row] = []
    for feature in findings.by_relevance:
        # The comparisons with all other subjects come first: they characterise a subtype.
        effects = sorted(findings.read.effects.get(feature.name, []), key=lambda row: row["versus"] != 0)
        rows += [row for row in effects if not (row["versus"] and findings.has_many_pairs)]
    used = {row["measure"] for row in rows}
    notes = [
        _EFFECTS["how_to_read"].format(formed=findings.formed),
        *not_tested(findings),
        *left_out(findings),
        *(f"{name[0].upper()}{name[1:]}: {meaning}." for key, (name, meaning) in _MEASURES.items() if key in used),
    ]
    return Sheet("Effect sizes", notes, [tabulated("How far apart the subtypes lie", rows, columns, stub=3)])
