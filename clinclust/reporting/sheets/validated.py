"""How many features differ between subtypes found without them, by grade; all else on the first page is descriptive."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from clinclust.associations.associate import finds_one_population, grade_of
from clinclust.comparisons.frame import is_suppressed
from clinclust.reporting.findings import Findings
from clinclust.reporting.words import counted, listed, was


@dataclass(frozen=True)
class Grades:
    """Numbers of features by the grade of their test, or whose test is withheld."""

    beyond: int
    """They differ beyond dependence."""
    differs: int
    """They differ, perhaps through their relation to other features or what is missing only."""
    not_shown: int
    not_tested: int
    withheld: int

    @property
    def differing(self) -> int:
        """Number of features that differ, of either grade."""
        return self.beyond + self.differs

    @property
    def shown(self) -> int:
        """Number of features with a test that is shown."""
        return self.differing + self.not_shown

    @property
    def total(self) -> int:
        """Number of features."""
        return self.differing + self.not_shown + self.not_tested + self.withheld


def grades_of(findings: Findings, *, found_from: bool) -> Grades | None:
    """Return the grades of the features that the subtypes were found from, or of the others; None without tests."""
    if findings.associations is None:
        return None
    wanted = {feature.name for feature in findings.features if findings.clustered_on(feature) == found_from}
    rows = [row for row in findings.association_rows() if row["feature"] in wanted]
    of = Counter("withheld" if is_suppressed(row) else grade_of(row, findings.significance_level) for row in rows)
    named = ("differs beyond dependence", "differs", "not shown", "not tested", "withheld")
    return Grades(*(of[name] for name in named))


def sentences(findings: Findings) -> list[str]:
    """Return at most two sentences on what differs; none if there is one group only, in which nothing can differ."""
    if len(findings.sizes) < 2:
        return []
    found_from = grades_of(findings, found_from=True)
    others = grades_of(findings, found_from=False)
    if found_from is None or others is None:
        return [_untested(findings)]
    level = f" (q at most {findings.significance_level:g})"
    said = []
    if finds_one_population(findings.cohort.model):
        said.append("The subtypes are slices of one continuum: whatever varies along it differs between them.")
    elif findings.fit is not None and found_from.total:
        of_these = f"Of {counted(found_from.total, 'feature')} that the subtypes were found from, "
        how = f" between subtypes found without {_them(found_from.differing)}{level}" if found_from.differing else level
        said.append(f"{of_these}{_outcome(found_from, how)}.")
    if others.total > others.not_tested:
        of_others = f"Of {counted(others.total, 'feature')} that had no part in the subtypes, "
        said.append(f"{of_others}{_outcome(others, '' if said else level)}.")
    return said


def count_in_words(findings: Findings) -> str:
    """Return how many features differ, in one sentence for the first page."""
    counted_of = [grades_of(findings, found_from=found_from) for found_from in (True, False)]
    tested = [found for found in counted_of if found is not None and found.shown]
    if not tested:
        return "Not tested: counts are rounded." if findings.is_rounded else "Not tested (associations)."
    whose = {True: "that formed them", False: "that had no part"}
    parts = [f"{found.differing:,} of {found.shown:,} {whose[found is counted_of[0]]}" for found in tested]
    return f"{'; '.join(parts)}."


def _outcome(found: Grades, how: str) -> str:
    n = found.differing
    differ = f"{n:,} {'differs' if n == 1 else 'differ'}{how}" if n else f"none was shown to differ{how}"
    if n and found.beyond:
        more = "" if found.beyond == n else f"{found.beyond:,} of these "
        differ += f", {more}by more than {'its' if n == 1 else 'their'} relation to other features explains"
    rest = {
        f"{found.not_shown:,} {was(found.not_shown)} not shown to": found.not_shown if n else 0,
        f"{found.not_tested:,} {was(found.not_tested)} not tested": found.not_tested,
        f"of {found.withheld:,} the result is withheld": found.withheld,
    }
    parts = [text for text, number in rest.items() if number]
    return f"{differ}; {listed(parts)}" if parts else differ


def _untested(findings: Findings) -> str:
    if findings.is_rounded:
        return "Nothing is tested in this report: every p is a function of exact counts, and these are rounded."
    repair = "" if findings.fit is None else " (a report with the associations `refit` tests them)"
    return f"No feature was tested against subtypes found without it{repair}: what marks them is a description."


def _them(number: int) -> str:
    return "it" if number == 1 else "them"
