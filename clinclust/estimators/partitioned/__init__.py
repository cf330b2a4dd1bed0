"""Fits of tables in partitions, of a Dask DataFrame: larger than the memory, or on several machines."""
