"""Messy files as hospitals send them, each with what must be understood of it, told of it, or why it is refused."""

from corpus.messy_file import MessyFile
from corpus.sheets import SHEETS
from corpus.statistical_files import STATISTICAL_FILES
from corpus.table_bodies import TABLE_BODIES
from corpus.text_layouts import TEXT_LAYOUTS
from corpus.texts import TEXTS

__all__ = ["CORPUS", "MessyFile"]

CORPUS: tuple[MessyFile, ...] = (*TEXTS, *TEXT_LAYOUTS, *TABLE_BODIES, *SHEETS, *STATISTICAL_FILES)
