"""The table of the fit: its fingerprint, the order of its rows, and rows that are copies of each other."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clinclust.arguments import TABLE, in_pandas, is_numbered
from clinclust.arrays import Whole
from clinclust.engine.problem.problem import Clusters
from clinclust.errors import InputError, warn
from clinclust.estimators import say
from clinclust.files.cell_text import limited, listed, quoted
from clinclust.files.conditions import compared_columns, parsed
from clinclust.files.row_choice import noted_several_rows, rows_taken
from clinclust.schema import FeatureSchema

# CohortFingerprint: recognise the cohort of a fit, in any order of its rows, without storing data of a subject.
#
# Stored are a digest of the sorted 64-bit hashes of the validated rows, and the order of the rows, encrypted by a
# keystream whose key is another digest of these hashes. The hashes are not stored, because they would show whether a
# known subject is in the cohort. Numbers are compared as float32, in about seven significant digits, because programs
# write and read the last digits differently; whole numbers exactly.

_LONG = 2.0**24
"""Whole numbers up to this have a float32 of their own."""


def seven_digits(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return a number for each value, uint64 (N,), equal for values with the same float32; any for NaN."""
    with np.errstate(all="ignore"):
        short = (values.astype(np.float32) + np.float32(0.0)).view(np.uint32).astype(np.uint64)  # -0 becomes 0
    is_long = (np.abs(values) > _LONG) & (np.floor(values) == values)
    short[is_long] = values[is_long].view(np.uint64)
    return short


Words = NDArray[np.uint64]

_MISSING = np.uint64(0x7FF8_0000_0000_0001)
"""The hash of a missing value of any type."""


@dataclass(frozen=True, eq=False)
class CohortFingerprint:
    """Recognises the cohort of a fit and restores its order, without storing values, and whatever dtypes and index."""

    salt: str
    """Prefix of every hash, which depends on the fit."""
    digest: str
    """SHA-256 of the sorted hashes of the rows."""
    hidden_order: NDArray[np.uint32] = field(repr=False)
    """(N,) row of each subject in the order of the sorted hashes, combined by exclusive or with the keystream."""

    @classmethod
    def of(cls, frame: pd.DataFrame, salt: str) -> CohortFingerprint:
        """Return the fingerprint of a validated table, of N rows."""
        order, hashes = _sorted_hashes(frame, salt)
        hidden = order.astype(np.uint32) ^ _keystream(salt, hashes)
        return cls(salt, _digest(salt, "subjects", hashes).hex(), hidden)

    def rows_of_fit(self, frame: pd.DataFrame) -> Whole | None:
        """Return the position in a validated table of each subject of the fit, int64 (N,); None for another table."""
        if len(frame) != self.hidden_order.size:
            return None
        order, hashes = _sorted_hashes(frame, self.salt)
        if _digest(self.salt, "subjects", hashes).hex() != self.digest:
            return None
        fitted = (self.hidden_order ^ _keystream(self.salt, hashes)).astype(np.int64)
        if not np.array_equal(np.sort(fitted), np.arange(fitted.size)):
            raise InputError("the order of the subjects in the saved model was changed; fit the model again")
        rows = np.empty_like(fitted)
        rows[fitted] = order
        return rows


def salt_of(schema: FeatureSchema, seed: int, labels: Whole, clusters: Clusters) -> str:
    """Return the salt of a fit, which depends on all that determines labels and predictions of its clusters.

    A fit that is cut keeps it: the map from clusters to subtypes has a seal of its own (`seal_of_subtypes`).
    """
    model, encoding = clusters.model, clusters.encoding
    numbers = [float(number) for number in (model.concentration, model.coarsening, clusters.outlying_share)]
    about = (schema.fingerprint, int(seed), numbers, [feature.name for feature in encoding.features])
    digest = hashlib.sha256(repr(about).encode())
    of_model = (model.prior, model.powers, clusters.included)
    for array in (labels, encoding.centres, encoding.scales, *of_model, clusters.sizes, clusters.statistics):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:32]


