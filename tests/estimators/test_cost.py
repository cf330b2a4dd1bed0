"""The memory of a fit is told before it: refused where there is not enough, with the columns that need it."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from clinclust import MAPDP, CohortWarning, Feature, FeatureSchema
from clinclust.errors import InputError
from clinclust.estimators import cost
from clinclust.estimators.preparation import prepared


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
    model = MAPDP(schema, **parameters)
    return cost.needed_memory(prepared(model, frame, stacklevel=1).problem, model)


def test_too_much_is_refused_with_the_column_and_the_repair(monkeypatch):
    frame, schema = wide_cohort(300, 2000)
    monkeypatch.setattr(cost, "machine_memory", lambda: 10e6)
    with pytest.raises(InputError, match=r"machine has 0\.0 GB") as caught:
        MAPDP(schema).fit(frame)
    assert "diagnosis (2,000 levels)" in str(caught.value)
    assert "ward" not in str(caught.value)
    assert "Group rare levels" in str(caught.value)


def test_much_is_a_warning_and_the_fit_goes_on(monkeypatch):
    frame, schema = wide_cohort(300, 500)
    monkeypatch.setattr(cost, "machine_memory", lambda: 8e6)
    with pytest.warns(CohortWarning, match=r"will need about 0\.0 GB of memory.*diagnosis"):
        model = MAPDP(schema, n_restarts=1, n_jobs=1, random_state=0).fit(frame)
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
        prepared(MAPDP(schema), frame, stacklevel=1)


def test_the_machine_is_asked():
    memory = cost.machine_memory()
    assert memory is None or memory > 1e8


MEASURED = r"""
import re, sys
from pathlib import Path
import numpy as np
from test_cost import cost, prepared, wide_cohort
from clinclust import MAPDP

def peak():  # getrusage would begin with the peak of the process that started this one
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])

MAPDP(n_restarts=2, progress=False).fit(np.random.default_rng(0).normal(size=(50, 2)))
n, n_levels = map(int, sys.argv[1:3])
frame, schema = wide_cohort(n, n_levels)
beside = {"outlying_share": 0.01} if "beside" in sys.argv else {}
model = MAPDP(schema, n_restarts=4, n_jobs=1, random_state=0, progress=False, **beside)
cohort = prepared(model, frame, stacklevel=1)
before = peak()
model.fit(frame)
print(peak() - before, cost.needed_memory(cohort.problem, model))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("size", [("1500", "4000"), ("1500", "4000", "beside"), ("10000", "500", "beside")])
def test_the_estimate_is_what_a_fit_takes(size):
    folder = str(__file__).rpartition("/")[0]
    program = f"import sys; sys.path.insert(0, {folder!r})\n{MEASURED}"
    done = subprocess.run(
        [sys.executable, "-c", program, *size], capture_output=True, text=True, check=True, timeout=120
    )
    taken, estimated = map(float, done.stdout.split())
    assert 0.6 < taken / estimated < 1.3
