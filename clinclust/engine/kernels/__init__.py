"""Compiled code: the arrays it reads, the partition it changes, and the sweep over subjects."""
