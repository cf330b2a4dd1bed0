"""Reading of xlsx workbooks, strictly: whatever could give a wrong cell without a word is refused or told."""
