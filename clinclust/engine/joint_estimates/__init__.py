"""Estimates in addition to the partition: features, outlying values, powers of the likelihood, the prior."""
