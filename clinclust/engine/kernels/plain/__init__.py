"""The innermost loops in plain Python. They serve to read, debug or replace the LLVM code in the parent folder.

Each function has the same name, arguments and result bits as its LLVM twin, because it performs the same operations on
the same numbers in the same order. `clinclust.engine.kernels.inner_loops` documents how to select a version.
"""
