"""A cut is the fit itself with its clusters merged: every public number of it follows from those of the fit."""

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema, mixed_cohort, with_blocks
from problems import problem_of
from scored import few
from test_saving import digest, edited, with_arrays, with_the_right_salt

import clinclust as cc
from clinclust import MAPDP
from clinclust.engine.problem.problem import clusters_of
from clinclust.errors import InputError
from clinclust.methods import PublishedMAPDP

OPTIONS = {
    "outlying": {"outlying_share": 0.02},
    "blocks": {"block_weights": {"block 0": 0.5}},
    "plain": {},
    "coarsening": {"coarsening": 0.8},
    "selection": {"select_features": True},
}
QUICK = {"n_restarts": 3, "random_state": 0, "progress": False}


def merged_log_joint(model):
    """The log joint of the partition into subtypes, which is that of the clusters where none were merged."""
    parts = (model.fit_.subtypes_.pooled, model.fit_.clusters_)
    merged, apart = (
        part.log_joint_of_each().sum() + part.sizes.size * np.log(part.model.concentration) for part in parts
    )
    return model.log_joint_ + (merged - apart)


def cohort(n=120):
    frame, schema, _, _ = mixed_cohort(4, n=n, n_groups=4, missing=0.1)
    return frame, with_blocks(schema)


@pytest.fixture(scope="module", params=few(OPTIONS, 2))
def fitted(request):
    frame, schema = cohort()
    model = PublishedMAPDP(schema, **QUICK, **OPTIONS[request.param]).fit(frame)
    assert model.n_clusters_ >= 4
    return model, frame


@pytest.fixture(scope="module")
def plain():
    frame, schema = cohort()
    return PublishedMAPDP(schema, **QUICK).fit(frame), frame


def joined(of_clusters, subtype_of):
    """Return the sums over the clusters of each subtype, one cluster after the other."""
    found = np.zeros((len(of_clusters), subtype_of.max() + 1))
    for cluster, subtype in enumerate(subtype_of):
        found[:, subtype] += of_clusters[:, cluster]
    return found


def assert_same(one, other):
    """Everything public of two fitted models is the same to the bit, but for the time that a search took."""
    for name in (name for name in dir(one.fit_) if not name.startswith("_")):
        ours, theirs = getattr(one, name, None), getattr(other, name, None)
        if isinstance(ours, np.ndarray) and ours.dtype != object:
            assert (ours.dtype, ours.tobytes()) == (theirs.dtype, theirs.tobytes()), name
        elif isinstance(ours, pd.DataFrame):
            pd.testing.assert_frame_equal(ours, theirs)
        elif isinstance(ours, pd.Series):
            pd.testing.assert_series_equal(ours, theirs, check_exact=True)
        elif isinstance(ours, str | float | int | dict | list):
            assert ours == theirs, name
    for name in ("labels", "joins", "evidence"):
        assert getattr(one.tree_, name).tobytes() == getattr(other.tree_, name).tobytes()
    assert one.subtypes_.sizes.tobytes() == other.subtypes_.sizes.tobytes()
    assert one.subtypes_.pooled.statistics.tobytes() == other.subtypes_.pooled.statistics.tobytes()
    assert one.cohort_fingerprint_.digest == other.cohort_fingerprint_.digest


def assert_says_the_same(one, other, frame):
    """What two models say of subjects is the same to the bit."""
    for call in ("predict", "predict_proba", "score_samples"):
        assert getattr(one, call)(frame).tobytes() == getattr(other, call)(frame).tobytes()
    pd.testing.assert_frame_equal(one.impute(frame), other.impute(frame), check_exact=True)


# --- what a cut is ----------------------------------------------------------------------------------------------------


def test_a_cut_at_the_number_found_is_the_model_itself(fitted):
    model, frame = fitted
    cut = model.cut(model.n_clusters_)
    assert_same(cut, model)
    assert_says_the_same(cut, model, frame)
    assert merged_log_joint(cut) == model.log_joint_
    assert_same(model.cut(2).cut(None), model)


def test_subtypes_are_sums_of_clusters(fitted):
    model, frame = fitted
    new = frame.iloc[::-3]
    finer, density = model.predict_proba(new), model.score_samples(new)
    for k in range(1, model.n_clusters_ + 1):
        cut = model.cut(k)
        assert (
            cut.labels_.tolist()
            == model.tree_.subtype_of(k)[model.tree_.labels].tolist()
            == cut.subtype_of_[model.labels_].tolist()
        )
        assert cut.labels_.dtype == np.int64
        assert cut.cluster_labels_.tobytes() == model.labels_.tobytes()
        np.testing.assert_allclose(cut.membership_, joined(model.membership_, cut.subtype_of_), rtol=1e-12)
        assert cut.membership_.max() <= 1.0
        proba = cut.predict_proba(new)
        np.testing.assert_allclose(proba[:, :-1], joined(finer, cut.subtype_of_), rtol=1e-12)
        assert proba[:, -1].tobytes() == finer[:, -1].tobytes()  # none of these
        assert (cut.predict(new) == np.where(proba.argmax(axis=1) == k, -1, proba.argmax(axis=1))).all()
        assert cut.score_samples(new).tobytes() == density.tobytes()
        assert cut.log_joint_ == model.log_joint_
        lost = model.tree_.evidence[: model.n_clusters_ - k].sum()
        assert merged_log_joint(cut) == pytest.approx(model.log_joint_ - lost, abs=1e-7)
        assert (cut.subtypes_.sizes == cut.cluster_sizes_).all()


