"""The compiled code: the arrays it reads, the partition it modifies, and the sweep over subjects."""
