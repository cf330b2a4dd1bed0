"""The sheet Posterior: how many groups there could be, and how sure each subtype is, over drawn partitions."""

from __future__ import annotations

import numpy as np

from clinclust.estimators.gibbs import GibbsDP
from clinclust.estimators.subtype_model import CLEAR
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import Column, Filled, Sheet, Table, Value, tabulated
from clinclust.reporting.words import counted

_NAMED = 0.1  # posterior probability, from which on a number of groups is named on the first page
_BALL = 0.95
_QUANTITIES = {
    "log_joint": "log joint",
    "concentration": "concentration",
    "n_clusters": "number of groups",
    "largest": "subjects in the largest group",
    "second": "subjects in the second largest",
    "entropy": "entropy of the sizes",
}


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
    found = f"{'the reported one has' if fit is None else 'the search found'} {counted(n_found, 'group')}"
    rough = "" if posterior.converged_ else " The chains had not come to agree, so that these shares are rough."
    drawn = f"of partitions drawn by their probability (Posterior), {', '.join(named)}"
    return [f"How many there could be: {drawn}; {found}.{rough}"]


def posterior_column(findings: Findings) -> list[Column]:
    """Return the column of the first page; none if the membership probabilities are posterior ones themselves."""
    return [] if _own(findings) is None else [Column("Posterior membership", "0.00")]


def posterior_cell(findings: Findings, subtype: int) -> list[Value]:
    """Return the cell of a subtype under `posterior_column`."""
    own = _own(findings)
    return [] if own is None else [float(own[findings.cohort.labels == subtype - 1].mean())]


def on_posterior_membership(findings: Findings) -> list[str]:
    """Return how the column of the first page is read; empty if there is none."""
    if _own(findings) is None:
        return []
    return [
        "Posterior membership: the share of the drawn partitions in which a subject of the subtype is in it, on "
        "average. It allows for what is not known of all other subjects, which the membership probability takes as "
        "found. A drawn group counts as the subtype with which it shares most subjects."
    ]


def posterior_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if nothing was drawn."""
    posterior = findings.posterior
    if posterior is None:
        return []
    tables = [_numbers(posterior), *_subtypes(findings, posterior), _convergence(posterior)]
    return [Sheet("Posterior", _notes(findings, posterior), tables)]


def _numbers(posterior: GibbsDP) -> Table:
    rows: list[list[Value]] = [[n, 100 * share] for n, share in _numbers_of_groups(posterior)]
    columns = [Column("Groups", "0"), Column("Share of the partitions (%)", "0.0")]
    return Table("How many groups there could be", columns, rows)


def _subtypes(findings: Findings, posterior: GibbsDP) -> list[Table]:
    if len(findings.sizes) < 2:
        return []
    labels, own = findings.cohort.labels, _membership(findings, posterior)
    columns = [Column("Subtype"), Column("Subjects", "0"), Column("Mean posterior membership", "0.00")]
    columns += [Column(title, "0") for title in ("Clear members (%)", "Below 0.5 (%)")]
    rows: list[list[Value]] = []
    for subtype, size in findings.sizes.items():
        members = own[labels == subtype - 1]
        shares = [100 * float((members >= CLEAR).mean()), 100 * float((members < 0.5).mean())]
        rows.append([findings.name(subtype), size, float(members.mean()), *shares])
    return [Table("How sure the subtypes of the subjects are", columns, rows)]


def _convergence(posterior: GibbsDP) -> Table:
    columns: list[Filled] = [
        (Column("Quantity"), lambda row: _QUANTITIES[str(row["quantity"])]),
        (Column("R-hat", "0.000"), "r_hat"),
        (Column("Effective draws", "0"), "effective_size"),
        (Column("Agreed"), lambda row: "yes" if row["converged"] else "no"),
    ]
    return tabulated("Whether the chains agree", posterior.convergence_, columns)


def _notes(findings: Findings, posterior: GibbsDP) -> list[str]:
    ball = posterior.credible_ball(_BALL)
    fewest, most = int(ball.fewest.max()) + 1, int(ball.most.max()) + 1
    unit = (
        "nats (variation of information)"
        if posterior.loss == "variation-of-information"
        else "of all pairs of subjects (Binder's loss)"
    )
    n_draws, n_chains = len(posterior.draws_), posterior.n_chains
    notes = [
        f"{n_draws:,} partitions were drawn from the posterior of the model by collapsed Gibbs sampling, in {n_chains} "
        f"chains of {posterior.n_sweeps_:,} sweeps, the first halves left out. The search finds the most probable "
        "partition; these are all that are probable, as often as they are.",
        f"{100 * _BALL:.0f}% of them lie within {ball.radius:.3g} {unit} of the one with the lowest expected loss, "
        f"which has {counted(posterior.n_clusters_, 'group')}; they have {fewest} to {counted(most, 'group')}.",
        "R-hat: how much the chains differ from each other (1 = not at all; agreed: at most 1.01). Effective draws: "
        "how many independent draws they are worth (agreed: at least 400).",
    ]
    fit = findings.fit
    if fit is not None and fit.n_clusters_ < fit.subtype_of_.size:
        notes.append("The reported subtypes are unions of the groups of the search, so that fewer are reported.")
    if fit is not None and fit.outlying_share_ > 0.0:
        notes.append("Values that the search set aside as outlying are missing here.")
    if fit is not None and not fit.clusters_.included.all():
        notes.append("Features that the search took for the same in all subjects count here like all others.")
    if not posterior.converged_:
        notes.append("The chains had not come to agree when they ended: shares and memberships are rough.")
    return notes


def _own(findings: Findings) -> np.ndarray | None:
    posterior = findings.posterior
    # Of a report of a sampler, the membership probabilities are posterior ones themselves.
    if posterior is None or posterior is findings.cohort.model or len(findings.sizes) < 2:
        return None
    return _membership(findings, posterior)


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
