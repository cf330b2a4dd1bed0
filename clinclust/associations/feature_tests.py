"""The tests of the features of one cohort, each against subtypes that were found without it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clinclust.associations.as_reported import OTHER_BELOW, AsReported, agreement, effects
from clinclust.associations.refit_without import column_keys, posed_as_fitted, refit, without
from clinclust.associations.tested_association import NOT_FOUND_AGAIN, Found, TestRules, described, tested, whole_cohort
from clinclust.associations.validity import ValidityChecks
from clinclust.estimators.cost import MOST_REFITS

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.engine.search.plan import SearchPlan
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature


class FeatureTests:
    """The tests of all features of one cohort, with the data that they share."""

    def __init__(self, model: MAPDP, frame: pd.DataFrame, plan: SearchPlan, rules: TestRules) -> None:
        self.problem = posed_as_fitted(model, frame)
        self.model, self.frame, self.plan, self.rules = model, frame, plan, rules
        self.encoded = self.problem.cohort.encoding.features
        self.places: dict[str, list[int]] = {}
        for place, feature in enumerate(self.encoded):  # both parts of a feature are left out together
            self.places.setdefault(feature.column, []).append(place)
        self.checks = ValidityChecks(self.encoded, frame, rules)
        self.reported = np.asarray(model.labels_)
        # Keys use raw values: standardised values depend on the order of summation, and so on the other features.
        order = self.problem.cohort.order
        scores = [feature.scores(frame[feature.column])[order] for feature in self.encoded]
        self.keys = column_keys(scores)

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
        searched = [group for group in groups.values() if any(feature.name in self.places for feature in group)]
        n_searches = min(MOST_REFITS, len(searched))
        direct = [group for group in groups.values() if group not in searched]
        return direct + [list(chain.from_iterable(searched[first::n_searches])) for first in range(n_searches)]

    def rows(self, group: list[Feature]) -> list[dict[str, Any]]:
        """Return the row of each feature of a group of `sharing_a_search`, as a dict without q."""
        left_out = np.zeros(len(self.encoded), dtype=np.bool_)
        left_out[[place for feature in group for place in self.places.get(feature.name, [])]] = True
        method = "refit" if left_out.any() else "direct"
        found = None
        if not left_out.all():
            found = self._without(left_out) if left_out.any() else whole_cohort(self.model)
        return [self._row(feature, left_out, found, method) for feature in group]

    def _row(self, feature: Feature, left_out: NDArray[np.bool_], found: Found | None, method: str) -> dict[str, Any]:
        """Return the row of a feature, given the subtypes found without its group; None if no feature is left."""
        others = dict.fromkeys(self.encoded[place].column for place in np.flatnonzero(left_out))
        others.pop(feature.name, None)
        about = described(feature) | {"left_out": "; ".join(others) or None}
        if feature.name in self.model.uninformative_:
            return described(feature) | {"remark": f"not tested: it has {self.model.uninformative_[feature.name]}"}
        if found is None:
            return about | {"remark": "not tested: without it (and its block) no feature is left"}
        row = tested(feature, self.frame, found, method, self.rules)
        if row["method"] is None:
            return about | row
        validity, remarks = self.checks.of(feature, found, ~left_out, self.rules.significance_level)
        in_the_refit = {} if method == "direct" else self._in_the_refit(feature, found)
        remarks = [*self._on_the_refit(in_the_refit, found.n_found), *remarks]
        return about | row | validity | in_the_refit | {"remark": "; ".join(remarks) or None}

    def _in_the_refit(self, feature: Feature, found: Found) -> dict[str, Any]:
        """Return how the subtypes found without the feature agree with the reported ones, as columns."""
        groups = self.rules.groups(whole_cohort(self.model), self.reported.size)
        effect_reported, effect = effects(self.checks.columns_of(feature), self.reported, groups, found)
        return {"agreement": agreement(self.reported, found), "effect": effect, "effect_reported": effect_reported}

    def _on_the_refit(self, about: dict[str, Any], n_found: int) -> list[str]:
        """Return the remark that the subtypes found without the feature are other ones than the reported, or none."""
        if not about or about["agreement"] >= OTHER_BELOW:
            return []
        if n_found == 1:
            there = "there is one subtype, and its best division is another one"
        elif n_found < int(self.reported.max()) + 1:
            there = "there are fewer subtypes, and divided further they are other ones"
        else:
            there = "there are other subtypes"
        return [f"not tested: without it {there} (agreement {about['agreement']:.2f})"]

    def _without(self, left_out: NDArray[np.bool_]) -> Found:
        """Return the subtypes found without the features of `left_out`, bool (D,)."""
        problem, order = without(self.problem, left_out, self.keys)
        labels, n_found = refit(problem, self.plan, self._as_reported())
        return Found(self.problem.cohort.order[order], labels, n_found)

    def _as_reported(self) -> AsReported:
        """Return the numbers of reported subtypes and groups."""
        sizes, groups = np.bincount(self.reported), np.bincount(self.model.cluster_labels_)
        fewest = max(self.rules.min_size, self.rules.floor)
        large = sizes[sizes >= fewest]
        enough = max(fewest, int(large.min()) // 2) if large.size else fewest
        n_groups = int((groups >= enough).sum())
        return AsReported(sizes.size, large.size, n_groups, enough)


def rows_of_given(
    model: SubtypeModel, frame: pd.DataFrame, features: Sequence[Feature], rules: TestRules
) -> list[dict[str, Any]]:
    """Return a row for each feature if the subtypes do not come from a search."""
    given = whole_cohort(model)
    formed = [feature for feature in features if feature.is_clustered and feature.name not in model.uninformative_]
    checks = ValidityChecks(formed, frame, rules)

    def row(feature: Feature) -> dict[str, Any]:
        if not feature.is_described:
            return {"remark": NOT_FOUND_AGAIN}
        found = tested(feature, frame, given, "direct", rules)
        if found["method"] is None:
            return found
        validity, remarks = checks.of(feature, given, np.ones(len(formed), dtype=np.bool_), rules.significance_level)
        return found | validity | {"remark": "; ".join(remarks) or None}

    return [described(feature) | row(feature) for feature in features]