def seal_of_subtypes(salt: str, subtype_of: Whole, min_size: int = 1) -> str:
    """Return a digest of the map from clusters to subtypes (J,) of the fit with this salt, and of its floor."""
    return _digest(salt, f"subtypes of at least {min_size}", np.ascontiguousarray(subtype_of).view(np.uint64)).hex()


def _digest(salt: str, purpose: str, hashes: Words) -> bytes:
    return hashlib.sha256(f"clinclust {purpose} {salt}\n".encode() + hashes.tobytes()).digest()


def _keystream(salt: str, hashes: Words) -> NDArray[np.uint32]:
    """Return the keystream of the order, uint32 (N,), from all sorted hashes (N,)."""
    stream = hashlib.shake_256(_digest(salt, "order", hashes)).digest(4 * len(hashes))
    return np.frombuffer(stream, dtype="<u4").astype(np.uint32)


def _sorted_hashes(frame: pd.DataFrame, salt: str) -> tuple[Whole, Words]:
    """Return the rows in the order of their hashes, int64 (N,), equal rows in their order, and the hashes (N,)."""
    total = np.zeros(len(frame), dtype=np.uint64)
    for name, column in frame.items():
        keys = np.frombuffer(hashlib.sha256(f"{salt} column {name}".encode()).digest(), "<u8").astype(np.uint64)
        total += pd.util.hash_array(_values(column, keys) ^ keys[1])  # a sum: the order of columns must not matter
    order = np.argsort(total, kind="stable")
    return order, total[order].astype("<u8", copy=False)


def _values(column: pd.Series, keys: Words) -> Words:
    """Return one number for each value of a validated column, uint64 (N,), the same for the same value only."""
    missing = column.isna().to_numpy()
    if isinstance(column.dtype, pd.CategoricalDtype):
        texts = column.cat.categories.to_numpy(dtype=object)
        numbers: Words = np.append(_of_texts(texts, keys), _MISSING)[column.cat.codes.to_numpy()]
    elif column.dtype == np.float64:
        numbers = seven_digits(column.to_numpy())
    elif pd.api.types.is_integer_dtype(column.dtype):
        numbers = column.to_numpy(dtype=np.int64, na_value=0).astype(np.uint64)
    else:
        numbers = _of_texts(column.to_numpy(dtype=object), keys)
    numbers[missing] = _MISSING
    return numbers


def _of_texts(texts: NDArray[np.object_], keys: Words) -> Words:
    # An identifier may hold half of a character.
    encoded = [text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text for text in texts]
    return pd.util.hash_array(np.array(encoded, dtype=object), hash_key=f"{keys[0]:016x}", categorize=False)


# Rows that are exact copies of an earlier row, in a cohort that has more of them than chance explains.
#
# With few or dependent discrete features many rows are equal by chance. A chance copy has rows next to it, which differ
# in one feature only, and values that many subjects have: chance does not explain copies without such rows of which
# fewer than 0.001 are expected. (A total of yes-no items hides these neighbours; a drafted schema sets it aside.)

_FEW = 0.01  # share of the rows, up to which copies are too few to form a subtype
_PART = 0.2  # share of the copies, up to which those that chance does not explain are taken for chance as well
_BY_CHANCE = 0.001  # expected number of rows with the values of a row, if features were independent
_SHOWN, _ROWS_SHOWN = 3, 5


