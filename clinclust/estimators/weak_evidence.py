"""How much evidence between two subtypes is weak."""

from __future__ import annotations

__all__ = ["WEAK_NATS"]

WEAK_NATS = 3.0
"""Evidence in nats between a subtype and its nearest other below which it is marked as weak.

In noise, the joint buys clusters of one to four subjects for about two nats (`benchmarks/noise.py`). Kass and Raftery
(1995) call evidence up to 3 nats positive at most, and not strong."""
