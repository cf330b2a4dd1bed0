"""The conjugate priors; every likelihood rests on one of them.

Each file holds one prior, always in the same order: the names of its hyperparameters, what a cluster's
sufficient statistics make of them, the log normaliser A, and the slope of what a cluster adds to the joint. Together
they are the one identity the model is built from: for statistics T and base measure h,

    log p(x_1 .. x_n) = sum_j log h(x_j) + A(posterior of sum_j T(x_j)) - A(prior).

The compiled twins, with which the engine sweeps, are in `clinclust.engine.kernels.predictives`.
"""
