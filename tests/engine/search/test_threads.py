"""Work on threads: results and errors arrive, Ctrl-C ends the wait, and no work keeps a process from ending."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import clinclust.engine.search.plan as threads
from clinclust.engine.search.plan import Threads, interruptible

HANGS = 600  # seconds, on the slowest machine


def test_results_come_in_the_order_of_submission_whatever_the_threads():
    for n_threads in (1, 2, 7, 100):
        with Threads(n_threads) as pool:
            futures = [pool.submit(lambda number, add: number + add, number, add=1) for number in range(50)]
            assert [future.result() for future in futures] == list(range(1, 51))


def test_errors_reach_who_waits():
    with Threads(2) as pool:
        failed, sound = pool.submit(int, "x"), pool.submit(int, "3")
        with pytest.raises(ValueError, match="'x'"):
            failed.result()
        assert sound.result() == 3
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0)


def test_what_has_not_begun_can_be_cancelled():
    begun, go = threading.Event(), threading.Event()
    pool = Threads(1)
    first, *others = [pool.submit(lambda: begun.set() or go.wait()) for _ in range(20)]
    begun.wait()
    pool.shutdown(wait=False, cancel_futures=True)
    go.set()
    assert first.result() is True
    assert all(future.cancelled() for future in others)


def test_fewer_threads_than_asked_for_do_the_same_work(monkeypatch):
    started = []

    class Scarce(threading.Thread):
        def start(self):
            if len(started) == 2:
                raise RuntimeError("can't start new thread")
            started.append(self)
            super().start()

    monkeypatch.setattr(threads.threading, "Thread", Scarce)
    with Threads(1000) as pool:
        assert [future.result() for future in [pool.submit(abs, -number) for number in range(30)]] == list(range(30))
    assert len(started) == 2


def test_the_error_state_of_numpy_goes_along():
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        interruptible(lambda: np.float64(1.0) / np.float64(0.0))


def test_other_threads_do_the_work_themselves():
    found = []
    thread = threading.Thread(target=lambda: found.append(interruptible(threading.current_thread)))
    thread.start()
    thread.join()
    assert found == [thread]
    assert interruptible(threading.current_thread) is not threading.main_thread()


@pytest.mark.usefixtures("heeds_ctrl_c")
def test_ctrl_c_ends_the_wait_for_work_that_heeds_nothing():
    cancelled, go = threading.Event(), threading.Event()

    def press_ctrl_c_and_go_on():
        os.kill(os.getpid(), signal.SIGINT)
        go.wait()  # which would be for ever

    with pytest.raises(KeyboardInterrupt):
        interruptible(press_ctrl_c_and_go_on, cancelled)
    assert cancelled.is_set()
    go.set()


ENDLESS = """
import _thread, threading
from clinclust.engine.search.plan import Threads, interruptible
forever, begun = threading.Event(), threading.Event()
Threads(3).submit(lambda: begun.set() or forever.wait())
begun.wait()
try:
    interruptible(lambda: _thread.interrupt_main() or forever.wait())
except KeyboardInterrupt:
    print("ends", flush=True)
"""


@pytest.mark.usefixtures("heeds_ctrl_c")
def test_no_work_keeps_a_process_from_ending():
    done = subprocess.run([sys.executable, "-c", ENDLESS], capture_output=True, check=False, timeout=HANGS)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"ends\n", b"")
