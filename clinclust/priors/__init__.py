"""The conjugate priors: `conjugate.py`, and those of ordered levels and of blocks in files of their own."""
