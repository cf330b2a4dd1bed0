"""Sheets and figures as one web page."""
