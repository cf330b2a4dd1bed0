"""The tests of subtypes that were given: they cannot be found again, so only described features are tested."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from clinclust.associations.direct import NOT_FOUND_AGAIN, described, tested, whole_cohort
from clinclust.associations.doubts import Doubts
from clinclust.associations.evidence import TestRules

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature

__all__ = ["rows_of_given"]


def rows_of_given(
    model: SubtypeModel, frame: pd.DataFrame, features: Sequence[Feature], rules: TestRules
) -> list[dict[str, Any]]:
    """Return a row for each feature if the subtypes do not come from a search."""
    parts = whole_cohort(model)
    formed = [feature for feature in features if feature.is_clustered and feature.name not in model.uninformative_]
    doubts = Doubts(formed, frame, rules)

    def row(feature: Feature) -> dict[str, Any]:
        if not feature.is_described:
            return {"remark": NOT_FOUND_AGAIN}
        found = tested(feature, frame, parts, "direct", rules)
        if found["method"] is None or not formed:
            return found
        doubt = doubts.of(feature, parts, np.ones(len(formed), dtype=np.bool_))
        return found | doubt.columns() | {"remark": "; ".join(doubt.remarks) or None}

    return [described(feature) | row(feature) for feature in features]
