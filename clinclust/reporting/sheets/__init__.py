"""The sheets of a report, one a file: from findings to tables whose numbers are still numbers."""
