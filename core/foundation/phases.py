"""The phases of a run as values: what is solved, of which attempt, and on which scale its values are.

The pipelines and the depth search make them, histories and files hold them. `phase_text` gives the words.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from .exceptions import InputError

WNN, DEPTHS = "wnn", "depths"  # the objectives of a run


class PhaseKind(Enum):
    """What a phase does."""

    ROTATIONS = "rotations"  # grows a reconstruction on a candidate for the rotations
    START = "start"  # follows a starting point
    SCREENING = "starts"  # a few steps of starts `number` to `of`, side by side
    MATRIX = "matrix"  # a method that works on the matrix itself, which `name` is
    REFINE = "refine"  # from the lowest start to the tolerance
    FOCAL = "focal length"  # energies over the focal length, `number` of them so far
    DEPTH_START = "depth, start"  # a start on the coarse levels, on some of the points
    MIRROR = "depth, mirror"  # an end of these with frames mirrored, which `name` says
    POSES = "depth, poses"  # random frames of an end are posed anew
    ALL_POINTS = "depth, all points"  # the lowest ends on all points
    FINE = "depth, fine"
    FINEST = "depth, finest"
    UNCERTAINTY = "depth, uncertainty"  # the standard deviations and verdicts at the end


@dataclass(frozen=True)
class RunStage:
    """Phases whose values are drawn on one scale; those of two stages do not compare."""

    name: str
    objective: str  # `WNN` or `DEPTHS`
    scale: tuple[str | int, ...] = ()  # what distinguishes stages of one name
    change: int = 0  # how many changes of the parameters it comes after


_OF_WNN = (PhaseKind.ROTATIONS, PhaseKind.START, PhaseKind.SCREENING, PhaseKind.MATRIX, PhaseKind.REFINE)
_STAGES = {  # names; those of the WNN problem are one
    PhaseKind.FOCAL: "focal length",
    PhaseKind.DEPTH_START: "search",
    PhaseKind.MIRROR: "search",
    PhaseKind.POSES: "search",
    PhaseKind.ALL_POINTS: "all points",
    PhaseKind.FINE: "fine levels",
    PhaseKind.FINEST: "finest level",
    PhaseKind.UNCERTAINTY: "finest level",
}
_OF_ATTEMPTS = (PhaseKind.DEPTH_START, PhaseKind.MIRROR, PhaseKind.ALL_POINTS)


@dataclass(frozen=True, repr=False)
class Phase:
    """A part of a run in which one algorithm solves one problem."""

    kind: PhaseKind
    number: int = 0  # of the attempt, counted from 1; 0 where there is only one
    of: int = 0  # how many attempts there are, 0 where that is not known
    name: str = ""  # of the attempt
    rank: int = 0  # that is solved, where it grows or is raised
    part: int = 0  # of the phase: the level, or how many views there are so far
    parts: int = 0
    subset: bool = False  # whether some of the observations stand for all
    focal: bool = False  # whether it is of the run that estimates the focal length

    def __post_init__(self) -> None:
        if min(self.number, self.of, self.rank, self.part, self.parts) < 0:
            raise InputError("a phase counts from 0")

    def __str__(self) -> str:
        return phase_text(self)

    def __repr__(self) -> str:
        return f"Phase({phase_text(self)!r})"

    @property
    def objective(self) -> str:
        """The objective whose values the phase has: `WNN` or `DEPTHS`."""
        return WNN if self.kind in _OF_WNN else DEPTHS

    @property
    def attempt(self) -> str:
        """The name of the candidate or the start that the phase is a part of; "" of other phases."""
        return self.name if self.kind in (PhaseKind.ROTATIONS, PhaseKind.START) and not self.focal else ""

    @property
    def brief(self) -> Phase:
        """The attempt that the phase is a part of, by its number only."""
        name = self.name if self.kind is PhaseKind.MATRIX else ""
        return replace(self, name=name, rank=0, part=0, parts=0)

    @property
    def stage(self) -> RunStage:
        """The stage of the run that the phase belongs to."""
        name = _STAGES.get(self.kind, "WNN")
        scale: tuple[str | int, ...] = ()
        fine = self.part < self.parts if self.kind is PhaseKind.FINEST else self.part > 1
        if self.kind is PhaseKind.FINE or (fine and self.kind in (PhaseKind.FINEST, PhaseKind.POSES)):
            name, scale = _STAGES[PhaseKind.FINE], (self.kind.value, self.part)
        if self.subset and self.objective == DEPTHS:
            name, scale = _STAGES[PhaseKind.POSES], (self.kind.value, self.part)
        if self.focal:
            name, scale = PhaseKind.FOCAL.value, (name, *scale)
        return RunStage(name, self.objective, scale)

    @property
    def ranked(self) -> bool:
        """Whether values are of the level on which the attempts of the stage are compared."""
        return self.part == self.parts or self.kind not in _OF_ATTEMPTS

    def comparable(self, other: Phase) -> bool:
        """Whether values of two phases compare: they are of the same objective at the same level."""
        return self._scale == other._scale

    @property
    def _scale(self) -> tuple[object, ...]:
        if self.objective == DEPTHS:
            level = None if self.ranked else (self.kind, self.part)
            return self.stage, level
        candidate = self.number if self.kind is PhaseKind.ROTATIONS else 0
        return self.stage, candidate, self.rank, self.subset


def phase_text(phase: Phase) -> str:
    """Return the words for a phase: in consoles, in the window and in tables."""
    kind = phase.kind
    text = kind.value
    if kind is PhaseKind.MATRIX:
        text = phase.name
    elif kind is PhaseKind.SCREENING:
        text += f" {phase.number} to {phase.of}"
    elif kind is PhaseKind.FOCAL:
        text += f", {phase.number} of the energies over it"
    elif phase.number:
        text += f" {phase.number}" + (f" of {phase.of}" if phase.of else "")
    if phase.name and kind is not PhaseKind.MATRIX:
        text += f": {phase.name}"
    text += f", rank {phase.rank}" if phase.rank else ""
    if kind is PhaseKind.START and phase.parts:
        text += f", {phase.part} of {phase.parts} views"
    elif phase.parts > 1 and kind is not PhaseKind.UNCERTAINTY:
        text += f", level {phase.part} of {phase.parts}"
    text += " (subset)" if phase.subset and (not phase.name or phase.objective == DEPTHS) else ""
    return f"{PhaseKind.FOCAL.value}, {text}" if phase.focal else text
