"""Files: reading a cohort table, converting cells to and from text, and atomic writing."""
