"""Write sheets and figures as one web page."""

from __future__ import annotations

from clinclust.reporting.page.page import write_page

__all__ = ["write_page"]
