"""The MAP-DP algorithm: it takes arrays and returns partitions. Only `engine.problem` reads tables."""
