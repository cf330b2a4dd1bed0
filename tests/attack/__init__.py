"""Attacks on the package: many hostile inputs of one kind, and a count of those that broke it."""
