"""The problem: a cohort as arrays, the hyperparameters of its features, and the log joint of any partition."""
