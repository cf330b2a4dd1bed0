"""The fingerprint of a cohort: any order of its rows is undone, any changed value is seen, and nothing is told."""

import numpy as np
import pandas as pd
import pytest
from cohorts import quick_fit
from hypothesis import assume, given
from hypothesis import strategies as st

from clinclust import Partition
from clinclust.errors import InputError
from clinclust.estimators.cohort_table import CohortFingerprint, seven_digits
from clinclust.estimators.subtype_model import cohort_of
from clinclust.methods import PublishedMAPDP
from schemas import stored_schema

SCHEMA = stored_schema("fingerprint")
NAMELESS = SCHEMA.restricted_to(SCHEMA.names[1:])
numbers = st.one_of(st.none(), st.floats(-1e12, 1e12, allow_subnormal=False))  # which have no seven digits
rows = st.tuples(
    numbers,
    st.one_of(st.none(), st.integers(0, 100_000)),
    st.sampled_from([None, "a", "b", "c"]),
    st.sampled_from([None, "x", "y", "z"]),
)
tables = st.lists(rows, min_size=1, max_size=12)


def frame_of(table):
    return NAMELESS.validate(pd.DataFrame(table, columns=list(NAMELESS.names), dtype=object), warn=False)


@given(tables, st.randoms(use_true_random=False))
def test_any_order_of_the_rows_is_undone(table, random):
    frame = frame_of(table)
    other = random.sample(range(len(table)), len(table))
    found = CohortFingerprint.of(frame, "s").rows_of_fit(frame.iloc[other])
    assert sorted(found) == list(range(len(table)))
    again = frame.iloc[other].iloc[found].reset_index(drop=True)  # but for values with the same float32
    pd.testing.assert_frame_equal(again, frame.reset_index(drop=True), check_exact=False, rtol=1e-6, atol=1e-37)


@given(tables, st.data())
def test_any_changed_cell_is_seen(table, data):
    row, column = data.draw(st.integers(0, len(table) - 1)), data.draw(st.integers(0, 3))
    old = table[row][column]
    new = data.draw(rows.map(lambda values: values[column]))
    changed = [list(values) for values in table]
    changed[row][column] = new
    if not (old is None or new is None or old == new or isinstance(new, str)):
        assume(abs(old - new) > 2e-6 * max(abs(old), abs(new)))  # of smaller differences, some count
    is_same = old == new
    found = CohortFingerprint.of(frame_of(table), "s").rows_of_fit(frame_of(changed))
    assert (found is not None) == is_same


@given(tables, st.permutations(range(4)))
def test_the_order_of_the_columns_and_the_index_do_not_matter(table, order):
    frame = frame_of(table)
    other = frame.iloc[:, list(order)].set_axis([f"row {row}" for row in range(len(frame))])
    assert CohortFingerprint.of(frame, "s").digest == CohortFingerprint.of(other, "s").digest
    assert CohortFingerprint.of(frame, "s").rows_of_fit(other).tolist() == list(range(len(frame)))


def test_values_that_changed_columns_are_other_values():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 1.0]})
    assert CohortFingerprint.of(frame, "s").rows_of_fit(frame.rename(columns={"a": "b", "b": "a"})) is not None
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    assert CohortFingerprint.of(frame, "s").rows_of_fit(frame.rename(columns={"a": "b", "b": "a"})) is None


def test_half_of_a_character_in_an_identifier_has_a_hash():
    names = pd.Series(["a\ud800", "b", None], dtype=pd.StringDtype("python", na_value=np.nan))
    frame = names.to_frame("who")
    assert CohortFingerprint.of(frame, "s").rows_of_fit(frame[::-1]).tolist() == [2, 1, 0]


@given(st.integers(-(2**53), 2**53), st.integers(-(2**53), 2**53))
def test_whole_numbers_are_the_same_only_if_all_their_digits_are(one, other):
    found = seven_digits(np.array([one, other], dtype=np.float64))
    assert (found[0] == found[1]) == (one == other)


@pytest.mark.parametrize(("one", "other"), [(0.0, -0.0), (3.0, 3.0000000000000004), (9.999999999999999, 10.0)])
def test_numbers_next_to_a_whole_number_are_that_number(one, other):
    assert np.unique(seven_digits(np.array([one, other]))).size == 1


def test_extreme_numbers_have_digits_too():
    values = np.array([5e-324, 1e-30, 1e-31, 1e100, 1.7e308, -1e100])
    with np.errstate(all="raise"):
        assert np.unique(seven_digits(values)).size == values.size


def test_computed_numbers_survive_every_way_of_writing_them():
    """As pandas (16 digits), R (15 digits) and LibreOffice (15, rounded otherwise) write them."""
    rng = np.random.default_rng(0)
    values = rng.normal(80, 12, 10_000) / rng.normal(1.7, 0.1, 10_000) ** 2
    for written in (
        [float(f"{value:.16g}") for value in values],
        [float(f"{value:.15g}") for value in values],
        [float(f"{float(f'{value:.16g}'):.15g}") for value in values],
    ):
        np.testing.assert_array_equal(seven_digits(np.array(written)), seven_digits(values))


# --- what a fit remembers -----------------------------------------------------------------------------------------


