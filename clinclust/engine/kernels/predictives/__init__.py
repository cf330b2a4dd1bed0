"""The compiled twin of each prior: log marginals of a cluster, and log predictives of what may come next."""
