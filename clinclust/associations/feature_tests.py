"""The tests of the features of one cohort, each against subtypes found without it and its block."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.associations.associate import Method
    from clinclust.associations.evidence import Part
    from clinclust.associations.residual_dependence import Dependence
    from clinclust.comparisons.contrasts import ContrastKind
    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.plan import SearchPlan
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.schema import Feature

__all__ = ["DOUBTFUL_BELOW", "FeatureTests"]

DOUBTFUL_BELOW = 0.01
"""An association is marked as doubtful if the p of the residual dependence is below this."""


class FeatureTests:
    """The tests of all features of one cohort, with the data that they share."""

    def __init__(
        self,
        model: MAPDP,
        frame: pd.DataFrame,
        method: Method,
        plan: SearchPlan,
        n_folds: int,
        min_size: int,
        contrasts: Mapping[str, ContrastKind],
    ) -> None:
        from clinclust.associations.cold_search import column_keys
        from clinclust.associations.cross_fitting import folds_of
        from clinclust.engine.problem.problem import pose
        from clinclust.estimators.cut import number_asked_for
        from clinclust.estimators.few_subjects import fewest_subjects
        from clinclust.estimators.from_parameters import stated_hyperparameters_of
        from clinclust.graded import graded, mid_ranks

        stated = stated_hyperparameters_of(model)
        self.problem: Problem = pose(
            frame,
            model.schema_,
            stated,
            model.concentration_,
            model.discount_,
            model.coarsening_,
            model.block_powers_,
        )
        self.model, self.frame, self.method, self.plan = model, frame, method, plan
        self.min_size, self.floor, self.contrasts = min_size, fewest_subjects(model), contrasts
        self.encoded = self.problem.cohort.encoding.features
        self.places = {feature.name: place for place, feature in enumerate(self.encoded)}
        scores = [feature.scores(frame[feature.name]) for feature in self.encoded]
        is_nominal = [feature.traits.is_nominal for feature in self.encoded]
        self.graded = graded(zip(scores, is_nominal, strict=True), mid_ranks)
        # Keys use raw values: standardised values depend on the order of summation, and so on the other features.
        order = self.problem.cohort.order
        self.keys = column_keys([values[order] for values in scores]) if method == "refit" else None
        self.n_subtypes = number_asked_for(model)
        self.folds = folds_of(self.problem, n_folds, plan, self.n_subtypes) if method == "cross-fit" else []

    def sharing_a_search(self, features: list[Feature]) -> list[list[Feature]]:
        """Return the features in groups: those of one block are left out together, so one search serves all of them."""
        groups: dict[tuple[str, str], list[Feature]] = {}
        for feature in features:
            in_block = feature.block is not None and feature.name in self.places
            key = ("block", str(feature.block)) if in_block else ("feature", feature.name)
            groups.setdefault(key, []).append(feature)
        return list(groups.values())

    def rows(self, group: list[Feature]) -> list[dict[str, Any]]:
        """Return the row of each feature of a group of `sharing_a_search`, as a dict without q."""
        from clinclust.associations.direct import described, whole_cohort

        first = group[0]
        if first.name in self.model.kept_out_:
            return [described(first) | {"remark": f"not tested: it has {self.model.kept_out_[first.name]}"}]
        if first.role == "describe":
            return [described(first) | self._tested(first, whole_cohort(self.model), "direct")]
        left_out = np.zeros(len(self.encoded), dtype=np.bool_)
        left_out[[self.places[feature.name] for feature in group]] = True
        parts = None if left_out.all() else self._parts(left_out)
        return [self._row(feature, group, left_out, parts) for feature in group]

    def _row(
        self, feature: Feature, group: list[Feature], left_out: NDArray[np.bool_], parts: list[Part] | None
    ) -> dict[str, Any]:
        """Return the row of a feature, given the subtypes found without its group; None if no feature is left."""
        from clinclust.associations.direct import described

        names = {other.name for other in group} - {feature.name}
        others = [other.name for other in self.encoded if other.name in names]
        about = described(feature) | {"left_out": "; ".join(others) or None, "method": self.method}
        if parts is None:
            return about | {"method": None, "remark": "not tested: without it (and its block) no feature is left"}
        found = self._tested(feature, parts, self.method)
        if found["method"] is not None:
            found |= self._doubts(feature, parts, ~left_out)
        remarks = [text for text in (found.get("remark"), self._why_fewer(parts)) if text]
        return about | found | {"remark": "; ".join(remarks) or None}

    def _why_fewer(self, parts: list[Part]) -> str | None:
        """Return what is said where a search found fewer subtypes than asked for; None where it did not."""
        found = min(part.membership.shape[1] for part in parts)
        if self.n_subtypes is None or found >= self.n_subtypes:
            return None
        where = "without it" if self.method == "refit" else "in a part of the subjects"
        subtypes = "1 subtype" if found == 1 else f"{found} subtypes"
        return f"{where} the search found {subtypes}, fewer than the {self.n_subtypes} asked for"

    def _parts(self, left_out: NDArray[np.bool_]) -> list[Part]:
        """Return the subtypes found without the features of `left_out`, bool (D,)."""
        from clinclust.associations.cold_search import search_cold, without
        from clinclust.associations.cross_fitting import parts_without
        from clinclust.associations.evidence import Part

        if self.keys is None:
            return parts_without(self.folds, left_out, self.plan.outlying_share)
        problem, order = without(self.problem, left_out, self.keys)
        subtypes = search_cold(problem, self.plan, self.n_subtypes)
        return [Part(self.problem.cohort.order[order], subtypes.labels, subtypes.membership)]

    def _tested(self, feature: Feature, parts: list[Part], method: str) -> dict[str, Any]:
        """Return the test of a feature against these subtypes, as columns of the row."""
        from clinclust.associations.direct import tested

        return tested(feature, self.frame, parts, method, self.min_size, self.contrasts, self.floor)

    def _doubts(self, feature: Feature, parts: list[Part], included: NDArray[np.bool_]) -> dict[str, Any]:
        """Return whether the feature depends, within subtypes, on the features in `included`, bool (D,), as columns."""
        from scipy.linalg import block_diag

        from clinclust.associations.residual_dependence import residual_dependence
        from clinclust.graded import Graded, graded, mid_ranks

        values = feature.scores(self.frame[feature.name])
        rows = np.concatenate([part.rows for part in parts])
        columns, weights, owners = self.graded
        kept = included[owners]
        others = Graded(columns[np.ix_(rows, np.flatnonzero(kept))], weights[kept], owners[kept])
        own = graded([(values[rows], feature.traits.is_nominal)], mid_ranks)
        found = residual_dependence(own, others, block_diag(*(part.membership for part in parts)))
        if np.isnan(found.p):
            return {"doubtful": None}
        if found.p >= DOUBTFUL_BELOW:
            return {"doubtful": False}
        return {"doubtful": True, "remark": _why_doubtful(found, self.encoded[found.strongest])}


def _why_doubtful(found: Dependence, other: Feature) -> str:
    return (
        f"doubtful: inside subtypes it depends on others, most on {other.title} (r = {found.correlation:.2f}); "
        "declare what belongs together as a block"
    )
