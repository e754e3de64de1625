"""Functions computed in other processes, whose memory is their own and which can be ended at any time.

`call_in_process` computes one call in a new process. A `ProcessPool` keeps its processes for the next calls,
because a new one imports everything again.

A process ends with the one that started it, however that ended: Linux sends it a signal, and elsewhere a
thread of it waits for that. It does not see Ctrl-C, nor the signals with which a batch system stops a job;
the process that started it does, and ends it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager
from multiprocessing import resource_tracker, util
from pathlib import Path
from types import ModuleType
from typing import Any

from ..stop_signals import STOP_SIGNALS

if sys.platform == "linux":
    import fcntl
    import resource
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection

POLL_SECONDS = 0.5  # between two reports of a process
END_SECONDS = 5.0  # that a process may take to end once it is killed: the system may be waiting for a disk
_starting = threading.Lock()


class ProcessDied(Exception):
    """A process ended before it sent its result; `code` is its exit code, negative of a signal."""

    def __init__(self, code: int | None) -> None:
        super().__init__(f"it died with code {code}")
        self.code = code


class WorkerProcess:
    """A process of Python that computes one call after another."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        with _starting, _with_children(), _without_main(), signals_blocked():
            self._process.start()
        theirs.close()
        # Where it is left open. At the end of this process multiprocessing would send a signal that the other
        # one does not see, and then wait for it.
        util.Finalize(self, self._process.kill, exitpriority=1)

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._process.join(END_SECONDS)
        self._connection.close()

    def call(
        self,
        function: Callable[..., Any] | str,
        *arguments: Any,
        receive: Callable[[Any], None] | None = None,
        timeout: float | None = None,
        keep: bool = False,
    ) -> Any:
        """Return `function(*arguments)`, or `function(*arguments, send)` where something receives.

        `function`: also the name of a method of what is kept; `receive`: called about twice a second: with
        what the function gave to `send`, or with None where it gave nothing; `timeout`: seconds, after which
        the process is ended; `keep`: whether the value stays in the process, in place of its return.
        """
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        self._exchange(self._connection.send, (function, arguments, receive is not None, keep))
        while True:
            content = None
            left = deadline - time.monotonic()
            if self._exchange(self._connection.poll, min(POLL_SECONDS, max(left, 0.0))):
                kind, content = self._exchange(self._connection.recv)
                if kind == "returned":
                    return content
                if kind == "raised":
                    raise content
            elif left <= 0:
                self.kill()
                raise TimeoutError(f"it was ended after {timeout:g} s")
            if receive is not None:
                receive(content)

    def _exchange(self, method: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a method of the connection returns, unless the process has closed its end."""
        try:
            return method(*arguments)
        except (EOFError, ConnectionError):
            self._process.join(END_SECONDS)
            raise ProcessDied(self._process.exitcode) from None

    def kill(self) -> None:
        """End the process at once; a call that another thread waits for raises ProcessDied."""
        self._process.kill()


class ProcessPool:
    """Processes for calls from several threads, as many as calls run at the same time."""

    def __init__(self) -> None:
        self._idle: list[WorkerProcess] = []
        self._busy: set[WorkerProcess] = set()
        self._closed = False
        self._lock = threading.Lock()

    def call(self, function: Callable[..., Any], *arguments: Any, timeout: float | None = None) -> Any:
        """Return what `WorkerProcess.call` does, in a process of its own; one that died is replaced."""
        with self._lock:  # so that none starts while the pool is closed
            if self._closed:
                raise ProcessDied(None)
            process = self._idle.pop() if self._idle else WorkerProcess()
            self._busy.add(process)
        usable = True
        try:
            return process.call(function, *arguments, timeout=timeout)
        except (ProcessDied, TimeoutError, KeyboardInterrupt):  # after which it still computes the call
            usable = False
            raise
        finally:
            with self._lock:
                self._busy.discard(process)
                kept = usable and not self._closed
                if kept:
                    self._idle.append(process)
            if not kept:
                process.__exit__()

    def close(self) -> None:
        """End all processes; calls that run, and those that come later, raise ProcessDied."""
        with self._lock:
            self._closed = True
            busy, idle = list(self._busy), list(self._idle)
            self._idle.clear()
        for process in busy:
            process.kill()
        for process in idle:
            process.__exit__()


def processor_count() -> int:
    """Return how many processors this process may use, which a batch system can have limited."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def call_in_process(
    function: Callable[..., Any], *arguments: Any, receive: Callable[[Any], None] | None = None
) -> Any:
    """Return what `WorkerProcess.call` returns, of a new process that ends with the call."""
    with WorkerProcess() as process:
        return process.call(function, *arguments, receive=receive)


