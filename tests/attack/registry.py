"""All attacks, in the order of the table of results."""

from attack import numbers
from attack.attempts import Attack

ATTACKS: tuple[Attack, ...] = (*numbers.ATTACKS,)
