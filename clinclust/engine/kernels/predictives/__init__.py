"""The compiled version of each conjugate prior: log marginals of a cluster, and log predictives of a new value."""
