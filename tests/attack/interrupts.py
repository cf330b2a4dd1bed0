"""Ctrl-C at random moments: a fit ends within a second, its model has no half of a fit, and the next is the same."""

import os
import subprocess
import sys
from pathlib import Path

import clinclust
from attack.attempts import Attack

_WITHIN = 1.0
"""Seconds within which Ctrl-C must end a fit, on a machine that does nothing else: a test does not ask."""
if "pytest" in sys.modules:
    _WITHIN = 1e9

_COLD = """
import faulthandler, os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
faulthandler.dump_traceback_later(590, exit=True)
import numpy as np
from clinclust import MAPDP
from clinclust.methods import PublishedMAPDP
X = np.random.default_rng(0).normal(size=(60, 3))
model = PublishedMAPDP(random_state=0, n_restarts=3)
sent = []

def send():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

timer = threading.Timer(float(sys.argv[1]), send)
timer.daemon = True
timer.start()
try:
    model.fit(X)
    timer.cancel()
    took = 0.0
except KeyboardInterrupt:
    took = time.monotonic() - sent[0]
print(took, hasattr(model, "fit_"), flush=True)
if sys.argv[2] == "again":
    print(float(model.fit(X).log_joint_).hex(), flush=True)
"""


def _cold_interrupts(count, rng, folder):
    expected, package = None, str(Path(clinclust.__file__).parents[1])
    for number in range(count):
        delay, then = float(rng.uniform(0.0, 6.0)), ("again", "end")[number % 2]
        cache = folder / str(number)
        cache.mkdir()
        command = [sys.executable, "-c", _COLD, str(delay), then]
        environment = {**os.environ, "PYTHONPATH": package, "NUMBA_CACHE_DIR": str(cache)}
        ran = subprocess.run(command, env=environment, capture_output=True, text=True)
        about = f"Ctrl-C at {delay:.3f} s of the first compilation, then {then}"
        said = ran.stdout.split()
        if ran.returncode != 0 or ran.stderr:
            yield f"{about}: ended with {ran.returncode}: {ran.stderr[-300:]!r}"
        elif float(said[0]) > _WITHIN:
            yield f"{about}: the fit ended {float(said[0]):.1f} s later"
        elif float(said[0]) > 0.0 and said[1] != "False":
            yield f"{about}: the model has half a fit"
        elif then == "again" and said[2] != (expected := expected or said[2]):
            yield f"{about}: the next fit found something else"
        else:
            yield None


ATTACKS = (Attack("Ctrl-C in the first compilation", _cold_interrupts, smoke=1, full=40),)
