"""Two shared reports are the same bytes if their cohorts or models differ in nothing that is shown.

This is the whole of it: a reader of such a file cannot tell the one from the other, whatever stands in which part.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from clinclust import Feature, FeatureSchema, Partition, compare_subtypes, suppress_small_cells

from .conftest import GENERATED
from .stand_in import associations_of, fitted, write_report

SIZES = (70, 50)
GROUPS = np.repeat([0, 1], SIZES)
RARE = ("rare", "kind", "holes", "events")
# By group: yes of `rare`, "c" of `kind`, missing of `holes` (even, as half of the others say yes), and `events`.
FIRST = {"rare": (4, 3), "kind": (2, 5), "holes": (4, 6), "events": (3, 4)}
OTHERS = (
    {"rare": (1, 2)},
    {"rare": (2, 7)},
    {"kind": (5, 2)},
    {"holes": (2, 8)},
    {"holes": (8, 2)},
    {"events": (1, 6)},
    {"rare": (6, 1), "kind": (3, 4), "holes": (6, 6), "events": (9, 1)},
)


def by_group(values_of):
    return np.concatenate([np.asarray(values_of(group, size), dtype=object) for group, size in enumerate(SIZES)])


def cohort_of(counts):
    def yes(group, size, number):
        return np.arange(size) < number

    def kind(group, size):
        n_rare = counts["kind"][group]
        return ["c"] * n_rare + ["a"] * (size // 2) + ["b"] * (size - size // 2 - n_rare)

    def holes(group, size):
        n_missing = counts["holes"][group]
        return [None] * n_missing + [0, 1] * ((size - n_missing) // 2)

    rng = np.random.default_rng(5)
    columns = {
        "rare": by_group(lambda group, size: yes(group, size, counts["rare"][group]).astype(int)),
        "kind": by_group(kind),
        "holes": by_group(holes),
        "events": by_group(lambda group, size: yes(group, size, counts["events"][group]).astype(int)),
        "pressure": rng.normal(130 + 9 * GROUPS, 12),
        "falls": rng.poisson(1.0 + GROUPS),
    }
    for place in range(6):
        columns[f"common{place}"] = by_group(
            lambda group, size, n=place: yes(group, size, 20 + n + 2 * group).astype(int)
        )
    kinds = {"kind": "categorical", "events": "poisson", "pressure": "gaussian", "falls": "poisson"}
    levels = {"kind": {"levels": ("a", "b", "c")}}
    schema = FeatureSchema(
        [Feature(name=name, likelihood=kinds.get(name, "bernoulli"), **levels.get(name, {})) for name in columns]
    )
    return pd.DataFrame(columns), schema


def report(folder, suffix, counts, model_of, **options):
    frame, schema = cohort_of(FIRST | counts)
    folder.mkdir(exist_ok=True)
    path = folder / f"report.{suffix}"
    model = model_of(schema)
    write_report(model, frame, path, suppress=10, generated=GENERATED, **options)
    return path.read_bytes()


def given(schema):
    return Partition(GROUPS, schema, made_by="a clinician")


@pytest.mark.parametrize("suffix", ["xlsx", "html"])
def test_reports_that_differ_in_withheld_counts_only_are_the_same(tmp_path, suffix, some):
    first = report(tmp_path, suffix, {}, given)
    for counts in some(OTHERS[::-1], few=3):
        assert report(tmp_path, suffix, counts, given) == first, counts
    assert report(tmp_path, suffix, {"rare": (30, 24)}, given) != first


def test_the_counts_are_withheld_indeed():
    frame, schema = cohort_of(FIRST)
    shared = suppress_small_cells(compare_subtypes(frame, GROUPS, schema))
    assert set(shared.loc[shared["suppressed"], "feature"]) == set(RARE)


@pytest.mark.parametrize("suffix", ["xlsx", "html"])
def test_reports_of_fits_that_differ_in_what_withheld_features_tell_are_the_same(tmp_path, suffix):
    def fit(schema, relevance):
        model = fitted(schema, GROUPS)
        model.feature_relevance_ = pd.Series(np.linspace(30, 5, len(schema)), index=[f.name for f in schema])
        for name in RARE:
            model.feature_relevance_[name] = relevance
            model.hyperparameters_[name] = {"a": relevance, "b": 1.0}
        model.feature_relevance_ = model.feature_relevance_.sort_values(ascending=False)
        return model

    least, middle, most = (
        report(tmp_path, suffix, {}, lambda schema, nats=nats: fit(schema, nats)) for nats in (-3.0, 12.5, 99.0)
    )
    assert least == middle == most


@pytest.mark.parametrize("suffix", ["xlsx", "html"])
def test_reports_that_differ_in_withheld_associations_are_the_same(tmp_path, suffix):
    def with_p(p, test, grade):
        _, schema = cohort_of(FIRST)
        model = fitted(schema, GROUPS)
        associations = associations_of(model)
        withheld = associations["feature"].isin(RARE)
        associations.loc[withheld, ["p", "statistic"]] = p
        associations.loc[withheld, "test"] = test
        associations.loc[withheld, "grade"] = grade
        associations["remark"] = pd.NA
        return report(tmp_path, suffix, {}, lambda schema: model, associations=associations)

    assert with_p(0.9, "chi-squared", "not shown") == with_p(1e-9, "Fisher's exact", "differs")
