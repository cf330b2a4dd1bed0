"""Estimates in addition to the partition: features, outlying values, coarsening, hyperparameters, concentration."""
