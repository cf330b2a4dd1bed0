"""The test of one feature against subtypes found without it, in one part of the cohort or combined over several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from clinclust.arrays import Array, Labels
from clinclust.associations.permutation_tests import contrast_by_person, contrast_of_few
from clinclust.comparisons.contrasts import Contrast, Contrasted, ContrastKind, combined, contrasted

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature


class Part(NamedTuple):
    """Subjects with subtypes found without the tested feature."""

    rows: Labels
    """(n,) their rows in the table."""
    labels: Labels
    """(n,) the subtype of each, 0 to K - 1."""
    membership: Array
    """(n, J) the probability of each group that the subtypes are made of."""
    n_found: int
    """The number of clusters that the search found, before mergers and divisions."""


@dataclass(frozen=True, eq=False)
class TestRules:
    """What is the same for the tests of all features of a cohort.

    Subtypes of fewer than `min_size` subjects, or a smaller share of their part than `floor`, are not tested. `persons`
    is the person of each row, int64 (N,), if persons have several rows.
    """

    __test__ = False  # no test of pytest

    min_size: int
    floor: int = 1
    significance_level: float = 0.01
    contrasts: Mapping[str, ContrastKind] = field(default_factory=dict)
    persons: Labels | None = None

    def fewest(self, part: Part, n_subjects: int) -> int:
        """Return the fewest subjects of a subtype of this part that is tested."""
        return max(self.min_size, -(-self.floor * part.rows.size // n_subjects))

    def groups(self, part: Part, n_subjects: int) -> Labels:
        """Return the subtype of each subject of the part, int64 (n,); -1 where it has too few subjects."""
        sizes = np.bincount(part.labels)
        return np.where(sizes[part.labels] >= self.fewest(part, n_subjects), part.labels, -1)


def association_of(tested: list[Contrasted], parts: list[Part], rules: TestRules) -> tuple[Contrast, int]:
    """Return the test of a feature against the subtypes of each part, by Fisher's method (1932), and its subjects."""
    found, n = [], 0
    for part in parts:
        n_tested = 0
        for values, kind in tested:
            groups, own = rules.groups(part, values.size), values[part.rows]
            if rules.persons is None:
                contrast = contrast_of_few(own, groups, kind)
            else:
                contrast = contrast_by_person(own, groups, kind, rules.persons[part.rows])
            if not np.isnan(contrast.p):
                found.append(contrast)
                n_tested = max(n_tested, int((~np.isnan(own[groups >= 0])).sum()))
        n += n_tested
    return combined(found), n


NOT_FOUND_AGAIN = (
    "not tested: the subtypes may have been made from it, and given subtypes cannot be found again without it; give it "
    "the role describe if it had no part in them"
)


def described(feature: Feature) -> dict[str, Any]:
    """Return the columns of the result that describe the feature."""
    about: dict[str, Any] = {name: getattr(feature, name) for name in ("section", "role", "likelihood")}
    return about | {"feature": feature.name, "label": feature.title}


def whole_cohort(model: SubtypeModel) -> list[Part]:
    """Return a single part: all subjects with their subtypes in the model."""
    labels = np.asarray(model.labels_)
    if model.fit_ is None:
        membership = np.eye(labels.max() + 1)[labels] if model.membership_ is None else model.membership_
    else:
        membership = cast("MAPDP", model).cluster_membership_
    return [Part(np.arange(labels.size), labels, membership, int(labels.max()) + 1)]


def tested(feature: Feature, frame: pd.DataFrame, parts: list[Part], method: str, rules: TestRules) -> dict[str, Any]:
    """Return the test of a feature against the subtypes of `parts`, as columns of the result."""
    values = feature.described(frame[feature.name])
    chosen = rules.contrasts.get(feature.name)
    contrast, n = association_of(contrasted(feature, frame[feature.name], chosen), parts, rules)
    about = {"method": method, "n_subtypes": max(np.unique(part.labels).size for part in parts)}
    if np.isnan(contrast.p):
        return about | {"method": None, "remark": _why_untested(method, values, parts, rules)}
    return about | contrast._asdict() | {"n": n}


def _why_untested(method: str, values: Array, parts: list[Part], rules: TestRules) -> str:
    if max(np.unique(part.labels).size for part in parts) < 2:
        return f"not tested: {'' if method == 'direct' else 'without it '}there is one subtype only"
    large = [rules.groups(part, values.size) for part in parts]
    if max(np.unique(groups[groups >= 0]).size for groups in large) < 2:
        fewest = max(rules.fewest(part, values.size) for part in parts)
        return f"not tested: fewer than two subtypes have {fewest} subjects"
    observed = [groups[~np.isnan(values[part.rows])] for groups, part in zip(large, parts, strict=True)]
    if max(np.unique(groups[groups >= 0]).size for groups in observed) < 2:
        return "not tested: all its values are missing, but in one subtype at most"
    return "not tested: the observed values of the subtypes do not vary, or are too few"
