"""The conjugate priors. Every likelihood uses one of them.

Each file defines one prior, always in the same order: the names of its hyperparameters, the posterior hyperparameters
given sufficient statistics, the log normaliser A, and the gradient of the log marginal. With sufficient statistics T
and base measure h, the log marginal of n values in a cluster is

    log p(x_1 .. x_n) = sum_j log h(x_j) + A(posterior of sum_j T(x_j)) - A(prior).

The compiled versions, which the engine uses in sweeps, are the modules `predictives_...` of `clinclust.engine.kernels`.
"""