def limit_memory(size: int) -> None:
    """Let this process take at most so many bytes more than it has, and write no core; on Linux."""
    if sys.platform == "linux":
        has = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        _limit(resource.RLIMIT_AS, has + size)
        _limit(resource.RLIMIT_CORE, 0)


def limit_processor(seconds: int) -> None:
    """Let a signal end this process after so many further seconds of the processor; on Linux."""
    if sys.platform == "linux":
        _limit(resource.RLIMIT_CPU, int(time.process_time()) + 1 + seconds)
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGXCPU])  # which `signals_blocked` has blocked


def lift_limits() -> None:
    """Undo both limits of this process, so that the next call can be received."""
    if sys.platform == "linux":
        for what in (resource.RLIMIT_AS, resource.RLIMIT_CPU):
            _, most = resource.getrlimit(what)
            resource.setrlimit(what, (most, most))


def why_ended(code: int | None) -> str:
    """Return why a process with such limits has ended, as the end of a sentence."""
    if hasattr(signal, "SIGXCPU") and code == -signal.SIGXCPU:
        return "no end after seconds"
    return f"its library ends with code {code}"


if sys.platform == "linux":

    def _limit(what: int, value: int) -> None:
        """Set a limit of this process, below what the system allows at most."""
        _, most = resource.getrlimit(what)
        resource.setrlimit(what, (value if most == resource.RLIM_INFINITY else min(value, most), most))


def _serve(connection: Connection[Any, Any]) -> None:
    """Compute the calls that come, until the other end is closed."""
    _end_with_parent()

    def send(content: Any) -> None:
        connection.send(("sent", content))

    kept = None
    while True:
        try:
            function, arguments, reports, keep = connection.recv()
        except EOFError:
            return
        except Exception as error:  # what was sent cannot be unpickled here: a module that is not installed
            connection.send(("raised", RuntimeError(f"{type(error).__name__}: {error}")))
            continue
        try:
            compute = getattr(kept, function) if isinstance(function, str) else function
            value = compute(*arguments, send) if reports else compute(*arguments)
            if keep:
                kept, value = value, None
            answer = ("returned", value)
        except Exception as error:
            answer = ("raised", error)
        try:
            connection.send(answer)
        except ConnectionError:
            return
        except Exception as error:  # an answer that cannot be pickled
            connection.send(("raised", RuntimeError(f"{type(error).__name__}: {error}")))
        del arguments, answer  # it may wait long for the next call
        value = None


def _end_with_parent() -> None:
    """End this process as soon as the one that started it has ended, also in the middle of a call.

    That one holds the other end of a pipe. Linux sends a signal when the end is closed. A thread sees it,
    too, but has to wait for a library that does not release Python's lock.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None  # this is a process that multiprocessing started

    def wait() -> None:
        parent.join()
        os._exit(1)

    if sys.platform == "linux":
        signal.signal(signal.SIGIO, signal.SIG_DFL)
        fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, fcntl.fcntl(parent.sentinel, fcntl.F_GETFL) | os.O_ASYNC)
    threading.Thread(target=wait, daemon=True).start()


@contextmanager
def _with_children() -> Iterator[None]:
    """Let a worker of Dask or joblib have children in the block.

    Those of Dask are daemonic, which multiprocessing forbids to have children because they would outlive
    them; these do not. Those of joblib start others by a method that these would not know.
    """
    if multiprocessing.get_start_method(allow_none=True) not in (
        None,
        *multiprocessing.get_all_start_methods(),
    ):
        multiprocessing.set_start_method("spawn", force=True)
    current = multiprocessing.current_process()
    if not current.daemon:
        yield
        return
    current.daemon = False
    try:
        yield
    finally:
        current.daemon = True


@contextmanager
def _without_main() -> Iterator[None]:
    """Let processes that start in the block not import the script that runs here.

    They need nothing of it, and a script without `if __name__ == "__main__"` would run in them again.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Block Ctrl-C and the signals that stop a job, for processes that start in the block.

    At a terminal Ctrl-C reaches every process of the command, from their first instruction on, and so does
    the signal of a batch system. The caller ends its workers; it gets the signal at the latest when the block
    is left.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # if a pool has to start it, Python 3.11 forgets what is blocked
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
