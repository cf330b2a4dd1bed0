"""The tests of the features of one cohort, each against subtypes that were found without it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clinclust.associations.as_reported import OTHER_BELOW, AsReported, agreement, effects
from clinclust.associations.refit_without import column_keys, folds_of, parts_without, posed_as_fitted, refit, without
from clinclust.associations.tested_association import NOT_FOUND_AGAIN, Part, TestRules, described, tested, whole_cohort
from clinclust.associations.validity import ValidityChecks

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.engine.search.plan import SearchPlan
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature

Method: TypeAlias = Literal["refit", "cross-fit"]

MOST_SEARCHES = 24
"""Number of searches of a refit: of more features or blocks, several are left out together. The subtypes found without
one in 24 are nearly those found without one."""


class FeatureTests:
    """The tests of all features of one cohort, with the data that they share."""

    def __init__(
        self, model: MAPDP, frame: pd.DataFrame, method: Method, plan: SearchPlan, n_folds: int, rules: TestRules
    ) -> None:
        self.problem = posed_as_fitted(model, frame)
        self.model, self.frame, self.method, self.plan, self.rules = model, frame, method, plan, rules
        self.encoded = self.problem.cohort.encoding.features
        self.places: dict[str, list[int]] = {}
        for place, feature in enumerate(self.encoded):  # both parts of a feature are left out together
            self.places.setdefault(feature.column, []).append(place)
        self.checks = ValidityChecks(self.encoded, frame, rules)
        self.reported = np.asarray(model.labels_)
        # Keys use raw values: standardised values depend on the order of summation, and so on the other features.
        order = self.problem.cohort.order
        scores = [feature.scores(frame[feature.column])[order] for feature in self.encoded]
        self.keys = column_keys(scores) if method == "refit" else None
        self.folds = (
            folds_of(self.problem, n_folds, plan, self._as_reported(1.0 - 1.0 / n_folds), rules.persons)
            if method == "cross-fit"
            else []
        )

    def sharing_a_search(self, features: list[Feature]) -> list[list[Feature]]:
        """Return the features in groups that are left out together: those of one block, and more if there are many.

        These are dealt out in turns: neighbours in a table are often related.
        """
        blocks = {feature.block for feature in self.encoded}
        groups: dict[tuple[str, str], list[Feature]] = {}
        for feature in features:
            in_block = feature.block is not None and feature.block in blocks
            key = ("block", str(feature.block)) if in_block else ("feature", feature.name)
            groups.setdefault(key, []).append(feature)
        if self.method == "cross-fit":
            return list(groups.values())
        searched = [group for group in groups.values() if any(feature.name in self.places for feature in group)]
        n_searches = min(MOST_SEARCHES, len(searched))
        direct = [group for group in groups.values() if group not in searched]
        return direct + [list(chain.from_iterable(searched[first::n_searches])) for first in range(n_searches)]

    def rows(self, group: list[Feature]) -> list[dict[str, Any]]:
        """Return the row of each feature of a group of `sharing_a_search`, as a dict without q."""
        left_out = np.zeros(len(self.encoded), dtype=np.bool_)
        left_out[[place for feature in group for place in self.places.get(feature.name, [])]] = True
        if not left_out.any():
            method, parts = "direct", whole_cohort(self.model)
        else:
            method, parts = self.method, [] if left_out.all() else self._parts(left_out)
        return [self._row(feature, left_out, parts, method) for feature in group]

    def _row(self, feature: Feature, left_out: NDArray[np.bool_], parts: list[Part], method: str) -> dict[str, Any]:
        """Return the row of a feature, given the subtypes found without its group; no part if no feature is left."""
        others = dict.fromkeys(self.encoded[place].column for place in np.flatnonzero(left_out))
        others.pop(feature.name, None)
        about = described(feature) | {"left_out": "; ".join(others) or None}
        if feature.name in self.model.uninformative_:
            return described(feature) | {"remark": f"not tested: it has {self.model.uninformative_[feature.name]}"}
        if not parts:
            return about | {"remark": "not tested: without it (and its block) no feature is left"}
        found = tested(feature, self.frame, parts, method, self.rules)
        if found["method"] is None:
            return about | found
        validity, remarks = self.checks.of(feature, parts, ~left_out, self.rules.significance_level)
        in_the_refit = {} if method == "direct" else self._in_the_refit(feature, parts)
        remarks = [*self._on_the_refit(in_the_refit, parts), *remarks]
        return about | found | validity | in_the_refit | {"remark": "; ".join(remarks) or None}

    def _in_the_refit(self, feature: Feature, parts: list[Part]) -> dict[str, Any]:
        """Return how the subtypes found without the feature agree with the reported ones, as columns."""
        groups = self.rules.groups(whole_cohort(self.model)[0], self.reported.size)
        reported, found = effects(self.checks.columns_of(feature), self.reported, groups, parts)
        return {"agreement": agreement(self.reported, parts), "effect": found, "effect_reported": reported}

    def _on_the_refit(self, about: dict[str, Any], parts: list[Part]) -> list[str]:
        """Return the remark that the subtypes found without the feature are other ones than the reported, or none."""
        if not about or about["agreement"] >= OTHER_BELOW:
            return []
        where = "without it" if self.method == "refit" else "in the other folds"
        n_found = min(part.n_found for part in parts)
        if n_found == 1:
            found = "there is one subtype, and its best division is another one"
        elif n_found < int(self.reported.max()) + 1:
            found = "there are fewer subtypes, and divided further they are other ones"
        else:
            found = "there are other subtypes"
        return [f"not tested: {where} {found} (agreement {about['agreement']:.2f})"]

    def _parts(self, left_out: NDArray[np.bool_]) -> list[Part]:
        """Return the subtypes found without the features of `left_out`, bool (D,)."""
        if self.keys is None:
            return parts_without(self.folds, left_out, self.plan.outlying_share)
        problem, order = without(self.problem, left_out, self.keys)
        subtypes = refit(problem, self.plan, self._as_reported(1.0))
        return [Part(self.problem.cohort.order[order], subtypes.labels, subtypes.membership, subtypes.n_found)]

    def _as_reported(self, share: float) -> AsReported:
        """Return the numbers of reported subtypes and groups; `share` is that of the subjects who are searched."""
        sizes, groups = np.bincount(self.reported), np.bincount(self.model.cluster_labels_)
        fewest = max(self.rules.min_size, self.rules.floor)
        large = sizes[sizes >= fewest]
        enough = max(fewest, int(large.min()) // 2) if large.size else fewest
        n_groups = int((groups >= enough).sum())
        return AsReported(sizes.size, large.size, n_groups, max(self.rules.min_size, int(share * enough)))


def rows_of_given(
    model: SubtypeModel, frame: pd.DataFrame, features: Sequence[Feature], rules: TestRules
) -> list[dict[str, Any]]:
    """Return a row for each feature if the subtypes do not come from a search."""
    parts = whole_cohort(model)
    formed = [feature for feature in features if feature.is_clustered and feature.name not in model.uninformative_]
    checks = ValidityChecks(formed, frame, rules)

    def row(feature: Feature) -> dict[str, Any]:
        if not feature.is_described:
            return {"remark": NOT_FOUND_AGAIN}
        found = tested(feature, frame, parts, "direct", rules)
        if found["method"] is None:
            return found
        validity, remarks = checks.of(feature, parts, np.ones(len(formed), dtype=np.bool_), rules.significance_level)
        return found | validity | {"remark": "; ".join(remarks) or None}

    return [described(feature) | row(feature) for feature in features]
