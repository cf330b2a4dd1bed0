"""All attacks, in the order of the table of results."""

from attack import (
    api,
    arguments,
    interrupts,
    joint_law,
    models,
    mutated_files,
    numbers,
    odd_workbooks,
    payloads,
    schema_typos,
    terminal,
    writing,
)
from attack.attempts import Attack

_INPUTS = (numbers, joint_law, odd_workbooks, schema_typos, mutated_files, models)
_OUTPUTS = (writing, terminal, payloads, api, arguments, interrupts)
ATTACKS: tuple[Attack, ...] = tuple(attack for module in (*_INPUTS, *_OUTPUTS) for attack in module.ATTACKS)
