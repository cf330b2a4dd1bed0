"""Two reports with rounded counts are the same bytes if their cohorts have the same rounded counts.

A reader of such a file cannot tell the one from the other, so nothing in it is a function of exact counts.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scored import few, scored

from clinclust import Feature, FeatureSchema, Partition, compare_subtypes, suppress_small_cells
from clinclust import reporting as reports
from clinclust.methods import PublishedMAPDP

from .conftest import GENERATED
from .stand_in import fitted, write_report

BASE = 5
# By subtype: subjects; missing values of four features; yes of two; "a" of `kind`; events beyond those of all cohorts.
FIRST = {
    "size": (75, 55),
    "missing": (0, 10),
    "yes": (30, 20),
    "rare": (5, 5),
    "level": (40, 20),
    "level_missing": (0, 0),
    "events": (0, 0),
    "events_missing": (5, 0),
    "values_missing": (5, 10),
}
OTHERS = (
    {"size": (76, 54), "values_missing": (6, 9)},
    {"missing": (2, 8)},
    {"missing": (0, 12)},
    {"yes": (32, 18)},
    {"yes": (31, 21)},
    {"rare": (3, 7)},
    {"rare": (7, 4)},
    {"level": (38, 22)},
    {"level_missing": (2, 0)},
    {"events": (1, 2)},
    {"events": (-2, -1)},
    {"events_missing": (6, 0)},
    {"events_missing": (4, 1)},
    {"values_missing": (3, 12)},
    {
        **{"size": (76, 54), "missing": (1, 9), "rare": (3, 7), "level": (39, 21), "level_missing": (1, 0)},
        **{"events": (2, 1), "values_missing": (6, 9)},
    },
)


def column(sizes, missing, values_of):
    """A column by subtype; `values_of` gives the values of a subtype from the number of those observed."""
    parts = []
    for group, (size, n_missing) in enumerate(zip(sizes, missing, strict=True)):
        values = list(values_of(group, size - n_missing))
        assert len(values) == size - n_missing
        parts += [*values, *[None] * n_missing]
    return np.array(parts, dtype=object)


def cohort_of(counts):
    sizes, nothing = counts["size"], (0, 0)

    def share(name):
        return lambda group, n: [1] * counts[name][group] + [0] * (n - counts[name][group])

    def kind(group, n):
        n_a = counts["level"][group]
        return ["a"] * n_a + ["b"] * 10 + ["c"] * (n - n_a - 10)

    def common(group, n):
        return [1] * (20 + 10 * group) + [0] * (n - 20 - 10 * group)

    def events(group, n):
        """About half have 60 events, so that n hardly changes the SD; more than half, so that they are the median."""
        n_high = (36, 28)[group]
        return [60 + counts["events"][group]] + [60] * (n_high - 1) + [0] * (n - n_high)

    def measured(group, n):
        """Two values as often as each other around the mean, so that n changes neither mean nor SD as printed."""
        middle = [100.0 + 20 * group] * (n % 2)
        return [90.0 + 20 * group] * (n // 2) + [110.0 + 20 * group] * (n // 2) + middle

    columns = {
        "answer": column(sizes, counts["missing"], share("yes")),
        "rare": column(sizes, nothing, share("rare")),
        "kind": column(sizes, counts["level_missing"], kind),
        "falls": column(sizes, counts["events_missing"], events),
        "pressure": column(sizes, counts["values_missing"], measured),
        "common": column(sizes, nothing, common),
    }
    kinds = {"kind": "categorical", "falls": "poisson", "pressure": "gaussian"}
    more = {"kind": {"levels": ("a", "b", "c")}}
    schema = FeatureSchema(
        [Feature(name=name, likelihood=kinds.get(name, "bernoulli"), **more.get(name, {})) for name in columns]
    )
    return pd.DataFrame(columns), schema, np.repeat([0, 1], sizes)


def given(schema, labels):
    return Partition(labels, schema, made_by="a clinician")


def report(folder, suffix, counts, model_of, **options):
    frame, schema, labels = cohort_of(FIRST | counts)
    path = folder / f"report.{suffix}"
    write_report(model_of(schema, labels), frame, path, suppress=10, round_to=BASE, generated=GENERATED, **options)
    return path


def compared(counts):
    """The summaries with exact counts, and those that are shared."""
    frame, schema, labels = cohort_of(FIRST | counts)
    whole = compare_subtypes(frame, labels, schema)
    shared = suppress_small_cells(whole, rounding=BASE)
    whole["total"] = (whole["mean"] * whole["n"]).where(whole["likelihood"] == "poisson")
    # The total of all subjects is not shown.
    whole.loc[whole["subtype"] == 0, "total"] = np.nan
    return tuple(frame[frame["kind"] == "summary"].reset_index(drop=True) for frame in (whole, shared))


@scored(OTHERS)
def test_cohorts_whose_counts_round_to_the_same_give_the_same_frame(counts):
    (first, first_shared), (other, other_shared) = first_compared(), compared(counts)
    exact = ["n", "missing", "count", "total"]
    first, other = (frame[exact].to_numpy(dtype=float, na_value=np.nan).round(6) for frame in (first, other))
    assert (first[~np.isnan(first)] != other[~np.isnan(other)]).any()
    np.testing.assert_array_equal((first + 2) // BASE, (other + 2) // BASE)
    pd.testing.assert_frame_equal(first_shared, other_shared)
    assert first_shared["count"].notna().sum() > 8


@cache
def first_compared():
    return compared({})


@pytest.mark.parametrize("suffix", few(["xlsx", "html", "json"], 1))
def test_reports_of_the_same_rounded_counts_are_the_same(tmp_path, suffix, some):
    first = report(tmp_path, suffix, {}, given).read_bytes()
    for counts in some(OTHERS[::-1], few=1):
        assert report(tmp_path, suffix, counts, given).read_bytes() == first, counts
    assert report(tmp_path, suffix, {"yes": (33, 20)}, given).read_bytes() != first


def stand_in(seed):
    """A fit of which everything that depends on the subjects depends on the seed too."""

    def fit(schema, labels):
        rng = np.random.default_rng(seed)
        model = fitted(schema, labels)
        names = [feature.name for feature in schema]
        model.feature_relevance_ = pd.Series(rng.normal(20, 30, len(names)), index=rng.permutation(names))
        model.hyperparameters_ = {name: {"a": rng.random(), "b": rng.random()} for name in names}
        model.restarts_["log_joint"] -= rng.random()
        model.restarts_["ari_to_best"] = rng.random(len(model.restarts_))
        model.log_joint_ = model.restarts_["log_joint"].max()
        model.given = {"concentration": "map", "coarsening": "auto"}
        model.concentration_, model.coarsening_ = rng.random(2)
        model.uninformative_ = {"rare": "the same value in every subject observed"} if seed else {}
        return model

    return fit


@pytest.mark.parametrize("suffix", few(["json", "xlsx", "html"], 1))
def test_reports_of_fits_with_the_same_rounded_counts_are_the_same(tmp_path, suffix):
    first = report(tmp_path, suffix, {}, stand_in(0)).read_bytes()
    for seed, counts in ((1, {}), (2, OTHERS[-1])):
        assert report(tmp_path, suffix, counts, stand_in(seed)).read_bytes() == first, counts


def with_marker(counts):
    """The cohort with two features to cluster on: odd numbers of observed values around two means far apart."""

    def values(group, n):
        return [sign + (-400.0, 500.0)[group] for sign in (-1.0, 1.0)] * (n // 2) + [(-400.0, 500.0)[group]]

    frame, schema, labels = cohort_of(FIRST | counts)
    sizes = np.bincount(labels).tolist()
    frame["marker"] = column(sizes, [1 - size % 2 for size in sizes], values)
    # What the first does not know of a subject, the second does.
    frame["second"] = np.concatenate([frame["marker"][labels == group][::-1] for group in (0, 1)])
    described = [Feature(**{**vars(feature), "role": "describe"}) for feature in schema]
    markers = [Feature(name=name, likelihood="gaussian") for name in ("marker", "second")]
    return frame, FeatureSchema([*described, *markers]), labels


@pytest.mark.parametrize("suffix", few(["xlsx", "html", "json"], 1))
def test_reports_of_searches_with_the_same_rounded_counts_are_the_same(tmp_path, suffix, some):
    written = []
    for counts in ({}, *some([OTHERS[-1], OTHERS[0], OTHERS[1]], few=1)):
        frame, schema, labels = with_marker(counts)
        model = PublishedMAPDP(schema, n_clusters=2, n_restarts=2, n_jobs=1, random_state=0, progress=False).fit(frame)
        np.testing.assert_array_equal(model.labels_, labels)
        path = tmp_path / f"report.{suffix}"
        reports.write_report(model, frame, path, suppress=10, round_to=BASE, generated=GENERATED, progress=False)
        written.append(path.read_bytes())
    assert all(each == written[0] for each in written[1:])
