"""All attacks, in the order of the table of results."""

from attack import api, arguments, interrupts
from attack.attempts import Attack

ATTACKS: tuple[Attack, ...] = (
    *api.ATTACKS,
    *arguments.ATTACKS,
    *interrupts.ATTACKS,
)
