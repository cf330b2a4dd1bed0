"""Agreement of two partitions of the same subjects."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["adjusted_rand_index"]


def adjusted_rand_index(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Return the adjusted Rand index (Hubert and Arabie 1985): 1 = equal partitions, 0 = agreement by chance.

    Parameters
    ----------
    first, second : int64 (N,)
        Labels 0, 1, ... of the same subjects.
    """
    shape = (int(first.max()) + 1, int(second.max()) + 1)
    cells, size = np.unique(np.ravel_multi_index((first, second), shape), return_counts=True)
    del cells

    def pairs(counts: NDArray[np.int64]) -> float:
        return float((counts.astype(np.float64) * (counts - 1.0)).sum() / 2.0)

    together, all_pairs = pairs(size), pairs(np.array([first.size]))
    in_first, in_second = pairs(np.bincount(first)), pairs(np.bincount(second))
    expected = in_first * in_second / all_pairs if all_pairs else 0.0
    highest = (in_first + in_second) / 2.0
    return 1.0 if highest == expected else (together - expected) / (highest - expected)
