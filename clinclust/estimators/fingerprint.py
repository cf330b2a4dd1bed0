"""CohortFingerprint: recognise the cohort of a fit, in any order of its rows, without storing data of a subject.

Stored are a digest of the sorted 128-bit hashes of the validated rows, and the order of the rows, encrypted by a
keystream whose key is another digest of these hashes. The hashes are not stored, because they would show whether a
known subject is in the cohort. Numbers are compared by their first seven significant digits, whole numbers exactly,
because programs write and read the last digits differently.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.files.selection.sampled_rows import MULTIPLIERS, mix

if TYPE_CHECKING:
    from clinclust.engine.problem.posterior import Clusters
    from clinclust.schema import FeatureSchema

_TINY, _HUGE = -290, 300
"""Decimal exponents beyond which a power of ten could overflow; digits of smaller numbers do not count."""
_POWERS = np.array([float(f"1e{6 - exponent}") for exponent in range(_TINY, _HUGE + 2)])
_LEAST, _MOST = 10**6, 10**7


def seven_digits(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return a number for each value, uint64 (N,), equal for values with the same seven digits; any for NaN."""
    size = np.abs(values)
    with np.errstate(all="ignore"):
        # Of NaN and the bounds, fmin and fmax take the bounds.
        exponents = np.fmax(np.fmin(np.floor(np.log10(size)), _HUGE), _TINY).astype(np.int64)
        digits = np.rint(size * _POWERS[exponents - _TINY])
        carries = digits >= _MOST
        digits[carries] = _LEAST
        exponents += carries
        exponents[digits == 0.0] = 0
        short = (exponents + 512).astype(np.uint64) << np.uint64(32)
        short |= digits.astype(np.uint64)
    short[(values < 0.0) & (digits > 0.0)] |= np.uint64(1 << 63)
    long = np.flatnonzero((size >= _MOST) & (np.floor(values) == values))
    long = long[digits[long] != size[long] * _POWERS[exponents[long] - _TINY]]
    short[long] = values[long].view(np.uint64)
    return short


Words = NDArray[np.uint64]
Rows = NDArray[np.int64]

_MISSING = np.uint64(0x7FF8_0000_0000_0001)
"""The hash of a missing value of any type."""


@dataclass(frozen=True, eq=False, repr=False)
class CohortFingerprint:
    """Recognises the cohort of a fit and restores its order, without storing values.

    Two tables have the same fingerprint if they hold the same validated values; the order of the columns, their dtypes
    and the index do not matter. Subjects with equal values are interchangeable.

    Attributes
    ----------
    salt : str
        Prefix of every hash, which depends on the fit.
    digest : str
        SHA-256 of the sorted hashes of the rows.
    hidden_order : uint32 (N,)
        Row of each subject in the order of the sorted hashes, combined by exclusive or with the keystream.
    """

    salt: str
    digest: str
    hidden_order: NDArray[np.uint32]

    @property
    def n_subjects(self) -> int:
        """Number of subjects, N."""
        return int(self.hidden_order.size)

    def rows_of_fit(self, frame: pd.DataFrame) -> Rows | None:
        """Return the position in a validated table of each subject of the fit, in the order of the fit, int64 (N,).

        None if the table is not the cohort of the fit. InputError is raised if the stored order is no permutation.
        """
        if len(frame) != self.n_subjects:
            return None
        order, hashes = _sorted_hashes(frame, self.salt)
        if _digest(self.salt, "subjects", hashes).hex() != self.digest:
            return None
        fitted = (self.hidden_order ^ _keystream(self.salt, hashes)).astype(np.int64)
        if not np.array_equal(np.sort(fitted), np.arange(self.n_subjects)):
            raise InputError("the order of the subjects in the saved model was changed; fit the model again")
        rows = np.empty(self.n_subjects, dtype=np.int64)
        rows[fitted] = order
        return rows

    def __repr__(self) -> str:
        return f"CohortFingerprint({self.n_subjects:,} subjects, {self.digest[:12]})"


def fingerprint_of(frame: pd.DataFrame, salt: str) -> CohortFingerprint:
    """Return the fingerprint of a validated table, of N rows."""
    order, hashes = _sorted_hashes(frame, salt)
    hidden = order.astype(np.uint32) ^ _keystream(salt, hashes)
    return CohortFingerprint(salt, _digest(salt, "subjects", hashes).hex(), hidden)


