"""Sheets as an Excel workbook."""