def copied_rows(frame: pd.DataFrame, names: Sequence[str]) -> Whole | None:
    """Return the first row equal to each row in these columns, int64 (N,); None if chance or counts explain copies."""
    if (rows := rows_taken(frame)) is not None and rows.counts.repeated:
        return None
    # Products with random numbers, so that sums of the hashes of the same few values differ between columns.
    factors = np.random.default_rng(0).integers(2**64, size=len(names), dtype=np.uint64)
    total = np.zeros(len(frame), dtype=np.uint64)
    for name, factor in zip(names, factors, strict=True):
        total += pd.util.hash_pandas_object(frame[name], index=False).to_numpy() * factor
    codes, different = pd.factorize(total)
    if len(frame) - different.size <= _FEW * len(frame):
        return None
    firsts = np.flatnonzero(~pd.Series(total).duplicated())
    log_expected, has_neighbour = np.full(firsts.size, np.log(firsts.size)), np.zeros(firsts.size, dtype=np.bool_)
    for name, factor in zip(names, factors, strict=True):
        hashes = pd.util.hash_pandas_object(frame[name], index=False).to_numpy()[firsts]
        values, _ = pd.factorize(hashes)
        log_expected += np.log(np.bincount(values) / firsts.size)[values]
        has_neighbour |= pd.Series(total[firsts] - hashes * factor).duplicated(keep=False).to_numpy()
    has_values = frame[list(names)].notna().any(axis="columns").to_numpy()[firsts]
    n_copies = np.bincount(codes) - 1
    beyond_chance = n_copies[(log_expected < np.log(_BY_CHANCE)) & ~has_neighbour & has_values].sum()
    return firsts[codes] if beyond_chance > max(_FEW * len(frame), _PART * n_copies.sum()) else None


def warn_of_rows(frame: pd.DataFrame, names: Sequence[str]) -> None:
    """Warn of rows without a value in these columns, such as totals, and of copies, unless rows are known as visits."""
    rows = frame.index[frame[list(names)].isna().all(axis="columns").to_numpy()]
    if len(rows):
        shown = ", ".join(map(str, rows[:_ROWS_SHOWN]))
        warn(say("no_observed_value", n_rows=len(rows), rows=shown))
    first = copied_rows(frame, names) if noted_several_rows(frame) is None else None
    if first is not None:
        copies = np.flatnonzero(first != np.arange(first.size))
        shown = ", ".join(f"{frame.index[row]} is {frame.index[first[row]]}" for row in copies[:_SHOWN])
        numbers = {"n_copies": copies.size, "n_rows": first.size, "n_distinct": first.size - copies.size}
        warn(limited(say("copied_rows", copies=shown, **numbers)))


# The cohort as a table of named columns, from a DataFrame or an array, with its schema and choice of rows.
#
# Messages about arrays use the words that the estimator checks of scikit-learn look for.


def warn_of_other_rows(schema: FeatureSchema, table: object) -> None:
    """Warn if new subjects were read with another choice of rows than the cohort."""
    rows = rows_taken(table) if isinstance(table, pd.DataFrame) else None
    # The rows of a sheet are those of one table, and say nothing of another.
    fitted = schema.rows.of_new_subjects.by_values
    if rows is None or fitted is None:
        return
    is_followed = rows.choice.of_new_subjects.follows(fitted)
    if is_followed and rows.choice.trends == fitted.trends:
        return
    what = "other_trends" if is_followed else "other_rows_of_model"
    warn(limited(say(what, rows=schema.rows.in_words(), choice=rows.choice.in_words())))


def hint_at_rows(schema: FeatureSchema) -> str:
    """Return the choice of rows of the cohort in parentheses, for a message; empty if unknown."""
    return limited(say("hint_at_rows", rows=schema.rows.in_words())) if schema.rows else ""


def cohort_and_schema(
    X: pd.DataFrame | ArrayLike, schema: FeatureSchema | None, *, progress: bool = True
) -> tuple[pd.DataFrame, FeatureSchema]:
    """Return the validated columns and the schema of the fit, which has the choice of rows of the table, if known.

    CohortError and InputError are raised for unusable tables, other rows than the schema says, and a single subject.
    """
    table, schema = _named_with_schema(X, schema, progress=progress)
    selection = rows_taken(table)
    if selection is None and schema.rows:
        warn(limited(say("rows_unknown", rows=schema.rows.in_words())))
    elif selection is not None and schema.rows:
        if not selection.choice.follows(schema.rows):
            stated, choice = schema.rows.in_words(), selection.choice.in_words()
            raise InputError(limited(say("other_choice_of_rows", rows=stated, choice=choice)))
        # The trends by which the table was summarised made its values, and are those of the model.
        schema = schema.with_rows(replace(schema.rows.completed_by(selection.choice), trends=selection.choice.trends))
    elif selection is not None and selection.choice:
        schema = schema.with_rows(selection.choice)
    validated = schema.validate(table, warn=False)
    if selection is not None and schema.rows.where is not None:
        # Rows may have been chosen by a value which the schema takes for missing, such as -9 for an age.
        compared = [name for name in compared_columns(parsed(schema.rows.where)) if name in validated]
        missing = {name: int(validated[name].isna().sum()) for name in compared}
        if affected := [f"{quoted(name)} ({count:,} rows)" for name, count in missing.items() if count]:
            warn(limited(say("missing_in_condition", columns=listed(affected))))
    if len(validated) == 1:
        raise InputError(say("one_subject"), in_python=" (n_samples = 1)")
    if (note := noted_several_rows(validated)) is not None:
        warn(limited(f"ROWS ARE NOT PATIENTS, and each counts as a subject of its own: {note.sentence()}"))
    return validated, schema


