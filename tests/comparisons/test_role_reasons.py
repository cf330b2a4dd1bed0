"""The reason why a feature forms no subtypes changes nothing of how it is compared, tested and shown."""

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from clinclust.roles import REASONS

N = 80
LABELS = np.arange(N) % 2
RNG = np.random.default_rng(0)
COHORT = pd.DataFrame({"x": RNG.normal(4.0 * LABELS), "y": RNG.normal(LABELS), "seen": ["2024-02-30"] * N})


def results_of(role):
    features = [cc.Feature(name=name, likelihood="gaussian") for name in ("x", "y")]
    schema = cc.FeatureSchema([*features, cc.Feature(name="seen", role="time")]).with_roles(y=role)
    frame = schema.validate(COHORT)
    partition = cc.Partition(LABELS + 1, schema, made_by="a clinician")
    compared = cc.compare_subtypes(frame, LABELS + 1, schema)
    return compared, cc.validated_associations(partition, frame), cc.subtype_table(compared).to_markdown()


@pytest.fixture(scope="module")
def described():
    return results_of("describe")


@pytest.mark.parametrize("role", REASONS)
def test_a_reason_is_treated_as_described(role, described):
    *frames, table = results_of(role)
    for found, plain in zip(frames, described[:2], strict=True):
        own = found["feature"] == "y"
        assert set(found.loc[own, "role"]) == {role}
        pd.testing.assert_frame_equal(found.assign(role=""), plain.assign(role=""))
    assert table == described[2]
