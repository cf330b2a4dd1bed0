"""The attacks, with a few tries each: none may break the package."""

import numpy as np
import pytest

from attack.attempts import ImpossibleHereError, carried_out
from attack.registry import ATTACKS

_SLOW = {
    "Ctrl-C in the first compilation",
    *("payloads: csv opened by a spreadsheet program", "saved model: edited, with new checksums"),
    *("terminal: streams closed, full or not read", "writing: deaths at a step"),
    "writing: files that grow too large",
}


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(attack, id=attack.name, marks=[pytest.mark.simulation] * (attack.name in _SLOW))
        for attack in ATTACKS
    ],
)
def test_no_try_of_an_attack_breaks_the_package(attack, tmp_path):
    try:
        _, failures = carried_out(attack, attack.smoke, np.random.default_rng(0), tmp_path)
    except ImpossibleHereError as error:
        pytest.skip(str(error))

    assert failures == []
