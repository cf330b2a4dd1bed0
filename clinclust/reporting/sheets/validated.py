"""What the first page says of how many features were validated; all else that it says of features is descriptive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clinclust.associations.doubts import finds_one_population
from clinclust.reporting.validation import Validation, validation_of

if TYPE_CHECKING:
    from clinclust.reporting.findings import Findings

__all__ = ["on_q", "on_validation"]

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
    """Return the sentences on the features that the subtypes were found from."""
    if not found.n_features:
        return ""
    one, none = found.validated == 1, "none of those shown was" if found.withheld else "none was"
    outcome = (
        f"{_number(found.validated, 'was', 'were')} validated: {'it differs' if one else 'they differ'} between "
        f"subtypes found without {_them(found.validated)} ({level})."
        if found.validated
        else f"{none} validated, that is, shown to differ between subtypes found without it ({level})."
    )
    said = f"Of {_number(found.n_features, 'feature', 'features')} that the subtypes were found from, {outcome}"
    rest = _rest(found)
    if found.unchecked:
        said += (
            f" Of {found.unchecked} of these it could not be told whether they depend on other features inside the "
            "subtypes."
        )
    return f"{said} {rest[0].upper()}{rest[1:]}." if rest else said


def _rest(found: Validation) -> str:
    """Return how many features were not validated for which reason."""
    parts = [
        (found.unconfirmed, f"{_number(found.unconfirmed, 'was', 'were')} not shown to differ"),
        (
            found.doubtful,
            f"{_number(found.doubtful, 'is', 'are')} doubtful (Associations says why)",
        ),
        (
            found.elsewhere,
            f"of {found.elsewhere} nothing is known, because without {_them(found.elsewhere)} other subtypes are found",
        ),
        (
            found.resting,
            f"{found.resting} could not be tested, because without {_them(found.resting)} no subtypes are left",
        ),
        (found.untested, f"{found.untested} could not be tested for another reason (Associations)"),
        (found.withheld, f"of {found.withheld} the result is withheld"),
    ]
    said = [text for number, text in parts if number]
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])}, and {said[-1]}" if said else ""


def _on_others(found: Validation, level: str) -> str:
    """Return the sentence on the features that had no part in the subtypes, of which a test needs no search."""
    n_shown = found.tested
    if not n_shown:
        return ""
    withheld = f"; of {found.withheld} more the result is withheld" if found.withheld else ""
    differ = _number(found.validated, "differs", "differ") if found.validated else "none was shown to differ"
    return (
        f"Of {_number(n_shown, 'tested feature', 'tested features')} that had no part in the subtypes, {differ} "
        f"between them ({level}){withheld}."
    )


def _number(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _them(number: int) -> str:
    return "it" if number == 1 else "them"
