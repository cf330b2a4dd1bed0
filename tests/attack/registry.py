"""All attacks, in the order of the table of results."""

from attack import models, wrong_tables
from attack.attempts import Attack

ATTACKS: tuple[Attack, ...] = (*models.ATTACKS, *wrong_tables.ATTACKS)
