"""All attacks, in the order of the table of results."""

from attack import terminal, writing
from attack.attempts import Attack

ATTACKS: tuple[Attack, ...] = (*terminal.ATTACKS, *writing.ATTACKS)
