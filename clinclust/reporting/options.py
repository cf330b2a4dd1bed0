"""What can be asked of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.associations.associate import Method
    from clinclust.estimators.gibbs import GibbsDP
    from clinclust.method_comparison import MethodComparison
    from clinclust.stability import Stability

__all__ = ["ReportOptions"]


@dataclass(frozen=True, eq=False)
class ReportOptions:
    """What a report shows, and how subtypes are compared in it.

    Attributes
    ----------
    comparisons : DataFrame, optional
        From `compare_subtypes`; made for the report otherwise.
    associations : {"refit", "cross-fit"}, DataFrame or None
        The method of `validated_associations`, or what it returned; None leaves them out.
    stability : int, Stability or None
        The number of half-samples and bootstraps of `assess_stability`, or what it returned; None leaves it out.
    whole_procedure : bool
        As in `assess_stability`.
    posterior : GibbsDP or bool
        Partitions drawn from the posterior of the same cohort, or whether to draw them.
    other_methods : MethodComparison or bool
        Other methods of clustering in the same cohort, or whether to run them.
    names : mapping of int to str
        Names of subtypes, by number.
    min_size : int
        The smallest subtype that is tested; the floor of the model applies where it is larger.
    significance_level : float
    suppress : int, optional
        Counts below this are withheld.
    round_to : int, optional
        With `suppress`, every count is rounded to a multiple of this instead.
    missing_is_harmless : bool
        With `suppress`, whether numbers of missing values are not sensitive by themselves.
    min_n : int, optional
        With `suppress`, the fewest values of which means and quartiles are shown.
    n_jobs : int, optional
        Threads of the searches behind the validated associations.
    progress : bool
        Whether stages that take longer than a second are told.
    """

    comparisons: pd.DataFrame | None = None
    associations: pd.DataFrame | Method | None = None
    stability: Stability | int | None = None
    names: Mapping[int, str] = field(default_factory=dict)
    min_size: int = 3
    significance_level: float = 0.01
    suppress: int | None = None
    round_to: int | None = None
    missing_is_harmless: bool = False
    min_n: int | None = None
    whole_procedure: bool = False
    posterior: GibbsDP | bool = False
    other_methods: MethodComparison | bool = False
    n_jobs: int | None = None
    progress: bool = True

    def problems(self, called: Callable[[str], str] = str) -> list[str]:
        """Return which of them cannot be used, whatever the model; `called` says how a reader knows a name."""
        size, level, suppress, stability = map(called, ("min_size", "significance_level", "suppress", "stability"))
        problems = []
        if not (isinstance(self.min_size, Integral) and self.min_size >= 1):
            problems.append(f"{size} must be at least 1 subject, not {self.min_size!r}")
        if not (isinstance(self.significance_level, Real) and 0 < self.significance_level < 1):
            problems.append(f"{level} must lie between 0 and 1, not {self.significance_level!r}")
        if self.suppress is not None and not (isinstance(self.suppress, Integral) and self.suppress >= 2):
            problems.append(f"{suppress} must be at least 2, not {self.suppress!r}: no count lies between 0 and 1")
        problems += self._problems_of_sharing(called)
        if isinstance(self.stability, Integral) and self.stability < 1:
            problems.append(f"{stability} must be at least 1 sample, not {self.stability!r}")
        if self.stability is None and self.whole_procedure:
            problems.append(f"{called('whole_procedure')} can be used only together with {stability}")
        if isinstance(self.associations, str) and self.associations not in ("refit", "cross-fit"):
            problems.append(f"associations must be 'refit', 'cross-fit', a frame or None, not {self.associations!r}")
        return problems

    def _problems_of_sharing(self, called: Callable[[str], str]) -> list[str]:
        """Return which of the further options of a report for sharing cannot be used."""
        round_to, min_n, suppress = map(called, ("round_to", "min_n", "suppress"))
        if self.suppress is None:
            asked = {
                round_to: self.round_to is not None,
                called("missing_is_harmless"): self.missing_is_harmless,
                min_n: self.min_n is not None,
            }
            alone = [name for name, is_asked in asked.items() if is_asked]
            return [f"{', '.join(alone)} can be used only together with {suppress}"] if alone else []
        problems = []
        least = self.suppress if isinstance(self.suppress, Integral) else 2
        if self.round_to is not None and not (isinstance(self.round_to, Integral) and self.round_to >= 3):
            problems.append(f"{round_to} must be at least 3, not {self.round_to!r}")
        if self.min_n is not None and not (isinstance(self.min_n, Integral) and self.min_n >= least):
            problems.append(f"{min_n} must be at least {suppress}, {least}, not {self.min_n!r}")
        return problems
