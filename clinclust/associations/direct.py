"""Test a feature against subtypes found without it; if there is no test, state the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from clinclust.associations.evidence import Association, Part, TestRules, association_of
from clinclust.comparisons.contrasts import contrast_kind

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature

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
        membership = cast("MAPDP", model).finer_membership_
    return [Part(np.arange(labels.size), labels, membership, int(labels.max()) + 1)]


def tested(feature: Feature, frame: pd.DataFrame, parts: list[Part], method: str, rules: TestRules) -> dict[str, Any]:
    """Return the test of a feature against the subtypes of `parts`, as columns of the result."""
    values = feature.described(frame[feature.name])
    kind = rules.contrasts.get(feature.name) or contrast_kind(feature, values)
    found = association_of(values, parts, kind, rules)
    about = {"method": method, "n_subtypes": found.n_subtypes}
    if np.isnan(found.contrast.p):
        fewest = max(rules.fewest(part, values.size) for part in parts)
        return about | {"method": None, "remark": _why_untested(found, method, fewest)}
    return about | {**found.contrast._asdict(), "n": found.n, "doubtful": False}


def _why_untested(found: Association, method: str, min_size: int) -> str:
    if found.n_subtypes < 2:
        return "not tested: there is one subtype only" if method == "direct" else _ONE_SUBTYPE
    return f"not tested: fewer than two subtypes of at least {min_size} subjects with values that differ"


_ONE_SUBTYPE = "not tested: without it there is one subtype only"
