"""All attacks, in the order of the table of results."""

from attack import models
from attack.attempts import Attack

ATTACKS: tuple[Attack, ...] = (*models.ATTACKS,)
