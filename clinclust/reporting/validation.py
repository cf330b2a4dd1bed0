"""How many features were validated: tested against subtypes found without them, and found to differ between these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from clinclust.associations.as_reported import OTHER_BELOW
from clinclust.comparisons.frame import is_missing, is_suppressed

if TYPE_CHECKING:
    from clinclust.reporting.findings import Findings, Row

__all__ = ["Validation", "validation_of"]

_UNTESTED = "not tested"
"""How the remark of a feature begins that was not tested."""

_Outcome: TypeAlias = Literal["validated", "unconfirmed", "doubtful", "elsewhere", "resting", "untested", "withheld"]


@dataclass(frozen=True)
class Validation:
    """Numbers of features by the outcome of their validated association.

    Attributes
    ----------
    n_features : int
        All of them.
    validated : int
        Tested, q at most the significance level, and not doubtful.
    unconfirmed : int
        Tested, q above this level, and not doubtful.
    doubtful : int
        Tested, but marked as doubtful.
    elsewhere : int
        Tested, but against other subtypes than those reported: the agreement is below `OTHER_BELOW`.
    resting : int
        Not tested, because without them no two subtypes are left.
    untested : int
        Not tested for another reason.
    withheld : int
        Withheld in a shared report.
    unchecked : int
        Of those validated: whether they depend on other features inside the subtypes could not be told.
    """

    n_features: int
    validated: int = 0
    unconfirmed: int = 0
    doubtful: int = 0
    elsewhere: int = 0
    resting: int = 0
    untested: int = 0
    withheld: int = 0
    unchecked: int = 0

    @property
    def tested(self) -> int:
        """Number of features with a test that is shown."""
        return self.validated + self.unconfirmed + self.doubtful + self.elsewhere


def validation_of(findings: Findings, *, found_from: bool) -> Validation | None:
    """Return the outcomes for the features that the subtypes were found from, or for the others; None without tests.

    In a shared report they are counted from the associations that it shows, so that they tell nothing of the others.
    """
    if findings.associations is None:
        return None
    wanted = {feature.name for feature in findings.features if findings.clustered_on(feature) == found_from}
    rows = [row for row in findings.association_rows() if row["feature"] in wanted]
    level = findings.significance_level
    outcomes: Counter[str] = Counter(_outcome(row, level) for row in rows)
    return Validation(len(rows), **outcomes, unchecked=_n_unchecked(rows, level))


def _outcome(row: Row, significance_level: float) -> _Outcome:
    if is_missing(row["p"]):
        return "withheld" if is_suppressed(row) else "resting" if _rest_on(row) else "untested"
    if not is_missing(row["doubtful"]) and row["doubtful"]:
        return "doubtful"
    if not is_missing(row["agreement"]) and row["agreement"] < OTHER_BELOW:
        return "elsewhere"
    return "validated" if row["q"] <= significance_level else "unconfirmed"


def _rest_on(row: Row) -> bool:
    """Return whether a feature was not tested because fewer than two subtypes, or no feature, are left without it."""
    says_so = not is_missing(row["remark"]) and str(row["remark"]).startswith(_UNTESTED)
    return says_so and (is_missing(row["n_subtypes"]) or row["n_subtypes"] < 2)


def _n_unchecked(rows: Iterable[Row], significance_level: float) -> int:
    return sum(_outcome(row, significance_level) == "validated" and is_missing(row["doubtful"]) for row in rows)
