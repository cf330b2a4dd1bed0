"""Data dictionaries as projects have them, written by code, each with the export that it describes.

A case says what must be noted of each column, and which remarks are made. Labels, codes and forms are made up.
"""

from dictionary_corpus.case import stored
from dictionary_corpus.projects import PROJECTS

CASES = {**stored("fields"), **stored("choices"), **PROJECTS, **stored("codebooks")}
