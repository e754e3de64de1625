"""One piece of an experiment that is computed in a process of its own, and kept when it is done."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ..foundation.version import VERSION

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class JobResult:
    """What a job found: facts that JSON can hold, and arrays by name. `problem` says why there is nothing."""

    facts: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    problem: str = ""


class ExperimentJob(Protocol):
    """What `core.experiments.run` asks of a job; it must survive being sent to another process."""

    @property
    def label(self) -> str:
        """What it does, in a few words, for the line of progress."""

    @property
    def cost(self) -> float:
        """About how long it takes, relative to other jobs."""

    @property
    def key(self) -> str:
        """A name that changes with the data, the settings and the version of the program."""

    def run(self) -> JobResult:
        """Do it."""


def key_of(kind: str, digest: str, settings: dict[str, Any]) -> str:
    """Return the name under which a job's end is kept."""
    text = json.dumps([VERSION, kind, digest, settings], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
