"""What the Methods section says of the search: its concentration, where it began, and where it ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from clinclust.estimators.fit import STOPPED_EARLY
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WITHHELD
from clinclust.reporting.sheets.references import References
from clinclust.reporting.sheets.unions import groups_found
from clinclust.reporting.sheets.words import counted, listed

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit

__all__ = ["concentration_in_words", "search_in_words", "sizes_in_words"]

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
    """Return the sentences on the search; where counts are rounded, without how many searches ended where."""
    init = asked["init"]
    is_filled = fit.completed_log_joint_ is not None
    begun = "single" if is_filled and isinstance(init, str) else init
    where = _BEGUN[begun] if isinstance(begun, str) else "from a partition given in advance"
    highest = "the highest log joint with filled values" if is_filled else "the highest log joint"
    stopped = [f"The search was {STOPPED_EARLY}."] if fit.stopped_early_ else []
    subjects = "all subjects" if len(findings.sizes) == 1 else f"{sizes_in_words(findings)} subjects"
    subtypes = f"{counted(len(findings.sizes), 'subtype')} of {subjects}"
    if findings.is_rounded:
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
    joint = "" if findings.is_shared else f" (log joint{of_observed} {fit.log_joint_:.2f} nats)".replace("-", "−")
    n_groups = groups_found(fit)
    ended = f"{best} of {counted(len(restarts), 'search', 'es')} ended at the best, with"
    if n_groups is None:
        sentences.append(f"{ended} {subtypes}{joint}.")
    else:
        sentences.append(f"{ended} {n_groups} groups{joint}, which make up {subtypes}.")
    return sentences


def sizes_in_words(findings: Findings) -> str:
    """Return the sizes of the subtypes that are shown, in a list."""
    shown = [findings.shown_sizes[subtype] for subtype in findings.sizes]
    return listed([WITHHELD if size is None else f"{size:,}" for size in shown])
