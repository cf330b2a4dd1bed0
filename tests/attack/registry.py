"""All attacks, in the order of the table of results."""

from attack import (
    api,
    arguments,
    interrupts,
    joint_law,
    malformed_schemas,
    malformed_tables,
    models,
    mutated_files,
    numbers,
    odd_workbooks,
    payloads,
    places,
    terminal,
    writing,
    wrong_tables,
)
from attack.attempts import Attack

ATTACKS: tuple[Attack, ...] = (
    *numbers.ATTACKS,
    *joint_law.ATTACKS,
    *malformed_tables.ATTACKS,
    *odd_workbooks.ATTACKS,
    *malformed_schemas.ATTACKS,
    *mutated_files.ATTACKS,
    *models.ATTACKS,
    *wrong_tables.ATTACKS,
    *writing.ATTACKS,
    *places.ATTACKS,
    *terminal.ATTACKS,
    *payloads.ATTACKS,
    *api.ATTACKS,
    *arguments.ATTACKS,
    *interrupts.ATTACKS,
)
