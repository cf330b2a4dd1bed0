"""The estimator `MAPDP`: its parameters, search, fitted results, saving and imputation."""
