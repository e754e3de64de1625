"""Functions in other processes: results, errors, the end of time, and processes that end with this one."""

from __future__ import annotations

import marshal
import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import worker_functions
from patience import PATIENCE

from core import InputError
from core.foundation.processes import ProcessDied, ProcessPool, WorkerProcess, call_in_process
from core.stop_signals import STOP_SIGNALS


@pytest.fixture(scope="module")
def process():
    with WorkerProcess() as process:
        yield process


def test_a_process_computes_one_call_after_another(process):
    first, second = process.call(os.getpid), process.call(os.getpid)
    assert first == second != os.getpid()
    assert process.call(math.hypot, 3.0, 4.0) == 5.0


def test_what_the_function_raises_is_raised_here_and_the_process_continues(process):
    with pytest.raises(InputError, match="no such file"):
        process.call(worker_functions.refuse, "no such file")
    with pytest.raises(RuntimeError, match="unpicklable"):
        process.call(worker_functions.unpicklable)
    with pytest.raises(EOFError):  # as a closed connection raises
        process.call(marshal.loads, b"")
    assert process.call(math.sqrt, 9.0) == 3.0


def test_what_the_function_sends_is_received_before_its_result(process):
    received = []
    assert process.call(worker_functions.report, 3, receive=received.append) == "done"
    assert [each for each in received if each is not None] == [0, 1, 2]


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows has no masks of signals")
def test_a_process_does_not_see_the_signals_that_stop_this_one(process):
    blocked = set(STOP_SIGNALS)
    assert blocked <= set(process.call(worker_functions.mask))
    assert not blocked & set(worker_functions.mask())


def test_a_call_that_takes_too_long_is_ended():
    began = time.monotonic()
    with WorkerProcess() as process, pytest.raises(TimeoutError, match=r"ended after 0\.2 s"):
        process.call(os.getpid)  # it has started
        process.call(time.sleep, 10 * PATIENCE, timeout=0.2)
    assert time.monotonic() - began < PATIENCE


def test_a_process_that_dies_is_an_error_with_its_exit_code():
    with pytest.raises(ProcessDied, match="died with code 3"):
        call_in_process(os._exit, 3)


def test_a_pool_reuses_its_processes_and_replaces_those_that_died():
    pool = ProcessPool()
    first = pool.call(os.getpid)
    assert pool.call(os.getpid) == first
    with pytest.raises(ProcessDied):
        pool.call(os._exit, 1)
    second = pool.call(os.getpid)
    assert second != first
    pool.close()
    assert not Path(f"/proc/{second}").exists()
    with pytest.raises(ProcessDied):
        pool.call(os.getpid)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no timers that send signals")
def test_a_pool_does_not_use_the_process_of_an_interrupted_call_again():
    pool = ProcessPool()
    pool.call(os.getpid)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            pool.call(time.sleep, 1.0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert pool.call(os.getpid) is not None  # the sleep returns None
    pool.close()


def test_closing_a_pool_ends_the_calls_that_run():
    pool, ended = ProcessPool(), threading.Event()

    def wait():
        with pytest.raises(ProcessDied):
            pool.call(time.sleep, 60.0)
        ended.set()

    pool.call(os.getpid)
    thread = threading.Thread(target=wait)
    thread.start()
    while not pool._busy:
        time.sleep(0.01)
    pool.close()
    assert ended.wait(60)
    thread.join()


OWNER = """
import os, re, sys, time
from core.foundation.processes import ProcessPool
if __name__ == "__main__":
    pool = ProcessPool()
    print(pool.call(os.getpid), flush=True)
    if sys.argv[1] == "killed":
        pool.call(time.sleep, 60.0)
    if sys.argv[1] == "killed while Python's lock is held":
        pool.call(re.match, "(a+)+b", 60 * "a")
"""


def _lives(process: int) -> bool:
    """Return whether a process has a command; it has none where it has ended and nobody has asked how."""
    try:
        return bool(Path(f"/proc/{process}/cmdline").read_bytes())
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are looked up in /proc")
@pytest.mark.parametrize("end", ["killed", "killed while Python's lock is held", "left open"])
def test_processes_end_with_the_one_that_started_them(end, tmp_path):
    script = tmp_path / "owner.py"
    script.write_text(OWNER)
    owner = subprocess.Popen([sys.executable, str(script), end], stdout=subprocess.PIPE, text=True)
    number = int(owner.stdout.readline())
    if end != "left open":
        time.sleep(0.5)  # until the call has begun
        owner.kill()
    owner.wait(timeout=PATIENCE)
    owner.stdout.close()
    deadline = time.monotonic() + PATIENCE
    while (lives := _lives(number)) and time.monotonic() < deadline:
        time.sleep(0.05)
    if lives:
        os.kill(number, signal.SIGKILL)
    assert not lives
