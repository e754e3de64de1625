"""From a sequence and settings to a reconstruction: the phases of a run as one stream of updates.

`reconstruct` is what the command line, the viewer and a script all drain, so that all give the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .arrays import Floats
    from .problem import Factors, NonRigidProblem
    from .result import Result
    from .sequence import Sequence
    from .settings import Settings
    from .solver import Status


@dataclass(frozen=True)
class Record:
    """One line of the history of a run, numbered through all its phases."""

    iteration: int
    seconds: float  # spent computing, pauses excluded
    loss: float
    phase: str


@dataclass(frozen=True)
class StartReport:
    """How one starting point of the search ended."""

    name: str  # "rigid, grown", "random 1", "ADMM", "warm"
    loss: float
    agrees: bool  # within a relative 1e-6 of the lowest


@dataclass(frozen=True, eq=False)
class Candidate:
    """A point together with the problem whose objective its loss is."""

    problem: NonRigidProblem
    factors: Factors
    loss: float


@dataclass(frozen=True, eq=False)
class Update:
    """An immutable moment of a reconstruction; also what a changed run starts from."""

    record: Record
    status: Status  # of the whole run: finished only on the last update
    phase: str  # in words: "rotations 2 of 7", "rigid", "rank 3", "random start 1", "ADMM", "refine"
    fraction: float | None  # of the run that is done, for an ETA; None where unknown
    intrinsics: Floats  # (3, 3)
    current: Candidate
    best: Candidate  # lowest loss so far among comparable problems: what a stopped run keeps
    starts: tuple[StartReport, ...]
    message: str = ""  # what the solver is doing or has found, for a status bar


def reconstruct(sequence: Sequence, settings: Settings, *, start: Update | None = None) -> Iterator[Update]:
    """Yield updates until the reconstruction is done.

    Parameters
    ----------
    sequence
        the tracks and what is known about them.
    settings
        method and parameters.
    start
        an update of an earlier run of the same sequence: the run goes on from its best point (rotations and
        intrinsics kept where the settings that govern them did not change; the rank padded or cut).

    Raises
    ------
    InputError
        where the settings ask for what the sequence does not have (true rotations, a companion, intrinsics).
    """
    raise RuntimeError


def finish(sequence: Sequence, settings: Settings, last: Update, history: Iterable[Record]) -> Result:
    """Return the best point so far of a run, whether it is done or was stopped, as a result."""
    raise RuntimeError
