"""All attacks, in the order of the table of results."""

from attack import payloads, places, terminal, writing
from attack.attempts import Attack

ATTACKS: tuple[Attack, ...] = (*writing.ATTACKS, *places.ATTACKS, *terminal.ATTACKS, *payloads.ATTACKS)
