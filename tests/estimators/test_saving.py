"""Saved models: the same to the bit when they come back, no pickle, and a clear word about other files."""

import hashlib
import io
import json
import subprocess
import sys
import zipfile
from dataclasses import is_dataclass, replace
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from cases import cases_beside
from cohorts import mixed_cohort, random_hyperparameters, schema_of, with_blocks
from scored import few

from clinclust import MAPDP, CohortWarning, Feature, FeatureSchema
from clinclust.errors import InputError
from clinclust.estimators.cohort_table import salt_of, seal_of_subtypes
from clinclust.estimators.fit import Fit
from clinclust.estimators.saving import HELD, Reader, written_fields
from clinclust.files.writing import write_manifest
from clinclust.methods import PublishedMAPDP

FITTED = (
    *("labels_", "membership_", "log_joint_trace_", "cluster_sizes_", "n_clusters_", "log_joint_"),
    *("leave_one_out_nll_", "hyperparameters_", "uninformative_", "concentration_", "block_weights_", "random_seed_"),
    *("versions_", "n_features_in_", "schema_"),
)


@pytest.fixture(scope="module")
def fitted():
    frame, schema, _, _ = mixed_cohort(4, n=50)
    return PublishedMAPDP(
        FeatureSchema(with_blocks(schema), title="=1+1: {\"a\": [1]} # 'x' <b> 日本"),
        block_weights="auto",
        n_restarts=4,
        concentration=2.0,
        random_state=np.random.default_rng(3),
    ).fit(frame), frame


@pytest.fixture
def folder(fitted, tmp_path):
    return fitted[0].save(tmp_path / "model")


def digest(model, frame):
    """Return every number and text of a fitted model, exactly."""
    new = frame.iloc[::-1]
    parts = [
        model.predict(new).tobytes(),
        model.predict_proba(new).tobytes(),
        model.score_samples(new).tobytes(),
        model.impute(new).to_csv().encode(),
    ]
    fitted = {name: getattr(model, name, None) for name in FITTED}
    parts += [value.tobytes() for value in fitted.values() if isinstance(value, np.ndarray)]
    parts += [repr(named).encode() for named in fitted.items()]
    parts += [model.feature_relevance_.to_csv().encode(), model.restarts_.to_csv().encode()]
    parts += [
        model.schema_.fingerprint.encode(),
        str(model.restarts_.dtypes).encode(),
        str(model.feature_names_in_).encode(),
    ]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def test_a_loaded_model_is_the_same_to_the_bit_in_another_process(fitted, folder):
    model, frame = fitted
    frame.to_pickle(folder.parent / "frame.pickle")
    code = (
        "import sys; sys.path[:0] = sys.argv[3:]; import pandas as pd, clinclust, test_saving;"
        "print(test_saving.digest(clinclust.MAPDP.load(sys.argv[1]), pd.read_pickle(sys.argv[2])))"
    )
    paths = [
        str(folder),
        str(folder.parent / "frame.pickle"),
        str(Path(__file__).parent),
        str(Path(__file__).parents[1]),
    ]
    done = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest(model, frame)


def test_a_fit_of_everything_comes_back_to_the_bit_cut_and_again_whole(tmp_path):
    rng = np.random.default_rng(5)
    values = rng.normal(np.repeat([0.0, 4.0], 40)[:, None], 1.0, (80, 4))
    values[::17, 0] = 60.0
    frame = pd.DataFrame(values, columns=list("abcd")).assign(
        age=rng.normal(60.0, 9.0, 80), score=np.where(rng.random(80) < 0.3, 0.0, rng.gamma(8.0, 2.0, 80))
    )
    schema = schema_of("abcd", age={"role": "adjust"}, score={"transform": "log", "spike": 0.0})
    model = MAPDP(schema, select_features="auto", n_restarts=1, random_state=0, calibrate=False).fit(frame)
    assert model.outliers_.any()
    assert model.n_clusters_ > 1
    for place, kept in enumerate((model, model.cut(1), model.cut(None, min_size=0.1))):
        loaded = MAPDP.load(kept.save(tmp_path / str(place)))
        assert digest(loaded, frame) == digest(kept, frame)
        assert [name for name in dir(loaded) if name[-1] == "_"] == [name for name in dir(kept) if name[-1] == "_"]
        for name in ("n_clusters", "min_size", "select_features", "coarsening", "outlying_share"):
            assert getattr(loaded, name) == getattr(kept, name)
        for name in ("outliers_", "outlying_share_", "min_size_", "selected_features_", "prior_strength_"):
            np.testing.assert_equal(getattr(loaded, name), getattr(kept, name))
        pd.testing.assert_frame_equal(loaded.tree_.merges, kept.tree_.merges, check_exact=True)
        drawn = (each.multiple_imputations(frame, m=1, n_sweeps=1, random_state=0)[0] for each in (loaded, kept))
        pd.testing.assert_frame_equal(*drawn, check_exact=True)
        assert digest(loaded.cut(None), frame) == digest(model, frame)


