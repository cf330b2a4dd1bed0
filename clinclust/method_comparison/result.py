"""MethodComparison: what each method found on one cohort, and what there is to say for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clinclust.method_comparison.candidates import OURS

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.subtype_model import SubtypeModel

__all__ = ["MethodComparison"]


@dataclass(frozen=True, eq=False, repr=False)
class MethodComparison:
    """What each method found on one cohort. `compare_methods` explains the columns.

    Attributes
    ----------
    table : DataFrame, one row for each method, ours first
        method, n_clusters, n_distinct, held_out, held_out_gain, held_out_gain_se, stability, agreement, seconds, said.
    models : mapping
        The fitted model of each method that could run, by the name of its row: each can be reported, tested and shared
        like ours (`write_report`, `validated_associations`).

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(90) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> schema = cc.draft_schema(frame)
    >>> found = cc.compare_methods(frame, schema, methods=["Mean shift"], n_resamples=2, n_draws=20, progress=False)
    >>> isinstance(found, cc.MethodComparison), found.table["method"].tolist(), list(found.models)
    (True, ['MAP-DP', 'Mean shift'], ['MAP-DP', 'Mean shift'])
    """

    table: pd.DataFrame
    models: Mapping[str, SubtypeModel]

    @property
    def summary(self) -> str:
        """The result in words, a line for each method."""
        lines = []
        for row in self.table.to_dict("records"):
            if np.isnan(row["n_clusters"]):
                lines.append(f"{row['method']}: left out. {row['said']}")
                continue
            k = int(row["n_clusters"])
            told = [f"{row['method']}: {k} cluster{'' if k == 1 else 's'}, {_distinct(row['n_distinct'])}"]
            if row["method"] != OURS:
                told.append(f"adjusted Rand index with {OURS} {row['agreement']:.2f}")
                told.append(f"predicts new subjects {_better(row['held_out_gain'], row['held_out_gain_se'])}")
            told.append(f"half-samples agree by {row['stability']:.2f}")
            lines.append("; ".join(told))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"MethodComparison({len(self.models)} methods)\n{self.summary}"


def _distinct(n: float) -> str:
    return f"{int(n)} told from one continuum" if n > 1 else "one continuum by the test"


def _better(gain: float, error: float) -> str:
    if gain == 0.0 and error == 0.0:
        return f"as {OURS} does"
    size = f"{abs(gain):.3f} nats a subject {'better' if gain > 0 else 'worse'} than {OURS} (standard error {error:.3f}"
    return size + (", no clear difference)" if abs(gain) < 2.0 * error else ")")
