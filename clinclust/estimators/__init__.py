"""The estimator and what it returns: parameters, search, fit, saving, imputation."""
