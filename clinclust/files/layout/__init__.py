"""Where the table is on a sheet that people made for people: titles, headers of two rows, units, totals, footnotes."""
