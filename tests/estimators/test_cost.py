"""The memory and the time of a fit are said before it."""

import tracemalloc
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from clinclust import CohortWarning, Feature, FeatureSchema
from clinclust.engine.problem.problem import pose
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
        model = PublishedMAPDP(schema, n_restarts=1, n_jobs=1, random_state=0).fit(frame)
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


def settings_of(**parameters):
    return Settings.of(PublishedMAPDP(**parameters))


def problem_of(values, likelihood="gaussian"):
    frame = pd.DataFrame(values).rename(columns="x{}".format)
    schema = FeatureSchema([Feature(name=name, likelihood=likelihood) for name in frame])
    return pose(schema.validate(frame, warn=False), schema, None, 3.0)


def test_the_estimate_grows_with_what_takes_time():
    rng = np.random.default_rng(1)
    small, large, skewed = (
        problem_of(values)
        for values in (rng.normal(size=(200, 5)), rng.normal(size=(4000, 5)), rng.exponential(size=(200, 5)))
    )
    model = settings_of(n_jobs=1)
    seconds = estimated_seconds(small, model)
    assert estimated_seconds(large, model) > seconds
    assert estimated_seconds(skewed, model) > seconds
    assert estimated_seconds(small, model, with_report=False) < seconds
    assert estimated_seconds(large, settings_of(n_jobs=2)) < estimated_seconds(large, model)
    for options in ({"coarsening": "auto"}, {"outlying_share": 0.1}, {"select_features": True}):
        assert estimated_seconds(small, settings_of(n_jobs=1, **options)) > seconds
    wide = problem_of(rng.normal(size=(200, 30)))
    assert estimated_seconds(wide, settings_of(n_jobs=1, select_features="auto")) > 1.2 * estimated_seconds(wide, model)
    limited = settings_of(n_jobs=1, max_seconds=0.001)
    assert estimated_seconds(large, limited, with_report=False) == 0.001


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "a second"),
        (2.2, "2 seconds"),
        (14.5, "20 seconds"),
        (70.0, "a minute"),
        (260.0, "5 minutes"),
        (4000.0, "an hour"),
        (9000.0, "3 hours"),
        (90000.0, "more than a day"),
    ],
)
def test_durations_are_round(seconds, words):
    assert rounded_duration(seconds) == words


def test_the_sentence_names_both_ends_and_the_options():
    problem = problem_of(np.random.default_rng(2).normal(size=(300, 5)))
    said = duration_sentence(problem, settings_of(), options="default options")
    assert said.startswith("With default options, a fit and its report take about 2 seconds on this machine, and up to")


def test_a_time_limit_bounds_the_search_and_not_the_report():
    problem = problem_of(np.random.default_rng(2).exponential(size=(4000, 30)))
    said = duration_sentence(problem, settings_of(max_seconds=7.5, n_jobs=2))
    assert said.startswith("With these options, the search ends after at most 7.5 seconds, and the report takes about")
    shorter = duration_sentence(problem, settings_of(max_seconds=7.5, n_jobs=2), associations=None)
    assert "the report takes about 5 seconds more" in shorter
    assert said != shorter


def test_restarts_and_powers_of_blocks_take_time():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    features = [Feature(name=name, likelihood="gaussian", block="one" if name < "c" else None) for name in frame]
    problem = pose(frame, FeatureSchema(features), None, 3.0)
    seconds = estimated_seconds(problem, settings_of(n_jobs=1, block_weights="auto"), with_report=False)
    longer = estimated_seconds(problem, settings_of(n_jobs=1, block_weights="auto", n_restarts=30), with_report=False)
    assert longer > 1.5 * seconds
    assert estimated_seconds(problem, settings_of(n_jobs=1), with_report=False) < seconds


def test_the_test_of_the_tree_takes_time_outside_of_a_time_limit():
    rng = np.random.default_rng(4)
    few, many = problem_of(rng.normal(size=(300, 4))), problem_of(rng.normal(size=(300, 60)))
    for problem in (few, many):
        plain = estimated_seconds(problem, settings_of(n_jobs=1), with_report=False)
        tested = estimated_seconds(problem, settings_of(n_jobs=1, n_clusters="distinct"), with_report=False)
        assert tested > plain
        limited = settings_of(n_jobs=1, n_clusters="distinct", max_seconds=0.001)
        assert estimated_seconds(problem, limited, with_report=False) == pytest.approx(tested - plain + 0.001)
        said = duration_sentence(problem, limited)
        assert ", and the test of the subtypes and the report take about " in said
    assert tested > 2.0 * plain  # of many features, the test takes most of the time


def test_a_cohort_that_is_searched_in_a_sample_takes_more_time_by_the_subject_only_among_all():
    rng = np.random.default_rng(5)
    all_of_it, half, large, larger = (problem_of(rng.normal(size=(n, 3))) for n in (2_999, 3_000, 10_000, 60_000))
    model = settings_of(n_jobs=1, coarsening="auto")
    seconds = [estimated_seconds(problem, model, with_report=False) for problem in (all_of_it, half, large, larger)]
    assert seconds[1] < seconds[0]
    assert seconds[2] < seconds[3] < 6.0 * seconds[2]
    selecting = replace(model, select_features=True)  # searches among all from the beginning
    assert estimated_seconds(large, selecting, with_report=False) > 3.0 * seconds[2]
