"""The innermost loops in one of two versions that give the same bits: vector instructions or plain Python.

CLINCLUST_PLAIN_KERNELS=1 selects the plain version, which needs no LLVM code; so does NUMBA_DISABLE_JIT=1, with which
nothing is compiled, and a debugger can step through a fit of a small cohort.
"""

from __future__ import annotations

from clinclust.engine.kernels.compiled import PLAIN
from clinclust.engine.kernels.plain import LANES, padded

if PLAIN:
    from clinclust.engine.kernels.plain import (
        add_log_products,
        add_log_terms,
        add_rows,
        eight_binomials,
        highest,
        log_in_place,
        sum_log_terms,
        sum_rows,
    )
else:
    from clinclust.engine.kernels.lanes import (
        add_log_products,
        add_log_terms,
        add_rows,
        eight_binomials,
        highest,
        log_in_place,
        sum_log_terms,
        sum_rows,
    )

__all__ = [
    "LANES",
    "add_log_products",
    "add_log_terms",
    "add_rows",
    "eight_binomials",
    "highest",
    "log_in_place",
    "padded",
    "sum_log_terms",
    "sum_rows",
]
