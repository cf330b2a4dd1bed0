"""Choose rows of a table: by a condition, or one for each subject."""
