"""All attacks, in the order of the table of results."""

from attack import joint_law, malformed_tables, mutated_files, numbers
from attack.attempts import Attack

ATTACKS: tuple[Attack, ...] = (*numbers.ATTACKS, *joint_law.ATTACKS, *malformed_tables.ATTACKS, *mutated_files.ATTACKS)