def test_a_model_loaded_and_saved_again_is_the_same_file(folder):
    again = MAPDP.load(folder).save(folder.parent / "again")
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "model.json", "model.npz"]
    for path in folder.iterdir():
        assert (again / path.name).read_bytes() == path.read_bytes()


@pytest.mark.filterwarnings("ignore:.* described clearly better by another likelihood")
@pytest.mark.parametrize("init", few(["labels", "search", "single"], 1))
def test_fitting_a_loaded_model_again_gives_the_same(init, tmp_path):
    frame, schema, columns, groups = mixed_cohort(6, n=40)
    hyperparameters = random_hyperparameters(np.random.default_rng(0), columns)
    del hyperparameters["gaussian_6"]["kappa"], hyperparameters["poisson_3"]
    hyperparameters["binomial_1"]["a"] = np.float64(0.5)
    model = PublishedMAPDP(
        with_blocks(schema),
        init=np.array(["x", "y", "z"])[groups] if init == "labels" else init,
        hyperparameters=hyperparameters,
        block_weights={"block 1": np.float64(0.25)},
        n_restarts=np.int64(3),
        max_sweeps=70,
        n_jobs=1,
        progress=False,
    ).fit(frame)
    loaded = MAPDP.load(model.save(tmp_path / "model"))
    parameters = loaded.get_params()
    assert parameters["random_state"] == model.random_seed_
    assert parameters["hyperparameters"] == hyperparameters
    assert parameters["block_weights"] == {"block 1": 0.25}
    assert loaded.block_weights_ == model.block_weights_ == {"block 0": 1.0, "block 1": 0.25}
    assert (parameters["n_restarts"], parameters["max_sweeps"], parameters["n_jobs"]) == (3, 70, 1)
    assert parameters["progress"] is False
    again = loaded.fit(frame)
    assert again.labels_.tobytes() == model.labels_.tobytes()
    assert again.restarts_["log_joint"].tolist() == model.restarts_["log_joint"].tolist()
    assert again.restarts_["start"].tolist() == model.restarts_["start"].tolist()


def test_a_fit_that_parts_one_subject_from_all_others_is_saved_without_a_test(tmp_path):
    odd = np.random.default_rng(0).normal(size=(60, 4))
    odd[0] = 30.0
    model = PublishedMAPDP(n_clusters="distinct", random_state=0, progress=False).fit(odd)
    assert len(model.tree_.joins) == 1 + len(model.tree_test_.joins) == 1
    assert MAPDP.load(model.save(tmp_path / "model")).n_clusters_ == 1


# --- files that are no models -------------------------------------------------------------------------------------


def edited(change):
    def content(text):
        change(text)
        return json.dumps(text, indent=1).encode()

    return with_text(content)


def sealed(change):
    """Change a file of the folder, and write the right checksums of all."""

    def edit(folder):
        change(folder)
        write_manifest(folder, ["model.json", "model.npz"])

    return edit


def with_checksum(numbers):
    return sealed(lambda folder: (folder / "model.npz").write_bytes(numbers))


def with_text(content):
    def edit(folder):
        text = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        (folder / "model.json").write_bytes(content(text))

    return sealed(edit)


def with_arrays(change):
    """Change the arrays, and write them with their right checksum."""

    def edit(folder):
        with np.load(folder / "model.npz") as archive:
            arrays = dict(archive)
        change(arrays)
        with_checksum(archive_of(**arrays))(folder)

    return edit


