"""Test a feature against subtypes found without it; if there is no test, state the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from clinclust.associations.evidence import Association, Part, TestRules, association_of
from clinclust.comparisons.contrasts import contrasted

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature

Array = NDArray[np.float64]

__all__ = ["NOT_FOUND_AGAIN", "described", "tested", "whole_cohort"]

NOT_FOUND_AGAIN = (
    "not tested: the subtypes may have been made from it, and given subtypes cannot be found again without it; give it "
    "the role describe if it had no part in them"
)


def described(feature: Feature) -> dict[str, Any]:
    """Return the columns of the result that describe the feature of a row."""
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
    found = association_of(contrasted(feature, frame[feature.name], rules.contrasts.get(feature.name)), parts, rules)
    about = {"method": method, "n_subtypes": found.n_subtypes}
    if np.isnan(found.contrast.p):
        return about | {"method": None, "remark": _why_untested(found, method, values, parts, rules)}
    return about | {**found.contrast._asdict(), "n": found.n, "doubtful": False}


def _why_untested(found: Association, method: str, values: Array, parts: list[Part], rules: TestRules) -> str:
    """Return the first reason for which no part could be tested."""
    if found.n_subtypes < 2:
        return "not tested: there is one subtype only" if method == "direct" else _ONE_SUBTYPE
    large = [rules.groups(part, values.size) for part in parts]
    if max(np.unique(groups[groups >= 0]).size for groups in large) < 2:
        fewest = max(rules.fewest(part, values.size) for part in parts)
        return f"not tested: fewer than two subtypes have {fewest} subjects"
    observed = [groups[~np.isnan(values[part.rows])] for groups, part in zip(large, parts, strict=True)]
    if max(np.unique(groups[groups >= 0]).size for groups in observed) < 2:
        return _ALL_MISSING
    return "not tested: the observed values of the subtypes do not vary, or are too few"


_ONE_SUBTYPE = "not tested: without it there is one subtype only"
_ALL_MISSING = "not tested: all its values are missing, but in one subtype at most"
