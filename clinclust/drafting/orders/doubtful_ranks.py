"""Words whose place in an order is not certain beside some others, so that a draft gives the levels no order.

*Discreto* is slight in Spanish and fair in Italian, *assez* lies above or below *moyennement*, and whether *slight* is
less than *mild* depends on who wrote the questionnaire. A wrong order forms wrong subtypes; levels without an order do
not.
"""

from __future__ import annotations

__all__ = ["RANGES", "ZONES"]

RANGES: dict[str, tuple[tuple[float, float, str], ...]] = {
    "amount": (
        (-2.8, 1.5, "discreto; discretamente; discretement"),
        (-0.5, 2.0, "assez; abbastanza; fairly; tamelijk; redelijk; pretty much; nogal"),
        (-1.5, 1.4, "usual; regular; average; partial; einigermassen"),
        (-2.5, -0.5, "some; einige; quelques; algunos; alcuni; enkele; alguns"),
    ),
    "quality": (
        (-1.5, 0.9, "massig; matig; mediocre; passable; passabile"),
        (-1.0, 1.0, "fair; acceptable; aceptable; okay; ok"),
    ),
    "frequency": (
        (1.5, 3.5, "regularly; regelmassig; regulierement; regularmente; regolarmente"),
        (-3.0, -1.0, "sporadisch; sporadic; sporadicamente"),
    ),
    "education": ((2.5, 4.5, "vocational; technical; tecnico; formacion profesional; apprenticeship; trade"),),
}
"""The lowest and the highest rank that phrases of a kind may have; no other level of a column may lie between them."""

ZONES: dict[str, tuple[tuple[float, float], ...]] = {
    "amount": ((-2.8, -2.0),),
    "frequency": ((-1.5, -1.0),),
}
"""Ranks of a kind that lie so near each other that two levels of one column cannot both lie there."""
