"""The innermost loops, from one of two places that give the same bits: vector instructions, or plain Python.

CLINCLUST_PLAIN_KERNELS=1 chooses the plain ones, to debug the kernels or to do without the LLVM code; so does
NUMBA_DISABLE_JIT=1, under which nothing is compiled and a debugger can step through a fit of a small cohort.
"""

from __future__ import annotations

from clinclust.compiled import PLAIN

if PLAIN:
    from clinclust.engine.kernels.plain.binomials import eight_binomials
    from clinclust.engine.kernels.plain.lanes import (
        add_log_products,
        add_log_terms,
        add_rows,
        highest,
        log_in_place,
        sum_log_terms,
        sum_rows,
    )
else:
    from clinclust.engine.kernels.binomials import eight_binomials
    from clinclust.engine.kernels.lanes import (
        add_log_products,
        add_log_terms,
        add_rows,
        highest,
        log_in_place,
        sum_log_terms,
        sum_rows,
    )

__all__ = [
    "add_log_products",
    "add_log_terms",
    "add_rows",
    "eight_binomials",
    "highest",
    "log_in_place",
    "sum_log_terms",
    "sum_rows",
]
