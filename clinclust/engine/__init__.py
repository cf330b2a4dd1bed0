"""Arrays in, partitions out: the MAP-DP algorithm. Only `encoding` knows of tables and names."""
