"""The sheets of a report. Each module makes tables from findings; their numbers are not yet formatted."""
