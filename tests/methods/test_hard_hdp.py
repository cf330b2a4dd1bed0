"""The hard Gaussian HDP: its objective never rises, centres share clusters, and one centre is DP-means."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clinclust as cc
from clinclust.errors import InputError
from clinclust.methods import DPMeans, HardHDP


def schema_of_two():
    features = [cc.Feature(name=name, likelihood="gaussian") for name in "xy"]
    return cc.FeatureSchema([*features, cc.Feature(name="hospital", role="ignore")])


def cohort(seed=0, n_centres=4, each=40):
    """Centres that hold two of three groups each, the same for all."""
    rng = np.random.default_rng(seed)
    centre = np.repeat(np.arange(n_centres), each)
    group = (centre + rng.integers(2, size=centre.size)) % 3
    means = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    frame = pd.DataFrame(means[group] + rng.normal(size=(centre.size, 2)), columns=["x", "y"])
    frame["hospital"] = np.array([f"hospital {name}" for name in "ABCDEF"])[centre]
    return frame, schema_of_two(), group


def objective(model, values, centres):
    pairs = {*zip(centres, model.labels_.tolist(), strict=True)}
    within = sum(
        ((values[model.labels_ == k] - values[model.labels_ == k].mean(axis=0)) ** 2).sum()
        for k in range(model.n_clusters_)
    )
    return within + model.local_penalty_ * len(pairs) + model.global_penalty_ * model.n_clusters_


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 5.0), st.floats(0.05, 20.0))
def test_the_objective_never_rises(seed, local, whole):
    rng = np.random.default_rng(seed)
    frame, schema = pd.DataFrame(rng.normal(size=(24, 2)) * 2.0, columns=["x", "y"]), schema_of_two()
    frame["hospital"] = rng.choice(list("abc"), 24)
    model = HardHDP(schema, centre="hospital", local_penalty=local, global_penalty=whole).fit(frame)
    assert (np.diff(model.objective_trace_) <= 1e-9).all()
    values = frame[["x", "y"]].to_numpy()
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    assert model.objective_trace_[-1] == pytest.approx(objective(model, values, frame["hospital"].tolist()))
    shared = [np.unique(model.labels_[frame["hospital"] == name]).size for name in model.n_local_.index]
    assert model.n_local_.tolist() == shared


def test_centres_share_their_clusters_and_it_is_reported(tmp_path):
    frame, schema, group = cohort()
    prices = {"local_penalty": 0.5, "global_penalty": 4.0, "random_state": 0}
    model = HardHDP(schema, centre="hospital", **prices).fit(frame)
    assert cc.comparisons.compare_partitions(model, group)["adjusted_rand"] > 0.9
    assert model.n_local_.to_dict() == {f"hospital {name}": 2 for name in "ABCD"}
    page = cc.write_report(model, frame, tmp_path / "x.html", associations=None, progress=False).read_text("utf-8")
    assert "the hard Gaussian HDP of the centres in hospital" in page
    again = HardHDP(schema, centre="hospital", **prices).fit_predict(frame)
    assert (again == model.labels_).all()


def test_one_centre_is_dp_means_of_both_penalties():
    frame, schema, _ = cohort(n_centres=1, each=80)
    alone = HardHDP(schema, centre="hospital", local_penalty=0.2, global_penalty=0.8, n_restarts=1).fit(frame)
    together = DPMeans(schema, penalty=1.0, n_restarts=1).fit(frame)
    assert cc.comparisons.compare_partitions(alone, together)["adjusted_rand"] == 1.0
    assert alone.n_local_.tolist() == [together.n_clusters_]


def test_penalties_for_wished_numbers_by_hand():
    """One feature: A holds 0 and 2, B 10 and 12; the mean is 6, and the spread 26 in squared units."""
    frame = pd.DataFrame({"x": [0.0, 2.0, 10.0, 12.0], "hospital": ["A", "A", "B", "B"]})
    schema = cc.FeatureSchema([cc.Feature(name="x", likelihood="gaussian"), cc.Feature(name="hospital", role="ignore")])
    model = HardHDP(schema, centre="hospital", n_local=2, n_clusters=2).fit(frame)
    # From each centre's mean both lie 1 away; when one of them is added, the other stays 1 away.
    assert model.local_penalty_ == pytest.approx(1.0 / 26.0)
    # From 6, A is 36 + 16 away and so is B; when 0, the farthest of A, is added, B stays as far.
    assert model.global_penalty_ == pytest.approx(52.0 / 26.0)
    model = HardHDP(schema, centre="hospital", n_local=2, n_clusters=3).fit(frame)
    # When 12 is added too, 2 is 4 away from 0, and 10 from 12.
    assert model.global_penalty_ == pytest.approx(4.0 / 26.0)


@pytest.mark.simulation
def test_wished_numbers_find_shared_clusters_of_many_small_centres():
    """The experiment of section 6.3 of the paper: the penalties of the heuristics are of the size of the clusters."""
    rng = np.random.default_rng(0)
    means = rng.uniform(0.0, 1.0, (15, 2))
    group = np.concatenate([np.repeat(rng.choice(15, 5, replace=False), 5) for _ in range(50)])
    frame = pd.DataFrame(rng.normal(means[group], 0.1), columns=["x", "y"])
    frame["hospital"] = np.repeat([f"h{number:02d}" for number in range(50)], 25)
    model = HardHDP(schema_of_two(), centre="hospital", n_local=5, n_clusters=15, random_state=0).fit(frame)
    assert 8 <= model.n_clusters_ <= 20
    assert 3.0 < model.n_local_.mean() < 6.0


def test_what_cannot_be_used_is_refused():
    frame, schema, _ = cohort()
    for parameters, problem in (
        ({}, r"give either local_penalty or n_local .*; give either global_penalty or n_clusters"),
        ({"local_penalty": 0, "n_clusters": 0}, "local_penalty must be a number above 0.*n_clusters must be"),
    ):
        with pytest.raises(InputError, match=problem):
            HardHDP(schema, centre="hospital", **parameters).fit(frame)
    given_all = {"local_penalty": 1.0, "global_penalty": 1.0}
    with pytest.raises(InputError, match="one column 'clinic'"):
        HardHDP(schema, centre="clinic", **given_all).fit(frame)
    with pytest.raises(InputError, match="cannot be clustered on"):
        HardHDP(schema, centre="x", **given_all).fit(frame)
    with pytest.raises(InputError, match=r"the centre of 1 subject\(s\) is missing"):
        HardHDP(schema, centre="hospital", **given_all).fit(
            frame.assign(hospital=frame["hospital"].where(frame.index > 0))
        )
