"""Models of older formats, brought into the format that is written."""

from __future__ import annotations

from typing import Any

import numpy as np

from clinclust.estimators.few_subjects import NO_FLOOR
from clinclust.estimators.saved_fields import Arrays
from clinclust.estimators.tree_test import JOIN_DTYPES

__all__ = ["FORMAT", "READ", "in_present_format"]

_BEFORE_FLOORS, _BEFORE_UNIMODAL, _BEFORE_FILLING, FORMAT = 8, 9, 10, 11
READ = (_BEFORE_FLOORS, _BEFORE_UNIMODAL, _BEFORE_FILLING, FORMAT)
"""The formats that are read; `FORMAT` is written."""
_P_UNIMODAL = "tree_test_.joins.p_unimodal"


def in_present_format(text: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    """Return the text and the arrays of a model as they would be written today.

    Format 8 knows no floor of sizes. Formats 8 and 9 test no division against a skewed severity.
    Before format 11, missing values were always integrated out.
    """
    if text["clinclust_model"] == _BEFORE_FLOORS:
        parameters, fit = {**text["parameters"], "min_size": None}, {**text["fit"], "min_size_": NO_FLOOR}
        text = {**text, "parameters": parameters, "fit": fit}
    if text["clinclust_model"] != FORMAT:
        parameters, fit = {**text["parameters"], "missing": "marginal"}, {**text["fit"], "completed_log_joint_": None}
        text = {**text, "parameters": parameters, "fit": fit}
    tested = text["fit"]["tree_test_"]
    if text["clinclust_model"] in (_BEFORE_FLOORS, _BEFORE_UNIMODAL) and tested is not None:
        joins = tested["joins"]
        n_joins = len(arrays["tree_test_.joins.step"] if isinstance(joins["step"], str) else joins["step"])
        joins = {name: _P_UNIMODAL if name == "p_unimodal" else joins[name] for name in JOIN_DTYPES}
        tested = {**tested, "joins": joins}
        text = {**text, "fit": {**text["fit"], "tree_test_": tested}}
        arrays = {**arrays, _P_UNIMODAL: np.full(n_joins, np.nan)}
    return text, arrays
