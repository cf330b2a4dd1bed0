"""The innermost loops as plain Python: what the LLVM code beside this folder computes, to read, debug and replace it.

Each function has the name, the arguments and the result of its twin, to the bit: the same operations on the same
numbers in the same order. `clinclust.engine.kernels.inner_loops` says how to choose between them.
"""
