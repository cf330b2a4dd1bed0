"""The test whether a split of a cluster is more than one continuous population would show."""