def salt_of(schema: FeatureSchema, seed: int, labels: Rows, clusters: Clusters) -> str:
    """Return the salt of a fit, which depends on everything that determines labels and predictions of its clusters.

    The map from clusters to subtypes is not included (`seal_of_subtypes`), so that a fit that is cut keeps its
    fingerprint.
    """
    model = clusters.model
    numbers = (model.concentration, model.discount, model.coarsening, clusters.outlying_share)
    names = [feature.name for feature in clusters.encoding.features]
    encoding = clusters.encoding
    about = (schema.fingerprint, int(seed), [float(number) for number in numbers], names)
    found = hashlib.sha256(repr(about).encode())
    of_model = (model.prior, model.powers, clusters.included)
    for array in (labels, encoding.centres, encoding.scales, *of_model, clusters.sizes, clusters.statistics):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:32]


def seal_of_subtypes(salt: str, subtype_of: Rows, min_size: int = 1) -> str:
    """Return a digest of the map from clusters to subtypes (J,) of the fit with this salt, and of its floor."""
    purpose = "subtypes" if min_size == 1 else f"subtypes of at least {min_size}"
    return _digest(salt, purpose, np.ascontiguousarray(subtype_of).view(np.uint64)).hex()


def _digest(salt: str, purpose: str, hashes: Words) -> bytes:
    found = hashlib.sha256(f"clinclust {purpose} {salt}\n".encode())
    found.update(hashes.tobytes())
    return found.digest()


def _keystream(salt: str, hashes: Words) -> NDArray[np.uint32]:
    """Return the keystream of the order, uint32 (N,), from all sorted hashes (N, 2)."""
    stream = hashlib.shake_256(_digest(salt, "order", hashes)).digest(4 * len(hashes))
    return np.frombuffer(stream, dtype="<u4").astype(np.uint32)


def _sorted_hashes(frame: pd.DataFrame, salt: str) -> tuple[Rows, Words]:
    """Return the rows in the order of their hashes, int64 (N,), equal rows in their order, and the hashes (N, 2)."""
    first, second = np.zeros((2, len(frame)), dtype=np.uint64)
    for name, column in frame.items():
        keys = _keys(salt, f"column {name}")
        mixed = _values(column, keys)
        mix(mixed, keys[1])
        first += mixed  # a sum, because the order of the columns must not matter
        mixed ^= keys[2]
        mixed *= MULTIPLIERS[2]
        mixed ^= mixed >> np.uint64(32)
        second += mixed
    order = np.argsort(first)
    if (first[order[1:]] == first[order[:-1]]).any():  # the first number alone orders rows faster if all differ
        order = np.lexsort((second, first))
    return order, np.column_stack([first[order], second[order]]).astype("<u8", copy=False)


def _keys(salt: str, purpose: str) -> Words:
    """Return four numbers that depend on the salt and the purpose, uint64 (4,)."""
    return np.frombuffer(hashlib.sha256(f"{salt} {purpose}".encode()).digest(), dtype="<u8").astype(np.uint64)


def _values(column: pd.Series, keys: Words) -> Words:
    """Return one number for each value of a validated column, uint64 (N,), the same for the same value only."""
    missing = column.isna().to_numpy()
    if isinstance(column.dtype, pd.CategoricalDtype):
        texts = column.cat.categories.to_numpy(dtype=object)
        found: Words = np.append(_of_texts(texts, keys), _MISSING)[column.cat.codes.to_numpy()]
    elif column.dtype == np.float64:
        found = seven_digits(column.to_numpy())
    elif pd.api.types.is_integer_dtype(column.dtype):
        found = column.to_numpy(dtype=np.int64, na_value=0).astype(np.uint64)
    else:
        found = _of_texts(column.to_numpy(dtype=object), keys)
    found[missing] = _MISSING
    return found


def _of_texts(texts: NDArray[np.object_], keys: Words) -> Words:
    from pandas.util import hash_array

    try:
        return hash_array(texts, hash_key=f"{keys[0]:016x}", categorize=False)
    except UnicodeEncodeError:  # an identifier may hold half of a character
        encoded = [text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text for text in texts]
        return hash_array(np.array(encoded, dtype=object), hash_key=f"{keys[0]:016x}", categorize=False)
