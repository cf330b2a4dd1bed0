"""The types of arrays that most modules take and return."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.int32]
Labels = NDArray[np.int64]
"""Mostly clusters 0 .. K - 1."""
Mask = NDArray[np.bool_]
Whole = NDArray[np.int64]
Code = int | str
"""What a subtype is called: its number from 1, or that of its kind with the letter of its grade (2a)."""
RandomState = int | np.random.Generator | np.random.RandomState | None
"""A seed, as scikit-learn takes it; None for one of the operating system."""
