"""What processes of tests compute: they import it, as they cannot import a test."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from typing import Any

from core import InputError
from core.experiments.jobs import JobResult


def refuse(text):
    raise InputError(text)


def report(count, send):
    for k in range(count):
        send(k)
    return "done"


def unpicklable():
    return lambda: None


def mask():
    return sorted(signal.pthread_sigmask(signal.SIG_BLOCK, []))


@dataclass(frozen=True)
class Ending:
    """A job that fails, dies, sleeps, or finds something."""

    label: str
    error: Exception | None = None
    cost: float = 1.0
    code: int | None = None
    seconds: float = 0.0

    @property
    def key(self) -> str:
        return self.label

    @property
    def identity(self) -> dict[str, Any]:
        return {"label": self.label}

    def run(self) -> JobResult:
        if self.error is not None:
            raise self.error
        if self.code is not None:
            os._exit(self.code)
        time.sleep(self.seconds)
        return JobResult({"found": 1})