def cohort(n=60):
    rng = np.random.default_rng(1)
    groups = np.repeat([0, 1], n // 2)
    frame = pd.DataFrame(
        {
            "who": [f"p{row}" for row in range(n)],
            "pressure": rng.normal(120 + 30 * groups, 8),
            "falls": rng.poisson(1 + 6 * groups),
            "stage": np.array(["a", "b", "c"])[rng.integers(2, size=n) + groups],
            "centre": np.array(["x", "y", "z"])[rng.integers(3, size=n)],
        }
    ).astype(object)
    frame.loc[[3, 8], "pressure"] = None
    frame.loc[5, "centre"] = None
    return frame


@pytest.fixture(scope="module")
def model():
    return quick_fit(cohort(), SCHEMA)


@pytest.mark.parametrize("ending", ["csv", "fifteen digits", "parquet", "pandas"])
def test_a_table_that_was_written_and_read_is_the_same_cohort(ending, model, tmp_path):
    frame, file = cohort(), tmp_path / f"table.{'parquet' if ending == 'parquet' else 'csv'}"
    if ending == "parquet":
        pytest.importorskip("pyarrow")
        SCHEMA.validate(frame).to_parquet(file)
        back = pd.read_parquet(file)
    else:
        frame.to_csv(file, index=False, float_format="%.15g" if ending == "fifteen digits" else None)
        back = pd.read_csv(file, **({} if ending == "pandas" else {"dtype": str, "keep_default_na": False}))
    assert len(cohort_of(model, back).table) == 60


@pytest.mark.parametrize("column", SCHEMA.names)
def test_a_changed_value_of_any_column_is_refused(column, model):
    frame = cohort()
    other = {"who": "somebody", "pressure": 121.0, "falls": 40, "stage": "a", "centre": "z"}
    row = int(np.flatnonzero(frame[column].to_numpy() != other[column])[0])
    frame.loc[row, column] = other[column]
    with pytest.raises(InputError, match="other subjects or other values; give the table that the model was fitted on"):
        cohort_of(model, frame)


def test_given_labels_have_no_fingerprint(model):
    frame = cohort()
    given_labels = Partition(model.labels_, SCHEMA, made_by="a clinician")
    assert cohort_of(given_labels, frame.sample(frac=1.0, random_state=0)).table.index.tolist() != frame.index.tolist()
    indexed = Partition(pd.Series(model.labels_, index=frame.index), SCHEMA, made_by="a clinician")
    with pytest.raises(InputError, match="align them"):
        cohort_of(indexed, frame.iloc[::-1])


def test_equal_fits_have_equal_fingerprints_and_other_seeds_have_others(model):
    again, other = (PublishedMAPDP(SCHEMA, n_restarts=2, random_state=seed).fit(cohort()) for seed in (0, 1))
    first, second, third = (fitted.cohort_fingerprint_ for fitted in (model, again, other))
    assert (first.salt, first.digest) == (second.salt, second.digest)
    assert first.hidden_order.tolist() == second.hidden_order.tolist()
    assert first.digest != third.digest
    assert first.hidden_order.tolist() != third.hidden_order.tolist()


def test_nothing_saved_tells_whether_somebody_is_in_the_cohort(model, tmp_path):
    """A row alone, hashed with the salt of the model, must not be found in the files, nor its place in the order."""
    from clinclust.estimators.cohort_table import _sorted_hashes

    fingerprint = model.cohort_fingerprint_
    order, hashes = _sorted_hashes(SCHEMA.validate(cohort()), fingerprint.salt)
    model.save(tmp_path / "model")
    written = (tmp_path / "model" / "model.json").read_bytes()
    with np.load(tmp_path / "model" / "model.npz") as archive:
        written += b"".join(archive[name].tobytes() for name in archive.files)
    for word in hashes.ravel():
        assert word.tobytes() not in written
        assert f"{word:x}".encode() not in written
        assert str(word).encode() not in written
    assert order.astype(np.uint32).tobytes() not in written
    assert order.astype(np.int64).tobytes() not in written


@given(st.integers(0, 59))
def test_who_lacks_one_row_cannot_read_the_order(model, absent):
    """Whoever knows all subjects but one gets no number of the order right, except by chance."""
    from clinclust.estimators.cohort_table import _keystream, _sorted_hashes

    fingerprint, frame = model.cohort_fingerprint_, SCHEMA.validate(cohort())
    order, _ = _sorted_hashes(frame, fingerprint.salt)
    guessed = frame.copy()
    guessed.iloc[absent, guessed.columns.get_loc("pressure")] = 99.5
    _, hashes = _sorted_hashes(guessed, fingerprint.salt)
    read = fingerprint.hidden_order ^ _keystream(fingerprint.salt, hashes)
    assert (read == order).sum() <= 1
    assert fingerprint.rows_of_fit(guessed) is None


def test_an_order_that_somebody_changed_is_refused(model):
    fingerprint = model.cohort_fingerprint_
    changed = fingerprint.hidden_order.copy()
    changed[3] ^= 1
    with pytest.raises(InputError, match="was changed; fit the model again"):
        CohortFingerprint(fingerprint.salt, fingerprint.digest, changed).rows_of_fit(SCHEMA.validate(cohort()))
