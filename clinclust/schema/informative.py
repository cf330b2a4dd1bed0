"""Which columns cannot tell subtypes apart, whatever they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema.feature_schema import FeatureSchema

__all__ = ["kept_out"]


def kept_out(frame: pd.DataFrame, schema: FeatureSchema) -> dict[str, str]:
    """Return the cluster features that cannot inform a clustering, each with the reason.

    Parameters
    ----------
    frame : pandas.DataFrame, shape (N, D)
        A validated table.
    schema : FeatureSchema
        The schema that validated it.
    """
    reasons = {}
    for feature in schema.clustered:
        scores = feature.scores(frame[feature.name])
        observed = scores[scores == scores]  # NaN differs from itself
        if observed.size == 0:
            reasons[feature.name] = "no observed value"
        elif (observed == observed[0]).all():
            reasons[feature.name] = "the same value in every subject observed"
    return reasons