def test_relevance_and_joint_are_those_of_the_merged_partition(plain):
    model, frame = plain
    schema = model.schema_
    problem = problem_of(frame, schema, model.hyperparameters_, block_weights=model.block_weights_)
    names = [feature.name for feature in problem.cohort.encoding.features]
    for k in range(1, model.n_clusters_ + 1):
        cut = model.cut(k)
        expected = clusters_of(problem, problem.partition(cut.labels_[problem.cohort.order])).relevance()
        np.testing.assert_allclose(cut.feature_relevance_[names], expected, rtol=1e-9, atol=1e-9)
        joint = cc.log_joint(frame, cut.labels_, schema, model.hyperparameters_, block_weights=model.block_weights_)
        assert merged_log_joint(cut) == pytest.approx(joint, abs=1e-7)


def test_the_model_that_is_cut_stays_as_it_was(plain):
    model, frame = plain
    before, parameters = digest(model, frame), model.get_params()
    cut = model.cut(2)
    assert cut.get_params() == parameters | {"n_clusters": 2}
    assert (digest(model, frame), model.get_params()) == (before, parameters)
    assert digest(cut.cut(3), frame) == digest(model.cut(3), frame)


@pytest.mark.filterwarnings("ignore:.*no observed value in any feature", "ignore:.*values lie beyond")
def test_a_selection_keeps_what_it_says_of_features_that_were_not_selected():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2, 3], 40)
    frame = pd.DataFrame({f"signal{i}": rng.normal(3.0 * groups, 1.0) for i in range(4)})
    frame = frame.assign(**{f"noise{i}": rng.normal(size=160) for i in range(6)})
    model = PublishedMAPDP(gaussian_schema(frame), **QUICK, select_features=True).fit(frame)
    assert model.selected_features_ == [f"signal{i}" for i in range(4)]
    noise = [f"noise{i}" for i in range(6)]
    cut = model.cut(2)
    assert cut.selected_features_ == model.selected_features_
    assert (model.feature_relevance_[noise] < cut.feature_relevance_[noise]).all()  # the price of clusters is saved
    assert (cut.feature_relevance_[noise] < 0).all()
    changed = frame.assign(**dict.fromkeys(noise, 5.0))
    assert cut.predict_proba(changed) == pytest.approx(cut.predict_proba(frame), rel=1e-9)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [0, -1, 2.0, "3", True, [2]])
def test_a_number_of_subtypes_is_a_whole_number(bad, plain):
    model, frame = plain
    with pytest.raises(InputError, match=r"^n_clusters must be 'distinct', 'kinds' or a whole"):
        model.cut(bad)
    with pytest.raises(InputError, match=r"^n_clusters must be 'distinct', 'kinds' or a whole"):
        PublishedMAPDP(model.schema, n_clusters=bad).fit(frame)


def test_more_than_the_search_found_is_refused_with_what_to_do(plain):
    model, frame = plain
    said = r"9 subtypes were asked for, and the search found 4 groups .* ask for at most 4, .* concentration \(now 3\)"
    with pytest.raises(InputError, match=said) as error:
        model.cut(9)
    assert "model" not in error.value.at_command_line
    asked = PublishedMAPDP(model.schema, **QUICK, n_clusters=9)
    with pytest.raises(InputError, match=said):
        asked.fit(frame)
    assert not hasattr(asked, "labels_")
    coarse = PublishedMAPDP(model.schema, **QUICK, coarsening=0.8).fit(frame)
    with pytest.raises(InputError, match=r"or a coarsening nearer to 1 \(now 0.8\)"):
        coarse.cut(9)


# --- saving -----------------------------------------------------------------------------------------------------------


EDITS = {
    "a subtype too many": with_arrays(lambda arrays: arrays["subtype_of_"].__setitem__(0, 9)),
    "a subtype below 0": with_arrays(lambda arrays: arrays["subtype_of_"].__setitem__(0, -1)),
    "not by size": with_arrays(lambda arrays: arrays.update(subtype_of_=1 - arrays["subtype_of_"])),
    "a gap": with_arrays(lambda arrays: arrays.update(subtype_of_=2 * arrays["subtype_of_"])),
    "a cluster less": with_arrays(lambda arrays: arrays.update(subtype_of_=arrays["subtype_of_"][1:])),
    "another type": with_arrays(lambda arrays: arrays.update(subtype_of_=arrays["subtype_of_"].astype(float))),
    "no map": edited(lambda text: text["fit"].update(subtype_of_=None)),
    "no included features": with_arrays(lambda arrays: arrays.pop("clusters_.included")),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_map_is_refused_although_every_checksum_is_right(edit, plain, tmp_path):
    folder = plain[0].cut(2).save(tmp_path / "model")
    with_the_right_salt(folder)
    MAPDP.load(folder)
    EDITS[edit](folder)
    if edit not in ("no map", "no included features", "another type"):
        with_the_right_salt(folder)
    with pytest.raises(InputError, match="holds no model that can be read: "):
        MAPDP.load(folder)


def test_another_cut_with_new_checksums_is_refused(plain, tmp_path):
    folder, other = plain[0].cut(2).save(tmp_path / "two"), plain[0].cut(3)
    with_arrays(lambda arrays: arrays.update(subtype_of_=other.subtype_of_))(folder)
    with pytest.raises(InputError, match="the subtypes are not those that the model was saved with"):
        MAPDP.load(folder)
