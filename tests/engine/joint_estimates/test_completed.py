"""The problem of a completed table is that of a table which holds the filled values."""

import numpy as np
import pandas as pd
import pytest
from problems import problem_of

from clinclust import Feature, FeatureSchema, log_joint
from clinclust.engine.joint_estimates.outlying import completed
from clinclust.engine.problem import problem as objective

N = 40
SCHEMA = FeatureSchema(
    [
        Feature(name="falls", likelihood="poisson", block="events"),
        Feature(name="visits", likelihood="negative_binomial", block="events"),
        Feature(name="score", likelihood="binomial", trials=30),
        Feature(name="stage", likelihood="ordinal", levels=("mild", "moderate", "severe")),
        Feature(name="days", likelihood="exponential"),
        Feature(name="crp", likelihood="gaussian", transform="log"),
    ]
)
FILLED = {"falls": 17.0, "visits": 41.0, "score": 29.0, "stage": "severe", "days": 12.5, "crp": 9.0}


def cohort():
    """Return a frame in which a quarter of the values is missing, and nobody has the counts of `FILLED`."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "falls": rng.poisson(2.0, N).astype(float),
            "visits": rng.poisson(6.0, N).astype(float),
            "score": rng.binomial(20, 0.4, N).astype(float),
            "stage": rng.choice(np.array(["mild", "moderate"], dtype=object), N),
            "days": rng.exponential(9.0, N),
            "crp": rng.lognormal(1.0, 1.0, N),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.25)


@pytest.mark.parametrize("power", [1.0, 0.4])
@pytest.mark.parametrize("coarsening", [1.0, 0.5])
def test_its_joint_is_that_of_the_table_with_the_values_filled(power, coarsening):
    frame = cohort()
    problem = problem_of(frame, SCHEMA, coarsening=coarsening, block_weights={"events": power})
    encoding, order = problem.cohort.encoding, problem.cohort.order
    filled = np.full((N, len(encoding.features)), np.nan)
    for place, feature in enumerate(encoding.features):
        value = {"stage": 2.0, "crp": np.log(FILLED["crp"])}.get(feature.name, FILLED[feature.name])
        missing = frame[feature.name].isna().to_numpy()[order]
        filled[missing, place] = (value - encoding.centres[place]) / encoding.scales[place]
    labels = np.arange(N) % 3
    table = completed(problem, filled)
    found = objective.log_joint(table, table.partition(labels[order]))
    expected = log_joint(
        frame.fillna(FILLED),
        labels,
        SCHEMA,
        problem.hyperparameters,
        coarsening=coarsening,
        block_weights={"events": power},
    )
    assert found == pytest.approx(expected, abs=1e-8)


def test_what_is_not_filled_stays_missing():
    frame = cohort()
    problem = problem_of(frame, SCHEMA)
    filled = np.full((N, len(SCHEMA)), np.nan)
    for array, before in zip(completed(problem, filled).cohort.arrays, problem.cohort.arrays, strict=True):
        np.testing.assert_array_equal(array, before)
    first = int(np.flatnonzero(problem.cohort.arrays.codes[:, 0] == 0)[0])
    filled[first, 0] = 1.0
    arrays, before = completed(problem, filled).cohort.arrays, problem.cohort.arrays
    assert (arrays.codes == 0).sum() == (before.codes == 0).sum() - 1
    assert arrays.level_values[arrays.codes[first, 0]] == 1.0
    np.testing.assert_array_equal(arrays.values, before.values)