def _named_with_schema(
    X: pd.DataFrame | ArrayLike, schema: FeatureSchema | None, *, progress: bool
) -> tuple[pd.DataFrame, FeatureSchema]:
    """Return a table as a DataFrame with the columns of its schema, which is drafted if the user has none."""
    if schema is None:
        from clinclust.drafting import draft_schema
        from clinclust.schema import schema_for_array

        if isinstance(X, pd.DataFrame) and not is_numbered(X):
            schema = draft_schema(X, progress=progress)
            warn(say("schema_was_drafted"))
        else:
            schema = schema_for_array(X.to_numpy() if isinstance(X, pd.DataFrame) else _array(X, "X"))
    return _named(X, schema.names, "X", "The array {} has {} columns, the schema {}: {}"), schema


def table_of_fitted(X: pd.DataFrame | ArrayLike, names: Sequence[str], *, called: str = "X") -> pd.DataFrame:
    """Return a table of new subjects, called so in errors, as a DataFrame; `names` are the columns of an array."""
    return _named(in_pandas(X), names, called, "{} has {} features, but MAPDP is expecting {} features as input: {}")


def _named(X: pd.DataFrame | ArrayLike, names: Sequence[str], called: str, other_number: str) -> pd.DataFrame:
    if isinstance(X, pd.DataFrame) and not is_numbered(X):
        return X
    table = X if isinstance(X, pd.DataFrame) else _array(X, called)
    if table.shape[1] != len(names):
        raise InputError(other_number.format(called, table.shape[1], len(names), ", ".join(names)))
    return pd.DataFrame(table).set_axis(list(names), axis="columns")


def _array(X: ArrayLike, called: str) -> NDArray[Any]:
    """Return a two-dimensional array of at least one column; masked values become missing."""
    sparse = sys.modules.get("scipy.sparse")  # a sparse matrix exists only if its package was imported
    if sparse is not None and sparse.issparse(X):
        raise InputError(say("sparse_table", called=called))
    if not isinstance(X, np.ndarray) and (hasattr(X, "column_names") or hasattr(X, "columns")):
        library = type(X).__module__.partition(".")[0]
        raise InputError(say("table_of_library", called=called, library=library, kind=type(X).__name__))
    if X is None or isinstance(X, str | bytes | dict | set):
        raise InputError(f"{called} must be {TABLE}, or an array of shape (N, D), not {type(X).__name__}")
    try:
        if isinstance(X, np.ma.MaskedArray):  # masked values are missing
            missing, dtype = (np.array(np.nan), np.float64) if X.dtype.kind in "biuf" else (np.array(None), object)
            X = np.where(np.ma.getmaskarray(X), missing, X.data.astype(dtype))
        table = np.asarray(X)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(say("ragged_array", called=called)) from error
    if table.ndim != 2:
        raise InputError(say("no_table", called=called, shape=table.shape))
    if table.shape[1] == 0:
        raise InputError(f"{called} has 0 feature(s) (shape={table.shape}) while a minimum of 1 is required.")
    if np.iscomplexobj(table):
        raise InputError(f"{called}: Complex data not supported; give the real and the imaginary part a column each")
    return table.astype(np.float64) if table.dtype == np.longdouble else table
