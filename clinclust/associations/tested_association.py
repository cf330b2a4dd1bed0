"""The test of one feature against subtypes found without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clinclust.arrays import Array, Labels
from clinclust.associations.permutation_tests import contrast_by_person, contrast_of_few
from clinclust.comparisons.contrasts import Contrast, Contrasted, ContrastKind, combined, contrasted

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature


class Found(NamedTuple):
    """Subtypes found without the tested feature."""

    rows: Labels
    """(n,) the rows of subjects in the table."""
    labels: Labels
    """(n,) the subtype of each, 0 to K - 1."""
    n_found: int
    """The number of clusters that the search found, before mergers and divisions."""


@dataclass(frozen=True, eq=False)
class TestRules:
    """What is the same for the tests of all features of a cohort.

    Subtypes of fewer than `min_size` or `floor` subjects are not tested. `persons` is the person of each row, int64
    (N,), if persons have several rows.
    """

    __test__ = False  # no test of pytest

    min_size: int
    floor: int = 1
    significance_level: float = 0.01
    contrasts: Mapping[str, ContrastKind] = field(default_factory=dict)
    persons: Labels | None = None

    def fewest(self, found: Found, n_subjects: int) -> int:
        """Return the fewest subjects of a tested subtype; of one row of each person, their share of all subjects."""
        return max(self.min_size, -(-self.floor * found.rows.size // n_subjects))

    def groups(self, found: Found, n_subjects: int) -> Labels:
        """Return the subtype of each subject, int64 (n,); -1 where it has too few subjects."""
        sizes = np.bincount(found.labels)
        return np.where(sizes[found.labels] >= self.fewest(found, n_subjects), found.labels, -1)


def association_of(tested: list[Contrasted], found: Found, rules: TestRules) -> tuple[Contrast, int]:
    """Return the test of a feature against subtypes, of its parts by Fisher's method (1932), and its subjects."""
    contrasts, n_tested = [], 0
    for values, kind in tested:
        groups, own = rules.groups(found, values.size), values[found.rows]
        if rules.persons is None:
            contrast = contrast_of_few(own, groups, kind)
        else:
            contrast = contrast_by_person(own, groups, kind, rules.persons[found.rows])
        if not np.isnan(contrast.p):
            contrasts.append(contrast)
            n_tested = max(n_tested, int((~np.isnan(own[groups >= 0])).sum()))
    return combined(contrasts), n_tested


NOT_FOUND_AGAIN = (
    "not tested: the subtypes may have been made from it, and given subtypes cannot be found again without it; give it "
    "the role describe if it had no part in them"
)


def described(feature: Feature) -> dict[str, Any]:
    """Return the columns of the result that describe the feature."""
    about: dict[str, Any] = {name: getattr(feature, name) for name in ("section", "role", "likelihood")}
    return about | {"feature": feature.name, "label": feature.title}


def whole_cohort(model: SubtypeModel) -> Found:
    """Return all subjects with their subtypes in the model."""
    labels = np.asarray(model.labels_)
    return Found(np.arange(labels.size), labels, int(labels.max()) + 1)


def tested(feature: Feature, frame: pd.DataFrame, found: Found, method: str, rules: TestRules) -> dict[str, Any]:
    """Return the test of a feature against subtypes, as columns of the result."""
    values = feature.described(frame[feature.name])
    chosen = rules.contrasts.get(feature.name)
    contrast, n = association_of(contrasted(feature, frame[feature.name], chosen), found, rules)
    about = {"method": method, "n_subtypes": np.unique(found.labels).size}
    if np.isnan(contrast.p):
        return about | {"method": None, "remark": _why_untested(method, values, found, rules)}
    return about | contrast._asdict() | {"n": n}


def _why_untested(method: str, values: Array, found: Found, rules: TestRules) -> str:
    if np.unique(found.labels).size < 2:
        return f"not tested: {'' if method == 'direct' else 'without it '}there is one subtype only"
    groups = rules.groups(found, values.size)
    if np.unique(groups[groups >= 0]).size < 2:
        return f"not tested: fewer than two subtypes have {rules.fewest(found, values.size)} subjects"
    observed = groups[~np.isnan(values[found.rows])]
    if np.unique(observed[observed >= 0]).size < 2:
        return "not tested: all its values are missing, but in one subtype at most"
    return "not tested: the observed values of the subtypes do not vary, or are too few"