def stored(content, compression=zipfile.ZIP_STORED, copies=1):
    """Write an archive with one entry, or several that share its bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.writestr("cluster_labels_.npy", content)
        archive.filelist *= copies
    return with_checksum(buffer.getvalue())


def array_of(length, content=b""):
    """Return the file of an array that says that it has this many numbers."""
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({length},), }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content


def archive_of(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=True, **arrays)
    return buffer.getvalue()


def put_at(where, value):
    """Return a function that puts a value in the text of a model, at keys divided by points."""

    def put(text):
        *path, key = where.split(".")
        reduce(getitem, path, text)[key] = value

    return put


def put_in(array, index, value):
    return lambda arrays: arrays[array].__setitem__(tuple(index) if isinstance(index, list) else index, value)


STATISTICS, POWERS = "clusters_.statistics", "clusters_.model.powers"
BROKEN = {
    **{name: edited(put_at(where, json.loads(value))) for name, where, value in cases_beside(__file__, "texts")},
    **{name: with_arrays(put_in(array, *which)) for name, array, *which in cases_beside(__file__, "arrays")},
    "garbage": lambda folder: (folder / "model.json").write_bytes(b"\xff\xfe\x00garbage"),
    "lacks features": edited(lambda text: text["fit"]["clusters_"]["encoding"].pop("features")),
    "a checksum that is none": lambda folder: (folder / "manifest.json").write_text("{}"),
    "feature": edited(lambda text: text["fit"]["clusters_"]["encoding"]["features"].append("unheard_of")),
    "no fit": edited(lambda text: text.pop("fit")),
    "constants": with_text(lambda text: json.dumps(text, indent=1).replace("0.0", "NaN", 1).encode()),
    "a number too large": with_text(lambda text: json.dumps(text, indent=1).replace("0.0", "1e999", 1).encode()),
    "a name twice": with_text(
        lambda text: json.dumps(text, indent=1).replace("{", '{"clinclust_model": 5, ', 1).encode()
    ),
    "nested too deeply": with_text(lambda text: b'{"a":' * 100_000),
    "features in another order": edited(lambda text: text["fit"]["clusters_"]["encoding"]["features"].reverse()),
    "another level": edited(
        lambda text: text["fit"].update(schema_=text["fit"]["schema_"].replace("trials: 4", "trials: 5"))
    ),
    "a column that is missing": edited(lambda text: text["fit"]["restarts_"].pop("converged")),
    "text in a column": edited(
        lambda text: text["fit"]["restarts_"].update(log_joint=["a" for _ in text["fit"]["restarts_"]["start"]])
    ),
    "another label": with_arrays(
        lambda arrays: arrays["cluster_labels_"].__setitem__(0, 1 - min(arrays["cluster_labels_"][0], 1))
    ),
    "labels of another type": with_arrays(
        lambda arrays: arrays.update(cluster_labels_=arrays["cluster_labels_"].astype(np.int32))
    ),
    "a subject less": with_arrays(lambda arrays: arrays.update(cluster_labels_=arrays["cluster_labels_"][1:])),
    "a statistic less": with_arrays(lambda arrays: arrays.update({STATISTICS: arrays[STATISTICS][:, 1:]})),
    "a cluster less": with_arrays(lambda arrays: arrays.update({STATISTICS: arrays[STATISTICS][1:]})),
    "a power above 1": with_arrays(lambda arrays: arrays[POWERS].__imul__(10.0)),
    "a power less": with_arrays(lambda arrays: arrays.update({POWERS: arrays[POWERS][1:]})),
    "two powers in a block": with_arrays(lambda arrays: arrays[POWERS].__setitem__(np.argmin(arrays[POWERS]), 0.01)),
    "a power without a block": with_arrays(lambda arrays: arrays[POWERS].__setitem__(np.argmax(arrays[POWERS]), 0.01)),
    "an unknown array": with_arrays(lambda arrays: arrays.update(more=np.zeros(3))),
    "a bomb": stored(array_of(2**60)),
    "an array that is not there": stored(array_of(2**40)),
    "a compressed bomb": stored(array_of(1_250_000, bytes(10_000_000)), zipfile.ZIP_DEFLATED),
    "arrays with the same bytes": stored(array_of(10_000, bytes(80_000)), copies=10),
    "truncated npz": lambda folder: (folder / "model.npz").write_bytes((folder / "model.npz").read_bytes()[:-200]),
    "truncated npz, right checksum": with_checksum(b"PK\x03\x04 and so on"),
    "no npz, right checksum": with_checksum(b"garbage"),
    "npy, right checksum": with_checksum(b"\x93NUMPY\x01\x00"),
    "no array, right checksum": stored(b"no array"),
    "pickled npz, right checksum": with_checksum(archive_of(cluster_labels_=np.array([{"a": 1}], dtype=object))),
    "lacks arrays, right checksum": with_checksum(archive_of(cluster_labels_=np.zeros(3, dtype=int))),
}


@pytest.mark.parametrize("damage", BROKEN)
def test_what_is_no_model_is_one_clear_error(damage, folder):
    BROKEN[damage](folder)
    with pytest.raises(InputError) as error:
        MAPDP.load(folder)
    assert str(folder) in str(error.value)
    assert len(str(error.value)) < 4000
    if "checksum that" not in damage:
        assert "holds no model that can be read: " in str(error.value)
    if damage == "format":
        assert "its format is 99, and this version reads 1; fit the model again" in str(error.value)
    if damage == "truncated npz":
        assert "model.npz is not the file that manifest.json lists. It is damaged" in str(error.value)


def with_the_right_salt(folder):
    """Compute the salt anew, as somebody would who knows how it is computed, and the checksums."""
    with np.load(folder / "model.npz") as archive:
        arrays = dict(archive)
    text = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    fit = Reader(arrays).read_fields(Fit, text["fit"])
    salt = salt_of(fit.schema_, fit.random_seed_, fit.cluster_labels_, fit.clusters_)
    edited(lambda text: text["fit"]["cohort_fingerprint_"].update(salt=salt))(folder)
    edited(lambda text: text.update(seal_of_subtypes=seal_of_subtypes(salt, fit.subtype_of_, fit.min_size_)))(folder)


IMPOSSIBLE = (
    *("a concentration below 0", "features in another order", "a column that is missing", "text in a column"),
    *("a label too large", "a label of no memory", "a label below 0", "another label", "labels of another type"),
    *("a subject less", "a statistic less", "a cluster less", "no number", "a scale of 0", "a scale too large"),
    *("another scale", "another centre", "another prior", "a power above 1", "a power of 0", "a power less"),
    *("two powers in a block", "a power without a block", "a tree of other joins"),
)


@pytest.mark.parametrize("damage", IMPOSSIBLE)
def test_what_cannot_be_is_refused_although_every_checksum_is_right(damage, folder):
    with_the_right_salt(folder)
    MAPDP.load(folder)
    BROKEN[damage](folder)
    with_the_right_salt(folder)
    with pytest.raises(InputError, match=r"holds no model that can be read: .+") as error:
        MAPDP.load(folder)
    assert "are not those that the cohort was fitted with" not in str(error.value)


def with_other_labels(arrays):
    for name in ("cluster_labels_", "tree_.labels"):
        arrays[name][0] = 1 - min(arrays[name][0], 1)


ALONE = {
    "the sizes of the clusters": with_arrays(with_other_labels),
    "rows that do not sum to 1": with_arrays(
        lambda arrays: arrays["cluster_membership_"].__setitem__((0, slice(None)), 0.9)
    ),
    "none can be outlying": with_arrays(lambda arrays: arrays["outliers_"].__setitem__((0, 0), True)),
    "in the order of an encoding": BROKEN["features in another order"],
}


@pytest.mark.parametrize("said", ALONE)
def test_what_only_one_check_sees_is_said(said, folder):
    ALONE[said](folder)
    with_the_right_salt(folder)
    with pytest.raises(InputError, match=said):
        MAPDP.load(folder)


def test_a_schema_elsewhere_is_not_opened(fitted, folder, tmp_path):
    fitted[0].schema_.to_yaml(tmp_path / "schema.yaml")
    edited(lambda text: text["fit"].update(schema_=str(tmp_path / "schema.yaml")))(folder)
    with pytest.raises(InputError, match="The feature schema has a problem"):
        MAPDP.load(folder)


def test_everything_wrong_with_the_arrays_is_said_at_once(folder):
    edits = ("a scale of 0", "a label too large", "no number")
    for edit in edits:
        BROKEN[edit](folder)
    with pytest.raises(InputError, match=r"scales .*statistics") as error:
        MAPDP.load(folder)
    assert "labels_ holds values from 0 to 99" in str(error.value)


@pytest.mark.parametrize("name", ["a bomb", "a compressed bomb", "arrays with the same bytes"])
def test_a_bomb_takes_no_memory(name, folder):
    import tracemalloc

    BROKEN[name](folder)
    tracemalloc.start()
    with pytest.raises(InputError):
        MAPDP.load(folder)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


def test_arrays_by_column_are_read_by_row(fitted, folder):
    model, frame = fitted
    with_arrays(lambda arrays: arrays.update({STATISTICS: np.asfortranarray(arrays[STATISTICS])}))(folder)
    loaded = MAPDP.load(folder)
    assert loaded.clusters_.statistics.flags.c_contiguous
    assert loaded.predict_proba(frame).tobytes() == model.predict_proba(frame).tobytes()


@pytest.mark.parametrize("name", ["model.npz", "model.json", "manifest.json"])
def test_a_file_elsewhere_is_not_opened(name, folder, tmp_path):
    (folder / name).rename(tmp_path / "elsewhere")
    (folder / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=f"{name} is a link to a file outside of the folder; put a copy"):
        MAPDP.load(folder)


def test_a_link_to_the_whole_folder_is_a_model(fitted, folder, tmp_path):
    (tmp_path / "linked").symlink_to(folder)
    assert MAPDP.load(tmp_path / "linked").labels_.tolist() == fitted[0].labels_.tolist()


def test_changed_assignments_are_told(folder):
    (folder / "assignments.csv").write_text("row,subtype\n2,1\n", encoding="utf-8")
    write_manifest(folder, ["assignments.csv", "model.json", "model.npz"])
    MAPDP.load(folder)
    (folder / "assignments.csv").write_text("row,subtype\n2,2\n", encoding="utf-8")
    with pytest.warns(CohortWarning, match=r"assignments\.csv is not the file that was written with the model"):
        MAPDP.load(folder)
    (folder / "assignments.csv").unlink()
    MAPDP.load(folder)


@pytest.mark.parametrize("name", ["model.json", "model.npz", "manifest.json"])
def test_a_missing_file_is_named(name, folder):
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"holds no saved model: {name} is missing"):
        MAPDP.load(folder)
    with pytest.raises(FileNotFoundError, match="no folder"):
        MAPDP.load(folder / "nowhere")


# --- writing ------------------------------------------------------------------------------------------------------


def test_what_cannot_be_written_down_leaves_nothing(fitted, tmp_path):
    model, _ = fitted
    (tmp_path / "file").write_text("mine")
    with pytest.raises(NotADirectoryError, match="is a file"):
        model.save(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"
    unsaid = MAPDP.load(model.save(tmp_path / "model")).set_params(n_jobs=object())
    with pytest.raises(InputError, match="cannot be saved with these parameters: n_jobs must be"):
        unsaid.save(tmp_path / "new")
    assert not (tmp_path / "new").exists()


# --- fields -------------------------------------------------------------------------------------------------------


def test_every_class_of_which_a_fit_has_a_field_is_declared_to_be_saved():
    declared = {part for held in HELD.values() for kind in held.values() for part in (kind, *get_args(kind))}
    assert {kind for kind in declared if is_dataclass(kind)} <= {*HELD, Feature, FeatureSchema}


def test_a_column_of_any_type_comes_back_exactly(fitted):
    table = pd.DataFrame(
        {
            "n": [1, 2],
            "value": [0.1 + 0.2, np.nan],
            "whole": [1.0, -0.0],
            "small": np.array([1, 2], dtype=np.int8),
            "sure": [True, False],
            "text": ["a", "=1"],
        }
    )
    arrays = {}
    written = written_fields(replace(fitted[0].fit_, restarts_=table), arrays)
    back = Reader(arrays).read_fields(Fit, json.loads(json.dumps(written, allow_nan=False)))
    pd.testing.assert_frame_equal(back.restarts_, table, check_exact=True)


def test_what_no_file_can_hold_is_named(fitted):
    with pytest.raises(TypeError, match=r"cannot be saved with function as log_joint_"):
        written_fields(replace(fitted[0].fit_, log_joint_=test_what_no_file_can_hold_is_named), {})
    with pytest.raises(TypeError, match=r"cannot be saved with ndarray as outliers_"):
        written_fields(replace(fitted[0].fit_, outliers_=np.array([{}], dtype=object)), {})


def test_a_model_that_cannot_be_read_back_is_not_saved(fitted, tmp_path, monkeypatch):
    kept = np.savez
    monkeypatch.setattr(np, "savez", lambda file, **arrays: kept(file, another=np.zeros(1), **arrays))
    with pytest.raises(RuntimeError, match=r"not saved, because it cannot be read back: .*an array 'another'"):
        fitted[0].save(tmp_path / "model")
    assert not (tmp_path / "model").exists()
