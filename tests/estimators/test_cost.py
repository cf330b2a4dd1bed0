"""The memory of a fit is told before it: refused where there is not enough, with the columns that need it."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest

from clinclust import MAPDP, CohortWarning, Feature, FeatureSchema
from clinclust.errors import InputError
from clinclust.estimators import cost
from clinclust.estimators.preparation import prepared
from clinclust.estimators.settings import Settings


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
    settings = Settings.of(MAPDP.as_published(schema, **parameters).get_params())
    return cost.needed_memory(prepared(settings, frame, stacklevel=1).problem, settings)


def test_too_much_is_refused_with_the_column_and_the_repair(monkeypatch):
    frame, schema = wide_cohort(300, 2000)
    monkeypatch.setattr(cost, "machine_memory", lambda: 10e6)
    with pytest.raises(InputError, match=r"machine has 0\.0 GB") as caught:
        MAPDP.as_published(schema).fit(frame)
    assert "diagnosis (2,000 levels)" in str(caught.value)
    assert "ward" not in str(caught.value)
    assert "Group rare levels" in str(caught.value)


def test_much_is_a_warning_and_the_fit_goes_on(monkeypatch):
    frame, schema = wide_cohort(300, 500)
    monkeypatch.setattr(cost, "machine_memory", lambda: 8e6)
    with pytest.warns(CohortWarning, match=r"will need about 0\.0 GB of memory.*diagnosis"):
        model = MAPDP.as_published(schema, n_restarts=1, n_jobs=1, random_state=0).fit(frame)
    assert model.n_clusters_ >= 1


def test_an_ordinary_cohort_passes_in_silence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert needed(2000, 20) < 100e6


def test_only_a_sample_of_a_large_cohort_is_searched_together():
    large, larger = needed(40_000, 300, n_jobs=2), needed(80_000, 300, n_jobs=2)
    assert larger == large
    assert needed(40_000, 300, n_jobs=2, select_features=True) > 2 * large


def test_an_unknown_machine_is_warned_of_gigabytes_only(monkeypatch):
    frame, schema = wide_cohort(300, 500)
    monkeypatch.setattr(cost, "machine_memory", lambda: None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prepared(Settings.of(MAPDP.as_published(schema).get_params()), frame, stacklevel=1)


def test_the_machine_is_asked():
    memory = cost.machine_memory()
    assert memory is None or memory > 1e8


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("n", "n_levels", "beside"),
    [(1500, 4000, {}), (1500, 4000, {"outlying_share": 0.01}), (10_000, 500, {"outlying_share": 0.01})],
)
def test_the_estimate_is_what_a_fit_takes(n, n_levels, beside):
    """Allocated memory is the same in every run; resident memory differs by a half with the system's pages."""
    frame, schema = wide_cohort(n, n_levels)
    model = MAPDP.as_published(schema, n_restarts=4, n_jobs=1, random_state=0, progress=False, **beside)
    settings = Settings.of(model.get_params())
    estimated = cost.needed_memory(prepared(settings, frame, stacklevel=1).problem, settings)
    tracemalloc.start()
    try:
        model.fit(frame)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.6 < taken / estimated < 1.1
