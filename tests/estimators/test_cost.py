"""The memory and the time of a fit are said before it."""

import tracemalloc
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema, quick_fit
from problems import problem_of

from clinclust import CohortWarning, Feature, FeatureSchema
from clinclust.errors import InputError
from clinclust.estimators import settings as cost
from clinclust.estimators.fitting import prepared
from clinclust.estimators.settings import Settings, duration_sentence, estimated_seconds, rounded_duration
from clinclust.methods import PublishedMAPDP


def wide_cohort(n, n_levels):
    levels = tuple(f"level {number}" for number in range(n_levels))
    schema = FeatureSchema(
        [
            Feature(name="diagnosis", likelihood="categorical", levels=levels),
            Feature(name="ward", likelihood="categorical", levels=("east", "west")),
            Feature(name="age", likelihood="gaussian"),
        ]
    )
    rng = np.random.default_rng(0)
    columns = {
        "diagnosis": np.array(levels, dtype=object)[rng.integers(n_levels, size=n)],
        "ward": np.array(["east", "west"])[rng.integers(2, size=n)],
        "age": rng.normal(60, 10, n),
    }
    return pd.DataFrame(columns), schema


def needed(n, n_levels, **parameters):
    frame, schema = wide_cohort(n, n_levels)
    settings = Settings.of(PublishedMAPDP(schema, **parameters))
    return cost.needed_memory(prepared(settings, frame).problem, settings)


def test_too_much_is_refused_with_the_column_and_the_repair(monkeypatch):
    frame, schema = wide_cohort(300, 2000)
    monkeypatch.setattr(cost, "machine_memory", lambda: 10e6)
    with pytest.raises(InputError, match=r"machine has 0\.0 GB") as caught:
        PublishedMAPDP(schema).fit(frame)
    assert "diagnosis (2,000 levels)" in str(caught.value)
    assert "ward" not in str(caught.value)
    assert "Group rare levels" in str(caught.value)


def test_much_is_a_warning_and_the_fit_goes_on(monkeypatch):
    frame, schema = wide_cohort(300, 500)
    monkeypatch.setattr(cost, "machine_memory", lambda: 8e6)
    with pytest.warns(CohortWarning, match=r"will need about 0\.0 GB of memory.*diagnosis"):
        model = quick_fit(frame, schema, n_restarts=1, n_jobs=1)
    assert model.n_clusters_ >= 1


def test_an_ordinary_cohort_passes_in_silence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert needed(2000, 20) < 100e6


def test_only_a_sample_of_a_large_cohort_is_searched_together():
    large, larger = needed(40_000, 300, n_jobs=2), needed(80_000, 300, n_jobs=2)
    assert large < larger < 1.05 * large
    assert needed(40_000, 300, n_jobs=2, select_features=True) > 2 * large


def test_an_unknown_machine_is_warned_of_gigabytes_only(monkeypatch):
    frame, schema = wide_cohort(300, 500)
    monkeypatch.setattr(cost, "machine_memory", lambda: None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prepared(Settings.of(PublishedMAPDP(schema)), frame)


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("n", "n_levels", "beside"),
    [(1500, 4000, {}), (1500, 4000, {"outlying_share": 0.01}), (10_000, 500, {"outlying_share": 0.01})],
)
def test_the_estimate_is_what_a_fit_takes(n, n_levels, beside):
    """Allocated memory is the same in every run; resident memory differs by a half with the system's pages."""
    frame, schema = wide_cohort(n, n_levels)
    model = PublishedMAPDP(schema, n_restarts=4, n_jobs=1, random_state=0, progress=False, **beside)
    settings = Settings.of(model)
    estimated = cost.needed_memory(prepared(settings, frame).problem, settings)
    tracemalloc.start()
    try:
        model.fit(frame)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.6 < taken / estimated < 1.1


def gaussian_problem(values, **block):
    frame = pd.DataFrame(values).rename(columns="x{}".format)
    return problem_of(frame, gaussian_schema(frame, **block))


def settings_of(**parameters):
    return Settings.of(PublishedMAPDP(**{"n_jobs": 1, **parameters}))


def seconds(problem, **parameters):
    """Return the estimated duration of a fit without its report."""
    return estimated_seconds(problem, settings_of(**parameters), with_report=False)


def test_the_estimate_grows_with_what_takes_time():
    rng = np.random.default_rng(1)
    small, large, wide = (gaussian_problem(rng.normal(size=shape)) for shape in ((200, 5), (4000, 5), (200, 30)))
    for other in (large, wide, gaussian_problem(rng.exponential(size=(200, 5)))):
        assert seconds(other) > seconds(small)
    assert estimated_seconds(small, settings_of()) > seconds(small)
    assert seconds(large, n_jobs=2) < seconds(large)
    for options in ({"coarsening": "auto"}, {"outlying_share": 0.1}, {"select_features": True}):
        assert seconds(small, **options) > seconds(small)
    of_refits = estimated_seconds(wide, settings_of(select_features="auto"))
    assert of_refits > 1.2 * estimated_seconds(wide, settings_of())
    blocks = gaussian_problem(rng.normal(size=(200, 4)), block="one")
    assert seconds(blocks) < seconds(blocks, block_weights="auto")
    assert 1.5 * seconds(blocks, block_weights="auto") < seconds(blocks, block_weights="auto", n_restarts=30)


def test_a_time_limit_bounds_the_search_and_neither_the_test_of_the_tree_nor_the_report():
    rng = np.random.default_rng(4)
    for problem in (gaussian_problem(rng.normal(size=(300, n_features))) for n_features in (4, 60)):
        plain, tested = seconds(problem), seconds(problem, n_clusters="distinct")
        assert tested > plain
        assert seconds(problem, max_seconds=0.001) == 0.001
        assert seconds(problem, n_clusters="distinct", max_seconds=0.001) == pytest.approx(tested - plain + 0.001)
        limited = settings_of(n_clusters="distinct", max_seconds=0.001)
        assert ", and the test of the subtypes and the report take about " in duration_sentence(problem, limited)
    assert tested > 2.0 * plain  # of many features, the test takes most of the time
    large, limited = gaussian_problem(rng.exponential(size=(4000, 30))), settings_of(max_seconds=7.5)
    said = [duration_sentence(large, limited, associations=how) for how in ("refit", None)]
    assert all("ends after at most 7.5 seconds, and the report takes about" in sentence for sentence in said)
    assert said[0] != said[1]


def test_a_cohort_that_is_searched_in_a_sample_takes_more_time_by_the_subject_only_among_all():
    rng = np.random.default_rng(5)
    all_of_it, half, large, larger = (gaussian_problem(rng.normal(size=(n, 3))) for n in (2_999, 3_000, 10_000, 60_000))
    estimates = [seconds(problem, coarsening="auto") for problem in (all_of_it, half, large, larger)]
    assert estimates[1] < estimates[0]
    assert estimates[2] < estimates[3] < 6.0 * estimates[2]
    among_all = replace(settings_of(coarsening="auto"), select_features=True)  # from the beginning
    assert estimated_seconds(large, among_all, with_report=False) > 3.0 * estimates[2]


@pytest.mark.parametrize(("seconds", "words"), [(14.5, "20 seconds"), (4e3, "an hour"), (9e4, "more than a day")])
def test_durations_are_round(seconds, words):
    assert rounded_duration(seconds) == words
