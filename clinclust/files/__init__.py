"""Files: reading a cohort table, text of cells, and writing that leaves no half of a file behind."""
