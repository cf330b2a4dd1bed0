"""Messy files as hospitals send them, each with what must be understood of it, told of it, or why it is refused."""

from corpus.messy_file import MessyFile, stored
from corpus.sheets import SHEETS
from corpus.statistical_files import STATISTICAL_FILES

__all__ = ["CORPUS", "MessyFile"]
CORPUS: tuple[MessyFile, ...] = (
    *(file for topic in ("texts", "text_layouts", "table_bodies") for file in stored(topic)[0]),
    *SHEETS,
    *STATISTICAL_FILES,
)
