"""Draw a sample of the rows of a large table by a hash, the same in any order and in any partitions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

N_SAMPLED = 50_000
"""Expected number of rows of the sample of a table in partitions."""
Words = NDArray[np.uint64]


def drawn(frame: pd.DataFrame, ids: Sequence[str], first: int, share: float, seed: int) -> NDArray[np.bool_]:
    """Return whether each row is in a sample of about this share, bool (n,), by a hash of its identifiers.

    Without identifiers the number of the row counts, of which the first is `first`. The sample therefore does not
    depend on the partitions, nor, with identifiers, on the order of the rows.
    """
    if ids:
        words = pd.util.hash_pandas_object(frame[list(ids)].astype(str), index=False).to_numpy().astype(np.uint64)
    else:
        words = np.arange(first, first + len(frame), dtype=np.uint64)
    mix(words, np.random.SeedSequence([seed, 35]).generate_state(1, np.uint64)[0])
    return np.asarray(words < np.uint64(min(share, 1.0) * (2**64 - 2**11))) | np.bool_(share >= 1.0)


MULTIPLIERS = np.array([0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB, 0xD6E8_FEB8_6659_FD93], dtype=np.uint64)


def mix(words: Words, key: np.uint64) -> None:
    """Apply the finaliser of splitmix64, a bijection."""
    words ^= key
    for shift, multiplier in ((30, MULTIPLIERS[0]), (27, MULTIPLIERS[1])):
        words ^= words >> np.uint64(shift)
        words *= multiplier
    words ^= words >> np.uint64(31)
