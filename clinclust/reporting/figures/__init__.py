"""The figures of a report, one module for each question; `clinclust.plots` gives them to users."""
