"""The search for the partition of highest joint: starts, sweeps, merges and divisions, restarts."""
