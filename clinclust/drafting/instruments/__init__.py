"""Instruments of clinical practice, and the ranges of their totals."""

from clinclust.drafting.instruments.instrument import Instrument
from clinclust.drafting.instruments.recognition import instrument_of

__all__ = ["Instrument", "instrument_of"]
