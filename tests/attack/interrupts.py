"""Ctrl-C at random moments: a fit ends within a second, its model is as before, and the next fit has the same bits."""

import json
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

# Each line of the input is a delay in seconds; each line of the output is null or what broke.
_WARM = """
import _thread, faulthandler, json, os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
faulthandler.dump_traceback_later(590, exit=True)
import numpy as np
from clinclust.methods import PublishedMAPDP
X = np.random.default_rng(0).normal(size=(60, 3))
names = ("labels_", "membership_", "restarts_", "log_joint_trace_", "schema_")
model = PublishedMAPDP(random_state=0, n_restarts=3).fit(X)

def sent_after(delay, sent):
    time.sleep(delay)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

def outcome(delay):
    before = {name: getattr(model, name) for name in names}
    joint = model.log_joint_
    model.set_params(n_restarts=5_000, random_state=1, init="single")  # which never stops early
    sent = []
    try:
        threading.Thread(target=sent_after, args=(delay, sent), daemon=True).start()
        model.fit(X)
        while True:  # the signal is on its way
            time.sleep(1)
    except KeyboardInterrupt:
        took = time.monotonic() - sent[0]
    for thread in threading.enumerate():
        if thread.name.startswith("clinclust"):
            while thread.is_alive():  # the work ends in the background, at the end of its sweeps
                time.sleep(0.01)  # not `join`, which refuses a thread that was interrupted as it started
    if took > WITHIN:
        return f"the fit ended {took:.1f} s after Ctrl-C at {delay:.4f} s"
    if any(getattr(model, name) is not value for name, value in before.items()):
        return f"Ctrl-C at {delay:.4f} s changed the model"
    model.set_params(n_restarts=3, random_state=0, init="search")
    if model.fit(X).log_joint_ != joint:
        return f"the fit after Ctrl-C at {delay:.4f} s found something else"
    return None

for line in sys.stdin:
    print(json.dumps(outcome(float(line))), flush=True)
"""

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


def _environment(**more):
    package = str(Path(clinclust.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": package, **more}


def _interrupts(count, rng, folder):
    delays = "".join(f"{delay!r}\n" for delay in rng.exponential(0.1, count).tolist())
    ran = subprocess.run(
        [sys.executable, "-c", f"WITHIN = {_WITHIN}\n{_WARM}"],
        input=delays,
        env=_environment(),
        capture_output=True,
        text=True,
    )
    lines = ran.stdout.splitlines()
    yield from (json.loads(line) for line in lines)
    for _ in range(len(lines), count):
        yield f"the process ended with {ran.returncode}: {ran.stderr[-300:]!r}"


def _cold_interrupts(count, rng, folder):
    expected = None
    for number in range(count):
        delay, then = float(rng.uniform(0.0, 6.0)), ("again", "end")[number % 2]
        cache = folder / str(number)
        cache.mkdir()
        command = [sys.executable, "-c", _COLD, str(delay), then]
        environment = _environment(NUMBA_CACHE_DIR=str(cache))
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


ATTACKS = (
    Attack("Ctrl-C in a fit", _interrupts, smoke=3, full=200),
    Attack("Ctrl-C in the first compilation", _cold_interrupts, smoke=1, full=40),
)
