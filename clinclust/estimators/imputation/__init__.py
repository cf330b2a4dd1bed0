"""Missing values filled in: one value each, or several completed tables whose analyses are pooled."""
