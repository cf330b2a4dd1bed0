"""The search for the partition with the highest log joint: starts, sweeps, merges, divisions, restarts."""
