"""How many features were validated, and what the first page says of it; all else that it says is descriptive."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal, TypeAlias

from clinclust.associations.as_reported import OTHER_BELOW
from clinclust.associations.validity import finds_one_population
from clinclust.comparisons.frame import is_missing, is_suppressed
from clinclust.reporting.findings import Findings, Row
from clinclust.reporting.words import counted, was

_UNTESTED = "not tested"
"""How the remark of a feature begins that was not tested."""

_Outcome: TypeAlias = Literal["validated", "unconfirmed", "doubtful", "elsewhere", "resting", "untested", "withheld"]


@dataclass(frozen=True)
class Validation:
    """Numbers of features by the outcome of their validated association, `n_features` in all.

    `elsewhere`: tested against other subtypes than those reported (agreement below `OTHER_BELOW`). `resting`: without
    them no two subtypes are left. `unchecked`: validated, with unknown dependence inside the subtypes.
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
    """Return the outcomes for the features that the subtypes were found from, or for the others; None without tests."""
    if findings.associations is None:
        return None
    wanted = {feature.name for feature in findings.features if findings.clustered_on(feature) == found_from}
    rows = [row for row in findings.association_rows() if row["feature"] in wanted]
    level = findings.significance_level
    outcomes: Counter[str] = Counter(_outcome(row, level) for row in rows)
    n_unchecked = sum(_outcome(row, level) == "validated" and is_missing(row["doubtful"]) for row in rows)
    return Validation(len(rows), **outcomes, unchecked=n_unchecked)


def _outcome(row: Row, significance_level: float) -> _Outcome:
    if is_missing(row["p"]):
        says_so = not is_missing(row["remark"]) and str(row["remark"]).startswith(_UNTESTED)
        rests = says_so and (is_missing(row["n_subtypes"]) or row["n_subtypes"] < 2)
        return "withheld" if is_suppressed(row) else "resting" if rests else "untested"
    if not is_missing(row["doubtful"]) and row["doubtful"]:
        return "doubtful"
    if not is_missing(row["agreement"]) and row["agreement"] < OTHER_BELOW:
        return "elsewhere"
    return "validated" if row["q"] <= significance_level else "unconfirmed"


_ONLY_SLICES = (
    "Nothing is validated: the test found one continuum, and the subtypes shown are slices of it. A feature that "
    "varies along the continuum differs between its slices; no p in this report is inference about subtypes."
)


def on_validation(findings: Findings) -> list[str]:
    """Return the sentences on what was validated; empty if there is one group only, in which nothing can differ."""
    if len(findings.sizes) < 2:
        return []
    found_from = validation_of(findings, found_from=True)
    others = validation_of(findings, found_from=False)
    if found_from is None or others is None:
        return [_nothing_validated(findings)]
    if finds_one_population(findings.model):
        return [_ONLY_SLICES]
    level = f"q at most {findings.significance_level:g}"
    if findings.fit is None:
        of_these = "Given subtypes cannot be found again without a feature that they may have been made from."
    else:
        of_these = _on_these(found_from, level)
    return [" ".join(filter(None, [of_these, _on_others(others, level)]))]


def on_q(findings: Findings) -> str:
    """Return what q means, if `on_validation` says it."""
    said = len(findings.sizes) > 1 and findings.associations is not None
    return " q: the p of a test after a correction for the number of tests (Benjamini–Hochberg)." if said else ""


def _nothing_validated(findings: Findings) -> str:
    if findings.is_rounded:
        return (
            "Nothing is tested in this report: every p is a function of exact counts, and these are rounded. What "
            "marks the subtypes is a description."
        )
    made = "may have been made" if findings.fit is None else "were found"
    repair = "" if findings.fit is None else " (a report with the associations `refit` tests them)"
    return (
        f"Nothing was validated: no feature was tested against subtypes that it had no part in{repair}. Subtypes "
        f"differ by construction in the features that they {made} from: what marks them is a description and no test."
    )


def _on_these(found: Validation, level: str) -> str:
    if not found.n_features:
        return ""
    one, none = found.validated == 1, "none of those shown was" if found.withheld else "none was"
    outcome = (
        f"{found.validated:,} {was(found.validated)} validated: {'it differs' if one else 'they differ'} between "
        f"subtypes found without {_them(found.validated)} ({level})."
        if found.validated
        else f"{none} validated, that is, shown to differ between subtypes found without it ({level})."
    )
    said = f"Of {counted(found.n_features, 'feature')} that the subtypes were found from, {outcome}"
    rest = _rest(found)
    if found.unchecked:
        said += f" Of {found.unchecked} of these it is unknown whether they depend on others inside the subtypes."
    return f"{said} {rest[0].upper()}{rest[1:]}." if rest else said


def _rest(found: Validation) -> str:
    n, is_or_are = found, "is" if found.doubtful == 1 else "are"
    nothing = f"nothing is known, because without {_them(n.elsewhere)} other subtypes are found"
    parts = {
        f"{n.unconfirmed:,} {was(n.unconfirmed)} not shown to differ": n.unconfirmed,
        f"{n.doubtful:,} {is_or_are} doubtful (Associations says why)": n.doubtful,
        f"of {n.elsewhere} {nothing}": n.elsewhere,
        f"{n.resting} could not be tested, because without {_them(n.resting)} no subtypes are left": n.resting,
        f"{n.untested} could not be tested for another reason (Associations)": n.untested,
        f"of {n.withheld} the result is withheld": n.withheld,
    }
    said = [text for text, number in parts.items() if number]
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])}, and {said[-1]}" if said else ""


def _on_others(found: Validation, level: str) -> str:
    if not found.tested:
        return ""
    withheld = f"; of {found.withheld} more the result is withheld" if found.withheld else ""
    differs = f"{found.validated:,} {'differs' if found.validated == 1 else 'differ'}"
    differ = differs if found.validated else "none was shown to differ"
    features = counted(found.tested, "tested feature")
    return f"Of {features} that had no part in the subtypes, {differ} between them ({level}){withheld}."


def _them(number: int) -> str:
    return "it" if number == 1 else "them"
