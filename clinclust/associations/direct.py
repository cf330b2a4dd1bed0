"""Test a feature against subtypes found without it; if there is no test, state the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from clinclust.associations.evidence import Association, Part, association_of, fewest_tested
from clinclust.comparisons.contrasts import contrast_kind
from clinclust.estimators.few_subjects import fewest_subjects

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.comparisons.contrasts import ContrastKind
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature

__all__ = ["described", "rows_of_given", "tested", "whole_cohort"]

_NOT_FOUND_AGAIN = (
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
    membership = np.eye(labels.max() + 1)[labels] if model.membership_ is None else model.membership_
    return [Part(np.arange(labels.size), labels, membership)]


def tested(
    feature: Feature,
    frame: pd.DataFrame,
    parts: list[Part],
    method: str,
    min_size: int,
    contrasts: Mapping[str, ContrastKind],
    floor: int,
) -> dict[str, Any]:
    """Return the test of a feature against the subtypes of `parts`, as columns of the result.

    `min_size` and `floor` are as in `association_of`.
    """
    values = feature.described(frame[feature.name])
    kind = contrasts.get(feature.name) or contrast_kind(feature, values)
    found = association_of(values, parts, kind, min_size, floor)
    about = {"method": method, "n_subtypes": found.n_subtypes}
    if np.isnan(found.contrast.p):
        fewest = max(fewest_tested(part, values.size, min_size, floor) for part in parts)
        return about | {"method": None, "remark": _why_untested(found, method, fewest)}
    return about | {**found.contrast._asdict(), "n": found.n, "doubtful": False}


def rows_of_given(
    model: SubtypeModel,
    frame: pd.DataFrame,
    features: list[Feature],
    min_size: int,
    contrasts: Mapping[str, ContrastKind],
) -> list[dict[str, Any]]:
    """Return a row for each feature if the subtypes do not come from a search: only described features are tested."""
    parts = whole_cohort(model)
    return [
        described(feature)
        | (
            tested(feature, frame, parts, "direct", min_size, contrasts, fewest_subjects(model))
            if feature.role == "describe"
            else {"remark": _NOT_FOUND_AGAIN}
        )
        for feature in features
    ]


def _why_untested(found: Association, method: str, min_size: int) -> str:
    if found.n_subtypes < 2:
        return "not tested: there is one subtype only" if method == "direct" else _ONE_SUBTYPE
    return f"not tested: fewer than two subtypes of at least {min_size} subjects with values that differ"


_ONE_SUBTYPE = "not tested: without it there is one subtype only"
