"""Draws of partitions from the posterior distribution, by Markov chain Monte Carlo."""
